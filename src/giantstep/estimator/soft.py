"""Soft steps: neurons that lean towards what matters instead of living on a span.

A giant step of many neurons leaves their rows with a covariance M.  Infinitely many cosine neurons
with rows N(0, M/s^2) have the kernel exp(-|x - x'|_M^2/(2 s^2)), with Cauchy rows of that scale
exp(-|x - x'|_M/s), |x|_M^2 = x^T M x, so that their ridge readout is a kernel regression and no row
need be drawn.  M is learned: M <- A^(1/2), A = E[grad f grad f^T] the average gradient outer
product of the readout; twice.  It serves targets that are not low-dimensional; with the diagonal of
A alone it keeps to the columns of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy.linalg import cholesky, solve_triangular

from giantstep.estimator.blocks import blocks
from giantstep.estimator.coordinates import Turn, Turned, plain
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.ridge import fit_ridge


@dataclass(frozen=True)
class Kernel:
    """k as a function of q = |x - x'|_M^2/s^2, and its slope: grad k = - slope M (x - x')/s^2.

    ``width`` -> the scale s while M is learned, in units of the median distance of two rows;
    ``widths`` -> those tried in the end.
    """

    value: Callable[[Float[np.ndarray, "n p"]], Float[np.ndarray, "n p"]]
    slope: Callable[[Float[np.ndarray, "n p"]], Float[np.ndarray, "n p"]]
    width: float
    widths: tuple[float, ...]


# Functions with names, so that a fit can be pickled.
def _gauss(q: Float[np.ndarray, "n p"]) -> Float[np.ndarray, "n p"]:
    return np.exp(-q / 2)


def _laplace(q: Float[np.ndarray, "n p"], rounding: float = 1e-12) -> Float[np.ndarray, "n p"]:
    # Below ``rounding`` two rows are one.
    return np.exp(-np.sqrt(np.where(q > rounding, q, 0.0)))


def _laplace_slope(
    q: Float[np.ndarray, "n p"], rounding: float = 1e-12
) -> Float[np.ndarray, "n p"]:
    # At a centre itself the kink has no slope.
    root = np.sqrt(np.where(q > rounding, q, np.inf))
    return np.exp(-root) / root


SMOOTH = Kernel(_gauss, _gauss, 1.0, (0.5, 1.0, 2.0, 4.0))
ROUGH = Kernel(_laplace, _laplace_slope, 2.0, (2.0,))
"""Gaussian and Cauchy neurons; the width of the second hardly matters."""


Root = Float[np.ndarray, " d"] | Float[np.ndarray, "d d"] | Turn


@dataclass(frozen=True)
class SoftModel:
    """sum_j a_j k(|x - c_j|_M^2/s^2) + intercept.

    ``root`` -> M^(1/2), its diagonal alone where M is diagonal; ``centres`` -> M^(1/2) c_j;
    ``width`` -> s, and ``relative_width`` in median distances of the centres; ``penalties`` -> of
    every step and of the readout, relative to the mean eigenvalue.
    """

    kernel: Kernel
    root: Root
    centres: Float[np.ndarray, "p d"]
    width: float
    relative_width: float
    weights: Float[np.ndarray, "p m"]
    intercept: Float[np.ndarray, " m"]
    error: float
    penalties: tuple[float, ...]

    def predict(self, x: Turned) -> Float[np.ndarray, "b m"]:
        """Values of the readout, block by block."""
        values = np.empty((len(x), len(self.intercept)))
        for block in blocks(len(x), sum(self.centres.shape)):
            q = _distances(_turned(x.dense(block), self.root), self.centres) / self.width**2
            values[block] = self.kernel.value(q) @ self.weights + self.intercept
        return values

    def gradient(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n m d"]:
        """Gradient of the outputs, row by row."""
        z = _turned(x, self.root)
        slope = self.kernel.slope(_distances(z, self.centres) / self.width**2) / self.width**2
        gradient = np.empty((len(x), len(self.intercept), x.shape[1]))
        for j, weights in enumerate(self.weights.T):
            pull = slope * weights
            # M^(1/2) is symmetric, so that it takes gradients back to x as well.
            inner = pull @ self.centres - z * pull.sum(axis=1)[:, None]
            gradient[:, j] = _turned(inner, self.root)
        return gradient


def fit_soft(
    x: Turned,
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
    recipe: Recipe,
    *,
    diagonal: bool,
    like: SoftModel | None = None,
    held: bool = True,
) -> SoftModel:
    """Soft steps on columns of variance one, or on turns of these: rough ones by column.

    like -> a model of other rows whose width serves, and whose penalties do if these are ``held``:
    choosing takes most of the time of a fit, and rows of the same table choose the same up to
    chance.  All are the best by leave-one-out if it is not given.
    """
    kernel = ROUGH if diagonal else SMOOTH
    given: tuple[float | None, ...] = (None,) * (recipe.soft_steps + 1)
    given = like.penalties if like and held else given
    root: Root = np.ones(x.shape[1])
    some = slice(0, min(len(x), recipe.metric_rows))
    formed = x.dense(some)
    teaching = (plain(formed), y[some], weight[some] / weight[some].mean())

    def tried(width: float, penalty: float | None = None) -> SoftModel:
        return _readout(
            *teaching,
            kernel=kernel,
            root=root,
            width=width,
            centres=recipe.metric_centres,
            penalty=penalty,
        )

    penalties: tuple[float, ...] = ()
    for penalty in given[:-1]:
        teacher = tried(kernel.width, penalty)
        penalties += teacher.penalties
        gradient = teacher.gradient(formed[: recipe.averaged_rows])
        root = _learned_root(gradient, recipe.metric_floor, diagonal)
    widths = (like.relative_width,) if like else kernel.widths
    best = widths[0] if len(widths) == 1 else min(widths, key=lambda width: tried(width).error)
    model = _readout(
        x,
        y,
        weight,
        kernel=kernel,
        root=root,
        width=best,
        centres=recipe.centres,
        penalty=given[-1],
    )
    return replace(model, penalties=penalties + model.penalties)


def _learned_root(gradient: Float[np.ndarray, "n m d"], floor: float, diagonal: bool) -> Root:
    """M^(1/2) = A^(1/4), bounded below."""
    d = gradient.shape[2]
    flat = gradient.reshape(-1, d) / np.sqrt(len(gradient))
    # The last term keeps a readout without slopes from giving an M of zero.
    least = floor * float(np.einsum("id,id->", flat, flat)) / d + np.finfo(float).tiny
    if diagonal:
        return (np.einsum("id,id->d", flat, flat) + least) ** 0.25
    if d <= len(flat):
        values, vectors = np.linalg.eigh(flat.T @ flat)
        return (vectors * (np.maximum(values, 0.0) + least) ** 0.25) @ vectors.T
    _, singular, right = np.linalg.svd(flat, full_matrices=False)
    return Turn(right.T, (singular**2 + least) ** 0.25, least**0.25)


def _turned(x: Float[np.ndarray, "n d"], root: Root) -> Float[np.ndarray, "n d"]:
    if isinstance(root, Turn):
        return root.adjoint(x.T).T
    return x * root if root.ndim == 1 else x @ root


def _distances(
    z: Float[np.ndarray, "n d"], centres: Float[np.ndarray, "p d"]
) -> Float[np.ndarray, "n p"]:
    """|z_i - c_j|^2."""
    squares = z @ centres.T
    squares *= -2.0
    squares += np.einsum("id,id->i", z, z)[:, None]
    squares += np.einsum("id,id->i", centres, centres)
    return np.maximum(squares, 0.0, out=squares)


def _readout(
    x: Turned,
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
    *,
    kernel: Kernel,
    root: Root,
    width: float,
    centres: int,
    penalty: float | None,
    jitter: float = 1e-8,
) -> SoftModel:
    """Ridge regression on k(x, c_j), in coordinates where its norm is the kernel's own.

    centres -> rows at most that the kernel is centred on; penalty -> relative to the mean
    eigenvalue, chosen by leave-one-out if not given; jitter -> added to a kernel of one on the
    diagonal, so that rounding leaves it positive.
    """
    places = _turned(x.dense(slice(0, centres)), root)
    p = len(places)
    between = _distances(places, places)
    typical = float(np.median(between[np.triu_indices(p, 1)])) if p > 1 else 0.0
    relative, width = width, width * (np.sqrt(typical) or 1.0)
    lower = cholesky(kernel.value(between / width**2) + jitter * np.eye(p), lower=True)

    def features(block: slice) -> Float[np.ndarray, "b p"]:
        q = _distances(_turned(x.dense(block), root), places) / width**2
        return solve_triangular(lower, kernel.value(q).T, lower=True).T

    if penalty is None:
        ridge = fit_ridge(features, y, weight, p)
    else:
        # Nothing is chosen by the error, so that leverages need not be exact.
        given = np.array([penalty])
        ridge = fit_ridge(features, y, weight, p, given, judged_per_feature=0, least_judged=1)
    return SoftModel(
        kernel=kernel,
        root=root,
        centres=places,
        width=width,
        relative_width=relative,
        weights=solve_triangular(lower, ridge.weights, lower=True, trans="T"),
        intercept=ridge.intercept,
        error=ridge.error,
        penalties=(ridge.relative,),
    )
