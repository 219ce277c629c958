"""Predicted and measured spectra side by side: outliers, edges, alignment, losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.spectra import STEP_MARGIN, PredictedSpectra, PredictedSpectrum
from giantstep.simulation.spectra import Spectra
from giantstep.spectra.outliers import count_above


@dataclass(frozen=True)
class Beside:
    """Outliers of one matrix after one step: what theory says and what each run shows."""

    predicted: list[float] | None
    measured: list[list[float]]
    edge: float | None

    @property
    def count(self) -> int:
        """The median number of measured outliers."""
        return int(np.median([len(run) for run in self.measured]))

    @property
    def mean(self) -> list[float]:
        """Mean over runs of the k-th outlier, for as many as the median run has."""
        runs = [run[: self.count] for run in self.measured if len(run) >= self.count]
        return [float(value) for value in np.mean(runs, axis=0)] if self.count else []

    @property
    def standard_error(self) -> list[float] | None:
        """Of ``mean``; None for a single run."""
        runs = [run[: self.count] for run in self.measured if len(run) >= self.count]
        if len(runs) < 2:
            return None
        return [float(v) for v in np.std(runs, axis=0, ddof=1) / np.sqrt(len(runs))]


def beside(
    predicted: tuple[PredictedSpectrum | None, ...], values: Float[np.ndarray, "runs t m"]
) -> list[Beside]:
    """Outliers step by step; without a prediction the last predicted edge and a margin serve."""
    found: list[Beside] = []
    last: PredictedSpectrum | None = None
    for step in range(values.shape[1]):
        spectrum = predicted[step]
        runs = values[:, step]
        if spectrum is not None:
            last = spectrum
            detected = [spectrum.detect(run).above.tolist() for run in runs]
            found.append(Beside(spectrum.outliers.tolist(), detected, spectrum.edge))
        elif last is not None:
            edge = last.edge
            detected = [count_above(run, edge, STEP_MARGIN).above.tolist() for run in runs]
            found.append(Beside(None, detected, None))
        else:
            found.append(Beside(None, [[] for _ in runs], None))
    return found


def spectra_record(predicted: PredictedSpectra, measured: Spectra) -> dict[str, Any]:
    """Everything the two have to say, as plain values; outliers after the last step on top."""
    weights = beside(predicted.weights, measured.weights)
    features = None
    if measured.features is not None:
        features = beside(predicted.features, measured.features)
    last = predicted.weights[-1]
    count = weights[-1].count
    record: dict[str, Any] = {
        "setting": measured.setting.as_dict(),
        "runs": measured.runs,
        "outliers": {
            "weights": _last(weights),
            "features": None if features is None else _last(features),
        },
        "bulk_edge": {
            "weights": weights[-1].edge,
            "features": None if features is None else features[-1].edge,
        },
        "steps": {
            "weights": [_last([entry]) for entry in weights],
            "features": None if features is None else [_last([entry]) for entry in features],
        },
        "alignment": {
            "predicted": None
            if last is None or last.overlap is None
            else np.sqrt(np.sum(last.overlap**2, axis=1)).tolist(),
            "measured": measured.alignment[:, -1, :count].mean(axis=0).tolist(),
            "overlap_measured": measured.overlap[:, -1, :count].mean(axis=0).tolist(),
            "overlap_predicted": None
            if last is None or last.overlap is None
            else last.overlap.tolist(),
        },
        "losses": _losses(predicted, measured),
        "notes": list(predicted.notes),
        "seconds": {"predict": predicted.seconds, "simulate": measured.seconds},
    }
    return record


def _last(entries: list[Beside]) -> dict[str, Any]:
    entry = entries[-1]
    return {
        "predicted": entry.predicted,
        "measured": entry.mean,
        "standard_error": entry.standard_error,
        "measured_count": [len(run) for run in entry.measured],
    }


def _losses(predicted: PredictedSpectra, measured: Spectra) -> dict[str, Any] | None:
    if measured.train_error is None or measured.test_error is None:
        return None
    found: dict[str, Any] = {}
    for name, values in (("train", measured.train_error), ("test", measured.test_error)):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else None
        found[name] = {
            "predicted": [
                None if loss is None else getattr(loss, name) for loss in predicted.losses
            ],
            "measured": values.mean(axis=0).tolist(),
            "standard_error": None if error is None else error.tolist(),
        }
    return found
