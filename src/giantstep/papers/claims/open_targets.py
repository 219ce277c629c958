"""Open questions of arXiv 2305.18270 about narrow networks, as experiments with a stated answer."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from giantstep.analysis.analyze import analyze
from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    Fields,
    as_predicted,
    merged,
    neurons,
    over_sizes,
    photograph_patches,
    predicted_statistic,
    readout_errors,
    scaling_curve,
    scaling_findings,
    strongest,
)
from giantstep.papers.claims.quantity import (
    LEARNED,
    NOT_LEARNED,
    Region,
    exact,
    exponent_of,
    mean_of,
)
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.plot import Curve, Plot
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

PAPER = "arXiv 2305.18270"
ONE_STEP = "p fixed, n of order d, one step, d to infinity"


def weaker_links(
    fields: Fields, *, weights: Sequence[float], d: Sequence[int], runs: int
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
        quantities.append(exponent_of(f"exponent, {name}", d, values, LEARNED, 0.0))
        quantities.append(as_predicted(f"cosine, {name}", values[-1], limit, d[-1]))
        measured.append(values[-1])
        predicted.append(limit)
    curves = [
        Curve("theory", list(weights), predicted, theory=True),
        scaling_curve("simulation", weights, measured),
    ]
    plot = Plot("weight of the link", "cosine with $w_1 - w_2$", curves, "log", "log")
    return Findings(quantities, plot)


def effective_leaps(fields: Fields, *, d: Sequence[int], runs: int) -> Findings:
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
            scaling_findings(d, values, {target: region}, {target: expected}, "principal cosine")
        )
    return merged(parts)


def each_learned(fields: Fields, *, d: Sequence[int], runs: int, over: str) -> Findings:
    """One step learns w1 whatever the value of the field: the field ``over`` holds a list."""
    setting = dict(fields) | {"steps": 1}
    values: dict[str, Any] = {}
    for value in setting[over]:
        # A single value may be another in a control: its quantity keeps the name.
        name = str(value) if len(setting[over]) > 1 else "cosine"
        statistics = {name: neurons([[1.0]], 1)}
        values |= over_sizes(setting | {over: value}, d, runs, statistics)
    return scaling_findings(
        d, values, dict.fromkeys(values, LEARNED), dict.fromkeys(values, 0.0), "cosine with $w_1$"
    )


def other_laws(fields: Fields, *, d: Sequence[int], runs: int) -> Findings:
    """Cosines with v* for other inputs over those predicted for Gaussian ones.

    The field ``untold`` holds fields of the simulation that the prediction does not know.
    """
    setting = dict(fields) | {"steps": 1}
    laws, untold = setting.pop("laws"), setting.pop("untold")
    statistic = neurons([[1.0]], 1)
    predicted = [predicted_statistic(setting, statistic, size) for size in d]
    curves = [Curve("theory, gaussian", list(d), predicted, theory=True)]
    quantities = []
    for law in laws:
        values = over_sizes(setting | untold | {"inputs": law}, d, runs, {law: statistic})[law]
        quantities.append(as_predicted(f"cosine, {law}", values[-1], predicted[-1], d[-1]))
        curves.append(scaling_curve(law, d, values))
    return Findings(quantities, Plot("dimension $d$", "cosine with $v^*$", curves, "log"))


def photograph(fields: Fields, *, edges: Sequence[int], rows: int, runs: int) -> Findings:
    """Cosine with v* on patches of a photograph against their number of pixels d = edge^2.

    ``law`` of the fields is ``whitened`` or ``data``.
    """
    setting = dict(fields) | {"steps": 1}
    law = setting.pop("law")
    statistic = neurons([[1.0]], 1)
    d = [edge * edge for edge in edges]
    values = []
    with tempfile.TemporaryDirectory() as folder:
        for edge in edges:
            path = Path(folder) / f"patches-{edge}.npy"
            np.save(path, photograph_patches(edge, rows))
            inputs = {"inputs": f"{law}({path})"}
            found = over_sizes(setting | inputs, [edge * edge], runs, {law: statistic})
            values.extend(found[law])
    # The theory is for p far below d: its limit, the same at every d.
    limit = predicted_statistic(setting, statistic, 1000)
    curves = [
        Curve("theory, gaussian", d, [limit] * len(d), theory=True),
        scaling_curve(f"photograph, {law}", d, values),
    ]
    quantities = [exponent_of("exponent in the number of pixels", d, values, LEARNED, 0.0)]
    return Findings(quantities, Plot("pixels $d$", "cosine with $v^*$", curves, "log", "log"))


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
            exponent_of(f"exponent, {name}", d, values, LEARNED, 0.0),
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
    staircase training goes below the floor of one step, which holds for the giant one but for the
    share p/d that leaks.
    """
    setting = dict(fields) | {"d": d, "runs": runs}
    giant = {
        "steps": setting.pop("giant_steps"),
        "step_size": setting.pop("giant_size"),
        "batches": "fresh",
    }
    index, stairs = setting.pop("index"), setting.pop("stairs")
    floor = analyze(stairs, label_degree=1).floors[1].narrow
    errors = {
        (name, target): readout_errors(setting | steps | {"target": target})
        for target in (index, stairs)
        for name, steps in (("giant", giant), ("training", {}))
    }
    start = analyze(index, label_degree=1).floors[0].narrow
    gains = {name: start - errors[name, index][:, -1] for name in ("giant", "training")}
    last = {name: errors[name, stairs][:, -1] / floor - 1.0 for name in ("giant", "training")}
    leak: Region = (-setting["p"] / d, math.inf)
    quantities = [
        mean_of("gain over that of training", gains["giant"] / gains["training"], (0.5, math.inf)),
        mean_of("staircase: giant step over its floor", last["giant"], leak),
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
SIZES = {"d": (200, 1500, 12_000), "runs": 16}
FULL = {"d": (300, 3000, 30_000, 300_000), "runs": 16}

CLAIMS = (
    Claim(
        "weaker-links",
        "x1 + x2 + eps (x1^2 - x2^2): step 2 learns w1 - w2 for every eps > 0, less and less.",
        f"{PAPER}, next check: robustness of the staircase",
        "p fixed, n = 16 d, two fresh batches, eps fixed as d grows",
        "exponent in d of the cosine with w1 - w2 above -1/4 at every eps, its value within a "
        "tenth of the prediction but for d^(-1/2)",
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
        "exponent in d of the largest principal cosine of the rows with V* above -1/4 where the "
        "expansion has a linear part, below where it has none",
        effective_leaps,
        RELU | {"targets": TARGETS, "added": "", "n": "8d"},
        {
            "an even activation cannot pick up a linear part": {"activation": "abs(z)"},
            "labels with a linear part that the expansion does not have": {"added": " + x1"},
        },
        SIZES,
        FULL,
    ),
    Claim(
        "other-activations",
        "One step learns the line v* with each of the usual activations.",
        f"{PAPER}, next check: other activations",
        f"{ONE_STEP}; n = 8 d",
        "exponent in d of the median cosine above -1/4 for every activation",
        partial(each_learned, over="activation"),
        {"target": "x1 + He2(x1)/2", "activation": ACTIVATIONS, "n": "8d", "p": 8},
        {"without a step the rows know nothing": {"step_size": 0.0}},
        SIZES,
        FULL,
    ),
    Claim(
        "other-inputs",
        "Inputs with identity covariance teach the direction as Gaussian ones do.",
        f"{PAPER}, next check: non-Gaussian inputs",
        "n = 16 d, one step, inputs rademacher, uniform, Student, mixture of Gaussians",
        "cosine with v* within a tenth of the Gaussian prediction, but for d^(-1/2), for every law",
        other_laws,
        RELU
        | {
            "target": "x1 + He2(x1)/2",
            "n": "16d",
            "step_size": "4*p",
            "untold": {},
            "laws": ("rademacher", "uniform", "student(5)", "mixture(0.8)"),
        },
        {
            "along an axis He3(x1) has a linear part that only the law of one input decides": {
                "target": "He3(x1)",
                "frame": "axes",
            },
            "noise in the labels that the prediction does not know": {"untold": {"noise": 6.0}},
        },
        {"d": (160,), "runs": 10},
        {"d": (125, 250, 500), "runs": 24},
    ),
    Claim(
        "correlated-inputs",
        "With covariance eigenvalues i^(-1/2) one step still learns v*.",
        f"{PAPER}, next check: non-Gaussian inputs",
        "n = 16 d, one step, inputs with a power-law spectrum",
        "exponent in d of the median cosine with v* above -1/4",
        partial(each_learned, over="inputs"),
        RELU
        | {
            "target": "x1 + He2(x1)/2",
            "n": "16d",
            "step_size": "4*p",
            "inputs": ("correlated(0.5)",),
        },
        {
            "a few eigenvalues hold all the variance: Sigma v* is theirs, whatever v*": {
                "inputs": ("correlated(3)",)
            }
        },
        {"d": (20, 80, 320), "runs": 32},
        {"d": (20, 60, 180, 540), "runs": 80},
    ),
    Claim(
        "photograph-whitened",
        "On whitened patches of a photograph one step learns v*; on raw ones it does not.",
        f"{PAPER}, next check: a real data set",
        "n = 4 d, one step, patches of 4 x 4 to 16 x 16 pixels",
        "exponent of the median cosine with v* in the number of pixels above -1/4",
        photograph,
        RELU | {"target": "tanh(x1)", "n": "4d", "step_size": "8*p", "law": "whitened"},
        {
            "raw patches vary mostly in brightness: Sigma v* is that direction, whatever v*": {
                "law": "data"
            }
        },
        {"edges": (4, 8, 16), "rows": 5000, "runs": 120},
        {"edges": (4, 6, 8, 12, 16, 20), "rows": 40_000, "runs": 100},
    ),
    Claim(
        "spoiled-labels",
        "Label noise and flipped labels slow the step down as predicted and do not stop it.",
        f"{PAPER}, next check: label noise",
        f"{ONE_STEP}; n = 8 d",
        "exponent in d of the median cosine above -1/4, overlaps and norms at the largest d as "
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
        "its floor, training below it",
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
            "test_n": 3000,
        },
        {
            "no giant step": {"giant_steps": 0},
            "a second giant step climbs the staircase": {
                "giant_steps": 2,
                "giant_size": "2*p^1.5, 8*p^1.5",
            },
            "no training at all": {"steps": 0},
        },
        {"d": 40, "runs": 6},
        {"d": 120, "runs": 10},
    ),
)
