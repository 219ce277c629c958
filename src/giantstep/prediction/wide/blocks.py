"""Parts of the features that are of one degree in the input outside v, and what ridge sees of them.

A row outside v is a sum of independent random directions; what a feature has of degree k in the
input lies along products of k of them, random directions again, in a space of ``dimension``: d for
k = 1, d (d+1)/2 - 1 for k = 2 (docs/derivations/quadratic.md).  Resolvents Q of the neurons and
weights o of the nodes, D = diag(o), act on functions of kappa along one such direction as

    A = (1/dimension) sum_t groups p_t sum_j mu_tj Q_t mu_tj^T,     Z = (1 + A D)^-1.

Where p is small against the dimension, Z is 1 and the part counts as noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Inexact


@dataclass(frozen=True)
class Block:
    """Coefficients mu of one degree along the j directions of a group, and their space.

    ``share`` of the space's directions have these coefficients, where rows load them unevenly.
    """

    dimension: int | float
    parts: Float[np.ndarray, "m t j b"]
    share: float = 1.0

    @property
    def power(self) -> Float[np.ndarray, "m t"]:
        """What the block adds to the mean square of a group, its neurons together."""
        return self.share * np.sum(self.parts**2, axis=(2, 3))


@dataclass(frozen=True)
class Stack:
    """Blocks on one axis q, with as many directions j as the largest has: the others are 0."""

    parts: Float[np.ndarray, "q m t j b"]
    dimensions: Float[np.ndarray, " q"]
    shares: Float[np.ndarray, " q"]

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> Stack:
        """The stack of some blocks."""
        most = max(block.parts.shape[2] for block in blocks)
        none = [((0, 0), (0, 0), (0, most - block.parts.shape[2]), (0, 0)) for block in blocks]
        return cls(
            np.stack([np.pad(block.parts, pad) for block, pad in zip(blocks, none, strict=True)]),
            np.array([float(block.dimension) for block in blocks]),
            np.array([block.share for block in blocks]),
        )

    @property
    def counts(self) -> Float[np.ndarray, " q"]:
        """Directions that each block has."""
        return self.shares * self.dimensions

    @cached_property
    def flat(self) -> Float[np.ndarray, "q m tjb"]:
        """mu, all of a node in one row."""
        return self.parts.reshape(*self.parts.shape[:2], -1)


@dataclass(frozen=True)
class Screen:
    """Blocks seen through o and Q: their terms of the fixed point and of the Jacobian.

    ``weighted`` -> o, ``counted`` -> Q of a type times its number of groups.

    docs/derivations/quadratic.md, eq. (3).
    """

    stack: Stack
    weighted: Inexact[np.ndarray, " m"]
    counted: Inexact[np.ndarray, "t b b"]

    @cached_property
    def turned(self) -> Inexact[np.ndarray, "q m tjb"]:
        """mu K, where A = mu K mu^T: K holds the Q of each type, over the dimension."""
        stack = self.stack
        turned = _turned(stack.parts, self.counted).reshape(stack.flat.shape)
        return turned / stack.dimensions[:, None, None]

    @cached_property
    def screened(self) -> Inexact[np.ndarray, "q m tjb"]:
        """Z mu = mu (1 + K mu^T D mu)^-1: nodes may be hundreds, coefficients of one are few."""
        drawn = self.turned.swapaxes(1, 2) @ (self.weighted[:, None] * self.stack.flat)
        return self.stack.flat @ np.linalg.inv(np.eye(drawn.shape[-1]) + drawn)

    @property
    def answers(self) -> Inexact[np.ndarray, "q m m"]:
        """Z A of each block."""
        return self.screened @ self.turned.swapaxes(1, 2)

    @property
    def matrices(self) -> Inexact[np.ndarray, "q m m"]:
        """Z = (1 + A D)^-1 = 1 - Z A D of each block."""
        return np.eye(len(self.weighted)) - self.answers * self.weighted

    @property
    def variance(self) -> Inexact[np.ndarray, " m"]:
        """sum over blocks of count [Z A]_mm, their part of n V."""
        return self.stack.counts @ np.sum(self.screened * self.turned, axis=2)

    @property
    def inverse(self) -> Inexact[np.ndarray, "t b b"]:
        """sum over blocks of share sum_j mu_j^T D Z mu_j, their part of Q^-1."""
        drawn = self.stack.shares[:, None, None] * self.weighted[:, None] * self.stack.flat
        shape = self.stack.parts.shape
        return _paired(drawn.reshape(shape), self.screened.reshape(shape), axis=(0, 1, 3))

    @property
    def variance_by_weight(self) -> Inexact[np.ndarray, "m m"]:
        """-d(n V_m)/do_m' = sum over blocks of count Y_mm'^2, Y = Z A."""
        return np.tensordot(self.stack.counts, self.answers**2, axes=1)

    @property
    def inverse_by_weight(self) -> Inexact[np.ndarray, "m t b b"]:
        """d(Q_t^-1)/do_m = sum over blocks of share (Z mu_t)_m (Z mu_t)_m^T."""
        screened = self.screened.reshape(self.stack.parts.shape)
        drawn = self.stack.shares[:, None, None, None, None] * screened
        return _paired(drawn, screened, axis=(0, 3))

    def inverse_by_resolvent(
        self, basis: Float[np.ndarray, "e b b"]
    ) -> Inexact[np.ndarray, "t e u f"]:
        """-d(Q_t^-1)/d(groups p_u Q_u) = sum of share C_tu . C_ut/dimension, symmetric matrices.

        That is sum_jl tr(E C_tu F C_tu^T) for E and F of the basis, C_tu = mu_t^T D Z mu_u.
        """
        between = self._between
        types, kinds, size = len(between), len(basis), basis.shape[1]
        flat = between.reshape(types, types, -1, size**2)
        # sum_qjl C_bc C_ad, then sum over E_ab F_cd
        squares = (flat.swapaxes(2, 3) @ flat).reshape(types, types, size**4)
        pairs = np.einsum("eab,fcd->bcadef", basis, basis).reshape(size**4, kinds**2)
        traces = (squares @ pairs).reshape(types, types, kinds, kinds)
        return traces.swapaxes(1, 2)

    @property
    def _between(self) -> Inexact[np.ndarray, "t u q j l b c"]:
        """sqrt(share/dimension) C_tu, C_tu = mu_t^T D Z mu_u: groups for each pair of j, l."""
        stack = self.stack
        root = np.sqrt(stack.shares / stack.dimensions)[:, None, None]
        drawn = root * self.weighted[:, None] * stack.flat
        product = drawn.swapaxes(1, 2) @ self.screened
        shape = stack.parts.shape[2:]
        return product.reshape(-1, *shape, *shape).transpose(1, 4, 0, 2, 5, 3, 6)


def spread_over(
    moments: Float[np.ndarray, "m t *j b"], counted: Inexact[np.ndarray, "t b b"]
) -> Inexact[np.ndarray, "m m"]:
    """sum_t sum_j mu_tj Q_t mu_tj^T over the types, on pairs of nodes."""
    flat, turned = flat_pair(moments, counted)
    return turned @ flat.T


def flat_pair(
    moments: Float[np.ndarray, "m t *j b"], counted: Inexact[np.ndarray, "t b b"]
) -> tuple[Float[np.ndarray, "m tjb"], Inexact[np.ndarray, "m tjb"]]:
    """mu and mu Q, all of a node in one row."""
    full = moments if moments.ndim == 4 else moments[:, :, None, :]
    turned = _turned(full, counted)
    return full.reshape(len(full), -1), turned.reshape(len(full), -1)


# Groups have one or two neurons: sums over them are loops, for einsum's inner loop would be theirs.


def _turned(
    parts: Float[np.ndarray, "*q t j b"], counted: Inexact[np.ndarray, "t b b"]
) -> Inexact[np.ndarray, "*q t j b"]:
    """mu Q."""
    turned = parts[..., :1] * counted[:, :1]
    for b in range(1, parts.shape[-1]):
        turned += parts[..., b : b + 1] * counted[:, b : b + 1]
    return turned


def _paired(
    first: Inexact[np.ndarray, "*q b"], second: Inexact[np.ndarray, "*q b"], axis: tuple[int, ...]
) -> Inexact[np.ndarray, "*r b b"]:
    """Products of the neurons of a group, summed over some axes."""
    neurons = range(first.shape[-1])
    sums = [[np.sum(first[..., b] * second[..., c], axis=axis) for c in neurons] for b in neurons]
    return np.moveaxis(np.array(sums), (0, 1), (-2, -1))
