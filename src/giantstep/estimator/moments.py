"""Second moments of the inputs weighed by functions of the labels: sum_q (Z^T diag(A_q) Z/n)^2."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from giantstep.estimator.coordinates import Turned
from giantstep.estimator.wide import DENSE

SEMICIRCLE_MEDIAN = 0.404
"""Median of |x| under the semicircle law of radius one."""

TRIED = 8
"""Vectors of a block where the moment is not formed: twice the directions that are ever taken."""

STEPS = 6
"""Products of a block with the moment: what is beyond the noise is then found to some per cent."""


def weighed(
    a: Float[np.ndarray, "n q"], weight: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "n q"]:
    """Columns that vary, of mean zero and mean square one, times the weights, over n."""
    n = len(a)
    scale = np.sqrt(np.mean(a**2, axis=0))
    columns = a[:, scale > 0] / scale[scale > 0]
    return weight[:, None] * (columns - weight @ columns / n) / n


def second_moment(
    a: Float[np.ndarray, "n q"], z: Turned, weight: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "c c"]:
    """The moment itself."""
    total = np.zeros((z.shape[1], z.shape[1]))
    for column in weighed(a, weight).T:
        part = z.gram(column)
        total += part @ part
    return total


def leading(
    a: Float[np.ndarray, "n q"], z: Turned, weight: Float[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, " l"], Float[np.ndarray, "c l"], float]:
    """Leading eigenvalues and eigenvectors of the moment, and the radius of the bulk of its roots.

    The bulk is a semicircle, its radius that of the median; with many coordinates that of the mean
    square, and the eigenvectors are those on what products of a random block and the moment span.
    """
    c = z.shape[1]
    if c <= DENSE:
        values, vectors = np.linalg.eigh(second_moment(a, z, weight))
        values = np.maximum(values[::-1], 0.0)
        return values, vectors[:, ::-1], math.sqrt(float(np.median(values))) / SEMICIRCLE_MEDIAN
    columns = weighed(a, weight)
    if columns.shape[1] == 0:
        return np.zeros(1), np.eye(c, 1), 0.0

    def halves(block: Float[np.ndarray, "c t"]) -> list[Float[np.ndarray, "c t"]]:
        """Each part of the moment times the block."""
        image = z @ block
        return [z.adjoint(column[:, None] * image) for column in columns.T]

    block = np.random.default_rng(0).standard_normal((c, TRIED))
    parts = halves(block)
    mean = sum(float(np.sum(part**2)) for part in parts) / (c * TRIED)
    spanned = []
    for _ in range(STEPS):
        block = np.linalg.qr(_paired(columns, z, parts))[0]
        spanned.append(block)
        parts = halves(block)
    basis = np.linalg.qr(np.concatenate(spanned, axis=1))[0]
    parts = halves(basis)
    values, inner = np.linalg.eigh(sum(part.T @ part for part in parts))
    values = np.maximum(values[::-1][:TRIED], 0.0)
    # E x^2 = radius^2/4
    return values, basis @ inner[:, ::-1][:, :TRIED], 2.0 * math.sqrt(mean)


def largest(a: Float[np.ndarray, "n q"], z: Turned, weight: Float[np.ndarray, " n"]) -> float:
    """The largest eigenvalue of the moment."""
    if z.shape[1] > DENSE:
        return float(leading(a, z, weight)[0][0])
    return max(float(np.linalg.eigvalsh(second_moment(a, z, weight))[-1]), 0.0)


def _paired(
    columns: Float[np.ndarray, "n q"], z: Turned, parts: list[Float[np.ndarray, "c t"]]
) -> Float[np.ndarray, "c t"]:
    """The sum of the parts of the moment, each times its own block."""
    images = [column[:, None] * (z @ part) for column, part in zip(columns.T, parts, strict=True)]
    return z.adjoint(sum(images[1:], images[0]))
