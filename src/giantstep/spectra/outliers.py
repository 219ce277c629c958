"""Outliers of a spectrum: singular values beyond the bulk, at a stated false-positive rate.

Of pure noise the largest eigenvalue exceeds place + shift + scale q, q the Tracy-Widom quantile at
1 - level, with probability ``level``.  The scale is n^(-2/3), so narrow that corrections of order
1/n matter: those of Gaussian sampling and of rows on a sphere are part of the edge.  Those of
features depend on the activation and are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.language.brief import brief
from giantstep.spectra.bulk import Bulk, Edge
from giantstep.spectra.profile import ProfileBulk
from giantstep.spectra.tracy_widom import tail


@dataclass(frozen=True)
class Outliers:
    """Singular values beyond the bulk, each kind in decreasing order.

    ``above`` the upper threshold, ``between`` bulk intervals, ``below`` the lower threshold (zeros
    not counted); ``threshold`` and ``floor`` are singular values, ``level`` the false-positive rate
    at each end.

    The threshold is the quantile of the Tracy-Widom law of the edge at 1 - level
    (docs/derivations/bulk.md).
    """

    above: Float[np.ndarray, " a"]
    between: Float[np.ndarray, " b"]
    below: Float[np.ndarray, " c"]
    threshold: float
    floor: float
    level: float

    __repr__ = brief

    @property
    def count(self) -> int:
        """Number of singular values above the bulk."""
        return len(self.above)


def _limit(edge: Edge, level: float) -> float:
    """The singular value that noise passes with probability ``level`` at this end."""
    # A lower edge at zero, or within a fluctuation of it, can not be passed.
    eigenvalue = edge.place + edge.shift + edge.side * edge.scale * tail(level)
    return math.sqrt(max(eigenvalue, 0.0))


def upper_limit(bulk: Bulk | ProfileBulk, level: float) -> float:
    """The singular value that noise passes with probability ``level`` above the bulk."""
    return _limit(bulk.upper, level)


def count_outliers(
    singular_values: Float[np.ndarray, " m"], bulk: Bulk | ProfileBulk, level: float = 0.01
) -> Outliers:
    """Singular values outside the bulk, at false-positive rate ``level`` for each end of it.

    singular_values -> those of F/sqrt(n) (features, see ``centre``) or of W (weights).

    threshold = edge + scale * (quantile of Tracy-Widom at 1 - level), n and p large
    (docs/derivations/bulk.md).

    >>> import numpy as np
    >>> from giantstep import count_outliers, weight_bulk
    >>> count_outliers(np.array([1.9, 1.2, 1.0]), weight_bulk(100, 400)).count
    1
    """
    values = _sorted(singular_values)
    if isinstance(bulk, ProfileBulk):  # the fluctuations of its lower end are not known
        limits = [(0.0, upper_limit(bulk, level))]
    else:
        limits = [(_limit(low, level), _limit(high, level)) for low, high in bulk.ends]
    floor, threshold = limits[0][0], limits[-1][1]
    # Zeros of a matrix without full rank, up to rounding of the largest.
    positive = values[values > 1e-9 * values[0]] if values[0] > 0 else values[:0]
    inner = (positive <= threshold) & (positive >= floor)
    for low, high in limits:
        inner &= ~((positive >= low) & (positive <= high))
    return Outliers(
        positive[positive > threshold],
        positive[inner],
        positive[positive < floor],
        threshold,
        floor,
        level,
    )


def count_above(
    singular_values: Float[np.ndarray, " m"], edge: float, margin: float = 0.05
) -> Outliers:
    """Singular values above a given edge by a relative margin, where no bulk is predicted.

    Nothing is known of the false-positive rate then, and ``level`` is 1.
    """
    if not (edge > 0 and math.isfinite(edge)):
        raise InputError(f"edge must be positive, got {edge:g}")
    if not margin >= 0:
        raise InputError(f"margin must not be negative, got {margin:g}")
    values = _sorted(singular_values)
    threshold, none = edge * (1.0 + margin), np.zeros(0)
    return Outliers(values[values > threshold], none, none, threshold, 0.0, 1.0)


def _sorted(singular_values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    values = np.sort(np.asarray(singular_values, dtype=float))[::-1]
    if values.ndim != 1 or values.size == 0 or not np.all(np.isfinite(values)):
        raise InputError(f"singular_values must be finite numbers, got shape {values.shape}")
    return values


def centre(features: Float[np.ndarray, "n p"], neurons: bool = False) -> Float[np.ndarray, "n p"]:
    """Features less their mean over samples; with ``neurons`` less that over neurons as well.

    The first takes away the spike of c_0 != 0.  The second takes away the mode of |x|^2: c_2 != 0
    gives every neuron the same part c_2 (|x|^2/d - 1), whose spike is of the size of the bulk.  It
    also takes away part of a spike along a^2 after a giant step: use it before, or for noise.
    """
    centred = features - features.mean(axis=0)
    return centred - centred.mean(axis=1, keepdims=True) if neurons else centred
