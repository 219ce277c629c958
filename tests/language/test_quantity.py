"""Sizes in terms of d, n and p: what is read, what is refused."""

import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from giantstep.errors import InputError, shown
from giantstep.language.quantity import listed, quantity, whole

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
        ("d*log(d)", 100 * math.log(100)),
        ("2d log( n )^2", 200 * math.log(400) ** 2),
        ("d/log(p)", 100 / math.log(8)),
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
    "log(q)",
    "log(2d)",
    "log d",
    "giant",
    "٣",
    "4d; import os",
    "9" * 1000,
    "d" * 1000,
    math.nan,
    math.inf,
    -math.inf,
    10**400,
    10**5000,
    True,
    None,
    [4],
    b"4d",
    1j,
]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: shown(value)[:12])
def test_anything_else_is_refused_in_one_short_line(value: object) -> None:
    with pytest.raises(InputError, match=r"^n must be .*, got ") as refused:
        quantity(value, LETTERS, "n")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("text", ["1.5.5", "10 500", "d^1.5.5", "2 3d"])
def test_two_numbers_side_by_side_are_a_slip_not_a_product(text: str) -> None:
    with pytest.raises(InputError, match=r"^n must be"):
        quantity(text, LETTERS, "n")


def test_letters_are_those_that_are_known() -> None:
    with pytest.raises(InputError, match=r"powers of d, such as .*, got '4n'"):
        quantity("4n", {"d": 100}, "p")
    with pytest.raises(InputError, match=r"^d must be a number, got '4d'$"):
        quantity("4d", {}, "d")


def test_a_word_of_the_caller_is_named() -> None:
    with pytest.raises(InputError, match=r"^ridge must be cv, a number or a product .*, got 'loo'"):
        quantity("loo", {"d": 100}, "ridge", kind="cv, a number")


def test_a_size_is_asked_for_as_a_whole_number() -> None:
    with pytest.raises(InputError, match=r"^d must be a whole number, got 'abc'$"):
        whole("abc", {}, "d")
    with pytest.raises(
        InputError, match=r"^n must be a whole number or a product .* '4d', .*'4q'$"
    ):
        whole("4q", LETTERS, "n")


def test_the_log_of_one_is_no_divisor() -> None:
    with pytest.raises(InputError, match=r"^n must be finite, got 'd/log\(d\)'$"):
        quantity("d/log(d)", {"d": 1.0}, "n")


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
    ("value", "expected"),
    [
        (3, 3),
        (3.0, 3),
        ("3", 3),
        ("3.0", 3),
        ("1e3", 1000),
        ("6/2", 3),
        (np.int64(3), 3),
        ("- 3", -3),
    ],
)
def test_plain_numbers_that_are_whole(value: object, expected: int) -> None:
    assert whole(value, LETTERS, "n", least=-3) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("d/8", 12), ("d/16", 6), ("d^0.51", 10), ("1.005d", 100), ("p/3", 3)]
)
def test_sizes_in_terms_of_letters_are_rounded_to_the_nearest(value: str, expected: int) -> None:
    """12.5, 6.25, 10.47, 100.5 (to the even one) and 2.67."""
    assert whole(value, LETTERS, "n") == expected


@pytest.mark.parametrize("value", [2.5, "2.5", "0.6", "3/2", "2^0.5", np.float32(0.5)])
def test_a_plain_number_that_is_not_whole_is_refused(value: object) -> None:
    with pytest.raises(InputError, match=r"^n must be a whole number, got ") as refused:
        whole(value, LETTERS, "n", least=0)
    assert str(refused.value).endswith(repr(value))


@pytest.mark.parametrize("value", [2**53 + 1, 2**62 + 1, 2**63 - 1])
def test_integers_keep_their_last_digit(value: int) -> None:
    assert whole(value, {}, "seed", most=2**63) == value
    assert whole(f" {value} ", {}, "seed", most=2**63) == value
    assert whole(np.uint64(value), {}, "seed", most=2**63) == value


@pytest.mark.parametrize("value", [2.0**60, "1e18", f"{2**53 + 1}.0"])
def test_what_a_float_cannot_count_must_be_written_in_full(value: object) -> None:
    with pytest.raises(InputError, match=r"^seed must be written in full from 2\^53 on, got "):
        whole(value, {}, "seed", most=2**63)


@pytest.mark.parametrize(("value", "least"), [(0, 1), (-1, 0), ("d/1000", 1), ("-d", 0)])
def test_sizes_that_are_too_small_are_refused(value: object, least: int) -> None:
    with pytest.raises(InputError, match=f"^n must be at least {least}, got {value!r}$"):
        whole(value, LETTERS, "n", least=least)


@pytest.mark.parametrize("value", [2**53 + 1, 1e30, "1e30", "d^9", "9" * 30])
def test_sizes_that_are_too_large_are_refused(value: object) -> None:
    with pytest.raises(InputError, match=f"^n must be at most {2**53}, got ") as refused:
        whole(value, LETTERS, "n")
    assert str(refused.value).endswith(repr(value))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, [3]), ("a,b", ["a", "b"]), ([1, "d"], [1, "d"]), (np.array([1.0, 2.0]), [1.0, 2.0])],
)
def test_one_or_several(value: object, expected: list[object]) -> None:
    assert listed(value) == expected
