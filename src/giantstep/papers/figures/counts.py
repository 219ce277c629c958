"""The figure of how many outliers a second step adds, size by size (arXiv 2605.17767)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from giantstep.papers.figures.networks import two_steps
from giantstep.papers.figures.record import Reproduction
from giantstep.prediction.predict import predict
from giantstep.prediction.wide.outlier_count import (
    finite_phase_diagram,
    phase_diagram,
    with_exponents,
)
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.records.plot import CountPlot
from giantstep.simulation.simulate import simulate


def outliers(
    seed: int,
    *,
    measured: Sequence[int],
    runs: Sequence[int],
    exponents: Sequence[float],
    points: int,
    larger: Sequence[int] = (6, 8, 10),
) -> list[CountPlot]:
    """New outliers of W after two steps over (alpha_1, alpha_2): at finite p, and in the limit.

    ``larger`` are logarithms of the sizes that are only predicted, on the way to the limit.
    """
    # Smaller first exponents leave no outlier of their own at reachable p.
    grid = np.linspace(0.1, 0.48, points)
    activation = centred("tanh(z + 0.5)")
    panels = []
    repeated = dict(zip(measured, runs, strict=True))
    for p in (*measured, *(10**power for power in larger)):
        base = Setting(
            "two-step",
            **two_steps(p),
            activation=activation,
            runs=repeated.get(p, 1),
            seed=seed,
        )
        boxes = [
            (first, second, *new_outliers(with_exponents(base, first, second)))
            for first in exponents
            for second in exponents
            if p in measured
        ]
        counts = finite_phase_diagram(base, grid, margin(p))
        size = f"{p:,}" if p in measured else f"10^{{{round(np.log10(p))}}}"
        panels.append(_panel(grid, counts, boxes, f"$p = {size}$"))
    limit = phase_diagram(base.activation, "1/sqrt(p)", "fresh", grid)
    return [*panels, _panel(grid, limit, [], r"limit $p \to \infty$")]


def _panel(
    grid: Float[np.ndarray, " g"],
    counts: Int[np.ndarray, "g g"],
    measured: Sequence[tuple[float, float, float, float]],
    title: str,
) -> CountPlot:
    return CountPlot(grid.tolist(), counts.tolist(), measured, title)


def new_outliers(setting: Setting) -> tuple[float, float]:
    """Values of W above the edge less that of the first step, predicted and measured: means over
    runs.
    """
    predicted, measured = predict(setting).weights, simulate(setting).weights
    assert predicted is not None
    assert measured is not None
    theory, simulated = predicted.arrays(), measured.arrays()
    limit = (1.0 + margin(setting.p)) * theory["edge"][:, -1, None]
    expected, seen = (
        float(np.mean(np.maximum(np.sum(values[:, -1] > limit, axis=-1) - 1, 0)))
        for values in (theory["outliers"], simulated["singular_values"])
    )
    return expected, seen


def margin(p: int) -> float:
    """How far above its edge, relative, the largest value of a bulk may be: Tracy and Widom."""
    return 2.0 * float(p) ** (-2 / 3)


FIGURES = (
    Reproduction(
        "outliers",
        "How many outliers the second step adds to the weights: theory on its way to the limit",
        "arXiv 2605.17767",
        (11.5, 8.0),
        (
            r"Shades: predicted number of new outliers after steps of size $p^{{\alpha_1}}$ and "
            r"$p^{{\alpha_2}}$ at $p=d$, $n=2d$. In the limit it is "
            r"$\lfloor\alpha_2/(1/2-\alpha_1)\rfloor$. The target is "
            r"$z+\mathrm{{He}}_2(z)/\sqrt{{2}}$, the activation $\tanh(z+0.5)$ minus its mean. "
            "Boxes: the number above the edge, mean over {runs} runs at the measured sizes. "
            r"Below it, in brackets, is the number predicted for these runs. At $\alpha_1=0.44$ "
            "more values lie above the edge than predicted. Theory counts the outliers of the "
            "limit, and single rows or samples may leave the bulk too."
        ),
        outliers,
        quick={"measured": (300, 600), "runs": (4, 2), "exponents": (0.15, 0.44), "points": 7},
        full={
            "measured": (1000, 4096),
            "runs": (8, 4),
            "exponents": (0.15, 0.3, 0.44),
            "points": 25,
        },
        columns=3,
    ),
)
