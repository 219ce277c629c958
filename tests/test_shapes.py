"""While the tests run, arrays of a call have the shapes of its annotations, a letter one size."""

import numpy as np
import pytest
from beartype.roar import BeartypeCallHintParamViolation, BeartypeCallHintReturnViolation

from giantstep.gaussian import points as gaussian_points
from giantstep.prediction.narrow.points import Points, exact_quadrature
from giantstep.problem.setting import Setting


def points(n: int, m: int) -> Points:
    return Points(np.zeros((n, 2)), np.zeros(n), np.zeros(n), np.ones(m))


def test_every_call_has_sizes_of_its_own() -> None:
    for n in (3, 4):
        mean, square = points(n, n).mean_and_square(np.ones((5, n)), np.ones((n, 2)))
        assert mean.shape == (5, 2)
        assert square.shape == (5, 5)


def test_arguments_must_agree() -> None:
    with pytest.raises(BeartypeCallHintParamViolation):
        points(3, 3).mean_and_square(np.ones((5, 3)), np.ones((4, 2)))


def test_results_must_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """One axis in place of the two of points and coordinates."""
    monkeypatch.setattr(gaussian_points, "normal_sets", lambda *_: lambda number: np.zeros(4))
    with pytest.raises(BeartypeCallHintReturnViolation):
        gaussian_points.normal_points(4, 0, 3)


def test_fields_must_agree() -> None:
    with pytest.raises(BeartypeCallHintParamViolation):
        points(3, 4)


def test_functions_inside_others_are_checked() -> None:
    at = exact_quadrature(Setting("x1", d=100, p=1, start="sphere"), 12)
    assert at is not None
    assert at(np.ones((1, 2)), 0).x.shape[1] == 2
    with pytest.raises(BeartypeCallHintParamViolation):
        at(np.ones(2), 0)
