"""What the claims on two steps are made of: the count in the limit, the hidden target."""

import numpy as np
import pytest

from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.two_steps import HIDDEN
from giantstep.papers.claims.weight_outliers import (
    measured_new,
    new_in_the_limit,
    outliers_on_grid,
)
from giantstep.problem.activation import make_activation
from giantstep.problem.target import make_target


@pytest.mark.parametrize(
    ("first", "second", "count"), [(0.1, 0.1, 0), (0.3, 0.3, 1), (0.2, 0.3, 1), (0.4, 0.45, 4)]
)
def test_outliers_of_the_limit(first: float, second: float, count: int) -> None:
    assert new_in_the_limit(first, second) == count


def test_a_boundary_below_one_half_counts_more() -> None:
    assert new_in_the_limit(0.2, 0.3, 0.4) == 1
    assert new_in_the_limit(0.3, 0.3, 0.4) == 3


def test_outliers_are_counted_beside_the_first_and_from_the_margin_on() -> None:
    """Two of four values are above 1.25 times the edge 2, of which one is that of step 1."""
    values = np.array([[9.0, 2.6, 2.4, 1.9], [9.0, 2.4, 2.3, 1.9]])
    assert measured_new(values, 2.0, 0.25).tolist() == [1.0, 0.0]
    assert measured_new(values, 2.0, 0.1).tolist() == [2.0, 2.0]


def test_the_grid_has_exponents_that_differ_and_limits_up_to_three() -> None:
    options = CLAIMS["two-step-outlier-grid"].options
    assert [new_in_the_limit(*cell) for cell in options["limit_cells"]] == [0, 1, 2, 3]
    assert sum(first != second for first, second in options["cells"]) == 4


@pytest.mark.law(sentinel="as told")
@pytest.mark.parametrize(
    ("beyond", "verdict"), [(0.0, "holds"), (0.15, "fails")], ids=["as told", "larger"]
)
def test_places_of_outliers_are_those_of_the_steps_that_theory_is_told(
    beyond: float, verdict: str
) -> None:
    """One cell at p = 200: step sizes larger by p^0.15 put the second singular value elsewhere."""
    claim = CLAIMS["two-step-outlier-grid"]
    setting = {**claim.setting, "activation": "softplus(z + 1.5)", "seed": 3}
    options = {**claim.options, "cells": ((0.45, 0.45),), "beyond": beyond}
    findings = outliers_on_grid(setting, **options, d=200, runs=40)
    place = next(q for q in findings.quantities if q.name.startswith("singular value 2"))
    assert place.verdict == verdict


@pytest.mark.parametrize(
    ("name", "exponent"), [("reused-goes-beyond-exponent-two", 2), ("reused-goes-beyond", 3)]
)
def test_hidden_target_is_what_it_says(name: str, exponent: int) -> None:
    """Degrees below the exponent are zero, its own is not, the variance is one."""
    series = make_target(CLAIMS[name].setting["target"]).series
    low = series.coefficients[series.degrees < exponent]
    assert max(abs(low), default=0.0) < 1e-6
    assert max(abs(series.coefficients[series.degrees == exponent])) > 0.1
    power = float((series.coefficients**2).sum()) + series.tail
    assert power == pytest.approx(1.0, abs=1e-6)
    mean = make_activation(HIDDEN["activation"]).coefficients(0).values[0]
    assert mean == pytest.approx(0.0, abs=1e-10)
