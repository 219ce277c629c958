"""The deterministic equivalent of power-law random features: their spectrum without a draw."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.analysis.power_law import PowerLawFeatures, checked
from giantstep.gaussian.accuracy import EPSILON

# Inputs with a variance of their own; later ones share it with 2 % of their number.  Without
# sharing, losses of d = 100 and 362 from 8d inputs differ by at most 1e-5 of themselves.
KEPT_ALONE, SHARED = 400, 0.02

# Points of the curve on the relative width d^-1/2 of a separate mode, and eigenvalues that stand
# for the density.  Twice as many points move the losses of d = 16 to 1,000 by at most 5e-4 of
# themselves, and twice as many eigenvalues by at most 3e-4.
POINTS, NODES = 40, 300

# Points that are computed together: a table of 256 points and 1,000 variances takes 2 MB.
TOGETHER = 256


@dataclass(frozen=True)
class _Inputs:
    """The variances of the inputs, how many inputs have each, and their parts of the label."""

    variances: Float[np.ndarray, " m"]
    counts: Float[np.ndarray, " m"]
    powers: Float[np.ndarray, " m"]

    def sum(self, power: int, c: float) -> float:
        """Sum over inputs of (v/(c + v))^power."""
        return float(self.counts @ (self.variances / (c + self.variances)) ** power)


def _inputs(alpha: float, beta: float, number: int) -> _Inputs:
    """Variances j^-2alpha and powers j^-(2 alpha + 2 beta), those of large j in groups."""
    axis = np.arange(1.0, number + 1.0)
    group = axis - 1.0
    late = axis > KEPT_ALONE
    group[late] = KEPT_ALONE + np.floor(np.log(axis[late] / KEPT_ALONE) / math.log1p(SHARED))
    _, members = np.unique(group, return_inverse=True)
    counts = np.bincount(members).astype(float)
    variances = np.bincount(members, axis ** (-2.0 * alpha)) / counts
    return _Inputs(variances, counts, np.bincount(members, axis ** (-2.0 * (alpha + beta))))


def _place(table: _Inputs, power: int, d: int) -> float:
    """The c > 0 with sum_j (v_j/(c + v_j))^power = d: the sum falls in c from above d to 0."""
    from scipy.optimize import brentq

    v = table.variances
    # Below the first end every term is above d/(number of inputs), above the second below 1/number.
    number = float(table.counts.sum())
    low, high = math.log(v[-1] * (number / d - 1.0) * 1e-3 / number), math.log(v[0] * number)
    return math.exp(brentq(lambda x: table.sum(power, math.exp(x)) - d, low, high, xtol=1e-13))


def _densities(
    table: _Inputs, d: int, sizes: Float[np.ndarray, " b"]
) -> tuple[Float[np.ndarray, " b"], Float[np.ndarray, " b"], Float[np.ndarray, " b"]]:
    """Real z at the k of these sizes |k|, and the densities of modes and of squares there.

    z is real where sum_j v_j^2/|k - v_j|^2 = d.  The sum increases in the cosine of the angle of k,
    and 1/sum is close to linear in it, so that Newton's steps on 1/sum converge in a few steps.
    Between separate modes the sum is below d at every angle: k is real there, and the densities 0.
    """
    r, v = sizes[:, None], table.variances
    most = 1.0 - EPSILON
    cosine = np.full(len(sizes), most)
    for _ in range(60):
        distance = r * r - 2.0 * r * v * cosine[:, None] + v * v
        total = (v * v / distance) @ table.counts / d
        slope = (2.0 * r * v**3 / distance**2) @ table.counts / d
        old, cosine = cosine, np.clip(cosine - (total - 1.0) * total / slope, -1.0, most)
        if np.max(np.abs(cosine - old)) <= 8.0 * EPSILON:
            break
    k = r * np.exp(1j * np.arccos(cosine))[:, None]
    z = np.real(k[:, 0] * (1.0 + (v / (k - v)) @ table.counts / d))
    # The resolvent is k/(z (v - k)): its imaginary part over pi is the density.
    resolvent = np.imag(k / (v - k)) / (math.pi * z[:, None])
    apart = cosine >= most
    modes, squares = (
        np.where(apart, 0.0, resolvent @ each) for each in (table.counts, table.powers)
    )
    return z, modes, squares


def power_law_equivalent(alpha: float, beta: float, d: int, inputs: int) -> PowerLawFeatures:
    """What ``power_law_features`` gives on average over W, up to terms of relative order 1/d.

    The resolvent of D^(1/2) W W^T D^(1/2) at z is close to k/(z (D - k)), where
    z = k + (1/d) sum_j k v_j/(k - v_j) for the variances v_j.  On the curve of complex k with real
    z it gives the density of the eigenvalues and that of the label's squares
    (docs/derivations/scaling.md, eqs. (6) to (8)).

    >>> from giantstep import power_law_equivalent
    >>> round(power_law_equivalent(1.0, 0.8, d=20, inputs=100).floor, 2)
    0.01
    """
    checked(alpha, beta, d, inputs)
    table = _inputs(alpha, beta, inputs)
    v = table.variances
    # z = 0 at k = -c with sum_j v_j/(c + v_j) = d, and the curve starts on the negative axis.
    at_zero, smallest = _place(table, 1, d), _place(table, 2, d)
    floor = float(table.powers @ (at_zero / (at_zero + v)))
    largest = v[0] * (1.0 + 4.0 / math.sqrt(d)) + 4.0 * float(table.counts @ v) / d
    points = math.ceil(POINTS * math.sqrt(d) * math.log(largest / smallest))
    sizes = np.geomspace(smallest, largest, points)
    parts = [_densities(table, d, some) for some in np.array_split(sizes, points // TOGETHER + 1)]
    place, modes, label = (np.concatenate(column) for column in zip(*parts, strict=True))
    middle, step = 0.5 * (place[1:] + place[:-1]), np.diff(place)
    number = 0.5 * (modes[1:] + modes[:-1]) * step
    square = 0.5 * (label[1:] + label[:-1]) * step
    edges = np.geomspace(middle[0], middle[-1], NODES + 1)
    node = np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, NODES - 1)
    number_at, square_at = (np.bincount(node, each, NODES) for each in (number, square))
    seen = number_at > EPSILON * d
    eigenvalues = np.bincount(node, number * middle, NODES)[seen] / number_at[seen]
    # Both totals are known: d modes, and all of the label that is above the floor.
    modes_of, squares = number_at[seen], square_at[seen]
    modes_of *= d / modes_of.sum()
    squares *= (float(table.powers.sum()) - floor) / squares.sum()
    return PowerLawFeatures(alpha, beta, eigenvalues, squares, floor, modes_of)
