"""What a single run does: standard deviations over runs, and starts that are the whole effect.

Simulated standard deviations have standard errors sqrt((kurtosis - 1)/(4 RUNS)) of themselves.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep.prediction.narrow import covariance, deviations, theory
from giantstep.prediction.narrow.points import sobol_quadrature
from giantstep.prediction.narrow.state import start_of_run, typical_start
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.problem.starts import typical_span
from giantstep.records.comparison import compare
from giantstep.records.differences import ordered
from giantstep.records.observables import expected, observed
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

RUNS = 400
BASE: dict[str, Any] = {"target": "x1 + x1*x2", "readout_n": 0, "test_n": 0, "seed": 1}
ROWS = np.random.default_rng(5).standard_normal((4, 600)) / math.sqrt(600)
"""Four rows of R^600."""
OURS = 0.03
"""Share of a standard deviation that its quadrature leaves at four neurons (over seeds)."""


def distances(predicted: Trajectory, simulated: Trajectory) -> np.ndarray:
    """(predicted - simulated)/standard error of every standard deviation after steps 1, 2, .."""
    found = []
    for name in ("overlap", "norms", "gram"):
        values = ordered(simulated, name)[:, 1:]
        deviation = ordered(predicted, name, "_deviation")[0, 1:]
        centred = values - values.mean(axis=0)
        variance = np.mean(centred**2, axis=0)
        error = np.sqrt((np.mean(centred**4, axis=0) / variance**2 - 1.0) / (4 * len(values)))
        ratio = deviation / np.sqrt(variance)
        found.append(((ratio - 1.0) / np.hypot(error, OURS)).ravel())
    return np.concatenate(found)


@pytest.mark.law(sentinel="relu-sphere")
@pytest.mark.parametrize(
    "fields",
    [
        {"activation": "relu", "start": "sphere", "readout_start": "alternating"},
        {"activation": "tanh", "start": "symmetric"},
        {"activation": "tanh", "start": "gaussian", "readout_start": "alternating", "noise": 0.5},
    ],
    ids=["relu-sphere", "tanh-symmetric", "tanh-gaussian"],
)
def test_deviations_are_those_of_runs(fields: dict[str, Any], monkeypatch: Any) -> None:
    """56 standard deviations a case (44 different), at 4 standard errors: level 1e-2 in all.

    Without what the state before passes on, and without what the batch adds, it fails.
    """
    setting = Setting(**(BASE | {"d": 1000, "n": "4d", "p": 4, "steps": 2, "runs": RUNS} | fields))
    predicted, simulated = predict(setting), simulate(setting)
    assert predicted.runs == 1
    assert np.max(np.abs(distances(predicted, simulated))) < 4
    with monkeypatch.context() as patch:
        patch.setattr(deviations, "passed_columns", lambda *args, **rest: args[2][:0])
        assert np.max(np.abs(distances(predict(setting), simulated))) > 8
    with monkeypatch.context() as patch:
        empty = np.zeros((0, covariance.entries(setting)))
        patch.setattr(deviations, "batch_columns", lambda *args, **rest: empty)
        assert np.max(np.abs(distances(predict(setting), simulated))) > 8


def test_fewer_columns_have_the_same_covariance() -> None:
    """Exactly where the columns are enough, else on average: 2000 draws, 4 standard errors."""
    key = np.random.default_rng(0)
    columns = key.standard_normal((50, 6))
    few = covariance.fewer_columns(columns, 6, key)
    assert few.shape == (6, 6)
    assert np.allclose(few.T @ few, columns.T @ columns)
    drawn = [covariance.fewer_columns(columns, 3, key) for _ in range(2000)]
    found = np.stack([part.T @ part for part in drawn])
    error = found.std(axis=0) / math.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0) - columns.T @ columns) < 4 * error)


@pytest.mark.parametrize("start", ["sphere", "gaussian", "symmetric", "orthogonal"])
def test_columns_of_the_start(start: str) -> None:
    """Covariances of (M, Q) over 1000 starts at d = 400: 5 standard errors, or 1/d of themselves.

    At most 10 x 10 entries; the columns of another start are rejected: lengths that are fixed in
    one of them vary by 2/d in the other, 22 standard errors.
    """
    setting = Setting(**(BASE | {"d": 400, "p": 2, "start": start, "steps": 1}))
    starts = [start_of_run(setting, run).rows for run in range(1000)]
    states = covariance.packed(
        np.stack([rows[:, :2] for rows in starts]), np.stack([rows @ rows.T for rows in starts])
    )
    centred = states - states.mean(axis=0)
    products = centred[:, :, None] * centred[:, None]
    error = products.std(axis=0) / math.sqrt(len(products))

    def agrees(columns: np.ndarray) -> bool:
        off = np.abs(products.mean(axis=0) - columns.T @ columns)
        return bool(np.all(off < 5 * error + 400**-2))

    assert agrees(covariance.start_columns(setting))
    other = "gaussian" if start != "gaussian" else "sphere"
    assert not agrees(covariance.start_columns(setting.vary(start=other)))


@pytest.mark.law
@pytest.mark.parametrize(
    "fields",
    [
        {"n": 4000, "batches": "reused"},
        {"n": 40_000, "batches": "reused"},
        {"n": 10_000, "deflate": 1},
    ],
    ids=["reused", "reused-large", "deflated"],
)
def test_deviations_scale_from_fewer_samples(fields: dict[str, Any]) -> None:
    """From 2048 samples to n: the mean ratio of 18 standard deviations within 12 %.

    Each is known to 9 % from 64 runs and to 4 % from 300; neurons of a run are nearly independent.
    Without the factor sqrt(2048/n), 0.7 to 0.2, it fails.
    """
    n = fields["n"]
    sizes = {"d": n // 2, "p": 2, "steps": 2, "runs": 300, "start": "sphere"}
    setting = Setting(**(BASE | sizes | {"readout_start": "alternating"} | fields))
    predicted, simulated = predict(setting), simulate(setting)

    def ratio() -> float:
        found = []
        for name in ("overlap", "norms", "gram"):
            deviation = ordered(predicted, name, "_deviation")[0, 1:]
            found.append((deviation / ordered(simulated, name)[:, 1:].std(axis=0, ddof=1)).ravel())
        return float(np.mean(np.concatenate(found)))

    assert abs(ratio() - 1.0) < 0.12
    fewer = deviations.fewer_samples(setting)
    assert n > fewer
    assert abs(ratio() * math.sqrt(n / fewer) - 1.0) > 0.24


LEAP: dict[str, Any] = BASE | {"target": "He2(x1)", "p": 8, "n": "d^2", "steps": 1, "runs": 20}


@pytest.mark.parametrize("engine", ["deferred", "dense"])
def test_a_run_starts_where_its_engine_starts(engine: str) -> None:
    """Overlaps and Gram matrices to rounding; those of the next run are others."""
    setting = Setting(**(LEAP | {"d": 60, "engine": engine, "runs": 2, "p": 2}))
    simulated = simulate(setting)
    assert simulated.gram is not None
    for run in range(2):
        rows = start_of_run(setting, run).rows
        assert np.allclose(rows[:, :1], simulated.overlap[run, 0], atol=1e-6)
        assert np.allclose(rows @ rows.T, simulated.gram[run, 0], atol=1e-6)
        assert not np.allclose(rows[:, :1], simulated.overlap[1 - run, 0], atol=1e-3)


@pytest.mark.law
def test_the_start_may_be_the_whole_effect(monkeypatch: Any) -> None:
    """Leap 2 at n = d^2: the square of an overlap in a run is predicted^2 + deviation^2.

    Its mean over 20 runs and 8 neurons at 4 standard errors over runs; nothing is seen of it from
    the typical start.
    """
    setting = Setting(**(LEAP | {"d": 400, "readout_start": "alternating"}))
    simulated = simulate(setting)

    def distance(predicted: Trajectory) -> float:
        assert predicted.overlap_deviation is not None
        expected = predicted.overlap[:, 1] ** 2 + predicted.overlap_deviation[:, 1] ** 2
        differences = np.mean(simulated.overlap[:, 1] ** 2 - expected, axis=(1, 2))
        return float(differences.mean() / (differences.std(ddof=1) / math.sqrt(len(differences))))

    predicted = predict(setting)
    assert predicted.runs == 20
    assert compare(predicted, simulated).agrees
    assert abs(distance(predicted)) < 4
    sizes = [np.abs(found.overlap[:, 1]).mean() for found in (predicted, simulated)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.1)
    monkeypatch.setattr(theory, "SMALL_START", replace(theory.SMALL_START, most=math.inf))
    typical = predict(setting)
    assert typical.runs == 1
    assert np.abs(typical.overlap[:, 1]).mean() < 0.1 * sizes[1]


def _keep_means(monkeypatch: Any) -> None:
    """Let theory show means however far runs are from them, and however little is learned."""
    monkeypatch.setattr(theory, "NEAR_MEAN", replace(theory.NEAR_MEAN, most=math.inf))
    monkeypatch.setattr(theory, "spans_are_noise", lambda *_: False)
    monkeypatch.setattr(theory, "errors_of_points", lambda *_: 0.0)


@pytest.mark.law
@pytest.mark.parametrize(
    "fields",
    [
        {"d": 200, "p": 4, "steps": 2},
        {"d": 500, "p": 4, "steps": 2, "n": "4d", "batches": "reused", "step_size": 20.0},
        {"d": 100, "p": 4, "engine": "dense"},
    ],
    ids=["two-steps", "reused", "dense"],
)
def test_every_run_is_predicted_from_its_own_start(
    fields: dict[str, Any], monkeypatch: Any
) -> None:
    """Runs are nearer to their own row than to another's, and agree with it in the mean.

    By the recursion of the means, however far runs are from them and however little is learned.

    68 % of the overlaps are within the predicted standard deviation, at 4 standard errors over 40
    runs; 2.5 and 0.3 times the deviation are rejected.
    """
    _keep_means(monkeypatch)
    setting = Setting(**(LEAP | fields | {"runs": 40}))
    predicted, simulated = predict(setting), simulate(setting)
    assert predicted.runs == setting.runs
    assert compare(predicted, simulated).agrees
    assert predicted.overlap_deviation is not None
    assert predicted.overlap_uncertainty is not None
    own, others = (
        np.mean((simulated.overlap[:, -1] - np.roll(predicted.overlap[:, -1], shift, axis=0)) ** 2)
        for shift in (0, 1)
    )
    assert own < 0.8 * others
    # Around its own row a run strays by what the batch adds, and the quadrature of the row.
    allowed = np.hypot(predicted.overlap_deviation, predicted.overlap_uncertainty)[:, -1]
    strays = np.abs(simulated.overlap - predicted.overlap)[:, -1]

    def off(allowed: np.ndarray) -> float:
        within = np.mean(strays < allowed, axis=(1, 2))
        return float(abs(within.mean() - 0.683) / (within.std(ddof=1) / math.sqrt(len(within))))

    assert off(allowed) < 4
    assert off(2.5 * allowed) > 4
    assert off(0.3 * allowed) > 4


@pytest.mark.parametrize(
    ("fields", "decides"),
    [
        ({"target": "staircase", "d": 1000, "n": "4d", "steps": 2}, False),
        ({"d": 400}, True),
        ({"target": "He3(x1)", "d": 60, "n": "d^3", "p": 2}, True),
    ],
    ids=["leap-1", "leap-2", "leap-3"],
)
def test_where_the_start_decides(fields: dict[str, Any], decides: bool) -> None:
    setting = Setting(**(LEAP | fields))
    share = theory.start_share(setting, typical_start(setting))
    assert theory.SMALL_START.allows(share) != decides


def test_few_points_do_not_pass_for_the_start() -> None:
    """The noise of 2^9 points alone is larger than what the start does: more are taken."""
    fields = {"target": "x1 + x2 + x1^2 - x2^2", "d": 1000, "n": "16d", "p": 50, "steps": 2}
    setting = Setting(**fields, step_size="giant")
    start = typical_start(setting)
    assert theory.SMALL_START.allows(theory.start_share(setting, start, 9))
    assert not theory.SMALL_START.allows(theory.start_share(setting, start, 9, resolving=0.6))


def test_lengths_do_not_grow_with_the_rows() -> None:
    """|w|^2 = 1 + (eta/p)^2 (E[y^2] (d - 2) + E[y^2 (x1^2 + x2^2)])/(2 n), y = x1 x2, a = +-1.

    209.5; it was 252.9 with the square of an estimated drift, for two rows and not for one.
    """
    fields = {"target": "x1*x2", "d": 5000, "n": "12d", "p": 16, "steps": 1, "start": "sphere"}
    setting = Setting(**(BASE | fields | {"residual": "labels", "runs": 2}))
    found = predict(setting, deviations=False)
    exact = 1.0 + (setting.step_size[0] / 16) ** 2 * (4998 + 6) / (2 * setting.n)
    assert found.runs == 2
    squares = np.mean(found.norms[:, 1] ** 2, axis=1)
    assert found.gram_uncertainty is not None
    doubt = np.diagonal(found.gram_uncertainty[:, 1], axis1=1, axis2=2)
    assert np.sqrt(np.mean(doubt**2)) < 0.01 * exact
    assert np.all(np.abs(squares - exact) < 0.01 * exact)


def test_products_of_estimates_are_of_independent_ones() -> None:
    """|E[g x]|^2 from 64 points, g = sign(x1 x2 + x3): 300 scrambles, 4 standard errors.

    The square of the mean is rejected.
    """
    products, squares = [], []
    for seed in range(300):
        points = sobol_quadrature(12, seed, 6)(np.eye(1, 12), 0)
        g = np.sign(points.x[:, 0] * points.x[:, 1] + points.x[:, 2])[None]
        mean, product = points.mean_and_square(g * points.weights, points.x)
        products.append(float(product[0, 0]))
        squares.append(float(np.sum(mean**2)))
    error = np.std(products, ddof=1) / math.sqrt(300)
    # E[g x3] = E[2 phi(x1 x2)] = 2 E (2 pi (1 + x1^2))^(-1/2), and nothing along the others.
    z, weights = np.polynomial.hermite_e.hermegauss(100)
    exact = 4 * np.average((2 * math.pi * (1 + z**2)) ** -0.5, weights=weights) ** 2
    assert abs(np.mean(products) - exact) < 4 * error
    assert np.mean(squares) - exact > 6 * error


@pytest.mark.law
def test_magnitudes_of_more_rows_than_deviations(monkeypatch: Any) -> None:
    """Deviations of the first rows serve for all: alignments after five steps of 60 runs.

    Five comparisons of medians over four neurons at 4 standard errors of the measurement and of the
    128 drawn runs: level 1e-3.  Without deviations the prediction is that of the means, and fails.
    """
    fields = {"target": "threshold", "activation": "softplus", "residual": "labels", "n": "2d"}
    setting = Setting(**(BASE | fields), d=2000, p=4, steps=8, step_size="10p", runs=60)
    monkeypatch.setattr(
        theory, "method_of", lambda _: replace(deviations.METHODS[-1], rows=lambda *_: 16)
    )
    _keep_means(monkeypatch)
    predicted = predict(setting)
    assert predicted.overlap_deviation is not None
    known = np.isfinite(predicted.overlap_deviation).all(axis=(1, 2, 3))
    assert predicted.runs == 60
    assert known.tolist() == [True] * 16 + [False] * 44
    measured = observed(simulate(setting))["alignment"][:, 1:6]

    def distance(prediction: Trajectory) -> float:
        error = measured.std(axis=0) * math.sqrt(1 / 60 + 1 / 128)
        off = expected(prediction)["alignment"][1:6] - measured.mean(axis=0)
        return float(np.max(np.abs(off / error)))

    assert distance(predicted) < 4
    still = np.zeros_like(predicted.overlap_deviation)
    # Means that claim to be exact.
    claimed = replace(predicted, overlap_deviation=still, overlap_uncertainty=None)
    assert distance(claimed) > 6
    assert compare(predicted, simulate(setting)).p_value > 1e-3


@pytest.mark.parametrize("batches", ["fresh", "reused"])
def test_without_deviations_the_means_are_the_same(batches: str) -> None:
    fields: dict[str, Any] = {"start": "sphere", "batches": batches, "readout_n": 0, "test_n": 0}
    setting = Setting("x1 + x1*x2", d=1000, p=4, **fields)
    whole = predict(setting, scrambles=2, log2_points=8)
    means = predict(setting, scrambles=2, log2_points=8, deviations=False)
    assert whole.overlap_deviation is not None
    assert means.overlap_deviation is None
    assert np.array_equal(means.overlap, whole.overlap)
    assert np.array_equal(means.gram, whole.gram)


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ({"steps": "log(d)/2.5"}, {"steps": 3}),
        ({"readout_between": "gradient(d/100)"}, {"readout_between": "gradient(6)"}),
        ({"lookahead": "sample(0.01)", "batches": "fresh"}, {"lookahead": "sample(6/d)"}),
        ({"start": "given", "start_rows": ROWS}, {"start_rows": typical_span(2, 600).hold(ROWS)}),
    ],
    ids=["steps", "readout", "lookahead", "rows"],
)
def test_runs_at_fewer_samples_keep_their_numbers(
    given: dict[str, Any], numbers: dict[str, Any]
) -> None:
    """Numbers in terms of d = 600 are those of the setting, and rows of R^d may be given."""
    sizes: dict[str, Any] = {"activation": "tanh", "d": 600, "n": 6000, "p": 4, "steps": 2}
    setting = Setting(**BASE | sizes | {"start": "sphere", "batches": "reused"} | given)
    assert deviations.fewer_samples(setting) < setting.n
    found = []
    for each in (setting, setting.vary(**numbers)):
        start = typical_start(each)
        mean = (np.zeros((each.steps + 1, 4, 2)), np.tile(np.eye(4), (each.steps + 1, 1, 1)))
        found.append(deviations.deviations_by_runs(each, start, mean, given=False, rows=16))
    assert np.allclose(found[0].gram, found[1].gram, rtol=1e-4)
    assert np.all(found[0].gram[1:] > 0)
