"""Figures of limits that are far (arXiv 2605.17767)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from giantstep.papers.claims.experiments import FIRST_LAYER
from giantstep.papers.claims.weight_outliers import NETWORK, step_two_strengths
from giantstep.papers.figures.record import Reproduction
from giantstep.prediction.wide.outlier_count import with_exponents
from giantstep.prediction.wide.weight_outliers import second_strengths
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve


def network(p: int, seed: int) -> Setting:
    """The network of the claim on these strengths, at a width; its steps are chosen later."""
    shifted = {"activation": centred("tanh(z + 0.5)"), "d": p, "step_size": 1.0, "seed": seed}
    given: dict[str, Any] = {**FIRST_LAYER, **NETWORK, **shifted}
    return Setting(**given)


def strengths(seed: int, *, measured: Sequence[int], runs: Sequence[int]) -> list[Plot]:
    """|q_k^T (W_2 - W_1)| against p at (0.4, 0.4) and (0.3, 0.3), predicted far beyond."""
    widths = [*measured, 10**6, 10**8, 10**10]
    panels = []
    for alpha in (0.4, 0.3):
        settings = [with_exponents(network(p, seed), alpha, alpha) for p in widths]
        predicted = [second_strengths(setting) for setting in settings]
        # An array of runs by orders for each width that is measured.
        pairs = zip(settings, runs, strict=False)
        simulated = [step_two_strengths(each, count) for each, count in pairs]
        curves = []
        for order in range(3):
            label = rf"order {order}: $p^{{{alpha - order * (0.5 - alpha):.1f}}}$"
            line = [float(values[order]) for values in predicted]
            curves.append(Curve(label, [float(p) for p in widths], line, theory=True))
            values = [np.asarray(each)[:, order] for each in simulated]
            curves.append(mean_curve(label, [float(p) for p in measured], values))
        panels.append(
            Plot(
                "neurons $p$",
                r"size of the second step along order $k$, $|q_k^\top (W_2 - W_1)|$",
                curves,
                "log",
                "log",
                title=rf"$\alpha_1 = \alpha_2 = {alpha}$",
            )
        )
    return panels


FIGURES = (
    Reproduction(
        "strengths",
        "How strong the orders $u, u^2, u^3$ of the second step are",
        "arXiv 2605.17767",
        (10.5, 5.2),
        (
            r"The activation is $\tanh(z+0.5)$ minus its mean. The directions $q_k$ are $u$, "
            "$u^2$ and $u^3$ made orthogonal. Points: means over {runs} runs at $p$ = "
            "{measured}; bars are two standard errors. Lines: theory at finite $p$, which tends "
            "to the exponents of the limit in the legend."
        ),
        strengths,
        quick={"measured": (125, 250, 500), "runs": (8, 8, 4)},
        full={"measured": (250, 1000, 4000, 16_000), "runs": (16, 8, 4, 2)},
    ),
)
