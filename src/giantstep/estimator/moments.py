"""Second moments of the inputs weighed by functions of the labels: sum_q (Z^T diag(A_q) Z/n)^2."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from giantstep.estimator.coordinates import Turned


def weighed(
    a: Float[np.ndarray, "n q"], weight: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "n q"]:
    """Columns that vary, of mean zero and mean square one, times the weights, over n."""
    n = len(a)
    scale = np.sqrt(np.mean(a**2, axis=0))
    columns = a[:, scale > 0] / scale[scale > 0]
    return weight[:, None] * (columns - weight @ columns / n) / n


def second_moment(columns: Float[np.ndarray, "n q"], z: Turned) -> Float[np.ndarray, "c c"]:
    """The moment itself; columns -> those of ``weighed``."""
    total = np.zeros((z.shape[1], z.shape[1]))
    for column in columns.T:
        part = z.gram(column)
        total += part @ part
    return total


def leading(
    columns: Float[np.ndarray, "n q"], z: Turned, dense: int, *, tried: int = 8, steps: int = 6
) -> tuple[Float[np.ndarray, " l"], Float[np.ndarray, "c l"], float]:
    """Leading eigenvalues and eigenvectors of the moment, and the radius of the bulk of its roots.

    The bulk is a semicircle, its radius that of the median.  Beyond ``dense`` coordinates the
    moment is not formed: the radius is that of the mean square, and the eigenvectors are those on
    the span of a random block of ``tried`` vectors (twice the directions that are ever taken) and
    its products with the moment; after six, what is beyond the noise is found to some per cent.
    """
    c = z.shape[1]
    if c <= dense:
        values, vectors = np.linalg.eigh(second_moment(columns, z))
        values = np.maximum(values[::-1], 0.0)
        # The median of |x| under the semicircle law of radius one is .404.
        return values, vectors[:, ::-1], math.sqrt(float(np.median(values))) / 0.404
    if columns.shape[1] == 0:
        return np.zeros(1), np.eye(c, 1), 0.0

    def halves(block: Float[np.ndarray, "c t"]) -> list[Float[np.ndarray, "c t"]]:
        """Each part of the moment times the block."""
        image = z @ block
        return [z.adjoint(column[:, None] * image) for column in columns.T]

    block = np.random.default_rng(0).standard_normal((c, tried))
    parts = halves(block)
    mean = sum(float(np.sum(part**2)) for part in parts) / (c * tried)
    spanned = []
    for _ in range(steps):
        block = np.linalg.qr(_paired(columns, z, parts))[0]
        spanned.append(block)
        parts = halves(block)
    basis = np.linalg.qr(np.concatenate(spanned, axis=1))[0]
    parts = halves(basis)
    values, inner = np.linalg.eigh(sum(part.T @ part for part in parts))
    values = np.maximum(values[::-1][:tried], 0.0)
    # E x^2 = radius^2/4
    return values, basis @ inner[:, ::-1][:, :tried], 2.0 * math.sqrt(mean)


def largest(columns: Float[np.ndarray, "n q"], z: Turned, dense: int) -> float:
    """The largest eigenvalue of the moment."""
    if z.shape[1] > dense:
        return float(leading(columns, z, dense)[0][0])
    return max(float(np.linalg.eigvalsh(second_moment(columns, z))[-1]), 0.0)


def _paired(
    columns: Float[np.ndarray, "n q"], z: Turned, parts: list[Float[np.ndarray, "c t"]]
) -> Float[np.ndarray, "c t"]:
    """The sum of the parts of the moment, each times its own block."""
    images = [column[:, None] * (z @ part) for column, part in zip(columns.T, parts, strict=True)]
    return z.adjoint(sum(images[1:], images[0]))
