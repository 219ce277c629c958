"""Expressions as formulas of sympy: the same function, no text read, one sentence without sympy."""

import subprocess
import sys

import numpy as np
import pytest
import sympy

from giantstep import CATALOG, InputError, make_activation, make_target
from giantstep.language.functions import FUNCTIONS
from giantstep.language.parser import parse
from giantstep.language.program import evaluate
from giantstep.language.symbols import as_sympy, real_symbols

WHOLE_LINE = [name for name in FUNCTIONS if name not in ("log", "sqrt")]
"""Functions that are finite on the negative axis too."""

TARGETS = [
    "x1^2/sqrt(2) + He3(x2)*x1 - 0.25",
    "He7(x1 - x2/3) + pi*x3",
    "abs(x1)^1.5*x2 + 0.123456789*x1",
    "1/(1 + x1^2) + (2 + x2^2)^-2*x3^4",
    *(f"{name}(1 + abs(x1 - x2)) + x3*{name}(2 + relu(x2))" for name in FUNCTIONS),
    *(f"{name}(x1 - x2)*x2" for name in WHOLE_LINE),
]


def values(formula: sympy.Expr, symbols: str, *columns: np.ndarray) -> np.ndarray:
    """A formula at points, computed by sympy's own functions."""
    names = sympy.symbols(symbols, real=True)
    return np.array(
        [
            float(formula.subs(dict(zip(names, row, strict=True))))
            for row in zip(*columns, strict=True)
        ]
    )


def symbol_names(r: int) -> str:
    return " ".join(f"x{k + 1}" for k in range(r)) + ","


@pytest.mark.parametrize("text", TARGETS)
def test_an_expression_has_the_same_values(text: str) -> None:
    node = parse(text)
    x = np.random.default_rng(0).standard_normal((3, 4))
    formula = as_sympy(node, real_symbols("x1", "x2", "x3"))
    found, expected = values(formula, symbol_names(3), *x), evaluate(node, x)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    # The check can fail: another term is noticed.
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(found, expected + 1e-6 * x[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", sorted(CATALOG))
def test_every_target_of_the_catalog(name: str) -> None:
    target = make_target(name)
    x = np.random.default_rng(1).standard_normal((target.r, 2))
    found = values(target.to_sympy(), symbol_names(target.r), *x)
    np.testing.assert_allclose(found, target(list(x)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [*WHOLE_LINE, "He1 + He2/2", "tanh(z + 0.5)"])
def test_an_activation_has_the_same_values(name: str) -> None:
    activation, z = make_activation(name), np.array([-1.3, -0.2, 0.4, 2.0])
    found = values(activation.to_sympy(), "z,", z)
    np.testing.assert_allclose(found, activation(z), rtol=1e-9, atol=1e-12)


def test_numbers_stay_exact() -> None:
    x = sympy.Symbol("x1", real=True)
    assert make_target("x1/3 + x1^2/sqrt(2)").to_sympy() == x / 3 + x**2 / sympy.sqrt(2)
    assert make_target("0.1*x1").to_sympy() == x / 10
    assert str(make_target("relu(x1)").to_sympy()) == "Max(0, x1)"
    assert sympy.diff(make_target("relu(x1)").to_sympy(), x) == sympy.Heaviside(x)


def test_a_callable_is_refused() -> None:
    with pytest.raises(InputError, match="target must be an expression for sympy, got '<lambda>'"):
        make_target(lambda u: u**2).to_sympy()
    with pytest.raises(InputError, match="activation must be an expression for sympy"):
        make_activation(np.tanh).to_sympy()


def test_nothing_is_read_by_sympy(monkeypatch: pytest.MonkeyPatch) -> None:
    """sympify evaluates text as Python: no text must ever reach it."""
    from sympy.parsing import sympy_parser

    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("a text was handed to sympy")

    monkeypatch.setattr(sympy_parser, "parse_expr", refuse)
    for text in TARGETS:
        as_sympy(parse(text), real_symbols("x1", "x2", "x3"))
    with pytest.raises(AssertionError, match="was handed"):
        sympy.sympify("x1")


def test_without_sympy_one_sentence() -> None:
    """sympy is loaded when a formula is asked for, and its absence is one sentence."""
    code = (
        "import sys; sys.modules['sympy'] = None\n"
        "from giantstep import analyze, make_target\n"
        "analyze('x1 + x1*x2')\n"
        "make_target('x1').to_sympy()\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr.splitlines()[-1] == (
        "ImportError: to_sympy needs sympy, which is not installed: pip install 'giantstep[sympy]'"
    )
