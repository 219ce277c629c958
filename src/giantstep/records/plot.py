"""Plots as data: what a panel shows, before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from giantstep.records.spectrum import Spectrum


@dataclass(frozen=True)
class Curve:
    """Points of a plot: a line if theory, points with error bars if simulation.

    A ``guide`` is a predicted slope through the first point, not a prediction; what counts or has
    kinds for x is not ``joined`` by lines.  Curves of one ``series``, by default their label, have
    one colour: theory and simulation of the same thing.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None = None
    theory: bool = False
    guide: bool = False
    joined: bool = True
    series: str = ""


def mean_curve(label: str, x: Sequence[float], values: Sequence[np.ndarray]) -> Curve:
    """Means over runs with their standard errors."""
    means = [float(np.mean(v)) for v in values]
    errors = [float(np.std(v, ddof=1) / math.sqrt(len(v))) for v in values]
    return Curve(label, [float(v) for v in x], means, errors)


def rms_curve(label: str, x: Sequence[float], values: Sequence[np.ndarray]) -> Curve:
    """Root mean squares over runs; to first order the standard error is std(v^2)/(2 rms)."""
    means = [math.sqrt(float(np.mean(v**2))) for v in values]
    errors = [
        float(np.std(v**2, ddof=1)) / (2.0 * mean * math.sqrt(len(v)))
        for v, mean in zip(values, means, strict=True)
    ]
    return Curve(label, [float(v) for v in x], means, errors)


@dataclass(frozen=True)
class Plot:
    """Curves over one pair of axes, levels they are compared with, and marks on the x axis.

    ``x_names`` are names of x = 1, 2, .., where x has kinds.
    """

    x_label: str
    y_label: str
    curves: Sequence[Curve]
    x_scale: str = "linear"
    y_scale: str = "linear"
    x_range: tuple[float, float] | None = None
    levels: Mapping[str, float] = field(default_factory=dict)
    y_range: tuple[float, float] | None = None
    title: str = ""
    marks: Mapping[str, float] = field(default_factory=dict)
    x_names: Sequence[str] = field(default_factory=list)
    kind: Literal["curves"] = "curves"

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Plot:
        """The plot of which ``dataclasses.asdict`` made plain values."""
        curves = [Curve(**curve) for curve in record["curves"]]
        return cls(**{**record, "curves": curves})


@dataclass(frozen=True)
class NeuronPlot:
    """Neurons of one run in the plane of two target directions, simulated and predicted.

    ``simulated`` has, for every step 0..T, the cosines of every neuron with the two directions
    that ``names`` writes as sums; ``predicted`` those of theory, of all steps.
    """

    simulated: Sequence[Sequence[tuple[float, float]]]
    predicted: Sequence[tuple[float, float]]
    names: tuple[str, str]
    title: str
    kind: Literal["neurons"] = "neurons"


OUTSIDE = 1.1
"""Multiple of the edge from which on a value is drawn as an outlier, measured or predicted: chance
moves the largest of a bulk of 1000 by 2 %, and the row of a single large readout may leave it."""


@dataclass(frozen=True)
class SpectrumPlot:
    """Singular values of one matrix: those of one run, outliers of all, and what is predicted.

    ``predicted`` and the ``density`` on ``grid`` are theory, ``outliers`` those measured in every
    run; ``edge`` is that of the predicted bulk.  Panels with one ``reach`` have one axis: it is
    logarithmic and ends there.
    """

    values: Sequence[float]
    edge: float
    grid: Sequence[float]
    density: Sequence[float]
    predicted: Sequence[float]
    outliers: Sequence[Sequence[float]]
    symbol: str
    title: str
    reach: float | None = None
    kind: Literal["spectrum"] = "spectrum"

    @classmethod
    def of(
        cls,
        measured: Spectrum,
        predicted: Spectrum,
        step: int,
        *,
        symbol: str,
        title: str,
        reach: float | None = None,
    ) -> SpectrumPlot:
        """The spectrum after a step with its prediction; outliers from OUTSIDE times the edge."""
        assert measured.singular_values is not None
        values, theory = measured.singular_values[:, step], predicted.arrays()
        edge = float(theory["edge"][:, step].mean())
        outliers = np.nanmean(theory["outliers"][:, step, : predicted.usual(step)], axis=0)
        return cls(
            values=values[0].tolist(),
            edge=edge,
            grid=theory["grid"][step].tolist(),
            density=theory["density"][step].tolist(),
            predicted=outliers[outliers > OUTSIDE * edge].tolist(),
            outliers=[run[run > OUTSIDE * edge].tolist() for run in values],
            symbol=symbol,
            title=title,
            reach=reach,
        )


@dataclass(frozen=True)
class CountPlot:
    """New outliers over (alpha_1, alpha_2), predicted on a grid, and measured at some points.

    ``measured`` are (alpha_1, alpha_2, predicted there, measured), means over runs.
    """

    grid: Sequence[float]
    counts: Sequence[Sequence[int]]
    measured: Sequence[tuple[float, float, float, float]]
    title: str
    kind: Literal["counts"] = "counts"


@dataclass(frozen=True)
class MapPlot:
    """A quantity over two sizes: predicted, and measured with standard errors; ``[i][j]`` is at
    (x_i, y_j), ``top`` the end of its scale.

    ``boundary`` has, where there is one, the least x of every row that theory puts beyond it.
    """

    x: Sequence[float]
    y: Sequence[float]
    predicted: Sequence[Sequence[float]]
    measured: Sequence[Sequence[float]]
    error: Sequence[Sequence[float]]
    top: float
    x_label: str
    y_label: str
    value_label: str
    title: str
    boundary: Sequence[float] = ()
    kind: Literal["map"] = "map"


Panel = Plot | NeuronPlot | SpectrumPlot | CountPlot | MapPlot
