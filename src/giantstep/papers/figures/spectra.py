"""Figures of spectra: features after one step, weights after two (arXiv 2310.07891, 2605.17767)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from giantstep.papers.claims.feature_experiments import spikes_in_the_limit
from giantstep.papers.claims.linear_width import WIDE
from giantstep.papers.claims.spike_counts import EXPONENTS, SHIFTED
from giantstep.papers.claims.spike_experiments import MARGIN
from giantstep.papers.figures.networks import two_steps
from giantstep.papers.figures.record import Reproduction
from giantstep.papers.plot import CountPlot, SpectrumPlot
from giantstep.prediction.predict import predict
from giantstep.prediction.wide.outlier_count import phase_diagram, with_exponents
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

COUNTED_AT = (0.15, 0.3, 0.44)
"""Exponents of the step sizes p^alpha at which outliers are counted."""


def spikes(full: bool, seed: int) -> list[SpectrumPlot]:
    """Singular values of the features with none, one, two and three spikes, l in each title."""
    d, multiple = (1000, 3.0) if full else (600, 4.0)
    panels = []
    for alpha in EXPONENTS:
        shifted = {"activation": SHIFTED, "readout_n": "n", "test_n": 10, "d": d, "seed": seed}
        given: dict[str, Any] = {**WIDE, **shifted, "runs": 4 if full else 2}
        setting = Setting(**given, step_size=f"{multiple}*n^{alpha:g}")
        setting = setting.vary(spectra=min(setting.p, setting.n))
        measured, predicted = simulate(setting).features, predict(setting).features
        assert measured is not None
        assert predicted is not None
        assert predicted.edge is not None
        # The rule of the claim: a tenth above the edge.
        rule = replace(predicted, threshold=(1.0 + MARGIN) * predicted.edge)
        order = spikes_in_the_limit(alpha)
        panels.append(
            SpectrumPlot(
                measured.detected(rule),
                predicted,
                step=1,
                symbol=r"$\sigma(XW^\top)/\sqrt{n}$",
                title=rf"$\ell = {order}$: step size ${multiple:g}\,n^{{{alpha}}}$",
            )
        )
    return panels


def outliers(full: bool, seed: int) -> list[CountPlot]:
    """New outliers of W after two steps over (alpha_1, alpha_2): limit, and counts at one size."""
    p = 2000 if full else 600
    grid = np.linspace(0.0, 0.46, 93)
    panels = []
    for name, text in (("ReLU", "relu(z)"), ("shifted tanh", "tanh(z + 0.5)")):
        base = Setting("two-step", **two_steps(p), activation=centred(text), seed=seed)
        panels.append(
            CountPlot(
                grid,
                phase_diagram(base.activation, "1/sqrt(p)", "fresh", grid),
                [
                    (first, second, *new_outliers(with_exponents(base, first, second)))
                    for first in COUNTED_AT
                    for second in COUNTED_AT
                ],
                f"{name}: shades the limit, numbers $p = {p}$ (predicted if other)",
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
        (17.0, 4.0),
        spikes,
    ),
    Reproduction(
        "outliers",
        "New outliers of the weights after the second step",
        "arXiv 2605.17767",
        (10.5, 4.8),
        outliers,
    ),
)
