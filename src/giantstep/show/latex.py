r"""An analysis as LaTeX, for a paper: target, Hermite tensors, staircase and one-step formula."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from giantstep.analysis.analyze import Analysis
from giantstep.analysis.staircase import Staircase
from giantstep.analysis.subspace import name_space
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.tensors import present_terms
from giantstep.language.expression import Expression, Sum
from giantstep.language.latex import in_latex, join_factors, latex, latex_number
from giantstep.prediction.narrow.formula import OneStepFormula, Powers, one_step_formula
from giantstep.show.tex import plain_formula

PREAMBLE = r"""\documentclass{article}
\usepackage{amsmath,amssymb}
\begin{document}
"""

SPECIAL = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
"""Characters of a text that LaTeX reads as commands, and how they are written."""

GENERAL = r"""\begin{align*}
\mathbb{E}[m'] = m + \eta\,s_p\,a\,\Bigl(&\sum_{k\ge0}\frac{b_{k+1}}{k!}\,T_{k+1}[m^{\otimes k}] \\
&{}+ m\sum_{k\ge0}\frac{b_{k+2}}{k!}\,\langle T_k, m^{\otimes k}\rangle\Bigr)
\end{align*}"""
"""The mean of one step, docs/theory/index.md, eq. (2)."""


def analysis_latex(
    analysis: Analysis, *, document: bool = True, degrees: int = 6, most: int = 24
) -> str:
    """The formulas of an analysis with their numbers, as a document that LaTeX compiles.

    Without ``document`` the part between its begin and end, which needs amsmath and amssymb.
    Tensors are listed up to degree ``degrees``, and of a sum or a tensor at most ``most`` numbers.
    The formula is that of one step of arXiv 2305.18270, section 3, with all its orders.

    >>> from giantstep import analysis_latex, analyze
    >>> print(analysis_latex(analyze("x1"), document=False).splitlines()[0])
    \\paragraph{Target.}
    """
    formula = one_step_formula(analysis.target, analysis.activation)
    parts = [
        *_target(analysis),
        *_tensors(analysis.series, degrees, most),
        *_staircase(analysis),
        *_one_step(formula, most),
    ]
    body = "\n".join(parts)
    return f"{PREAMBLE}{body}\n\\end{{document}}" if document else body


def escaped(text: str) -> str:
    """A text that LaTeX sets as it stands; other characters than those of ASCII become ``?``."""
    plain = text.encode("ascii", "replace").decode()
    return "".join(SPECIAL.get(sign, sign) for sign in plain)


def _align(left: str, terms: Sequence[str], *, right: str = "") -> str:
    """An equation whose right-hand side is a sum, broken into lines that fit on a page."""
    signed = [f"{'' if term.startswith('-') else '+ '}{term}" for term in terms]
    lines = _lines(signed, " ") or ["0"]
    body = " \\\\\n&{} ".join([lines[0].removeprefix("+ "), *lines[1:]])
    return f"\\begin{{align*}}\n{left}{body}{right}\n\\end{{align*}}"


def _lines(parts: Sequence[str], separator: str, width: int = 42) -> list[str]:
    """Parts joined to lines of about ``width`` characters: the text of an article has 60."""
    lines: list[str] = []
    for part in parts:
        joined = f"{lines[-1]}{separator}{part}" if lines else part
        if lines and len(plain_formula(joined)) <= width:
            lines[-1] = joined
        else:
            lines.append(part)
    return lines


def _limited(terms: Sequence[str], most: int) -> list[str]:
    """At most so many terms, then dots."""
    return [*terms[:most], *[r"\cdots"] * (len(terms) > most)]


def _scaled(value: float, factors: Sequence[str]) -> str:
    """A number times factors; one and minus one are not written before a factor."""
    if factors and abs(value) == 1.0:
        return f"{'-' if value < 0 else ''}{join_factors(factors)}"
    return join_factors([latex_number(value), *factors])


def _terms_of(expression: Expression) -> list[str]:
    terms = expression.terms if isinstance(expression, Sum) else (expression,)
    return [latex(term) for term in terms]


def _target(analysis: Analysis) -> Iterator[str]:
    target, activation = analysis.target, analysis.activation
    yield r"\paragraph{Target.}"
    names = "$x_1$" if target.r == 1 else rf"$x_1,\dots,x_{{{target.r}}}$"
    yield r"The inputs are $x\sim\mathcal{N}(0,I_d)$."
    yield f"The target is a function of their coordinates {names} along its directions."
    if target.expression is None:
        yield rf"The target $f$ is the function \texttt{{{escaped(target.name)}}}."
    else:
        yield _align("f(x) ={}& ", _terms_of(target.expression))
    if activation.expression is None:
        yield rf"The activation $\sigma$ is the function \texttt{{{escaped(activation.name)}}}."
    else:
        yield rf"The activation is $\sigma(z) = {latex(activation.expression, variable='z')}$."


def tensor_entries(series: HermiteSeries, degree: int) -> dict[tuple[int, ...], float]:
    """Entries of T_k = E[grad^k f] that are not zero, indices in increasing order from 1."""
    part = present_terms(series)
    part = part.select(part.degrees == degree)
    entries = {}
    for alpha, c in zip(part.exponents.tolist(), part.coefficients.tolist(), strict=True):
        index = tuple(j + 1 for j, power in enumerate(alpha) for _ in range(power))
        entries[index] = c * math.sqrt(math.prod(map(math.factorial, alpha)))
    return dict(sorted(entries.items()))


def _tensors(series: HermiteSeries, degrees: int, most: int) -> Iterator[str]:
    yield r"\paragraph{Hermite tensors.}"
    yield r"The tensors $T_k = \mathbb{E}[\nabla^k f]$ are symmetric."
    yield "Entries that are not listed vanish."
    shown = min(series.degree, degrees)
    for degree in range(shown + 1):
        entries = tensor_entries(series, degree)
        if entries:
            yield _tensor(entries, degree, series.r, most)
            if len(entries) > most:
                yield f"The tensor has {len(entries) - most:,} further entries that are not listed."
    beyond = series.tail + float(sum(series.coefficients[series.degrees > shown] ** 2))
    share = beyond / (series.variance + series.tail)
    if share > 1e-12:
        yield f"Degrees above {shown} are not listed."
        yield rf"They hold {100.0 * share:.3g}\,\% of the variance."


def _tensor(entries: Mapping[tuple[int, ...], float], degree: int, r: int, most: int) -> str:
    """A number, a vector, a matrix where it fits on a page, or a list of entries."""
    if degree == 0:
        return rf"\[ T_0 = {latex_number(entries[()])} \]"
    if degree <= 2 and r <= 8:
        columns = range(1, r + 1) if degree == 2 else [0]
        rows = [[(j, k) if degree == 2 else (j,) for k in columns] for j in range(1, r + 1)]
        numbers = [[latex_number(entries.get(tuple(sorted(e)), 0.0)) for e in row] for row in rows]
        body = r" \\ ".join(" & ".join(row) for row in numbers)
        return rf"\[ T_{degree} = \begin{{pmatrix}} {body} \end{{pmatrix}} \]"
    separator = "," if r > 9 else ""
    listed = [
        rf"(T_{{{degree}}})_{{{separator.join(map(str, index))}}} = {latex_number(value)}"
        for index, value in list(entries.items())[:most]
    ]
    return _gathered(_lines(listed, r",\quad "))


def _spaces(stairs: Staircase) -> list[str]:
    """The subspaces of the steps that add a direction."""
    bases = stairs.bases
    grown = [k for k, basis in enumerate(bases) if len(basis) > (len(bases[k - 1]) if k else 0)]
    names = {k: ", ".join(map(in_latex, name_space(bases[k]))) for k in grown}
    return [rf"U_{{{k + 1}}} = \operatorname{{span}}\{{{names[k]}\}}" for k in grown]


def _staircase(analysis: Analysis) -> Iterator[str]:
    yield r"\paragraph{Staircase.}"
    if analysis.leap_index is not None:
        yield rf"The leap index is $\ell = {analysis.leap_index}$."
    if analysis.generative_exponent is not None:
        yield f"The generative exponent is ${analysis.generative_exponent}$."
    climbs = {"fresh": analysis.fresh, "reused": analysis.reused}
    if _spaces(analysis.fresh) == _spaces(analysis.reused):
        climbs = {"fresh or reused": analysis.fresh}
    for batches, stairs in climbs.items():
        steps, spaces = rf"Steps on {batches} batches of $n\sim d$ samples", _spaces(stairs)
        if not spaces:
            yield f"{steps} learn no direction."
            continue
        yield f"{steps} can learn"
        yield _gathered(spaces)
        reached, offered = stairs.reached_dimensions[-1], stairs.dimensions[-1]
        if reached < offered:
            yield f"With this activation they reach {reached} of these {offered} dimensions."


def _one_step(formula: OneStepFormula, most: int) -> Iterator[str]:
    yield r"\paragraph{One step.}"
    yield r"A row of norm one has overlaps $m$ with the target directions and output weight $a$."
    yield r"The residual is the label, the step size $\eta$, the output scale $s_p$."
    yield r"The mean overlaps after one step are"
    yield GENERAL
    yield r"with $b_k = \mathbb{E}[\sigma^{(k)}(z)]$, $z\sim\mathcal{N}(0,1)$:"
    needed = range(1, min(len(formula.slopes), 9))
    numbers = [f"b_{{{k}}} = {latex_number(float(formula.slopes[k]))}" for k in needed]
    yield _gathered(_lines(numbers, r",\quad "))
    yield "With these numbers,"
    for j, update in enumerate(formula.updates):
        terms = [_scaled(value, _overlaps(powers)) for powers, value in update.items()]
        left = rf"\mathbb{{E}}[m_{{{j + 1}}}'] = m_{{{j + 1}}} + \eta\,s_p\,a\,\bigl("
        if terms:
            yield _align(left + "&", _limited(terms, most), right=r"\bigr)")
        else:
            yield rf"\[ \mathbb{{E}}[m_{{{j + 1}}}'] = m_{{{j + 1}}} \]"
    if any(len(update) > most for update in formula.updates):
        yield f"Of a sum the {most} terms of the lowest degrees are written."


def _gathered(lines: Sequence[str]) -> str:
    return "\\begin{gather*}\n" + " \\\\\n".join(lines) + "\n\\end{gather*}"


def _overlaps(powers: Powers) -> list[str]:
    return [
        f"m_{{{j + 1}}}" + (f"^{{{power}}}" if power > 1 else "")
        for j, power in enumerate(powers)
        if power
    ]
