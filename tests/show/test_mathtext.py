"""Formulas that a user types are set as mathematics, and matplotlib can draw them."""

import pytest
from matplotlib.mathtext import MathTextParser

from giantstep.problem.catalog import CATALOG
from giantstep.problem.setting import Setting
from giantstep.show.mathtext import formula, power, sizes
from giantstep.show.tables.setting import setting_title

FORMULAS = [
    "x1 + He2(x1)*x2 - 0.5*sqrt(3)*tanh(x2 + x1)^2",
    "x1^2-x2^2",
    "exp(-x1^2/2)",
    "1e-3*x12",
]


def drawn(text: str) -> None:
    """Raises ValueError where matplotlib cannot set a text."""
    MathTextParser("agg").parse(text, 72)


@pytest.mark.parametrize("text", [*FORMULAS, *(entry.expression for entry in CATALOG.values())])
def test_every_formula_can_be_drawn(text: str) -> None:
    found = formula(text)
    assert found.startswith("$")
    assert found.endswith("$")
    assert "*" not in found
    drawn(found)


def test_a_sum_is_set_term_by_term() -> None:
    assert formula("x1 + x1*x2") == r"$x_{1}$ $+\;x_{1}\,x_{2}$"
    assert formula("tanh(x1 + x2)") == r"$\mathrm{tanh}(x_{1}+x_{2})$"
    assert formula("x1^12") == "$x_{1}^{12}$"


def test_what_is_no_formula_stays_as_it_is() -> None:
    assert formula("column('a price')") == "column('a price')"
    assert formula("5$") == r"5\$"


def test_sizes_are_letters_of_mathematics() -> None:
    assert sizes("d = 1,000, noise 0") == "$d$ = 1,000, noise 0"
    assert power("k in n = d^k") == "$k$ in $n$ = $d^{k}$"
    assert power("n = 4d, readout_n = 3") == "$n$ = $4d$, readout_n = 3"


def test_the_title_of_a_picture_can_be_drawn() -> None:
    """In lines of a picture's width; a formula is not torn apart inside a term."""
    target = " + ".join(f"He{k}(x1)*x2" for k in range(1, 9))
    title = setting_title(Setting(target, d=1000))
    assert title.count("\n") > 0
    for line in title.split("\n"):
        assert line.count("$") % 2 == 0
        drawn(line)
