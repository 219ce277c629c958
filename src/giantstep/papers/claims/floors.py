"""Claims about what the trained readout can and cannot reach (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.analysis.analyze import analyze
from giantstep.errors import NoTheoryError
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import Fields, readout_errors
from giantstep.papers.claims.quantity import (
    Quantity,
    Region,
    floor_from_both_sides,
    mean_of,
)
from giantstep.papers.claims.record import Claim, Findings
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot

BELOW: Region = (-math.inf, 0.0)
ANYWHERE: Region = (-math.inf, math.inf)
"""Of a number that is judged by its prediction alone."""


def last_errors(fields: Fields, **changes: Any) -> Float[np.ndarray, " runs"]:
    """Test error of the readout after the last step, one a run."""
    return readout_errors(fields, **changes)[:, -1]


def predicted_error(fields: Fields, **changes: Any) -> float | None:
    """The limiting test error after the last step, None where no theory covers the setting."""
    try:
        errors = predict(Setting(**(dict(fields) | changes))).test_error
    except NoTheoryError:
        return None
    return None if errors is None else float(errors[:, -1].mean())


def learned_floor(target: str, steps: int, degree: int) -> float:
    """|| P_{U, > degree} f ||^2 for U what ``steps`` giant steps at n of order d learn."""
    # Powers of the label matter for reused batches only.
    return analyze(target, label_degree=1).floors[steps].by_degree[degree]


def leak(p: int, d: int, degree: int) -> float:
    """p features span at most that share of the monomials of the degree in d inputs."""
    return p / math.comb(d + degree - 1, degree)


def excess_as_predicted(
    name: str,
    errors: Float[np.ndarray, " runs"],
    floor: float,
    predicted: float | None,
    leaks: float,
) -> list[Quantity]:
    """(error - floor)/floor against its prediction, which may miss the share that leaks."""
    if predicted is None:
        return []
    expected = predicted / floor - 1.0
    return [mean_of(name, errors / floor - 1.0, ANYWHERE, expected, allowance=leaks)]


def error_plot(
    x_label: str,
    x: Sequence[float],
    errors: Sequence[Float[np.ndarray, " runs"]],
    levels: Mapping[str, float],
    predicted: Sequence[float | None] = (),
) -> Plot:
    """Mean test errors against a size, the floors as levels."""
    means = [float(e.mean()) for e in errors]
    bars = [float(e.std(ddof=1) / math.sqrt(len(e))) for e in errors]
    curves = [Curve(name, list(x), [value] * len(x), theory=True) for name, value in levels.items()]
    known = [(a, b) for a, b in zip(x, predicted, strict=False) if b is not None]
    if known:
        curves.append(Curve("theory", [a for a, _ in known], [b for _, b in known], theory=True))
    curves.append(Curve("simulation", list(x), means, bars))
    return Plot(x_label, "test error", curves, "log")


def narrow_floor(fields: Fields, *, p: Sequence[int], d: int, runs: int) -> Findings:
    """Errors of narrow networks and E Var(f | P_U x), U what one step learns, from both sides.

    The rows hold at most p/d of a direction they have not learned, and so does the readout of any
    term that depends on it: the share that may leak at finite d.  The field ``untold`` holds fields
    of the simulation that the prediction does not know.
    """
    given = dict(fields)
    untold = given.pop("untold")
    taken = given | untold
    floor = learned_floor(given["target"], 1, 0)
    errors = [last_errors(taken, p=size, d=d, runs=runs) for size in p]
    limits = [predicted_error(given, p=size, d=d, runs=runs) for size in p]
    leaks = [leak(size, d, 1) for size in p]
    quantities = floor_from_both_sides("floor", p, errors, floor, leaks=leaks)
    for size, values, limit, share in zip(p, errors, limits, leaks, strict=True):
        name = f"excess over the floor, p = {size}"
        quantities += excess_as_predicted(name, values, floor, limit, share)
    return Findings(quantities, error_plot("neurons $p$", p, errors, {"floor": floor}, limits))


def wide_floor(
    fields: Fields,
    *,
    ratios: Sequence[float],
    samples: float,
    d: int,
    runs: int,
    learned: int,
) -> Findings:
    """Errors at p = ratio d, n = samples ratio d and || P_{U, > 1} f ||^2, from both sides.

    Theory is that of n, p, d in proportion: it does not know of the share of degree two that leaks.
    After a step the errors must be below the floor of random features at the largest ratio.  The
    field ``untold`` is that of narrow_floor.
    """
    given = dict(fields)
    untold = given.pop("untold")
    taken = given | untold
    target = given["target"]
    floor = learned_floor(target, learned, 1)
    sizes: list[dict[str, Any]] = [
        {"p": 2 * round(ratio * d / 2), "n": round(samples * ratio * d), "d": d, "runs": runs}
        for ratio in ratios
    ]
    errors = [last_errors(taken, **size) for size in sizes]
    limits = [predicted_error(given, **size) for size in sizes]
    leaks = [leak(size["p"], d, 2) for size in sizes]
    quantities = floor_from_both_sides("floor", ratios, errors, floor, leaks=leaks)
    for ratio, values, limit, share in zip(ratios, errors, limits, leaks, strict=True):
        name = f"excess over the floor, p = {ratio:g} d"
        quantities += excess_as_predicted(name, values, floor, limit, share)
    levels = {"floor": floor}
    if learned:
        levels["floor of random features"] = random = learned_floor(target, 0, 1)
        name = "excess over the floor of random features"
        quantities.append(mean_of(name, errors[-1] / random - 1.0, BELOW))
    return Findings(quantities, error_plot("$p/d$", ratios, errors, levels, limits))


NARROW = {"n": "32d", "readout_start": "gaussian", "readout_n": 20_000, "test_n": 60_000}
# The mean eigenvalue of s_p^2 Phi^T Phi/n is of order 1/p^2: a moderate penalty.
WIDE = {
    "activation": "relu",
    "readout_start": "gaussian",
    "ridge": "0.3/p^2",
    "test_n": 5000,
}
NOTHING_FITTED = {
    "a penalty far above the eigenvalues of the features: nothing is fitted": {
        "untold": {"ridge": "1e5/p^2"}
    }
}
# Degree one outside U = span(w1), then degree two: floors 3 (narrow) and 2 after one step.
LADDER = "x1 + x1*x2 + He2(x2)"
PENALTIES = {"ridge": ("0.1/p^2", "1/p^2")}

CLAIMS = (
    Claim(
        id="narrow-floor",
        statement=(
            "A narrow network fits what depends on the learned subspace U and no more, and with "
            "more and more neurons it fits all of that."
        ),
        source=sources.NARROW_FLOOR,
        regime="p fixed and far below d, n = 32 d, one step",
        rule=(
            "test error at least E Var(f | P_U x) but for the share p/d that leaks, its excess "
            "falling with p by an exponent below -0.1, and as predicted at every p"
        ),
        experiment=narrow_floor,
        fields=NARROW
        | {
            "target": "staircase",
            "activation": "relu",
            "steps": 1,
            "step_size": "2*p^1.5",
            "untold": {},
        },
        controls={
            "a second step learns more than U": {
                "untold": {"steps": 2, "step_size": "2*p^1.5, 8*p^1.5"}
            },
            **NOTHING_FITTED,
        },
        quick={"p": (4, 12, 36), "d": 1000, "runs": 12},
        full={"p": (4, 8, 16, 32, 64), "d": 4000, "runs": 20},
        tuned={"step_size": ("p^1.5", "8*p^1.5")},
    ),
    Claim(
        id="random-feature-floor",
        statement="Untrained features with n and p of order d fit nothing beyond degree one.",
        source=sources.RANDOM_FEATURES,
        regime="n = p = ratio d, no step",
        rule=(
            "test error at least the power of degree > 1 but for what leaks, the excess falling "
            "with the ratio by an exponent below -0.1, and as predicted at every ratio"
        ),
        experiment=partial(wide_floor, samples=1.0, learned=0),
        fields=WIDE | {"target": "x1 + He2(x1)/2", "steps": 0, "untold": {}},
        controls={
            "one giant step learns w1 and with it He2(x1)": {
                "untold": {"steps": 1, "step_size": "3*p^1.5"}
            },
            "hardly a penalty: at n = p the noise of the samples is fitted": {
                "untold": {"ridge": "1e-4/p^2"}
            },
            **NOTHING_FITTED,
        },
        quick={"ratios": (1, 4), "d": 72, "runs": 12},
        full={"ratios": (1, 2, 4), "d": 200, "runs": 12},
        tuned=PENALTIES,
    ),
    Claim(
        id="feature-learning-floor",
        statement=(
            "After one step with n and p of order d the readout fits degree one outside U, no more."
        ),
        source=sources.FEATURE_FLOOR,
        regime="p = ratio d, n = 4 ratio d, one step",
        rule=(
            "test error at least || P_{U, > 1} f ||^2 but for what leaks and below the floor of "
            "random features, the excess falling with the ratio by an exponent below -0.1, and as "
            "predicted"
        ),
        experiment=partial(wide_floor, samples=4.0, learned=1),
        fields=WIDE | {"target": LADDER, "steps": 1, "untold": {}},
        controls={
            "more steps learn w2, and with it He2(x2)": {"untold": {"steps": 3}},
            **NOTHING_FITTED,
        },
        quick={"ratios": (1, 4), "d": 64, "runs": 12},
        full={"ratios": (1, 2, 4), "d": 200, "runs": 12},
        tuned=PENALTIES,
    ),
)
