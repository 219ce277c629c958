"""Outliers of a given weight matrix against a bulk that is fitted to the matrix itself.

W (p x d) is taken as noise and few outliers.  The noise has independent entries of variance
sigma^2 a_i b_j, rows and columns of one scale unless their squares tell them apart, the rows or the
columns but not both (giantstep.spectra.scales).  For k = 0 and then for as many outliers as were
found:

    take away the leading k singular components; what is left is noise of (p - k) x (d - k);
    fit the scales and sigma to it, and the edge of its law (giantstep.spectra.noise);
    put its entries in random order, again and again: the largest singular value of that noise
    exceeds the threshold with probability ``level``;
    count the singular values of W above the threshold, until there are no more than k.

So the rate holds for entries that are not Gaussian.  A bulk that differs from the fitted law by
more than independent entries do (correlated, sparse, low-rank, heavy-tailed weights) is refused.
See docs/derivations/layer.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from giantstep.errors import InputError, NoTheoryError
from giantstep.language.brief import brief
from giantstep.records.drawing import Drawn
from giantstep.spectra.noise import Calibration, NoiseLaw, calibrate_noise, spike
from giantstep.spectra.scales import Scales, fitted_scales

LEVEL = 0.01
"""False-positive rate unless told otherwise."""


@dataclass(frozen=True)
class LayerOutliers(Drawn):
    """Singular values of W beyond its own bulk, in decreasing order, k of them.

    ``deviation`` is sigma, the standard deviation of an entry of the noise; ``row_scales`` and
    ``column_scales`` are the variances a_i and b_j, of mean one, and nan for zero rows (columns),
    which are left out.  ``edge`` is the end of the bulk and ``threshold`` what noise exceeds with
    probability ``level``; ``p_values`` are those of the outliers.  ``neurons`` (left) and
    ``directions`` (right) are their singular vectors, ``strengths`` the singular values theta that
    the outliers would have without the noise, ``neuron_cosines`` and ``direction_cosines`` the
    |cosines| to be expected between the vectors and those without noise.  ``misfit`` is the largest
    number of singular values by which the bulk is ahead of its law or behind it, ``misfit_limit``
    what noise does not exceed.  ``density`` is that of the bulk on ``grid``.

    W = diag(rows) Z diag(columns) + finite rank, Z of independent entries; a spike of strength
    theta shows at a singular value above it (docs/derivations/layer.md, arXiv 1103.2221).
    """

    singular_values: Float[np.ndarray, " m"]
    deviation: float
    row_scales: Float[np.ndarray, " p"]
    column_scales: Float[np.ndarray, " d"]
    edge: float
    threshold: float
    level: float
    p_values: Float[np.ndarray, " k"]
    neurons: Float[np.ndarray, "p k"]
    directions: Float[np.ndarray, "k d"]
    strengths: Float[np.ndarray, " k"]
    neuron_cosines: Float[np.ndarray, " k"]
    direction_cosines: Float[np.ndarray, " k"]
    misfit: float
    misfit_limit: float
    grid: Float[np.ndarray, " q"]
    density: Float[np.ndarray, " q"]

    __repr__ = brief

    @property
    def count(self) -> int:
        """Number of outliers."""
        return len(self.p_values)

    @property
    def outliers(self) -> Float[np.ndarray, " k"]:
        """The singular values above the threshold."""
        return self.singular_values[: self.count]

    @property
    def shape(self) -> tuple[int, int]:
        """Neurons p and inputs d."""
        return len(self.row_scales), len(self.column_scales)

    @property
    def scales(self) -> str:
        """Which scales of the noise differ, in words."""
        parts = {"rows": self.row_scales, "columns": self.column_scales}
        differing = [name for name, values in parts.items() if np.ptp(values[values == values]) > 0]
        return " and ".join(differing) or "none"

    def as_dict(self) -> dict[str, Any]:
        """Everything but vectors and curves, with plain numbers."""
        p, d = self.shape
        shares = {"neurons": self.neurons.T, "directions": self.directions}
        taking_part = {
            name: [1.0 / float(np.sum(v**4)) for v in vectors] for name, vectors in shares.items()
        }
        return {
            "p": p,
            "d": d,
            "zero_rows": int(np.sum(np.isnan(self.row_scales))),
            "zero_columns": int(np.sum(np.isnan(self.column_scales))),
            "level": self.level,
            "deviation": self.deviation,
            "differing_scales": self.scales,
            "edge": self.edge,
            "threshold": self.threshold,
            "misfit": self.misfit,
            "misfit_limit": self.misfit_limit,
            "outliers": [
                {
                    "singular_value": float(self.outliers[k]),
                    "p_value": float(self.p_values[k]),
                    "strength": float(self.strengths[k]),
                    "neuron_cosine": float(self.neuron_cosines[k]),
                    "direction_cosine": float(self.direction_cosines[k]),
                    "neurons": taking_part["neurons"][k],
                    "inputs": taking_part["directions"][k],
                }
                for k in range(self.count)
            ],
        }

    def arrays(self) -> dict[str, Float[np.ndarray, "..."]]:
        """Values, vectors and curves by name."""
        return {
            "singular_values": self.singular_values,
            "outliers": self.outliers,
            "neurons": self.neurons,
            "directions": self.directions,
            "row_scales": self.row_scales,
            "column_scales": self.column_scales,
            "grid": self.grid,
            "density": self.density,
        }


@dataclass(frozen=True)
class _Split:
    """A matrix with no more rows than columns, and its singular components."""

    matrix: Float[np.ndarray, "m n"]
    left: Float[np.ndarray, "m m"]
    values: Float[np.ndarray, " m"]
    right: Float[np.ndarray, "m n"]

    def noise(self, k: int) -> Float[np.ndarray, "m n"]:
        """The noise that the leading k components leave, each entry at its full variance.

        They take the shares U_i = sum_k u_ki^2 of a row's noise and V_j = sum_k v_kj^2 of a
        column's.  A row or column of which they take more than half is unknown, nan.
        """
        noise = self.matrix - (self.left[:, :k] * self.values[:k]) @ self.right[:k]
        shares = [1.0 - np.sum(part**2, axis=0) for part in (self.left[:, :k].T, self.right[:k])]
        rows, columns = (np.where(share > 0.5, share, np.nan) for share in shares)
        return noise / np.sqrt(rows[:, None] * columns)


@dataclass(frozen=True)
class _Fit:
    """Noise fitted to what k leading components leave."""

    k: int
    scales: Scales
    law: NoiseLaw
    calibration: Calibration
    sigma: float
    values: Float[np.ndarray, " noise"]

    @property
    def misfit(self) -> float:
        """By how many singular values the noise is ahead of its law or behind it, at most."""
        return self.law.misfit(self.values / self.sigma)


def layer_outliers(weights: ArrayLike, level: float = LEVEL, seed: int = 0) -> LayerOutliers:
    """Outliers of any weight matrix against its own bulk, at false-positive rate ``level``.

    weights -> W with a row for each neuron; its transpose has the same singular values, with
    neurons and directions exchanged.  level -> probability that noise of these entries, sizes and
    scales shows an outlier.  seed -> of the random orders of the entries.

    Independent entries around a part of small rank are assumed; where no such bulk fits,
    NoTheoryError says so (docs/derivations/layer.md, arXiv 1103.2221).

    docs/derivations/layer.md, eq. (1).

    >>> import numpy as np
    >>> from giantstep import layer_outliers
    >>> weights = np.random.default_rng(0).standard_normal((60, 40))
    >>> weights[:, 3] += 3.0
    >>> layer_outliers(weights).count
    1
    """
    matrix = _checked(weights)
    kept = np.any(matrix != 0, axis=1), np.any(matrix != 0, axis=0)
    nonzero = matrix[np.ix_(*kept)]
    _check_size(nonzero)
    tall = nonzero.shape[0] > nonzero.shape[1]
    wide = nonzero.T if tall else nonzero
    split = _Split(wide, *np.linalg.svd(wide, full_matrices=False))
    fit = _fitted(split, level, seed)
    _check_single_weights(split, fit.k)
    return _outliers(split, fit, level, kept, tall)


def _outliers(
    split: _Split,
    fit: _Fit,
    level: float,
    kept: tuple[Bool[np.ndarray, " p"], Bool[np.ndarray, " d"]],
    tall: bool,
) -> LayerOutliers:
    """The record of what lies above the threshold of a fit.

    kept -> rows and columns that are not zero; tall -> whether the split is that of W^T.
    """
    threshold = fit.sigma * fit.calibration.threshold(fit.law, level)
    values = split.values[: fit.k]
    values = values[values > threshold]
    k = len(values)
    spikes = np.array([spike(fit.law, value / fit.sigma) for value in values]).reshape(k, 3)
    sides = [
        (split.left[:, :k], fit.scales.rows, spikes[:, 1]),
        (split.right[:k].T, fit.scales.columns, spikes[:, 2]),
    ]
    (neurons, rows, neuron_cosines), (directions, columns, direction_cosines) = (
        sides[::-1] if tall else sides
    )
    places, density = fit.law.curve
    return LayerOutliers(
        singular_values=split.values,
        deviation=fit.sigma / math.sqrt(fit.law.scales.shape[1]),
        row_scales=_spread(rows, kept[0], np.nan),
        column_scales=_spread(columns, kept[1], np.nan),
        edge=fit.sigma * fit.law.edge,
        threshold=threshold,
        level=level,
        p_values=np.array([fit.calibration.p_value(fit.law, v / fit.sigma) for v in values]),
        neurons=_spread(neurons, kept[0], 0.0),
        directions=_spread(directions, kept[1], 0.0).T,
        strengths=fit.sigma * spikes[:, 0],
        neuron_cosines=neuron_cosines,
        direction_cosines=direction_cosines,
        misfit=fit.misfit,
        misfit_limit=fit.law.misfit_limit,
        grid=fit.sigma * places,
        density=density / fit.sigma,
    )


def _checked(weights: ArrayLike) -> Float[np.ndarray, "p d"]:
    """Weights as finite real numbers in two dimensions."""
    matrix = np.asarray(weights)
    if matrix.dtype.kind not in "iuf":
        raise InputError(f"weights must be real numbers, got dtype {matrix.dtype}")
    if matrix.ndim != 2:
        hint = "; reshape a kernel to (outputs, inputs * positions)" if matrix.ndim > 2 else ""
        raise InputError(
            f"weights must be a matrix, a row for each neuron, got shape {matrix.shape}{hint}"
        )
    matrix = matrix.astype(float)
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        i, j = bad[0]
        raise InputError(f"weights must be finite, got {matrix[i, j]} at row {i}, column {j}")
    return matrix


def _check_size(
    matrix: Float[np.ndarray, "p d"], least_side: int = 10, smallest: float = 1e-75
) -> None:
    """Refuse what is too small for a bulk, or of a size whose fourth powers are no numbers.

    least_side -> the middle half of 10 singular values, to which a bulk is fitted, is 6 of them.
    """
    p, d = matrix.shape
    if min(p, d) < least_side:
        raise InputError(
            f"weights must have at least {least_side} rows and columns that are not zero, "
            f"got {p} x {d}"
        )
    largest = float(np.max(np.abs(matrix)))
    if not smallest < largest < 1.0 / smallest:
        raise InputError(f"weights must be of a size that can be squared, got {largest:g}")


def _spread(values: np.ndarray, kept: np.ndarray, missing: float) -> np.ndarray:
    """Values of the rows that were kept, and ``missing`` for the others."""
    spread = np.full((len(kept), *values.shape[1:]), missing)
    spread[kept] = values
    return spread


def _fitted(
    split: _Split, level: float, seed: int, few: float = 0.2, least_with_scales: int = 900
) -> _Fit:
    """With one scale for all rows and columns if what is left has one, else with their own.

    few -> share of the singular values above which outliers are no longer few; least_with_scales ->
    weights from which on scales can be fitted to rows or columns: of smaller noise matrices with
    such scales .047 of 2,646 showed an outlier at .01, of larger ones .0056 of 4,785.
    """
    m, most = len(split.values), int(few * len(split.values))
    fit = _climb(split, level, seed, (False, False), few * m)
    differing = fitted_scales(split.noise(most if fit is None else fit.k)).differing
    if any(differing) and not all(differing):
        fit = _climb(split, level, seed, differing, few * m)
        if fit is not None:  # what is left may show that the other side differs as well
            others = fitted_scales(split.noise(fit.k) / fit.scales.deviations).differing
            differing = tuple(np.where(differing, differing, others))
    if all(differing):
        # With both fitted, a quarter of noise matrices of 60 x 25 showed an outlier at .01.
        raise NoTheoryError(
            "no bulk fits these weights: their rows and their columns both differ in scale, and "
            "the rate of outliers is not known then"
        )
    if any(differing) and split.matrix.size < least_with_scales:
        raise NoTheoryError(
            "no bulk fits these weights: their rows or columns differ in scale, which only "
            f"{least_with_scales} weights or more tell from outliers, got {split.matrix.size}"
        )
    if fit is None:
        raise NoTheoryError(
            f"no bulk fits these weights: more than {most} of their {m} singular values lie beyond "
            "the bulk of the others"
        )
    if fit.misfit > fit.law.misfit_limit:
        kind = "of one scale" if fit.scales.equal else "with scales of their own"
        raise NoTheoryError(
            f"no bulk fits these weights: {fit.misfit:.3g} of their {m} singular values are out of "
            f"place against the law of independent entries {kind}, whose noise allows "
            f"{fit.law.misfit_limit:.3g}"
        )
    return fit


def _check_single_weights(split: _Split, k: int, share: float = 0.5) -> None:
    """Refuse outliers that are one weight, as few entries of a heavy-tailed distribution are.

    share -> part of an outlier above which one weight makes it.
    """
    for left, right in zip(split.left[:, :k].T, split.right[:k], strict=True):
        i, j = np.argmax(np.abs(left)), np.argmax(np.abs(right))
        if abs(left[i] * right[j]) > share:
            raise NoTheoryError(
                f"no bulk fits these weights: a single one, {split.matrix[i, j]:.3g}, makes an "
                "outlier, as in heavy-tailed noise"
            )


def _climb(
    split: _Split, level: float, seed: int, differing: tuple[bool, bool], most: float
) -> _Fit | None:
    """Fit, count and take away until no more outliers are found; None where they are over ``most``.

    ``differing`` says whether rows, and whether columns, have scales of their own.
    """
    m, n = split.right.shape
    k = 0
    while k <= most:
        noise = split.noise(k)
        scales = fitted_scales(noise, *differing)
        law = NoiseLaw(scales.resized(m - k, n - k))
        values = split.values[k:][::-1]
        sigma = float(law.deviation(values))
        rounding = 1e-12 * split.values[0]
        if not sigma > rounding:
            zeros = int(np.sum(split.values <= rounding))
            raise NoTheoryError(
                f"no bulk fits these weights: {zeros} of their {m} singular values are zero"
            )
        entries = (noise / scales.deviations)[np.isfinite(noise)]
        calibration = calibrate_noise(law, entries - entries.mean(), seed)
        above = int(np.sum(split.values > sigma * calibration.threshold(law, level)))
        if above <= k:
            return _Fit(k, scales, law, calibration, sigma, values)
        # Scales that a stronger outlier has blurred may put the edge too low for the next.
        k = k + 1 if any(differing) else above
    return None
