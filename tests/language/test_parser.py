"""The language: what it reads, what it refuses, and that refusing is quick and small."""

import contextlib
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from giantstep.errors import InputError
from giantstep.language.expression import format_expression, variables
from giantstep.language.functions import FUNCTIONS
from giantstep.language.parser import parse
from giantstep.language.program import evaluate
from giantstep.problem.catalog import CATALOG


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x1 + x2 + x1^2 - x2^2", 2.0 + 3.0 + 4.0 - 9.0),
        ("He3(x1)*x2", (8.0 - 6.0) * 3.0),
        ("tanh(x1 + He3(x2))", np.tanh(2.0 + 27.0 - 9.0)),
        ("relu(-x1) - 0.5", -0.5),
        ("-x1^2", -4.0),
        ("2^-1*x1 + 1e-1", 1.1),
        ("x1/x2/2", 1.0 / 3.0),
        ("x1^2^1*x2", 12.0),
        ("x2 - x1 - 1", 0.0),
        ("sqrt(2)*x1*sqrt(2)", 4.0),
        ("abs(x1 - x2)^0.5", 1.0),
        (".5*x1 + 3.*x2", 10.0),
        ("leaky_relu(-x1)", -0.02),
        ("+x1 - -x2", 5.0),
        ("x₁ + x₂", 5.0),
        ("x₁² \u2212 x₂³", 4.0 - 27.0),
        ("He₃(x₁)·x₂", 6.0),
        ("2 \u00d7 x1⁻¹ \u2013 1", 0.0),
        ("-x₁²^2", -16.0),
        ("sin(π/4*x1) + pi", 1.0 + np.pi),
        ("x1\u00a0+\u2009x2", 5.0),
        ("max(x1, x2) - 2*min(x1, x2)", -1.0),
        ("min(max(x1, 5), x2^2) + max(1, 2)", 7.0),
    ],
)
def test_reads_arithmetic(text: str, value: float) -> None:
    assert float(evaluate(parse(text), (2.0, 3.0))) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("name", list(CATALOG))
def test_prints_what_it_reads(name: str) -> None:
    node = parse(CATALOG[name].expression)
    again = parse(format_expression(node))
    columns = tuple(np.random.default_rng(0).standard_normal((3, 50)))
    np.testing.assert_allclose(evaluate(again, columns), evaluate(node, columns), rtol=1e-12)


REFUSED = {
    "empty": ("", "empty"),
    "blank": ("  \t\n", "empty"),
    "unknown name": ("x1 + foo(x2)", "'foo' at position 6"),
    "python": ("__import__('os')", "position 12"),
    "attribute": ("x1.real", "'.' at position 3"),
    "double star": ("x1**2", "write ^"),
    "juxtaposition": ("2 x1", "'x1' at position 3, write *"),
    "power tower": ("9^9^9^9", "is beyond 32 at position 4"),
    "growing constant": ("((9^32)^32)^32", "grows out of range"),
    "degree": ("(x1^9)^9", "degree 81"),
    "million terms": ("(x1+x2+x3+x4+x5+x6+x7+x8)^20", "more than 5000 terms"),
    "long": ("x1+" * 300_000 + "x1", "characters"),
    "deep": ("(" * 3000 + "x1" + ")" * 2000, "nested more than 40 deep"),
    "signs": ("-" * 5000 + "x1", "nested more than 40 deep"),
    "subscript after a digit": ("x1₂", "'\\u2082' at position 3"),
    "letter look-alike": ("\u04451 + x2", "position 1"),
    "fullwidth digit": ("x\uff11", "position 2"),
    "bare superscript": ("x1 + ²", "'²' at position 6"),
    "superscript on an operator": ("x1 +² x2", "'²' at position 5"),
    "far superscript": ("x₁³³", "exponent 33 is beyond 32 at position 3"),
    "after printed signs": ("x₁² \u2212 foo(x2)", "'foo' at position 7"),
    "not a number": ("nan*x1", "'nan'"),
    "infinity": ("x1 + inf", "'inf' at position 6"),
    "huge number": ("1e999*x1", "'1e999' is out of range at position 1"),
    "giant exponent": ("1e999999999*x1", "out of range"),
    "long number": ("1" * 200 + "*x1", "out of range"),
    "division by zero": ("x1/(2-2)", "division by zero at position 3"),
    "zero to minus one": ("0^-1 + x1", "division by zero"),
    "root of minus one": ("(-2)^0.5*x1", "no fractional power"),
    "log of zero": ("log(0) + x1", "not a finite number"),
    "variable exponent": ("2^x1", "exponent of ^ must be a number"),
    "x0": ("x0", "'x0'"),
    "far variable": ("x65", "'x65' is beyond x64"),
    "far hermite": ("He33(x1)", "beyond He32"),
    "bare function": ("tanh + x1", "needs an argument"),
    "open": ("(x1 + x2", "expected ')', found the end"),
    "closed": ("x1)", "')' at position 3"),
    "ends": ("x1 +", "ends too early at position 5"),
    "operators": ("x1 * / x2", "'/' at position 6"),
    "two arguments": ("tanh(x1, x2)", "',' at position 8, 'tanh' takes one argument"),
    "one argument": ("max(x1)", "needs two arguments at position 1, as in max(x1, x2)"),
    "three arguments": ("min(x1, x2, x3)", "'min' takes two arguments"),
    "nested maxima": ("max(" * 5 + "x1" + ", x2)" * 5, "nested more than 4 deep at position 17"),
    "unknown function of two": ("sign(x1) + atan3(x1, x2)", "'atan3' at position 12"),
    "missing argument": ("sin()", "an expression is missing before it"),
    "two targets": ("x1, x2", "a comma stands only between"),
    "decimal comma": ("0,5*x1", "write numbers as 1000 and 0.5"),
    "thousands": ("1_000*x1", "'_000' at position 2, write numbers as"),
    "bars": ("|x1|", "'|' at position 1, write abs(..)"),
    "braces": ("x1^{2}", "without braces"),
    "equation": ("y = x1", "the right-hand side"),
    "comparison": ("x1 > 0", "write step(a - b)"),
    "module": ("np.tanh(x1)", "write functions by their name alone"),
    "python word": ("x1 if x2 else x3", "unknown name 'if' at position 4"),
    "power of e": ("e^x1", "write exp(..)"),
    "power": ("pow(x1, 2)", "write a^2"),
}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("X1", "x1"),
        ("x0", "x1"),
        ("x_2", "x2"),
        ("x", "x1"),
        ("z", "x1"),
        ("Tanh(x1)", "tanh"),
        ("ln(x1)", "log"),
        ("sine(x1)", "sin"),
        ("H3(x1)", "He3"),
        ("He2x1", r"He2\(x1\)"),
        ("x1x2", r"x1\*x2"),
        ("maximum(x1, x2)", "max"),
    ],
)
def test_a_near_miss_is_told_what_it_may_have_meant(text: str, meant: str) -> None:
    with pytest.raises(InputError, match=rf"at position 1, did you mean {meant}\?$"):
        parse(text)
    with pytest.raises(InputError, match=r"did you mean z\?$"):
        parse("x1", variable="z")


@pytest.mark.parametrize("case", list(REFUSED))
def test_refuses_in_one_sentence(case: str) -> None:
    text, piece = REFUSED[case]
    with pytest.raises(InputError) as caught:
        parse(text)
    message = str(caught.value)
    assert piece in message
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize("case", list(REFUSED))
def test_refuses_in_bounded_time_and_memory(case: str) -> None:
    text, _ = REFUSED[case]

    def refuse() -> float:
        start = time.process_time()
        with pytest.raises(InputError):
            parse(text)
        return time.process_time() - start

    tracemalloc.start()
    refuse()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6
    # The best of a few: other processes share the caches of a test machine.
    assert min(refuse() for _ in range(7)) < 0.010


WORST = ("x1+", "x1*", "1e-30*1e30*", "(x1+1)*", "((((x1))))+", "He2(x1)-", "0.123456789*x1^2+")


@pytest.mark.parametrize("piece", WORST)
def test_longest_text_is_read_or_refused_in_time(piece: str) -> None:
    longest = 6_000
    with pytest.raises(InputError, match=f"more than the {longest} allowed"):
        parse("x" * (longest + 1))
    text = piece * (longest // len(piece) - 1) + "?"
    times = []
    for _ in range(7):
        start = time.process_time()
        with pytest.raises(InputError):
            parse(text)
        times.append(time.process_time() - start)
    assert min(times) < 0.010


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InputError):
        parse(text)


WORDS = ["x1", "x2", "x9", "He2", "He3", "(", ")", "+", "-", "*", "/", "^", "1", "2", "0.5", "1e3"]
LETTERS = st.sampled_from([*WORDS, " ", *sorted(FUNCTIONS)])


@given(st.lists(LETTERS, max_size=25).map("".join))
def test_any_tokens_are_read_or_refused(text: str) -> None:
    try:
        node = parse(text)
    except InputError:
        return
    # x1 and 1 beside each other are x11.
    columns: Any = dict.fromkeys(variables(node), np.full(1, 0.3))
    with np.errstate(all="ignore"):
        once = np.asarray(evaluate(node, columns), dtype=float)
        again = np.asarray(evaluate(parse(format_expression(node)), columns), dtype=float)
    np.testing.assert_allclose(again, once, rtol=1e-9, equal_nan=True)
