"""Outliers of a spectrum: singular values beyond the bulk, at a stated false-positive rate.

Of pure noise the largest eigenvalue exceeds place + shift + scale q, q the Tracy-Widom quantile at
1 - level, with probability ``level``.  The scale is n^(-2/3), so narrow that corrections of order
1/n matter: those of Gaussian sampling and of rows on a sphere are part of the edge; those of
features, which depend on the activation, are measured on noise of small size (``calibrate``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.language.brief import brief
from giantstep.problem.activation import Activation
from giantstep.problem.starts import STARTS, Given, whole_space
from giantstep.spectra.bulk import Bulk, Edge
from giantstep.spectra.profile import ProfileBulk
from giantstep.spectra.start import FeatureBulk, feature_bulk
from giantstep.spectra.tracy_widom import tail, tracy_widom_moments


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


def noise_features(
    activation: Activation,
    n: int,
    d: int,
    p: int,
    key: np.random.Generator,
    start: str = "sphere",
    neurons: bool = False,
) -> Float[np.ndarray, "n p"]:
    """Centred features of the start, sigma(X W^T)/sqrt(n): pure noise at these sizes."""
    # Without a target.
    rows = STARTS[start].draw(whole_space(key, np.zeros((0, d))), p, Given(np.zeros((p, 0))))
    features = np.asarray(activation(key.standard_normal((n, d)) @ rows.T), dtype=float)
    return centre(features, neurons) / math.sqrt(n)


def calibrate(
    bulk: Bulk,
    draw: Callable[[np.random.Generator], Float[np.ndarray, "n p"]],
    runs: int = 200,
    seed: int = 0,
    most_spread: float = 1.5,
) -> Bulk:
    """The bulk with shift and spread of its upper edge measured on ``runs`` draws of pure noise.

    ``draw`` gives a matrix of the bulk's own size; the mean and variance of its largest eigenvalue
    are matched to Tracy-Widom's.  What is stored is free of n, offset = n (excess of the mean) and
    spread = n^2 (excess of the variance), so that a small size serves for a large one.

    most_spread -> ratio of the measured to Tracy-Widom's standard deviation above which these
    sizes are refused.  Sampling of 200 runs moves it by 5 %; at d = 100 tanh and relu give .9 to
    1.1, He1 + He2/2 1.2, He2 3.
    """
    from scipy.linalg import eigh

    if runs < 20:
        raise InputError(f"runs must be at least 20 for a calibration, got {runs}")
    mean, variance = tracy_widom_moments()
    plain = replace(bulk, offset=0.0, spread=0.0)
    edge, tops = plain.upper, np.empty(runs)
    for run in range(runs):
        matrix = draw(np.random.default_rng([seed, run]))
        wide = matrix.shape[0] <= matrix.shape[1]
        gram = matrix @ matrix.T if wide else matrix.T @ matrix
        last = len(gram) - 1
        tops[run] = eigh(gram, eigvals_only=True, subset_by_index=[last, last])[0]
    ratio = float(tops.std(ddof=1)) / (edge.scale * math.sqrt(variance))
    if ratio > most_spread:
        raise InputError(
            f"the largest eigenvalue of the noise fluctuates {ratio:.1f} times as much as "
            "Tracy-Widom's law: these sizes are too small for its bulk to serve"
        )
    n = bulk.size
    offset = n * (float(tops.mean()) - edge.place - edge.shift - edge.scale * ratio * mean)
    return replace(bulk, offset=offset, spread=n**2 * (ratio**2 - 1.0) * edge.scale**2 * variance)


def calibrated_feature_bulk(
    activation: Activation,
    n: int,
    d: int,
    p: int,
    start: str = "sphere",
    runs: int = 200,
    seed: int = 0,
    size: int = 100,
) -> FeatureBulk:
    """feature_bulk with its edge calibrated on noise of ``size`` inputs (or d if fewer).

    n and p of that noise keep their ratio to d.
    """
    ratio = min(1.0, size / d)
    copies = STARTS[start].copies
    sizes = (round(n * ratio), round(d * ratio), copies * round(p * ratio / copies))
    small = calibrate(
        feature_bulk(activation, *sizes, start=start),
        lambda key: noise_features(activation, *sizes, key=key, start=start),
        runs,
        seed,
    )
    return replace(
        feature_bulk(activation, n, d, p, start), offset=small.offset, spread=small.spread
    )
