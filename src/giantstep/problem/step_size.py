"""Step sizes: one or one a step, as numbers; and the giant one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from giantstep.errors import InputError, shown
from giantstep.gaussian.tensors import information_exponent
from giantstep.language.expression import Expression, Variable, substitute
from giantstep.language.program import evaluate
from giantstep.language.quantity import listed, quantity
from giantstep.problem.starts import readout_rms
from giantstep.problem.target import Target
from giantstep.problem.updates import UPDATES

OutputScale = Literal["1/p", "1/sqrt(p)", "1"]
"""The factor s_p before the sum over the neurons."""

IDENTITY = Variable(0)
"""A step that sees the label y as it is."""

FLOAT32_MAX = float(np.finfo(np.float32).max)


def step_sizes(
    given: object, steps: int, letters: Mapping[str, float], *, giant: Callable[[], float]
) -> tuple[float, ...]:
    """One number for each step, from one size or from as many as there are steps.

    ``giant`` is the size at which one update is of order one, ``giant/2`` half of it.
    """
    sizes = listed(given)
    if len(sizes) not in (1, steps):
        several = f" or one for each of {steps} steps" if steps > 1 else ""
        raise InputError(f"step_size must be one size{several}, got {shown(given)}")
    numbers = []
    for size in sizes:
        # A size that does not speak of the giant one does not ask for it: it may have none.
        giant_size = giant() if isinstance(size, str) and "giant" in size else math.nan
        like = "'3*giant' or 'p*d^0.5'"
        number = quantity(size, {**letters, "giant": giant_size}, "step_size", like=like)
        if abs(number) > FLOAT32_MAX:
            raise InputError(f"step_size overflows float32, got {shown(size)}")
        numbers.append(number)
    return tuple(numbers * steps if len(numbers) == 1 else numbers)


def output_scale(text: OutputScale, p: float) -> float:
    """s_p as a number."""
    return {"1/p": 1.0 / p, "1/sqrt(p)": 1.0 / math.sqrt(p), "1": 1.0}[text]


def giant_step_size(
    target: Target,
    letters: Mapping[str, float],
    *,
    scale: float,
    readout_start: str | Sequence[float],
    deflate: int,
    seen: Expression = IDENTITY,
    update: str = "gradient",
    length: float = 1.0,
) -> float:
    """The size at which one update is as long as a row: |w| d^((l-1)/2) / (s_p |a|).

    l is the leap index of what the first step sees of the label, ``seen`` of y.  The update of a
    neuron is eta s_p a_i b_l/(l-1)! T_l[m^(l-1)] with overlaps m of order d^(-1/2) (theorem on
    one step of arXiv 2305.18270: eta = p d^((l-1)/2) for output scale 1/p and signs).  Deflated
    labels count from the first degree that is left, those of a data set as if it were the first.
    An update of given length takes |w| over that length, and decay, biases and the activation
    change no power of d.  ``length`` -> |w|, root mean square at the start.  Infinite where
    it is beyond the floats.
    """
    p, d, leap = letters["p"], letters["d"], 1
    update_length = UPDATES[update].length
    if update_length is not None:
        return length / update_length(d)
    if not target.column:
        series = _seen_target(target, seen).series
        leap = information_exponent(series.select(series.degrees > max(0, deflate))) or 1
    try:
        return length * d ** ((leap - 1) / 2) / (scale * readout_rms(readout_start, p))
    except OverflowError:
        return math.inf


def _seen_target(target: Target, seen: Expression) -> Target:
    """The target as the first step sees it."""
    if seen == IDENTITY:
        return target
    if target.expression is None:
        return Target(target.name, target.r, function=lambda *x: evaluate(seen, (target(x),)))
    return Target(target.name, target.r, substitute(seen, (target.expression,)))


def size_list(sizes: Sequence[float], digits: int = 6, most: int = 8) -> str:
    """Step sizes in a sentence: at most so many, one of many that are the same."""
    shown = [f"{size:.{digits}g}" for size in sizes[:most]]
    if len(sizes) <= most:
        return ", ".join(shown) or "none"
    if len(set(sizes)) == 1:
        return f"{shown[0]} at each of {len(sizes):,} steps"
    return f"{', '.join(shown)}, ..."
