"""Open questions of arXiv 2305.18270 about spoiled labels and about training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from giantstep.analysis.analyze import analyze
from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    Fields,
    neurons,
    readout_errors,
    scaling_curve,
)
from giantstep.papers.claims.open_targets import RELU
from giantstep.papers.claims.quantity import LEARNED, Region, drift, exact, exponent_of, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.plot import Curve, Plot
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

PAPER = "arXiv 2305.18270 (JMLR)"
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


def against_training(fields: Fields, *, d: int, runs: int) -> Findings:
    """One giant step and the readout against many small steps on the same batch and the readout.

    On a single-index target the giant step must get more than half of what training gets; on the
    staircase training goes below the floor of one step; the giant one is nearer to it than to the
    error of a network that knows nothing, and not below it but for the share p/d that leaks.
    """
    setting = dict(fields) | {"d": d, "runs": runs}
    giant = {
        "steps": setting.pop("giant_steps"),
        "step_size": setting.pop("giant_size"),
        "batches": "fresh",
    }
    index, stairs = setting.pop("index"), setting.pop("stairs")
    nothing, floor = (known.narrow for known in analyze(stairs, label_degree=1).floors[:2])
    errors = {
        (name, target): readout_errors(setting | steps | {"target": target})
        for target in (index, stairs)
        for name, steps in (("giant", giant), ("training", {}))
    }
    start = analyze(index, label_degree=1).floors[0].narrow
    gains = {name: start - errors[name, index][:, -1] for name in ("giant", "training")}
    last = {name: errors[name, stairs][:, -1] / floor - 1.0 for name in ("giant", "training")}
    near: Region = (-setting["p"] / d, 0.5 * (nothing / floor - 1.0))
    quantities = [
        mean_of("gain over that of training", gains["giant"] / gains["training"], (0.5, math.inf)),
        mean_of("staircase: giant step over its floor", last["giant"], near),
        mean_of("staircase: training over that floor", last["training"], (-math.inf, 0.0)),
    ]
    trained = errors["training", stairs]
    steps = list(range(trained.shape[1]))
    spread = trained.std(axis=0, ddof=1) / math.sqrt(runs)
    curves = [
        Curve("floor of one step", steps, [floor] * len(steps), theory=True),
        Curve("training", steps, trained.mean(axis=0).tolist(), spread.tolist()),
    ]
    return Findings(quantities, Plot("small steps", "test error, staircase", curves))


CLAIMS = (
    Claim(
        "spoiled-labels",
        "Label noise and flipped labels slow the step down as predicted and do not stop it.",
        f"{PAPER}, next check: label noise",
        f"{ONE_STEP}; n = 8 d",
        "exponent in d of the median cosine above -1/4 and as predicted, 0, overlaps and norms at "
        "the largest d as "
        "predicted (Bonferroni p-value at least 1e-3)",
        spoiled_labels,
        RELU
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
        {
            "without a linear part there is nothing to learn": {"target": "He2(x1)/2"},
            "a prediction that takes the labels for clean": {"told": False},
        },
        {"d": (200, 1500, 12_000), "runs": 12},
        {"d": (300, 3000, 30_000, 300_000), "runs": 16},
    ),
    Claim(
        "one-step-against-training",
        "One giant step gets most of what training gets on one index, not on a staircase.",
        f"{PAPER}, next check: one step against full training",
        "n = 16 d, the same batch for first layer and readout, 20 small steps for training",
        "gain of the giant step more than half that of training; staircase: giant step not below "
        "its floor but for the share p/d that leaks, and nearer to it than to the error of nothing "
        "learned; training below it",
        against_training,
        {
            "activation": "relu",
            "readout_start": "gaussian",
            "p": 8,
            "n": "16d",
            "index": "x1 + He2(x1)/2",
            "stairs": "staircase",
            "giant_steps": 1,
            "giant_size": "2*p^1.5",
            "steps": 20,
            "step_size": "0.6*p^1.5",
            "batches": "reused",
            "readout_batch": "last",
            "engine": "dense",
            "ridge": "1e-4/p^2",
            "test_n": 12_000,
        },
        {
            "no giant step": {"giant_steps": 0},
            "a second giant step climbs the staircase": {
                "giant_steps": 2,
                "giant_size": "2*p^1.5, 8*p^1.5",
            },
            "no training at all": {"steps": 0},
        },
        {"d": 40, "runs": 10},
        {"d": 120, "runs": 12},
    ),
)
