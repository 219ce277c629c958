"""Features and labels by their degree in the input outside v, given kappa = <v, x> and the radius.

x outside v has d - 1 coordinates, a radius rho sqrt(d - 1) and a direction uniform on the sphere.
A row is s omega there; zeta = sqrt(d - 1) <omega, direction> is close to normal, and

    sigma(u kappa + s rho zeta) = mu0 + mu1 zeta + (mu2/2) (zeta^2 - 1) + noise of variance S,

mu_k and S functions of kappa and rho.  zeta is one of d - 1 orthonormal harmonics, zeta^2 - 1 lies
along one of D = (d-2)(d+1)/2 of degree 2, for independent rows as random as omega itself: each
degree is a block (giantstep.prediction.wide.blocks).  See docs/derivations/quadratic.md and, for
inputs on a sphere, arXiv 2403.08160.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import FeatureMoments, feature_moments
from giantstep.gaussian.pairs import pair_product
from giantstep.gaussian.rules import Rule
from giantstep.prediction.labels import LabelMoments
from giantstep.prediction.wide.blocks import Block
from giantstep.prediction.wide.neurons import NeuronTypes
from giantstep.problem.activation import Activation


@dataclass(frozen=True)
class Degrees:
    """What is coherent over neurons, the blocks of degree 1 and 2, the covariance S of the noise.

    ``means`` are on layers of nodes: those of kappa, then of each special direction; l = 0 is mu0,
    l > 0 are the modes of giantstep.prediction.wide.neurons.  The last block is of degree 2.
    """

    means: Float[np.ndarray, "x t l b"]
    blocks: tuple[Block, ...]
    noise: Float[np.ndarray, "m t b b"]


def radius_rule(freedom: float) -> Rule:
    """Two values of rho^2 = chi^2/freedom and their weights: Gauss's rule, exact to degree 3.

    With a = freedom/2: rho^2 = (a + 1 +- sqrt(a + 1))/a, the roots of a Laguerre polynomial.
    """
    a = 0.5 * freedom
    root = math.sqrt(a + 1.0)
    signs = np.array([-1.0, 1.0])
    return (a + 1.0 + signs * root) / a, 0.5 * (1.0 - signs / root)


def features_by_degree(
    activation: Activation,
    types: NeuronTypes,
    kappa: Float[np.ndarray, "i k"],
    d: int,
    on_learned: Float[np.ndarray, "i k"] | None = None,
) -> Degrees:
    """Moments on the nodes (rho, kappa), the radius varying slowest.

    Averages over rho are those of normal inputs: zeta is not quite normal, and taken as such it
    would give more than there is of the mean and of S.  ``on_learned`` -> <v, x> where it is not
    the kappa that features know (giantstep.prediction.wide.batch_nodes).

    docs/derivations/quadratic.md, eqs. (1) and (2).
    """
    outside, freedom = d - 1, types.freedom(d)
    squares, shares = radius_rule(freedom)
    correlation = _correlation(types)
    shift = np.einsum("ik,tbk->itb", kappa, types.along)
    normal = feature_moments(activation, shift, np.broadcast_to(types.length, shift.shape))
    widths = np.sqrt(squares)[:, None, None] * types.length
    shifts = np.broadcast_to(shift, (len(squares), *shift.shape))
    scales = np.broadcast_to(widths[:, None], shifts.shape)
    moments = feature_moments(activation, shifts, scales)
    means = moments.mean + normal.mean - np.tensordot(shares, moments.mean, 1)
    noise = _noise(activation, moments, shifts, scales, correlation)
    # What is beyond degree 2, of a group: as much as of normal inputs.
    power = np.tensordot(shares, np.trace(noise, axis1=3, axis2=4), 1)
    expected = np.sum(_beyond(normal), axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        noise *= np.where(power > 0, expected / power, 0.0)[..., None, None]
    nodes = (len(squares) * len(kappa), *shift.shape[1:])
    slope = moments.slope.reshape(nodes)
    # A traceless matrix M has sum_jk M_jk y_j y_k of variance 2 |M|^2 (d-1)/(d+1) on the sphere.
    curve = moments.curve.reshape(nodes) * math.sqrt(0.5 * freedom / (freedom + 2))
    # Rows load their own directions by classes; of degree 2 the correlation of partners is left.
    unit = types.load / types.length[:, :, None]
    linear = (
        Block(outside, np.einsum("mtb,tbj->mtjb", slope, part), float(share))
        for part, share in zip(unit, types.shares, strict=True)
    )
    products = _products(_directions(correlation, nodes[2]), freedom)
    dimension = 0.5 * freedom * (freedom + 1) - 1
    quadratic = Block(dimension, np.einsum("mtb,tbj->mtjb", curve, products))
    on_learned = kappa if on_learned is None else on_learned
    along = (
        np.tile(on_learned, (len(squares), 1)) / np.repeat(np.sqrt(squares), len(kappa))[:, None]
    )
    modes = _modes(types, along, slope, moments.curve.reshape(nodes), d)
    return Degrees(
        means=_layers(means.reshape(nodes), modes),
        blocks=(*linear, quadratic),
        noise=noise.reshape(*nodes, nodes[-1]),
    )


def _modes(
    types: NeuronTypes,
    along: Float[np.ndarray, "m k"],
    slope: Float[np.ndarray, "m t b"],
    curve: Float[np.ndarray, "m t b"],
    d: int,
) -> Float[np.ndarray, "x t l b"]:
    """What each mode changes: mu0 by its drift and stretch, then the slopes along e.

    d mu0/du = kappa mu1/(s rho) and d mu0/d(s^2) = mu2/(2 s^2); ``along`` -> kappa/rho.
    """
    steep, bend = slope / types.length, curve / (2.0 * types.length**2)
    moved = np.einsum("mk,mtb,ltbk->mtlb", along, steep, types.drift)
    moved += np.einsum("mtb,ltb->mtlb", bend, types.stretch)
    aside = np.einsum("mtb,eltb->emtlb", steep, types.sideways)
    return np.concatenate([moved, *aside]) / math.sqrt(d)


def _layers(
    means: Float[np.ndarray, "m t b"], modes: Float[np.ndarray, "x t l b"]
) -> Float[np.ndarray, "x t l1 b"]:
    """mu0 on the first layer in front of the modes."""
    first = np.zeros((len(modes), *means.shape[1:]))
    first[: len(means)] = means
    return np.concatenate([first[:, :, None], modes], axis=2)


def _correlation(types: NeuronTypes) -> Float[np.ndarray, " t"]:
    """Cosine of the partners of a pair outside v; 1 for a single neuron."""
    unit = types.load / types.length[:, :, None]
    return np.einsum("q,qtj,qtj->t", types.shares, unit[:, :, 0], unit[:, :, -1])


def _directions(correlation: Float[np.ndarray, " t"], size: int) -> Float[np.ndarray, "t b j"]:
    """Unit vectors with that cosine: (sqrt((1+c)/2), +-sqrt((1-c)/2)), or one for a single one."""
    if size == 1:
        return np.ones((len(correlation), 1, 1))
    shared = np.sqrt(np.maximum(0.5 * (1.0 + correlation), 0.0))
    apart = np.sqrt(np.maximum(0.5 * (1.0 - correlation), 0.0))
    return np.stack([np.stack([shared, apart], axis=1), np.stack([shared, -apart], axis=1)], axis=1)


def _products(unit: Float[np.ndarray, "t b j"], outside: float) -> Float[np.ndarray, "t b k"]:
    """Coordinates of omega omega^T, its trace taken off, on products of a group's directions.

    omega = sum_j c_j omega_j has c_j^2 on squares and sqrt 2 c_j c_k on mixed products; without the
    trace two of them have (omega.omega')^2 - 1/outside between them.
    """
    first, second = np.triu_indices(unit.shape[2])
    square = first == second
    products = np.where(square, 1.0, math.sqrt(2.0)) * unit[..., first] * unit[..., second]
    return products - np.where(square, _taken(float(unit.shape[2]), outside), 0.0)


def _taken(count: float, outside: float) -> float:
    """x in (1 - x 1 1^T)^2 = 1 - 1 1^T/outside on so many squares: what each has of the trace."""
    # Without rounding where the count is small: (1 - sqrt(1 - y))/y = 1/(1 + sqrt(1 - y)).
    return 1.0 / (outside * (1.0 + math.sqrt(max(1.0 - count / outside, 0.0))))


def _beyond(moments: FeatureMoments) -> Float[np.ndarray, "..."]:
    """E sigma^2 less its parts of degree 0, 1 and 2."""
    return np.maximum(moments.rest - 0.5 * moments.curve**2, 0.0)


def _noise(
    activation: Activation,
    moments: FeatureMoments,
    shifts: Float[np.ndarray, "r k t b"],
    scales: Float[np.ndarray, "r k t b"],
    correlation: Float[np.ndarray, " t"],
) -> Float[np.ndarray, "r k t b b"]:
    """Covariance in a group of what is beyond degree 2."""
    noise = _beyond(moments)[..., None] * np.eye(shifts.shape[-1])
    if shifts.shape[-1] == 2:
        cosine = np.broadcast_to(correlation, shifts.shape[:3])
        product = pair_product(activation, shifts, scales, cosine)
        product -= np.prod(moments.mean, axis=3) + cosine * np.prod(moments.slope, axis=3)
        product -= 0.5 * cosine**2 * np.prod(moments.curve, axis=3)
        noise[..., 0, 1] = noise[..., 1, 0] = product
    return noise


@dataclass(frozen=True)
class LabelDegrees:
    """h0, h1 and h2 of the label on the nodes, and the power of what remains.

    ``parts`` -> h1 along the target's directions outside v, h2 along products of two of them.
    """

    mean: Float[np.ndarray, " m"]
    parts: tuple[Float[np.ndarray, "m q"], Float[np.ndarray, "m s"]]
    remaining: Float[np.ndarray, " m"]


def labels_by_degree(
    labels: LabelMoments,
    squares: Float[np.ndarray, " m"],
    outside: float,
    metric: Float[np.ndarray, "q q"] | None = None,
) -> LabelDegrees:
    """The label by its degree in directions on the sphere: the trace of h2 goes with the radius.

    ``metric`` -> Sigma/m_2 along the label's directions, 1 unless given: the radius is that of
    Sigma^(1/2) z, and sees so much of each.

    (rho^2 - 1)/sqrt(2/outside) is a unit function of x along the trace of h2/sqrt(outside).  What
    is left of h2 has lost the power of it.  ``squares`` -> rho^2 at each node.
    """
    q = labels.slope.shape[1]
    metric = np.eye(q) if metric is None else metric
    trace = np.sum(labels.curve * metric, axis=(1, 2))
    taken = _taken(float(np.sum(metric**2)), outside)
    curve = labels.curve - taken * trace[:, None, None] * metric
    power = np.sum(labels.curve**2, axis=(1, 2))
    return LabelDegrees(
        mean=labels.mean + (squares - 1.0) * trace / math.sqrt(2.0),
        parts=(labels.slope, curve.reshape(len(curve), -1)),
        remaining=np.maximum(labels.rest - power, 0.0),
    )
