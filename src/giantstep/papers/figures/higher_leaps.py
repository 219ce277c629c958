"""The figure of what several steps learn from n = d^kappa samples each (open in 2305.18270)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from giantstep.analysis.step_exponents import batch_exponent, several_steps_exponents
from giantstep.papers.claims.experiments import LINE, neurons, over_sizes
from giantstep.papers.claims.higher_leaps import ON_LABELS, label_steps
from giantstep.papers.figures.phase import TWO_DEVIATIONS
from giantstep.papers.figures.record import Reproduction
from giantstep.records.plot import MapPlot
from giantstep.records.scaling import scaling_exponent


def leaps_over_steps(
    seed: int, *, samples: float, runs: tuple[int, int, int], steps: int
) -> list[MapPlot]:
    """Exponents in d of the cosine with the target over samples and steps, at leaps two and three.

    ``samples`` are those of the largest batch, ``runs`` those at three dimensions.  The boundaries
    of one, two and three steps are among the exponents kappa of the batches.
    """
    two, three = (1.0, 7 / 6, 4 / 3, 1.5, 1.75, 2.0), (5 / 3, 2.0, 15 / 7, 7 / 3, 8 / 3, 3.0)
    return [
        replace(_exponents(leap, kappas, seed, samples, runs=runs, steps=steps), title=title)
        for leap, kappas, title in (
            (2, two, "leap two: He2($x_1$)"),
            (3, three, "leap three: He3($x_1$)"),
        )
    ]


def dimensions(
    leap: int, kappa: float, samples: float, smallest: int = 60, largest: int = 20_000
) -> list[int]:
    """Three dimensions in equal ratios, up to that whose batch has so many samples."""
    top = min(largest, (samples / ON_LABELS[leap].options["samples"]) ** (1.0 / kappa))
    return np.geomspace(smallest, max(top, 2 * smallest), 3).round().astype(int).tolist()


def _exponents(
    leap: int,
    kappas: Sequence[float],
    seed: int,
    samples: float,
    *,
    runs: tuple[int, int, int],
    steps: int,
) -> MapPlot:
    """mu in |cosine| ~ d^(-mu) after every step, for every kappa."""
    predicted, measured, errors = [], [], []
    for kappa in kappas:
        d, network = dimensions(leap, kappa, samples), ON_LABELS[leap]
        statistics = {str(step): neurons(LINE, step) for step in range(1, steps + 1)}
        taken = label_steps(steps, kappa, **network.options)
        values = over_sizes({**network.setting, **taken, "seed": seed}, d, runs, statistics)
        slopes = [scaling_exponent(d, v, level=TWO_DEVIATIONS) for v in values.values()]
        measured.append([-slope.exponent for slope in slopes])
        errors.append([(slope.high - slope.low) / 4.0 for slope in slopes])
        predicted.append([abs(e) for e in several_steps_exponents(leap, kappa, steps)])
    return MapPlot(
        x=_rounded(kappas),
        y=[float(step) for step in range(1, steps + 1)],
        predicted=predicted,
        measured=measured,
        error=errors,
        top=0.5,
        x_label=r"exponent of the batch size $\kappa$ in $n \sim d^\kappa$",
        y_label="giant steps $T$",
        value_label=r"exponent $\mu$ in cosine $\sim d^{-\mu}$",
        title="",
        boundary=_rounded([float(batch_exponent(leap, step)) for step in range(1, steps + 1)]),
    )


def _rounded(values: Sequence[float]) -> list[float]:
    """As they are written under the map."""
    return [round(value, 2) for value in values]


FIGURES = (
    Reproduction(
        "leaps-over-steps",
        "What several steps on the labels learn, over samples and steps",
        "arXiv 2305.18270",
        (11.5, 4.6),
        (
            "Shades are the limit of theory. Numbers are measured, with two standard errors "
            "(bootstrap). They are for {steps} steps on fresh batches of at most {samples:,.0f} "
            "samples, {runs} runs at three dimensions from 60 on. 0 is learned, $1/2$ as good as "
            "a random direction; below 0 the cosine still rises to one. Right of the line $T$ "
            r"steps learn: $\kappa=1+1/T$ and $\kappa=2+1/(2^T-1)$."
        ),
        leaps_over_steps,
        quick={"samples": 5e4, "runs": (120, 60, 20), "steps": 3},
        full={"samples": 3e5, "runs": (800, 320, 80), "steps": 3},
    ),
)
