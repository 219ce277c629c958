"""The bulk of the weights after giant steps: variance profile of what is not low-rank.

An entry of row i along direction j has variance (kept(u_i)^2 + spread(u_i) y_j)/d.  The noise of
the steps in row i is u_i/sqrt(p) (1/n) sum_mu rho_mu (sigma'(h_i mu) - c_1) x_mu, rho_mu = size
r_mu; with sigma' - c_1 = l h + .., l = E[z sigma'], its covariance over directions is K^2 + S,

    K = l (X^T diag(rho) X/n - mean),   S = (d/n) (Var sigma' - l^2) X^T diag(rho^2) X/n,

so y_j are the eigenvalues of K^2 + S scaled to mean one.
"""

from __future__ import annotations

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
    """Row types and directions: entry variance (kept_square_t + spread_t directions_j) / d.

    ``weights`` -> shares of the row types t (one a node u of the readout's law), ``kept_square``
    the factor left of the start's variance, ``spread`` the variance the steps added, ``directions``
    equally weighted atoms y_j of mean one.  ``paired`` rows u and -u share their start, and their
    noise but for its sign.
    """

    readout: Float[np.ndarray, " t"]
    weights: Float[np.ndarray, " t"]
    kept_square: Float[np.ndarray, " t"]
    spread: Float[np.ndarray, " t"]
    directions: Float[np.ndarray, " j"]
    paired: bool = False

    def factors(
        self, p: int, d: int
    ) -> tuple[Float[np.ndarray, "p two"], Float[np.ndarray, "d two"]]:
        """A (p x 2) and B (d x 2) with entry variances sum_k A_ik B_jk / d, for ``ProfileBulk``.

        Rows at the quantiles (i + 1/2)/p of the readout's law, columns at those of the y_j.
        """
        # Between two nodes the distribution function is taken as linear, at a node halfway up.
        heights = np.cumsum(self.weights) - 0.5 * self.weights
        at = np.interp((np.arange(p) + 0.5) / p, heights, np.arange(len(heights)))
        if len(heights) == 2:  # signs: two atoms, nothing between
            at = np.round(at)
        nodes = np.arange(len(heights))
        rows = [np.interp(at, nodes, values) for values in (self.kept_square, self.spread)]
        if self.paired:
            # Turned by 45 degrees, a pair is twice the start alone and twice the noise alone.
            half, none = p // 2, np.zeros(p // 2)
            both = [row[:half] + row[: -half - 1 : -1] for row in rows]
            rows = [np.concatenate([both[0], none]), np.concatenate([none, both[1]])]
        y = np.quantile(self.directions, (np.arange(d) + 0.5) / d)
        return np.stack(rows, axis=1), np.stack([np.ones(d), y], axis=1)


def bulk_profile(
    setting: Setting, statistics: ReadoutStatistics = TYPICAL, most_directions: int = 256
) -> BulkProfile:
    """The profile after the last step of the setting.

    The y_j come from one draw, with a fixed seed, of the residuals and of a Gaussian matrix of the
    same d/n with at most ``most_directions``, for moments of a spectrum settle as 1/d.  Residuals
    are independent of that matrix, so that what labels do to a few directions is not in them.

    docs/derivations/bulk.md, eq. (9).
    """
    refuse_beyond(ONE_TO_FOUR, setting)
    network = Network(setting, statistics)
    update = update_after(network)
    u, weights = network.readout
    rng = np.random.default_rng(0)
    d = min(setting.d, most_directions)
    n = max(2, round(d * setting.n / setting.d))
    parts = residual_draws(network, n, rng)
    if network.reused:
        parts = [np.sum(parts, axis=0)]
    tilt = network.moments.tilt
    beyond_linear = max(network.moments.slope_variance - tilt**2, 0.0)
    linear, noise = np.zeros((d, d)), np.zeros((d, d))
    for rho in parts:
        x = rng.standard_normal((n, d))
        linear += tilt * ((x.T * rho) @ x / n - rho.mean() * np.eye(d))
        noise += d / n * beyond_linear * (x.T * rho**2) @ x / n
    variances = np.linalg.eigvalsh(linear @ linear + noise)
    mean = float(variances.mean())
    directions = np.maximum(variances, 0.0) / mean if mean > 0 else np.ones(d)
    return BulkProfile(
        readout=u,
        weights=weights,
        kept_square=update.kept**2,
        spread=update.spread,
        directions=directions,
        paired=network.paired,
    )


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
