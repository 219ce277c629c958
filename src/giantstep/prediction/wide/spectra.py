"""Predicted spectra at linear width: bulk, outliers, alignment and losses after every step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, NotConvergedError, NoTheoryError
from giantstep.prediction.wide.losses import Losses, losses
from giantstep.prediction.wide.outliers import feature_density, feature_outliers
from giantstep.prediction.wide.second_bulk import bulk_profile
from giantstep.prediction.wide.step import normalised_size
from giantstep.prediction.wide.two_steps import weight_outliers
from giantstep.problem.setting import Setting
from giantstep.spectra.bulk import Bulk
from giantstep.spectra.outliers import Outliers, count_above, count_outliers
from giantstep.spectra.profile import ProfileBulk
from giantstep.spectra.start import feature_bulk, weight_bulk

T = TypeVar("T")

GRID = 120
"""Points at which a density is given."""

LEVEL = 0.01
"""Rate at which noise is taken for an outlier, at each end of a bulk."""

STEP_MARGIN = 0.1
"""Beyond the edge of W after a step, relative: what the variance profile leaves out.

Heavy-tailed labels move the edge by that much, and a quadratic part of the target adds directions
2 c_2 f_2 (a o W w*) w*^T of size n^(alpha - 1/2) that stand just outside.
"""

LAST_EXPONENT = 0.5
"""Step sizes from n^(1/2) on are no perturbation: the expansion in spikes ends there."""


@dataclass(frozen=True)
class PredictedSpectrum:
    """Singular values of one matrix: the bulk up to ``edge``, and the outliers above it.

    What exceeds ``threshold`` counts as an outlier in data.  ``overlap`` -> |<v_k, w*_j>| of the
    outliers' right singular vectors (weights), ``left`` and ``right`` -> overlaps with h_k(kappa)
    and a^k (features).
    """

    edge: float
    threshold: float
    outliers: Float[np.ndarray, " k"]
    grid: Float[np.ndarray, " q"]
    density: Float[np.ndarray, " q"]
    overlap: Float[np.ndarray, "k r"] | None = None
    left: Float[np.ndarray, "k degrees"] | None = None
    right: Float[np.ndarray, "k degrees"] | None = None

    def detect(self, values: Float[np.ndarray, " m"]) -> Outliers:
        """The outliers among measured singular values."""
        return count_above(values, self.edge, self.threshold / self.edge - 1.0)


@dataclass(frozen=True)
class PredictedSpectra:
    """Steps 0..T; None where no theory covers the setting, and ``notes`` say why."""

    setting: Setting
    seconds: float
    weights: tuple[PredictedSpectrum | None, ...]
    features: tuple[PredictedSpectrum | None, ...]
    losses: tuple[Losses | None, ...]
    notes: tuple[str, ...]


def predict_spectra(setting: Setting) -> PredictedSpectra:
    """What theory says of weights, features and readout after each step, n, d, p in proportion."""
    begin = time.perf_counter()
    notes: list[str] = []
    weights, features, errors = [], [], []
    for step in range(setting.steps + 1):
        part = setting.vary(steps=step, step_size=setting.step_size[:step] or 1.0, runs=1)
        weights.append(_tried(_weights, part, notes))
        if setting.readout_n:
            features.append(_tried(_features, part, notes))
            errors.append(_tried(_losses, part, notes))
    notes += where_theory_ends(setting)
    seconds = time.perf_counter() - begin
    return PredictedSpectra(
        setting, seconds, tuple(weights), tuple(features), tuple(errors), tuple(notes)
    )


def _tried(function: Callable[[Setting], T], part: Setting, notes: list[str]) -> T | None:
    """What the theory gives, or None and a note that says why it does not apply."""
    try:
        return function(part)
    except (InputError, NoTheoryError, NotConvergedError) as error:
        name = function.__name__.strip("_")
        notes.append(f"no prediction of {name} after step {part.steps}: {error}")
        return None


def where_theory_ends(setting: Setting) -> list[str]:
    """A note where the step size is beyond what a perturbation of the features covers."""
    if setting.steps == 0:
        return []
    first = setting.vary(steps=1, step_size=setting.step_size[0])
    exponent = math.log(max(normalised_size(first), 1e-300)) / math.log(setting.n)
    if exponent < LAST_EXPONENT:
        return []
    return [
        f"the step size is n^{exponent:.2f} at unit |a| and output scale: the theory of spikes "
        "ends at n^0.50, and what follows is its continuation"
    ]


def _weights(setting: Setting) -> PredictedSpectrum:
    p, d = setting.p, setting.d
    start = weight_bulk(p, d, setting.start)
    if setting.steps == 0:
        return _with_bulk(start, np.zeros(0), np.zeros((0, setting.target.r)))
    found = weight_outliers(setting)[-1]
    bulk = ProfileBulk(*bulk_profile(setting).factors(p, d))
    # The edge of independent rows is below that of the profile: what lies between is bulk.
    beyond = found.singular_values > bulk.edges[-1][1]
    return _with_bulk(bulk, found.singular_values[beyond], found.overlap[beyond], STEP_MARGIN)


def _with_bulk(
    bulk: Bulk | ProfileBulk,
    outliers: Float[np.ndarray, " k"],
    overlap: Float[np.ndarray, "k r"],
    margin: float = 0.0,
) -> PredictedSpectrum:
    edges = bulk.edges
    edge = edges[-1][1]
    grid = np.linspace(max(edges[0][0], 1e-3 * edge), edge, GRID)
    threshold = count_outliers(np.array([edge]), bulk, LEVEL).threshold
    return PredictedSpectrum(
        edge, threshold + margin * edge, outliers, grid, bulk.density(grid), overlap
    )


def _features(setting: Setting) -> PredictedSpectrum:
    found = feature_outliers(setting)
    grid = np.linspace(0.01 * found.edge, found.edge, GRID)
    # Noise passes the edge by as much as it does before the step.
    start = feature_bulk(setting.activation, setting.readout_n, setting.d, setting.p, setting.start)
    edge = start.edges[-1][1]
    margin = count_outliers(np.array([edge]), start, LEVEL).threshold / edge
    return PredictedSpectrum(
        found.edge,
        margin * found.edge,
        found.values,
        grid,
        feature_density(setting, grid),
        left=found.left,
        right=found.right,
    )


def _losses(setting: Setting) -> Losses:
    if setting.ridge == "cv" or len(setting.ridge) > 1:
        raise InputError(f"ridge must be one number for predicted losses, got {setting.ridge!r}")
    return losses(setting)
