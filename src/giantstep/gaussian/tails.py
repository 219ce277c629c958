"""Moments of functions with heavy tails: right, or refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.accuracy import ROUNDING
from giantstep.gaussian.rules import REACH, Rule, adaptive_coefficients


def moment(
    function: Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]],
    breakpoints: Sequence[float] = (),
    divergent_share: float = 1e-2,
    unreached_share: float = 1e-6,
) -> float:
    """E g(z), or InputError where the integral does not settle or its integrand grows.

    In w = z/3, so that the rule reaches to |z| = 30: exp(z^2/5) squared still counts at 10.  The
    integral is refused where its own error exceeds a share of it: g overflows, has a pole, or
    varies faster than the rule resolves.  Another, far smaller share may lie beyond the reach, of
    which four digits are shown.
    """
    largest = 0.0

    def scaled(w: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        nonlocal largest
        # N(0, 1) density of 3w times 3, over that of w
        values = function(3.0 * w) * 3.0 * np.exp(-4.0 * w**2)
        largest = max(largest, float(np.max(np.abs(values), initial=0.0)))
        return values

    [mean], doubt = adaptive_coefficients(scaled, 0, [b / 3.0 for b in breakpoints])
    edges = np.array([-15.0, 15.0])
    near, far = (
        float(np.max(np.abs(function(e)) * np.exp(-0.5 * e**2))) for e in (edges, 2.0 * edges)
    )
    # A mean may vanish by symmetry.
    allowed = divergent_share * max(abs(mean), ROUNDING)
    if not math.isfinite(mean + far):
        raise too_large(overflow=True)
    if far > near and max(doubt, far) > allowed:
        raise too_large()
    if doubt > allowed:
        # The panels close in on a pole, and find values far above the mean there.
        raise _unresolved(mean, doubt, pole=bool(largest > 1e4 * abs(mean)))
    beyond = _beyond_reach(function)
    if beyond > unreached_share * max(abs(mean), ROUNDING):
        raise InputError(
            f"target has tails too heavy to integrate: about {beyond:.2g} of a moment of "
            f"{mean:.3g} lies beyond |z| = 30"
        )
    return float(mean)


def _beyond_reach(function: Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]]) -> float:
    """Integral of |g| times the normal density beyond 30, if it goes on as from 24 to 30."""
    near, far = (
        float(np.max(np.abs(function(e)) * np.exp(-0.5 * e**2)))
        for e in (np.array([-24.0, 24.0]), np.array([-30.0, 30.0]))
    )
    if not 0.0 < far < near:
        return 0.0
    rate = math.log(near / far) / (30.0**2 - 24.0**2)
    return 2.0 * far / math.sqrt(2.0 * math.pi) / (2.0 * rate * 30.0)


def check_edge(
    values: Float[np.ndarray, "..."], rule: Rule, mass: float, divergent_share: float = 1e-2
) -> None:
    """InputError where that share of E f^2 comes from beyond REACH on some axis of the grid."""
    inner = values**2
    for _ in range(values.ndim):
        inner = np.tensordot(inner, rule[1] * (np.abs(rule[0]) < REACH), axes=(0, 0))
    if not math.isfinite(mass):
        raise too_large(overflow=True)
    if mass - float(inner) > divergent_share * mass:
        raise too_large()


def too_large(*, overflow: bool = False) -> InputError:
    """The complaint about a target that outgrows floating-point numbers, or the normal density.

    That of exp(z)^16 is exp(512), of values that overflow; exp(z^2/2) has no second moment.
    """
    if overflow:
        return InputError("target grows too fast: its second moment is too large to compute")
    return InputError(
        "target grows too fast: its second moment is infinite or too large to compute"
    )


def _unresolved(mean: float, doubt: float, *, pole: bool) -> InputError:
    """The complaint about a target whose integral does not settle."""
    moment = f"its second moment came out as {mean:.3g} with an error of {doubt:.2g}"
    if pole:
        return InputError(f"target has a pole that is too steep to be integrated: {moment}")
    return InputError(f"target oscillates too fast to be integrated: {moment}")
