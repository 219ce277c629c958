"""Open questions of arXiv 2305.18270 about targets and activations of narrow networks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.analysis.analyze import analyze
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    Fields,
    Runs,
    merged,
    neurons,
    over_sizes,
    scaling_findings,
    strongest,
)
from giantstep.papers.claims.quantity import LEARNED, NOT_LEARNED, drift, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

NOTICED = 0.4
"""The cosine at which a direction is called learned where a time is measured."""

ONE_STEP = "p fixed, n of order d, one step, d to infinity"


def crossing(cosines: Float[np.ndarray, "runs t"]) -> Float[np.ndarray, " runs"]:
    """Number of steps until a cosine reaches NOTICED, between two steps by interpolation.

    ``cosines`` are those after 0, 1, .. steps; a run that does not get there has one step more than
    it takes.
    """
    times = []
    for row in cosines:
        reached = np.flatnonzero(row >= NOTICED)
        if len(reached) == 0:
            times.append(float(len(row)))
            continue
        step = max(int(reached[0]), 1)
        before, after = row[step - 1], row[step]
        times.append(step - (after - NOTICED) / (after - before))
    return np.array(times)


def weaker_links(
    fields: Fields, *, weights: Sequence[float], steps: int, d: int, runs: int
) -> Findings:
    """Number of steps until w2 is learned for weaker and weaker linear parts, and as predicted.

    ``{weight}`` in the target stands for the weight of the linear part; the prediction is that of
    the target in the field ``predicted``.  Overlaps of the start are of order d^(-1/2) beside the
    weight and change the time by as much of a step: the allowance.
    """
    given = FIRST_LAYER | dict(fields) | {"steps": steps, "d": d, "runs": runs}
    simulated, told = given.pop("target"), given.pop("predicted")
    quantities, measured, predicted = [], [], []
    for weight in weights:
        found = simulate(Setting(**given | {"target": simulated.format(weight=weight)}))
        theory = predict(
            Setting(**given | {"target": told.format(weight=weight)}),
            theory="narrow",
            deviations=False,
        )
        times, limit = crossing(second_cosines(found)), float(crossing(second_cosines(theory))[0])
        name = f"steps to learn w2, weight {weight:g}"
        region = (limit - 0.5, limit + 0.5)
        allowance = d**-0.5 / weight
        quantities.append(mean_of(name, times, region, limit, allowance=allowance))
        measured.append(times)
        predicted.append(limit)
    inverse = [1.0 / weight for weight in weights]
    curves = [
        Curve("theory", inverse, predicted, theory=True),
        mean_curve("simulation", inverse, measured),
    ]
    return Findings(
        quantities, Plot("1 over the weight of the linear part", "steps", curves, "log")
    )


def second_cosines(found: Trajectory) -> Float[np.ndarray, "runs t"]:
    """Root mean square cosine of the neurons with w2 after every step."""
    return np.sqrt(np.mean(found.cosine[..., 1] ** 2, axis=2))


def effective_leaps(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """Each of the ``targets`` is learned by one step at n of order d just if its leap is one.

    The labels are those of the target and what the field ``added`` adds to it.
    """
    setting = dict(fields) | {"steps": 1}
    added = setting.pop("added")
    parts = []
    for target in setting.pop("targets"):
        record = analyze(target, label_degree=1)
        basis = np.eye(record.target.r).tolist()
        labels = {"target": f"{target}{added}"}
        values = over_sizes(setting | labels, d, runs, {target: strongest(basis, 1)})
        learned = record.leap_index == 1
        region, expected = (LEARNED, 0.0) if learned else (NOT_LEARNED, -0.5)
        parts.append(
            scaling_findings(
                d, values, {target: region}, {target: expected}, "cosine of the neurons"
            )
        )
    return merged(parts)


def each_learned(fields: Fields, *, d: Sequence[int], runs: Runs, over: str) -> Findings:
    """One step learns w1 whatever the value of the field: the field ``over`` holds a list.

    ``drifts`` of the fields is the factor of the exponents' drift.
    """
    setting = dict(fields) | {"steps": 1}
    drifts = setting.pop("drifts")
    values: dict[str, Any] = {}
    for value in setting[over]:
        # A single value may be another in a control: its quantity keeps the name.
        name = str(value) if len(setting[over]) > 1 else "cosine"
        statistics = {name: neurons([[1.0]], 1)}
        values |= over_sizes(setting | {over: value}, d, runs, statistics)
    return scaling_findings(
        d,
        values,
        dict.fromkeys(values, LEARNED),
        dict.fromkeys(values, 0.0),
        "cosine with $w_1$",
        allowance=drift(d, drifts),
    )


RELU = {"activation": "relu", "p": 4}
ACTIVATIONS = ("relu", "leaky_relu", "gelu", "softplus", "tanh", "erf", "sigmoid", "silu")
TARGETS = (
    "tanh(x1)",
    "sign(x1)",
    "tanh(x1 + He3(x2))",
    "abs(x1)",
    "cos(x1)",
    "sign(x1*x2)",
)
WEAK_LINKS = "{weight}*x1 + x1*x2"
FULL = {"d": (300, 3000, 30_000, 300_000), "runs": 16}

CLAIMS = (
    Claim(
        id="weaker-links",
        statement=(
            "eps x1 + x1 x2: the weaker the linear part, the more steps it takes to learn w2, and "
            "theory predicts how many."
        ),
        source=sources.question(sources.FEW_STEPS, "how a staircase degrades as its links weaken"),
        regime="n = 16 d, one pair of relu neurons, steps of size 2p on fresh batches",
        rule=(
            "number of steps until the root mean square cosine with w2 is 0.4 as theory predicts "
            "but for the share d^(-1/2)/eps that the start adds, and within half a step of it, at "
            "every eps"
        ),
        experiment=weaker_links,
        fields={
            "target": WEAK_LINKS,
            "predicted": WEAK_LINKS,
            "activation": "relu",
            "n": "16d",
            "p": 2,
            "step_size": "2p",
        },
        controls={
            "labels with He3(x2) in place of the product: w2 is never linear": {
                "target": "{weight}*x1 + He3(x2)"
            },
            "labels with half the linear part": {"target": "{weight}*x1/2 + x1*x2"},
        },
        quick={"weights": (1.0, 0.3, 0.1), "steps": 7, "d": 30_000, "runs": 8},
        full={"weights": (1.0, 0.3, 0.1, 0.03), "steps": 10, "d": 200_000, "runs": 8},
    ),
    Claim(
        id="effective-leap",
        statement=(
            "A target that is no polynomial is learned at n of order d just if its leap is one."
        ),
        source=sources.question(sources.FEW_STEPS, "targets that are no polynomials"),
        regime=f"{ONE_STEP}; n = 8 d",
        rule=(
            "exponent in d of the root mean square cosine of the neurons with what they know best "
            "of V*: above -1/4 and as predicted, 0, where the expansion has a linear part, below "
            "and as predicted, -1/2, where it has none"
        ),
        experiment=effective_leaps,
        # The start is a share of order d^-1/2 of the rows, which ten giant steps make small.
        fields=RELU | {"targets": TARGETS, "added": "", "n": "8d", "step_size": "10*giant"},
        controls={
            "an even activation cannot pick up a linear part": {"activation": "abs(z)"},
            "labels with a linear part that the expansion does not have": {"added": " + x1"},
        },
        quick={"d": (500, 2500, 12_000), "runs": (64, 24, 48)},
        full=FULL,
    ),
    Claim(
        id="other-activations",
        statement="One step learns the line v* with each of the usual activations.",
        source=sources.question(
            sources.ONE_STEP, "other activations, asked here of a narrow network"
        ),
        regime=f"{ONE_STEP}; n = 8 d",
        rule=(
            "exponent in d of the median cosine above -1/4 and as predicted, 0, for every "
            "activation"
        ),
        experiment=partial(each_learned, over="activation"),
        fields={
            "target": "x1 + He2(x1)/2",
            "activation": ACTIVATIONS,
            "n": "8d",
            "p": 8,
            "drifts": 1.0,
        },
        controls={"without a step the rows know nothing": {"step_size": 0.0}},
        quick={"d": (200, 1500, 12_000), "runs": 10},
        full=FULL,
    ),
)
