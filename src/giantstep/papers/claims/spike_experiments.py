"""Experiments on the spikes of the features after one giant step."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims.experiments import Fields, Runs, merged, scaling_findings, with_runs
from giantstep.papers.claims.feature_experiments import (
    singular_values,
    step_size,
    training_features,
)
from giantstep.papers.claims.quantity import Region, drift, mean_of
from giantstep.papers.claims.record import Findings
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.feature_outliers import FeatureOutliers, feature_outliers
from giantstep.problem.setting import Setting
from giantstep.simulation.stepped import SteppedRun, stepped_runs
from giantstep.spectra.outliers import centre, count_above

MARGIN = 0.1
"""Outliers, measured or predicted, are counted from a tenth above the predicted edge.

At n = 400 the largest singular value of noise exceeds the edge by 5 % once in a hundred runs.
"""

SEARCHED = 11
"""Step sizes at which spikes are looked for; at n = 10^4 each is 1.6 times the one before."""

ALIGNED: Region = (0.5, math.inf)
"""Halfway between no overlap and a full one."""

ALPHA = r"step size exponent $\alpha$"


def clear_outliers(predicted: FeatureOutliers) -> int:
    """Predicted outliers that stand clear of the edge by the margin."""
    return int(np.sum(predicted.values > (1.0 + MARGIN) * predicted.edge))


def searched_sizes(setting: Setting) -> Float[np.ndarray, " k"]:
    """Logarithms of the step sizes at which spikes are looked for, from 1 to n^(1/2)."""
    return np.linspace(0.0, 0.5 * math.log(setting.n), SEARCHED)


def leaving_sizes(step: SteppedRun, clear: float) -> tuple[float, float]:
    """eta |a| |beta| at which spikes 1 and 2 are ``clear`` times the top of the bulk at eta = 0.

    |a| and |beta| tend to constants; with them the scatter of the runs is gone.  Between SEARCHED
    step sizes log-log straight lines are drawn; the search ends at eta = n^(1/2), where the theory
    of spikes does, and that is the answer for a spike it has not found.  The run's own step may be
    of any size but zero.
    """
    setting, inputs = step.setting, step.training.inputs
    update = (step.weights - step.start) / step.step_size
    start, moved = inputs @ step.start.T, inputs @ update.T

    def values(eta: float) -> Float[np.ndarray, " two"]:
        return singular_values(np.asarray(setting.activation(start + eta * moved), float), 2)

    level = math.log(clear * values(0.0)[0])
    sizes = searched_sizes(setting)
    seen = np.log(np.array([values(math.exp(size)) for size in sizes]))
    first, second = (crossing(sizes, column, level) for column in seen.T)
    unit = float(np.linalg.norm(step.readout) * np.linalg.norm(step.spike))
    return unit * math.exp(first), unit * math.exp(second)


def crossing(x: Float[np.ndarray, " k"], y: Float[np.ndarray, " k"], level: float) -> float:
    """Where y first passes the level, the last x if it does not."""
    above = np.flatnonzero(y > level)
    if len(above) == 0 or above[0] == 0:
        return float(x[-1] if len(above) == 0 else x[0])
    j = above[0]
    return float(np.interp(level, y[j - 1 : j + 1], x[j - 1 : j + 1]))


def leaving_exponents(fields: Fields, *, letter: str, d: Sequence[int], runs: Runs) -> Findings:
    """Exponents in n (or in p, the ``letter``) of the step sizes at which spikes leave the bulk.

    The features are expanded in eta a_i, of order size^(-1/2) where spike 1 leaves and size^(-1/4)
    where spike 2 does: the corrections that the exponents may have, times the field ``drifts``.
    Of the fields ``clear`` is that of leaving_sizes.
    """
    given = dict(fields)
    clear, drifts = given.pop("clear"), given.pop("drifts")
    settings = [Setting(**given | {"d": size, "step_size": 1.0}) for size in d]
    sizes = [getattr(setting, letter) for setting in settings]
    found = [
        np.array([leaving_sizes(step, clear) for step in stepped_runs(setting, range(drawn))]).T
        for setting, (_, drawn) in zip(settings, with_runs(d, runs), strict=True)
    ]
    names = ("step of spike 1", "step of spike 2")
    values = {name: [both[k] for both in found] for k, name in enumerate(names)}
    # (l-1)/(2l), and halfway between those of spikes 1, 2 and 3: 0, 1/4, 1/3.
    regions = dict(zip(names, ((-0.125, 0.125), (0.125, 7 / 24)), strict=True))
    expected = dict(zip(names, (0.0, 0.25), strict=True))
    scaled = merged(
        [
            scaling_findings(
                sizes,
                {name: values[name]},
                regions,
                expected,
                allowance=drift(sizes, drifts, power),
            )
            for name, power in zip(names, (0.5, 0.25), strict=True)
        ]
    )
    assert scaled.plot is not None
    label = {"n": "samples $n$", "p": "neurons $p$"}[letter]
    plot = Plot(label, "step size at which a spike leaves", scaled.plot.curves, "log", "log")
    return Findings(scaled.quantities, plot)


def polynomial_overlaps(
    fields: Fields, *, exponents: Sequence[float], d: int, runs: int
) -> Findings:
    """|<u_k, (X beta)^k>|, normalised, of left singular vectors k = 1, 2 at the field ``exponent``.

    ``exponents`` are those of the figure.
    """
    given = dict(fields)
    judged, multiple = given.pop("exponent"), given.pop("multiple")
    alphas = sorted({judged, *exponents})
    measured = np.empty((2, len(alphas), runs))
    predicted = np.zeros((2, len(alphas)))
    for index, alpha in enumerate(alphas):
        setting = Setting(**given | {"d": d, "step_size": step_size(alpha, multiple)})
        left = feature_outliers(setting).left
        if len(left) > 0:
            predicted[0, index] = left[0, 1]
        if len(left) > 1:
            # kappa^2 = h_0 + sqrt(2) h_2, of norm sqrt(3).
            predicted[1, index] = (left[1, 0] + math.sqrt(2.0) * left[1, 2]) / math.sqrt(3.0)
        for step in stepped_runs(setting, range(runs)):
            measured[:, index, step.run] = _overlaps(step)
    at = alphas.index(judged)
    quantities = [
        mean_of(f"overlap of spike {k + 1}", measured[k, at], ALIGNED, float(predicted[k, at]))
        for k in range(2)
    ]
    curves = []
    for k in range(2):
        curves.append(mean_curve(f"spike {k + 1}", alphas, list(measured[k])))
        curves.append(Curve(f"spike {k + 1}", alphas, predicted[k].tolist(), theory=True))
    return Findings(quantities, Plot(ALPHA, r"overlap with $(X\beta)^k$", curves))


def _overlaps(step: SteppedRun) -> tuple[float, float]:
    inputs = step.training.inputs
    left = np.linalg.svd(step.features(inputs), full_matrices=False)[0]
    along = inputs @ step.spike
    powers = [along, along**2]
    first, second = (
        float(abs(left[:, k] @ power) / np.linalg.norm(power)) for k, power in enumerate(powers)
    )
    return first, second


def added_spikes(fields: Fields, *, exponents: Sequence[float], d: int, runs: int) -> Findings:
    """Outliers of the features, less their means over samples, that the step adds: none."""
    given = dict(fields)
    multiple = given.pop("multiple")
    quantities, tops, edges = [], [], []
    before = Setting(**given | {"d": d, "step_size": 0.0})
    first = feature_outliers(before).edge
    start = _centred(before, runs)
    for alpha in exponents:
        setting = before.vary(step_size=step_size(alpha, multiple))
        edge = feature_outliers(setting).edge
        after = _centred(setting, runs)
        added = [
            count_above(now, edge, MARGIN).count - count_above(then, first, MARGIN).count
            for now, then in zip(after, start, strict=True)
        ]
        quantities.append(
            mean_of(f"spikes added at {alpha:g}", np.array(added, float), (-0.5, 0.5), 0.0)
        )
        tops.append(np.array([values[0] for values in after]))
        edges.append(edge)
    curves = [
        mean_curve("largest singular value", exponents, tops),
        Curve("edge of the bulk", list(exponents), edges, theory=True),
    ]
    return Findings(quantities, Plot(ALPHA, "singular value of the centred features", curves))


def _centred(setting: Setting, runs: int) -> list[Float[np.ndarray, " k"]]:
    return [singular_values(centre(features)) for features in training_features(setting, runs)]


def no_spike(fields: Fields, *, exponent: float, d: int, runs: int) -> Findings:
    """Outliers of the features at eta = ``multiple`` n^exponent: none."""
    given = dict(fields)
    multiple = given.pop("multiple")
    setting = Setting(**given | {"d": d, "step_size": step_size(exponent, multiple)})
    theory = feature_outliers(setting)
    found = [singular_values(features) for features in training_features(setting, runs)]
    numbers = np.array([count_above(v, theory.edge, MARGIN).count for v in found], float)
    x = [float(k) for k in range(1, 5)]
    curves = [
        mean_curve("singular values", x, list(np.array(found).T)),
        Curve("edge of the bulk", x, [theory.edge] * 4, theory=True),
    ]
    quantities = [mean_of(f"spikes at {exponent:g}", numbers, (-0.5, 0.5), 0.0)]
    return Findings(quantities, Plot("singular value", "of the features", curves))


def constant_spike(fields: Fields, *, exponents: Sequence[float], d: int, runs: int) -> Findings:
    """At the last exponent one spike, whose left singular vector is the constant."""
    given = dict(fields)
    multiple = given.pop("multiple")
    tops, predicted, edges = [], [], []
    for alpha in exponents:
        setting = Setting(**given | {"d": d, "step_size": step_size(alpha, multiple)})
        theory = feature_outliers(setting)
        runs_ = [
            np.linalg.svd(features, full_matrices=False)
            for features in training_features(setting, runs)
        ]
        values = [s / math.sqrt(setting.readout_n) for _, s, _ in runs_]
        tops.append(np.array([s[0] for s in values]))
        predicted.append(float(theory.values[0]) if len(theory.values) else theory.edge)
        edges.append(theory.edge)
    numbers = np.array([count_above(s, theory.edge, MARGIN).count for s in values], float)
    mean = np.array([abs(u[:, 0].sum()) / math.sqrt(len(u)) for u, _, _ in runs_])
    name = f"at {exponents[-1]:g}"
    quantities = [
        mean_of(f"spikes {name}", numbers, (0.5, 1.5), float(clear_outliers(theory))),
        mean_of(f"overlap with the constant {name}", mean, ALIGNED, float(theory.left[0, 0])),
    ]
    curves = [
        mean_curve("largest singular value", exponents, tops),
        Curve("first outlier", list(exponents), predicted, theory=True),
        Curve("edge of the bulk", list(exponents), edges, theory=True),
    ]
    return Findings(quantities, Plot(ALPHA, "singular value of the features", curves))
