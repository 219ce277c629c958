"""Figures of limits that are far, from tables made on a GPU (arXiv 2605.17767)."""

from __future__ import annotations

from typing import Any

import numpy as np

from giantstep.papers.claims.experiments import FIRST_LAYER
from giantstep.papers.claims.two_steps import NETWORK
from giantstep.papers.figures.record import Reproduction
from giantstep.papers.figures.stored import stored_table
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.outlier_count import with_exponents
from giantstep.prediction.wide.second_strengths import second_strengths
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting

EXPONENTS = (0.4, 0.3)
"""alpha_1 = alpha_2 of the two panels."""


def network(p: int) -> Setting:
    """The network of the claim on these strengths, at a width; its steps are chosen later."""
    shifted = {"activation": centred("tanh(z + 0.5)"), "d": p, "step_size": 1.0}
    given: dict[str, Any] = {**FIRST_LAYER, **NETWORK, **shifted}
    return Setting(**given)


def strengths(full: bool, seed: int) -> list[Plot]:
    """|q_k^T (W_2 - W_1)| against p at (0.4, 0.4) and (0.3, 0.3): predicted, and a stored table."""
    table = stored_table("second_strengths")
    widths = [250, 10**3, 4000, 16_000, 10**6, 10**8, 10**10]
    panels = []
    for alpha in EXPONENTS:
        predicted = [second_strengths(with_exponents(network(p), alpha, alpha)) for p in widths]
        curves = []
        for order in range(3):
            label = rf"order {order}: $p^{{{alpha - order * (0.5 - alpha):.1f}}}$"
            line = [float(values[order]) for values in predicted]
            curves.append(Curve(label, [float(p) for p in widths], line, theory=True))
            chosen = table["alpha"] == alpha
            sizes = np.unique(table["p"][chosen])
            column = table[f"measured_{order}"]
            runs = [column[chosen & (table["p"] == p)] for p in sizes]
            curves.append(mean_curve(label, sizes.tolist(), runs))
        panels.append(
            Plot(
                "neurons $p$",
                r"$|q_k^\top (W_2 - W_1)|$",
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
        "Strength of u, u^2, u^3 in the second step",
        "arXiv 2605.17767",
        (10.5, 4.6),
        strengths,
    ),
)
