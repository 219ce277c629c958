"""Step sizes: one or one a step, as numbers; and the giant one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from giantstep.errors import InputError, shown
from giantstep.gaussian.tensors import information_exponent
from giantstep.language.quantity import listed, quantity
from giantstep.problem.starts import readout_rms
from giantstep.problem.target import Target

FLOAT32_MAX = float(np.finfo(np.float32).max)


def step_sizes(
    given: object, steps: int, letters: Mapping[str, float], *, giant: float
) -> tuple[float, ...]:
    """One number for each step, from one size or from as many as there are steps."""
    sizes = listed(given)
    if len(sizes) not in (1, steps):
        raise InputError(
            f"step_size must be one size or one for each of {steps} steps, got {shown(given)}"
        )
    numbers = []
    for size in sizes:
        if isinstance(size, str) and size.strip() == "giant":
            number = giant
        else:
            number = quantity(size, letters, "step_size", also="giant")
        if abs(number) > FLOAT32_MAX:
            raise InputError(f"step_size overflows float32, got {shown(size)}")
        numbers.append(number)
    return tuple(numbers * steps if len(numbers) == 1 else numbers)


def output_scale(text: str, p: float) -> float:
    """s_p as a number; an unknown text is refused by the record itself."""
    if text == "1/p":
        return 1.0 / p
    return 1.0 / math.sqrt(p) if text == "1/sqrt(p)" else 1.0


def giant_step_size(
    target: Target,
    letters: Mapping[str, float],
    *,
    scale: float,
    readout_start: str | Sequence[float],
    deflate: int,
) -> float:
    """The size at which one update is of order one: d^((l-1)/2) / (s_p |a|), l the leap index.

    The update of a neuron is eta s_p a_i b_l/(l-1)! T_l[m^(l-1)] with overlaps m of order d^(-1/2)
    (Theorem 1 of arXiv 2305.18270: eta = p d^((l-1)/2) for output scale 1/p and signs).  Deflated
    labels count from the first degree that is left.  Infinite where it is beyond the floats.
    """
    p, d = letters["p"], letters["d"]
    series = target.series
    left = series.select(series.degrees > max(0, deflate))
    leap = information_exponent(left) or 1
    try:
        return d ** ((leap - 1) / 2) / (scale * readout_rms(readout_start, p))
    except OverflowError:
        return math.inf
