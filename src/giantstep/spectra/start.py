"""Bulk of weights and of random features at the start, at linear width.

Singular values of W (p x d) and of sigma(X W^T)/sqrt(n) follow generalised Marchenko-Pastur laws
(giantstep.spectra.bulk); after giant steps those of W follow the law of a variance profile
(giantstep.spectra.profile).  Derivations are in docs/derivations/bulk.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.moments import feature_moments
from giantstep.problem.activation import Activation
from giantstep.problem.starts import STARTS, RowStart
from giantstep.spectra.bulk import Bulk


@dataclass(frozen=True)
class FeatureBulk(Bulk):
    """Bulk of random features; K = F F^T/n with F = sigma(X W^T), centred.

    The covariance of the features is linear * W W^T + nonlinear * I: linear -> c_1^2,
    nonlinear -> c_{>1}^2 = Var sigma - c_1^2, weight_eigenvalues -> t_j of W W^T with
    s_j = linear t_j + nonlinear, d -> inputs.
    """

    linear: float = 0.0
    nonlinear: float = 0.0
    weight_eigenvalues: Float[np.ndarray, " m"] | None = None
    d: int = 1

    def m2(self, ridge: float) -> float:
        """lim b^T X^T (K + ridge)^-1 X b / n for a unit direction b of the inputs.

        m2 = m1 (1 - m1 linear sum_j (c_j n/d) t_j/(1 + m1 s_j)).

        docs/derivations/bulk.md, eq. (3).
        """
        assert self.weight_eigenvalues is not None
        m1 = self.m1(ridge)
        shares = self.masses * self.size / self.d
        return m1 * (
            1.0
            - m1
            * self.linear
            * float(np.sum(shares * self.weight_eigenvalues / (1.0 + m1 * self.scales)))
        )


def weight_bulk(p: int, d: int, start: str = "sphere") -> Bulk:
    """Singular values of W (p x d) at the start: rows uniform on the sphere, or N(0, I/d).

    Here K = W^T W (d x d) and the p rows are the population, all of scale 1.  The symmetric start
    has p/2 distinct rows, each twice: K = 2 W'^T W', a population of p/2 with scale 2.

    >>> from giantstep import weight_bulk
    >>> round(weight_bulk(100, 400).edges[-1][1], 6)  # 1 + sqrt(p/d)
    1.5
    """
    kind = _independent(p, d, start)
    _check_sizes(p=p, d=d)
    scales, masses = np.array([float(kind.copies)]), np.array([p / kind.copies / d])
    return Bulk(scales, masses, d, fixed_rows=kind.unit)


def feature_bulk(
    activation: Activation, n: int, d: int, p: int, start: str = "sphere"
) -> FeatureBulk:
    """Singular values of random features sigma(X W^T)/sqrt(n), centred, rows of W as at the start.

    Features with c_0 != 0 have a further, large singular value from their mean, which centring
    removes (giantstep.spectra.outliers.centre).  The symmetric start doubles p/2 distinct neurons.

    K = sigma(X W^T) sigma(X W^T)^T/n: rows of covariance c_1^2 W W^T + (E sigma^2 - c_0^2 - c_1^2)
    I (docs/derivations/bulk.md).  n, d and p large and in proportion.

    >>> from giantstep import feature_bulk, make_activation
    >>> feature_bulk(make_activation("tanh"), n=200, d=100, p=150).size
    200
    """
    copies = _independent(p, d, start).copies
    _check_sizes(n=n, d=d, p=p)
    moments = feature_moments(activation, np.zeros(1), np.ones(1))
    linear, nonlinear = copies * float(moments.slope[0]) ** 2, copies * float(moments.rest[0])
    distinct = p // copies
    eigenvalues, shares = _mp_nodes(distinct / d, distinct / n)
    scales = linear * eigenvalues + nonlinear
    # A linear activation leaves the directions outside the inputs empty.
    kept = scales > 1e-14 * np.max(scales)
    atom = int(distinct > d and nonlinear > 0)
    return FeatureBulk(
        scales[kept],
        (shares * distinct / n)[kept],
        n,
        (0,) if atom else (),
        linear=linear,
        nonlinear=nonlinear,
        weight_eigenvalues=eigenvalues[kept],
        d=d,
    )


def _independent(p: int, d: int, start: str) -> RowStart:
    """A start whose distinct rows are independent."""
    names = [kind.name for kind in STARTS.values() if not kind.framed]
    if start not in names:
        raise InputError(f"start must be one of {', '.join(names)} for a bulk, got {start!r}")
    STARTS[start].check(p, 0, d)
    return STARTS[start]


def _check_sizes(**sizes: int) -> None:
    for name, value in sizes.items():
        if value < 2:
            raise InputError(f"{name} must be at least 2, got {value}")


def _mp_nodes(
    aspect: float, per_sample: float, least: int = 128
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """Gauss nodes, increasing, and weights of the spectrum of W W^T, p/d -> aspect.

    The Jacobi matrix of Marchenko-Pastur's law is B B^T, B bidiagonal with 1 on the diagonal and
    sqrt(aspect) below.  For p > d the spectrum is that of W^T W, p/d times the law of d/p, and an
    atom at zero.  Nodes must be denser than the blur that n samples give each, of relative width
    sqrt(per_sample/nodes): a few over per_sample of them are enough, or ``least``.
    """
    from scipy.linalg import eigh_tridiagonal

    ratio = min(aspect, 1.0 / aspect)
    count = max(least, math.ceil(8.0 / per_sample))
    diagonal = np.r_[1.0, np.full(count - 1, 1.0 + ratio)]
    nodes, vectors = eigh_tridiagonal(diagonal, np.full(count - 1, math.sqrt(ratio)))
    weights = vectors[0] ** 2
    # Weights below rounding of the largest carry nothing.
    kept = weights > 1e-18
    nodes, weights = np.maximum(nodes[kept], 0.0), weights[kept]
    if aspect <= 1.0:
        return nodes, weights / weights.sum()
    weights /= weights.sum() * aspect
    return np.r_[0.0, aspect * nodes], np.r_[1.0 - 1.0 / aspect, weights]
