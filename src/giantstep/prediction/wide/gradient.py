"""What the samples of a step do to every row alike: the matrix S = X^T diag(r) X / n.

The part of sigma' that is linear in w.x adds e_1 a E[sigma'(z) z] S w to a row, and what is left
of sigma' noise of covariance X^T diag(r^2) X / n.  Both are drawn from the same n samples for all
rows.  Here S, less E r, is in units of sqrt(delta R2), delta = d/n and R2 = E r^2: its
mean square on a vector the label does not see is one.

Special directions are those that the label or the learned direction v know, zeta = (kappa, xi) the
coordinates of a sample of the step along them; then the rests of S applied to these, of S applied
to those, and of Y = X^T diag(r^2) X/(n R2) applied to the first.  v holds r_mu x_mu of each sample
mu: kappa = kappa' + (c delta/cu) r, kappa' as on fresh samples, and outside v sum_mu r_mu x_mu = 0,
so that rests see zeta' = zeta - E[r^2 zeta]/R2.  With
M_k = E[r^k zeta zeta^T] delta^(k/2 - 1)/R2^(k/2), M'_k and m'_k the same for zeta' zeta'^T and for
zeta' alone, G^2 = M'_2, B_k = G^-1 M'_k G^-1 and
C^2 = 1 + B_4 - (G^-1 m'_3)^2 - B_3^2, the first three blocks of S are

    [[M_1 - its part by E r, G, 0], [G, B_3, C], [0, C, ..]]                              (8)

and those of Y begin with M_2 and 1 + B_4.  What remains is that of a direction the label does not
see (``generic_blocks``).  Without a part of the noise that is linear in a row Y alone counts, with
the Jacobi matrix of its law.

Elsewhere S has free cumulants delta^(k/2 - 1) mu_k, mu_k = E r^k / R2^(k/2), and X^T diag(r^2) X/n
shares them with it (k -> k + 2 for each of the second): nodes s of the one and y of the other.
See docs/derivations/closed_system.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, pairwise

import numpy as np
from jaxtyping import Float
from scipy.linalg import block_diag

from giantstep.gaussian.rules import gauss_hermite, jacobi_matrix
from giantstep.prediction.labels import LABEL_SPACING, label_grid, outside_of
from giantstep.prediction.wide.network import TYPICAL, Network, ReadoutStatistics
from giantstep.prediction.wide.step import LearnedStep
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class GradientMatrix:
    """S on the special directions and its law elsewhere, in the units above.

    ``special`` -> the number of directions v and outside v that the label knows;
    ``on_special`` -> S on the special directions, ``squares_on_special`` -> that of
    X^T diag(r^2) X/(n R2); ``values`` -> s, ``squares`` -> y, of mean one, with their ``shares``;
    ``covariance`` -> Sigma on the special directions, 1 but for inputs in blocks;
    ``kurtosis`` -> E r^4/(E r^2)^2.  ``carried``, where given -> what the start of rows of entry u
    becomes on the first ``special`` directions, in place of kept and S there.
    """

    special: int
    on_special: Float[np.ndarray, "z z"]
    squares_on_special: Float[np.ndarray, "z z"]
    values: Float[np.ndarray, " q"]
    squares: Float[np.ndarray, " q"]
    shares: Float[np.ndarray, " q"]
    covariance: Float[np.ndarray, "z z"]
    kurtosis: float = 1.0
    carried: Float[np.ndarray, "*u s s"] | None = None

    @classmethod
    def even(cls, special: int) -> GradientMatrix:
        """Noise of which nothing is linear in a row, the same in all directions."""
        return cls(
            special=special,
            on_special=np.zeros((special, special)),
            squares_on_special=np.eye(special),
            values=np.zeros(1),
            squares=np.ones(1),
            shares=np.ones(1),
            covariance=np.eye(special),
        )


def gradient_matrix(
    setting: Setting,
    step: LearnedStep,
    statistics: ReadoutStatistics = TYPICAL,
    prune: bool = False,
) -> GradientMatrix:
    """S of the first step, from the moments of r and zeta over the label's nodes.

    ``prune`` drops labels so large that fewer than one of the n samples would have one: moments of
    the limit that no batch of this size has.

    docs/derivations/closed_system.md, eq. (8).
    """
    basis = step.axes.basis(outside_of(step.overlap))
    moments = _residual_moments(setting, step, statistics, basis, prune)
    size, network = moments.linear.shape[1], Network(setting, statistics)
    delta, square = network.noise_ratio, float(moments.powers[2])
    if not square > 0:  # labels that are all zero: nothing moves
        still = np.zeros((size, size))
        parts: tuple[np.ndarray, ...] = (still, still, *nodes_of(0.0, 1.0, delta))
    elif step.linear_share == 0.0 and step.noise_square > 0.0 and not prune:
        parts = _without_linear_part(moments, held_of(step), delta, law_of_squares(network))
    else:
        third, fourth = (moments.powers[3:5] / square ** np.array([1.5, 2.0])).tolist()
        # A spectrum would show Y's values on so few blocks as outliers: there Y acts by its mean
        # on S^k e, which are e alone without a linear part.
        kept = 4 * size if not prune else 3 * size if step.linear_share else size
        blocks = (part[:kept, :kept] for part in _four_blocks(moments, held_of(step), delta))
        parts = *blocks, *nodes_of(third, fourth, delta)
    on_special, squares_on_special, values, squares, shares = parts
    rests = [np.eye(size)] * (len(on_special) // size - 1)
    return GradientMatrix(
        special=size,
        on_special=on_special,
        squares_on_special=squares_on_special,
        values=values,
        squares=squares,
        shares=shares,
        covariance=block_diag(step.axes.covariance(basis), *rests),
        kurtosis=float(moments.powers[4]) / square**2 if square > 0 else 1.0,
    )


def held_of(step: LearnedStep) -> bool:
    """Whether the learned direction holds the samples of the step."""
    return bool(np.any(step.axes.held))


def _four_blocks(
    moments: _ResidualMoments, held: bool, delta: float
) -> tuple[Float[np.ndarray, "z z"], Float[np.ndarray, "z z"]]:
    """S and Y on the special directions and on the rests of S e, S^2 e and Y e.

    docs/derivations/closed_system.md, eq. (8).
    """
    square, size = float(moments.powers[2]), moments.linear.shape[1]
    unit, zero = np.eye(size), np.zeros((size, size))
    # zeta' = zeta - centre, and E[r^k zeta' ..] in units of R2^(k/2).
    centre = moments.linear[2] / square if held else np.zeros(size)
    units = square ** (0.5 * np.arange(5))
    first = (moments.linear - np.outer(moments.powers[:5], centre)) / units[:, None]
    half = (moments.spreads - np.einsum("kz,y->kzy", moments.linear, centre)) / units[:, None, None]
    both = half - np.einsum("z,ky->kzy", centre, first)
    root, inverse = symmetric_powers(both[2])
    inner = math.sqrt(delta) * inverse @ both[3] @ inverse
    twice = delta * inverse @ both[4] @ inverse
    lost = math.sqrt(delta) * inverse @ first[3] if held else np.zeros(size)
    out, back = symmetric_powers(unit + twice - np.outer(lost, lost) - inner @ inner)
    label = (moments.spreads[1] - moments.powers[1] * unit) / math.sqrt(delta * square)
    across = math.sqrt(delta) * half[3] @ inverse
    # The rest of Y e: its parts along those of S e and S^2 e, and what remains.
    pulled = moments.linear[3] / units[3] if held else np.zeros(size)
    beyond = (delta * (half[4] - np.outer(pulled, first[3])) @ inverse - across @ inner) @ back
    scattered = delta * (moments.spreads[4] / square**2 - np.outer(pulled, pulled))
    remaining, _ = symmetric_powers(scattered - across @ across.T - beyond @ beyond.T)
    s, y = generic_blocks(tuple((moments.powers / square ** (0.5 * np.arange(7))).tolist()), delta)
    linear = [
        [label, root, zero, zero],
        [root, inner, out, zero],
        [zero, out, inner + (s[2, 2] - s[1, 1]) * unit, s[2, 3] * unit],
        [zero, zero, s[2, 3] * unit, s[3, 3] * unit],
    ]
    squares = [
        [moments.spreads[2] / square, across, beyond, remaining],
        [across.T, unit + twice, y[1, 2] * unit, y[1, 3] * unit],
        [beyond.T, y[1, 2] * unit, y[2, 2] * unit, y[2, 3] * unit],
        [remaining, y[1, 3] * unit, y[2, 3] * unit, y[3, 3] * unit],
    ]
    return np.block(linear), np.block(squares)


def _without_linear_part(
    moments: _ResidualMoments, held: bool, delta: float, law: Float[np.ndarray, "b b"]
) -> tuple[Float[np.ndarray, "..."], ...]:
    """The fields of the matrix where no part of the noise is linear in a row: Y alone counts.

    Directions fall into classes by the law of Y, whose Jacobi matrix also continues the special
    directions: e, the rest of Y e, and so on.

    docs/derivations/closed_system.md, eq. (8).
    """
    square, size = float(moments.powers[2]), moments.linear.shape[1]
    pulled = moments.linear[3] / square**1.5 if held else np.zeros(size)
    scattered = delta * (moments.spreads[4] / square**2 - np.outer(pulled, pulled))
    on_special = np.kron(law, np.eye(size))
    first, second = slice(size), slice(size, 2 * size)
    on_special[first, first] = moments.spreads[2] / square
    on_special[first, second] = on_special[second, first] = symmetric_powers(scattered)[0]
    values, vectors = np.linalg.eigh(law)
    squares = np.maximum(values, 0.0)
    return np.zeros_like(on_special), on_special, np.zeros(len(law)), squares, vectors[0] ** 2


@lru_cache(maxsize=64)
def law_of_squares(
    network: Network, blocks: int = 6, size: int = 240, draws: int = 4
) -> Float[np.ndarray, "b b"]:
    """Jacobi matrix of the eigenvalues of Y = X^T diag(r^2) X/(n R2), whose mean is one.

    From some matrices with ``size`` inputs and drawn samples: sums over their eigenvalues deviate
    by 1/size from the limit.  Four and six ``blocks`` differ by 1 % in the test error at n = 0.75 d
    and a noise of nine times a row, six and more by 1e-3.
    """
    key, values = np.random.default_rng(0), []
    n, r = max(1, round(size / network.noise_ratio)), network.setting.target.r
    for _ in range(draws):
        label = network.label_at(key.standard_normal((n, r)))
        label = np.where(key.random(n) < network.setting.corruption, -label, label)
        noise = math.sqrt(network.noise_square) * key.standard_normal(n)
        squares = (label - network.offset + noise) ** 2
        x = key.standard_normal((n, size))
        values.append(np.linalg.eigvalsh((x.T * squares) @ x))
    pooled = np.maximum(np.concatenate(values), 0.0)
    shares = np.full(len(pooled), 1.0 / len(pooled))
    return jacobi_matrix((pooled / pooled.mean(), shares), blocks)


@lru_cache(maxsize=64)
def generic_blocks(
    moments: tuple[float, ...], delta: float
) -> tuple[Float[np.ndarray, "b b"], Float[np.ndarray, "b b"]]:
    """S and Y on e, S e, S^2 e and Y e made orthonormal, e a direction the label does not see.

    ``moments`` -> mu_k = E r^k/R2^(k/2), k = 0 .. 6.  Expectations of words in S and Y are sums
    over non-crossing partitions: blocks of a total power k of r count delta^(k/2 - 1) mu_k, but for
    S alone, whose mean is taken off.

    docs/derivations/closed_system.md, eq. (8).
    """

    def expectation(powers: tuple[int, ...]) -> float:
        if not powers:
            return 1.0
        total, after = 0.0, range(1, len(powers))
        for others in chain.from_iterable(combinations(after, k) for k in range(len(powers))):
            block = (0, *others, len(powers))
            power = sum(powers[i] for i in block[:-1])
            gaps = (powers[i + 1 : j] for i, j in pairwise(block))
            free = math.prod(expectation(gap) for gap in gaps) if power > 1 else 0.0
            total += delta ** (0.5 * power - 1.0) * moments[power] * free
        return total

    # Powers of r: 1 for S, 2 for Y.
    words: tuple[tuple[int, ...], ...] = ((), (1,), (1, 1), (2,))
    gram, linear, squares = (
        np.array(
            [[expectation((*left[::-1], *middle, *right)) for right in words] for left in words]
        )
        for middle in ((), (1,), (2,))
    )
    # Rounding must not make the Gram matrix singular where r^2 takes one value and delta is small.
    inverse = np.linalg.inv(np.linalg.cholesky(gram + 1e-12 * np.diag(np.diag(gram))))
    return inverse @ linear @ inverse.T, inverse @ squares @ inverse.T


@dataclass(frozen=True)
class _ResidualMoments:
    """E r^k, k = 0 .. 6, E[r^k zeta] and E[r^k zeta zeta^T], k = 0 .. 4, on samples of the step."""

    powers: Float[np.ndarray, " m"]
    linear: Float[np.ndarray, "k z"]
    spreads: Float[np.ndarray, "k z z"]


def _residual_moments(
    setting: Setting,
    step: LearnedStep,
    statistics: ReadoutStatistics,
    basis: Float[np.ndarray, "z z"],
    prune: bool,
) -> _ResidualMoments:
    """The moments in a basis of the special axes; s f_0 as if no direction shared it.

    A sample of the step has the coordinates w z + (1 - w w^T) normals + held r along the axes, w
    the target directions and z the coordinates of its label.
    """
    powers, linear, spreads = _label_moments(setting, statistics, prune)
    target, held = basis.T @ step.axes.target, basis.T @ step.axes.held
    outside = np.eye(len(basis)) - target @ target.T
    first, second = np.empty((5, len(basis))), np.empty((5, len(basis), len(basis)))
    for k in range(5):
        first[k] = target @ linear[k] + held * powers[k + 1]
        mixed = np.outer(target @ linear[k + 1], held)
        second[k] = target @ spreads[k] @ target.T + outside * powers[k] + mixed + mixed.T
        second[k] += np.outer(held, held) * powers[k + 2]
    return _ResidualMoments(powers, first, second)


def _label_moments(
    setting: Setting, statistics: ReadoutStatistics, prune: bool
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, "k r"], Float[np.ndarray, "k r r"]]:
    """E r^k, E[r^k z] and E[r^k z z^T], k = 0 .. 6, by quadrature; r = y + noise - s f_0."""
    network = Network(setting, statistics)
    points, weights = label_grid(setting.target.r, LABEL_SPACING)
    y = network.label_at(points)
    if setting.corruption > 0:  # flipped labels
        points, y = np.concatenate([points, points]), np.concatenate([y, -y])
        parts = (1.0 - setting.corruption, setting.corruption)
        weights = np.concatenate([part * weights for part in parts])
    if prune:
        points, y, weights = _reached(points, y, weights, setting.n)
    deviation = math.sqrt(network.noise_square)
    # The noise enters with powers up to six: four nodes are exact to degree 7.
    noise, noise_shares = gauss_hermite(4 if deviation > 0 else 1)
    residual = (y - network.offset)[:, None] + deviation * noise
    mass = weights * (residual[None] ** np.arange(7)[:, None, None] @ noise_shares)
    return (
        np.sum(mass, axis=1),
        mass @ points,
        np.array([(points.T * each) @ points for each in mass]),
    )


def _reached(
    points: Float[np.ndarray, "m r"],
    y: Float[np.ndarray, " m"],
    weights: Float[np.ndarray, " m"],
    n: int,
) -> tuple[Float[np.ndarray, "k r"], Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """The nodes whose |y| at least one of n samples is expected to reach; weights sum to one."""
    size = np.abs(y)
    order = np.argsort(-size)
    expected = n * np.cumsum(weights[order])
    largest = size[order][min(int(np.searchsorted(expected, 1.0)), len(size) - 1)]
    kept = size <= largest
    return points[kept], y[kept], weights[kept] / weights[kept].sum()


def symmetric_powers(
    matrix: Float[np.ndarray, "z z"],
) -> tuple[Float[np.ndarray, "z z"], Float[np.ndarray, "z z"]]:
    """The powers 1/2 and -1/2 of a positive matrix, of its range where rounding leaves no more."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.sqrt(np.maximum(values, 0.0))
    there = values > 1e-12 * np.max(values)
    inverse = np.where(there, 1.0 / np.where(there, roots, 1.0), 0.0)
    return (vectors * roots) @ vectors.T, (vectors * inverse) @ vectors.T


def nodes_of(
    third: float, fourth: float, delta: float, least: float = 0.05
) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, " q"], Float[np.ndarray, " q"]]:
    """(s, y, shares): six points with the moments of S and X^T diag(r^2) X/(n R2) to third order.

    The law of s has the Jacobi matrix of a free Meixner law, 0, 1, a_1 = sqrt(delta) mu_3,
    b_2^2 = 1 + delta X, X = mu_4 - mu_3^2: right to fourth order.  y is 1 + a_1 s
    + beta (s^2 - a_1 s - 1), beta = delta X/(1 + delta X), with variance beta beside.  A polynomial
    in s stands for a positive matrix: y keeps the share ``least`` of its mean.
    """
    drift = math.sqrt(delta) * third
    excess = delta * max(fourth - third**2, 0.0)
    jacobi = np.diag([0.0, drift, drift])
    jacobi[0, 1] = jacobi[1, 0] = 1.0
    jacobi[1, 2] = jacobi[2, 1] = math.sqrt(1.0 + excess)
    values, vectors = np.linalg.eigh(jacobi)
    beta = excess / (1.0 + excess)
    squares = 1.0 + drift * values + beta * (values**2 - drift * values - 1.0)
    centre = np.maximum(squares, least)
    # Two points of mean y and variance beta beside each s, both positive.
    below = np.minimum(math.sqrt(beta), (1.0 - least) * centre)
    above = beta / below if beta > 0 else below
    lower = above / (below + above) if beta > 0 else np.full(3, 0.5)
    shares = np.concatenate([lower, 1.0 - lower]) * np.tile(vectors[0] ** 2, 2)
    both = np.concatenate([centre - below, centre + above])
    return np.tile(values, 2), both / (shares @ both), shares
