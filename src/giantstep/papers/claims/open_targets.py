"""Open questions of arXiv 2305.18270 about targets and activations of narrow networks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from giantstep.analysis.analyze import analyze
from giantstep.papers.claims.experiments import (
    Fields,
    Runs,
    as_predicted,
    merged,
    neurons,
    over_sizes,
    predicted_statistic,
    scaling_curve,
    scaling_findings,
    strongest,
)
from giantstep.papers.claims.quantity import LEARNED, NOT_LEARNED, drift, exponent_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.plot import Curve, Plot

PAPER = "arXiv 2305.18270 (JMLR)"
ONE_STEP = "p fixed, n of order d, one step, d to infinity"


def weaker_links(
    fields: Fields, *, weights: Sequence[float], d: Sequence[int], runs: Runs
) -> Findings:
    """Cosine with w1 - w2 after step 2 for weaker and weaker links, against d and the prediction.

    ``{weight}`` in the target stands for the weight of the link; the prediction is that of the
    target in the field ``predicted``.
    """
    statistic = strongest([[1.0, -1.0]], 2)
    given = dict(fields) | {"steps": 2}
    simulated, told = given.pop("target"), given.pop("predicted")
    quantities, measured, predicted = [], [], []
    for weight in weights:
        setting = given | {"target": simulated.format(weight=weight)}
        values = over_sizes(setting, d, runs, {"cosine": statistic})["cosine"]
        limit = predicted_statistic(
            given | {"target": told.format(weight=weight)}, statistic, d[-1]
        )
        name = f"weight {weight:g}"
        quantities.append(
            exponent_of(f"exponent, {name}", d, values, LEARNED, 0.0, allowance=drift(d))
        )
        quantities.append(as_predicted(f"cosine, {name}", values[-1], limit, d[-1]))
        measured.append(values[-1])
        predicted.append(limit)
    curves = [
        Curve("theory", list(weights), predicted, theory=True),
        scaling_curve("simulation", weights, measured),
    ]
    plot = Plot("weight of the link", "cosine with $w_1 - w_2$", curves, "log", "log")
    return Findings(quantities, plot)


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
WEAK_LINKS = "x1 + x2 + {weight}*(x1^2 - x2^2)"
FULL = {"d": (300, 3000, 30_000, 300_000), "runs": 16}

CLAIMS = (
    Claim(
        "weaker-links",
        "x1 + x2 + eps (x1^2 - x2^2): step 2 learns w1 - w2 for every eps > 0, less and less.",
        f"{PAPER}, next check: robustness of the staircase",
        "p fixed, n = 16 d, two fresh batches, eps fixed as d grows",
        "exponent in d of the root mean square cosine with w1 - w2 above -1/4 and as predicted, 0, "
        "at every eps, its value as predicted but for a share d^(-1/2)",
        weaker_links,
        RELU
        | {
            "target": WEAK_LINKS,
            "predicted": WEAK_LINKS,
            "n": "16d",
            "step_size": "4*p",
        },
        {
            "labels with equal links: nothing is linear given w1 + w2": {
                "target": "x1 + x2 + {weight}*(x1^2 + x2^2 - 2)"
            }
        },
        {"weights": (0.1, 1.0), "d": (200, 2000, 12_000), "runs": 12},
        {"weights": (0.03, 0.1, 0.3, 1.0), "d": (300, 3000, 30_000, 300_000), "runs": 8},
    ),
    Claim(
        "effective-leap",
        "A target that is no polynomial is learned at n of order d just if its leap is one.",
        f"{PAPER}, next check: non-polynomial targets",
        f"{ONE_STEP}; n = 8 d",
        "exponent in d of the root mean square cosine of the neurons with what they know best of "
        "V*: above -1/4 and as predicted, 0, where the expansion has a linear part, below and as "
        "predicted, -1/2, where it has none",
        effective_leaps,
        # The start is a share of order d^-1/2 of the rows, which ten giant steps make small.
        RELU | {"targets": TARGETS, "added": "", "n": "8d", "step_size": "10*giant"},
        {
            "an even activation cannot pick up a linear part": {"activation": "abs(z)"},
            "labels with a linear part that the expansion does not have": {"added": " + x1"},
        },
        {"d": (500, 2500, 12_000), "runs": (64, 24, 48)},
        FULL,
    ),
    Claim(
        "other-activations",
        "One step learns the line v* with each of the usual activations.",
        f"{PAPER}, next check: other activations",
        f"{ONE_STEP}; n = 8 d",
        "exponent in d of the median cosine above -1/4 and as predicted, 0, for every activation",
        partial(each_learned, over="activation"),
        {"target": "x1 + He2(x1)/2", "activation": ACTIVATIONS, "n": "8d", "p": 8, "drifts": 1.0},
        {"without a step the rows know nothing": {"step_size": 0.0}},
        {"d": (200, 1500, 12_000), "runs": 10},
        FULL,
    ),
)
