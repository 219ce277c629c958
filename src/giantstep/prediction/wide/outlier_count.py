"""How many outliers the second step adds, by counting exponents, and the phase diagram.

Sizes are size_j = p^alpha_j (size = step_size s_p sqrt(p) rms a).  To order k in size_1/sqrt(p) the
second step adds a term with left singular vector u^(k+1), of strength

    p^(alpha_2 + g - k (1/2 - alpha_1)),   g = max(0, alpha_1 + phi),   s_p sqrt(p) rms a = p^phi,

g being the growth of the residual by the network's own answer to step 1, over a bulk that grows
as p^max(0, alpha_2 + g - 1/2).  Order 0 has the left vector of step 1.  So orders
1 <= k <= min(alpha_2 + g, 1/2)/(1/2 - alpha_1) are new outliers, if their coefficient is not
zero: floor(alpha_2/(1/2 - alpha_1)) for small output scales (arXiv 2605.17767).

Fresh: the coefficient of order k is E sigma^(k+1) = (k+1)! c_(k+1).  Reused: the preactivation of
a sample is moved by u (b + c sigma'(h)), c its own label, and the coefficient is the k-th
derivative of E sigma'(h + e (b + c sigma'(h))) in e; where sigma' jumps it differs with the sign of
e, and there are two left vectors, u^(k+1) and |u| u^k.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import InputError
from giantstep.gaussian.rules import REACH, normal_panels
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.weight_outliers import weight_outliers
from giantstep.problem.activation import Activation
from giantstep.problem.batches import BATCHES
from giantstep.problem.setting import Setting
from giantstep.problem.starts import READOUT_STARTS, ReadoutName
from giantstep.problem.step_size import OutputScale

ZERO = 1e-8
"""Coefficients below this share of the largest are zero: fit and quadrature are accurate to 1e-10,
the fourth order of a probe 0.2 is 1e-5 of the slope."""


def outlier_count(
    alpha1: float,
    alpha2: float,
    activation: Activation,
    output_scale: OutputScale = "1/sqrt(p)",
    batches: str = "fresh",
    readout_start: ReadoutName = "gaussian",
) -> int:
    """New outliers of the second step as p -> infinity, beside that of the first.

    alpha1, alpha2 -> exponents of size_1 and size_2, in [0, 1/2).  A readout of signs has only the
    functions 1 and u, so at most one new outlier.
    """
    for name, value in (("alpha1", alpha1), ("alpha2", alpha2)):
        if not 0.0 <= value < 0.5:
            raise InputError(f"{name} must be in [0, 1/2), got {value}")
    highest = highest_order(alpha1, alpha2, output_scale, readout_start=readout_start)
    present = orders(activation, highest, batches)
    if READOUT_STARTS[readout_start].one_size:
        # Even functions of u are 1, odd ones are u, the vector of step 1.
        return int(any(kinked if k % 2 == 0 else plain for k, (plain, kinked) in present.items()))
    return sum(plain + kinked for plain, kinked in present.values())


def highest_order(
    alpha1: float, alpha2: float, output_scale: OutputScale, readout_start: ReadoutName
) -> int:
    """The largest k <= min(alpha_2 + g, 1/2)/(1/2 - alpha_1)."""
    exponent = {"1": 0.0, "1/sqrt(p)": -0.5, "1/p": -1.0}[output_scale]
    growth = max(0.0, alpha1 + exponent + 0.5 + READOUT_STARTS[readout_start].exponent)
    # Exponents are sums of decimals: 0.3/(0.5 - 0.4) must count as 3.
    return math.floor(min(alpha2 + growth, 0.5) / (0.5 - alpha1) + 1e-9)


def orders(activation: Activation, highest: int, batches: str) -> dict[int, tuple[bool, bool]]:
    """For each order k = 1..highest, whether u^(k+1) and whether |u| u^k is a left vector."""
    if highest < 1:
        return {}
    if BATCHES[batches].fresh:
        values = activation.coefficients(highest + 1).values
        roots = np.sqrt([float(math.factorial(k)) for k in range(highest + 2)])
        sizes = np.abs(values) / roots
        least = ZERO * float(np.max(sizes[1:]))
        return {k: (bool(sizes[k + 1] > least), False) for k in range(1, highest + 1)}
    present = _reused_orders(activation)
    # Orders beyond are taken to follow k - 2, by parity.
    for k in range(len(present) + 1, highest + 1):
        present[k] = present[k - 2]
    return {k: present[k] for k in range(1, highest + 1)}


def _reused_orders(activation: Activation, highest: int = 4) -> dict[int, tuple[bool, bool]]:
    """Left vectors of the lowest orders, from one-sided derivatives of the mean slope.

    Probes have any shifts b and weights c at which no coefficient vanishes by accident.

    docs/derivations/two_step.md, eq. (11).
    """
    probes = ((0.7, 0.4), (-0.5, 0.9), (0.3, -1.1))
    coefficients = [_one_sided(activation, b, c)[:, : highest + 1] for b, c in probes]
    sides = np.stack(coefficients, axis=1)
    right, left = sides[0], sides[1] * (-1.0) ** np.arange(highest + 1)
    least = ZERO * float(np.max(np.abs(right)))
    plain = np.max(np.abs(right + left), axis=0) > 2.0 * least
    kinked = np.max(np.abs(right - left), axis=0) > 2.0 * least
    return {k: (bool(plain[k]), bool(kinked[k])) for k in range(1, highest + 1)}


def _one_sided(activation: Activation, b: float, c: float) -> Float[np.ndarray, "two k"]:
    """Taylor coefficients of E sigma'(h + e (b + c sigma'(h))) in |e|/0.2, for e > 0 and e < 0.

    From a polynomial through Chebyshev nodes on (0, 0.2]; its rounding is 1e-10 at order four.
    The probe's own part is divided by the largest slope, so that the argument increases with h.
    """
    degree, reach = 12, 0.2
    bulk = np.linspace(-4.0, 4.0, 801)
    c /= max(1.0, float(np.max(np.abs(activation.derivative(bulk)))))
    nodes = 0.5 * reach * (1.0 + np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1)))
    sides = np.zeros((2, degree + 1))
    for side, sign in zip(sides, (1.0, -1.0), strict=True):
        values = [mean_slope(activation, sign * e * b, sign * e * c) for e in nodes]
        fitted = np.polynomial.Chebyshev.fit(nodes / reach, values, degree, domain=[0.0, 1.0])
        plain = fitted.convert(kind=np.polynomial.Polynomial, domain=[-1, 1], window=[-1, 1])
        # The conversion drops highest coefficients that are exactly zero.
        side[: len(plain.coef)] = plain.coef
    return sides


def mean_slope(activation: Activation, shift: float, weight: float) -> float:
    """E sigma'(h + shift + weight sigma'(h)) over h ~ N(0, 1), split wherever sigma' may jump."""
    from scipy.optimize import brentq

    def argument(h: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return h + shift + weight * np.asarray(activation.derivative(h), dtype=float)

    kinks = [kink for kink in activation.kinks or () if -REACH < kink < REACH]
    # Just inside a segment: at a kink the slope is that of one of its sides.
    nudge = 1e-12
    grid = np.linspace(-REACH, REACH, round(4 * REACH) + 1)
    edges = np.unique(np.concatenate([grid, kinks]))
    breaks = list(edges)
    for low, high in itertools.pairwise(edges):
        ends = np.array([low + nudge, high - nudge])
        for kink in kinks:
            before, after = argument(ends) - kink
            if before * after < 0:
                breaks.append(
                    brentq(lambda h, kink=kink: float(argument(np.array([h]))[0]) - kink, *ends)
                )
    h, weights = normal_panels(np.sort(breaks), 16)
    return float(weights @ activation.derivative(argument(h)))


def phase_diagram(
    activation: Activation,
    output_scale: OutputScale,
    batches: str,
    grid: Float[np.ndarray, " g"],
    readout_start: ReadoutName = "gaussian",
) -> Int[np.ndarray, "g g"]:
    """outlier_count over alpha_1 (first axis) and alpha_2 (second), both on the grid."""
    return np.array(
        [
            [
                outlier_count(
                    float(a),
                    float(b),
                    activation,
                    output_scale=output_scale,
                    batches=batches,
                    readout_start=readout_start,
                )
                for b in grid
            ]
            for a in grid
        ]
    )


def finite_phase_diagram(
    setting: Setting, grid: Float[np.ndarray, " g"], margin: float = 0.0
) -> Int[np.ndarray, "g g"]:
    """New outliers at the sizes of a two-step setting, its step sizes replaced by p^alpha.

    Counted are predicted singular values above (1 + margin) times the predicted edge, less those
    of step 1.
    """
    diagram = np.empty((len(grid), len(grid)), dtype=int)
    for i, first in enumerate(grid):
        for j, second in enumerate(grid):
            varied = with_exponents(setting, float(first), float(second))
            counts = [
                int(np.sum(step.singular_values > (1.0 + margin) * step.edge))
                for step in weight_outliers(varied)
            ]
            diagram[i, j] = counts[1] - counts[0]
    return diagram


def with_exponents(setting: Setting, alpha1: float, alpha2: float) -> Setting:
    """The setting with steps of sizes p^alpha1 and p^alpha2: size = step_size s_p sqrt(p) rms a."""
    scale = Network(setting).scale
    sizes = [float(setting.p**alpha) / scale for alpha in (alpha1, alpha2)]
    return setting.vary(steps=2, step_size=sizes)
