"""Parts of the features that are of one degree in the input outside v, and what ridge sees of them.

A row outside v is a sum of independent random directions; what a feature has of degree k in the
input lies along products of k of them, random directions again, in a space of ``dimension``: d for
k = 1, d (d+1)/2 - 1 for k = 2 (docs/derivations/quadratic.md).  Resolvents Q of the neurons and
weights o of the nodes, D = diag(o), act on functions of kappa along one such direction as

    A = (1/dimension) sum_t groups p_t sum_j mu_tj Q_t mu_tj^T,     Z = (1 + A D)^-1.

Where p is small against the dimension, Z is 1 and the part counts as noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Inexact


@dataclass(frozen=True)
class Block:
    """Coefficients mu of one degree along the j directions of a group, and their space.

    ``share`` of the space's directions have these coefficients, where rows load them unevenly.
    """

    dimension: int
    parts: Float[np.ndarray, "m t j b"]
    share: float = 1.0

    @property
    def power(self) -> Float[np.ndarray, "m t"]:
        """What the block adds to the mean square of a group, its neurons together."""
        return self.share * np.sum(self.parts**2, axis=(2, 3))

    @property
    def count(self) -> float:
        """Directions that the block has."""
        return self.share * self.dimension


@dataclass(frozen=True)
class Screen:
    """A block seen through o and Q: its terms of the fixed point and of the Jacobian.

    ``weighted`` -> o, ``counted`` -> Q of a type times its number of groups.
    """

    block: Block
    weighted: Inexact[np.ndarray, " m"]
    counted: Inexact[np.ndarray, "t b b"]

    @cached_property
    def kernel(self) -> Inexact[np.ndarray, "m m"]:
        """A."""
        return spread_over(self.block.parts, self.counted) / self.block.dimension

    @cached_property
    def matrix(self) -> Inexact[np.ndarray, "m m"]:
        """Z = (1 + A D)^-1."""
        return np.linalg.inv(np.eye(len(self.weighted)) + self.kernel * self.weighted)

    @cached_property
    def screened(self) -> Inexact[np.ndarray, "m t j b"]:
        """Z mu."""
        parts = self.block.parts
        return (self.matrix @ parts.reshape(len(parts), -1)).reshape(parts.shape)

    @property
    def variance(self) -> Inexact[np.ndarray, " m"]:
        """count [Z A]_mm, the block's part of n V."""
        return self.block.count * np.einsum("mk,km->m", self.matrix, self.kernel)

    @property
    def inverse(self) -> Inexact[np.ndarray, "t b b"]:
        """share sum_j mu_j^T D Z mu_j, the block's part of Q^-1."""
        drawn = self.block.share * self.weighted[:, None, None, None] * self.block.parts
        return np.einsum("mtjb,mtjc->tbc", drawn, self.screened)

    @property
    def variance_by_weight(self) -> Inexact[np.ndarray, "m m"]:
        """-d(n V_m)/do_m' = count Y_mm'^2, Y = Z A."""
        return self.block.count * (self.matrix @ self.kernel) ** 2

    @property
    def inverse_by_weight(self) -> Inexact[np.ndarray, "m t b b"]:
        """d(Q_t^-1)/do_m = share (Z mu_t)_m (Z mu_t)_m^T."""
        return self.block.share * np.einsum("mtjb,mtjc->mtbc", self.screened, self.screened)

    def inverse_by_resolvent(
        self, basis: Float[np.ndarray, "e b b"]
    ) -> Inexact[np.ndarray, "t e u f"]:
        """-d(Q_t^-1)/d(groups p_u Q_u) = share C_tu . C_ut/dimension, for symmetric matrices.

        That is sum_jl tr(E C_tu F C_tu^T) for E and F of the basis, C_tu = mu_t^T D Z mu_u.
        """
        between = self._between
        types, kinds, size = len(between), len(basis), basis.shape[1]
        flat = between.reshape(types, types, -1, size**2)
        # sum_jl C_bc C_ad, then sum over E_ab F_cd
        squares = (flat.swapaxes(2, 3) @ flat).reshape(types, types, size**4)
        pairs = np.einsum("eab,fcd->bcadef", basis, basis).reshape(size**4, kinds**2)
        traces = (squares @ pairs).reshape(types, types, kinds, kinds)
        return self.block.share * traces.swapaxes(1, 2) / self.block.dimension

    @property
    def _between(self) -> Inexact[np.ndarray, "t u j l b c"]:
        """C_tu = mu_t^T D Z mu_u, a matrix on the groups for each pair of directions j, l."""
        parts = self.block.parts
        flat = parts.reshape(len(parts), -1)
        product = (flat * self.weighted[:, None]).T @ self.screened.reshape(flat.shape)
        return product.reshape(2 * parts.shape[1:]).transpose(0, 3, 1, 4, 2, 5)


def spread_over(
    moments: Float[np.ndarray, "m t *j b"], counted: Inexact[np.ndarray, "t b b"]
) -> Inexact[np.ndarray, "m m"]:
    """sum_t sum_j mu_tj Q_t mu_tj^T over the types, on pairs of nodes."""
    full = moments if moments.ndim == 4 else moments[:, :, None, :]
    turned = np.einsum("mtjb,tbc->mtjc", full, counted)
    return turned.reshape(len(full), -1) @ full.reshape(len(full), -1).T
