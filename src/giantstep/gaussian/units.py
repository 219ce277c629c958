"""Sums of erf or relu units of Gaussian directions: their moments with slopes in closed form.

Units u = U x, x ~ N(0, I), of covariance C = U U^T; R = sum_k b_k phi(u_k), phi(u) = erf(u/sqrt 2)
or max(u, 0), or u itself where a unit is linear.  Moments are those of arXiv 2202.00293 and of Saad
and Solla (I_2, I_3, I_4): a slope of erf is a Gaussian, under which C becomes

    C' = C - C_ai (1 + C_ii)^-1 C_ib,

and a slope of relu a step, of which Stein's lemma leaves densities and arcs
(docs/derivations/long_runs.md).  Leading axes are those of several networks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

Covariance = Float[np.ndarray, "*k u u"]
Shares = Float[np.ndarray, "*k u"]
Linear = Bool[np.ndarray, " u"]

GAUSS = math.sqrt(2.0 / math.pi)
"""phi'(0) of erf(u/sqrt 2)."""


@dataclass(frozen=True)
class Units:
    """A family of units.

    ``products(C, linear)`` -> E[phi(u_a) phi(u_b)]; ``pull(C, b, linear, p)`` -> D with
    E[phi'(u_i) R x] = sum_k D_ik U_k for i < p; ``slopes(C, p)`` -> E[phi'(u_i) phi'(u_j)];
    ``squares(C, b, linear, p)`` -> E[phi'(u_i) phi'(u_j) R^2], None where there is no closed form.

    docs/derivations/long_runs.md, eqs. (6), (7) and (8).
    """

    products: Callable[[Covariance, Linear], Covariance]
    pull: Callable[[Covariance, Shares, Linear, int], Float[np.ndarray, "*k p u"]]
    slopes: Callable[[Covariance, int], Float[np.ndarray, "*k p p"]]
    squares: Callable[[Covariance, Shares, Linear, int], Float[np.ndarray, "*k p p"]] | None


def _variances(covariance: Covariance) -> Float[np.ndarray, "*k u"]:
    return np.diagonal(covariance, axis1=-2, axis2=-1)


def _erf_products(covariance: Covariance, linear: Linear) -> Covariance:
    """(2/pi) asin(C_ab/sqrt((1 + C_aa)(1 + C_bb))), Saad and Solla's I_2.

    docs/derivations/long_runs.md, eq. (7).
    """
    lengths = np.sqrt(1.0 + _variances(covariance))
    shared = covariance / (lengths[..., :, None] * lengths[..., None, :])
    products = 2.0 / math.pi * np.arcsin(shared)
    if not np.any(linear):
        return products
    # E[u_a phi(u_b)] = C_ab phi'(0)/sqrt(1 + C_bb).
    mixed = GAUSS * covariance / np.where(linear, 1.0, lengths)[..., None, :]
    products = np.where(linear[:, None], mixed, products)
    products = np.where(linear[None, :], np.swapaxes(mixed, -1, -2), products)
    return np.where(linear[:, None] & linear[None, :], covariance, products)


def _erf_pull(
    covariance: Covariance, shares: Shares, linear: Linear, p: int
) -> Float[np.ndarray, "*k p u"]:
    """E[phi'(u_i) phi(u_k) x] = (2/pi) (U_k - U_i C_ik/(1 + C_ii))/sqrt((1 + C_ii)(1 + C'_kk)).

    docs/derivations/long_runs.md, eqs. (6) and (7).
    """
    wide = 1.0 + _variances(covariance)[..., :p, None]
    along = covariance[..., :p, :] / wide
    narrowed = 1.0 + _variances(covariance)[..., None, :] - along * covariance[..., :p, :]
    slopes = np.where(linear, 1.0, GAUSS / np.sqrt(narrowed))
    pull = GAUSS / np.sqrt(wide) * shares[..., None, :] * slopes
    along_itself = np.sum(pull * along, axis=-1)
    index = np.arange(p)
    pull[..., index, index] -= along_itself
    return pull


def _erf_slopes(covariance: Covariance, p: int) -> Float[np.ndarray, "*k p p"]:
    """(2/pi)/sqrt((1 + C_ii)(1 + C_jj) - C_ij^2)."""
    wide = 1.0 + _variances(covariance)[..., :p]
    inner = covariance[..., :p, :p]
    return 2.0 / math.pi / np.sqrt(wide[..., :, None] * wide[..., None, :] - inner**2)


def _erf_squares(
    covariance: Covariance, shares: Shares, linear: Linear, p: int
) -> Float[np.ndarray, "*k p p"]:
    """Sums of Saad and Solla's I_4: the products I_2 under two slopes, pair by pair."""
    first, second = np.triu_indices(p)
    wide = 1.0 + _variances(covariance)[..., :p, None]
    one = (covariance[..., :p, :] / np.sqrt(wide))[..., first, :]
    # The second slope acts on what the first leaves.
    across = covariance[..., first, second][..., None] / np.sqrt(wide[..., first, :])
    length = np.sqrt(wide[..., second, :] - across**2)
    two = (covariance[..., second, :] - across * one) / length
    narrowed = covariance[..., None, :, :] - one[..., :, None] * one[..., None, :]
    narrowed -= two[..., :, None] * two[..., None, :]
    squares = np.zeros((*covariance.shape[:-2], p, p))
    weights = shares[..., :, None] * shares[..., None, :]
    products = _erf_products(narrowed, linear)
    inside = np.sum(products * weights[..., None, :, :], axis=(-2, -1))
    squares[..., first, second] = squares[..., second, first] = inside
    return squares * _erf_slopes(covariance, p)


def _correlations(covariance: Covariance) -> Covariance:
    lengths = np.sqrt(_variances(covariance))
    return np.clip(covariance / (lengths[..., :, None] * lengths[..., None, :]), -1.0, 1.0)


def _relu_products(covariance: Covariance, linear: Linear) -> Covariance:
    """The arc-cosine kernel: |u_a||u_b| (sin t + (pi - t) cos t)/(2 pi), t the angle."""
    lengths = np.sqrt(_variances(covariance))
    cosine = _correlations(covariance)
    arcs = np.sqrt(1.0 - cosine**2) + (math.pi - np.arccos(cosine)) * cosine
    products = lengths[..., :, None] * lengths[..., None, :] * arcs / (2.0 * math.pi)
    products = np.where(linear[:, None] | linear[None, :], 0.5 * covariance, products)
    return np.where(linear[:, None] & linear[None, :], covariance, products)


def _relu_pull(
    covariance: Covariance, shares: Shares, linear: Linear, p: int
) -> Float[np.ndarray, "*k p u"]:
    """E[1(u_i) (u_k)_+ x] = P(u_i, u_k > 0) U_k + sqrt(C_ii C_kk - C_ik^2)/(2 pi C_ii) U_i.

    docs/derivations/long_runs.md, eq. (8).
    """
    variances = _variances(covariance)
    cosine = _correlations(covariance)[..., :p, :]
    both = 0.25 + np.arcsin(cosine) / (2.0 * math.pi)
    lengths = np.sqrt(variances[..., None, :] / variances[..., :p, None])
    density = lengths * np.sqrt(1.0 - cosine**2) / (2.0 * math.pi)
    pull = shares[..., None, :] * np.where(linear, 0.5, both)
    along_itself = np.sum(shares[..., None, :] * np.where(linear, 0.0, density), axis=-1)
    index = np.arange(p)
    pull[..., index, index] += along_itself
    return pull


def _relu_slopes(covariance: Covariance, p: int) -> Float[np.ndarray, "*k p p"]:
    """P(u_i, u_j > 0) = 1/4 + asin(correlation)/(2 pi)."""
    return 0.25 + np.arcsin(_correlations(covariance[..., :p, :p])) / (2.0 * math.pi)


UNITS = {
    "erf": Units(_erf_products, _erf_pull, _erf_slopes, _erf_squares),
    # E[1(u_i) 1(u_j) (u_k)_+ (u_l)_+] is a dilogarithm: no closed form of elementary functions.
    "relu": Units(_relu_products, _relu_pull, _relu_slopes, None),
}
"""The families with closed forms: a new one is an entry."""
