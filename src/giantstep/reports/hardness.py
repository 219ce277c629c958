"""How hard the fitted function is for giant steps: leap, staircase, samples, simulated steps."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.analysis.analyze import analyze
from giantstep.analysis.answer import answer
from giantstep.errors import DivergenceError, InputError
from giantstep.estimator.needs import SECOND
from giantstep.estimator.steps import noise_edge
from giantstep.problem.setting import Setting
from giantstep.problem.target import Target
from giantstep.reports.interval import Interval, interval
from giantstep.reports.resamples import HeldOut
from giantstep.simulation.simulate import simulate


@dataclass(frozen=True)
class Agreed:
    """A number of the fitted function, and in how many resamples it is the same."""

    value: int | None
    same: int
    resamples: int

    @property
    def text(self) -> str:
        value = "not decided" if self.value is None else self.value
        return f"{value} ({self.same} of {self.resamples} refits agree)"


@dataclass(frozen=True)
class Hardness:
    """The fitted function as a target of giant steps, Gaussian inputs assumed.

    function -> a polynomial in the directions; staircase -> how many of them any network has
    learned after each step on n ~ d rows; stairs -> resamples in which steps learn as many; needed
    -> rows after which the steps of the search are aligned with its directions, the least and the
    most over resamples; next_rows -> rows that show a further direction which explains 1 % of the
    label linearly, and quadratically; steps ->
    root mean square of the principal cosines after 1, 2, ... steps at this number of rows.
    """

    function: str
    leap: Agreed
    generative: Agreed
    staircase: tuple[int, ...]
    stairs: int
    needed: tuple[float, float, float]
    next_rows: tuple[float, float]
    steps: tuple[Interval, ...]
    neurons: int
    rows: int
    learned: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What theory says of the fitted function."""
        now, low, high = self.needed
        if math.isinf(now):
            rows = "Steps of first and second order do not see all of its directions."
        else:
            end = f"{high:,.0f}" if math.isfinite(high) else "any number"
            rows = (
                "A step has half of its squared length along the directions from about "
                f"{now:,.0f} rows on ({low:,.0f} to {end} over refits). The table has "
                f"{self.rows:,} rows."
            )
        first, second = self.next_rows
        return (
            f"The fitted function is close to {_short(self.function)}, where x1, x2, ... are the "
            "directions and He2, He3, ... the Hermite polynomials.",
            f"Its leap is {self.leap.text}: the lowest degree of its terms, which decides how many "
            f"rows the first step needs. Its generative exponent is {self.generative.text}: the "
            "lowest degree after the best transform of the label.",
            "Here n is the number of rows of a step, d that of columns, and n ~ d a fixed multiple "
            "of d. " + " ".join(self.learned),
            f"In {self.stairs} of {self.leap.resamples} refits steps learn as many directions.",
            rows,
            f"A further direction that explains 1 % of the label linearly would be seen from "
            f"{first:,.0f} rows on, one that does so quadratically from {second:,.0f}.",
        )


def hardness(
    held: HeldOut, pipeline: Any, score: Interval, share: float = 0.01, neurons: int = 4
) -> Hardness | None:
    """None where no direction was fitted, or no coefficient is beyond its error."""
    model, problem = pipeline[-1], held.problem
    target = target_of(model)
    if target is None:
        return None
    refits = [(p[-1], target_of(p[-1])) for p in held.pipelines.values()]
    analyses = [analyze(each, label_degree=2) for _, each in refits if each is not None]
    here = analyze(target)
    rows, c = len(problem.groups), model._inputs.to_white.shape[1]
    residual = min(max(1.0 - score.value, 0.0), 1.0)
    now, *needed = [_needed(*each) for each in ((model, target), *refits)]
    return Hardness(
        function=target.name,
        leap=_agreed(here.leap_index, [a.leap_index for a in analyses]),
        generative=_agreed(here.generative_exponent, [a.generative_exponent for a in analyses]),
        staircase=tuple(here.fresh.dimensions),
        stairs=sum(a.fresh.reached_dimensions == here.fresh.reached_dimensions for a in analyses),
        needed=(now, min([now, *needed]), max([now, *needed])),
        next_rows=next_rows(residual, c, model.level, share),
        steps=giant_steps(target, c, rows, score, held.problem.plan.runs, neurons),
        neurons=neurons,
        rows=rows,
        # The coordinates of the fitted function are the directions.
        learned=tuple(_named(text) for text in answer(here)),
    )


def next_rows(residual: float, c: int, level: float, share: float) -> tuple[float, float]:
    """Rows that show a direction which explains a share linearly, and one that does quadratically.

    Fewer rows than coordinates span no more than themselves, so that no formula goes below.
    """
    first = residual * max(noise_edge(2, c, level) ** 2 - c, 0.0) / share
    return max(first, float(c)), max(SECOND * residual * c / share, float(c))


def _short(function: str, digits: int = 2) -> str:
    """The function with its decimal numbers rounded."""
    return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.{digits}g}", function)


TERM = r"(?:\d+\.?\d*\*)?x\d"
"""A direction of a sum, with its coefficient if it has one."""


def _named(text: str) -> str:
    """A sentence about x1, x2, ... as one about directions; of sums the terms that matter."""
    text = re.sub(rf"-?{TERM}(?: [+-] {TERM})+", lambda found: _leading(found[0]), text)
    named = re.sub(r"\bx(\d)\b", r"direction \1", text)
    return named[0].upper() + named[1:]


def _leading(terms: str, least: float = 0.05) -> str:
    """A sum of directions up to its sign, without coefficients that a refit would change."""
    parts = re.findall(r"([+-]?) ?(?:(\d+\.?\d*)\*)?(x\d)", terms)
    signed = [(-1.0 if sign == "-" else 1.0, float(size or 1.0), x) for sign, size, x in parts]
    kept = [part for part in signed if part[1] >= least]
    first = kept[0][0]
    texts = [f"{size:.2g}*{x}" if size != 1.0 else x for _, size, x in kept]
    return texts[0] + "".join(
        f" {'+' if sign == first else '-'} {text}"
        for (sign, _, _), text in zip(kept[1:], texts[1:], strict=True)
    )


def target_of(model: Any) -> Target | None:
    """The fitted function of the output that varies most on the directions."""
    if model.n_fitted_ == 0:
        return None
    u = np.random.default_rng(0).standard_normal((500, model.n_fitted_))
    output = int(np.argmax(np.var(model.response(u), axis=0)))
    try:
        return model.fitted_target(output)
    except InputError:
        return None


def _agreed(value: int | None, others: Sequence[int | None]) -> Agreed:
    return Agreed(value, Counter(others)[value], len(others))


def _needed(model: Any, target: Target | None) -> float:
    return math.inf if target is None else float(model.needed_samples(target))


def giant_steps(
    target: Target, c: int, rows: int, score: Interval, runs: int, neurons: int, steps: int = 3
) -> tuple[Interval, ...]:
    """Simulated giant steps of a small network on this function with as many Gaussian rows.

    Every step takes fresh rows.  Their noise is what the fit does not explain.
    """
    variance = target.series.variance
    share = min(max(score.value, 1e-3), 1.0)
    d = max(c, target.r + 2)
    setting = Setting(
        target,
        d=d,
        n=rows,
        p=neurons,
        steps=steps,
        noise=math.sqrt(variance * (1.0 - share) / share),
        engine="deferred",
        runs=runs,
        readout_n=0,
        test_n=0,
    )
    try:
        cosines = simulate(setting).principal_cosines(np.eye(target.r))
    except (DivergenceError, InputError):
        return ()
    squares = np.sqrt(np.mean(cosines**2, axis=2))[:, 1:]
    error = squares.std(axis=0, ddof=1) / math.sqrt(runs)
    return tuple(
        interval(*pair, runs - 1) for pair in zip(squares.mean(axis=0), error, strict=True)
    )
