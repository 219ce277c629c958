"""Thousands of small steps: closed forms beside points, published equations, and exact runs."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks.stored_runs import STEPS, STORED, clean_error
from benchmarks.stored_runs import setting as setting_of_stored

from giantstep.errors import NoTheoryError
from giantstep.prediction.narrow.committee import committee_of
from giantstep.prediction.narrow.covariance import start_columns
from giantstep.prediction.narrow.fresh import state_evolution
from giantstep.prediction.narrow.long_deviations import long_deviations
from giantstep.prediction.narrow.long_runs import closed_forms, long_evolution
from giantstep.prediction.narrow.points import sobol_quadrature
from giantstep.prediction.narrow.state import start_of_run, typical_start
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.simulation.simulate import simulate

COMMITTEE = "(erf(x1/sqrt(2)) + erf(x2/sqrt(2)) + erf(x3/sqrt(2)) + erf(x4/sqrt(2)))/4"
TWO = "(erf(x1/sqrt(2)) + erf(x2/sqrt(2)))/2"
BASE: dict[str, Any] = {
    "target": TWO,
    "activation": "erf",
    "d": 1000,
    "n": 1,
    "p": 4,
    "start": "sphere",
    "readout_start": "ones",
    "noise": 0.1,
    "record": "log",
    "readout_n": 0,
    "test_n": 0,
}
FORMS: dict[str, dict[str, Any]] = {
    "erf": {},
    "erf, other scales": {
        "target": "erf(x1 + x2/2)/3 - x2/5",
        "activation": "2*erf(z/3)",
        "n": 50,
        "decay": 0.1,
    },
    "labels only": {"residual": "labels", "n": 5, "rows": "normalised"},
    "relu": {"target": "relu(x1) + abs(x1 - x2)/4", "activation": "relu", "n": 200},
}


@pytest.mark.parametrize("name", FORMS)
def test_closed_forms_are_the_recursion(name: str) -> None:
    """Two steps beside 2^15 points of four scrambles: within 5 of their standard errors.

    Each of some 50 entries and errors has 3 degrees of freedom: scrambles are pooled by
    observable.  Half the noise, or a step a tenth longer, is rejected.
    """
    setting = Setting(**(BASE | {"steps": 2, "step_size": 0.5, "seed": 1} | FORMS[name]))
    start = start_of_run(setting, 0)
    rules = [sobol_quadrature(setting.target.r + 4, seed, 15, steps=2) for seed in range(4)]
    found = [state_evolution(setting, start, rule) for rule in rules]

    def farthest(other: Setting) -> float:
        assert committee_of(other) is not None
        points = sobol_quadrature(setting.target.r + 4, 9, 15, steps=8)
        [exact] = long_evolution(other.vary(record="all"), [start], points, tolerance=1e-9)
        distances = []
        for field in ("overlap", "gram", "gradient_cosine", "network_error"):
            values = np.stack([getattr(path, field) for path in found])
            spread = np.sqrt(np.mean(values.var(axis=0, ddof=1)) / len(values))
            # The points of H in a relu network have an error of their own.
            spread *= 1.0 if closed_forms(other) else 2.0
            off = values.mean(axis=0) - getattr(exact, field)
            distances.append(np.sqrt(np.mean(off**2)) / (spread + 1e-12))
        return float(max(distances))

    assert farthest(setting) < 3
    assert farthest(setting.vary(step_size=0.55)) > 3


def test_the_published_equations() -> None:
    """Half the clean error after 0, 100, .. 500, 1000 steps, relative to its start.

    The ordinary differential equations of arXiv 2202.00293 from a start of their own: six
    comparisons within 3 standard deviations of eight random starts of ours; the double step is
    rejected.
    """
    published = np.array([0.0612, 0.0375, 0.0234, 0.0152, 0.0103, 0.0075, 0.0036])
    fields = {"target": COMMITTEE, "d": 100, "p": 8, "noise": 0.0316, "record": "every(100)"}
    setting = Setting(**(BASE | fields | {"steps": 1000, "step_size": 0.08, "runs": 8}))
    starts = [start_of_run(setting, run) for run in range(setting.runs)]

    def farthest(other: Setting) -> float:
        paths = long_evolution(other, starts, None, tolerance=1e-4)
        errors = np.stack([path.network_error for path in paths]) - other.noise**2
        shares = (errors / errors[:, :1])[:, [1, 2, 3, 4, 5, 10]]
        off = shares.mean(axis=0) - published[1:] / published[0]
        return float(np.max(np.abs(off) / shares.std(axis=0, ddof=1)))

    assert farthest(setting) < 3
    assert farthest(setting.vary(step_size=0.16)) > 3


@pytest.mark.law
@pytest.mark.parametrize(("n", "step_size", "allowed"), [(100, 0.001, 0.002), (10, 0.09487, 0.015)])
def test_stored_runs(n: int, step_size: float, allowed: float) -> None:
    """What is stored of single runs of arXiv 2406.02157 after 10, 100, 1000 and 10000 steps.

    Runs of the first series differ by less than rounding, those of the second by 1 %; the step
    twice as long is rejected.
    """
    known = setting_of_stored(n, step_size, steps=STEPS[-1], runs=1)

    def farthest(other: Setting) -> float:
        [path] = long_evolution(other, [typical_start(other)], None, tolerance=1e-4)
        shared = [step in other.recorded for step in STEPS]
        places = np.searchsorted(other.recorded, np.array(STEPS)[shared])
        found = (path.network_error[places] - other.noise**2) / 4 + 0.005
        return float(np.max(np.abs(found / np.array(STORED[n, step_size])[shared] - 1.0)))

    assert farthest(known) < allowed
    assert farthest(known.vary(step_size=2 * step_size, steps=1000)) > 2 * allowed


@pytest.mark.law(sentinel="strays")
@pytest.mark.parametrize(
    "fields",
    [
        {"step_size": 0.1, "steps": 300, "runs": 100, "seed": 31},
        {"d": 100, "p": 6, "step_size": 0.2, "steps": 300, "runs": 20, "seed": 32},
        {"target": "relu(x1)", "activation": "relu", "step_size": 0.004, "steps": 600, "runs": 40},
        {"target": "x1", "activation": "tanh", "step_size": 0.01, "steps": 600, "runs": 40},
        {"decay": 1e-3, "n": 20, "step_size": 0.2, "steps": 500, "runs": 40, "seed": 33},
        {"rows": "normalised", "step_size": 0.06, "steps": 300, "runs": 40, "seed": 34},
    ],
    ids=["strays", "own starts", "relu", "tanh", "decay", "rows"],
)
def test_exact_runs(fields: dict[str, Any]) -> None:
    """``compare`` at its level of 1e-3, six settings; two thirds of the step size is rejected."""
    setting = Setting(**(BASE | fields))
    predicted, simulated = predict(setting), simulate(setting)
    found = compare(predicted, simulated)
    assert found.agrees, (found.largest, found.p_value)
    wrong = predict(setting.vary(step_size=setting.step_size[0] / 1.5))
    assert not compare(wrong, simulated, ignoring=["step_size"]).agrees


@pytest.mark.law
def test_a_run_strays_as_predicted_and_shifts_the_mean() -> None:
    """Root mean squares of the deviations of 300 runs within 15 %, two comparisons.

    At a step of .3, which ``predict`` refuses, the mean entry of the Gram matrix is larger than
    the recursion has it: with the shift it is within 4 standard errors, without it it is not.
    """
    setting = Setting(**(BASE | {"step_size": 0.3, "steps": 200, "runs": 300, "seed": 41}))
    start, committee = typical_start(setting), closed_forms(setting)
    assert committee is not None
    around = long_deviations(setting, start, committee, columns=start_columns(setting))
    [path] = long_evolution(setting, [start], None, tolerance=1e-6)
    runs = simulate(setting)
    assert runs.gram is not None
    for field in ("overlap", "gram"):
        seen = getattr(runs, field)[:, -1].std(axis=0, ddof=1)
        ratio = np.sqrt(np.mean(seen**2) / np.mean(getattr(around, field)[-1] ** 2))
        assert abs(ratio - 1.0) < 0.15
    lengths = np.mean(runs.gram[:, -1], axis=(1, 2))
    error = lengths.std(ddof=1) / np.sqrt(len(lengths))
    off = lengths.mean() - np.mean(path.gram[-1])
    assert around.shift is not None
    assert abs(off - np.mean(around.shift.gram[-1])) < 4 * error
    assert abs(off) > 4 * error


def test_errors_are_those_of_the_overlaps() -> None:
    """The network's error in closed form beside that of the benchmark's own formula."""
    setting = Setting(**(BASE | {"step_size": 0.01, "steps": 300, "noise": 0.0}))
    [path] = long_evolution(setting, [typical_start(setting)], None, tolerance=1e-4)
    found = SimpleNamespace(overlap=path.overlap[None], gram=path.gram[None])
    np.testing.assert_allclose(clean_error(found)[0], path.network_error, rtol=1e-10)  # type: ignore[arg-type]


@pytest.mark.slow
def test_only_recorded_steps_are_held() -> None:
    """A path does not depend on what is recorded of it; readout errors have a note."""
    fields = {"step_size": 0.005, "steps": 3000, "p": 2, "readout_n": 200, "test_n": 200}
    setting = Setting(**(BASE | fields | {"record": "every(1000)"}))
    some, every = predict(setting), predict(setting.vary(record="all"))
    assert some.overlap.shape == (1, 4, 2, 2)
    assert some.overlap_deviation is not None
    assert some.overlap_uncertainty is not None
    assert np.all(some.overlap_uncertainty < 1e-3)
    np.testing.assert_allclose(every.overlap[:, ::1000], some.overlap)
    assert "readout errors: steps must be at most 100, got 3000" in some.notes[0]


@pytest.mark.law
def test_runs_that_stray_are_refused() -> None:
    """Whatever is recorded: runs stray most in the first steps.  Half the step size is covered."""
    setting = Setting(**(BASE | {"p": 2, "step_size": 0.1, "steps": 400, "record": "every(400)"}))
    relu = {"activation": "relu", "target": "relu(x1)", "step_size": 0.05}
    for refused in (setting, setting.vary(**relu)):
        with pytest.raises(NoTheoryError, match="runs differ too much for one prediction"):
            predict(refused)
    assert predict(setting.vary(step_size=0.03)).overlap_deviation is not None


@pytest.mark.law
def test_a_saddle_that_runs_leave_is_refused() -> None:
    """From orthogonal rows the recursion stays between two target directions, runs do not.

    The Gram matrix strays little: it is the overlaps that tell.
    """
    known = setting_of_stored(100, 0.08, steps=STEPS[-1], runs=1)
    with pytest.raises(
        NoTheoryError, match=r"runs differ too much .* Use more samples .* at most 20% is allowed"
    ):
        predict(known)


def test_recorded_steps_of_a_short_run() -> None:
    """The readout at the start has no steps to choose from."""
    setting = Setting(**(BASE | {"n": 1000, "step_size": 0.5, "steps": 20}))
    found = predict(setting)
    assert found.readout is not None
    assert found.readout.shape == (1, 4)
    assert found.overlap.shape[1] == len(setting.recorded)
