"""How hard a fitted function is: its terms with errors, its staircase, rows with intervals."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantstep.gaussian.rules import hermite_values
from giantstep.problem.target import make_target
from giantstep.reports.hardness import Agreed, Hardness, _named, next_rows
from giantstep.reports.interval import interval
from giantstep.reports.page import _hardness
from giantstep.reports.terms import DRAWS, terms_of


def test_sums_of_directions_are_written_without_what_is_small() -> None:
    text = "the first step learns 0.002*x1 - x2 - 0.016*x3, the second 0.167*x1 + 0.01*x2 - x3"
    assert _named(text) == (
        "The first step learns direction 2, the second 0.17*direction 1 - direction 3"
    )
    assert _named("it learns x1 and x2") == "It learns direction 1 and direction 2"


def test_no_direction_is_seen_with_fewer_rows_than_columns() -> None:
    assert [rows.value for rows in next_rows(interval(0.999, 0.0), 10, 0.02, 0.01)] == [10.0, 10.0]
    first, second = next_rows(interval(0.5, 0.0), 10, 0.02, 0.01)
    assert 10.0 < first.value < second.value


def test_rows_of_the_next_direction_have_the_error_of_what_is_left() -> None:
    """They are proportional to 1 - score: .5 (.4 to .6) here."""
    score = interval(0.5, 0.1 / 1.96)
    for rows in next_rows(score, 10, 0.02, 0.01):
        assert rows.low == pytest.approx(0.8 * rows.value, rel=1e-4)
        assert rows.high == pytest.approx(1.2 * rows.value, rel=1e-4)


def model(degree: int, size: float = 1.0) -> Any:
    """A fit of one direction: size * h_degree(u)."""
    return SimpleNamespace(
        n_fitted_=1, response=lambda u: size * hermite_values(u, degree)[:, 0, degree:]
    )


def test_coefficients_have_the_errors_of_refits() -> None:
    """A refit whose coordinate correlates by r has the coefficient r^2 of h2(v) in h2(u).

    Of four refits with changes r^2 - 1, 0, .5 and -1 (without direction) the jackknife has variance
    3/4 of the sum of squares.  He2 is sqrt(2) h2.
    """
    key = np.random.default_rng(0)
    v, other = key.standard_normal((2, 50_000, 1))
    refits = [
        (model(2), 0.8 * v + 0.6 * other),
        (model(2), v),
        (model(2, 1.5), -v),
        (SimpleNamespace(n_fitted_=0), v[:, :0]),
    ]
    target = make_target("0.5*He2(x1) + 0.1*x1")
    terms = terms_of(target, model(2), 0, v, refits)
    assert [term.name for term in terms] == ["u1", "He2(u1)"]
    assert [term.coefficient.value for term in terms] == pytest.approx([0.1, 0.5])
    error = np.sqrt(0.75 * (0.36**2 + 0.5**2 + 1.0)) / np.sqrt(2.0)
    # E h2^4 = 15: five standard errors of the means of products, and those of the rows.
    assert terms[1].coefficient.error == pytest.approx(error, abs=5 * (15 / DRAWS) ** 0.5)
    assert terms[1].coefficient.high == pytest.approx(
        0.5 + 3.18245 * terms[1].coefficient.error, rel=1e-5
    )
    # Without the refit that has no direction the error is far smaller: it counts.
    found = terms_of(target, model(2), 0, v, refits[:3])[1].coefficient.error
    assert found < 0.75 * error


def test_the_last_directions_may_have_no_term() -> None:
    """The function is 0.5 He2(u1); the fit has a second direction on which it does not depend."""
    two = SimpleNamespace(
        n_fitted_=2,
        response=lambda u: np.sqrt(0.5) * hermite_values(u @ np.eye(2), 2)[:, 0, 2:],
    )
    u = np.random.default_rng(0).standard_normal((50_000, 2))
    (term,) = terms_of(make_target("0.5*He2(x1)"), two, 0, u, [(two, u), (two, -u)])
    assert term.name == "He2(u1)"
    assert term.coefficient.value == pytest.approx(0.5)
    # -u has the same square: the refits agree.
    assert term.coefficient.error == pytest.approx(0.0, abs=0.01)


def hard(staircase: tuple[int, ...], directions: int, learned: tuple[str, ...]) -> Hardness:
    return Hardness(
        function="x1",
        terms=(),
        directions=directions,
        coordinates=12,
        leap=Agreed(1, 3, 5),
        generative=Agreed(1, 5, 5),
        staircase=staircase,
        stairs=4,
        needed=(100.0, 90.0, 120.0),
        next_rows=(interval(150.0, 10.0), interval(300.0, 20.0)),
        steps=(),
        neurons=4,
        rows=400,
        learned=learned,
        found=5,
        spanned=12,
    )


@pytest.mark.parametrize(
    ("changed", "agreed"),
    [
        ({}, True),
        ({"found": 2}, False),
        ({"found": 3}, True),
        ({"stairs": 2}, False),
        ({"leap": Agreed(1, 2, 5)}, False),
        ({"generative": Agreed(1, 2, 5)}, False),
    ],
)
def test_nothing_is_said_of_a_function_on_which_refits_do_not_agree(
    changed: dict[str, Any], agreed: bool
) -> None:
    record = replace(hard((1,), 1, ("It is learned.",)), **changed)
    assert record.agreed == agreed
    words, drawn = " ".join(record.sentences), _hardness(SimpleNamespace(hardness=record, rows=400))
    assert ("do not agree on a function, so nothing is said of how hard" in words) != agreed
    for said in ("Its leap is", "It is learned.", "about 100 rows", "seen from"):
        assert (said in words) == agreed
        assert (said in drawn) == agreed
    assert ("coefficient" in drawn) == agreed


def test_the_target_is_called_the_fitted_function() -> None:
    assert _named("It is the only direction of the target.") == (
        "It is the only direction of the fitted function."
    )


def test_no_further_direction_explains_more_than_is_left() -> None:
    text = " ".join(replace(hard((1,), 1, ()), next_rows=None).sentences)
    assert "leaves less than 1 % of the label unexplained" in text
    assert "seen from" not in text


@pytest.mark.parametrize(
    ("staircase", "directions", "sentence"),
    [
        ((0,), 2, "It has no staircase: no step on n ~ d fresh rows learns a direction. It is"),
        ((1, 1), 2, "a network learns 1 of its 2 directions. No further step learns more. It is"),
        ((1, 2), 2, "a network learns 1, then 2 of its 2 directions. It is the same in 4 of 5"),
        ((1,), 1, "a network learns its only direction. It is the same in 4 of 5"),
    ],
)
def test_the_staircase_is_named(staircase: tuple[int, ...], directions: int, sentence: str) -> None:
    assert sentence in " ".join(hard(staircase, directions, ()).sentences)


def test_powers_of_d_are_given_as_numbers() -> None:
    text = " ".join(hard((1,), 2, ("Direction 2 needs about d^3 samples a step.",)).sentences)
    assert "d = 12, d^2 = 144, d^3 = 1,728" in text
    assert "d that of independent columns" in text
    assert "from 150 (130 to 170) rows on" in text
    assert "300 (260 to 340)" in text


def test_the_rank_of_few_rows_is_not_the_number_of_columns() -> None:
    text = " ".join(replace(hard((1,), 1, ()), coordinates=130, spanned=99).sentences)
    assert "of columns, of which so few rows span only 99 dimensions: here d = 130, d^2 =" in text
