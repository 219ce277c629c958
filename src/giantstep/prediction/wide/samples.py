"""What the samples of a second step on the first one's batch know of it: the law of (t, r_1).

t = beta.x leaves the sample itself out of beta; (t, z, g.x) is Gaussian with the Gram matrix of
(beta, w*, g), and r = y - s f_0 is the residual before the network's answer to step 1.  Derivation:
docs/derivations/two_step.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float, Int

from giantstep.gaussian.rules import Rule, gauss_hermite
from giantstep.prediction.labels import split_pairs, up_to_pairs
from giantstep.prediction.wide.network import Network


@dataclass(frozen=True)
class Masses:
    """Masses of the residual r = y - s f_0 on atoms of the samples.

    ``mass``, ``mean`` and ``square`` -> masses of 1, r and r^2.  ``first`` holds the masses of
    (z_1..z_r, g.x) and of r times them, ``second`` those of z z^T times 1, r and r^2.
    """

    mass: Float[np.ndarray, " m"]
    mean: Float[np.ndarray, " m"]
    square: Float[np.ndarray, " m"]
    first: Float[np.ndarray, "m two c"]
    second: Float[np.ndarray, "m three r r"]


@dataclass(frozen=True)
class Samples(Masses):
    """Masses on atoms of (t, r_1): ``step`` -> t, ``residual`` -> r_1."""

    step: Float[np.ndarray, " m"]
    residual: Float[np.ndarray, " m"]


@dataclass(frozen=True)
class GivenStep:
    """What a sample's t = beta.x says of its (z, g.x), and z beside it of r = y - scale f_0.

    ``across`` -> E[(z, g.x)]/t; ``root`` -> a root of the covariance of z given t; ``on_label`` ->
    the slope of g.x in z, both less their means, and ``variance`` that of g.x left given z.
    With y = f(z), r is Gaussian: ``pull`` times -g.x, and the deviation ``width``.
    """

    across: Float[np.ndarray, " c"]
    root: Float[np.ndarray, "r r"]
    on_label: Float[np.ndarray, " r"]
    variance: float
    pull: float
    width: float

    @property
    def back(self) -> float:
        """E[g.x | z, r] = its mean given z - back normal, for r - E[r | z] = width normal."""
        return self.pull * self.variance / self.width if self.width > 0 else 0.0


def given_step(network: Network) -> GivenStep:
    """Conditional moments of the Gaussian (t, z, g.x), whose covariance is ``network.gram``."""
    r, square = network.setting.target.r, network.gram[0, 0]
    across = network.gram[0, 1:] / square
    # Cov((z, g.x) | t) = 1 - (its covariance with t)^2 / Var t
    conditional = np.eye(r + 1) - np.outer(across, across) * square
    on_z, beside = conditional[:r, :r], conditional[:r, r]
    values, vectors = np.linalg.eigh(on_z)
    on_label = np.linalg.solve(on_z, beside)
    left = max(conditional[r, r] - float(on_label @ beside), 0.0)
    pull = network.start_feedback * network.moments.linear
    # In r beside y and E[g.x | z]: what is left of g.x, f_0 beyond its linear part, the noise.
    nonlinear = network.start_feedback**2 * network.moments.rest
    return GivenStep(
        across=across,
        root=vectors * np.sqrt(np.maximum(values, 0.0)),
        on_label=on_label,
        variance=left,
        pull=pull,
        width=math.sqrt(pull**2 * left + nonlinear + network.setting.noise**2),
    )


def batch_samples(
    network: Network, *, step_nodes: int = 24, residual_cells: int = 32, normal_nodes: int = 8
) -> Samples:
    """The law of (t, r) for the batch of step 2: r = y - s f_0 on it, t = beta.x.

    Given t, (z, g.x) is Gaussian; given z too, r - y is Gaussian with g.x.  Masses are shared
    between neighbours of a grid of r.
    """
    given = given_step(network)
    # Where the normal part of r is below a tenth of it, three nodes integrate its fifth power.
    small = given.width < 0.1 * math.sqrt(network.residual_square)
    normal = gauss_hermite((3 if small else normal_nodes) if given.width > 0 else 1)
    nodes, weights = gauss_hermite(step_nodes)
    deviation = math.sqrt(network.gram[0, 0])
    parts = [
        _atoms(network, given, normal, t=float(t), weight=float(weight), cells=residual_cells)
        for t, weight in zip(nodes * deviation, weights, strict=True)
    ]
    names = [field.name for field in fields(Samples)]
    return Samples(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})


def _atoms(
    network: Network, given: GivenStep, normal: Rule, *, t: float, weight: float, cells: int
) -> Samples:
    """The atoms of (t, r) at one t, of total mass ``weight``: masses of 1, r, r^2, (z, g.x), z z^T.

    Every point of the label shares its mass over the grid of r, once for each node of the normal
    part of r.
    """
    r = len(given.on_label)
    points, label_weights, signs = network.label_points
    # z and E[g.x | t, z]
    spread = points @ given.root.T
    z = t * given.across[:r] + spread
    linear = t * given.across[r] + spread @ given.on_label
    # r = y - offset - pull E[g.x | t, z] + width normal, over label nodes and normal nodes
    mean = signs * network.label_at(z) - network.offset - given.pull * linear
    residual = mean[:, None] + given.width * normal[0]
    grid = residual_grid(residual.ravel(), np.outer(label_weights, normal[1]).ravel(), cells)
    counted = weight * label_weights[:, None] * up_to_pairs(np.column_stack([linear, z]))
    masses = [_shared(grid, part, counted) for part in residual.T]
    nodes, shares = normal
    plain, first, products = split_pairs(np.tensordot(shares, masses, axes=1), r + 1)
    first = np.roll(first[:2], -1, axis=2)
    # g.x = E[g.x | t, z] - back normal
    moved = np.tensordot(shares * nodes, [mass[:2, :, 0] for mass in masses], axes=1)
    first[:, :, r] -= given.back * moved
    return Samples(
        step=np.full(cells, t),
        residual=grid,
        mass=plain[0],
        mean=plain[1],
        square=plain[2],
        first=np.moveaxis(first, 0, 1),
        second=np.moveaxis(products[..., 1:, 1:], 0, 1),
    )


def residual_grid(
    residual: Float[np.ndarray, " m"], share: Float[np.ndarray, " m"], cells: int
) -> Float[np.ndarray, " c"]:
    """Grid points from the least to the largest residual, spread by sinh from the mean.

    A sinh grid is even near the mean (spacing a tenth of the standard deviation) and geometric in
    the tails, which a polynomial of Gaussians may have.
    """
    mean = float(share @ residual / share.sum())
    deviation = math.sqrt(float(share @ (residual - mean) ** 2 / share.sum()))
    # A residual that takes one value still needs a grid with room between its points.
    deviation = max(deviation, 1e-6 * (1.0 + abs(mean)))
    # Mass below 1e-12 is not worth a grid point.
    kept = residual[share > 1e-12 * share.max()]
    low, high = (math.asinh(float(end - mean) / deviation) for end in (kept.min(), kept.max()))
    return mean + deviation * np.sinh(np.linspace(low, max(high, low + 1e-3), cells))


def _shared(
    grid: Float[np.ndarray, " c"],
    residual: Float[np.ndarray, " m"],
    counted: Float[np.ndarray, "m k"],
) -> Float[np.ndarray, "three c k"]:
    """Sums of ``counted`` times 1, r and r^2 over points that share their mass between neighbours.

    Points between two places of the grid are next to each other once they are sorted: the sums
    over them are one small matrix product.
    """
    lower, upper = _neighbours(grid, residual)
    # Sixteen bits are sorted by counting.
    order = np.argsort(lower.astype(np.int16), kind="stable")
    residual, upper, counted = residual[order], upper[order], counted[order]
    powers = np.stack([np.ones_like(residual), residual, residual**2])
    shares = np.concatenate([powers * (1.0 - upper), powers * upper])
    ends = np.searchsorted(lower[order], np.arange(len(grid)))
    sums = np.zeros((6, len(grid), counted.shape[1]))
    for cell in range(len(grid) - 1):
        part = slice(ends[cell], ends[cell + 1])
        sums[:, cell] = shares[:, part] @ counted[part]
    below, above = np.split(sums, 2)
    below[:, 1:] += above[:, :-1]
    return below


def _neighbours(
    grid: Float[np.ndarray, " c"], residual: Float[np.ndarray, " m"]
) -> tuple[Int[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """The grid point below each residual, and the share of the point above it."""
    lower = np.clip(np.searchsorted(grid, residual) - 1, 0, len(grid) - 2)
    return lower, np.clip((residual - grid[lower]) / (grid[lower + 1] - grid[lower]), 0.0, 1.0)
