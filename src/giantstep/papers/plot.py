"""Plots of the papers as data: what a panel shows, before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.analysis.staircase import Staircase
from giantstep.records.spectrum import Spectrum
from giantstep.records.trajectory import Trajectory


@dataclass(frozen=True)
class Curve:
    """Points of a plot: a line if theory, points with error bars if simulation."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None = None
    theory: bool = False


def mean_curve(label: str, x: Sequence[float], values: Sequence[np.ndarray]) -> Curve:
    """Means over runs with their standard errors."""
    means = [float(np.mean(v)) for v in values]
    errors = [float(np.std(v, ddof=1) / math.sqrt(len(v))) for v in values]
    return Curve(label, [float(v) for v in x], means, errors)


@dataclass(frozen=True)
class Plot:
    """Curves over one pair of axes, and levels they are compared with."""

    x_label: str
    y_label: str
    curves: Sequence[Curve]
    x_scale: str = "linear"
    y_scale: str = "linear"
    levels: Mapping[str, float] = field(default_factory=dict)
    y_range: tuple[float, float] | None = None
    title: str = ""

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Plot:
        """The plot of which ``dataclasses.asdict`` made plain values."""
        curves = [Curve(**curve) for curve in record["curves"]]
        return cls(**{**record, "curves": curves})


@dataclass(frozen=True)
class NeuronPlot:
    """Neurons of the first run in the plane of two target directions, simulated and predicted.

    The plane is that of the first two directions in the order in which ``stairs`` learns them.
    """

    simulated: Trajectory
    predicted: Trajectory
    stairs: Staircase
    title: str


@dataclass(frozen=True)
class SpectrumPlot:
    """Singular values of one matrix after one step: histogram, density, outliers."""

    measured: Spectrum
    predicted: Spectrum
    step: int
    symbol: str
    title: str


@dataclass(frozen=True)
class CountPlot:
    """New outliers over (alpha_1, alpha_2): in the limit on a grid, and at one size.

    ``measured`` are (alpha_1, alpha_2, predicted at that size, measured).
    """

    grid: Float[np.ndarray, " g"]
    counts: Int[np.ndarray, "g g"]
    measured: Sequence[tuple[float, float, int, int]]
    title: str


Panel = Plot | NeuronPlot | SpectrumPlot | CountPlot
