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
    integral diverges where its own error exceeds a share of it; another, far smaller share may
    lie beyond the reach, of which four digits are shown.
    """

    def scaled(w: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        # N(0, 1) density of 3w times 3, over that of w
        return function(3.0 * w) * 3.0 * np.exp(-4.0 * w**2)

    [mean], doubt = adaptive_coefficients(scaled, 0, [b / 3.0 for b in breakpoints])
    edges = np.array([-15.0, 15.0])
    near, far = (
        float(np.max(np.abs(function(e)) * np.exp(-0.5 * e**2))) for e in (edges, 2.0 * edges)
    )
    doubt = max(doubt, far) if far > near else doubt
    # A mean may vanish by symmetry.
    if not math.isfinite(mean) or doubt > divergent_share * max(abs(mean), ROUNDING):
        raise divergent(mean, doubt)
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
    if not math.isfinite(mass) or mass - float(inner) > divergent_share * mass:
        raise divergent(mass, mass - float(inner))


def divergent(square: float, doubt: float) -> InputError:
    """The complaint about a target whose second moment is not finite."""
    return InputError(
        f"target has no finite second moment: E f^2 = {square:.3g} with doubt {doubt:.3g}"
    )
