"""Covariances of features given the learned coordinates, in the form their sums need.

    S(kappa) = E[phi phi^T | kappa] = mu0 mu0^T + (mu1 mu1^T) o G + diag(mu*^2)

at the nodes of kappa: mu0 and mu1 (p x m) are smooth in kappa, hence of low rank, so that a sum
over nodes, or the traces against one matrix at all nodes, cost a few products with p x p matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.accuracy import RANK
from giantstep.gaussian.moments import feature_moments
from giantstep.prediction.labels import LabelMoments, coordinate_rule, label_moments
from giantstep.problem.setting import Setting

NODES = {0: 1, 1: 40, 2: 20, 3: 12}
"""Gauss-Hermite nodes an axis for so many learned directions: errors to 1e-6 where a row has
component 2 along a learned direction and norm 1 outside, to 1e-3 where it has 9."""


@dataclass(frozen=True)
class LowRank:
    """A p x m matrix as basis @ coefficients.

    docs/derivations/equivalence.md, eq. (7).
    """

    basis: Float[np.ndarray, "p q"]
    coefficients: Float[np.ndarray, "q m"]

    @classmethod
    def compress(
        cls,
        values: Float[np.ndarray, "p m"],
        weights: Float[np.ndarray, " m"],
        tolerance: float = 1e-9,
    ) -> LowRank:
        """Singular value decomposition in the norm of the weights, truncated relative to the first.

        Moments enter S by products.
        """
        root = np.sqrt(weights)
        left, singular, right = np.linalg.svd(values * root, full_matrices=False)
        kept = max(1, int(np.sum(singular > tolerance * singular[0])))
        coefficients = singular[:kept, None] * right[:kept] / root
        return cls(left[:, :kept], coefficients)

    def outer(self, weights: Float[np.ndarray, " m"]) -> Float[np.ndarray, "p p"]:
        """sum_m weights_m mu_m mu_m^T."""
        core = (self.coefficients * weights) @ self.coefficients.T
        return (self.basis @ core) @ self.basis.T

    def quadratic(self, matrix: Float[np.ndarray, "p p"]) -> Float[np.ndarray, " m"]:
        """mu_m^T matrix mu_m for every m."""
        core = self.basis.T @ (matrix @ self.basis)
        return np.sum(self.coefficients * (core @ self.coefficients), axis=0)


@dataclass(frozen=True)
class Family:
    """S(kappa) at the nodes of kappa, and E[phi y | kappa], with everything a curve shares.

    docs/derivations/equivalence.md, eq. (4).
    """

    weights: Float[np.ndarray, " m"]
    mean: LowRank
    slope: LowRank
    noise: Float[np.ndarray, "p m"]
    gram: Float[np.ndarray, "p p"]
    along: Float[np.ndarray, "p q"]
    labels: LabelMoments

    @cached_property
    def spectrum(self) -> Float[np.ndarray, " p"]:
        """Eigenvalues of E[phi phi^T]."""
        return np.maximum(np.linalg.eigvalsh(self.combine(self.weights)), 0.0)

    def combine(self, weights: Float[np.ndarray, " m"]) -> Float[np.ndarray, "p p"]:
        """sum_m weights_m S(kappa_m)."""
        total = self.slope.outer(weights)
        total *= self.gram
        total += self.mean.outer(weights)
        total.flat[:: len(total) + 1] += self.noise @ weights
        return total

    def traces(self, matrix: Float[np.ndarray, "p p"]) -> Float[np.ndarray, " m"]:
        """tr[S(kappa_m) matrix] for every m; the matrix symmetric."""
        linear = self.slope.quadratic(self.gram * matrix)
        return self.mean.quadratic(matrix) + linear + np.diagonal(matrix) @ self.noise

    def cross(self, weights: Float[np.ndarray, " m"]) -> Float[np.ndarray, " p"]:
        """sum_m weights_m E[phi y | kappa_m] = mu0 h0 + mu1 o (along h1)."""
        mean = self.mean.basis @ (self.mean.coefficients @ (weights * self.labels.mean))
        slope = self.slope.basis @ (
            self.slope.coefficients @ (weights[:, None] * self.labels.slope)
        )
        return mean + np.sum(slope * self.along, axis=1)

    def bias(self, readout: Float[np.ndarray, " p"]) -> Float[np.ndarray, " m"]:
        """E[(y - phi.a)^2 | kappa_m] of a given readout."""
        square = self.traces(np.outer(readout, readout))
        mean = (readout @ self.mean.basis) @ self.mean.coefficients
        slope = (self.slope.basis * readout[:, None]).T @ self.along
        linear = np.sum((self.slope.coefficients.T @ slope) * self.labels.slope, axis=1)
        return self.labels.square - 2.0 * (mean * self.labels.mean + linear) + square


def make_family(
    setting: Setting,
    weights: Float[np.ndarray, "p d"],
    frame: Float[np.ndarray, "r d"],
    *,
    directions: Float[np.ndarray, "k d"],
    nodes: int | None = None,
) -> Family:
    """Moments, low-rank factors and the Gram matrix of given weights and directions."""
    k = len(directions)
    # Without the lightest nodes: even kappa^8 has a share below 1e-6 out there.
    kappa, node_weights = coordinate_rule([nodes or NODES[k]] * k, 1e-12)
    inside = weights @ directions.T
    outside = weights - inside @ directions
    norms = np.linalg.norm(outside, axis=1)
    if norms.min() <= RANK * np.linalg.norm(weights[norms.argmin()]):
        raise InputError(f"row {norms.argmin()} of weights lies in the span of the directions")
    outside /= norms[:, None]
    moments = feature_moments(setting.activation, inside @ kappa.T, norms[:, None])
    overlap = directions @ frame.T
    labels = label_moments(setting.target, setting.noise, overlap, kappa)
    # Unit vectors of the coordinates xi of the label: frame - overlap^T v = outside^T e.
    lengths = np.sum(labels.outside**2, axis=1)
    units = (labels.outside / lengths[:, None]) @ (frame - overlap.T @ directions)
    return Family(
        weights=node_weights,
        mean=LowRank.compress(moments.mean, node_weights),
        slope=LowRank.compress(moments.slope, node_weights),
        noise=moments.rest,
        gram=outside @ outside.T,
        along=outside @ units.T,
        labels=labels,
    )
