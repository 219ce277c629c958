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

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.gradient import GradientMatrix, symmetric_powers
from giantstep.prediction.wide.network import TYPICAL, ReadoutStatistics, neuron_entries
from giantstep.prediction.wide.row_law import RowLaw, law_of_features
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class NeuronTypes:
    """Neurons w = u.v + sum_j load_j omega_j, omega_j independent unit vectors outside v_1 .. v_k.

    A group is one neuron, or for the symmetric start the b = 2 neurons that began with one w.
    ``overlap`` -> v_k.w*_r; ``readout`` are the entries of a at the start, of mean square one.
    Directions outside v fall into classes q with ``shares``; a row loads those of each class alike.
    ``drift``, ``stretch`` and ``sideways`` are what a mode l, times sqrt(d), adds to u, to the
    square length outside v, and along each special direction e.

    docs/derivations/closed_system.md, eq. (9).
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

    @property
    def length(self) -> Float[np.ndarray, "t b"]:
        """s: the length of a row outside the learned direction."""
        return np.sqrt(np.einsum("q,qtbj->tb", self.shares, self.load**2))

    @property
    def even(self) -> NeuronTypes:
        """The same with one class of directions: rows load all of them alike."""
        load = _one_class(self.shares, self.load)
        return replace(self, shares=np.ones(1), load=load)


def neuron_types(
    setting: Setting,
    size: float | None = None,
    statistics: ReadoutStatistics = TYPICAL,
    *,
    prune: bool = False,
) -> NeuronTypes:
    """Quadrature over u: load^2 = (kept + noise rho s)^2 + noise^2 (1 - rho^2) y.

    The partners of a symmetric start have u and -u with one row: they share what is even in u, and
    move apart by what is odd.  ``size`` in place of the size of one step; ``prune``, for spectra,
    drops what fewer than a tenth of a neuron or than one sample of the step would have.
    """
    u, weights = neuron_entries(setting, prune)
    paired = setting.start.kind.paired
    readout = np.stack([u, -u], axis=1) if paired else u[:, None]
    law, matrix = law_of_features(setting, readout, size, statistics, prune=prune)
    # Amplitudes of S and of what is left of the noise.
    turned = law.linear_share * law.noise
    apart = np.sqrt(1.0 - law.linear_share**2) * law.noise
    common = law.kept + turned * matrix.values[:, None, None]
    alone = apart * np.sqrt(matrix.squares)[:, None, None]
    load = np.stack([common, alone], axis=3) if paired else np.hypot(common, alone)[..., None]
    inside, beside = _on_special(law, matrix)
    # The last mode is the length alone.
    length = np.zeros((len(inside), 1, *law.kept.shape))
    components = np.concatenate([inside, beside, length], axis=1)
    stretch = np.zeros(components.shape[1:])
    stretch[0] = law.length_slope
    # A normal vector of square length l in d directions has 2 l^2/d for the variance of l.
    square = 2.0 * law.noise**4 + law.length_deviation**2
    if setting.start.kind.normal:
        square += 2.0 * law.kept**4
    stretch[-1] = np.sqrt(square)
    shares, load = _classes(matrix.shares, load)
    k = len(law.overlap)
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
    )


def _on_special(
    law: RowLaw, matrix: GradientMatrix
) -> tuple[Float[np.ndarray, "z z t b"], Float[np.ndarray, "z z t b"]]:
    """What rows have along special directions, of their start and of noise, by S and Y there."""
    turned = law.linear_share * law.noise
    apart = np.sqrt(1.0 - law.linear_share**2) * law.noise
    # Without a part of the noise that is linear in the row, S leads nowhere.
    special = len(matrix.on_special) if np.any(turned) else matrix.special
    inside = np.multiply.outer(np.eye(special), law.kept)
    inside += np.multiply.outer(matrix.on_special[:special, :special], turned)
    if matrix.carried is not None:
        first = slice(matrix.special)
        inside[first, first] = np.moveaxis(matrix.carried, (-2, -1), (0, 1))
    root = symmetric_powers(matrix.squares_on_special[:special, :special])[0]
    return inside, np.multiply.outer(root, apart)


def _classes(
    shares: Float[np.ndarray, " q"], load: Float[np.ndarray, "q t b j"], even_to: float = 1e-3
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, "c t b j"]]:
    """The classes as they are, or one of the same square lengths where they hardly differ.

    Loads that differ by less than ``even_to`` lengths of a row change what follows by its square.
    """
    even = _one_class(shares, load)
    length = np.sqrt(np.sum(even**2, axis=3, keepdims=True))
    mean = np.tensordot(shares, load, axes=1)
    if np.any(np.abs(load - mean) > even_to * length):
        return shares, load
    return np.ones(1), even


def _one_class(
    shares: Float[np.ndarray, " q"], load: Float[np.ndarray, "q t b j"]
) -> Float[np.ndarray, "1 t b j"]:
    """Loads of equal square length that are the same in all directions."""
    mean, square = (np.tensordot(shares, part, axes=1) for part in (load, load**2))
    return np.asarray(np.copysign(np.sqrt(square), mean))[None]
