"""The figure of what a readout gains as spikes appear (arXiv 2310.07891)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims.wide import objective_and_test_error
from giantstep.papers.figures.networks import WIDE
from giantstep.papers.figures.record import Reproduction
from giantstep.prediction.wide.losses import losses
from giantstep.prediction.wide.strong_spikes import limiting_losses
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.simulation.feature_models import real_features, tables
from giantstep.simulation.stepped import SteppedRun, stepped_runs

EXPONENT = r"exponent of the step size $\alpha$ in $n^\alpha$"
MARKS = {"0": 0.0, "1/4": 0.25, "1/3": 1 / 3}
"""Exponents from which on a first, a second and a third spike grow without bound."""


def by_step_size(
    seed: int,
    *,
    d: int,
    runs: int,
    points: int,
    alphas: Sequence[float] = (-0.1, 0.0, 0.08, 0.16, 0.22, 0.28, 0.35, 0.42),
    larger: Sequence[int] = (7, 12),
) -> list[Plot]:
    """Objective and test error over those without a step, for two targets.

    Theory is drawn on its way to the limit at d = 10^power for the powers ``larger``, up to 3/8: a
    fourth spike sees another part of the degree 2.
    """
    curved = Setting(**WIDE, d=d, noise=0.5, step_size=1.0, seed=seed)
    straight = curved.vary(target="x1")
    fine = np.linspace(alphas[0], alphas[-1], points)
    early = fine[fine < 0.375]
    objective, test = measured(curved, runs, alphas)
    limits = np.array(limiting_losses(curved).objectives)
    lines = [
        Curve("this size", fine.tolist(), predicted(curved, fine)[0].tolist(), theory=True),
        *(
            Curve(
                f"$d = 10^{{{power}}}$",
                early.tolist(),
                predicted(curved.vary(d=10**power, n="4d", p="d"), early)[0].tolist(),
                theory=True,
            )
            for power in larger
        ),
    ]
    return [
        Plot(
            EXPONENT,
            r"training objective over that without a step",
            [mean_curve("simulation", alphas, objective), *lines],
            levels={f"$L_{k}/L_0$": float(v) for k, v in enumerate(limits / limits[0])},
            title=r"$z + \mathrm{He}_2(z)/\sqrt{2}$: objective",
            marks=MARKS,
            # Room for the legend below L_2, for the names of the levels on the right.
            x_range=(-0.14, 0.5),
            y_range=(0.64, 1.02),
        ),
        _test_panel(curved, alphas, test, fine, r"$z + \mathrm{He}_2(z)/\sqrt{2}$: test error"),
        _test_panel(straight, alphas, measured(straight, runs, alphas)[1], fine, "$z$: test error"),
    ]


def _test_panel(
    setting: Setting,
    alphas: Sequence[float],
    errors: Sequence[Float[np.ndarray, " runs"]],
    fine: Float[np.ndarray, " m"],
    title: str,
) -> Plot:
    line = predicted(setting, fine)[1]
    return Plot(
        EXPONENT,
        "test error over that without a step",
        [
            mean_curve("simulation", alphas, errors),
            Curve("this size", fine.tolist(), line.tolist(), theory=True),
        ],
        marks=MARKS,
        title=title,
    )


def predicted(setting: Setting, alphas: Float[np.ndarray, " m"]) -> Float[np.ndarray, "2 m"]:
    """Objective and test error of the closed system over those without a step."""
    before = losses(setting.vary(step_size=0.0))
    after = [losses(setting.vary(step_size=f"n^{alpha:g}")) for alpha in alphas]
    return np.array(
        [
            [loss.objective / before.objective for loss in after],
            [loss.test / before.test for loss in after],
        ]
    )


def measured(
    setting: Setting, runs: int, alphas: Sequence[float]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Objective and test error over those without a step, run by run.

    Each run has one gradient and one set of samples, and takes steps of all sizes along it.
    """
    ratios = np.empty((2, len(alphas), runs))
    for step in stepped_runs(setting, range(runs)):
        before = fitted(step.resized(0.0))
        for index, alpha in enumerate(alphas):
            size = setting.vary(step_size=f"n^{alpha:g}").step_size[0]
            ratios[:, index, step.run] = np.divide(fitted(step.resized(size)), before)
    return list(ratios[0]), list(ratios[1])


def fitted(step: SteppedRun) -> tuple[float, float]:
    """The least objective of a ridge readout on the features, and its test error."""
    return objective_and_test_error(*tables(step, real_features(step)), step.setting)


FIGURES = (
    Reproduction(
        "losses",
        r"What the second layer gains from one step of size $n^\alpha$",
        "arXiv 2310.07891",
        (14.0, 5.2),
        (
            r"Activation $\tanh(z+0.7)$ minus its mean, $p=d$, $n=4d$, $d$ = {d:,} in "
            "simulations, noise 0.5, ridge 0.1. Points: means over {runs} runs of the ratio of a "
            r"run with a step to the same run without; bars are two standard errors. $L_\ell$ is "
            r"the objective in the limit with $\ell$ spikes. There spikes appear at 0, $1/4$ and "
            "$1/3$. Theory at larger $d$ comes closer to it."
        ),
        by_step_size,
        quick={"d": 200, "runs": 6, "points": 14},
        full={"d": 1000, "runs": 8, "points": 28},
    ),
)
