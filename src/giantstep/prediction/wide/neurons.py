"""Types of neurons after giant steps, and the small normal coordinates in which they differ.

With the law of a row (giantstep.prediction.wide.row_law) and the matrices S and Y of
giantstep.prediction.wide.gradient, row i is

    sum_k along_k v_k + (kept + slope g_v) w + noise (rho S w + sqrt(1 - rho^2) Y^(1/2) w'),

g_v = <v_1, w>, rho the share of the noise that is linear in the row.  A type is a value of u.
Coordinates of w are N(0, 1/d): those along v, along the label's directions outside v, and along
the rests of S applied to these count to second order, each a *mode*.  See
docs/derivations/closed_system.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.prediction.labels import outside_of
from giantstep.prediction.wide.gradient import GradientMatrix, symmetric_powers
from giantstep.prediction.wide.network import TYPICAL, ReadoutStatistics, neuron_entries
from giantstep.prediction.wide.row_law import RowLaw, law_of_features
from giantstep.prediction.wide.seen_inputs import seen_inputs
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class NeuronTypes:
    """Neurons w = u.v + sum_j load_j omega_j, omega_j independent unit vectors outside v_1 .. v_k.

    A group is one neuron, or for the symmetric start the b = 2 neurons that began with one w.
    ``overlap`` -> v_k.w*_r; ``readout`` are the entries of a at the start, of mean square one.
    Directions outside v fall into classes q with ``shares``; a row loads those of each class alike.
    The classes are those of the noise in each of the ``blocks`` of the inputs, block by block.
    ``drift``, ``stretch`` and ``sideways`` are what a mode l, times sqrt(d), adds to u, to the
    square length outside v, and along each special direction e.  ``concentration`` -> m_2, the
    mean of the squared variances of the inputs, and ``metric`` -> Sigma/m_2 along the label's
    directions outside v, None for 1.

    docs/derivations/closed_system.md, eq. (9); docs/derivations/wide_blocks.md, eq. (9).
    """

    overlap: Float[np.ndarray, "k r"]
    weights: Float[np.ndarray, " t"]
    readout: Float[np.ndarray, "t b"]
    along: Float[np.ndarray, "t b k"]
    shares: Float[np.ndarray, " q"]
    load: Float[np.ndarray, "q t b j"]
    drift: Float[np.ndarray, "l t b k"]
    stretch: Float[np.ndarray, "l t b"]
    sideways: Float[np.ndarray, "e l t b"]
    blocks: int = 1
    concentration: float = 1.0
    metric: Float[np.ndarray, "o o"] | None = None

    def freedom(self, d: int) -> float:
        """Directions of equal variance outside v whose normals have the spread of |x|^2."""
        return (d - 1) / self.concentration

    @property
    def length(self) -> Float[np.ndarray, "t b"]:
        """s: the length of a row outside the learned direction."""
        return np.sqrt(np.einsum("q,qtbj->tb", self.shares, self.load**2))

    @property
    def even(self) -> NeuronTypes:
        """The same with noise that is even in each block: one class of directions for each."""
        shares, load = _one_class_each(self.shares, self.load, self.blocks)
        return replace(self, shares=shares, load=load)


def neuron_types(
    setting: Setting,
    size: float | None = None,
    statistics: ReadoutStatistics = TYPICAL,
    *,
    prune: bool = False,
    split: bool = False,
) -> NeuronTypes:
    """Quadrature over u: load^2 = (kept + noise rho s)^2 + noise^2 (1 - rho^2) y.

    The partners of a symmetric start have u and -u with one row: they share what is even in u, and
    move apart by what is odd.  ``size`` in place of the size of one step; ``prune``, for spectra,
    drops what fewer than a tenth of a neuron or than one sample of the step would have.  ``split``
    keeps the directions of the start and of the noise apart for single rows too.
    """
    u, weights = neuron_entries(setting, prune)
    paired = setting.start.kind.paired
    readout = np.stack([u, -u], axis=1) if paired else u[:, None]
    law, matrix = law_of_features(setting, readout, size, statistics, prune=prune)
    # Amplitudes of S and of what is left of the noise.
    inputs = seen_inputs(setting)
    scattered = inputs.moment(2) / math.sqrt(inputs.moment(3))
    turned = scattered * law.linear_share * law.noise
    apart = np.sqrt(1.0 - (scattered * law.linear_share) ** 2) * law.noise
    # Block by block: v^(1/2) (1 + growth v), and v times the noise.
    variance = np.repeat(inputs.variances, len(matrix.shares))[:, None, None]
    s = np.tile(matrix.values, len(inputs.shares))[:, None, None]
    y = np.tile(matrix.squares, len(inputs.shares))[:, None, None]
    common = np.sqrt(variance) * (1.0 + variance * (law.kept - 1.0)) + variance * turned * s
    alone = variance * apart * np.sqrt(y)
    two = paired or split
    load = np.stack([common, alone], axis=3) if two else np.hypot(common, alone)[..., None]
    inside, beside = _on_special(law, matrix)
    # The last mode is the length alone.
    length = np.zeros((len(inside), 1, *law.kept.shape))
    components = np.concatenate([inside, beside, length], axis=1)
    stretch = np.zeros(components.shape[1:])
    stretch[: matrix.special] = np.multiply.outer(_slope_modes(matrix), law.length_slope)
    # A normal vector of covariance C/d has 2 tr C^2/d^2 for the variance of its squared length.
    second = inputs.moment(2) - (0.0 if setting.start.kind.normal else 1.0)
    square = 2.0 * inputs.moment(4) * law.noise**4 + law.length_deviation**2
    square += 2.0 * second * law.kept**4
    stretch[-1] = np.sqrt(square)
    shares, load = _classes(
        np.multiply.outer(inputs.shares, matrix.shares).ravel(), load, len(inputs.shares)
    )
    k = len(law.overlap)
    label = k + len(outside_of(law.overlap))
    return NeuronTypes(
        overlap=law.overlap,
        weights=weights,
        readout=readout,
        along=law.along,
        shares=shares,
        load=load,
        drift=np.moveaxis(components[:k], 0, -1),
        stretch=stretch,
        sideways=components[k:],
        blocks=len(inputs.shares),
        concentration=inputs.moment(2),
        metric=matrix.covariance[k:label, k:label] / inputs.moment(2),
    )


def _on_special(
    law: RowLaw, matrix: GradientMatrix
) -> tuple[Float[np.ndarray, "z z t b"], Float[np.ndarray, "z z t b"]]:
    """What rows have along special directions, of their start and of noise, by S and Y there."""
    turned = law.linear_share * law.noise
    apart = np.sqrt(1.0 - law.linear_share**2) * law.noise
    # Without noise S and Y lead nowhere.
    special = len(matrix.on_special) if np.any(law.noise) else matrix.special
    sigma = matrix.covariance[:special, :special]
    start = symmetric_powers(sigma)[0]
    inside = np.multiply.outer(start, np.ones_like(law.kept))
    inside += np.multiply.outer(sigma @ start, law.kept - 1.0)
    moved = sigma @ matrix.on_special[:special, :special] @ start
    inside += np.multiply.outer(moved, turned)
    if matrix.carried is not None:
        first = slice(matrix.special)
        inside[first, first] = np.moveaxis(matrix.carried, (-2, -1), (0, 1))
    root = symmetric_powers(matrix.squares_on_special[:special, :special])[0]
    return inside, np.multiply.outer(sigma @ root, apart)


def _slope_modes(matrix: GradientMatrix) -> Float[np.ndarray, " s"]:
    """<beta, row> over |beta| by the modes of a row: beta is Sigma^-1 v, but for its length."""
    sigma = matrix.covariance[: matrix.special, : matrix.special]
    beta = np.linalg.solve(sigma, np.eye(matrix.special)[0])
    return np.asarray(symmetric_powers(sigma)[0] @ (beta / np.linalg.norm(beta)))


def _classes(
    shares: Float[np.ndarray, " q"],
    load: Float[np.ndarray, "q t b j"],
    blocks: int,
    even_to: float = 1e-3,
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, "c t b j"]]:
    """The classes as they are, or one a block of the same square lengths where they hardly differ.

    Loads that differ by less than ``even_to`` lengths of a row change what follows by its square.
    """
    even_shares, even = _one_class_each(shares, load, blocks)
    length = np.sqrt(np.sum(even**2, axis=3, keepdims=True))
    by_block = load.reshape(blocks, -1, *load.shape[1:])
    mean = np.einsum("q,cqtbj->ctbj", shares.reshape(blocks, -1).sum(axis=0), by_block)
    if np.any(np.abs(by_block - mean[:, None]) > even_to * length[:, None]):
        return shares, load
    return even_shares, even


def _one_class_each(
    shares: Float[np.ndarray, " q"], load: Float[np.ndarray, "q t b j"], blocks: int
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, "c t b j"]]:
    """Loads of equal square length that are the same in all directions of a block."""
    by_block = shares.reshape(blocks, -1)
    # Every block has the same classes, one direction without share of the axes among them.
    weights, loads = by_block.sum(axis=0), load.reshape(blocks, -1, *load.shape[1:])
    mean, square = (np.einsum("q,cqtbj->ctbj", weights, part) for part in (loads, loads**2))
    return by_block.sum(axis=1), np.asarray(np.copysign(np.sqrt(square), mean))
