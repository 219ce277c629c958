"""The recursion of rows and velocities against averages over batches, and without momentum."""

import numpy as np
import pytest

from giantstep.gaussian.points import normal_points
from giantstep.prediction.narrow.fresh import mean_step, seen_points
from giantstep.prediction.narrow.points import Points
from giantstep.prediction.narrow.state import State
from giantstep.prediction.narrow.velocity import MeanGradient, moved_with_velocity
from giantstep.problem.network import coefficients
from giantstep.problem.setting import Setting

FIELDS = {"d": 40, "n": 25, "p": 2, "step_size": 2.0, "decay": 0.2, "start": "sphere"}
FIELDS |= {"residual": "labels", "readout_start": "ones", "activation": "tanh", "steps": 1}
ROWS = np.array([[0.6, 0.8, 0.0], [-0.3, 0.5, 0.9]])
VELOCITY = np.array([[0.2, -0.4, 0.1, 0.7, 0.0], [0.5, 0.1, -0.3, 0.2, 0.6]])


def mean_state(setting: Setting, velocity: np.ndarray) -> tuple[State, np.ndarray]:
    """The mean state after a step from given rows, and the mean Gram matrix without velocities."""
    state = State(ROWS, np.ones(2), velocity=velocity)
    normals = normal_points(4, 0, 16)
    weights = np.full(len(normals), 1 / len(normals))
    seen = seen_points(setting, Points(normals[:, :3], normals[:, 3], normals[:, 3], weights))
    g = coefficients(setting, state.preactivations(seen.points.x), seen.labels, state.readout)
    plain = mean_step(setting, ROWS, seen, g, 0)
    gradient = MeanGradient(plain.mean, plain.drift.gradient)
    return moved_with_velocity(setting, 0, state, gradient), plain.gram


def test_without_momentum_rows_move_as_if_they_had_no_velocities() -> None:
    moved, gram = mean_state(Setting("x1 + x1^2", **FIELDS), VELOCITY)
    np.testing.assert_allclose(moved.rows @ moved.rows.T, gram, rtol=1e-12)
    other, _ = mean_state(Setting("x1 + x1^2", **FIELDS, momentum=0.1), VELOCITY)
    assert not np.allclose(other.rows @ other.rows.T, gram, rtol=1e-2)


@pytest.mark.law(sentinel="0.7")
@pytest.mark.parametrize("momentum", ["0.7", "nesterov(0.7)"])
def test_means_are_those_over_batches(momentum: str) -> None:
    """Products of rows and velocities after a step in R^d, averaged over 40,000 batches.

    Ten products of four vectors, within five standard errors (family level 1e-5); with the heavy
    ball in place of Nesterov's momentum, or the other way round, one is beyond ten.
    """
    setting = Setting("x1 + x1^2", **FIELDS, momentum=momentum)
    key, runs = np.random.default_rng(5), 40_000
    w, v = np.zeros((2, 40)), np.zeros((2, 40))
    w[:, :3], v[:, :5] = ROWS, VELOCITY
    products = np.empty((runs, 4, 4))
    for run in range(runs):
        x = key.standard_normal((25, 40))
        y = x[:, 0] + x[:, 0] ** 2
        gradient = 0.5 * (y[:, None] * (1 - np.tanh(x @ w.T) ** 2)).T @ x / 25
        after = 0.7 * v + gradient
        used = after if momentum == "0.7" else gradient + 0.7 * after
        both = np.concatenate([0.8 * w + 2.0 * used, after])
        products[run] = both @ both.T
    mean, error = products.mean(axis=0), products.std(axis=0) / runs**0.5

    def farthest(setting: Setting) -> float:
        moved, _ = mean_state(setting, VELOCITY)
        motion = moved.motion.grown(moved.velocity.shape[1])
        both = np.concatenate([motion.rows, motion.velocity])
        return float(np.max(np.abs(both @ both.T - mean) / error))

    assert farthest(setting) < 5
    swapped = "nesterov(0.7)" if momentum == "0.7" else "0.7"
    assert farthest(setting.vary(momentum=swapped)) > 10
