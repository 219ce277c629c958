"""What the best first-order method reaches, over n/d."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from giantstep.analysis.overlap import OverlapCurve
from giantstep.records.plot import Curve, Plot
from giantstep.show.mathtext import formula
from giantstep.show.plots.curves import curves
from giantstep.show.plots.style import row_of_panels


def overlap_figure(record: OverlapCurve) -> Figure:
    """Cosines of the estimate with the target; equal ones in one line; the threshold as a mark."""
    noise = f", noise {record.noise:g}" * bool(record.noise)
    figure, [axes] = row_of_panels(1, 6.4, 4.4, formula(record.target.name) + noise)
    order = np.argsort(record.ratios)
    ratios, cosines = record.ratios[order].tolist(), record.cosines[order]
    marks = {}
    if record.threshold:
        # The curve leaves zero at the threshold itself.
        place = int(np.searchsorted(ratios, record.threshold))
        ratios.insert(place, record.threshold)
        cosines = np.insert(cosines, place, 0.0, axis=0)
        marks = {f"threshold {record.threshold:.3g}": record.threshold}
    drawn = [
        Curve(f"theory: cosine {k + 1}", ratios, column.tolist(), theory=True)
        for k, column in enumerate(cosines.T)
        if k == 0 or np.abs(column - cosines[:, k - 1]).max() > 0.01
    ]
    label = "cosine of the best first-order estimate"
    plot = Plot(
        "$n/d$",
        label,
        drawn,
        x_range=(0.0, 1.02 * ratios[-1]),
        y_range=(-0.02, 1.02),
        marks=marks,
    )
    curves(axes, plot)
    return figure
