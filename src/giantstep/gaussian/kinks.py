"""Functions with kinks and jumps: their coefficients in closed form, and where the kinks lie."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.language.algebra import multiplied_out
from giantstep.language.expression import Call, Expression, parts_of
from giantstep.language.functions import LEAK


@dataclass(frozen=True)
class Kink:
    """A piecewise linear function: step 1{z > 0} + ramp max(z, 0) + line z + one."""

    step: float = 0.0
    ramp: float = 0.0
    line: float = 0.0
    one: float = 0.0


KINKS = {
    "step": Kink(step=1.0),
    "sign": Kink(step=2.0, one=-1.0),
    "relu": Kink(ramp=1.0),
    "abs": Kink(ramp=2.0, line=-1.0),
    "leaky_relu": Kink(ramp=1.0 - LEAK, line=LEAK),
}
"""The functions of the language with a kink or a jump, all at zero: a new one is an entry."""


def kink_coefficients(
    function: str, scale: float, shift: float, degree: int
) -> Float[np.ndarray, " k"]:
    """E[sigma(shift + scale z) h_k(z)] in closed form, for the piecewise linear functions.

    With the kink at z = t = -shift/scale and phi the normal density,
    E[1{z > t} He_k] = He_{k-1}(t) phi(t) and E[(z - t)_+ He_k] = He_{k-2}(t) phi(t);
    ``function`` is a name of KINKS, which says how it is made of these two and a line.
    """
    if scale < 0:
        signs = (-1.0) ** np.arange(degree + 1)
        return signs * kink_coefficients(function, -scale, shift, degree)
    t = -shift / scale
    # h_k(t) phi(t), whose product is bounded even where h_k(t) alone overflows.
    density = math.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)
    weighted = np.zeros(degree + 1)
    weighted[0] = density
    for k in range(degree):
        previous = math.sqrt(k) * weighted[k - 1] if k else 0.0
        weighted[k + 1] = (t * weighted[k] - previous) / math.sqrt(k + 1)
    step, ramp = np.zeros(degree + 1), np.zeros(degree + 1)
    above = 0.5 * math.erfc(t * math.sqrt(0.5))  # P(z > t)
    order = np.arange(1.0, degree + 1)
    step[0], step[1:] = above, weighted[:-1] / np.sqrt(order)
    ramp[0] = scale * (density - t * above)
    ramp[1:2] = scale * above
    ramp[2:] = scale * weighted[: max(degree - 1, 0)] / np.sqrt(order[1:] * order[:-1])
    line, one = np.zeros(degree + 1), np.zeros(degree + 1)
    line[0], line[1:2], one[0] = shift, scale, 1.0
    kink = KINKS[function]
    return kink.step * step + kink.ramp * ramp + kink.line * line + kink.one * one


def affine(node: Expression, r: int) -> tuple[Float[np.ndarray, " r"], float] | None:
    """(slopes, constant) of an affine expression in r variables, None for any other."""
    terms = multiplied_out(node, r)
    slopes, constant = np.zeros(r), 0.0
    for (powers, functions), value in terms.items():
        if functions or sum(powers) > 1:
            return None
        if sum(powers) == 1:
            slopes[powers.index(1)] = float(value)
        else:
            constant = float(value)
    return slopes, constant


def kink_planes(node: Expression, r: int) -> list[tuple[Float[np.ndarray, " r"], float]] | None:
    """Planes <normal, x> = offset on which an expression may have a kink or a jump.

    None if a kinked function has an argument that is not affine: its kinks lie on no plane.
    """
    planes: list[tuple[Float[np.ndarray, " r"], float]] = []
    for part in parts_of(node):
        inner = kink_planes(part, r)
        if inner is None:
            return None
        planes += inner
    if isinstance(node, Call) and node.function in KINKS:
        form = affine(node.argument, r)
        return None if form is None else [*planes, (form[0], 0.0 - form[1])]
    return planes
