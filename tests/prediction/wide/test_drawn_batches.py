"""One step whose batch has a few samples that decide it: drawn batches against runs."""

from __future__ import annotations

import numpy as np
import pytest

from giantstep.prediction.predict import predict
from giantstep.prediction.wide import theory
from giantstep.prediction.wide.along_target import along_target_after_one
from giantstep.prediction.wide.drawn_batches import DrawnBatch, count_of_batches
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.quantities import left_out
from giantstep.prediction.wide.step import step_of
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.records.observables import expectations, observed
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

HEAVY = Setting(
    "-0.84*x1 + 1.37*He2(x1)*He2(x2)",
    d=129,
    n=70,
    p=94,
    steps=1,
    step_size=[17.0],
    output_scale="1/sqrt(p)",
    start="sphere",
    readout_start="uniform",
    residual="labels",
    readout_n=0,
    test_n=0,
    runs=200,
    seed=3,
)
FULL = HEAVY.vary(residual="full", corruption=0.1, inputs="blocks(0.4, 1.9, 0.6, 0.4)")


@pytest.mark.parametrize("setting", [HEAVY, FULL], ids=["labels", "full"])
def test_a_large_batch_has_the_means_of_all_samples(setting: Setting) -> None:
    """A batch of 10^6 samples of a light label gives the step and the parts along the target.

    Within 2 %, some ten standard errors; the noise that rows share by the samples is none.
    """
    network = Network(setting.vary(target="x1 + x1*x2/2", n=10**6, d=10**6, p=10**6))
    batch = DrawnBatch.draw(network, np.random.default_rng(0))
    drawn, all_samples = step_of(batch), step_of(network)
    for name in ("shift", "noise_square", "residual_square", "weight_shift"):
        assert getattr(drawn, name) == pytest.approx(getattr(all_samples, name), rel=0.02), name
    assert np.allclose(drawn.weight_overlap, all_samples.weight_overlap, atol=0.02)
    u = np.array([-1.0, 0.5])
    known, mean = along_target_after_one(batch, u), along_target_after_one(network, u)
    assert np.allclose(known.carried, mean.carried, rtol=0.02, atol=0.02)
    assert np.allclose(known.noise, mean.noise, rtol=0.02, atol=0.02 * np.max(mean.noise))
    assert np.all(known.shared_variance < 0.9 * mean.shared_variance)


def test_every_run_has_as_many_batches() -> None:
    """Rows j, j + runs, .. are of run j; light labels have one row for all runs."""
    setting = HEAVY.vary(runs=30, readout_n=300, test_n=500)
    predicted = predict(setting, theory="linear-width")
    assert predicted.rows_a_run == 9
    assert count_of_batches(setting) == len(predicted.norms) == 270
    assert predicted.readout is not None
    assert np.array_equal(predicted.readout[:30], predicted.readout[30:60])
    assert predicted.test_error is not None
    assert predicted.test_error.shape == (270, 2)
    assert "theory draws 270 random batches" in predicted.notes[0]
    assert predict(setting.vary(target="x1"), theory="linear-width").rows_a_run == 1


def gaps(setting: Setting, runs: Trajectory) -> dict[str, float]:
    """Theory less the mean of the runs after the step, in standard errors of both."""
    known, found = observed(runs), {}
    for name, each in expectations(predict(setting, theory="linear-width")).items():
        drawn, values = each.values[:, 1], known[name][:, 1]
        spread = np.var(drawn, ddof=1) / len(drawn) if len(drawn) > 1 else 0.0
        error = np.sqrt(np.var(values, ddof=1) / len(values) + spread)
        found[name] = float(abs(drawn.mean() - values.mean()) / error)
    return found


@pytest.mark.law(sentinel="labels")
@pytest.mark.parametrize("setting", [HEAVY, FULL], ids=["labels", "full"])
def test_lengths_and_cosines_are_those_of_runs(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mean length, alignment and two cosines: 200 runs, four comparisons within 4 standard errors.

    Means over all samples are rejected, by the cosine with the direction that is not learned.
    """
    runs = simulate(setting)
    found = gaps(setting, runs)
    assert len(found) == 4
    assert max(found.values()) < 4
    assert compare(predict(setting, theory="linear-width"), runs).agrees
    monkeypatch.setattr(theory, "few_samples_decide", lambda setting: False)
    assert gaps(setting, runs)["cosine_2"] > 4


def test_what_gaussian_noise_of_rows_leaves_out_is_stated() -> None:
    """A sample that is most of its batch: rows have sigma' on it, and not Gaussian noise.

    Four numbers of 300 runs are within what theory leaves out and 3 standard errors.  Without the
    part of the batches, 2 %, the cosine with the second direction is not.
    """
    setting = HEAVY.vary(
        target="x1^4*x2^3", activation="sin", d=200, n=100, p=100, step_size=[30.0], runs=300
    )
    predicted, runs = predict(setting, theory="linear-width"), simulate(setting)
    known, off = observed(runs), {}
    for name in ("norm", "alignment", "cosine_1", "cosine_2"):
        drawn, values = expectations(predicted)[name].values[:, 1], known[name][:, 1]
        error = np.sqrt(np.var(drawn, ddof=1) / len(drawn) + np.var(values, ddof=1) / len(values))
        off[name] = float((abs(drawn.mean() - values.mean()) - 3 * error) / values.mean())
    assert max(off.values()) < predicted.relative_uncertainty
    assert off["cosine_2"] > left_out(setting)
