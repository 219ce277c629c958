"""Findings about scaling laws: power-law random features, beyond arXiv 2405.15074."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from giantstep.analysis.power_law import PowerLawFeatures, power_law_features, power_law_phase
from giantstep.analysis.power_law_equivalent import power_law_equivalent
from giantstep.papers.claims import sources
from giantstep.papers.claims.quantity import mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings
from giantstep.records.plot import Curve, Plot

Exponents = tuple[float, float]
"""The exponents alpha of the inputs and beta of the labels."""

ANYWHERE = (-math.inf, math.inf)


def _slope(x: Float[np.ndarray, " m"], y: Float[np.ndarray, " m"]) -> float:
    """Exponent of y in x by least squares."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def _rate(alpha: float, inputs: int) -> float:
    """A step size of 0.3 over the sum of the variances; losses grow from 2 over the sum on."""
    return 0.3 / float(np.sum(np.arange(1.0, inputs + 1.0) ** (-2.0 * alpha)))


def _losses(
    features: Sequence[PowerLawFeatures], work: Float[np.ndarray, " c"], rate: float
) -> Float[np.ndarray, "m c"]:
    """Mean losses at each size and each amount of work, which is step size times steps times d."""
    return np.array([each.mean_losses(work / (rate * each.d), rate) for each in features])


def _best_sizes(
    d: Sequence[int], losses: Float[np.ndarray, "m c"]
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, " c"]]:
    """The best size at each compute and its loss, by a parabola through the three best sizes."""
    x, y = np.log(d), np.log(losses)
    sizes, best = [], []
    for column in y.T:
        k = min(max(int(np.argmin(column)), 1), len(x) - 2)
        bend, slope, level = np.polyfit(x[k - 1 : k + 2] - x[k], column[k - 1 : k + 2], 2)
        step = np.clip(-0.5 * slope / bend, x[k - 1] - x[k], x[k + 1] - x[k]) if bend > 0 else 0.0
        sizes.append(math.exp(x[k] + step))
        best.append(math.exp(level + slope * step + bend * step**2))
    return np.array(sizes), np.array(best)


def _window(
    d: Sequence[int], features: Sequence[PowerLawFeatures], rate: float, crossing: float
) -> Float[np.ndarray, " c"]:
    """Amounts of work from where the third size is best to where the third from the end is."""
    # The best size grows as the work to the power 1/(1 + crossing), up to constants.
    work = np.geomspace(d[0] ** (1.0 + 0.5 * crossing), 100.0 * d[-1] ** (1.0 + crossing), 200)
    sizes, _ = _best_sizes(d, _losses(features, work, rate))
    first, last = (work[int(np.argmax(sizes >= d[k]))] for k in (2, -3))
    return np.geomspace(first, last, 12)


def _exponents(
    d: Sequence[int],
    work: Float[np.ndarray, " c"],
    losses: Float[np.ndarray, "m c"],
    floors: Float[np.ndarray, " m"],
) -> Float[np.ndarray, " 3"]:
    """Exponents of the best loss and the best size in the work, and of the floor in d."""
    sizes, best = _best_sizes(d, losses)
    return np.array(
        [_slope(work, best), _slope(work, sizes), _slope(np.array(d, dtype=float), floors)]
    )


def compute_optimal(
    setting: Fields, *, promised: Exponents, drawn: Exponents, d: Sequence[int], draws: int
) -> Findings:
    """Exponents of the best loss, of the best size and of the floor, beside those of theory.

    Losses are exact means over the samples (analysis/power_law.py), averaged over ``draws``
    matrices W; a small W is a part of a large one.  The deterministic equivalent at the same sizes
    gives the expected exponents and the range of the compute, step size times steps times d.
    Exponents of the draws are jackknife values: n times that of all minus n - 1 times that of all
    but one, whose mean has no bias of order 1/n and whose spread is that of an exponent.
    """
    phase, inputs = power_law_phase(*promised), 8 * d[-1]
    theory = [power_law_equivalent(*promised, size, inputs) for size in d]
    rate = _rate(promised[0], inputs)
    work = _window(d, theory, rate, phase.crossing)
    predicted = _losses(theory, work, rate)
    expected = _exponents(d, work, predicted, np.array([each.floor for each in theory]))
    losses, floors = [], []
    for draw in range(draws):
        seed = setting["seed"] + 10_000 * draw
        found = [power_law_features(*drawn, size, inputs, seed) for size in d]
        losses.append(_losses(found, work, _rate(drawn[0], inputs)))
        floors.append([each.floor for each in found])
    mean, mean_floor = np.mean(losses, axis=0), np.mean(floors, axis=0)
    whole = _exponents(d, work, mean, mean_floor)
    without = [
        _exponents(
            d,
            work,
            (draws * mean - losses[k]) / (draws - 1),
            (draws * mean_floor - floors[k]) / (draws - 1),
        )
        for k in range(draws)
    ]
    values = draws * whole - (draws - 1) * np.array(without)
    quantities = [
        mean_of(name, values[:, k], ANYWHERE, float(expected[k]))
        for k, name in enumerate(("best loss", "best size", "floor"))
    ]
    return Findings(quantities, _frontier(work, d, mean, predicted))


def _frontier(
    work: Float[np.ndarray, " c"],
    d: Sequence[int],
    losses: Float[np.ndarray, "m c"],
    predicted: Float[np.ndarray, "m c"],
) -> Plot:
    """Measured and predicted losses of a few sizes over the compute."""
    x, curves = work.tolist(), []
    for k in range(3, len(d) - 2, 2):
        curves.append(Curve(f"$d={d[k]}$", x, losses[k].tolist()))
        curves.append(Curve(f"$d={d[k]}$, theory", x, predicted[k].tolist(), theory=True))
    return Plot("compute, step size times steps times $d$", "mean loss", curves, "log", "log")


QUICK = {"d": (16, 23, 32, 45, 64, 91, 128, 181, 256, 362), "draws": 48}
FULL = {"d": (16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512), "draws": 48}


def _phase_finding(number: str, promised: Exponents, others: dict[str, Exponents]) -> Claim:
    """The finding about a phase, with draws of other exponents as controls."""
    alpha, beta = promised
    phase = power_law_phase(*promised)
    return Claim(
        id=f"power-law-phase-{number}",
        statement=(
            rf"In phase {phase.name} of power-law random features ($\alpha={alpha:g}$, "
            rf"$\beta={beta:g}$), a deterministic equivalent gives the exponents of the best loss, "
            rf"the best size and the floor at finite $d$. In the limit, these are "
            rf"${phase.compute:.3g}$ and ${phase.size:.3g}$ in the compute and ${phase.floor:.3g}$ "
            r"in $d$."
        ),
        regime="one-pass SGD, linear features, power-law inputs",
        rule=(
            "The exponents are those of the deterministic equivalent at the same sizes, within "
            "four standard errors over drawn matrices. The limit is derived and no part of the "
            "verdict."
        ),
        experiment=compute_optimal,
        setting={},
        source=sources.beyond(
            "arXiv 2405.15074",
            f"compute-optimal exponents of phase {phase.name}",
            "Exponents at finite $d$ are predicted, which the paper gives in the limit. All sizes "
            "share one number of inputs.",
        ),
        options={"promised": promised, "drawn": promised},
        controls={reason: Changes(options={"drawn": other}) for reason, other in others.items()},
        quick=QUICK,
        full=FULL,
    )


CLAIMS = (
    _phase_finding(
        "1",
        (1.0, 0.2),
        {
            "The labels are those of phase II.": (1.0, 0.8),
            "Inputs and labels are those of phase III.": (0.7, 1.2),
        },
    ),
    _phase_finding(
        "2",
        (1.0, 0.8),
        {
            "The labels are those of phase Ia.": (1.0, 0.2),
            "Inputs and labels are those of phase Ia.": (1.5, 0.2),
        },
    ),
    _phase_finding(
        "3",
        (0.7, 1.2),
        {
            "The labels are those of phase Ia.": (0.7, 0.3),
            "Inputs and labels are those of phase Ia.": (1.5, 0.2),
        },
    ),
)
