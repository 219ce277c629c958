"""Sizes in terms of d, n and p: what is read, what is refused."""

import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from giantstep.errors import InputError
from giantstep.language.quantity import quantity, whole

LETTERS = {"d": 100.0, "n": 400.0, "p": 8.0}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (7, 7.0),
        (2.5, 2.5),
        (-1, -1.0),
        (np.float64(0.25), 0.25),
        ("7", 7.0),
        ("1e-3", 1e-3),
        (".5", 0.5),
        ("-1", -1.0),
        ("-d", -100.0),
        ("d", 100.0),
        ("4d", 400.0),
        (" 4 * d ", 400.0),
        ("1.5d", 150.0),
        ("1e3d", 1e5),
        ("d/2", 50.0),
        ("d/p/2", 6.25),
        ("d^1.5", 1000.0),
        ("d^-0.5", 0.1),
        ("2d^-1", 0.02),
        ("p*d^0.5", 80.0),
        ("n*p/d", 32.0),
        ("3n^0.5p", 480.0),
        ("2^0.5", math.sqrt(2)),
    ],
)
def test_products_of_powers(value: object, expected: float) -> None:
    assert quantity(value, LETTERS, "n") == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("value", [np.int64(3), np.int32(3), np.float32(3)])
def test_numpy_numbers_are_numbers(value: object) -> None:
    assert quantity(value, LETTERS, "n") == 3.0


REFUSED = [
    "",
    " ",
    "x",
    "4q",
    "D",
    "d^",
    "d^d",
    "d^2^2",
    "*d",
    "/2",
    "4d/",
    "d**2",
    "d//2",
    "d+1",
    "2*-d",
    "--1",
    "1,000",
    "nan",
    "inf",
    "1e999",
    "d^99999",
    "0^-1",
    "1/0",
    "0*1e999",
    "٣",
    "4d; import os",
    "9" * 1000,
    "d" * 1000,
    math.nan,
    math.inf,
    -math.inf,
    10**400,
    True,
    None,
    [4],
    b"4d",
    1j,
]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: repr(value)[:12])
def test_anything_else_is_refused_in_one_short_line(value: object) -> None:
    with pytest.raises(InputError, match=r"^n must be .*, got ") as refused:
        quantity(value, LETTERS, "n")
    assert "\n" not in str(refused.value)
    # 10**400 in full is a value like any other, a text is cut.
    assert len(str(refused.value)) < (200 if isinstance(value, str) else 500)


@pytest.mark.parametrize("text", ["1.5.5", "10 500", "d^1.5.5", "2 3d"])
def test_two_numbers_side_by_side_are_a_slip_not_a_product(text: str) -> None:
    with pytest.raises(InputError, match=r"^n must be"):
        quantity(text, LETTERS, "n")


def test_letters_are_those_that_are_known() -> None:
    with pytest.raises(InputError, match=r"powers of d, such as .*, got '4n'"):
        quantity("4n", {"d": 100}, "p")
    with pytest.raises(InputError, match=r"powers of no letters, .*, got '4d'"):
        quantity("4d", {}, "d")


@given(st.one_of(st.text(max_size=120), st.text("0123456789.eE+-*/^ dnpx", max_size=20)))
def test_any_text_gives_a_finite_number_or_a_complaint(text: str) -> None:
    with suppress(InputError):
        assert math.isfinite(quantity(text, LETTERS, "n"))


@given(st.one_of(st.integers(), st.floats()))
def test_any_finite_number_gives_itself(number: float) -> None:
    if math.isfinite(number):
        assert quantity(number, LETTERS, "n") == float(number)
    else:
        with pytest.raises(InputError, match="finite"):
            quantity(number, LETTERS, "n")


@pytest.mark.parametrize(
    ("value", "expected"), [(3, 3), (3.0, 3), ("d/8", 12), ("d^0.51", 10), ("0.6", 1)]
)
def test_sizes_given_as_text_are_rounded(value: object, expected: int) -> None:
    assert whole(value, LETTERS, "n") == expected


@pytest.mark.parametrize("value", [2**53 + 1, 2**62 + 1, 2**63 - 1])
def test_whole_numbers_keep_their_last_digit(value: int) -> None:
    assert whole(value, {}, "seed") == value


@pytest.mark.parametrize(("value", "least"), [(0, 1), (-1, 0), ("d/1000", 1), ("-d", 0)])
def test_sizes_that_are_too_small_are_refused(value: object, least: int) -> None:
    with pytest.raises(InputError, match=f"^n must be at least {least}, got {value!r}$"):
        whole(value, LETTERS, "n", least=least)


def test_a_number_that_is_not_whole_is_refused() -> None:
    with pytest.raises(InputError, match=r"^n must be a whole number, got 2\.5$"):
        whole(2.5, LETTERS, "n")
