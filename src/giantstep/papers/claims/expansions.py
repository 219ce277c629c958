"""The features after one giant step against their sum of spikes F_l, and what F_l leaves out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import feature_moments
from giantstep.gaussian.rules import gauss_hermite
from giantstep.papers.claims.experiments import Fields, Runs, with_runs
from giantstep.papers.claims.feature_experiments import (
    objective_and_test_error,
    singular_values,
    spikes_in_the_limit,
)
from giantstep.papers.claims.quantity import Quantity, Region, exact, exponent_of, mean_of
from giantstep.papers.claims.record import Findings
from giantstep.papers.claims.spike_experiments import MARGIN
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.feature_outliers import feature_outliers
from giantstep.prediction.wide.step import learned_step
from giantstep.problem.setting import Setting
from giantstep.simulation.feature_models import longer_rows, spikes
from giantstep.simulation.stepped import LabelledSamples, SteppedRun, stepped_runs
from giantstep.simulation.table import FeatureTable
from giantstep.spectra.outliers import count_above

EXPONENTS = (0.125, 0.3)
"""In the windows of one spike and of two."""

FALLING: Region = (-math.inf, 0.0)
"""Of a distance that tends to zero: slowly, as n^(alpha - 1/2) and with logarithms."""

SMALL: Region = (-0.5, 0.5)
"""Halfway between nothing and all: of what F_l leaves of a spike, or of its effect on the loss."""

COSTS = {-4: "4.1: excess of the objective", -2: "4.2: excess of the test error"}
"""Columns of ``compared`` with what F_l costs a readout, by theorem; after each that of F_(l-1)."""

FAR = 10**10
"""d at which what is predicted to be left is held against 0."""

NODES = 48
"""Gauss-Hermite nodes for t and for a."""


def expansions(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """F - F_l over the sizes: what it leaves of the spikes, its norm, what it costs a readout.

    Names of quantities say which theorem of the paper a quantity is about: 3.3 (features), 4.1
    (training objective) or 4.2 (test error).  With one spike and with two for the ``activation``,
    with two for the ``polynomial``.  The last spike of F_l is multiplied by the field ``times``;
    ``longer`` is whether F_2 has the constant of longer rows.
    """
    given = dict(fields)
    names = ("multiples", "polynomial", "times", "longer")
    multiples, polynomial, times, longer = (given.pop(name) for name in names)
    cases: list[tuple[float, float, dict[str, Any]]]
    cases = [*zip(EXPONENTS, multiples, ({}, {}), strict=True)]
    cases.append((EXPONENTS[-1], multiples[-1], {"activation": polynomial}))
    quantities: list[Quantity] = []
    curves: list[Curve] = []
    for alpha, multiple, changes in cases:
        order = spikes_in_the_limit(alpha)
        step_size = f"{multiple}*n^{alpha:g}"
        settings = [
            Setting(**given | changes | {"d": size, "step_size": step_size}) for size in (*d, FAR)
        ]
        found = [
            np.array(
                [
                    compared(step, order, times, longer=longer)
                    for step in stepped_runs(setting, range(drawn))
                ]
            )
            for setting, (_, drawn) in zip(settings[:-1], with_runs(d, runs), strict=True)
        ]
        name = f"l = {order}, polynomial" if changes else f"l = {order}"
        held = held_parts(order, times, longer=longer)
        far = predicted_parts(settings[-1], order) - held
        left = left_of_spikes(f"{name}, 3.3", settings[-2], held, found[-1])
        for k, quantity in enumerate(left, order - 1):
            limit = f"{quantity.name}, predicted at n = {settings[-1].n:.0e}"
            quantities += [
                quantity,
                exact(limit, float(far[k]), (-0.01, 0.01), 0.0, allowance=0.01),
            ]
        norms = [values[:, -5] for values in found]
        exponent = f"{name}, 3.3: exponent of |F - F_l|"
        quantities.append(exponent_of(exponent, [s.n for s in settings[:-1]], norms, FALLING))
        for column, what in COSTS.items():
            excess, fewer = found[-1][:, column], found[-1][:, column + 1]
            quantities.append(mean_of(f"{name}, {what}", excess / fewer.mean(), SMALL))
        if changes:
            more = _more_spikes(settings[-2], order, times, len(found[-1]))
            quantities.append(mean_of(f"{name}: spikes beyond those of F_l", more, SMALL, 0.0))
        curves += _curves(name, alpha, d, norms)
    label = r"$|F - F_\ell|/\sqrt{n}$"
    return Findings(quantities, Plot("samples $n$", label, curves, "log", "log"))


def _curves(
    name: str, alpha: float, d: Sequence[int], norms: Sequence[Float[np.ndarray, " runs"]]
) -> list[Curve]:
    n = [4.0 * size for size in d]
    seen = mean_curve(name, n, norms)
    line = [seen.y[0] * (x / n[0]) ** (alpha - 0.5) for x in n]
    return [seen, Curve(f"slope {alpha - 0.5:g}", n, line, theory=True, guide=True)]


def _more_spikes(setting: Setting, order: int, times: float, runs: int) -> Float[np.ndarray, " k"]:
    """Spikes of F, run by run, beyond those of F_l; both are counted above the edge of F."""
    edge = feature_outliers(setting).edge
    found = []
    for step in stepped_runs(setting, range(runs)):
        inputs = step.training.inputs
        start = np.asarray(setting.activation(inputs @ step.start.T), dtype=float)
        parts = [
            np.outer(part.left(inputs @ step.spike), step.readout**part.degree)
            for part in spikes(step, order)
        ]
        parts[-1] *= times
        counts = [
            count_above(singular_values(features), edge, MARGIN).count
            for features in (step.features(inputs), start + sum(parts))
        ]
        found.append(float(counts[0] - counts[1]))
    return np.array(found)


def held_parts(order: int, times: float, *, longer: bool) -> Float[np.ndarray, " l"]:
    """What F_l has of each spike and, for l = 2, of the part of longer rows."""
    held = np.append(np.ones(order), 1.0 if longer else 0.0)[: order + (order > 1)]
    held[order - 1] = times
    return held


def left_of_spikes(
    name: str,
    setting: Setting,
    held: Float[np.ndarray, " l"],
    found: Float[np.ndarray, "runs k"],
) -> list[Quantity]:
    """What F_l leaves of its last spike, and of longer rows, as predicted for Gaussian inputs."""
    order = 1 if len(held) == 1 else len(held) - 1
    near = predicted_parts(setting, order) - held
    # a^(2k) over p readouts scatters by p^-1/2.
    allowance = 2.0 * setting.p**-0.5
    return [
        mean_of(
            f"{name}: left of " + ("1 (a^2)^T" if k == order else f"spike {order}"),
            found[:, k] - held[k],
            SMALL,
            float(near[k]),
            allowance=allowance,
        )
        for k in range(order - 1, len(held))
    ]


def compared(step: SteppedRun, order: int, times: float, *, longer: bool) -> list[float]:
    """Coefficients of the spikes in F - F_0, |F - F_l|/sqrt(n), what F_l costs a ridge readout.

    For l = 2 the last coefficient is that of longer rows.  The costs are excess objectives of F_l
    and of F_(l-1), then their excess test errors.
    """
    a, added = step.readout, [*spikes(step, order), *([longer_rows(step)] if order > 1 else [])]
    right = np.array([a**part.degree for part in added])
    held = held_parts(order, times, longer=longer)

    def models(samples: LabelledSamples) -> tuple[Float[np.ndarray, "n p"], ...]:
        """F, F_0, F_(l-1) and F_l."""
        start = np.asarray(step.setting.activation(samples.inputs @ step.start.T), dtype=float)
        left = lefts(samples)
        fewer = start + left[: order - 1].T @ right[: order - 1]
        rest = (held[order - 1 :, None] * left[order - 1 :]).T @ right[order - 1 :]
        return step.features(samples.inputs), start, fewer, fewer + rest

    def lefts(samples: LabelledSamples) -> Float[np.ndarray, "l n"]:
        along = samples.inputs @ step.spike
        return np.array([part.left(along) for part in added])

    training, test = models(step.training), models(step.test)
    real, start, _, model = training
    coefficients = _least_squares(real - start, lefts(step.training), right)
    # With |a| and |beta|, which tend to constants, the scatter of the runs is gone.
    unit = float(np.linalg.norm(a) * np.linalg.norm(step.spike))
    norm = float(singular_values(real - model, 1)[0]) / unit**order
    least, most, reached = (
        np.array(
            objective_and_test_error(
                FeatureTable(training[k], step.training.labels),
                FeatureTable(test[k], step.test.labels),
                step.setting,
            )
        )
        for k in (0, 2, 3)
    )
    costs = np.column_stack([reached - least, most - least])
    return [*coefficients, norm, *costs.ravel()]


def _least_squares(
    matrix: Float[np.ndarray, "n p"],
    left: Float[np.ndarray, "l n"],
    right: Float[np.ndarray, "l p"],
) -> Float[np.ndarray, " l"]:
    """Coefficients of left_k right_k^T in a matrix."""
    gram = (left @ left.T) * (right @ right.T)
    return np.linalg.solve(gram, np.sum((left @ matrix) * right, axis=1))


def predicted_parts(setting: Setting, order: int) -> Float[np.ndarray, " l"]:
    """Coefficients of the spikes k <= l, for l = 2 of c_2 ds 1 (a^2)^T too, in F - F_0 at this n.

    Least squares of E_z sigma(eta c_1 a t + s z) - E sigma over t ~ N(0, |beta|^2), a ~ N(0, 1/p),
    s^2 = 1 + ds a^2; all are 1 as eta a -> 0.  order -> l; for residual: labels.
    """
    step, activation = learned_step(setting), setting.activation
    c = activation.coefficients(max(order, 2)).values
    x, weights = gauss_hermite(NODES)
    root = np.sqrt(weights)
    # eta c_1 t = cu x
    shift, a = step.shift * x, x / math.sqrt(setting.p)
    length = np.sqrt(1.0 + step.noise_square * a**2)
    mean = feature_moments(activation, np.outer(shift, a), length[None, :]).mean
    degrees = [*range(1, order + 1), *([2] if order > 1 else [])]
    left = [c[k] / math.factorial(k) * shift**k for k in range(1, order + 1)]
    if order > 1:
        left.append(np.full(NODES, 0.5 * c[2] * step.noise_square))
    right = np.array([a**k for k in degrees])
    matrix = root[:, None] * (mean - activation.moments.mean) * root
    return _least_squares(matrix, np.array(left) * root, right * root)
