"""Singular values of one matrix step by step: measured, predicted, and the outliers among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.language.brief import brief
from giantstep.records.drawing import Drawn


@dataclass(frozen=True)
class Spectrum(Drawn):
    """Runs by steps; everything in decreasing order, NaN where there is nothing or it is unknown.

    ``singular_values`` are the measured ones.  ``edge`` is the end of the bulk, and what exceeds
    ``threshold`` counts as an outlier, measured or predicted.  ``outliers`` are the values outside
    the bulk: in a simulation those above the threshold (``detected``), in a prediction also those
    between edge and threshold, whose places are known to ``place_uncertainty``.
    ``overlap`` is |<v_k, w*_j>| of the leading right singular vectors of W; ``left`` and ``right``
    are |overlaps| of the features' singular vectors with h_0(kappa) .. h_4(kappa) and a^0 .. a^4.
    ``density`` is the predicted one of the bulk on ``grid``, a row for each step.

    W = noise + finite rank: singular values outside the bulk are learned directions, v_k their
    right singular vectors (arXiv 2310.07891, arXiv 2605.17767).  n, d and p large and in
    proportion.
    """

    singular_values: Float[np.ndarray, "runs t m"] | None = None
    edge: Float[np.ndarray, "runs t"] | None = None
    threshold: Float[np.ndarray, "runs t"] | None = None
    outliers: Float[np.ndarray, "runs t k"] | None = None
    overlap: Float[np.ndarray, "runs t j r"] | None = None
    left: Float[np.ndarray, "runs t k degrees"] | None = None
    right: Float[np.ndarray, "runs t k degrees"] | None = None
    grid: Float[np.ndarray, "t q"] | None = None
    density: Float[np.ndarray, "t q"] | None = None

    __repr__ = brief

    def arrays(self) -> dict[str, Float[np.ndarray, "..."]]:
        """What is known, by name."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in named.items() if value is not None}

    @property
    def count(self) -> Float[np.ndarray, "runs t"] | None:
        """Number of outliers above the threshold; NaN where none is known."""
        if self.outliers is None or self.threshold is None:
            return None
        above = np.sum(self.outliers > self.threshold[..., None], axis=-1)
        return np.where(np.isnan(self.threshold), np.nan, above)

    @property
    def place_uncertainty(self) -> Float[np.ndarray, "runs t k"] | None:
        """How far noise may move each predicted place: 0 above the threshold, where it does not.

        Below it half of the way from the edge to the threshold, a standard deviation: noise of this
        size is as far beyond the edge.
        """
        if self.outliers is None or self.threshold is None or self.edge is None:
            return None
        way = 0.5 * (self.threshold - self.edge)[..., None]
        return np.where(self.outliers <= self.threshold[..., None], way, 0.0)

    def usual(self, step: int) -> int:
        """Number of outliers after a step, counted or not, that at least half of the runs have."""
        if self.outliers is None:
            return 0
        return int(np.median(np.sum(np.isfinite(self.outliers[:, step]), axis=-1)))

    def constant(self, step: int, share: float = 0.5) -> int | None:
        """Which predicted outlier of the features is that of the activation's mean, if one is.

        Its left vector has more than this ``share`` of its square along h_0 = 1, the constant
        function of the samples.
        """
        if self.left is None or not self.left.shape[2]:
            return None
        shares = np.nan_to_num(self.left[:, step, :, 0]).mean(axis=0) ** 2
        strongest = int(np.argmax(shares))
        return strongest if shares[strongest] > share else None

    @property
    def alignment(self) -> Float[np.ndarray, "runs t j"] | None:
        """Length of each leading direction's projection on the span of the target."""
        return None if self.overlap is None else np.sqrt(np.sum(self.overlap**2, axis=-1))

    def detected(self, rule: Spectrum | None) -> Spectrum:
        """The measured spectrum with the outliers above the edges and thresholds of a prediction.

        A prediction of several rows has one for each run, in turn.  Steps at which it has no
        threshold keep theirs unknown: nothing is counted.
        """
        values = self.singular_values
        if values is None or rule is None or rule.threshold is None or rule.edge is None:
            return self
        runs, steps, _ = values.shape
        edge, threshold = (
            np.broadcast_to(part[:runs], (runs, steps)) for part in (rule.edge, rule.threshold)
        )
        above = np.where(values > threshold[..., None], values, np.nan)
        most = int(np.max(np.sum(~np.isnan(above), axis=-1), initial=0))
        return replace(self, edge=edge, threshold=threshold, outliers=above[..., :most])


def padded(
    parts: Sequence[Float[np.ndarray, "..."] | float | None],
) -> Float[np.ndarray, "t ..."] | None:
    """Arrays of different sizes as one, filled with NaN where a part is smaller or None."""
    shapes = [np.shape(part) for part in parts if part is not None]
    if not shapes:
        return None
    joined = np.full((len(parts), *np.max(shapes, axis=0).astype(int)), np.nan)
    for row, part in enumerate(parts):
        if part is not None:
            corner: Any = (row, *(slice(size) for size in np.shape(part)))
            joined[corner] = part
    return joined
