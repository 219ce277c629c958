"""Claims about the training objective as spikes grow without bound (arXiv 2310.07891)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import Fields
from giantstep.papers.claims.feature_experiments import objective, stepped_features
from giantstep.papers.claims.linear_width import WIDE
from giantstep.papers.claims.quantity import Quantity, exact, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.prediction.wide.limits import limiting_losses
from giantstep.prediction.wide.losses import losses
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.simulation.stepped import SteppedRun, stepped_runs
from giantstep.simulation.table import FeatureTable

FAR = 10**15
"""d at which the closed system is held against the limit: what is left of n^-1/8 is 1 %."""

REACHED = 0.05
"""Share of a spike's gain within which the limit is reached at d = FAR.

The formulas that are told apart differ by a fifth: 2/3 or 2/(2 + (1 + Delta)^2) for the second
spike, Delta = 0.27, and cos^2 = 2/3 or 0.55 for the first.
"""

DRAWN = (10**4, 10**7, 10**11, FAR)
"""Dimensions of the closed system in the figure."""


def window_step(window: float | None, multiple: float) -> str | float:
    """eta = multiple n^alpha at a window's alpha, 0 for no step."""
    return 0.0 if window is None else f"{multiple}*n^{window:g}"


def limits(fields: Fields, *, d: Sequence[int], runs: int) -> Findings:
    """Objectives without a step and with a step in each of the ``windows``, by ``residuals``.

    Window l has l spikes.  Measured at the largest d the objectives are those of the closed
    system, and the closed system tends to L_l.  The closed system is told the setting with the
    changes ``told``; L_l is that of the same residual, or where ``swapped`` of the other, with or
    without ``lengthened`` rows.
    """
    given = dict(fields)
    names = ("multiple", "residuals", "told", "swapped", "lengthened", "windows")
    multiple, residuals, told, swapped, lengthened, windows = (given.pop(name) for name in names)
    steps = [None, *windows]
    quantities: list[Quantity] = []
    curves: list[Curve] = []
    levels: dict[str, float] = {}
    for residual in residuals:
        settings = [Setting(**given | {"d": size, "residual": residual}) for size in d]
        seen = [measured(setting, steps, multiple, runs) for setting in settings]
        theory = settings[-1].vary(**told)
        sizes = (d[-1], *DRAWN)
        closed = np.array([[_closed(theory, x, w, multiple) for x in sizes] for w in steps])
        other = {"labels": "full", "full": "labels"}[residual] if swapped else residual
        limit = limiting_losses(
            theory.vary(residual=other), count=len(windows), lengthened=lengthened
        ).objectives
        quantities += _shares(theory, residual, seen[-1], closed[:, 0])
        quantities += _limits(residual, closed[:, -1], limit)
        for order in range(len(steps)):
            label = f"{order} spikes, {residual}"
            samples = [4.0 * size for size in sizes]
            curves.append(Curve(label, samples, closed[order].tolist(), theory=True))
            curves.append(mean_curve(label, [4 * x for x in d], [s[:, order] for s in seen]))
            levels[f"$L_{order}$, {residual}"] = limit[order]
    plot = Plot("samples $n$", "training objective", curves, "log", levels=levels)
    return Findings(quantities, plot)


def _shares(
    theory: Setting,
    residual: str,
    seen: Float[np.ndarray, "runs k"],
    closed: Float[np.ndarray, " k"],
) -> list[Quantity]:
    """Each objective over the one before it, the first over the labels' mean square.

    The labels of a run move all of them alike, by n^-1/2; their ratios hardly.
    """
    before = np.column_stack([seen[:, -1], seen[:, :-2]])
    power = theory.target.series.square + theory.noise**2
    quantities = []
    for order in range(len(closed)):
        expected = float(closed[order] / (power if order == 0 else closed[order - 1]))
        half = 0.5 * (1.0 - expected)
        quantities.append(
            mean_of(
                f"{residual}: objective with {order} spikes over that before",
                seen[:, order] / before[:, order],
                (expected - half, expected + half),
                expected,
                # What the theory of a limit leaves out, and the mean of a ratio.
                allowance=2.0 / theory.d,
            )
        )
    return quantities


def _limits(
    residual: str, far: Float[np.ndarray, " k"], limit: Sequence[float]
) -> Iterator[Quantity]:
    """The closed system at d = FAR against L_1, L_2, .."""
    for order in range(1, len(far)):
        reach = REACHED * (limit[order - 1] - limit[order])
        name = f"{residual}: closed system with {order} spikes, n = {4 * FAR:.0e}"
        region = (limit[order] - reach, limit[order] + reach)
        yield exact(name, float(far[order]), region, limit[order], allowance=reach)


def _closed(setting: Setting, d: int, window: float | None, multiple: float) -> float:
    return losses(resized(setting, d, window, multiple)).objective


def resized(setting: Setting, d: int, window: float | None, multiple: float) -> Setting:
    """The setting at another d with its proportions, and the step of a window."""
    return setting.vary(
        d=d,
        n=setting.n // setting.d * d,
        p=setting.p // setting.d * d,
        readout_n=setting.readout_n // setting.d * d,
        step_size=window_step(window, multiple),
    )


def measured(
    setting: Setting, windows: Sequence[float | None], multiple: float, runs: int
) -> Float[np.ndarray, "runs k"]:
    """Objectives of every window, and last the mean square of the labels.

    One gradient a run, steps of all sizes along it.
    """
    sizes = [
        setting.vary(step_size=window_step(window, multiple)).step_size[0] for window in windows
    ]
    return np.array(
        [
            [
                *(_objective(step, size) for size in sizes),
                float(np.mean(step.training.labels**2)),
            ]
            for step in stepped_runs(setting.vary(step_size=1.0), range(runs))
        ]
    )


def _objective(step: SteppedRun, size: float) -> float:
    features = stepped_features(step, size)
    return objective(FeatureTable(features, step.training.labels), step.setting)


SMOOTH = WIDE | {
    "activation": centred("gelu(z)"),
    "readout_n": "n",
    # No test error is asked for; a stepped run draws test samples all the same.
    "test_n": 10,
    "multiple": 1.0,
    "residuals": ("labels", "full"),
    "told": {},
    "swapped": False,
    "lengthened": True,
    # gelu(z) - z/2 is even, so that c_3 = 0: two spikes from 1/4 up to the fourth at 3/8.
    "windows": (0.125, 0.3125),
}
REGIME = "n, d, p in proportion, eta = n^alpha"
RULE = (
    "each measured objective over the one before it is that of the closed system; the limit is by "
    "theory alone: the closed system at n = 4e15 is L_l within 1/20 of the gain of the last spike"
)
CUBIC = SMOOTH | {
    "target": "x1 + He2(x1)/sqrt(2) + He3(x1)/sqrt(6)",
    "activation": "He1 + He2/2 + He3/6",
    "residuals": ("labels",),
    "windows": (0.125, 0.275, 0.354),
}
WRONG: dict[str, dict[str, Any]] = {
    "noise that theory is not told of": {"noise": 1.0, "told": {"noise": 0.0}},
    "rows that keep their length in the formula": {"lengthened": False},
    "the formula of the other residual": {"swapped": True},
    "a penalty that theory is not told of": {"ridge": 1.0, "told": {"ridge": 0.1}},
}
FULL = {"d": (125, 350, 1000), "runs": 8}

CLAIMS = (
    Claim(
        id="limiting-losses",
        statement=(
            "With l spikes, l = 1, 2, the training objective tends to L_l, where beta is X^T r/n "
            "of the actual residual and the second spike kappa^2 + Delta, Delta the length the "
            "rows have gained."
        ),
        source=sources.beyond(
            sources.ONE_STEP,
            "Theorems 4.4 and 4.5",
            "the gradient of the network with its own output, and longer rows",
        ),
        regime=(
            f"{REGIME}; residual y and y less the network; gelu, of c_3 = 0; alpha = 1/8 and 5/16"
        ),
        rule=RULE,
        experiment=limits,
        fields=SMOOTH,
        controls=WRONG,
        quick={"d": (60, 200), "runs": 20},
        full=FULL,
        tuned={"multiple": (0.5, 2.0)},
    ),
    Claim(
        id="limiting-losses-of-three-spikes",
        statement=(
            "With three spikes the training objective tends to L_3 = L_2 - lambda m_1 f_3^2 "
            "cos^6, f_3^2 the power of the target's part of degree 3 and cos the cosine of beta "
            "with the target: the third spike fits a cubic part, whatever the length of the rows."
        ),
        source=sources.beyond(
            sources.ONE_STEP,
            "Theorems 4.4 and 4.5, which are for one spike and for two",
            "three spikes",
        ),
        regime=(
            f"{REGIME}; residual y; activation He1 + He2/2 + He3/6, target z + He2(z)/sqrt(2) + "
            "He3(z)/sqrt(6); alpha = 0.125, 0.275 and 0.354"
        ),
        rule=RULE,
        experiment=limits,
        fields=CUBIC,
        controls=WRONG,
        quick={"d": (60, 200), "runs": 40},
        full=FULL,
        tuned={"multiple": (0.5, 2.0)},
    ),
)
