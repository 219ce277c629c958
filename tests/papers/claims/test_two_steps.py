"""What the claims on two steps are made of: the count in the limit, the hidden target."""

import pytest

from giantstep.papers.claims.two_steps import HIDDEN, new_in_the_limit
from giantstep.problem.activation import make_activation
from giantstep.problem.target import make_target


@pytest.mark.parametrize(
    ("first", "second", "count"), [(0.1, 0.1, 0), (0.3, 0.3, 1), (0.2, 0.3, 1), (0.4, 0.45, 4)]
)
def test_outliers_of_the_limit(first: float, second: float, count: int) -> None:
    assert new_in_the_limit(first, second) == count


def test_hidden_target_is_what_it_says() -> None:
    """Mean, linear and quadratic part zero, variance one; the activation has no mean."""
    series = make_target(HIDDEN["target"]).series
    low = series.coefficients[series.degrees <= 2]
    assert max(abs(low), default=0.0) < 1e-6
    power = float((series.coefficients**2).sum()) + series.tail
    assert power == pytest.approx(1.0, abs=1e-6)
    mean = make_activation(HIDDEN["activation"]).coefficients(0).values[0]
    assert mean == pytest.approx(0.0, abs=1e-10)
