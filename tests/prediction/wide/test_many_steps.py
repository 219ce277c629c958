"""Three and four giant steps at linear width: the recursion, by closed forms and by simulation.

Simulations are dense, of 16 runs at d = 160; comparisons at 4 standard errors plus 4/d of the value
(with 15 degrees of freedom 4 standard errors are a level of 1.2e-3 a comparison).
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep.errors import NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.prediction.wide import batch, update
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.network_error import network_error
from giantstep.prediction.wide.update import batch_of, update_after
from giantstep.prediction.wide.weight_outliers import weight_outliers
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

D, RUNS = 160, 16
BOUND, LEFT_OUT = 4.0, 4.0 / D

FIELDS: dict[str, Any] = {
    "d": D,
    "n": "6d",
    "p": "d",
    "start": "symmetric",
    "readout_start": "gaussian",
    "output_scale": "1/sqrt(p)",
    "readout_n": 0,
    "test_n": 0,
    "runs": RUNS,
    "seed": 71,
}


# -- closed forms ----------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_linear_neurons_follow_their_recursion(steps: int) -> None:
    """sigma(z) = z: R(u) = u rho, and rho moves by e (f_1 - s rho) and by noise.

    With b = |f_1|, m = rho.f_1/b and q = |rho|^2:  m' = m + e (b - s m),
    q' = q + 2 e (b m - s q) + e^2 (b^2 - 2 s b m + s^2 q + delta E r^2), E r^2 the mean square of
    y - s rho.x.
    """
    sizes = [40.0, 25.0, 60.0, 30.0][:steps]
    setting = Setting(
        "1.5*x1 + He2(x2)", activation="z", steps=steps, step_size=sizes, noise=0.3, **FIELDS
    )
    network = Network(setting)
    s, b, labels = network.scale, 1.5, 1.5**2 + 2.0 + 0.3**2
    m = q = 0.0
    for step in range(steps):
        e = network.size(step)
        residual = labels - 2.0 * s * b * m + s**2 * q
        drift = b**2 - 2.0 * s * b * m + s**2 * q + network.noise_ratio * residual
        m, q = m + e * (b - s * m), q + 2.0 * e * (b * m - s * q) + e**2 * drift
    u = network.readout[0]
    after = update_after(network)
    assert after.kernel == pytest.approx(q * np.outer(u, u), rel=1e-6, abs=1e-6 * q)
    assert after.target[:, 0] == pytest.approx(m * u, rel=1e-6)
    assert np.abs(after.target[:, 1]).max() < 1e-9 * m
    assert after.kept == pytest.approx(1.0, abs=1e-9)
    assert network_error(network) == pytest.approx(labels - 2.0 * s * b * m + s**2 * q, rel=1e-6)


@pytest.mark.parametrize("start", ["symmetric", "sphere"])
def test_a_last_step_of_no_size_changes_nothing(start: str) -> None:
    sizes = [30.0, 20.0, 25.0]
    fields = FIELDS | {"start": start}
    three = Setting("x1 + x1*x2", activation="gelu", steps=3, step_size=sizes, **fields)
    four = three.vary(steps=4, step_size=[*sizes, 1e-12])
    before, after = (update_after(Network(each)) for each in (three, four))
    for name in ("kernel", "target", "network", "kept", "spread", "target_spread"):
        assert getattr(after, name) == pytest.approx(getattr(before, name), rel=1e-6, abs=1e-9)


def test_a_network_of_a_large_own_output_is_that_of_the_start_before_any_step() -> None:
    """Offset, pull and rest of eq. (3) are those of f_0 before the first step."""
    setting = Setting(
        "x1", activation="relu", steps=1, **FIELDS | {"start": "sphere", "output_scale": "1"}
    )
    network = Network(setting)
    own = batch_of(network).own
    moments, s = network.moments, network.scale
    assert own.pull == pytest.approx(s * moments.linear, rel=1e-6)
    assert own.variance == pytest.approx(s**2 * moments.rest, rel=1e-5)


# -- against simulation ----------------------------------------------------------------------------


def setting_of(target: str, activation: str, alpha: float, steps: int, **fields: Any) -> Setting:
    """Steps of size p^alpha."""
    given = FIELDS | {"steps": steps, "step_size": f"p^{alpha}", "spectra": 4} | fields
    return Setting(target, activation=activation, **given)


CASES = [
    setting_of("x1 + x1*x2", "relu", 0.9, 3),
    setting_of("x1 + He2(x1)/1.4", "tanh", 0.85, 3, start="sphere"),
    setting_of("x1 + x1*x2 + x2*x3", "gelu", 0.93, 4),
    setting_of("sign(x1)", "erf", 0.9, 3, start="gaussian", noise=0.3),
]


def numbers(record: Trajectory) -> list[np.ndarray]:
    """Of every run after its last step: means of a_i <w_i, w*_1> and of the squared length."""
    assert record.readout is not None
    along = np.mean(record.readout * record.overlap[:, -1, :, 0], axis=1)
    return [along, np.mean(record.norms[:, -1] ** 2, axis=1)]


def excess(found: np.ndarray, predicted: np.ndarray) -> float:
    """How far the mean of runs is from their predictions, in units of what is allowed."""
    gap = found - predicted
    error = gap.std(ddof=1) / math.sqrt(len(gap))
    return float(abs(gap.mean()) / (BOUND * error + LEFT_OUT * abs(predicted.mean())))


@pytest.mark.law
@pytest.mark.parametrize("setting", CASES, ids=lambda s: f"{s.activation.name} {s.steps}")
def test_rows_and_outliers_of_weights(setting: Setting) -> None:
    """Overlaps, lengths and the outliers above the threshold: 3 or 4 comparisons in 4 settings.

    Two wrong variants are rejected by the same numbers: the last step left out, and the residual of
    the first step used in all steps.
    """
    simulated, predicted = simulate(setting), predict(setting, theory="linear-width")
    for found, expected in zip(numbers(simulated), numbers(predicted), strict=True):
        assert excess(found, expected) < 1
    assert simulated.weights is not None
    assert predicted.weights is not None
    places, threshold = predicted.weights.outliers, predicted.weights.threshold
    values = simulated.weights.singular_values
    assert places is not None
    assert threshold is not None
    assert values is not None
    count = int(np.min(np.sum(places[:, -1] > threshold[:, -1, None], axis=1)))
    assert count >= 1
    for k in range(count):
        assert excess(values[:, -1, k], places[:, -1, k]) < 1
    first_residual = predict(setting.vary(residual="labels"), theory="linear-width")
    assert max(map(excess, numbers(simulated), numbers(first_residual))) > 1
    earlier = setting.vary(steps=setting.steps - 1, step_size=list(setting.step_size[:-1]))
    short = predict(earlier, theory="linear-width")
    assert max(map(excess, numbers(simulated), numbers(short))) > 1


def without_earlier_noise(
    network: Network, before: update.RowUpdate, batch: update.Batch
) -> tuple[np.ndarray, np.ndarray]:
    """The noise of the last step alone."""
    none = replace(before, spread=0.0 * before.spread, target_spread=0.0 * before.target_spread)
    return ORIGINAL_SPREAD(network, none, batch)


ORIGINAL_SPREAD = update._spread


@pytest.mark.law
def test_the_noise_of_all_steps_stays_in_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Squared lengths after three steps on few samples; the last step's noise alone is rejected."""
    setting = setting_of("sign(x1)", "relu", 0.9, 3, n="d", spectra=0, noise=1.0)
    found = numbers(simulate(setting))[1]
    assert excess(found, numbers(predict(setting, theory="linear-width"))[1]) < 1
    update.update_after.cache_clear()
    monkeypatch.setattr(update, "_spread", without_earlier_noise)
    wrong = numbers(predict(setting, theory="linear-width"))[1]
    update.update_after.cache_clear()
    assert excess(found, wrong) > 1


@pytest.mark.law
def test_errors_of_the_readout_fall_with_each_step_of_a_staircase() -> None:
    """Test errors after 3 and 4 steps, within 4 standard errors and 12/d (``left_out_of_errors``).

    Two comparisons; rejected are the errors two steps before.
    """
    setting = setting_of(
        "x1 + x1*x2", "relu", 0.93, 4, spectra=0, readout_n="4d", test_n="20d", ridge=0.3
    )
    simulated, predicted = simulate(setting), predict(setting, theory="linear-width")
    assert simulated.test_error is not None
    assert predicted.test_error is not None
    for step in (3, 4):
        found = simulated.test_error[:, step]
        allowed = BOUND * found.std(ddof=1) / math.sqrt(RUNS)
        allowed += 12.0 / D * predicted.test_error[0, step]
        assert abs(found.mean() - predicted.test_error[0, step]) < allowed
        assert abs(found.mean() - predicted.test_error[0, step - 2]) > allowed


NETWORKS = [
    {"activation": "relu", "batches": "fresh"},
    {"activation": "tanh", "batches": "reused"},
]


def mean_output_alone(
    cls: type[batch.OwnOutput], network: Network, slopes: batch.FreshSlopes
) -> batch.OwnOutput:
    """No output beside its mean over the starts of the neurons."""
    none = np.zeros(slopes.value.shape[1])
    return cls(none, none, none)


def no_output_of_pairs(
    cls: type[batch.OwnOutput], network: Network, *rows: np.ndarray
) -> batch.OwnOutput:
    """As if pairs cancelled."""
    none = np.zeros(rows[-1].shape[1])
    return cls(none, none, none)


@pytest.mark.law(sentinel="relu")
@pytest.mark.parametrize("fields", NETWORKS, ids=lambda fields: fields["activation"])
def test_the_error_of_the_network_itself(
    fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After 0, 1 and 2 steps of two settings, within 4 standard errors and 4/d: 6 comparisons.

    Rejected after each step are errors without what the starts of single neurons add to the output.
    """
    setting = setting_of("x1 + x1*x2", "relu", 0.0, 2, start="sphere", spectra=0).vary(
        **fields, residual="labels", output_scale="1", readout_n="2d", test_n="20d"
    )
    simulated, predicted = simulate(setting), predict(setting, theory="linear-width")
    monkeypatch.setattr(batch.OwnOutput, "of", classmethod(mean_output_alone))
    wrong = predict(setting, theory="linear-width")
    assert simulated.network_error is not None
    assert predicted.network_error is not None
    assert wrong.network_error is not None
    for step in range(3):
        found = simulated.network_error[:, step]
        assert excess(found, predicted.network_error[:, step]) < 1
        assert step == 0 or excess(found, wrong.network_error[:, step]) > 1


@pytest.mark.law
def test_pairs_differ_by_what_a_step_makes_different_in_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two errors of one setting of sin, whose mean output a large step averages away.

    Of 64 runs, within 4 standard errors and 4/d; rejected are errors without the output (8) of the
    pairs, a sixth of the second one.
    """
    setting = setting_of("x1 + x1*x2", "sin", 0.8, 1, readout_n="2d", test_n="20d", spectra=0)
    setting = setting.vary(residual="labels", output_scale="1", runs=64)
    simulated, predicted = simulate(setting), predict(setting, theory="linear-width")
    monkeypatch.setattr(batch.OwnOutput, "of_pairs", classmethod(no_output_of_pairs))
    wrong = predict(setting, theory="linear-width")
    assert simulated.network_error is not None
    assert predicted.network_error is not None
    assert wrong.network_error is not None
    for step in (0, 1):
        found = simulated.network_error[:, step]
        assert excess(found, predicted.network_error[:, step]) < 1
    assert excess(found, wrong.network_error[:, 1]) > 1


# -- limits ----------------------------------------------------------------------------------------


def test_three_steps_on_one_batch_are_refused() -> None:
    setting = setting_of("x1", "relu", 0.9, 3, batches="reused")
    with pytest.raises(NoTheoryError, match="batches must be fresh for three steps and more"):
        predict(setting, theory="linear-width")


def test_a_small_first_step_of_a_huge_network_is_seen_by_the_second() -> None:
    """n^0.2 and n^0.45 at p = 10^13 have floor(0.45/0.3) = 1 new outlier, at p^0.15 to a constant.

    In a single neuron the first direction is 1e-8 of the variance; without it there is none.
    """
    sizes = {"d": 10**13, "n": "4d", "p": "d", "output_scale": "1/sqrt(p)", "readout_n": 0}
    setting = Setting.linear_width(
        "x1 + He2(x1)/1.4", steps=2, step_size=["3*p^0.7", "3*p^0.95"], test_n=0, **sizes
    )
    first, second = weight_outliers(setting)[1].singular_values[:2]
    assert first > 1e5
    assert 0.3 < second / setting.p**0.15 < 30.0
