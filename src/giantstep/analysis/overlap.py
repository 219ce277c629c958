"""The overlap that the best first-order method reaches with n = alpha d samples.

State evolution of Bayes-optimal approximate message passing (Troiani et al., arXiv 2405.15480): the
estimate has overlaps Q (r x r) with the directions, a fixed point of

    Qh = alpha E[ g g^T ],   g = V^-1 E[z - omega | y, omega],   V = 1 - Q,
    Q  = Qh (1 + Qh)^-1,

z ~ N(omega, V), omega ~ N(0, Q), y = f(z) + noise.  It is iterated from a small Q, which is what a
method without other knowledge of the directions has.  With z = omega + V^(1/2) u this is
Qh = alpha V^(-1/2) C V^(-1/2), C = E[m m^T], m = E[u | y, omega].  For y = z + noise of variance s
in one direction, q (alpha + 1 - q + s) = alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.analysis.analyze import Analysis, analyze
from giantstep.errors import InputError, shown
from giantstep.gaussian.accuracy import VANISHING
from giantstep.gaussian.points import normal_points, normal_sets
from giantstep.problem.target import Target
from giantstep.records.drawing import Drawn
from giantstep.records.plain import fields_of

Matrix = Float[np.ndarray, "r r"]

MOST_DIRECTIONS = 3
"""Directions for which the fixed point is computed: points fill a space of twice as many."""

RECOVERED = 0.9995
"""Overlap from which on a direction counts as known: labels without noise lead to one."""


@dataclass(frozen=True)
class OverlapCurve(Drawn):
    """Cosines of the best first-order estimate with the target, over ``ratios`` = n/d.

    ``cosines`` are those between the span of the estimate and the span of the target, largest
    first: square roots of the eigenvalues of the overlaps Q (arXiv 2405.15480).  ``threshold`` is
    the ratio at which weak recovery begins, None where it is not known.
    """

    target: Target
    noise: float
    threshold: float | None
    ratios: Float[np.ndarray, " k"]
    cosines: Float[np.ndarray, "k r"]

    def __repr__(self) -> str:
        last = ", ".join(f"{cosine:.3f}" for cosine in self.cosines[-1])
        return f"OverlapCurve({self.target.name!r}: cosines {last} at n/d = {self.ratios[-1]:.3g})"

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"target": self.target.name} | fields_of(self, "target")


def overlap_curve(
    target: str | Callable[..., Any] | Target | Analysis,
    *,
    noise: float = 0.0,
    ratios: Sequence[float] | Float[np.ndarray, " k"] | None = None,
) -> OverlapCurve:
    """Cosines that the best first-order method reaches with n = ratio * d samples.

    f -> target; s -> ``noise``^2, the variance of the label noise; alpha -> ``ratios``, by default
    those around and above the threshold of weak recovery.  Inputs are N(0, I), d to infinity, and
    all directions of equal prior (arXiv 2405.15480).  At most three directions.

    >>> from giantstep import overlap_curve
    >>> [[cosine]] = overlap_curve("x1", noise=1.0, ratios=[2.0]).cosines.tolist()
    >>> abs(cosine / (2.0 - 2.0**0.5) ** 0.5 - 1.0) < 0.005
    True
    """
    analysis = target if isinstance(target, Analysis) else analyze(target)
    f = analysis.target.aligned[0]
    if f.r > MOST_DIRECTIONS:
        raise InputError(
            f"target must depend on at most {MOST_DIRECTIONS} directions for the overlap curve, "
            f"got {f.r}"
        )
    if not (math.isfinite(noise) and noise >= 0.0):
        raise InputError(f"noise must be at least 0, got {noise:g}")
    recovery = analysis.weak_recovery
    threshold = None if recovery is None or noise else recovery.threshold
    chosen = np.asarray(_ratios(threshold, f.r) if ratios is None else ratios, dtype=float)
    if not chosen.size or not np.all((chosen > 0.0) & np.isfinite(chosen)):
        raise InputError(f"ratios must be positive numbers, got {shown(chosen.tolist())}")
    channel = _Channel(f, noise, blind=analysis.generative_exponent != 1)
    informed = channel.interpolated() if f.r == 1 else channel
    # Larger samples start from where smaller ones ended: overlaps grow with both.
    order, overlap = np.argsort(chosen), np.zeros((f.r, f.r))
    cosines = np.zeros((len(chosen), f.r))
    for place in order:
        if threshold is not None and chosen[place] <= threshold:
            continue  # nothing is learned below the threshold
        overlap = _fixed_point(informed, float(chosen[place]), overlap)
        cosines[place] = np.sqrt(np.clip(np.linalg.eigvalsh(overlap)[::-1], 0.0, 1.0))
    finite = threshold is not None and math.isfinite(threshold)
    return OverlapCurve(analysis.target, noise, threshold if finite else None, chosen, cosines)


def _ratios(threshold: float | None, r: int) -> Float[np.ndarray, " k"]:
    """Ratios from which the curve can be seen: around a threshold, or from near zero.

    One direction costs nothing beyond a table of C, several cost seconds for each ratio.
    """
    if threshold is not None and math.isinf(threshold):
        raise InputError("target has no overlap at any n/d: weak recovery needs more than n ~ d")
    if not threshold:
        return np.linspace(0.125, 3.0, 24 if r == 1 else 12)
    if r == 1:
        return threshold * np.linspace(0.9, 3.0, 43)
    return threshold * np.concatenate([[0.9], np.linspace(1.05, 1.5, 7), [1.75, 2, 2.5, 3]])


class _Channel:
    """C = E[m m^T], m = E[u | y, omega], as a function of the overlaps Q.

    For each of the points omega, m is the mean of u over the labels of one of ``bins`` equal shares
    of their order.  Two independent sets of points make the square unbiased.  A ``blind`` target
    has E[z | y] = 0, and C = 0 at Q = 0; what the points leave of it there is subtracted.
    C has the symmetries of the target, and so have the overlaps that begin as a multiple of 1.
    """

    def __init__(
        self,
        target: Target,
        noise: float,
        *,
        blind: bool,
        log2_omega: int = 6,
        log2_points: int = 12,
    ) -> None:
        self.target, self.noise, self.r = target, noise, target.r
        # On a line without noise few points in a bin settle its mean, and more bins resolve y.
        self.bins = 128 if self.r == 1 and not noise else 48
        self.omega = normal_points(self.r, 1, log2_omega)
        sets = normal_sets(self.r + (noise > 0.0), 2, log2_points, 2)
        self.points = np.concatenate([sets(0), sets(1)])
        # Noise is symmetric: a symmetry up to the sign of the label is one of the labels' law.
        self.turns = [np.eye(self.r), *(each.matrix for each in target.symmetries)]
        nothing = np.zeros((self.r, self.r))
        self.left = self._raw(nothing) if blind else nothing

    def __call__(self, overlap: Matrix) -> Matrix:
        return _clipped(self._raw(overlap) - self.left, 1.0)

    def _raw(self, overlap: Matrix) -> Matrix:
        """C as the points have it."""
        u = self.points[:, : self.r]
        z = (self.omega @ _root(overlap))[:, None] + u @ _root(np.eye(self.r) - overlap)
        flat = list(z.reshape(-1, self.r).T)
        with np.errstate(all="ignore"):
            values = np.broadcast_to(np.asarray(self.target(flat), dtype=float), len(flat[0]))
        labels = values.reshape(len(self.omega), len(u))
        if self.noise:
            labels = labels + self.noise * self.points[:, self.r]
        return self._square(_shares(labels, self.bins), u)

    def _square(self, shares: Int[np.ndarray, "w n"], u: Float[np.ndarray, "n r"]) -> Matrix:
        """Mean over omega and over the bins of the product of the means of the two sets."""
        half = shares.shape[1] // 2
        size = len(shares) * self.bins
        place = shares + self.bins * np.arange(len(shares))[:, None]
        counts, means = [], []
        for part in (slice(0, half), slice(half, None)):
            inside = place[:, part].ravel()
            count = np.bincount(inside, minlength=size)
            sums = [np.bincount(inside, np.tile(column, len(shares)), size) for column in u[part].T]
            counts.append(count)
            means.append(np.array(sums) / np.maximum(count, 1))
        # A bin with points of one set alone says nothing of the square.
        weights = np.where(np.minimum(*counts) > 0, counts[0] + counts[1], 0)
        square = (means[0] * weights) @ means[1].T / weights.sum()
        turned = [turn @ (square + square.T) @ turn.T for turn in self.turns]
        return np.mean(turned, axis=0) / 2.0

    def interpolated(self, places: int = 32) -> Callable[[Matrix], Matrix]:
        """C of one direction from its values at overlaps that are dense near zero and one."""
        q = 0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, places)) * RECOVERED
        listed = [float(self(np.array([[value]]))[0, 0]) for value in q]
        return lambda overlap: np.array([[np.interp(overlap[0, 0], q, listed)]])


def _shares(labels: Float[np.ndarray, "w n"], bins: int) -> Int[np.ndarray, "w n"]:
    """The share, of ``bins`` equal ones, in which each label of a row falls by its rank.

    Equal labels have one rank, the middle of theirs.
    """
    n = labels.shape[1]
    order = np.argsort(labels, axis=1)
    ordered = np.take_along_axis(labels, order, axis=1)
    apart = VANISHING * np.maximum(np.abs(ordered[:, -1:]), np.abs(ordered[:, :1]))
    new = np.diff(ordered, axis=1) > apart
    index = np.broadcast_to(np.arange(n), labels.shape)
    edge = np.ones((len(labels), 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.hstack([edge, new]), index, 0), axis=1)
    after = np.where(np.hstack([new, edge]), index, n)
    last = np.minimum.accumulate(after[:, ::-1], axis=1)[:, ::-1]
    ranked = ((first + last + 1) * bins) // (2 * n)
    shares = np.empty(labels.shape, dtype=int)
    np.put_along_axis(shares, order, ranked, axis=1)
    return shares


def _fixed_point(
    informed: Callable[[Matrix], Matrix],
    ratio: float,
    start: Matrix,
    *,
    seed_overlap: float = 1e-3,
    tolerance: float = 1e-3,
    most: int = 400,
) -> Matrix:
    """The overlaps that iterations from a small Q, or from a smaller ratio, end with.

    Below the ``seed_overlap`` a direction counts as not learned.  An iteration that still moves by
    more than the ``tolerance`` after ``most`` of them is at a threshold; what it has is returned.
    """
    r = len(start)
    overlap = _clipped(start + seed_overlap * np.eye(r), RECOVERED)
    for _ in range(most):
        inverse = np.linalg.inv(_root(np.eye(r) - overlap))
        signal = ratio * inverse @ informed(overlap) @ inverse
        following = _clipped(np.linalg.solve(np.eye(r) + signal, signal), RECOVERED)
        moved = float(np.abs(following - overlap).max())
        overlap = following
        if moved < tolerance * max(0.05, float(np.abs(overlap).max())):
            break
    values, vectors = np.linalg.eigh(overlap)
    return vectors @ np.diag(np.where(values < seed_overlap, 0.0, values)) @ vectors.T


def _root(matrix: Matrix) -> Matrix:
    """The square root of a symmetric matrix that is not negative."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def _clipped(matrix: Matrix, most: float) -> Matrix:
    """A symmetric matrix with its eigenvalues taken to 0..most."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return vectors @ np.diag(np.clip(values, 0.0, most)) @ vectors.T
