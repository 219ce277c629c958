"""Rows at linear width are covered with and without a readout, whose limits are its own."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep.errors import NoTheoryError
from giantstep.prediction.limits import first_complaint
from giantstep.prediction.predict import predict
from giantstep.prediction.wide.limits import LINEAR_WIDTH
from giantstep.prediction.wide.losses import losses
from giantstep.prediction.wide.network import Network, readout_norm
from giantstep.prediction.wide.rows import (
    readout_losses,
    rows_of_runs,
    span_of_rows,
)
from giantstep.prediction.wide.step import learned_step
from giantstep.prediction.wide.update import batch_of, update_after
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.simulation.simulate import simulate

FIELDS: dict[str, Any] = {
    "target": "x1 + He2(x1)/2",
    "activation": "tanh(z + 0.5)",
    "d": 60,
    "n": "2d",
    "p": 40,
    "step_size": 2.0,
    "start": "sphere",
    "readout_n": 90,
}
NO_READOUT = {"readout_n": 0, "test_n": 0}
LAST_BATCH = {"readout_batch": "last", "readout_n": "n"}


@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize("change", [NO_READOUT, LAST_BATCH])
def test_rows_do_not_ask_for_a_readout(steps: int, change: dict[str, Any]) -> None:
    """Rows are the same whatever becomes of the readout."""
    setting = Setting(**FIELDS | {"steps": steps})
    other = Setting(**FIELDS | {"steps": steps} | change)
    readout = np.linspace(-1.0, 1.0, 40)
    expected, found = (rows_of_runs(each, readout[None])[0] for each in (setting, other))
    assert np.array_equal(found.overlap, expected.overlap)
    assert np.array_equal(found.gram, expected.gram)


@pytest.mark.parametrize("steps", [1, 2])
def test_the_readout_has_limits_of_its_own(steps: int) -> None:
    """Rows are predicted whatever the readout is; without one there are no errors."""
    given = FIELDS | {"steps": steps}
    last, none = (Setting(**given | change) for change in (LAST_BATCH, NO_READOUT))
    assert first_complaint(LINEAR_WIDTH, last) is None
    assert first_complaint(LINEAR_WIDTH, none) is None
    with pytest.raises(NoTheoryError, match="readout_n must be positive for errors of a readout"):
        losses(none)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"p": "30d"}, "p must be between 0.05 d and 20 d, got 30 d"),
        ({"n": 2}, "n must be between 0.05 d and 20 d, got 0.0333 d"),
        ({"steps": 5}, "steps must be at most 4, got 5"),
        (
            {"steps": 2, "start": "orthogonal"},
            "start must be sphere, gaussian or symmetric for the theory of wide networks, got "
            "'orthogonal'",
        ),
        ({"deflate": 0}, "deflate must be -1 for the theory of wide networks, got 0"),
    ],
)
def test_limits_of_the_rows(change: dict[str, Any], sentence: str) -> None:
    setting = Setting(**FIELDS | {"steps": 1} | change)
    assert first_complaint(LINEAR_WIDTH, setting) == sentence


@pytest.mark.parametrize(
    ("start", "target", "p", "size"),
    [
        ("sphere", "x1 + He2(x2)/1.4", "d/2", "n^0.3"),
        ("gaussian", "x1 + He2(x1)/1.4", "d/4", "n^0.1"),
        ("symmetric", "x1 + He2(x1)/1.4", "d/2", "n^0.3"),
        ("sphere", "x1", "2d", "n^0.3"),
    ],
)
def test_rows_hold_what_they_learned_and_a_random_share(
    start: str, target: str, p: str, size: str
) -> None:
    """Mean squared principal cosine in 16 runs at d = 300, before and after a step.

    Four settings, two steps: 8 comparisons within 4 standard errors and 4/d, relative.  Without the
    random share p/d of the rows the start is off by more.
    """
    fields: dict[str, Any] = {"activation": "tanh", "d": 300, "n": "2d", "runs": 16}
    fields |= {"output_scale": "1", "readout_start": "gaussian"} | NO_READOUT
    setting = Setting(target, **fields, start=start, p=p, step_size=size, steps=1)
    expected, found = predict(setting).span, simulate(setting).span
    assert expected is not None
    assert found is not None
    theory, values = (np.mean(span**2, axis=(2, 3)) for span in (expected, found))
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / 4
    theory = theory.mean(axis=0)
    assert np.all(np.abs(mean - theory) < 4 * error + 4 / 300 * theory)
    assert mean[0] - 0.0 > 4 * error[0] + 4 / 300 * theory[0]


def test_every_run_has_the_offset_of_its_own_readout() -> None:
    """E f_0 = c_0 sum_i a_i is part of the residual, and lengthens the rows of its run.

    Mean square lengths of 16 runs.  With readouts that sum to zero the theory leaves nine times the
    variance; a ratio of 4 has a probability of 0.5 % by chance.
    """
    fields = {"target": "0.2*x1", "activation": "relu", "d": 300, "n": "2d", "p": "d", "steps": 1}
    wide = {"output_scale": "1", "readout_start": "gaussian", "start": "sphere", "step_size": 60}
    setting = Setting(**fields | wide | NO_READOUT | {"runs": 16, "seed": 2})
    predicted, simulated = predict(setting), simulate(setting)
    assert simulated.readout is not None
    summing_to_zero = simulated.readout - simulated.readout.mean(axis=1, keepdims=True)
    expected, found = (np.mean(t.norms[:, 1] ** 2, axis=1) for t in (predicted, simulated))
    without = [np.mean(rows.norms**2) for rows in rows_of_runs(setting, np.array(summing_to_zero))]
    assert compare(predicted, simulated).agrees
    assert np.var(found - expected) < 0.25 * np.var(found - without)


@pytest.mark.slow
def test_rows_that_are_mostly_noise_have_no_predicted_errors() -> None:
    """Noise of the step 16 times as long as the rows, n = 0.75 d: errors are refused, with a note.

    Small noise agrees; the closed system beyond the limits is rejected by the runs (24 of them,
    level 1e-3, two errors).
    """
    fields: dict[str, Any] = {"activation": "relu", "d": 200, "n": "0.75d", "p": "2d", "steps": 1}
    fields |= {"output_scale": "1", "start": "sphere", "readout_start": "alternating"}
    fields |= {"ridge": 0.1, "readout_n": 1500, "test_n": 1000, "runs": 24, "seed": 63}
    small = Setting("sign(x1)", step_size=0.06, **fields)
    large = small.vary(step_size=0.6)
    assert compare(predict(small), simulate(small)).agrees
    refused, simulated = predict(large), simulate(large)
    start = "no prediction of readout errors after step 1: too few samples."
    sentence = "The noise of the steps adds 16.5 to the squared length of a row, 1 at the start."
    assert any(note.startswith(start) and sentence in note for note in refused.notes)
    assert refused.train_error is not None
    assert np.isnan(refused.train_error[0, 1])
    assert compare(refused, simulated).agrees
    beyond = losses(large)
    errors = {"train_error": beyond.train, "test_error": beyond.test}
    continued = {name: np.array([[np.nan, value]]) for name, value in errors.items()}
    assert not compare(replace(refused, **continued), simulated).agrees


def test_the_span_of_noisy_rows_is_not_known() -> None:
    """Noise of the step is uneven: the squared cosine of 18 runs is not that of even noise."""
    fields: dict[str, Any] = {"activation": "gelu", "d": 256, "n": 349, "p": 53, "steps": 1}
    fields |= {"start": "gaussian", "readout_start": "gaussian", "output_scale": "1/sqrt(p)"}
    setting = Setting("x1 + x2 + 2*x2^2", runs=18, step_size=60.0, **fields | NO_READOUT)
    predicted, simulated = predict(setting, theory="linear-width"), simulate(setting)
    assert predicted.span is None
    assert compare(predicted, simulated).agrees
    assert predict(setting.vary(step_size=2.0), theory="linear-width").span is not None
    assert simulated.span is not None
    found = np.mean(simulated.span[:, 1] ** 2, axis=(1, 2))
    step = learned_step(setting)
    assert simulated.readout is not None
    a = simulated.readout[0] / readout_norm(setting)
    squares = step.kept(a) ** 2 + step.noise_square * a**2
    even = span_of_rows(squares, step.shift * a, step.overlap[0], setting.d)
    error = found.std(ddof=1) / np.sqrt(setting.runs)
    assert found.mean() - np.mean(even**2) > 4 * error


def test_a_direction_that_is_not_learned_is_at_chance() -> None:
    """Mean squared cosines after a step of noise: 1/d, of which the learned direction is most.

    One comparison of 40 runs, within 4 standard errors.  Rejected: rows whose update is random in
    itself but not in its direction, which leaves a third of it.
    """
    setting = Setting.linear_width(
        "He2(x1)",
        activation="tanh(z + 0.5)",
        d=200,
        p="d/2",
        step_size="1.5*n^0.3",
        noise=10.0,
        residual="labels",
        readout_n=0,
        test_n=0,
        spectra=0,
        runs=40,
    )
    squares = (simulate(setting).cosine[:, 1, :, 0] ** 2).mean(axis=1)
    predicted = predict(setting)
    assert predicted.overlap_deviation is not None
    expected = (predicted.overlap_deviation[:, 1, :, 0] / predicted.norms[:, 1]) ** 2
    error = squares.std(ddof=1) / np.sqrt(len(squares))
    assert abs(squares.mean() - expected.mean()) < 4 * error
    step = learned_step(setting)
    still = 1.0 - step.shift**2 / (setting.p * np.mean(predicted.norms[:, 1] ** 2))
    assert abs(squares.mean() - still * expected.mean()) > 4 * error


@pytest.mark.slow
def test_a_penalty_that_leave_one_out_does_not_decide() -> None:
    """gelu on 365 samples, 427 neurons: train errors of neighbouring penalties are far apart.

    What is not decided is not predicted, and the test error is.  Nine runs, 4 standard errors: the
    train error at the best penalty of the simulator's grid agrees, that beside it, whose test error
    leave-one-out cannot tell from it, is rejected.
    """
    setting = Setting(
        "leaky_relu(x1/2) - 1.16*x1",
        activation="gelu",
        d=168,
        n=183,
        p=427,
        steps=1,
        step_size=15.5,
        output_scale="1/sqrt(p)",
        start="sphere",
        readout_start="alternating",
        residual="labels",
        readout_n=365,
        test_n=1000,
        runs=9,
    )
    predicted, simulated = predict(setting), simulate(setting)
    assert predicted.train_error is not None
    assert predicted.test_error is not None
    assert simulated.train_error is not None
    assert np.all(np.isnan(predicted.train_error[:, 1]))
    assert any("leave-one-out does not decide" in note for note in predicted.notes)
    assert np.all(np.isfinite(predicted.test_error))
    runs, best = simulated.train_error[:, 1], readout_losses(setting)
    error = runs.std(ddof=1) / 3
    beside = losses(setting, best.ridge * 10 ** (1 / 3))
    assert beside.test < best.test * (1 + setting.readout_n**-0.5)
    assert abs(best.train - runs.mean()) < 4 * error
    assert abs(beside.train - runs.mean()) > 4 * error
    assert np.all(np.isfinite(predict(setting.vary(ridge=0.1)).train_error))


def test_rows_of_two_steps_know_that_the_network_is_made_of_them() -> None:
    """Mean squared lengths of 40 runs of two steps on residuals with the network's output.

    One comparison within 4 standard errors.  Rejected: the update's length alone, without its
    correlation with the rows' start through W_0^T u.
    """
    setting = Setting(
        "x1 - 1.5*x2",
        activation="tanh",
        d=100,
        n=400,
        p=50,
        steps=2,
        step_size=3.0,
        output_scale="1/sqrt(p)",
        start="sphere",
        readout_start="signs",
        noise=0.8,
        readout_n=0,
        test_n=0,
        runs=40,
    )
    squares = np.mean(simulate(setting).norms[:, 2] ** 2, axis=1)
    error = squares.std(ddof=1) / np.sqrt(setting.runs)
    predicted = np.mean(predict(setting, theory="linear-width").norms[:, 2] ** 2)
    assert abs(squares.mean() - predicted) < 4 * error
    network = Network(setting)
    update, weights = update_after(network), network.readout[1]
    alone = weights @ (np.diag(update.kernel) / setting.p + update.kept**2 + update.spread)
    assert abs(squares.mean() - alone) > 4 * error


def test_few_rows_are_pulled_back_by_their_own_output() -> None:
    """31 rows at d = 609: of their squared lengths after two steps 8 % are their own output's.

    Ten runs, 4 standard errors and 4/d.  A second step without the own part is rejected.
    """
    setting = Setting(
        "x1 - 1.5*x2",
        activation="silu",
        d=609,
        n=3547,
        p=31,
        steps=2,
        step_size=[3.2, 7.8],
        output_scale="1/sqrt(p)",
        start="sphere",
        readout_start="alternating",
        noise=0.8,
        readout_n=0,
        test_n=0,
        runs=10,
    )
    predicted, simulated = predict(setting, theory="linear-width"), simulate(setting)
    theory = np.mean(predicted.norms[0, 2] ** 2)
    runs = np.mean(simulated.norms[:, 2] ** 2, axis=1)
    allowed = 4 * runs.std(ddof=1) / np.sqrt(10) + 4 / 609 * theory
    assert abs(runs.mean() - theory) < allowed
    network = Network(setting)
    u, pull = network.readout[0], batch_of(network).own_pull
    lost = 2.0 * update_after(network).kept * network.size(1) / setting.p * pull * u**2
    assert abs(runs.mean() - theory - lost.mean()) > allowed


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_a_neuron_in_its_own_residual_pulls_its_row(activation: str) -> None:
    """<row, start> beside spike and growth, over u: -own u^2/p within 4 standard errors of 40 runs.

    The network is steep, so that the term moves rows by half of their length.  The same steps
    without the neuron's own answer in its residual have none of it.
    """
    fields: dict[str, Any] = {"d": 60, "p": 60, "n": 600, "steps": 1, "step_size": 3.0}
    setting = Setting("x1", activation=activation, output_scale="1", start="sphere", **fields)
    step, network, key = learned_step(setting), Network(setting), np.random.default_rng(8)
    sigma, p, coefficients = setting.activation, setting.p, []
    for _ in range(40):
        start = key.standard_normal((p, setting.d))
        start /= np.linalg.norm(start, axis=1, keepdims=True)
        u = key.uniform(-1.0, 1.0, p)
        u /= np.sqrt(np.mean(u**2))
        x = key.standard_normal((setting.n, setting.d))
        values = sigma(x @ start.T) * u / np.sqrt(p)
        slopes, along = sigma.derivative(x @ start.T) - network.gain, x @ start.T
        whole = x[:, 0] - network.scale * values.sum(axis=1)
        for residual in (whole[:, None], whole[:, None] + network.scale * values):
            pulled = slopes * along - network.moments.tilt
            moved = step.size * u / np.sqrt(p) * np.mean(residual * pulled, axis=0)
            basis = np.column_stack([np.ones(p), u, u**2])
            coefficients.append(np.linalg.lstsq(basis, moved, rcond=None)[0][2])
    with_own, without = np.array(coefficients).reshape(40, 2).T
    error = with_own.std(ddof=1) / np.sqrt(40)
    assert abs(with_own.mean() + step.own_pull / p) < 4 * error
    assert abs(without.mean() + step.own_pull / p) > 8 * error
