"""Spectra as the page draws them: predicted density and spikes, the measured histogram below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from giantstep.explorer.views.reading import short
from giantstep.records.spectrum import Spectrum
from giantstep.records.trajectory import Trajectory
from giantstep.show.histogram import bulk_histogram, per_unit

MATRICES = ("weights", "features")
"""Those of which a wide network has a spectrum."""


def spectra_view(
    predicted: Trajectory | None, measured: Trajectory | None
) -> dict[str, list[dict[str, Any] | None]]:
    """For weights and features, what is known after every step: None where nothing is."""
    some = measured or predicted
    steps = 0 if some is None else len(some.steps)
    views = {}
    for matrix in MATRICES:
        theory, runs = (
            None if record is None else getattr(record, matrix) for record in (predicted, measured)
        )
        views[matrix] = [step_view(theory, runs, step) for step in range(steps)]
    return views


def spectra_reading(
    views: Mapping[str, Sequence[Mapping[str, Any] | None]], steps: Sequence[int]
) -> dict[str, list[str]]:
    """For weights and features a sentence for every step: what theory finds outside the bulk."""
    return {
        matrix: [
            "" if view is None else spectrum_reading(step, view)
            for step, view in zip(steps, views[matrix], strict=True)
        ]
        for matrix in MATRICES
    }


def spectrum_reading(step: int, view: Mapping[str, Any]) -> str:
    """Where the bulk ends after a step, and which singular values theory predicts beyond it."""
    if view["edge"] is None:
        return ""
    time = "At the start" if step == 0 else f"After step {step}"
    bulk = f"{time} theory puts the end of the bulk at {short(view['edge'])}"
    places = [value for value in view["predicted"] if value > view["edge"]]
    if not places:
        return f"{bulk} and no singular value beyond it."
    told = " and ".join(filter(None, [", ".join(map(short, places[:-1])), short(places[-1])]))
    values = "one singular value" if len(places) == 1 else f"{len(places)} singular values"
    return f"{bulk} and {values} beyond it, at {told}."


def step_view(
    predicted: Spectrum | None,
    measured: Spectrum | None,
    step: int,
    *,
    room: float = 1.3,
) -> dict[str, Any] | None:
    """One matrix after one step: edge, density and spikes of theory; bars and spikes of the runs.

    Spikes are ``predicted`` means over the rows of theory, and ``spikes`` those of each run above
    the threshold of theory.  A plot is ``room`` times as high as most of what it shows: a density
    may be infinite at an edge.  Densities are per log unit: the axis of the page is logarithmic,
    whatever the setting.
    """
    theory = {} if predicted is None else predicted.arrays()
    is_predicted = "edge" in theory and np.isfinite(theory["edge"][0, step])
    values = None if measured is None else measured.singular_values
    if not is_predicted and values is None:
        return None
    view: dict[str, Any] = {"edge": None, "threshold": None, "density": None, "predicted": []}
    if is_predicted and predicted is not None:
        places = np.nanmean(theory["outliers"][:, step, : predicted.usual(step)], axis=0)
        view["edge"] = float(theory["edge"][:, step].mean())
        view["threshold"] = float(np.nanmean(theory["threshold"][:, step]))
        view["predicted"] = places.tolist()
    top = 0.0
    if values is not None and measured is not None:
        edge = view["edge"] if is_predicted else float(np.quantile(values[:, step], 0.99))
        bars = bulk_histogram(values[:, step], edge, view["predicted"], log=True)
        top = bars.tall
        above = measured.outliers
        view["bars"] = {"bins": bars.bins, "heights": bars.heights}
        view["spikes"] = (
            [] if above is None else [run[np.isfinite(run)].tolist() for run in above[:, step]]
        )
    if is_predicted:
        grid, density = theory["grid"][step], theory["density"][step]
        heights = per_unit(grid, density, log=True)
        view["density"] = {"grid": grid, "heights": heights}
        top = max(top, float(np.nanquantile(heights, 0.97)))
    return view | {"top": room * top}
