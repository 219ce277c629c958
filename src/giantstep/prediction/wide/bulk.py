"""The bulk of the weights after giant steps: variance profile of what is not low-rank.

The noise of the steps in row i is u_i/sqrt(p) (1/n) sum_mu rho_mu (sigma'(h_i mu) - c_1) x_mu,
rho_mu = size r_mu; with sigma' - c_1 = l h + .., l = E[z sigma'], row i is kept(u_i) w_i plus
u_i/sqrt(p) times K w_i and a Gaussian row of covariance S/d,

    K = l (X^T diag(rho) X/n - mean),   S = (d/n) (Var sigma' - l^2) X^T diag(rho^2) X/n.

With the noise written as noise(u_i) times a row of mean square one, an entry of row i along
direction j has the variance (kept^2 + 2 kept noise k_j + noise^2 y_j)/d, k_j and y_j those of K and
of K^2 + S along the direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from jaxtyping import Float

from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.batch import Batch
from giantstep.prediction.wide.limits import ONE_TO_FOUR
from giantstep.prediction.wide.network import TYPICAL, Network, ReadoutStatistics
from giantstep.prediction.wide.update import batch_of, networks_of, update_after
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class BulkProfile:
    """Row types t and directions j: entry variance (kept^2 + 2 kept noise k_j + noise^2 y_j)/d.

    ``weights`` -> shares of the row types (one a node u of the readout's law), ``kept`` the factor
    of a row's start, ``noise`` the length of what the steps added, with the sign of u;
    ``linear`` -> k_j and ``directions`` -> y_j, of mean one, of equally weighted directions.
    ``paired`` rows u and -u share their start, and their noise but for its sign.
    """

    readout: Float[np.ndarray, " t"]
    weights: Float[np.ndarray, " t"]
    kept: Float[np.ndarray, " t"]
    noise: Float[np.ndarray, " t"]
    linear: Float[np.ndarray, " j"]
    directions: Float[np.ndarray, " j"]
    paired: bool = False

    @property
    def kept_square(self) -> Float[np.ndarray, " t"]:
        """The factor left of the start's variance."""
        return self.kept**2

    @property
    def spread(self) -> Float[np.ndarray, " t"]:
        """The variance that the steps added."""
        return self.noise**2

    def factors(
        self, p: int, d: int
    ) -> tuple[Float[np.ndarray, "p three"], Float[np.ndarray, "d three"]]:
        """A (p x 3) and B (d x 3) with entry variances sum_k A_ik B_jk / d, for ``ProfileBulk``.

        Rows at the quantiles (i + 1/2)/p of the readout's law, columns at those of the directions.

        docs/derivations/bulk.md, eq. (9).
        """
        # Between two nodes the distribution function is taken as linear, at a node halfway up.
        heights = np.cumsum(self.weights) - 0.5 * self.weights
        at = np.interp((np.arange(p) + 0.5) / p, heights, np.arange(len(heights)))
        if len(heights) == 2:  # signs: two atoms, nothing between
            at = np.round(at)
        nodes = np.arange(len(heights))
        kept, noise = (np.interp(at, nodes, values) for values in (self.kept, self.noise))
        rows = [kept**2, 2.0 * kept * noise, noise**2]
        if self.paired:
            rows = _turned([row[: p // 2] + row[: p - p // 2 - 1 : -1] for row in rows])
        return np.stack(rows, axis=1), self._columns(d)

    def _columns(self, d: int) -> Float[np.ndarray, "d three"]:
        """1, k_j and y_j at d equally spaced ranks."""
        ranks = (np.arange(len(self.directions)) + 0.5) / len(self.directions)
        at = [
            np.interp((np.arange(d) + 0.5) / d, ranks, part)
            for part in (self.linear, self.directions)
        ]
        return np.stack([np.ones(d), *at], axis=1)


def _turned(both: list[Float[np.ndarray, " half"]]) -> list[Float[np.ndarray, " p"]]:
    """Rows of pairs, given the sums of both partners, turned so that one holds all of the start.

    That one is sqrt(A) + m/(2 sqrt(A)) K along the start, A and m the first two sums: it takes
    m^2/(4 A) of the noise, and the other row what is left.

    docs/derivations/bulk.md, eq. (9).
    """
    start, middle, noise = both
    held, none = middle**2 / (4.0 * start), np.zeros(len(start))
    return [
        np.concatenate(each)
        for each in ((start, none), (middle, none), (held, np.maximum(noise - held, 0.0)))
    ]


def bulk_profiles(
    setting: Setting, statistics: ReadoutStatistics = TYPICAL, draws: int = 16, most: int = 96
) -> tuple[BulkProfile, list[BulkProfile]]:
    """The profile after the last step of the setting, and those of single batches it averages.

    k_j and y_j come from ``draws`` of the residuals and of a Gaussian matrix of the same d/n with
    at ``most`` so many directions, with a fixed seed, averaged by their ranks.  Residuals are
    independent of that matrix, so that what labels do to a few directions is not in them.

    docs/derivations/bulk.md, eq. (9).
    """
    refuse_beyond(ONE_TO_FOUR, setting)
    network = Network(setting, statistics)
    update = update_after(network)
    u, weights = network.readout
    noise = np.sign(u) * np.sqrt(update.spread)
    rng = np.random.default_rng(0)
    middle = 2.0 * float(weights @ (update.kept * noise)), float(weights @ noise**2)
    drawn = [_directions(network, min(setting.d, most), middle, rng) for _ in range(draws)]
    linear, square = (np.array(part) for part in zip(*drawn, strict=True))
    mean = float(square.mean())
    linear, square = (
        (linear / math.sqrt(mean), square / mean) if mean > 0 else (linear, np.ones_like(square))
    )

    def profile(k: Float[np.ndarray, " j"], y: Float[np.ndarray, " j"]) -> BulkProfile:
        return BulkProfile(u, weights, update.kept, noise, k, y, network.paired)

    singles = [profile(k, y) for k, y in zip(linear, square, strict=True)]
    return profile(linear.mean(axis=0), square.mean(axis=0)), singles


def bulk_profile(setting: Setting, statistics: ReadoutStatistics = TYPICAL) -> BulkProfile:
    """The profile after the last step of the setting.

    docs/derivations/bulk.md, eq. (9).
    """
    return bulk_profiles(setting, statistics)[0]


def _directions(
    network: Network, d: int, middle: tuple[float, float], rng: np.random.Generator
) -> tuple[Float[np.ndarray, " j"], Float[np.ndarray, " j"]]:
    """K and K^2 + S along d directions of a drawn batch, in the order of what they add to the rows.

    K and K^2 + S do not commute.  Directions are those of their sum with the weights ``middle``
    that they have in the mean covariance of the rows; the edge is then right to 1e-4.
    """
    setting = network.setting
    n = max(2, round(d * setting.n / setting.d))
    parts = residual_draws(network, n, rng)
    if network.reused:
        parts = [np.sum(parts, axis=0)]
    tilt = network.moments.tilt
    beyond_linear = max(network.moments.slope_variance - tilt**2, 0.0)
    linear, rest = np.zeros((d, d)), np.zeros((d, d))
    variances = network.inputs.variances_of(d)
    for rho in parts:
        x = np.sqrt(variances) * rng.standard_normal((n, d))
        linear += tilt * ((x.T * rho) @ x / n - rho.mean() * np.diag(variances))
        rest += d / n * beyond_linear * (x.T * rho**2) @ x / n
    square = linear @ linear + rest
    length = np.sqrt(np.trace(square) / d)
    vectors = np.linalg.eigh(middle[0] * length * linear + middle[1] * square)[1]
    along = [np.einsum("ij,ij->j", vectors, part @ vectors) for part in (linear, square)]
    return along[0], along[1]


def residual_draws(
    network: Network, n: int, rng: np.random.Generator
) -> list[Float[np.ndarray, " n"]]:
    """size_j r_j on n samples, one array a step; the same samples where batches are reused."""
    draws: list[Float[np.ndarray, " n"]] = []
    networks = networks_of(network)
    for step, each in enumerate(networks):
        batch = batch_of(each)
        if not (draws and network.reused):
            # Samples that are used again have coordinates along the directions of both steps.
            gram = batch_of(networks[-1]).gram if network.reused else batch.gram
            coordinates, first = _draw(network, batch, gram, n, rng)
        at = coordinates[:, : batch.coordinates.shape[1]]
        if batch.crossed is not None:
            at = np.column_stack([coordinates[:, 0], first])
        draws.append(network.size(step) * (first - _answer(batch, at)))
    return draws


def _draw(
    network: Network,
    batch: Batch,
    gram: Float[np.ndarray, "c c"],
    n: int,
    rng: np.random.Generator,
) -> tuple[Float[np.ndarray, "n c"], Float[np.ndarray, " n"]]:
    """The known coordinates of n samples, those of the target and of g last, and r before s M."""
    share, own = batch.mass / batch.mass.sum(), batch.own
    coordinates = rng.standard_normal((n, len(gram))) @ np.linalg.cholesky(gram).T
    nonlinear = share @ own.variance + network.setting.noise**2
    label = network.label_at(coordinates[:, -1 - network.setting.target.r : -1])
    if network.setting.corruption > 0:
        label = np.where(rng.random(n) < network.setting.corruption, -label, label)
    residual = label - share @ own.offset - (share @ own.pull) * coordinates[:, -1]
    return coordinates, residual + np.sqrt(nonlinear) * rng.standard_normal(n)


def _answer(batch: Batch, at: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " n"]:
    """s M on samples: a cubic carries it from the atoms to where they are."""
    weights = np.sqrt(np.maximum(batch.mass, 0.0))
    basis, values = _cubic(batch.coordinates), weights * batch.answer
    coefficients = np.linalg.lstsq(basis * weights[:, None], values, rcond=None)[0]
    return np.asarray(_cubic(at) @ coefficients)


def _cubic(at: Float[np.ndarray, "m k"]) -> Float[np.ndarray, "m c"]:
    """Monomials of degree up to three in all coordinates."""
    factors = [
        list(each)
        for degree in range(4)
        for each in combinations_with_replacement(range(at.shape[1]), degree)
    ]
    return np.stack([np.prod(at[:, each], axis=1) for each in factors], axis=1)
