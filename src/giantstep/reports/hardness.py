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
from giantstep.reports.directions import FOUND, Direction, coordinates_of
from giantstep.reports.interval import Interval, interval
from giantstep.reports.resamples import HeldOut
from giantstep.reports.terms import Term, terms_of
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

    function -> a polynomial in the directions, in standard deviations of the label; terms -> its
    largest ones with the errors of their coefficients; staircase -> how many directions some
    network has learned after each step on n ~ d rows; stairs -> refits with the same staircase;
    needed -> rows after which the steps of the search are aligned with its directions, the least
    and the most over refits; next_rows -> rows that show a further direction which explains 1 % of
    the label linearly, and quadratically, None where the fit leaves less unexplained; steps -> root
    mean square of the principal cosines after 1, 2, ... steps at this number of rows; coordinates
    -> independent columns, d; spanned -> how many of them the rows span, fewer where rows are
    fewer; found -> refits that have all of the directions.
    """

    function: str
    terms: tuple[Term, ...]
    directions: int
    coordinates: int
    leap: Agreed
    generative: Agreed
    staircase: tuple[int, ...]
    stairs: int
    needed: tuple[float, float, float]
    next_rows: tuple[Interval, Interval] | None
    steps: tuple[Interval, ...]
    neurons: int
    rows: int
    learned: tuple[str, ...]
    found: int
    spanned: int

    @property
    def agreed(self) -> bool:
        """Whether at least half of the refits have the directions, and the same of every number."""
        same = (self.found, self.leap.same, self.generative.same, self.stairs)
        return 2 * min(same) >= self.leap.resamples

    @property
    def sentences(self) -> tuple[str, ...]:
        """What theory says of the fitted function."""
        if not self.agreed:
            return (self._withheld,)
        return (
            self._sizes,
            f"Its leap is {self.leap.text}: the lowest degree of its terms. A first step sees "
            "terms of degree 1 from n ~ d rows on, those of degree 2 from n ~ d^2. The leap is "
            "that of the first step alone: further directions may need more.",
            f"Its generative exponent is {self.generative.text}: the lowest degree after the best "
            "transform of the label.",
            f"{self._staircase} It is the same in {self.stairs} of {self.leap.resamples} refits.",
            " ".join(self.learned),
            self._needed,
            self._next,
        )

    @property
    def _withheld(self) -> str:
        """Why nothing is said."""
        what = "direction" if self.directions == 1 else f"{self.directions} directions"
        return (
            "The refits do not agree on a function, so nothing is said of how hard it is. Of "
            f"{self.leap.resamples} refits {self.found} found its {what}, {self.leap.same} agree "
            f"on the leap, {self.generative.same} on the generative exponent, and {self.stairs} on "
            "the staircase."
        )

    @property
    def _next(self) -> str:
        """The rows that show a further direction."""
        if self.next_rows is None:
            return (
                "The fit leaves less than 1 % of the label unexplained, so that no further "
                "direction explains as much."
            )
        first, second = (_rows_text(each) for each in self.next_rows)
        return (
            "A further direction that explains 1 % of the label linearly would be seen from "
            f"{first} rows on, one that does so quadratically from {second}."
        )

    @property
    def _staircase(self) -> str:
        """How many directions the steps have learned one after the other."""
        # The last step that is listed may add nothing.
        climbed = sorted(set(self.staircase) - {0})
        if not climbed:
            return "It has no staircase: no step on n ~ d fresh rows learns a direction."
        of = "its only direction" if self.directions == 1 else f"its {self.directions} directions"
        counts = "" if self.directions == 1 else f"{', then '.join(map(str, climbed))} of "
        text = f"Its staircase: step by step, n ~ d fresh rows each, a network learns {counts}{of}."
        return text if climbed[-1] == self.directions else f"{text} No further step learns more."

    @property
    def _sizes(self) -> str:
        """The powers of d that the sentences speak of, as numbers."""
        powers = sorted(set(re.findall(r"\bd\^(\d+)", " ".join((*self.learned, "d^2")))))
        sizes = ", ".join(f"d^{k} = {self.coordinates ** int(k):,}" for k in powers)
        counted = "independent columns"
        if self.spanned < self.coordinates:
            counted = f"columns, of which so few rows span only {self.spanned:,} dimensions"
        return (
            "What follows tells how many rows giant steps need. n is the number of rows of a step, "
            f"d that of {counted}: here d = {self.coordinates:,}, {sizes}. n ~ d means a "
            "fixed multiple of d, so that these are rates and not counts of rows."
        )

    @property
    def _needed(self) -> str:
        """The rows after which a step is aligned with the directions."""
        now, low, high = self.needed
        if math.isinf(now):
            return "Steps of first and second order do not see all of its directions."
        end = f"{high:,.0f}" if math.isfinite(high) else "any number"
        return (
            "A step has half of its squared length along the directions from about "
            f"{now:,.0f} rows on ({low:,.0f} to {end} over refits). The table has "
            f"{self.rows:,} rows."
        )


def _rows_text(rows: Interval) -> str:
    """A number of rows with its interval, rounded to two digits."""
    value, low, high = (
        f"{float(f'{number:.2g}'):,.0f}" for number in (rows.value, rows.low, rows.high)
    )
    return f"{value} ({low} to {high})"


def hardness(
    held: HeldOut,
    pipeline: Any,
    score: Interval,
    fitted: Sequence[Direction],
    share: float = 0.01,
    neurons: int = 4,
) -> Hardness | None:
    """None where no direction was fitted, or no coefficient is beyond its error."""
    model, problem = pipeline[-1], held.problem
    target = target_of(model)
    if target is None:
        return None
    refits = [(p[-1], target_of(p[-1])) for p in held.pipelines.values()]
    analyses = [None if each is None else analyze(each, label_degree=2) for _, each in refits]
    here = analyze(target)
    rows, spanned = len(problem.groups), model._inputs.to_white.shape[1]
    # Rows about their mean span one dimension less than their number, however many columns.
    few = spanned >= len(np.unique(problem.groups)) - 1
    c = int(model.n_features_in_) if few else spanned
    now, *needed = [_needed(*each) for each in ((model, target), *refits)]
    return Hardness(
        function=target.name,
        terms=terms_of(target, model, leading_output(model), *_coordinates(held, pipeline)),
        directions=model.n_fitted_,
        coordinates=c,
        leap=_agreed(here.leap_index, [None if a is None else a.leap_index for a in analyses]),
        generative=_agreed(
            here.generative_exponent,
            [None if a is None else a.generative_exponent for a in analyses],
        ),
        staircase=tuple(here.fresh.dimensions),
        stairs=sum(a is not None and a.fresh.dimensions == here.fresh.dimensions for a in analyses),
        needed=(now, min([now, *needed]), max([now, *needed])),
        next_rows=next_rows(score, c, model.level, share) if 1.0 - score.value >= share else None,
        steps=giant_steps(target, c, rows, score, held.problem.plan.runs, neurons),
        neurons=neurons,
        rows=rows,
        # The coordinates of the fitted function are the directions.
        learned=tuple(_named(text) for text in answer(here)),
        found=sum(min(each) >= FOUND for each in zip(*(d.stability for d in fitted), strict=True)),
        spanned=spanned,
    )


def next_rows(score: Interval, c: int, level: float, share: float) -> tuple[Interval, Interval]:
    """Rows that show a direction which explains a share linearly, and one that does quadratically.

    Both are multiples of what the fit leaves, 1 - score, whose error is theirs.  Fewer rows than
    coordinates span no more than themselves, so that no formula goes below.
    """

    def rows(each: float) -> Interval:
        ends = (score.value, score.high, score.low)
        value, low, high = (max(each * min(max(1.0 - s, 0.0), 1.0), c) for s in ends)
        return Interval(float(value), each * score.error, float(low), float(high))

    linear = max(noise_edge(2, c, level) ** 2 - c, 0.0) / share
    return rows(linear), rows(SECOND * c / share)


TERM = r"(?:\d+\.?\d*\*)?x\d"
"""A direction of a sum, with its coefficient if it has one."""


def _named(text: str) -> str:
    """A sentence about x1, x2, ... as one about directions; of sums the terms that matter."""
    text = re.sub(rf"-?{TERM}(?: [+-] {TERM})+", lambda found: _leading(found[0]), text)
    named = re.sub(r"\bx(\d)\b", r"direction \1", text).replace("the target", "the fitted function")
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
    try:
        return model.fitted_target(leading_output(model))
    except InputError:
        return None


def leading_output(model: Any) -> int:
    """The output that varies most on the directions."""
    u = np.random.default_rng(0).standard_normal((500, model.n_fitted_))
    return int(np.argmax(np.var(model.response(u), axis=0)))


def _coordinates(held: HeldOut, pipeline: Any) -> tuple[np.ndarray, list[tuple[Any, np.ndarray]]]:
    """Coordinates of all rows by the fit, and by each of the refits with its model."""
    refits = held.pipelines.values()
    return coordinates_of(pipeline, held.problem), [
        (refit[-1], coordinates_of(refit, held.problem)) for refit in refits
    ]


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
        interval(*pair, runs - 1, least=0.0, most=1.0)
        for pair in zip(squares.mean(axis=0), error, strict=True)
    )
