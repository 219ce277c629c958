"""What held-out rows lose without a column: its cells are shuffled among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from giantstep.reports.columns import Prepared
from giantstep.reports.directions import Direction
from giantstep.reports.interval import Interval, gained
from giantstep.reports.models import predict_scores
from giantstep.reports.resamples import HeldOut


@dataclass(frozen=True)
class Lost:
    """What the error grows by as a share of the variance, the cells of a column shuffled."""

    column: str
    share: Interval

    @property
    def text(self) -> str:
        """With its 95 % interval: speed (41 %, 30 % to 52 %)."""
        return f"{self.column} ({self.share.percent.replace(' (', ', ')}"


def lost(
    held: HeldOut, pipeline: Any, fitted: Sequence[Direction], most: int = 20, rows: int = 1_000
) -> tuple[Lost, ...]:
    """The columns without which held-out rows are predicted worse, the largest loss first.

    Weights name the columns of most directions: this is for certain ones with weights of
    categories, and for those that most refits lack.  most -> columns tried, those of the largest
    slopes; rows -> of each fold.
    """
    if not any(d.certain and (d.references or not d.often) for d in fitted):
        return ()
    problem, key, sources = held.problem, np.random.default_rng(0), held.problem.prepared.sources
    encoded = problem.prepared.encoded(pipeline[0])
    slopes = dict.fromkeys(sources, 0.0)
    for each, importance in zip(encoded, pipeline[-1].feature_importances_, strict=True):
        slopes[each.source] += float(importance)
    tried = sorted(sources, key=lambda name: -slopes[name])[:most]
    tests = {fold: problem.test(fold)[:rows] for fold in held.pipelines}

    def losses(column: str | None) -> np.ndarray:
        """Squared errors of all these rows, by the fits that have not seen them."""
        values = []
        for fold, test in tests.items():
            here = replace(problem.prepared, rows=problem.prepared.take(test))
            if column is not None:
                here = _shuffled(here, sources.index(column), key.permutation(len(test)))
            every = np.arange(len(test))
            predicted = predict_scores(held.pipelines[fold], here, problem.labels, every)
            values.append(np.sum((problem.labels.scores[test] - predicted) ** 2, axis=1))
        return np.concatenate(values)

    at = np.concatenate(list(tests.values()))
    before, totals, groups = losses(None), held.totals[at], problem.groups[at]
    listed = [Lost(name, gained(before, losses(name), totals, groups)) for name in tried]
    # Of columns that cost nothing one in forty is above zero by its own 95 % interval: each must be
    # beyond the error of all that were tried.  Below 2 % a column does not make the prediction.
    errors = float(ndtri(1.0 - 0.025 / len(tried)))
    clear = [each for each in listed if each.share.value > max(errors * each.share.error, 0.02)]
    return tuple(sorted(clear, key=lambda each: -each.share.value))


def _shuffled(prepared: Prepared, j: int, order: np.ndarray) -> Prepared:
    """The rows with the cells of one column in another order."""
    rows = prepared.rows.copy()
    if hasattr(rows, "iloc"):
        rows.isetitem(j, rows.iloc[order, j].to_numpy())
    else:
        rows[:, j] = rows[order, j]
    return replace(prepared, rows=rows)
