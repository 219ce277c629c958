"""Claims about the readout of wide networks: degree two at n, p ~ d^2, and any penalty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import Fields
from giantstep.papers.claims.floors import (
    ANYWHERE,
    NOTHING_FITTED,
    WIDE,
    error_plot,
    last_errors,
    leak,
    learned_floor,
)
from giantstep.papers.claims.quantity import Quantity, floor_from_both_sides, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting


def limiting_excess(
    name: str,
    errors: Float[np.ndarray, " runs"],
    floor: float,
    fields: Fields,
    theory: str,
    *,
    region: tuple[float, float] = ANYWHERE,
    leaks: float = 0.0,
) -> tuple[Quantity, float]:
    """(error - floor)/floor against a theory of wide networks, and the error that it predicts.

    What the theory leaves out at these sizes, relative to the error, and the share that leaks are
    the allowance.
    """
    prediction = predict(Setting(**fields), theory=theory)
    if prediction.test_error is None:
        raise ValueError(f"the theory {theory} gives no test error: {prediction.notes}")
    predicted = float(prediction.test_error[:, -1].mean())
    allowance = prediction.relative_uncertainty * predicted / floor + leaks
    expected = predicted / floor - 1.0
    quantity = mean_of(name, errors / floor - 1.0, region, expected, allowance=allowance)
    return quantity, predicted


def degree_two(
    fields: Fields, *, ratios: Sequence[float], samples: float, d: int, runs: int
) -> Findings:
    """Errors of untrained features at p = ratio d^2, n = samples p and the power of degree > 2.

    The target has nothing beyond degree 3, and relu no coefficient of degree 3: nothing leaks.  At
    the largest ratio the error must be nearer to this floor than to that of degree 1.  The field
    ``untold`` has fields of the simulation that theory does not know.
    """
    given = dict(fields)
    untold = given.pop("untold")
    floor, linear = (learned_floor(given["target"], 0, degree) for degree in (2, 1))
    sizes: list[dict[str, Any]] = []
    for ratio in ratios:
        p = 2 * round(ratio * d**2 / 2)
        sizes.append({"p": p, "n": round(samples * p), "d": d, "runs": runs})
    errors = [last_errors(given | untold, **size) for size in sizes]
    quantities = floor_from_both_sides("floor", ratios, errors, floor, leaks=[0.0] * len(ratios))
    predicted = []
    for ratio, size, values in zip(ratios, sizes, errors, strict=True):
        name = f"excess over the floor, p = {ratio:g} d^2"
        quantity, limit = limiting_excess(name, values, floor, given | size, "quadratic-width")
        quantities.append(quantity)
        predicted.append(limit)
    quantities.append(
        mean_of("error at the largest ratio", errors[-1], (-math.inf, 0.5 * (floor + linear)))
    )
    levels = {"power of degree > 2": floor, "power of degree > 1": linear}
    return Findings(quantities, error_plot("$p/d^2$", ratios, errors, levels, predicted))


def every_penalty(
    fields: Fields, *, penalties: Sequence[float], ratio: int, samples: int, d: int, runs: int
) -> Findings:
    """Errors after one step at p = ratio d, n = samples p, for penalties over many decades.

    A penalty is in units of 1/p^2, the order of the mean eigenvalue of s_p^2 Phi^T Phi/n.  None
    may bring the error below || P_{U, > 1} f ||^2 but for the share that leaks; the field
    ``untold`` is that of degree_two.
    """
    given = dict(fields)
    untold = given.pop("untold")
    floor, p = learned_floor(given["target"], 1, 1), ratio * d
    size = {"p": p, "n": samples * p, "d": d, "runs": runs}
    share = leak(p, d, 2)
    quantities, errors, predicted = [], [], []
    for penalty in penalties:
        taken = given | size | {"ridge": f"{penalty:g}/p^2"}
        values = last_errors(taken | untold)
        quantity, limit = limiting_excess(
            f"excess over the floor, penalty {penalty:g}/p^2",
            values,
            floor,
            taken,
            "linear-width",
            region=(-share, math.inf),
            leaks=share,
        )
        quantities.append(quantity)
        errors.append(values)
        predicted.append(limit)
    plot = error_plot("penalty times $p^2$", penalties, errors, {"floor": floor}, predicted)
    return Findings(quantities, plot)


# One step learns U = span(w1): He3(x2) is out of reach, a product of equal power is not.
LEARNED_PART = "x1 + He2(x1)/2"
OUT_OF_REACH = "x1 + He2(x1)/2 + He3(x2)/2"
WITHIN_REACH = "x1 + He2(x1)/2 + sqrt(1.5)*x1*x2"

CLAIMS = (
    Claim(
        id="random-feature-degree-two",
        statement=(
            "Untrained features with n and p of order d^2 fit the target's degrees 1 and 2 and "
            "nothing of higher degree, for an activation with c_1 and c_2 other than zero."
        ),
        source=sources.RANDOM_FEATURES,
        regime="p = ratio d^2, n = 4 p, relu, no step",
        rule=(
            "test error at least the power of degree > 2, its excess falling with the ratio by an "
            "exponent below -0.1 and as the theory of quadratic width predicts, and at the largest "
            "ratio nearer to that power than to the power of degree > 1"
        ),
        experiment=degree_two,
        fields=WIDE
        | {
            "target": "x1 + x1*x2 + x1*x2*x3/2",
            "steps": 0,
            # Without partners all p features differ.
            "start": "sphere",
            "ridge": "0.03/p^2",
            "test_n": 20_000,
            "untold": {},
        },
        controls={
            "tanh has no coefficient of degree 2": {"activation": "tanh"},
            "after a giant step, with c_3 != 0, x1*x2*x3 is of degree 2 beside w1": {
                "untold": {"steps": 1, "step_size": "p^1.5", "activation": "He1 + He2 + He3/3"}
            },
            **NOTHING_FITTED,
        },
        quick={"ratios": (0.5, 1, 2), "samples": 4.0, "d": 20, "runs": 6},
        full={"ratios": (0.5, 1, 2), "samples": 4.0, "d": 28, "runs": 8},
        tuned={"ridge": ("0.003/p^2", "0.3/p^2")},
    ),
    Claim(
        id="floor-at-any-penalty",
        statement=(
            "After one step with n and p of order d no penalty of the readout brings the error "
            "below the power of what is of degree > 1 outside of U."
        ),
        source=sources.FEATURE_FLOOR,
        regime="p = 3 d, n = 15 d, one step, penalties from 1e-6 to 1e2 in units of 1/p^2",
        rule=(
            "test error at least || P_{U, > 1} f ||^2 but for what leaks at every penalty, and as "
            "the theory of linear width predicts"
        ),
        experiment=every_penalty,
        # Nothing of degree 2 turns the rows towards w2: the theory of linear width leaves that out.
        fields=WIDE | {"target": OUT_OF_REACH, "steps": 1, "test_n": 20_000, "untold": {}},
        controls={
            "what is outside of U is of degree 1, and fitted": {"untold": {"target": WITHIN_REACH}},
            "nothing of the target is outside of U": {"untold": {"target": LEARNED_PART}},
        },
        quick={
            "penalties": (1e-6, 1e-3, 1.0, 1e2),
            "ratio": 3,
            "samples": 5,
            "d": 100,
            "runs": 10,
        },
        full={
            "penalties": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 1e2),
            "ratio": 3,
            "samples": 5,
            "d": 200,
            "runs": 8,
        },
    ),
)
