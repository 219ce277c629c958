"""Open questions of arXiv 2310.07891 and 2605.17767 at linear width, with answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from giantstep.papers.claims import sources
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
from giantstep.papers.claims.two_steps import NETWORK, weight_spectrum
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.feature_outliers import feature_outliers
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.strong_spikes import spike_count
from giantstep.prediction.wide.weight_outliers import weight_outliers
from giantstep.problem.activation import centred
from giantstep.problem.catalog import CATALOG
from giantstep.problem.setting import Setting
from giantstep.simulation.feature_models import real_features, tables
from giantstep.simulation.simulate import simulate
from giantstep.simulation.stepped import SteppedRun, stepped_runs, table_errors
from giantstep.spectra.outliers import count_above

ONE_STEP, TWO_STEPS = "arXiv 2310.07891", "arXiv 2605.17767"

CLEAR = 0.25
"""Outliers of the weights are counted from a quarter above the edge, as for two steps."""

ACTIVATIONS = ("leaky_relu", "gelu", "silu", "softplus", "tanh", "sigmoid")
"""c_2 is zero from tanh on, once the mean is taken away."""


def third_step(fields: Fields, *, d: int, runs: int) -> Findings:
    """First outlier of the weights after three steps against one step on all their samples.

    A fresh step of size eta adds eta c_1 a beta_j^T, beta_j = X_j^T r_j/n, as long as eta/sqrt(p)
    and what the network answers to its steps are small.  T of them add T eta c_1 a (mean of
    beta_j)^T, which is one step of size T eta on T n samples, and that one is predicted.
    """
    setting = Setting(**FIRST_LAYER | dict(fields) | {"d": d, "runs": runs, "spectra": 3})
    size = setting.step_size[0]
    theory = [
        weight_outliers(setting.vary(steps=1, step_size=step * size, n=step * setting.n))[0]
        for step in range(1, setting.steps + 1)
    ]
    values, overlaps = weight_spectrum(simulate(setting))
    first = overlaps[:, 1:, 0, 0]
    turned = [float(step.overlap[0, 0]) if step.count else 0.0 for step in theory]
    counts = [float(count_above(run[-1], theory[-1].edge, CLEAR).count) for run in values]
    # What is left out is of relative order eta/sqrt(p), here with p = d.
    allowed = d**-0.5
    gain = turned[-1] - turned[-2]
    quantities = [
        mean_of("outliers after step 3", counts, (0.5, 1.5), float(theory[-1].count)),
        mean_of(
            "first singular value after step 3 over predicted",
            values[:, -1, 0] / theory[-1].singular_values[0],
            (0.9, 1.1),
            1.0,
            allowance=allowed,
        ),
        mean_of(
            "overlap of v_1 gained by step 3",
            first[:, -1] - first[:, -2],
            (0.5 * gain, 1.5 * gain),
            gain,
            allowance=gain * allowed,
        ),
    ]
    steps = list(range(1, setting.steps + 1))
    curves = [
        mean_curve("three steps", steps, list(first.T)),
        Curve("one step on all samples", steps, turned, theory=True),
    ]
    return Findings(quantities, Plot("step", r"$|\langle v_1, w^*\rangle|$", curves))


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
    last = Setting(**given | {"d": d[-1], "step_size": step_size(alpha)})
    quantities.append(
        mean_of(
            "first singular value at the largest n over predicted",
            spikes[-1] / large_step_spike(last),
            (0.9, 1.1),
            1.0,
            # The start is n^(1/2 - alpha) beside the noise of the update of a row, and the p
            # readouts of each sign differ by p^(-1/2).
            allowance=last.p**-0.5,
        )
    )
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


def large_step_spike(setting: Setting) -> float:
    """First singular value of relu features over |a| |beta| sqrt(n) after a step that hides W_0.

    Row i is eta a_i (c_1 beta + xi_i), xi_i the noise of the step, with |xi_i|^2 = (d/n) E r^2 Var
    sigma'.  Of q = c_1^2 |beta|^2 + |xi_i|^2 the share rho is common to all rows, with the sign of
    a_i.  E[relu(w_i.x) relu(w_j.x)] = |w_i| |w_j| k(+-rho)/2, where k(c) = (sqrt(1 - c^2) + c (pi -
    arccos c))/pi.  Half of |a|^2 has each sign, and rows weigh as |a_i|, so that the largest
    eigenvalue is eta^2 |a|^2 q (k(rho) + k(-rho))/4.
    """
    network = Network(setting)
    beta = float(network.gram[0, 0])
    common = network.gain**2 * beta
    noise = network.noise_ratio * network.residual_square * network.moments.slope_variance
    length = common + noise
    rho = common / length
    kernel = 2.0 / math.pi * (math.sqrt(1.0 - rho**2) + rho * math.asin(rho))
    return setting.step_size[0] * setting.scale * math.sqrt(0.25 * length * kernel / beta)


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
        id="third-step",
        statement=(
            "Three fresh steps of a fixed size give the weights the one outlier of a single step "
            "of three times the size on all their samples: the third adds none, and turns the "
            "first towards the target as predicted."
        ),
        source=sources.beyond(
            sources.TWO_STEPS, "a third step", "three steps, where the paper takes two"
        ),
        regime="n, d, p in proportion, n = 4 d, fresh batches, three steps of size 3, relu",
        rule=(
            "The mean number of singular values 25 % above the predicted edge after step 3 is "
            "within 1/2 of one. The first is within 10 % of its prediction, and what its right "
            "singular vector gains in overlap with the target at step 3 within a half of the "
            "predicted gain, both as predicted."
        ),
        experiment=third_step,
        fields=NETWORK | {"steps": 3, "step_size": "3*p^0.5"},
        controls={
            "the same batch three times has nothing new for the third step": {"batches": "reused"},
            "steps of size 3 p^0.3 bring a second outlier": {"step_size": "3*p^0.8"},
            "a third step that does nothing": {"step_size": "3*p^0.5, 3*p^0.5, 0.01*p^0.5"},
        },
        quick={"d": 300, "runs": 48},
        full={"d": 1000, "runs": 24},
        tuned={"step_size": ("1.5*p^0.5", "6*p^0.5")},
    ),
    Claim(
        id="beyond-one-half",
        statement=(
            "For alpha > 1/2 the bulk grows as n^(alpha - 1/2) behind the spike's n^alpha, and a "
            "relu network gains nothing more."
        ),
        source=sources.question(
            sources.ONE_STEP, "step sizes n^alpha with alpha above 1/2", "alpha > 1/2"
        ),
        regime="n, d, p in proportion, eta = 1.5 n, relu",
        rule=(
            "The exponents in n of the first and the median singular value are within 1/8 of "
            "alpha and alpha - 1/2, and as predicted. At the largest n the first is within 10 % "
            "of the closed form of large steps, and as predicted. The test error is not below "
            "that of 1.5 n^0.45 by more than 3 %; no theory gives it."
        ),
        experiment=beyond_one_half,
        fields=WIDE | {"exponent": 1.0, "within": 0.45, "drifts": 1.0},
        controls={
            "a bounded activation: the features cannot grow": {"activation": "tanh"},
            "held against a step that learns nothing": {"within": -0.5},
        },
        quick={"d": (50, 100, 200), "runs": (128, 32, 24)},
        full={"d": (100, 200, 400), "runs": (96, 48, 24)},
        tuned=DRIFTS,
    ),
    Claim(
        id="label-noise",
        statement=(
            "Label noise moves the spike and turns it from the target as its variance, added to E "
            "y^2, predicts."
        ),
        source=sources.question(sources.ONE_STEP, "robustness to label noise"),
        regime="n, d, p in proportion, one step of size 2 p^0.3, noise 2 and 3",
        rule="first singular value of W within 10 %, its overlap with the target within 0.05",
        experiment=partial(noisy_spike, kind="noise", levels=(2.0, 3.0)),
        fields=NOISY,
        controls={"a prediction that takes the labels for clean": {"told": False}},
        quick={"d": 200, "runs": 36},
        full={"d": 800, "runs": 24},
    ),
    Claim(
        id="corrupted-labels",
        statement=(
            "Flipping a share q of the labels is a target (1 - 2q) f with Gaussian noise in place "
            "of the missing power."
        ),
        source=sources.question(sources.ONE_STEP, "robustness to label corruption"),
        regime="n, d, p in proportion, one step of size 2 p^0.3, 15 % and 25 % of the labels",
        rule="first singular value of W within 10 %, its overlap with the target within 0.05",
        experiment=partial(noisy_spike, kind="corruption", levels=(0.15, 0.25)),
        fields=NOISY,
        controls={"a prediction that takes the labels for clean": {"told": False}},
        quick={"d": 200, "runs": 48},
        full={"d": 800, "runs": 24},
    ),
    Claim(
        id="spikes-of-other-activations",
        statement=(
            "The number of spikes follows the Hermite coefficients of the activation: c_2 = 0 "
            "takes the second away, whatever else the activation is."
        ),
        source=sources.question(
            sources.ONE_STEP, "other activations", "activations with c_2 = 0, or with kinks"
        ),
        regime="n, d, p in proportion, eta = 1.5 n^0.33, six activations less their means",
        rule=(
            "mean number of singular values 10 % above the predicted edge within 1/2 of the "
            "number of k <= 2 with c_k != 0"
        ),
        experiment=partial(spikes_by_activation, exponent=0.33),
        fields=WIDE | {"readout_n": "n", "taken": 0.33},
        controls={"a step so small that no spike has left the bulk": {"taken": -0.2}},
        quick={"d": 200, "runs": 10},
        full={"d": 400, "runs": 12},
    ),
    Claim(
        id="spikes-at-different-rates",
        statement=(
            "With n and p at different rates spike l leaves at step sizes of order "
            "p^((l-1)/(2l)): the neurons count, not the samples."
        ),
        source=sources.beyond(
            sources.ONE_STEP,
            "Theorem 3.3",
            "n = d^1.5, where the theorem has n, d, p in proportion",
        ),
        regime="p = d, n = d^1.5, step size searched up to n^(1/2)",
        rule=(
            "exponent in p of the step at which spike l is 1.25 times the bulk of the start "
            "nearer to (l-1)/(2l) than to that of another spike, and as predicted beside the "
            "drift of a factor 1 + p^(-1/(2l))"
        ),
        experiment=partial(leaving_exponents, letter="p"),
        fields=WIDE | {"n": "d^1.5", "readout_n": "n", "clear": 1.25, "drifts": 1.0},
        controls=LATER_SPIKES,
        quick={"d": (25, 50, 100, 200), "runs": (120, 32, 32, 16)},
        full={"d": (25, 50, 100, 200, 400), "runs": (128, 64, 32, 16, 8)},
        tuned={"clear": (1.15, 1.4)} | DRIFTS,
    ),
)
