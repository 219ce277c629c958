"""Open questions of arXiv 2310.07891 and 2605.17767 at linear width, with answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from giantstep.papers.claims.experiments import FIRST_LAYER, Fields, Runs, scaling_curve, with_runs
from giantstep.papers.claims.feature_experiments import (
    SAME,
    singular_values,
    step_size,
    training_features,
)
from giantstep.papers.claims.linear_width import LATER_SPIKES, WIDE
from giantstep.papers.claims.quantity import DRIFTS, drift, exponent_of, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.claims.spike_experiments import MARGIN, leaving_exponents
from giantstep.papers.claims.two_steps import MARGIN as WEIGHT_MARGIN
from giantstep.papers.claims.two_steps import NETWORK, weight_spectrum
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.limits import spike_count
from giantstep.prediction.wide.outliers import feature_outliers
from giantstep.prediction.wide.two_steps import weight_outliers
from giantstep.problem.activation import centred
from giantstep.problem.catalog import CATALOG
from giantstep.problem.setting import Setting
from giantstep.simulation.feature_models import real_features, tables
from giantstep.simulation.simulate import simulate
from giantstep.simulation.stepped import SteppedRun, stepped_runs, table_errors
from giantstep.spectra.outliers import count_above

ONE_STEP, TWO_STEPS = "arXiv 2310.07891", "arXiv 2605.17767"

ACTIVATIONS = ("leaky_relu", "gelu", "silu", "softplus", "tanh", "sigmoid")
"""c_2 is zero from tanh on, once the mean is taken away."""


def third_step(fields: Fields, *, d: int, runs: int) -> Findings:
    """Outliers that step 3 adds, above the edge predicted after step 2, and what v_1 gains."""
    given = FIRST_LAYER | dict(fields) | {"d": d, "runs": runs, "steps": 3, "spectra": 3}
    setting = Setting(**given)
    theory = weight_outliers(setting.vary(steps=2, step_size=setting.step_size[:2]))
    values, overlaps = weight_spectrum(simulate(setting))
    edges = [theory[0].edge, theory[1].edge, theory[1].edge]
    counts = np.array(
        [
            [count_above(run[k + 1], edges[k], WEIGHT_MARGIN).count for k in range(3)]
            for run in values
        ],
        dtype=float,
    )
    first = overlaps[:, :, 0, 0]
    quantities = [
        mean_of("outliers added by step 3", counts[:, 2] - counts[:, 1], (-0.5, 0.5), 0.0),
        mean_of("overlap of v_1 gained", first[:, 3] - first[:, 2], (SAME, math.inf)),
    ]
    steps = [1, 2, 3]
    names = ("first", "second", "third")
    curves = [
        mean_curve(f"{name} singular value", steps, list(values[:, 1:, k].T))
        for k, name in enumerate(names)
    ]
    for k in range(2):
        found = [s.singular_values[k] if len(s.singular_values) > k else s.edge for s in theory]
        curves.append(Curve(f"{names[k]} outlier", steps[:2], found, theory=True))
    plot = Plot("step", "singular value of $W$", curves, y_scale="log")
    return Findings(quantities, plot)


def beyond_one_half(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """Growth in n of first spike and bulk at eta = 1.5 n^alpha, and the error against less.

    The exponents of the two steps are the fields ``exponent`` and ``within``, ``drifts`` is the
    factor of the drift.
    """
    given = dict(fields)
    alpha, within, drifts = (given.pop(name) for name in ("exponent", "within", "drifts"))
    sizes, spikes, bulks, errors = [], [], [], []
    for size, drawn in with_runs(d, runs):
        setting = Setting(**given | {"d": size, "step_size": step_size(alpha)})
        found = np.array([_large_step(step) for step in stepped_runs(setting, range(drawn))])
        sizes.append(setting.n)
        spikes.append(found[:, 0])
        bulks.append(found[:, 1])
        errors.append(found[:, 2])
    smaller = Setting(**given | {"d": d[-1], "step_size": step_size(within)})
    same = range(len(errors[-1]))
    before = np.array([_large_step(step)[2] for step in stepped_runs(smaller, same)])
    # alpha and alpha - 1/2, each to an eighth; the start is n^(-1/2) beside the update of a row.
    quantities = [
        exponent_of(
            name,
            sizes,
            values,
            (limit - 0.125, limit + 0.125),
            limit,
            allowance=drift(sizes, drifts),
        )
        for name, values, limit in (
            ("exponent of the first spike", spikes, alpha),
            ("exponent of the bulk", bulks, alpha - 0.5),
        )
    ]
    loss = (errors[-1] - before) / before.mean()
    quantities.append(mean_of("test error lost against the smaller step", loss, (-SAME, math.inf)))
    curves = [
        scaling_curve("first singular value", sizes, spikes),
        scaling_curve("median singular value", sizes, bulks),
    ]
    for values, limit in ((spikes, alpha), (bulks, alpha - 0.5)):
        line = np.median(values[0]) * (np.array(sizes) / sizes[0]) ** limit
        curves.append(Curve(f"slope {limit:g}", sizes, line.tolist(), theory=True, guide=True))
    plot = Plot("samples $n$", "singular value of the features", curves, "log", "log")
    return Findings(quantities, plot)


def _large_step(step: SteppedRun) -> tuple[float, float, float]:
    """First and median singular value of the features over |a| |beta|, and the test error.

    |a| and |beta| tend to constants; with them the scatter of the runs is gone.
    """
    training, test = tables(step, real_features(step))
    unit = np.linalg.norm(step.readout) * np.linalg.norm(step.spike)
    values = singular_values(training.features, step.setting.p) / unit
    _, error = table_errors(step.setting, training, test)
    return float(values[0]), float(np.median(values)), error


def noisy_spike(
    fields: Fields, *, kind: str, levels: Sequence[float], d: int, runs: int
) -> Findings:
    """First singular value of W and its overlap with the target against their prediction.

    Flipping a share q of the labels leaves the mean (1 - 2q) f and the power E f^2: the prediction
    is that of the target (1 - 2q) f with Gaussian noise of the variance that is missing.  With the
    field ``told`` false it is that of clean labels.
    """
    given = FIRST_LAYER | dict(fields) | {"d": d, "runs": runs, "steps": 1, "spectra": 1}
    told = given.pop("told")
    quantities, measured, predicted = [], [], []
    for level in levels:
        setting = Setting(**given | {kind: level})
        theory = weight_outliers(_matched(setting, kind, level if told else 0.0))[0]
        place, overlap = theory.singular_values[0], theory.overlap[0, 0]
        values, overlaps = weight_spectrum(simulate(setting))
        ratio, found = values[:, 1, 0] / place - 1.0, overlaps[:, 1, 0, 0]
        name = f"{kind} {level:g}"
        # Theory is off by O(1/d).
        allowed = 1.0 / d
        quantities += [
            mean_of(f"{name}: spike over predicted", ratio, (-0.1, 0.1), 0.0, allowance=allowed),
            mean_of(
                f"{name}: overlap less predicted",
                found - overlap,
                (-0.05, 0.05),
                0.0,
                allowance=allowed,
            ),
        ]
        measured.append(found)
        predicted.append(float(overlap))
    curves = [
        mean_curve("simulation", levels, measured),
        Curve("prediction", list(levels), predicted, theory=True),
    ]
    return Findings(quantities, Plot(kind, r"$|\langle v_1, w^*\rangle|$", curves))


def _matched(setting: Setting, kind: str, level: float) -> Setting:
    """Clean or Gaussian-noise labels of the same mean given x and the same power."""
    if kind == "noise":
        return setting.vary(noise=level)
    kept = 1.0 - 2.0 * level
    series = setting.target.series
    power = float(np.sum(series.coefficients**2)) + series.tail
    return setting.vary(
        target=f"{kept!r}*({setting.target.name})",
        noise=math.sqrt((1.0 - kept**2) * power),
        corruption=0.0,
    )


def spikes_by_activation(fields: Fields, *, exponent: float, d: int, runs: int) -> Findings:
    """Spikes at 1.5 n^exponent for many activations: the k with c_k != 0 that the exponent allows.

    The step that is taken has the field ``taken`` for its exponent.
    """
    given = dict(fields)
    taken = given.pop("taken")
    quantities, numbers, predicted = [], [], []
    for name in ACTIVATIONS:
        size = step_size(taken)
        setting = Setting(
            **given | {"d": d, "step_size": size, "activation": centred(f"{name}(z)")}
        )
        theory = feature_outliers(setting)
        found = [singular_values(features) for features in training_features(setting, runs)]
        numbers.append(
            np.array([count_above(v, theory.edge, MARGIN).count for v in found], dtype=float)
        )
        limit = spike_count(exponent, setting.activation)
        predicted.append(float(limit))
        quantities.append(mean_of(name, numbers[-1], (limit - 0.5, limit + 0.5), float(limit)))
    x = list(range(1, len(ACTIVATIONS) + 1))
    curves = [
        mean_curve("simulation", x, numbers),
        Curve("Hermite coefficients", x, predicted, theory=True, joined=False),
    ]
    label = ", ".join(f"{k} {name}" for k, name in zip(x, ACTIVATIONS, strict=True))
    return Findings(quantities, Plot(label, "spikes", curves))


NOISY = NETWORK | {
    # Written out: _matched multiplies it.
    "target": CATALOG["two-step"].expression,
    "n": "8d",
    "step_size": "2*p^0.8",
    "told": True,
}

CLAIMS = (
    Claim(
        "third-step",
        "A third step of the same size adds no outlier: it strengthens those of the second, and "
        "the first is turned further to the target.",
        f"{TWO_STEPS}, beyond: more steps",
        "n, d, p in proportion, fresh batches, three steps of size 3 p^0.3, relu",
        "outliers added by step 3 within 1/2 of 0; overlap of v_1 with the target grows by more "
        "than 0.03",
        third_step,
        NETWORK | {"step_size": "3*p^0.8"},
        {
            "a second step that does nothing leaves its outlier to the third": {
                "step_size": "3*p^0.8, 0.01*p^0.8, 3*p^0.8"
            },
            "a third step that does nothing turns nothing": {
                "step_size": "3*p^0.8, 3*p^0.8, 0.01*p^0.8"
            },
        },
        {"d": 300, "runs": 24},
        {"d": 1000, "runs": 10},
    ),
    Claim(
        "beyond-one-half",
        "For alpha > 1/2 the bulk grows as n^(alpha - 1/2) behind the spike's n^alpha, and a relu "
        "network gains nothing more.",
        f"{ONE_STEP}, open question on alpha beyond 1/2",
        "n, d, p in proportion, eta = 1.5 n, relu",
        "exponents in n of first and median singular value within 1/8 of alpha and alpha - 1/2; "
        "test error not below that of n^0.45 by more than 3 %",
        beyond_one_half,
        WIDE | {"exponent": 1.0, "within": 0.45, "drifts": 1.0},
        {
            "a bounded activation: the features cannot grow": {"activation": "tanh"},
            "held against a step that learns nothing": {"within": -0.5},
        },
        {"d": (50, 100, 200), "runs": (128, 32, 24)},
        {"d": (100, 200, 400), "runs": (96, 48, 24)},
        tuned=DRIFTS,
    ),
    Claim(
        "label-noise",
        "Label noise moves the spike and turns it from the target as its variance, added to E y^2, "
        "predicts.",
        f"{ONE_STEP}, open question on noise",
        "n, d, p in proportion, one step of size 2 p^0.3, noise 2 and 3",
        "first singular value of W within 10 %, its overlap with the target within 0.05",
        partial(noisy_spike, kind="noise", levels=(2.0, 3.0)),
        NOISY,
        {"a prediction that takes the labels for clean": {"told": False}},
        {"d": 200, "runs": 36},
        {"d": 800, "runs": 24},
    ),
    Claim(
        "corrupted-labels",
        "Flipping a share q of the labels is a target (1 - 2q) f with Gaussian noise in place of "
        "the missing power.",
        f"{ONE_STEP}, open question on label corruption",
        "n, d, p in proportion, one step of size 2 p^0.3, 15 % and 25 % of the labels",
        "first singular value of W within 10 %, its overlap with the target within 0.05",
        partial(noisy_spike, kind="corruption", levels=(0.15, 0.25)),
        NOISY,
        {"a prediction that takes the labels for clean": {"told": False}},
        {"d": 200, "runs": 48},
        {"d": 800, "runs": 24},
    ),
    Claim(
        "spikes-of-other-activations",
        "The number of spikes follows the Hermite coefficients of the activation: c_2 = 0 takes "
        "the second away, whatever else the activation is.",
        f"{ONE_STEP}, open question on activations",
        "n, d, p in proportion, eta = 1.5 n^0.33, six activations less their means",
        "mean number of singular values 10 % above the predicted edge within 1/2 of the number of "
        "k <= 2 with c_k != 0",
        partial(spikes_by_activation, exponent=0.33),
        WIDE | {"readout_n": "n", "taken": 0.33},
        {"a step so small that no spike has left the bulk": {"taken": -0.2}},
        {"d": 200, "runs": 10},
        {"d": 400, "runs": 12},
    ),
    Claim(
        "spikes-at-different-rates",
        "With n and p at different rates spike l leaves at step sizes of order p^((l-1)/(2l)): the "
        "neurons count, not the samples.",
        f"{ONE_STEP}, beyond: n and p at different rates",
        "p = d, n = d^1.5, step size searched up to n^(1/2)",
        "exponent in p of the step at which spike l is 1.25 times the bulk of the start nearer to "
        "(l-1)/(2l) than to that of another spike, and as predicted beside the drift of a factor "
        "1 + p^(-1/(2l))",
        partial(leaving_exponents, letter="p"),
        WIDE | {"n": "d^1.5", "readout_n": "n", "clear": 1.25, "drifts": 1.0},
        LATER_SPIKES,
        {"d": (25, 50, 100, 200), "runs": (120, 32, 32, 16)},
        {"d": (25, 50, 100, 200, 400), "runs": (128, 64, 32, 16, 8)},
        tuned={"clear": (1.15, 1.4)} | DRIFTS,
    ),
)
