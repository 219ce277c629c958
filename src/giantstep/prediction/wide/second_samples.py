"""The network before the first giant step, and what the samples of the second step know of it.

Notation, in place of the record's: a_i = (rms of a) u_i with E u^2 = 1, so that the network is
scale * sum_i u_i/sqrt(p) sigma(w_i.x) and row i moves by size_j u_i/sqrt(p) (1/n) sum r sigma' x.
beta = X^T r_1/n is the direction of step 1, g = W0^T u/sqrt(p) the linear part of the first
network, t = beta.x leaving the sample itself out.  Derivation: docs/derivations/two_step.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from giantstep.gaussian.rules import Rule, gauss_hermite
from giantstep.prediction.labels import label_grid
from giantstep.prediction.wide.step import (
    TYPICAL,
    Draw,
    readout_law,
    readout_norm,
)
from giantstep.problem.activation import ActivationMoments
from giantstep.problem.setting import Setting
from giantstep.problem.starts import STARTS

READOUT_NODES = 32
"""Nodes for the law of u, an even number: u = 0 moves nothing."""

STEP_NODES = 24
"""Gauss-Hermite nodes for t = beta.x."""

RESIDUAL_NODES = 32
"""Grid of the first residual for reused batches, between which the slopes are interpolated."""

REST_NODES = 8
"""Gauss-Hermite nodes for the part of the first residual that is Gaussian given the label; three
where it is below a tenth of the residual, which integrate its fifth power."""

LABEL_SPACING = {1: 0.004, 2: 0.15, 3: 0.6}
"""Of the grid over the coordinates of the label: moments of a label that jumps to 1e-3 on a line,
to 1e-2 in the plane and in space."""

# Smoothing the activation over this width changes its variance by 1e-6.
LEAST_WIDTH = 1e-3


@dataclass(frozen=True)
class Network:
    """The network before the first step, and the first residual r_1 = y - scale f_0.

    ``scale`` -> s_p |a|; ``feedback`` the same, or 0 where the residual is the label;
    ``start_feedback`` -> feedback of f_0, which the pairs of a symmetric start cancel;
    ``offset`` -> E f_0 = c_0 sum_i u_i/sqrt(p), one number a run; ``size`` -> scale * step_size.
    """

    setting: Setting
    draw: Draw = TYPICAL

    @cached_property
    def scale(self) -> float:
        return self.setting.scale * readout_norm(self.setting) * self.draw.norm

    @property
    def feedback(self) -> float:
        return self.scale if self.setting.residual == "full" else 0.0

    @property
    def paired(self) -> bool:
        return STARTS[self.setting.start].paired

    @property
    def start_feedback(self) -> float:
        return 0.0 if self.paired else self.feedback

    def size(self, step: int) -> float:
        return self.scale * self.setting.step_size[step]

    @property
    def noise_ratio(self) -> float:
        """delta = d/n."""
        return self.setting.d / self.setting.n

    @cached_property
    def readout(self) -> Rule:
        return readout_law(self.setting, READOUT_NODES)

    @property
    def moments(self) -> ActivationMoments:
        return self.setting.activation.moments

    @property
    def gain(self) -> float:
        """c_1 = E sigma', by which a gradient adds up."""
        return self.moments.slope

    @cached_property
    def label(self) -> tuple[float, float, Float[np.ndarray, " r"]]:
        """E y, Var y without noise, and f_1 = E[y z]."""
        points, weights, signs = self.label_points
        y = signs * self.label_at(points)
        mean = float(weights @ y)
        return mean, float(weights @ (y - mean) ** 2), (weights * y) @ points

    @cached_property
    def label_points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """z, weights and signs for E over z ~ N(0, I_r) and the sign of y = +-f(z)."""
        points, weights = label_grid(self.setting.target.r, LABEL_SPACING)
        flipped = self.setting.corruption
        if flipped == 0:
            return points, weights, np.ones(len(points))
        shares = np.concatenate([(1.0 - flipped) * weights, flipped * weights])
        return np.tile(points, (2, 1)), shares, np.repeat([1.0, -1.0], len(points))

    def label_at(self, z: Float[np.ndarray, "m r"]) -> Float[np.ndarray, " m"]:
        """f(z), without noise and flipped signs."""
        return np.asarray(self.setting.target([z[:, k] for k in range(z.shape[1])]), dtype=float)

    @property
    def offset(self) -> float:
        return self.start_feedback * self.moments.mean * self.draw.total

    @property
    def residual_mean(self) -> float:
        """E r_1."""
        return self.label[0] - self.offset

    @property
    def rest_square(self) -> float:
        """Variance of what is in r_1 beside the label: the noise and the network."""
        return self.setting.noise**2 + self.start_feedback**2 * self.moments.variance

    @property
    def residual_square(self) -> float:
        """E r_1^2 = (E y - offset)^2 + Var y + noise^2 + scale^2 Var sigma."""
        return self.residual_mean**2 + self.label[1] + self.rest_square

    @cached_property
    def target_squares(self) -> Float[np.ndarray, "r r"]:
        """E[r_1^2 z z^T]."""
        points, weights, signs = self.label_points
        shares = weights * (signs * self.label_at(points) - self.offset) ** 2
        return (points.T * shares) @ points + self.rest_square * np.eye(points.shape[1])

    @cached_property
    def gram(self) -> Float[np.ndarray, "m m"]:
        """Gram matrix of (beta, w*_1 .. w*_r, g): also the covariance of (t, z, g.x)."""
        slope = np.concatenate([self.label[2], [-self.start_feedback * self.moments.linear]])
        found = np.eye(len(slope) + 1)
        found[0, 0] = slope @ slope + self.noise_ratio * self.residual_square
        found[0, 1:] = found[1:, 0] = slope
        return found

    def widths(
        self, u: Float[np.ndarray, " q"]
    ) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, " q"]]:
        """Preactivation after step 1 = kept h + width zeta + (size_1/sqrt p) c_1 u t, fresh x."""
        strength = self.size(0) / math.sqrt(self.setting.p) * u
        kept = 1.0 + strength * self.moments.tilt * self.residual_mean
        spread = self.noise_ratio * self.moments.slope_variance * self.residual_square
        return kept, np.abs(strength) * math.sqrt(spread)


@dataclass(frozen=True)
class Samples:
    """Atoms of (t, r_1), or of t alone for fresh batches, with the masses the kernel needs.

    r is the residual before the network's own response to step 1.  ``first`` holds the masses of
    (z_1..z_r, g.x) and of r times them, ``second`` those of z z^T times 1, r and r^2.
    """

    step: Float[np.ndarray, " m"]
    residual: Float[np.ndarray, " m"]
    mass: Float[np.ndarray, " m"]
    mean: Float[np.ndarray, " m"]
    square: Float[np.ndarray, " m"]
    first: Float[np.ndarray, "m two c"]
    second: Float[np.ndarray, "m three r r"]


@dataclass(frozen=True)
class GivenStep:
    """What a sample's t = beta.x says of its (z, g.x), and z beside it of r = y - scale f_0.

    ``across`` -> E[(z, g.x)]/t; ``root`` -> a root of the covariance of z given t; ``on_label`` ->
    the slope of g.x in z, both less their means, and ``own`` the variance of g.x left given z.
    With y = f(z), r is Gaussian: ``pull`` times -g.x, and the deviation ``width``.
    """

    across: Float[np.ndarray, " c"]
    root: Float[np.ndarray, "r r"]
    on_label: Float[np.ndarray, " r"]
    own: float
    pull: float
    width: float

    @property
    def back(self) -> float:
        """E[g.x | z, rest] = its mean given z - back rest, for r - E[r | z] = width rest."""
        return self.pull * self.own / self.width if self.width > 0 else 0.0


def given_step(network: Network) -> GivenStep:
    """Conditional moments of the Gaussian (t, z, g.x), whose covariance is ``network.gram``."""
    r, variance = network.setting.target.r, network.gram[0, 0]
    across = network.gram[0, 1:] / variance
    # Cov((z, g.x) | t) = 1 - (its covariance with t)^2 / Var t
    conditional = np.eye(r + 1) - np.outer(across, across) * variance
    on_z, beside = conditional[:r, :r], conditional[:r, r]
    values, vectors = np.linalg.eigh(on_z)
    on_label = np.linalg.solve(on_z, beside)
    own = max(conditional[r, r] - float(on_label @ beside), 0.0)
    pull = network.start_feedback * network.moments.linear
    # What is in r beside y and E[g.x | z]: the rest of g.x, of f_0, and the noise.
    nonlinear = network.start_feedback**2 * network.moments.rest
    return GivenStep(
        across=across,
        root=vectors * np.sqrt(np.maximum(values, 0.0)),
        on_label=on_label,
        own=own,
        pull=pull,
        width=math.sqrt(pull**2 * own + nonlinear + network.setting.noise**2),
    )


def second_samples(network: Network) -> Samples:
    """The law of (t, r) for the batch of step 2: r = y - scale f_0 on it, t = beta.x.

    Given t, (z, g.x) is Gaussian; given z too, r - y is Gaussian with g.x.  Masses are shared
    between neighbours of a grid of r (one cell for fresh batches, where r is not in the slopes).
    """
    given, fresh = given_step(network), network.setting.batches == "fresh"
    # Fresh batches need the second moment of the rest only.
    small = fresh or given.width < 0.1 * math.sqrt(network.residual_square)
    rest = gauss_hermite(3 if small else REST_NODES)
    nodes, weights = gauss_hermite(STEP_NODES)
    deviation = math.sqrt(network.gram[0, 0])
    cells = 1 if fresh else RESIDUAL_NODES
    return _joined(
        [
            _atoms(network, given, rest, t=float(t), weight=float(weight), cells=cells)
            for t, weight in zip(nodes * deviation, weights, strict=True)
        ]
    )


def _joined(parts: list[Samples]) -> Samples:
    """All atoms of several lists."""
    names = [field.name for field in fields(Samples)]
    return Samples(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})


def _atoms(
    network: Network, given: GivenStep, rest: Rule, *, t: float, weight: float, cells: int
) -> Samples:
    """The atoms of (t, r) at one t, of total mass ``weight``: masses of 1, r, r^2, (z, g.x), z z^T.

    Every point of the label first shares its mass over the grid of r, in ``_shares``: what is left
    are products with functions of z.
    """
    r = len(given.on_label)
    points, label_weights, signs = network.label_points
    # z and E[g.x | t, z]
    spread = points @ given.root.T
    z = t * given.across[:r] + spread
    linear = t * given.across[r] + spread @ given.on_label
    # r = y - offset - pull E[g.x | t, z] + width rest, over label nodes and nodes of the rest
    mean = signs * network.label_at(z) - network.offset - given.pull * linear
    residual = mean[:, None] + given.width * rest[0]
    grid = residual_grid(residual.ravel(), np.outer(label_weights, rest[1]).ravel(), cells)
    shares = _shares(grid, residual, rest)
    counted = weight * label_weights
    plain = np.tensordot(shares[:3], counted, axes=(1, 0))
    known = np.column_stack([z, linear])
    first = np.tensordot(shares[:2], counted[:, None] * known, axes=(1, 0))
    # g.x = E[g.x | t, z] - back rest
    first[:, :, r] -= given.back * np.tensordot(shares[3:], counted, axes=(1, 0))
    products = (z[:, :, None] * z[:, None, :]).reshape(len(z), r * r)
    second = np.tensordot(shares[:3], counted[:, None] * products, axes=(1, 0))
    return Samples(
        step=np.full(cells, t),
        residual=grid,
        mass=plain[0],
        mean=plain[1],
        square=plain[2],
        first=np.moveaxis(first, 0, 1),
        second=np.moveaxis(second, 0, 1).reshape(cells, 3, r, r),
    )


def residual_grid(
    residual: Float[np.ndarray, " m"], share: Float[np.ndarray, " m"], cells: int
) -> Float[np.ndarray, " c"]:
    """Grid points from the least to the largest residual, spread by sinh from the mean.

    A sinh grid is even near the mean (spacing a tenth of the standard deviation) and geometric in
    the tails, which a polynomial of Gaussians may have.
    """
    if cells == 1:
        return np.array([share @ residual / share.sum()])
    mean = float(share @ residual / share.sum())
    deviation = math.sqrt(float(share @ (residual - mean) ** 2 / share.sum()))
    # A residual that takes one value still needs a grid with room between its points.
    deviation = max(deviation, 1e-6 * (1.0 + abs(mean)))
    # Mass below 1e-12 is not worth a grid point.
    kept = residual[share > 1e-12 * share.max()]
    low, high = (math.asinh(float(end - mean) / deviation) for end in (kept.min(), kept.max()))
    return mean + deviation * np.sinh(np.linspace(low, max(high, low + 1e-3), cells))


def _shares(
    grid: Float[np.ndarray, " c"], residual: Float[np.ndarray, "m k"], rest: Rule
) -> Float[np.ndarray, "five m c"]:
    """E over the rest of 1, r, r^2, rest and r rest at each point, shared between grid points."""
    nodes, weights = rest
    base = np.broadcast_to(weights, residual.shape)
    values = [base, base * residual, base * residual**2, base * nodes, base * residual * nodes]
    points, cells = len(residual), len(grid)
    if cells == 1:
        return np.stack([value.sum(axis=1, keepdims=True) for value in values])
    lower, upper = _neighbours(grid, residual)
    place = (np.arange(points)[:, None] * cells + lower).ravel()
    found = np.empty((len(values), points * cells))
    for kind, value in zip(found, values, strict=True):
        above = (value * upper).ravel()
        kind[:] = np.bincount(place, value.ravel() - above, minlength=points * cells)
        kind[1:] += np.bincount(place, above, minlength=points * cells)[:-1]
    return found.reshape(len(values), points, cells)


def _neighbours(
    grid: Float[np.ndarray, " c"], residual: Float[np.ndarray, "m k"]
) -> tuple[Int[np.ndarray, "m k"], Float[np.ndarray, "m k"]]:
    """The grid point below each residual, and the share of the point above it."""
    lower = np.clip(np.searchsorted(grid, residual) - 1, 0, len(grid) - 2)
    return lower, np.clip((residual - grid[lower]) / (grid[lower + 1] - grid[lower]), 0.0, 1.0)
