"""Claims about the training objective as spikes grow without bound (arXiv 2310.07891)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims.experiments import Fields
from giantstep.papers.claims.feature_experiments import objective, stepped_features
from giantstep.papers.claims.linear_width import ONE_STEP, WIDE
from giantstep.papers.claims.quantity import Quantity, exact, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.limits import limiting_losses
from giantstep.prediction.wide.losses import losses
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.simulation.stepped import SteppedRun, stepped_runs
from giantstep.simulation.table import FeatureTable

WINDOWS = (None, 0.125, 0.3125)
"""No step, and the middles of the windows of one and of two spikes.

gelu(z) - z/2 is even, so that c_3 = 0: two spikes from 1/4 up to the fourth at 3/8.
"""

FAR = 10**12
"""d at which the closed system is held against the limit: what is left of n^-1/8 is 3 %."""

REACHED = 0.05
"""Share of a spike's gain within which the limit is reached at d = FAR.

The formulas that are told apart differ by a fifth: 2/3 or 2/(2 + (1 + Delta)^2) for the second
spike, Delta = 0.27, and cos^2 = 2/3 or 0.55 for the first.
"""

DRAWN = (10**4, 10**7, FAR)
"""Dimensions of the closed system in the figure."""


def window_step(window: float | None, multiple: float) -> str | float:
    """eta = multiple n^alpha at a window's alpha, 0 for no step."""
    return 0.0 if window is None else f"{multiple}*n^{window:g}"


def limits(fields: Fields, *, d: Sequence[int], runs: int) -> Findings:
    """Objectives without a step, with one spike and with two, for each of the ``residuals``.

    Measured at the largest d they are those of the closed system, and the closed system tends to
    L_l.  The closed system is told the setting with the changes ``told``; L_l is that of the same
    residual, or where ``swapped`` of the other, with or without ``lengthened`` rows.
    """
    given = dict(fields)
    names = ("multiple", "residuals", "told", "swapped", "lengthened")
    multiple, residuals, told, swapped, lengthened = (given.pop(name) for name in names)
    quantities: list[Quantity] = []
    curves: list[Curve] = []
    levels: dict[str, float] = {}
    for residual in residuals:
        settings = [Setting(**given | {"d": size, "residual": residual}) for size in d]
        seen = [measured(setting, multiple, runs) for setting in settings]
        theory = settings[-1].vary(**told)
        sizes = (d[-1], *DRAWN)
        closed = np.array([[_closed(theory, x, w, multiple) for x in sizes] for w in WINDOWS])
        other = {"labels": "full", "full": "labels"}[residual] if swapped else residual
        limit = limiting_losses(theory.vary(residual=other), lengthened=lengthened).objectives
        quantities += _shares(theory, residual, seen[-1], closed[:, 0])
        quantities += _limits(residual, closed[:, -1], limit)
        for order in range(len(WINDOWS)):
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
    seen: Float[np.ndarray, "runs 4"],
    closed: Float[np.ndarray, " 3"],
) -> list[Quantity]:
    """Each objective over the one before it, the first over the labels' mean square.

    The labels of a run move all of them alike, by n^-1/2; their ratios hardly.
    """
    before = np.column_stack([seen[:, 3], seen[:, :2]])
    power = theory.target.series.square + theory.noise**2
    quantities = []
    for order in range(len(WINDOWS)):
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
    residual: str, far: Float[np.ndarray, " 3"], limit: Sequence[float]
) -> Iterator[Quantity]:
    """The closed system at d = FAR against L_1 and L_2."""
    for order in (1, 2):
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


def measured(setting: Setting, multiple: float, runs: int) -> Float[np.ndarray, "runs 4"]:
    """Objectives of every window, and the mean square of the labels.

    One gradient a run, steps of all sizes along it.
    """
    sizes = [
        setting.vary(step_size=window_step(window, multiple)).step_size[0] for window in WINDOWS
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
}
REGIME = "n, d, p in proportion, eta = n^alpha, alpha = 1/8, 5/16, c_1, c_2 != 0 = c_3"
QUICK, FULL = {"d": (60, 200), "runs": 12}, {"d": (125, 350, 1000), "runs": 8}

CLAIMS = (
    Claim(
        "limiting-losses-of-rank-one",
        "With l spikes the training objective tends to L_l, where beta is X^T y/n, cos^2 = 2/3 and "
        "the second spike sees 2/3 of the degree-2 part that beta knows.",
        f"{ONE_STEP}, Theorems 4.4 and 4.5",
        f"{REGIME}; the step is that of the network with its own output",
        "each objective over the one before it is that of the closed system, whose limit is L_l "
        "within 1/20 of the gain",
        limits,
        SMOOTH | {"residuals": ("full",), "swapped": True, "lengthened": False},
        {
            "noise that theory is not told of": {"noise": 1.0, "told": {"noise": 0.0}},
        },
        QUICK,
        FULL,
        tuned={"multiple": (1.5, 2.0)},
        seen="the output of the network at its start turns beta away: L_1 = 1.057 and not 0.997; "
        "the rows lengthen, so that the second spike is kappa^2 + Delta: L_2 = 0.920, and 0.793 in "
        "place of 0.750 where the step uses labels alone.",
        corrected="limiting-losses",
    ),
    Claim(
        "limiting-losses",
        "With l spikes the training objective tends to L_l, where beta is X^T r/n of the actual "
        "residual and the second spike kappa^2 + Delta, Delta the length the rows have gained.",
        f"{ONE_STEP}, Theorems 4.4 and 4.5, for the actual gradient",
        f"{REGIME}; residual y and y less the network",
        "each objective over the one before it is that of the closed system, whose limit is L_l "
        "within 1/20 of the gain",
        limits,
        SMOOTH,
        {
            "noise that theory is not told of": {"noise": 1.0, "told": {"noise": 0.0}},
            "rows that keep their length in the formula: 2/3 for the second spike": {
                "lengthened": False
            },
            "the formula of the other residual": {"swapped": True},
            "a penalty that theory is not told of": {"ridge": 1.0, "told": {"ridge": 0.1}},
        },
        QUICK | {"runs": 20},
        FULL,
        tuned={"multiple": (1.5, 2.0)},
    ),
)
