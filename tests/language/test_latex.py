"""Expressions and sizes of the language as LaTeX."""

import pytest

from giantstep.language.latex import in_latex


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("He2(x1)/sqrt(2) + x1*x2", r"\mathrm{He}_2(x_1)/\sqrt{2}+x_1x_2"),
        ("0.35*p*d^0.25", "0.35pd^{0.25}"),
        ("4*p*d^1", "4pd"),
        ("d^3", "d^3"),
        ("0.05/d^0.5", "0.05/d^{0.5}"),
        ("x12^10", "x_{12}^{10}"),
        ("1/sqrt(p)", r"1/\sqrt{p}"),
        ("4e+15", r"4\cdot10^{15}"),
        ("1e+13", "10^{13}"),
        ("1e-06", "10^{-6}"),
    ],
)
def test_expressions_and_sizes(text: str, latex: str) -> None:
    assert in_latex(text) == latex
