"""Figures of spectra: features after one step, weights after two (arXiv 2310.07891, 2605.17767)."""

from __future__ import annotations

import numpy as np

from giantstep.papers.figures.networks import WIDE, two_steps
from giantstep.papers.figures.record import Reproduction
from giantstep.papers.plot import CountPlot, SpectrumPlot
from giantstep.prediction.predict import predict
from giantstep.prediction.wide.outlier_count import phase_diagram, with_exponents
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

COUNTED_AT = (0.15, 0.3, 0.44)
"""Exponents of the step sizes p^alpha at which outliers are counted."""


def spikes(seed: int, *, d: int, runs: int) -> list[SpectrumPlot]:
    """Singular values of the features at four step sizes n^alpha."""
    panels = []
    for alpha in (0.1, 0.2, 0.3, 0.42):
        setting = Setting(**WIDE, d=d, step_size=f"n^{alpha}", runs=runs, seed=seed)
        setting = setting.vary(spectra=min(setting.p, setting.n))
        measured, predicted = simulate(setting).features, predict(setting).features
        assert measured is not None
        assert predicted is not None
        panels.append(
            SpectrumPlot.of(
                measured,
                predicted,
                step=1,
                symbol=r"$\sigma(XW^\top)/\sqrt{n}$",
                title=rf"step size $n^{{{alpha}}}$",
            )
        )
    return panels


def outliers(seed: int, *, p: int) -> list[CountPlot]:
    """New outliers of W after two steps over (alpha_1, alpha_2): limit, and counts at one size."""
    grid = np.linspace(0.0, 0.46, 93)
    panels = []
    for name, text in (("ReLU", "relu(z)"), ("shifted tanh", "tanh(z + 0.5)")):
        base = Setting("two-step", **two_steps(p), activation=centred(text), seed=seed)
        panels.append(
            CountPlot(
                grid.tolist(),
                phase_diagram(base.activation, "1/sqrt(p)", "fresh", grid).tolist(),
                [
                    (first, second, *new_outliers(with_exponents(base, first, second)))
                    for first in COUNTED_AT
                    for second in COUNTED_AT
                ],
                f"{name}: shades the limit, numbers measured (predicted if other)",
            )
        )
    return panels


def new_outliers(setting: Setting) -> tuple[int, int]:
    """Outliers of W beside that of the first step: predicted, and measured in the first run."""
    predicted, measured = predict(setting).weights, simulate(setting).weights
    assert predicted is not None
    assert measured is not None
    counts = [part.count for part in (predicted, measured.detected(predicted))]
    expected, found = (max(int(count[0, -1]) - 1, 0) for count in counts if count is not None)
    return expected, found


FIGURES = (
    Reproduction(
        "spikes",
        "Singular values of the features after one step of size n^alpha",
        "arXiv 2310.07891",
        (17.0, 4.4),
        "d = {d:,}.",
        spikes,
        quick={"d": 300, "runs": 2},
        full={"d": 1000, "runs": 4},
    ),
    Reproduction(
        "outliers",
        "New outliers of the weights after the second step",
        "arXiv 2605.17767",
        (10.5, 5.2),
        "Measured at p = d = {p:,}, n = 2d.",
        outliers,
        quick={"p": 600},
        full={"p": 2000},
    ),
)
