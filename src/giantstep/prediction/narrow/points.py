"""Gaussian points for expectations over the coordinates of rows, the noise and one more."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.cubature import MOST_COORDINATES, kinked_rule, smooth_rule
from giantstep.gaussian.kinks import kink_planes
from giantstep.gaussian.points import LOG2_POINTS, normal_sets
from giantstep.gaussian.rules import gauss_hermite
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Points:
    """Weighted points: coordinates x, label noise, and one spare coordinate of a sample.

    ``halved``: the first and the second half are independent samples.
    """

    x: Float[np.ndarray, "n q"]
    noise: Float[np.ndarray, " n"]
    spare: Float[np.ndarray, " n"]
    weights: Float[np.ndarray, " n"]
    halved: bool = False

    def leading(self, most: int) -> Points:
        """At most so many of the points, equally weighted: the first of each half."""
        if not self.halved or len(self.x) <= most:
            return self
        half = np.arange(most // 2)
        kept = np.concatenate([half, len(self.x) // 2 + half])
        weights = np.full(len(kept), 1.0 / len(kept))
        return Points(self.x[kept], self.noise[kept], self.spare[kept], weights, halved=True)

    def outside(self, setting: Setting) -> Float[np.ndarray, " n"]:
        """Squared length of a sample outside its m known coordinates, where gradients ask for it.

        chi^2 with k = d - m degrees of freedom is k + sqrt(2 k) times the spare coordinate, of mean
        0 and variance 1; other gradients need its mean alone.
        """
        unknown = setting.d - self.x.shape[1]
        if not setting.lookahead.kind.on_sample:
            return np.full(len(self.x), float(unknown))
        return unknown + math.sqrt(2.0 * unknown) * self.spare

    def mean_and_square(
        self, weighted: Float[np.ndarray, "*k p n"], x: Float[np.ndarray, "n q"]
    ) -> tuple[Float[np.ndarray, "*k p q"], Float[np.ndarray, "*k p p"]]:
        """G = E[g x] and G G^T, for g with its weights and the coordinates x.

        The square of an estimate is too large by its variance, n/d times more against the gradient
        a batch has by chance: the product is that of two independent estimates.
        """
        if not self.halved:
            mean = weighted @ x
            return mean, mean @ mean.mT
        half = len(x) // 2
        first = 2.0 * weighted[..., :half] @ x[:half]
        second = 2.0 * weighted[..., half:] @ x[half:]
        product = first @ second.mT
        return 0.5 * (first + second), 0.5 * (product + product.mT)


Quadrature = Callable[[Float[np.ndarray, "p q"], int], Points]
"""Points for expectations of functions of <w_i, x>, given the coordinates of the rows w_i.

The second argument is the step: what a step made of the rows must not be judged on its own points.
"""


Normals = Callable[[int], Float[np.ndarray, "n q"]]
"""Sets of normal points by their number."""


def halved_normals(dimension: int, seed: int, log2_points: int, sets: int) -> Normals:
    """Sets of low-discrepancy points of N(0, I): two halves each, randomised independently."""
    halves = [normal_sets(dimension, 2 * seed + half, log2_points - 1, sets) for half in range(2)]
    return lambda number: np.concatenate([half(number) for half in halves])


def points_for(
    setting: Setting, seed: int, log2_points: int, *, sets: int = 2**12, on_axes: bool = False
) -> Quadrature:
    """Low-discrepancy points of the law of the inputs for all rows of a setting.

    There are at most so many ``sets``, for one step or one group of steps after the other.
    ``on_axes``: rows are held along the axes where an update depends on them.
    """
    dimension, r = setting.known + setting.moving, setting.target.r
    if on_axes and not setting.update.kind.turns:
        dimension = setting.d
    steps = min(setting.steps, sets - 1)
    normals = sobol_quadrature(dimension, seed, log2_points, steps=steps)
    if setting.inputs.known_directions == 0:
        return normals

    def at(rows: Float[np.ndarray, "p q"], step: int) -> Points:
        points = normals(rows, step)
        return replace(points, x=setting.inputs.stretched(points.x, r))

    return at


def sobol_quadrature(
    dimension: int, seed: int, log2_points: int = LOG2_POINTS, *, steps: int = 0
) -> Quadrature:
    """Low-discrepancy points for all rows of at most ``dimension`` coordinates, new every step.

    Steps beyond the last set begin again with the first.
    """
    weights = np.full(2**log2_points, 2.0**-log2_points)
    sets = halved_normals(dimension + 2, seed, log2_points, steps + 1)

    def at(rows: Float[np.ndarray, "p q"], step: int) -> Points:
        normals = sets(step % (steps + 1))
        x = normals[:, : rows.shape[1]]
        return Points(x, normals[:, -2], normals[:, -1], weights, halved=True)

    return at


def exact_quadrature(setting: Setting, order: int) -> Quadrature | None:
    """A tensor rule split at the kinks, None where coordinates are too many or kinks unknown.

    ``order`` is the number of nodes a panel, or 4 over the spacing of a smooth integrand's grid.
    Noise and the spare coordinate enter as polynomials of degree <= 4: three nodes are exact.
    """
    r = setting.target.r
    expression, kinks = setting.target.expression, setting.activation.kinks
    planes = None if expression is None else kink_planes(expression, r)
    if setting.lookahead.kind.on_sample:  # kinks move with the labels and the lengths of samples
        return None
    if setting.label_noise.jumps:  # a jump in the variable of the noise
        return None
    if setting.inputs.known_directions:  # kinks are planes of standard coordinates
        return None
    # Kinks where a function of the labels has its own, and noise to any degree.
    if not setting.loss.kind.plain or not setting.label_transform.is_plain:
        return None
    if r + setting.p > MOST_COORDINATES or planes is None or kinks is None:
        return None

    def at(rows: Float[np.ndarray, "p q"], _: int) -> Points:
        q = rows.shape[1]
        normals = [np.pad(normal, (0, q - r)) for normal, _ in planes]
        offsets = [offset for _, offset in planes]
        for row in rows:
            normals += [row] * len(kinks)
            offsets += kinks
        if normals:
            x, weights = kinked_rule(np.array(normals), np.array(offsets), order)
        else:
            x, weights = smooth_rule(q, 4.0 / order)
        noise, spare = np.zeros(len(x)), np.zeros(len(x))
        if setting.noise > 0:
            x, weights, noise, spare = _times_three(x, weights, spare)
        if setting.deflate == 1:
            x, weights, spare, noise = _times_three(x, weights, noise)
        return Points(x, noise, spare, weights)

    return at


def _times_three(
    x: Float[np.ndarray, "n q"],
    weights: Float[np.ndarray, " n"],
    other: Float[np.ndarray, " n"],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The points times three Gauss-Hermite nodes of one more coordinate."""
    nodes, w = gauss_hermite(3)
    return (
        np.tile(x, (3, 1)),
        np.repeat(w, len(x)) * np.tile(weights, 3),
        np.repeat(nodes, len(x)),
        np.tile(other, 3),
    )
