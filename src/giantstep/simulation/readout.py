"""The second layer: ridge regression by accumulated normal equations.

min over a of mean_mu (y_mu - s_p phi_mu . a)^2 + ridge |a|^2, phi = sigma(W x).  One pass over the
data gives every penalty; leave-one-out residuals come in closed form.  The reducers below see one
block of features and labels at a time, NumPy's or JAX's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float

from giantstep.problem.penalties import penalties_of
from giantstep.problem.setting import Setting

# With fewer samples than this times p the Gram matrix may be nearly singular: features and
# products then are in float64 from the start, else only the sums are.
WELL_SAMPLED = 16

# Samples whose leave-one-out residuals choose the penalty: plenty once n is far above p.
LEFT_OUT = 2**15

# Rounding of a Gram matrix of features in single precision, as a share of its largest eigenvalue.
SINGLE = float(np.finfo(np.float32).eps)

# Samples times neurons up to which they are kept for the second pass, not drawn again: tens of
# megabytes, little beside the memory of an engine.
KEPT = 2**23


class TrainingData(Protocol):
    """A stream of features and labels that can be reduced, again and again."""

    @property
    def count(self) -> int: ...

    def reduce(
        self, reducer: Callable[..., Any], *arguments: Any, exact: bool = False
    ) -> list[Any]: ...

    def head(self, count: int) -> TrainingData: ...

    def keep(self, count: int) -> TrainingData: ...

    def collect(self) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]: ...


@dataclass(frozen=True)
class Readout:
    """A fitted second layer for each penalty, and the one chosen by leave-one-out."""

    penalties: Float[np.ndarray, " k"]
    weights: Float[np.ndarray, "k p"]
    train_errors: Float[np.ndarray, " k"]
    loo_errors: Float[np.ndarray, " k"]
    chosen: int
    feature_singular_values: Float[np.ndarray, " m"]


def normal_equations(phi: Any, y: Any) -> Any:
    """Phi^T Phi, Phi^T y and y^T y of a block."""
    return phi.T @ phi, phi.T @ y, y @ y


def left_out(turned: Any, y: Any, shrunk: Any, fitted: Any, intercept: Any = 0.0) -> Any:
    """Leave-one-out residuals (y - yhat)/(1 - h), a row for each penalty.

    turned -> phi in the eigenbasis, a column for each sample; leverage h = sum_j phi_j^2 shrunk_j,
    prediction sum_j phi_j fitted_j; intercept -> the leverage of a mean that is fitted too.  With a
    leading axis of y and fitted there are several outputs.
    """
    return (y - fitted @ turned) / (1.0 - intercept - shrunk @ (turned * turned))


def leave_one_out(phi: Any, y: Any, vectors: Any, shrunk: Any, fitted: Any) -> Any:
    """Sum of squared leave-one-out residuals, one for each penalty."""
    residual = left_out((phi @ vectors).T, y, shrunk, fitted)
    return ((residual * residual).sum(axis=1),)


def squared_errors(phi: Any, y: Any, weights: Any) -> Any:
    """Sums of squared errors and of their squares, one for each row of weights."""
    error = y - weights @ phi.T
    square = error * error
    return square.sum(axis=1), (square * square).sum(axis=1)


def fit_readout(data: TrainingData, setting: Setting) -> Readout:
    """Fit the second layer on training data, for every penalty of the setting."""
    exact = data.count <= WELL_SAMPLED * setting.p
    if data.count < setting.p:
        return _fit_dual(data, setting)
    n, scale = data.count, setting.scale
    several = len(setting.penalties) != 1
    left_out = min(n, max(LEFT_OUT, WELL_SAMPLED * setting.p))
    if several and setting.p * left_out <= KEPT:
        data = data.keep(left_out)
    gram, cross, square = data.reduce(normal_equations, exact=exact)
    # s_p^2 Phi^T Phi / n = V diag(values) V^T serves every penalty; V stays where it was found.
    values, vectors = _decomposed(scale**2 * gram / n)
    if not exact and min(setting.penalties, default=math.inf) < SINGLE * values[-1]:
        # A penalty below the rounding of the features would be lost: once more in float64.
        gram, cross, square = data.reduce(normal_equations, exact=True)
        values, vectors = _decomposed(scale**2 * gram / n)
    penalties = penalties_of(setting.ridge, float(values.mean()))
    shrunk = 1.0 / (values + penalties[:, None])
    projected = np.asarray(vectors.T @ (scale * cross / n))
    weights = np.asarray((shrunk * projected) @ vectors.T)
    # mean (y - s phi.a)^2 = y^2/n - 2 a.b + a^T G a, in the eigenbasis of G.
    train = float(square) / n - np.sum((2.0 - values * shrunk) * shrunk * projected**2, axis=1)
    loo = np.full(1, np.nan)
    if several:
        arguments = (vectors, scale**2 * shrunk / n, scale * shrunk * projected)
        head = data.head(left_out)
        [sums] = head.reduce(leave_one_out, *arguments, exact=True)
        loo = np.asarray(sums) / head.count
    return _readout(setting, penalties, weights, np.maximum(train, 0.0), loo, values)


def _fit_dual(data: TrainingData, setting: Setting) -> Readout:
    """Fewer samples than neurons: the same fit from the n x n kernel s_p^2 Phi Phi^T / n."""
    phi, y = data.collect()
    n, scale = data.count, setting.scale
    values, vectors = _decomposed(scale**2 * phi @ phi.T / n)
    penalties = penalties_of(setting.ridge, float(values.sum()) / setting.p)
    inverse = 1.0 / (values + penalties[:, None])
    # alpha = (K + penalty)^-1 y; the residual is penalty * alpha
    alpha = np.asarray((inverse * np.asarray(vectors.T @ y)) @ vectors.T)
    weights = np.asarray(scale / n * alpha @ phi)
    train = np.mean((penalties[:, None] * alpha) ** 2, axis=1)
    diagonal = np.asarray(inverse @ (vectors**2).T)
    loo = np.mean((alpha / diagonal) ** 2, axis=1)
    return _readout(setting, penalties, weights, train, loo, values)


def _decomposed(matrix: Any) -> tuple[Float[np.ndarray, " m"], Any]:
    """Eigenvalues, none below zero, and eigenvectors."""
    values, vectors = matrix.__array_namespace__().linalg.eigh(matrix)
    return np.maximum(np.asarray(values), 0.0), vectors


def _readout(
    setting: Setting,
    penalties: Float[np.ndarray, " k"],
    weights: Float[np.ndarray, "k p"],
    train: Float[np.ndarray, " k"],
    loo: Float[np.ndarray, " k"],
    values: Float[np.ndarray, " m"],
) -> Readout:
    chosen = int(np.argmin(loo)) if len(penalties) > 1 else 0
    # Singular values of Phi / sqrt(n), largest first.
    singular = np.sqrt(values[::-1]) / setting.scale
    return Readout(penalties, weights, train, loo, chosen, singular)


def mean_and_error(
    sums: Float[np.ndarray, " k"], squares: Float[np.ndarray, " k"], n: int
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Mean and standard error of n values from their sum and sum of squares."""
    mean = sums / n
    variance = np.maximum(squares / n - mean**2, 0.0)
    return mean, np.sqrt(variance / n) if n > 1 else np.full_like(mean, math.nan)
