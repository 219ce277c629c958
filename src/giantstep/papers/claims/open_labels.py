"""Noise and corruption of labels, asked of a narrow network after one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    Fields,
    neurons,
    scaling_curve,
)
from giantstep.papers.claims.open_targets import RELU
from giantstep.papers.claims.quantity import LEARNED, drift, exact, exponent_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.records.plot import Curve, Plot
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

ONE_STEP = "p fixed, n of order d, one step, d to infinity"


def spoiled_labels(fields: Fields, *, d: Sequence[int], runs: int) -> Findings:
    """Noisy and flipped labels: the direction is learned, overlaps and norms as predicted.

    With the field ``told`` false the prediction is that of clean labels.
    """
    setting = FIRST_LAYER | dict(fields) | {"steps": 1, "runs": runs}
    told = setting.pop("told")
    statistic = neurons([[1.0]], 1)
    quantities, curves = [], []
    for spoiled in setting.pop("labels"):
        name = ", ".join(f"{key} {value:g}" for key, value in spoiled.items())
        found: list[Trajectory] = [simulate(Setting(**(setting | spoiled), d=size)) for size in d]
        last = found[-1].setting
        predicted = predict(last if told else last.vary(**dict.fromkeys(spoiled, 0.0)))
        predicted = replace(predicted, setting=last)
        values = [statistic(trajectory) for trajectory in found]
        quantities += [
            exponent_of(f"exponent, {name}", d, values, LEARNED, 0.0, allowance=drift(d)),
            exact(f"p-value, {name}", compare(predicted, found[-1]).p_value, (1e-3, 1.0)),
        ]
        limit = float(statistic(predicted)[0])
        curves += [
            Curve(f"theory, {name}", list(d), [limit] * len(d), theory=True),
            scaling_curve(name, d, values),
        ]
    return Findings(quantities, Plot("dimension $d$", "cosine with $w_1$", curves, "log"))


CLAIMS = (
    Claim(
        id="spoiled-labels",
        statement=(
            "Label noise and flipped labels slow the step down as predicted and do not stop it."
        ),
        source=sources.question(
            sources.ONE_STEP, "noise and corruption of labels, asked here of a narrow network"
        ),
        regime=f"{ONE_STEP}; n = 8 d",
        rule=(
            "exponent in d of the median cosine above -1/4 and as predicted, 0, overlaps and "
            "norms at the largest d as predicted (Bonferroni p-value at least 1e-3)"
        ),
        experiment=spoiled_labels,
        fields=RELU
        | {
            "target": "x1 + He2(x1)/2",
            "n": "8d",
            "told": True,
            "labels": (
                {"noise": 1.0},
                {"noise": 3.0},
                {"corruption": 0.1},
                {"corruption": 0.3},
            ),
        },
        controls={
            "without a linear part there is nothing to learn": {"target": "He2(x1)/2"},
            "a prediction that takes the labels for clean": {"told": False},
        },
        quick={"d": (200, 1500, 12_000), "runs": 12},
        full={"d": (300, 3000, 30_000, 300_000), "runs": 16},
    ),
)
