"""What the samples of two fresh steps do to every row alike: the matrices S of both steps.

Step j adds (e_j u/sqrt p) S_j w to a row, S_j = X_j^T diag(r_j m'_j) X_j/n with m'_j = E sigma'' of
the row's preactivation, given what the sample shows of the step before.  On the learned directions
v_k and on those of the label outside them the matrices have the means D_j, which turn what a row
has there.  Elsewhere they are random with independent samples, so that their free cumulants add:
both together are one matrix S, in units in which its mean square is one.

A sample mu of step j is part of v_k: v_k.x_mu = kappa + delta Phi_k(mu), kappa as on a new sample.

The derivation is docs/derivations/finite_size.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.rules import gauss_hermite
from giantstep.prediction.labels import outside_of
from giantstep.prediction.wide.gradient import GradientMatrix, symmetric_powers
from giantstep.prediction.wide.network import SAMPLE_SPACING, Network
from giantstep.prediction.wide.samples import given_step
from giantstep.prediction.wide.update import batch_of

Vectors = Float[np.ndarray, "k r"]


@dataclass(frozen=True)
class Learned:
    """The learned directions: their overlaps with the target, and how the samples are in them.

    ``overlap`` -> v_k.w*_j; ``on_step`` -> v_k.beta; ``of_step`` -> the coefficient of beta in v_k,
    so that Phi_k = of_step r_1 on the samples of step 1; ``of_second`` -> Phi_k/r_2 at the nodes of
    t on those of step 2.
    """

    overlap: Float[np.ndarray, "k r"]
    on_step: Float[np.ndarray, " k"]
    of_step: Float[np.ndarray, " k"]
    of_second: Float[np.ndarray, "k m"]


@dataclass(frozen=True)
class BatchMoments:
    """E w^k, E[w^k zeta] and E[w^k zeta zeta^T] on samples of one step, k = 0 .. 4, w = r m'.

    ``turning`` -> E[w zeta zeta^T] for each u, ``scale`` -> (e_j/sqrt p) sqrt(delta E w^2).
    """

    powers: Float[np.ndarray, " k"]
    linear: Float[np.ndarray, "k z"]
    spreads: Float[np.ndarray, "k z z"]
    turning: Float[np.ndarray, "q z z"]
    scale: float


def learned_of(network: Network, overlap: Vectors, shares: Float[np.ndarray, "q k"]) -> Learned:
    """How beta and the samples of step 2 are in v_k = sum_u shares_k(u) R(u)."""
    batch, length = batch_of(network), _length_of_step(network)
    u = network.readout[0]
    first, second = network.size(0) * network.gain * u, network.size(1)
    psi = u[:, None] * batch.slopes.mean
    projected = psi @ batch.along
    # The one direction of the step before is beta over its length.
    population = np.linalg.solve(batch.gram, projected.T)[0] / length
    on_step = first * length**2 + second * projected[:, 0] * length
    return Learned(
        overlap=overlap,
        on_step=shares.T @ on_step,
        of_step=shares.T @ (first + second * population),
        of_second=second * shares.T @ psi,
    )


def applies_to(network: Network) -> bool:
    """Whether two steps were taken on fresh samples, the first along one direction beta."""
    fresh = network.setting.steps == 2 and not network.reused
    return fresh and batch_of(network).coordinates.shape[1] == 1


def _length_of_step(network: Network) -> float:
    """|beta|, with the sign of the direction that samples of step 2 know: R = e_1 c_1 u beta."""
    u, weights = network.readout
    along = batch_of(network).loading[:, 0]
    return float((weights * u) @ along) / (network.size(0) * network.gain)


def special_coordinates(overlap: Vectors) -> Float[np.ndarray, "z c"]:
    """L with zeta = L (z, kappa): kappa, and the coordinates of the label outside v_1 .. v_k."""
    k, r = overlap.shape
    outside = outside_of(overlap)
    solved = np.linalg.solve(outside @ outside.T, outside) if len(outside) else outside
    return np.block([[np.zeros((k, r)), np.eye(k)], [solved, -solved @ overlap.T]])


def first_moments(network: Network, learned: Learned) -> BatchMoments:
    """The moments on the samples of step 1, w = r_1 E sigma''."""
    points, weights, signs = network.label_points
    noise, shares = gauss_hermite(4)
    residual = (signs * network.label_at(points) - network.offset)[:, None]
    residual = residual + math.sqrt(network.noise_square) * noise
    overlap, delta = learned.overlap, network.noise_ratio
    z = np.broadcast_to(points[:, None], (*residual.shape, points.shape[1]))
    kappa = z @ overlap.T + delta * residual[..., None] * learned.of_step
    spread = np.eye(len(overlap)) - overlap @ overlap.T
    tilt, mass = network.moments.tilt, weights[:, None] * shares
    moments = _moments(overlap, residual, z, kappa, mass, spread)
    turning = np.broadcast_to(tilt * moments[2][1], (len(network.readout[0]), *moments[2][1].shape))
    scale = network.size(0) / math.sqrt(network.setting.p) * tilt
    powers, linear, spreads = moments
    return BatchMoments(
        powers, linear, spreads, turning=turning, scale=scale * math.sqrt(delta * powers[2])
    )


def second_moments(network: Network, learned: Learned) -> BatchMoments:
    """The moments on the samples of step 2, w = r_2 m', m' the mean of u^2 E sigma''(A)."""
    batch, (u, law) = batch_of(network), network.readout
    slopes, delta = batch.slopes, network.noise_ratio
    spread = kappa_given_label(network, learned)[1]
    mean_curvature = (law * u**2) @ slopes.curvature
    size = len(special_coordinates(learned.overlap))
    totals = [np.zeros(5), np.zeros((5, size)), np.zeros((5, size, size))]
    turning = np.zeros((len(u), size, size))
    at = second_coordinate(network), batch.answer, learned.of_second.T
    for j, (t, answer, of_second) in enumerate(zip(*at, strict=True)):
        sample = second_samples(
            network, learned, t=float(t), answer=float(answer), of_second=of_second
        )
        mass = batch.mass[j] * sample.mass
        parts = _moments(learned.overlap, sample.residual, sample.z, sample.kappa, mass, spread)
        turning += slopes.curvature[:, j, None, None] * parts[2][1]
        factors = mean_curvature[j] ** np.arange(5)
        for total, part in zip(totals, parts, strict=True):
            total += factors.reshape(-1, *[1] * (part.ndim - 1)) * part
    scale = network.size(1) / math.sqrt(network.setting.p)
    powers, linear, spreads = totals
    return BatchMoments(
        powers, linear, spreads, turning=turning, scale=scale * math.sqrt(delta * powers[2])
    )


@dataclass(frozen=True)
class SecondSamples:
    """Samples of step 2 with one value of t = beta.x, of total mass 1, on the label's points.

    ``residual`` -> r_2, ``z`` the target coordinates, ``kappa`` the mean of v_k.x given these.
    """

    mass: Float[np.ndarray, "m i"]
    residual: Float[np.ndarray, "m i"]
    z: Float[np.ndarray, "m i r"]
    kappa: Float[np.ndarray, "m i k"]


def second_coordinate(network: Network) -> Float[np.ndarray, " m"]:
    """t = beta.x at the atoms of the batch of step 2."""
    return _length_of_step(network) * batch_of(network).coordinates[:, 0]


def kappa_given_label(
    network: Network, learned: Learned
) -> tuple[Float[np.ndarray, "k c"], Float[np.ndarray, "k k"]]:
    """The regression of kappa on (t, z) on a new sample, and the covariance that is left."""
    gram = network.gram[: learned.overlap.shape[1] + 1, : learned.overlap.shape[1] + 1]
    right = np.column_stack([learned.on_step, learned.overlap])
    across = np.linalg.solve(gram, right.T).T
    return across, np.eye(len(right)) - across @ right.T


def second_samples(
    network: Network,
    learned: Learned,
    *,
    t: float,
    answer: float,
    of_second: Float[np.ndarray, " k"],
    nodes: int = 3,
    spacing: Mapping[int, float] = SAMPLE_SPACING,
) -> SecondSamples:
    """The samples at one t; ``answer`` -> s M and ``of_second`` -> Phi_k/r_2 there."""
    given = given_step(network)
    points, weights, signs = network.label_rule(spacing)
    r = points.shape[1]
    beside = points @ given.root.T
    z = t * given.across[:r] + beside
    linear = t * given.across[r] + beside @ given.on_label
    mean = signs * network.label_at(z) - network.offset - given.pull * linear - answer
    noise, shares = gauss_hermite(nodes)
    residual = mean[:, None] + given.width * noise
    z = np.broadcast_to(z[:, None], (*residual.shape, r))
    across = kappa_given_label(network, learned)[0]
    kappa = across[:, 0] * t + z @ across[:, 1:].T
    kappa = kappa + network.noise_ratio * residual[..., None] * of_second
    return SecondSamples(weights[:, None] * shares, residual, z, kappa)


def _moments(
    overlap: Vectors,
    residual: Float[np.ndarray, "m i"],
    z: Float[np.ndarray, "m i r"],
    kappa: Float[np.ndarray, "m i k"],
    mass: Float[np.ndarray, "m i"],
    spread: Float[np.ndarray, "k k"],
) -> list[Float[np.ndarray, "five ..."]]:
    """E r^k, E[r^k zeta], E[r^k zeta zeta^T]; ``spread`` -> the covariance of kappa given z, r."""
    coordinates = special_coordinates(overlap)
    r = z.shape[-1]
    both = np.concatenate([z, kappa], axis=-1).reshape(-1, coordinates.shape[1])
    zeta = both @ coordinates.T
    noise = coordinates[:, r:] @ spread @ coordinates[:, r:].T
    weighted = mass.ravel() * residual.ravel() ** np.arange(5)[:, None]
    powers = weighted.sum(axis=1)
    spreads = np.stack([(zeta.T * part) @ zeta for part in weighted])
    return [powers, weighted @ zeta, spreads + powers[:, None, None] * noise]


def matrix_of_both(
    network: Network, learned: Learned
) -> tuple[GradientMatrix, Float[np.ndarray, "q z z"], float]:
    """S of both steps, what the start of a row becomes on special directions, and its strength.

    The strength is T with T^2 u^2 the squared length of the noise that is linear in a row.

    docs/derivations/finite_size.md, eqs. (4), (5) and (6).
    """
    delta, u = network.noise_ratio, network.readout[0]
    batches = [first_moments(network, learned), second_moments(network, learned)]
    moved = [(network.size(j) / math.sqrt(network.setting.p) * u)[:, None, None] for j in (0, 1)]
    unit = np.eye(batches[0].linear.shape[1])
    turned = [unit + by * batch.turning for by, batch in zip(moved, batches, strict=True)]
    strength = math.hypot(*(batch.scale for batch in batches))
    if strength == 0.0:
        return GradientMatrix.even(len(unit)), turned[1] @ turned[0], 0.0
    # Moments of zeta' in units of E w^2, and the share of each step in the square of S.
    combined = np.zeros((5, *unit.shape))
    combined_power = 0.0
    for batch in batches:
        square = float(batch.powers[2])
        if square == 0.0:
            continue
        share = (batch.scale / strength) ** np.arange(5)
        share = share / square ** (0.5 * np.arange(5))
        centre = batch.linear[2] / square
        first = batch.linear - np.outer(batch.powers, centre)
        half = batch.spreads - np.einsum("kz,y->kzy", batch.linear, centre)
        both = half - np.einsum("z,ky->kzy", centre, first)
        combined += share[:, None, None] * both
        combined_power += share[3] * batch.powers[3]
    root, inverse = symmetric_powers(combined[2])
    inner = math.sqrt(delta) * inverse @ combined[3] @ inverse
    beside = unit + delta * inverse @ combined[4] @ inverse
    zero = np.zeros_like(unit)
    # Functions of three coordinates kappa and of rests beside them would be too many.
    size = len(unit) * (1 if len(learned.overlap) > 2 else 2)
    matrix = GradientMatrix(
        len(unit),
        np.block([[zero, root], [root, inner]])[:size, :size],
        np.block([[combined[2], zero], [zero, beside]])[:size, :size],
        *two_classes(float(combined_power), delta),
        np.eye(size),
    )
    return matrix, turned[1] @ turned[0], strength


def two_classes(
    third: float, delta: float, least: float = 0.05
) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, " q"], Float[np.ndarray, " q"]]:
    """(s, y, shares): two points with the mean, variance and third moment of S, y = 1 + drift s.

    They are the first two of the nodes that ``nodes_of`` has for one step; a polynomial in s stands
    for a positive matrix, and y keeps the share ``least`` of its mean.
    """
    drift = math.sqrt(delta) * third
    values, vectors = np.linalg.eigh(np.array([[0.0, 1.0], [1.0, drift]]))
    shares, squares = vectors[0] ** 2, np.maximum(1.0 + drift * values, least)
    return values, squares / (shares @ squares), shares
