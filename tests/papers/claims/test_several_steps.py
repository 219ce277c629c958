"""What the claims on several steps of leap one are made of."""

import pytest

from giantstep.papers.claims.experiments import exponents
from giantstep.papers.claims.quantity import Quantity
from giantstep.papers.claims.several_steps import (
    NETWORK,
    PAIR_TARGET,
    across_the_pair,
    sums_of_links,
)


def three_links(added: str) -> list[Quantity]:
    """Three links and what is added to their sum, after two steps."""
    setting = NETWORK | {"p": 4, "steps": 2, "seed": 0}
    measured = sums_of_links(added=added, counts=(3,))
    return list(exponents(setting, measured=measured, d=(500, 5000), runs=12).quantities)


@pytest.mark.law(sentinel="equal")
@pytest.mark.parametrize("added", ["", " - 2*x2^2 + 2"], ids=["equal", "unequal"])
def test_three_equal_links_are_told_from_unequal_ones(added: str) -> None:
    """Exponents at a level of 0.99: 0 along the sum, across it -1/2 just if the links are equal."""
    along, across = three_links(added)
    assert (along.name, across.name) == (
        "exponent of $r=3$: along the sum",
        "exponent of $r=3$: across it",
    )
    assert along.low > -0.25
    assert (across.high < -0.25) == (added == "")


def test_the_cosine_across_the_pair_is_in_units_of_a_random_one() -> None:
    """Steps of size zero leave the rows where they start: one unit, and an exponent of -1/2."""
    setting = {"target": PAIR_TARGET, "n": "d", "p": 64, "steps": 1, "step_size": 0.0, "seed": 0}
    exponent, size = across_the_pair(
        setting, d=(256, 4096), runs=8, wide={"p": 64, "runs": 8}, notebook_d=4096
    ).quantities
    # 32 different rows a run: a root mean square has a standard error of 0.125, the mean of 0.05.
    assert size.measured == pytest.approx(1.0, abs=0.2)
    assert exponent.measured == pytest.approx(-0.5, abs=0.1)
