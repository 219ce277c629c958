"""Exact rules against closed forms, and split at kinks against not split."""

import numpy as np
import pytest
from scipy.special import ndtri

from giantstep.gaussian.cubature import kinked_rule, smooth_rule
from giantstep.gaussian.points import normal_quantiles
from giantstep.prediction.narrow.fresh import state_evolution
from giantstep.prediction.narrow.points import exact_quadrature, sobol_quadrature
from giantstep.prediction.narrow.state import typical_start
from giantstep.problem.setting import Setting

ROWS = np.array([[0.3, 0.8, 0.5], [-0.2, 0.9, -0.4]])


def angle() -> tuple[float, float]:
    gram = ROWS @ ROWS.T
    size = float(np.sqrt(gram[0, 0] * gram[1, 1]))
    return size, float(np.arccos(gram[0, 1] / size))


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_moments_of_the_normal_law(dimension: int) -> None:
    for x, weights in (
        smooth_rule(dimension, 0.25),
        kinked_rule(np.zeros((0, dimension)), np.zeros(0), 18),
    ):
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert np.allclose((weights[:, None] * x).T @ x, np.eye(dimension), atol=1e-10)
        assert weights @ x[:, 0] ** 6 == pytest.approx(15.0, rel=1e-9)


def test_products_of_relus_and_steps_are_exact() -> None:
    """E[relu relu] and E[step step] of two planes in space, to 1e-11; a plain rule is 1e-3 off."""
    size, theta = angle()
    kernel = size / (2 * np.pi) * (np.sin(theta) + (np.pi - theta) * np.cos(theta))

    def errors(x: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        fields = x @ ROWS.T
        both = weights @ np.prod(fields > 0, axis=1)
        ramps = weights @ np.prod(np.maximum(fields, 0.0), axis=1)
        return abs(ramps - kernel), abs(both - (np.pi - theta) / (2 * np.pi))

    assert max(errors(*kinked_rule(ROWS, np.zeros(2), 18))) < 1e-11
    assert max(errors(*smooth_rule(3, 0.25))) > 1e-4


def test_shifted_planes() -> None:
    """P(x > 0.7, x + y > -0.3) by the bivariate normal law."""
    from scipy.stats import multivariate_normal

    x, weights = kinked_rule(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([0.7, -0.3]), 18)
    found = weights @ ((x[:, 0] > 0.7) & (x.sum(axis=1) > -0.3))
    law = multivariate_normal([0, 0], [[1.0, 1.0], [1.0, 2.0]])
    assert found == pytest.approx(float(law.cdf([-0.7, 0.3])), abs=1e-9)


@pytest.mark.parametrize(
    "fields",
    [
        {"target": "linear-quadratic", "p": 2},
        {"target": "linear-quadratic", "p": 2, "activation": "tanh", "noise": 0.5},
        {"target": "linear-quadratic", "p": 2, "step_size": 1.0, "deflate": 1, "noise": 0.3},
        {"target": "threshold", "p": 2},
        {"target": "x1 + x1*x2", "p": 1, "start": "sphere", "readout_start": "alternating"},
    ],
    ids=lambda f: f"{f['target']}",
)
def test_exact_and_sobol_recursions_agree(fields: dict[str, object]) -> None:
    """Gram matrices after one step within 5 standard errors (8 scrambles of 2^13 points)."""
    setting = Setting(d=1000, n="2d", steps=1, **fields)
    start = typical_start(setting)
    rule = exact_quadrature(setting, 16)
    assert rule is not None
    exact = state_evolution(setting, start, rule)
    q = setting.target.r + setting.p
    rules = [sobol_quadrature(q, seed, 13, steps=1) for seed in range(8)]
    grams = np.stack([state_evolution(setting, start, r).gram[-1] for r in rules])
    error = grams.std(axis=0, ddof=1) / np.sqrt(8)
    gap = np.abs(grams.mean(axis=0) - exact.gram[-1])
    assert np.all(gap <= 5 * error + 1e-9)
    # With half of the d/n term the Gram matrix is told apart.
    other = setting.vary(n="4d")
    wrong = state_evolution(other, start, rule).gram[-1]
    assert np.max(np.abs(wrong - exact.gram[-1]) / (error + 1e-9)) > 5


def test_errors_are_judged_on_points_that_no_step_has_seen() -> None:
    """24 neurons, two steps, 64 scrambles of 2^9 points against 8 of 2^13: within 4 joint errors.

    One comparison.  With one set of points for all steps the error is too small, and rejected.
    """
    setting = Setting(
        "x1 + x1*x2", p=24, activation="sin", d=1600, n="6d", steps=2, output_scale="1/sqrt(p)",
        start="sphere", readout_start="alternating", step_size=4.0,
    )  # fmt: skip
    start = typical_start(setting)

    def errors(log2_points: int, seeds: range, *, unseen: bool) -> np.ndarray:
        rules = [sobol_quadrature(26, seed, log2_points, steps=2) for seed in seeds]
        found = [
            state_evolution(
                setting, start, lambda rows, step, rule=rule: rule(rows, step if unseen else 0)
            )
            for rule in rules
        ]
        return np.array([evolution.network_error[2] for evolution in found])

    def sigmas(some: np.ndarray, many: np.ndarray) -> float:
        joint = np.sqrt(some.var(ddof=1) / len(some) + many.var(ddof=1) / len(many))
        return float((some.mean() - many.mean()) / joint)

    reference = errors(13, range(100, 108), unseen=True)
    assert abs(sigmas(errors(9, range(64), unseen=True), reference)) < 4
    assert sigmas(errors(9, range(64), unseen=False), reference) < -4


def test_where_it_does_not_apply() -> None:
    assert exact_quadrature(Setting("staircase", p=2), 12) is None
    assert exact_quadrature(Setting("relu(x1^2 - 1)", p=2), 12) is None
    assert exact_quadrature(Setting(lambda z: z + z**2, p=2), 12) is None


def test_normal_quantiles_have_all_their_digits() -> None:
    """Against scipy, in the middle, in the tails and beyond 1e-11; a shift by 1e-14 is seen."""
    depths = 10.0 ** -np.linspace(0.5, 15.5, 600)
    p = np.concatenate([np.linspace(0.0003, 0.9997, 5000), depths, 1.0 - depths])
    assert np.max(np.abs(normal_quantiles(p) - ndtri(p))) < 8e-15
    assert normal_quantiles(np.array([0.5])) == 0.0
    assert np.max(np.abs(normal_quantiles(p[:5000] + 1e-14) - ndtri(p[:5000]))) > 2e-14
