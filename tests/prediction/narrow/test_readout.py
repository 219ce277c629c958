"""Errors of the ridge readout: to order 1/readout_n at given rows, and over runs at finite p/d.

Tests of the formulas set them beside many fits to samples drawn here.  The common noise of a train
error, that of the limiting readout on the same sample, is taken out of it.
"""

from typing import Any

import numpy as np
import pytest

from giantstep.gaussian.rules import gauss_hermite
from giantstep.prediction.narrow import draws_needed, theory
from giantstep.prediction.narrow.points import Points, sobol_quadrature
from giantstep.prediction.narrow.readout import readout_errors
from giantstep.prediction.narrow.state import State
from giantstep.prediction.predict import predict
from giantstep.problem.penalties import penalty_grid
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

ROWS = np.array([[0.8, 0.6, 0.0, 0.0], [-0.5, 0.3, 0.9, 0.0], [0.1, 0.0, 0.4, 1.1]])
AT_ROWS: dict[str, Any] = {"p": 3, "start": "sphere", "output_scale": "1"}
SCRAMBLES = 8


def at_rows(setting: Setting) -> np.ndarray:
    """Train and test error at ROWS on independent scrambles, one row each."""
    found = []
    for seed in range(SCRAMBLES):
        points = sobol_quadrature(4, seed, 15)(ROWS, 0)
        error = readout_errors(
            setting, State(ROWS, np.zeros(len(ROWS))), points, np.random.default_rng(seed)
        )
        found.append((error.train, error.test))
    return np.array(found)


class Population:
    """Sig, b and the limiting readout of a setting at ROWS, by quadrature, with samples of it."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        points: Points = sobol_quadrature(4, 99, 17)(ROWS, 0)
        phi, y = self.features(points.x)
        self.second = phi.T @ phi / len(phi)
        self.cross = phi.T @ y / len(phi)
        self.square = setting.target.series.square

    def features(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phi = self.setting.scale * np.asarray(self.setting.activation(x @ ROWS.T))
        return phi, np.asarray(self.setting.target([x[..., 0]]))

    def limit(self, readout: np.ndarray) -> np.ndarray:
        """E (y - phi.a)^2."""
        quadratic = np.einsum("...i,ij,...j->...", readout, self.second, readout)
        return self.square - 2.0 * readout @ self.cross + quadratic

    def fits(self, count: int) -> np.ndarray:
        """Train and test error of fits to samples, at the penalty that leave-one-out takes."""
        n, cv = self.setting.readout_n, self.setting.ridge == "cv"
        penalties = penalty_grid() if cv else np.array(self.setting.ridge)
        key = np.random.default_rng(3)
        free = np.linalg.solve(self.second, self.cross)
        found = []
        for _ in range(count):
            phi, y = self.features(key.standard_normal((n, 4)))
            values, vectors = np.linalg.eigh(phi.T @ phi / n)
            grid = penalties * values.mean() if cv else penalties
            inverse = 1.0 / (values + grid[:, None])
            readouts = (inverse * (vectors.T @ (phi.T @ y) / n)) @ vectors.T
            residual = y - readouts @ phi.T
            leverage = inverse @ ((phi @ vectors) ** 2).T / n
            left_out = np.mean((residual / (1.0 - leverage)) ** 2, axis=1)
            best = int(np.argmin(left_out)) if len(grid) > 1 else 0
            noise = np.mean((y - phi @ free) ** 2) - self.limit(free)
            train = np.mean(residual[best] ** 2) - noise
            found.append((train, float(self.limit(readouts[best]))))
        return np.array(found)


def deviations(found: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Differences of the means in joint standard errors."""
    spread = [np.std(part, axis=0, ddof=1) / np.sqrt(len(part)) for part in (found, predicted)]
    return (found.mean(axis=0) - predicted.mean(axis=0)) / np.hypot(*spread)


@pytest.mark.law
@pytest.mark.parametrize(("activation", "ridge"), [("relu", 1e-9), ("relu", 0.05), ("tanh", 0.02)])
def test_order_one_over_n_with_the_true_fourth_moments(activation: str, ridge: float) -> None:
    """10000 fits to n = 400 samples: 6 comparisons within 5 joint standard errors.

    The joint errors have at least 7 degrees of freedom: level 1.6e-3 each.  With the residual taken
    to be independent of the features, E e^2 Sig in place of E[e^2 phi phi^T], the gap between test
    and train error is rejected.
    """
    setting = Setting("x1 + He2(x1)", **AT_ROWS, activation=activation, ridge=ridge, readout_n=400)
    population = Population(setting)
    found, predicted = population.fits(10_000), at_rows(setting)
    assert np.all(np.abs(deviations(found, predicted)) < 5)
    inverse = np.linalg.inv(population.second + ridge * np.eye(3))
    limit = float(population.limit(inverse @ population.cross))
    gap = 2.0 / 400 * limit * float(np.trace(population.second @ inverse))
    gaps = found[:, 1] - found[:, 0]
    assert abs(gaps.mean() - gap) > 5 * np.std(gaps) / np.sqrt(len(gaps))


@pytest.mark.law
@pytest.mark.parametrize("target", ["He2(x1)", "x1 + He2(x1)"])
def test_the_penalty_is_chosen_by_leave_one_out(target: str) -> None:
    """3000 fits to n = 100 samples, 4 comparisons within 5 joint standard errors (level 1.6e-3).

    Where nothing can be fitted (an even target, odd neurons) the best penalty, the largest, is
    rejected as a theory: leave-one-out takes another in some samples, for a lower train error.
    """
    setting = Setting(target, **AT_ROWS, activation="tanh", ridge="cv", readout_n=100)
    found, predicted = Population(setting).fits(3000), at_rows(setting)
    assert np.all(np.abs(deviations(found, predicted)) < 5)
    if target == "He2(x1)":
        best = at_rows(setting.vary(ridge=1e3))
        assert np.all(np.abs(deviations(found, best)) > 5)


def over_runs(setting: Setting, scrambles: int = 16, log2_points: int = 13) -> tuple[Any, Any]:
    """Train and test errors predicted and simulated, with standard errors: (value, error) each."""
    theory = predict(setting, scrambles=scrambles, log2_points=log2_points, deviations=False)
    runs = simulate(setting)
    mean, error = runs.mean(), runs.standard_error()
    names = ("train_error", "test_error")
    arrays = theory.arrays()
    return (
        (
            np.array([arrays[name][0] for name in names]),
            np.array([arrays[f"{name}_uncertainty"][0] for name in names]),
        ),
        (np.array([mean[name] for name in names]), np.array([error[name] for name in names])),
    )


def largest(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> float:
    return float(np.max(np.abs(one[0] - other[0]) / np.hypot(one[1], other[1])))


RUNS: dict[str, Any] = {"start": "sphere", "readout_start": "alternating", "test_n": 8000}
LIMIT = {"d": 10**8, "n": 4 * 10**8}


@pytest.mark.law
@pytest.mark.parametrize("readout_n", [100, 200])
def test_few_samples_of_the_readout(readout_n: int) -> None:
    """p = 8, penalty by leave-one-out, 200 runs, steps 0 and 1: 4 comparisons within 5 errors.

    Level 1.6e-4 each with the 15 degrees of freedom of theory.  Infinitely many samples are
    rejected.
    """
    setting = Setting("staircase", d=400, p=8, steps=1, readout_n=readout_n, runs=200, **RUNS)
    predicted, simulated = over_runs(setting)
    assert largest(predicted, simulated) < 5
    many = setting.vary(readout_n=10**9)
    found = predict(many, scrambles=2, log2_points=13, deviations=False)
    assert found.test_error is not None
    limit = (np.array([found.test_error[0]] * 2), simulated[1])
    assert largest(limit, simulated) > 5


@pytest.mark.law
@pytest.mark.parametrize("activation", ["tanh", "relu", "erf"])
def test_random_directions_help(activation: str) -> None:
    """p/d = .05 at d = 640, 100 runs, steps 0, 1, 2: 6 comparisons within 5 joint errors.

    18 in all, at level 1.6e-4 each.  The limit d -> infinity, rows without random overlaps, is
    rejected.
    """
    setting = Setting(
        "x1 + He2(x1)*x2/2", activation=activation, d=640, p=32, steps=2,
        readout_n="4d", runs=100, **RUNS,
    )  # fmt: skip
    predicted, simulated = over_runs(setting)
    assert largest(predicted, simulated) < 5
    endless = setting.vary(**LIMIT, readout_n=2560)
    limit = predict(endless, scrambles=2, log2_points=13, deviations=False)
    assert limit.test_error is not None
    value = np.array([limit.test_error[0], limit.test_error[0]])
    assert largest((value, np.zeros_like(value)), simulated) > 5


@pytest.mark.law
def test_random_directions_on_a_reused_batch() -> None:
    """The same for two steps on one batch, p/d = .04: 6 comparisons; the limit is rejected."""
    setting = Setting(
        "x1 + He2(x1)*x2/2", activation="tanh", d=500, n=2000, p=20, batches="reused", steps=2,
        readout_n=2000, runs=100, **RUNS,
    )  # fmt: skip
    predicted, simulated = over_runs(setting, 8)
    assert largest(predicted, simulated) < 5
    limit = predict(setting.vary(**LIMIT), scrambles=2, log2_points=13, deviations=False)
    assert limit.test_error is not None
    value = np.array([limit.test_error[0], limit.test_error[0]])
    assert largest((value, np.zeros_like(value)), simulated) > 5


def test_tanh_and_one_direction() -> None:
    """32 random rows in R^640 reach 1/20 of a linear target; one comparison within 4 errors.

    1 - (p/d) b_1^2/E sigma^2 but for terms of order (p/d)^2, where the limit is 1.
    """
    setting = Setting("x1", activation="tanh", d=640, p=32, steps=0, readout_n=10**6, **RUNS)
    found = predict(setting, scrambles=32, log2_points=12, deviations=False)
    assert found.test_error is not None
    assert found.test_error_uncertainty is not None
    moments = setting.activation.derivative_coefficients(1, 1.0).values
    z, w = gauss_hermite(64)
    expected = 1.0 - 0.05 * moments[1] ** 2 / (w @ np.tanh(z) ** 2)
    error = float(np.hypot(found.test_error_uncertainty[0, 0], 0.05**2))
    assert abs(found.test_error[0, 0] - expected) < 4 * error
    assert abs(found.test_error[0, 0] - 1.0) > 8 * error


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"readout_n": 79}, "readout_n must be at least 10 p, got 79 for p = 8"),
        (
            {"deflate": 1, "readout_n": 10**6 - 1},
            "at least 1000 d for deflate = 1, got 999999 at d = 1000",
        ),
    ],
)
def test_a_readout_without_prediction_has_a_note(
    fields: dict[str, Any], note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the expansion does not serve, and drawn fits would take long."""
    for module in (draws_needed, theory):
        monkeypatch.setattr(module, "quick", lambda *_, **__: False)
    found = predict(Setting("staircase", steps=1, **fields), scrambles=2, log2_points=8)
    assert found.test_error is None
    assert found.network_error is not None
    assert len(found.notes) == 1
    assert note in found.notes[0]
    none = predict(Setting("x1", readout_n=0, test_n=0), scrambles=2, log2_points=8)
    assert none.test_error is None
    assert none.notes == ()


def test_no_error_is_negative() -> None:
    """A target the readout fits exactly: 0 within its uncertainty, where quadrature says less.

    Of five numbers of points some must err to that side for the test to say anything.
    """
    setting = Setting(
        "x1", activation="He1", p=4, steps=0, readout_n=10**6, start="orthogonal",
        start_overlaps=((1,), (0,), (0,), (0,)), readout_start="alternating",
    )  # fmt: skip
    found = [predict(setting, scrambles=4, log2_points=k).arrays() for k in range(9, 14)]
    for name in ("train_error", "test_error"):
        values = np.array([arrays[name][0, 0] for arrays in found])
        uncertainties = np.array([arrays[f"{name}_uncertainty"][0, 0] for arrays in found])
        assert np.any(values == 0.0)
        assert np.all(values >= 0.0)
        assert np.all((uncertainties > 1e-5) & (uncertainties < 1e-2))


@pytest.mark.law
@pytest.mark.sentinel
def test_a_run_with_its_own_start_has_its_own_readout_errors() -> None:
    """Where the start decides what is learned, errors are predicted run by run from its rows.

    40 runs of leap 2 at n = d^2, enough test samples that their noise is small beside the spread
    of the starts: predicted and simulated errors are correlated at 4 standard errors of no
    correlation, 1/sqrt(40); with the start of the next run in place of their own they are not.
    """
    fields = RUNS | {"test_n": 10**5, "readout_n": 20_000}
    setting = Setting("He2(x1)", d=100, n="d^2", p=2, steps=1, runs=40, **fields)
    found = predict(setting, log2_points=12, deviations=False).test_error
    simulated = simulate(setting).test_error
    assert found is not None
    assert simulated is not None
    assert len(found) == 40
    seen = 4 / np.sqrt(40)
    assert np.corrcoef(found[:, 1], simulated[:, 1])[0, 1] > seen
    assert abs(np.corrcoef(np.roll(found[:, 1], 1), simulated[:, 1])[0, 1]) < seen
