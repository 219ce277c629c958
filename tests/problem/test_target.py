"""Targets: series with honest errors, directions, callables, separable sums, the catalog."""

import math

import numpy as np
import pytest

from giantstep.errors import InputError
from giantstep.language.parser import parse
from giantstep.problem.alignment import natural_frame
from giantstep.problem.catalog import CATALOG
from giantstep.problem.target import make_target, separable

SMOOTH_AND_KINKED = [
    "tanh(x1 + He3(x2))",
    "relu(x1) - 0.5",
    "sign(x1*x2*x3)",
    "relu(0.6*x1 + 0.8*x2)*x3",
    "1.3*tanh(x1) + relu(x2)*x1^2 + 3",
    "1/(1 + x1^2 + x2^2)",
    "abs(x1*x2)",
    "exp(x1/2)*sin(x2) + x1*x2",
    "leaky_relu(x1 - x2 + 0.3)^2",
    "sqrt(abs(x1))",
]


@pytest.mark.parametrize("text", SMOOTH_AND_KINKED)
def test_series_against_monte_carlo(text: str) -> None:
    """Each coefficient up to degree 3 and E f^2 within 5 standard errors of 400,000 samples.

    At most 21 comparisons a target: level 21 * 6e-7 each; a series with one coefficient shifted
    by 0.05 is rejected.
    """
    target = make_target(text)
    x = np.random.default_rng(1).standard_normal((400_000, target.r))
    values = target(list(x.T))
    series = target.series
    low = series.truncate(3)
    from giantstep.gaussian.rules import hermite_values

    h = hermite_values(x, 3)

    def deviations(shift: float) -> np.ndarray:
        found = []
        for exponent, c in zip(low.exponents, low.coefficients, strict=True):
            product = values * np.prod([h[:, j, k] for j, k in enumerate(exponent)], axis=0)
            error = product.std() / math.sqrt(len(x))
            found.append((product.mean() - c - shift) / error)
        return np.abs(found)

    assert np.max(deviations(0.0)) < 5
    assert np.max(deviations(0.05)) > 5
    # 1e-9 for sign, whose square does not fluctuate at all.
    gap = abs(np.mean(values**2) - series.square)
    assert gap < 5 * np.std(values**2) / math.sqrt(len(x)) + 1e-9


@pytest.mark.parametrize("name", list(CATALOG))
def test_catalog_is_usable_and_documented(name: str) -> None:
    target = make_target(name)
    entry = CATALOG[name]
    assert target.series.variance > 0
    assert entry.source
    assert entry.remark


def test_threshold_targets_have_unit_variance_and_no_low_degrees() -> None:
    for name, removed in (("threshold", 1), ("threshold-deep", 2)):
        series = make_target(name).series
        np.testing.assert_allclose(series.coefficients[series.degrees <= removed], 0, atol=1e-14)
        assert series.variance + series.tail == pytest.approx(1.0, rel=1e-9)


def test_orthonormal_directions_are_kept() -> None:
    plain = make_target("x1 + x1*x2")
    kept = make_target("x1 + x1*x2", directions=[[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]])
    assert kept.notes == ()
    np.testing.assert_array_equal(kept.series.coefficients, plain.series.coefficients)


def test_other_directions_are_orthonormalised_and_said_so() -> None:
    # x2 = 0.6 q1 + 0.8 q2
    target = make_target("x1 + x2^2", directions=[[1.0, 0.0], [0.6, 0.8]])
    assert "orthonormal" in target.notes[0]
    x = np.random.default_rng(0).standard_normal((2, 30))
    expected = x[0] + (0.6 * x[0] + 0.8 * x[1]) ** 2
    np.testing.assert_allclose(target(list(x)), expected, rtol=1e-12)


def test_dependent_directions_shrink_the_target() -> None:
    target = make_target("x1 + x2 + x3", directions=[[1, 0], [1, 0], [0, 1]])
    assert target.r == 2
    np.testing.assert_allclose(target.series.tensor(1), [2.0, 1.0], atol=1e-12)


@pytest.mark.parametrize(
    ("directions", "piece"),
    [
        ([[1.0, 0.0]], "has 1 rows, target uses 2"),
        ([[math.nan, 0.0], [0.0, 1.0]], "finite"),
        ([1.0, 2.0], "shape"),
        ([[0.0], [0.0]], "zero"),
    ],
)
def test_bad_directions(directions: list[list[float]], piece: str) -> None:
    with pytest.raises(InputError, match=piece):
        make_target("x1*x2 + x1", directions=directions)


@pytest.mark.parametrize(
    "text", ["x1/(x2 - x2)", "log(x2 - x2)", "log(x2 - x2 - 1) + x1", "((x1*x1)/He1(x2 - x2))^2"]
)
def test_a_target_without_a_value_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="target has no finite value anywhere, because of"):
        make_target(text)


def test_callables_agree_with_expressions() -> None:
    series = make_target(lambda x1, x2: np.tanh(x1) * x2 + x1).series
    expected = make_target("tanh(x1)*x2 + x1").series
    known = dict(zip(map(tuple, series.exponents.tolist()), series.coefficients, strict=True))
    for exponent, c in zip(expected.exponents.tolist(), expected.coefficients, strict=True):
        assert known.get(tuple(exponent), 0.0) == pytest.approx(c, abs=1e-9)


def test_callable_with_any_number_of_arguments_needs_directions() -> None:
    def total(*columns: np.ndarray) -> np.ndarray:
        return sum(columns[1:], columns[0])

    with pytest.raises(InputError, match="directions"):
        make_target(total)
    assert make_target(total, directions=np.eye(3)).r == 3


def test_separable_sums() -> None:
    target = separable(["z + He2", "z - He2"])
    expected = make_target("staircase").series
    assert target.series.variance == pytest.approx(expected.variance)
    mixed = separable(["z + He2", lambda z: z - (z**2 - 1)])
    x = np.random.default_rng(0).standard_normal((2, 40))
    np.testing.assert_allclose(mixed(list(x)), target(list(x)), rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("3", "constant"),
        ("x1 - x1", "constant"),
        ("0*x1", "constant"),
        ("log(x1)", "no numbers or overflow"),
        ("1/x1", "has a pole.*second moment"),
        ("exp(x1^2)", "no numbers or overflow"),
        ("exp(0.3*x1^2)", "grows too fast.*second moment is infinite or too large"),
        ("exp(x1*x2)", "grows too fast.*second moment"),
        ("sqrt(x1)", "no numbers or overflow"),
        # Both have second moments: 1/2, and exp(512) of values that overflow.
        ("sin(1e9*x1)", "oscillates too fast to be integrated"),
        ("exp(x1)^16", "grows too fast: its second moment is too large to compute"),
    ],
)
def test_bad_targets(text: str, piece: str) -> None:
    with pytest.raises(InputError, match=piece):
        make_target(text)


@pytest.mark.parametrize("value", [3, None, ["x1"], int, max])
def test_wrong_kinds_of_target(value: object) -> None:
    with pytest.raises(InputError, match="target must be"):
        make_target(value)  # type: ignore[arg-type]


def test_powers_of_the_label_are_exact_both_ways() -> None:
    """The multiplied-out and the grid route to f^3 give the same series."""
    dense = make_target("(x1 + x2/2 - x3)^4 + x1*x2 + x3")
    exact = dense.label_power(3)
    grid = dense.label_power(3, most_products=0)
    assert exact is not None
    assert grid is not None
    known = dict(zip(map(tuple, grid.exponents.tolist()), grid.coefficients, strict=True))
    norm = math.sqrt(exact.variance)
    for exponent, c in zip(exact.exponents.tolist(), exact.coefficients, strict=True):
        assert known.get(tuple(exponent), 0.0) == pytest.approx(c, abs=1e-11 * norm)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("relu(x1 - x1 + 1) + x2", "1 + x2"),
        ("sign(x1 - x1)*x2 + x1", "x1 + 0*x2"),
        ("abs(-0.5*x1*x2 + 0.5*x1*x2) + step(x1)*x2", "step(x1)*x2"),
        ("tanh(x1*x2 - x2*x1 + 2)*x2 + x1", "tanh(2)*x2 + x1"),
    ],
)
def test_arguments_that_cancel_are_constants(text: str, same: str) -> None:
    one, two = make_target(text).series, make_target(same).series
    assert one.square == pytest.approx(two.square, rel=1e-12)
    assert one.variance == pytest.approx(two.variance, rel=1e-12)


@pytest.mark.parametrize("text", ["1e-16*x1", "1e-30*x1*x2", "relu(x1 - 10)"])
def test_small_is_not_constant(text: str) -> None:
    assert make_target(text).series.variance > 0


@pytest.mark.parametrize("c", [4.2, 5.0])
def test_heavy_tails_that_settle_are_right(c: float) -> None:
    exact = (1 - 4 / c) ** -0.5 - 1 / (1 - 2 / c)
    series = make_target(f"exp(x1^2/{c})").series
    assert series.variance + series.tail == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("c", [4.001, 4.01, 4.05])
def test_heavier_tails_are_refused(c: float) -> None:
    with pytest.raises(InputError, match="too heavy to integrate"):
        make_target(f"exp(x1^2/{c})")


def test_the_frame_of_a_target_is_that_of_its_forms() -> None:
    """Coordinates in their order, and a form of several in their place."""
    frame = natural_frame(parse("He2(x4) - 2*x3 + exp(x1)*x4"), 4)
    np.testing.assert_array_equal(frame, np.eye(4)[[0, 2, 3]])
    frame = natural_frame(parse("He2(x4) + exp(x1 - x3)"), 4)
    np.testing.assert_allclose(np.abs(frame), [[0.5**0.5, 0, 0.5**0.5, 0], [0, 0, 0, 1]])


def test_the_larger_of_two_is_exact() -> None:
    """E max = 1/sqrt(pi), Var max = 1 - 1/pi and a slope of 1/2 along each; not so for the sum."""
    for text, sign in (("max(x1, x2)", 1.0), ("min(x1, x2)", -1.0)):
        series = make_target(text).series
        terms = dict(zip(map(tuple, series.exponents.tolist()), series.coefficients, strict=True))
        assert terms[0, 0] == pytest.approx(sign / math.sqrt(math.pi), rel=1e-12)
        assert terms[1, 0] == pytest.approx(0.5, rel=1e-12)
        assert series.variance + series.tail == pytest.approx(1.0 - 1.0 / math.pi, rel=1e-12)
    assert make_target("x1 + x2").series.variance > 1.9
