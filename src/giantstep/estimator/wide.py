"""Ridge regression on more coordinates than a matrix of their products can hold.

With A the weighted and centred rows and C = A^T A/n the weights at penalty l are (C + l)^-1 g,
g = A^T b/n.  Steps of Lanczos from g give C on the space where they live, C P = P T, for all
penalties at once.  Random signs s as labels lose the share s . shat/n of themselves to the fit:
that is the mean leverage.  With so many coordinates all rows have nearly this one, so that
generalised cross-validation is leave-one-out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from giantstep.estimator.coordinates import Turned
from giantstep.estimator.ridge import PENALTIES, Ridge, fit_ridge

Operator = Callable[[Float[np.ndarray, "p q"]], Float[np.ndarray, "p q"]]


def fit_linear(
    x: Turned,
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
    dense: int,
    *,
    least_penalty: float = 1e-5,
    least_kept: float = 1e-9,
) -> Ridge:
    """The linear model on coordinates: ``fit_ridge`` on up to ``dense`` of them.

    least_penalty -> below it, residuals of fewer rows than coordinates are lost in rounding;
    least_kept -> the share of a label that the fit leaves at least.
    """
    n, p = x.shape
    if p <= dense:
        return fit_ridge(x.dense, y, weight, p)
    root, label_mean = np.sqrt(weight)[:, None], weight @ y / n
    labels = root * (y - label_mean)

    def centred(b: Float[np.ndarray, "n q"]) -> Float[np.ndarray, "n q"]:
        return b - root * (root.T @ b / n)

    def covariance(b: Float[np.ndarray, "p q"]) -> Float[np.ndarray, "p q"]:
        return x.adjoint(root * centred(root * (x @ b))) / n

    signs = centred(np.random.default_rng(0).choice([-1.0, 1.0], (n, 1)))
    start = x.adjoint(root * np.column_stack([labels, signs])) / n
    basis, matrices = lanczos(covariance, start)
    lengths = np.linalg.norm(start, axis=0)
    # tr C = E n |A^T s/n|^2
    grid = PENALTIES[least_penalty < PENALTIES]
    penalties = grid * max(n * float(lengths[-1]) ** 2 / p, np.finfo(float).tiny / grid[0])
    solved = _solved(matrices, penalties) * lengths[:, None]
    kept = np.maximum(np.mean(signs**2) - lengths[-1] * solved[:, -1, 0], least_kept)
    fitted = 2.0 * solved[:, :-1, 0] * lengths[:-1] - np.einsum(
        "qci,cij,qcj->qc", solved[:, :-1], matrices[:-1], solved[:, :-1]
    )
    errors = (np.mean(labels**2, axis=0) - fitted).mean(axis=1) / kept**2
    best = int(np.argmin(errors))
    weights = np.einsum("tpc,ct->pc", basis[:, :, :-1], solved[best, :-1])
    predicted = x @ weights
    offset = weight @ predicted / n
    residual = (y - label_mean - predicted + offset) / kept[best]
    return Ridge(
        weights=weights,
        intercept=label_mean - offset,
        residual=residual,
        error=float(errors[best]),
        penalty=float(penalties[best]),
        relative=float(grid[best]),
    )


def _solved(
    matrices: Float[np.ndarray, "c t t"], penalties: Float[np.ndarray, " q"]
) -> Float[np.ndarray, "q c t"]:
    """(T + l)^-1 e_1 for the operator T on the Krylov space of every column and penalty l."""
    values, vectors = np.linalg.eigh(matrices)
    shrunk = 1.0 / (np.maximum(values, 0.0) + penalties[:, None, None])
    return np.einsum("cij,qcj,cj->qci", vectors, shrunk, vectors[:, 0])


def lanczos(
    operator: Operator, start: Float[np.ndarray, "p q"], most: int = 20
) -> tuple[Float[np.ndarray, "t p q"], Float[np.ndarray, "q t t"]]:
    """Orthonormal bases of the Krylov spaces of every column, and the operator on them.

    most -> Lanczos steps: at two rows a coordinate, without penalty, 20 leave 1e-3 of the labels.
    """
    p, q = start.shape
    steps = min(most, p)
    basis, matrices = np.zeros((steps, p, q)), np.zeros((q, steps, steps))
    vector = start
    for t in range(steps):
        length = np.linalg.norm(vector, axis=0)
        if t:
            matrices[:, t, t - 1] = matrices[:, t - 1, t] = length
        # A column whose space is exhausted goes on with zeros.
        basis[t] = np.where(length > 0, vector / np.where(length > 0, length, 1.0), 0.0)
        vector = operator(basis[t])
        matrices[:, t, t] = np.einsum("pq,pq->q", basis[t], vector)
        for _ in range(2):
            inner = np.einsum("tpq,pq->tq", basis[: t + 1], vector)
            vector = vector - np.einsum("tpq,tq->pq", basis[: t + 1], inner)
    return basis, matrices
