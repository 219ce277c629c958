"""Groups of steps beside the same recursion taken step by step."""

import numpy as np
import pytest

from giantstep.prediction.narrow import grouped
from giantstep.prediction.narrow.grouped import groups, stage_weights


def logistic(rate: float, tolerance: float) -> tuple[float, int]:
    """The largest error, at any step, of groups for two logistic maps, and their evaluations."""
    steps, state, calls = int(30 / rate), np.array([[1e-3, 1e-2]]), 0

    def grow(state: np.ndarray, step: int, group: int) -> np.ndarray:
        nonlocal calls
        calls += 1
        return rate * np.array([1.0, 0.7]) * state * (1.0 - state)

    path = np.empty((steps + 1, *state.shape))
    path[0] = state
    for step in range(steps):
        path[step + 1] = path[step] + grow(path[step], step, 0)
    calls, error = 0, 0.0
    for group in groups(grow, state, (1.0,) * steps, scale=np.ones_like, tolerance=tolerance):
        inside = np.arange(group.begin, group.end + 1)
        error = max(error, float(np.max(np.abs(group.at(inside) - path[inside]))))
    return error, calls


@pytest.mark.parametrize("rate", [0.3, 0.03, 0.003])
def test_groups_follow_the_recursion(rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Growth by a factor of a thousand multiplies early errors: 30 tolerances are allowed.

    The weights of a differential equation, those of infinitely long groups, are off by more where
    there are groups: steps that change much are all taken one by one.
    """
    for tolerance in (1e-4, 1e-5, 1e-6):
        error, calls = logistic(rate, tolerance)
        assert error < 30 * tolerance
        # Third order: three calls a group of relative change tolerance^(1/3), but one a step
        # and a rejected attempt now and then at most.
        assert calls < min(12 * tolerance ** (-1 / 3), 45 / rate)
    monkeypatch.setattr(grouped, "stage_weights", lambda size: stage_weights(10**12))
    if rate < 0.3:
        assert logistic(rate, 1e-5)[0] > 30 * 1e-5


def test_the_weights_are_those_of_the_recursion() -> None:
    """y' = (1 + a) y: three orders of (1 + a)^N, for any N; those of exp(a N) are off."""
    for size in (4, 7, 100):
        (b1, b2, b3), second, third, inner = stage_weights(size)
        powers = np.array(
            [
                b1 + b2 + b3,
                b2 * second + b3 * third,
                b3 * inner * second,
            ]
        )
        exact = np.array([1.0, (1 - 1 / size) / 2, (1 - 1 / size) * (1 - 2 / size) / 6])
        np.testing.assert_allclose(powers, exact, rtol=1e-13)
        squares = (1 - 1 / size) * (2 - 1 / size) / 6
        assert b2 * second**2 + b3 * third**2 == pytest.approx(squares, rel=1e-13)
        assert np.max(np.abs(powers - [1.0, 1 / 2, 1 / 6])) > 0.4 / size


def test_step_sizes_that_change() -> None:
    """A group has steps of one size: 50 steps, then 50 of a tenth."""
    sizes = (0.1,) * 50 + (0.01,) * 50

    def decay(state: np.ndarray, step: int, group: int) -> np.ndarray:
        return -sizes[step] * state

    last = list(groups(decay, np.ones((1, 1)), sizes, scale=np.ones_like, tolerance=1e-7))[-1]
    assert last.end == 100
    assert last.after[0, 0] == pytest.approx(0.9**50 * 0.99**50, abs=1e-6)
    assert last.after[0, 0] != pytest.approx(0.9**100, abs=1e-6)
