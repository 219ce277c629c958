"""Claims about two giant steps at linear width (arXiv 2605.17767)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    Fields,
    Runs,
    scaling_findings,
    with_runs,
)
from giantstep.papers.claims.quantity import LEARNED, NOT_LEARNED, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.weight_outliers import WeightOutliers, weight_outliers
from giantstep.problem.activation import centred
from giantstep.problem.catalog import CLIPPED_EXPONENTIAL
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate
from giantstep.spectra.outliers import count_above

REGIME = "n, d, p in proportion, eta_j of order p^alpha_j, output scale 1/sqrt(p)"

CONSTANTS = {"multiple": 3.0, "margin": 0.25}
"""Step sizes are 3 p^alpha, outliers are counted from a quarter above the edge.

The second outlier of relu stands at a multiple of the edge that grows as multiple^2 p^(alpha_1 +
alpha_2 - 1/2), p^0.1 at alpha_1 = alpha_2 = 0.3.  With 3 p^alpha it is predicted at 1.59 edges at p
= 300, with 2 p^alpha at 1.21, which is inside the margin, and at 1.42 at p = 1000; with 1.5 p^alpha
it is clear of the margin from p = 4300 on.  Labels of heavy tails lift the edge, by less than the
margin.
"""

TUNED = {"multiple": (1.5, 6.0), "margin": (0.125, 0.5)}
"""A factor of two either way."""

NETWORK = {
    "target": "two-step",
    "activation": centred("relu(z)"),
    "n": "4d",
    "p": "d",
    "steps": 2,
    "output_scale": "1/sqrt(p)",
    "start": "gaussian",
    "readout_start": "gaussian",
}


def step_size(alpha: float, multiple: float, output_scale: str = "1/sqrt(p)") -> str:
    """eta = multiple p^alpha; the output scale is part of eta, not of a setting's step size."""
    return f"{multiple}*p^{alpha + {'1': 0.0, '1/sqrt(p)': 0.5, '1/p': 1.0}[output_scale]:g}"


def new_in_the_limit(first: float, second: float, boundary: float = 0.5) -> int:
    """floor(alpha_2/(1/2 - alpha_1)), for an activation with all coefficients."""
    # Exponents are decimals: 0.3/(0.5 - 0.2) must count as 1.
    return math.floor(second / (boundary - first) + 1e-9)


def predicted_new(theory: WeightOutliers, margin: float) -> int:
    """Predicted outliers after step 2, clear of the edge by the margin, beside that of step 1."""
    return int(np.sum(theory.singular_values > (1.0 + margin) * theory.edge)) - 1


def measured_new(
    values: Float[np.ndarray, "runs m"], edge: float, margin: float
) -> Float[np.ndarray, " runs"]:
    """Singular values of W after step 2, clear of the edge by the margin, beside that of step 1."""
    return np.array([count_above(run, edge, margin).count - 1 for run in values], dtype=float)


def outliers_added(
    fields: Fields,
    *,
    exponents: Sequence[float],
    drawn: Sequence[float],
    d: int,
    runs: int,
) -> Findings:
    """Outliers of the weights after step 2 beside that of step 1, both steps of one exponent.

    The fields have the ``multiple`` of p^alpha that is the step size, the ``margin`` from which
    outliers are counted, and ``beyond``: the steps that are taken are larger by p^beyond.
    ``drawn`` are the exponents of the predicted curves.
    """
    given = FIRST_LAYER | dict(fields) | {"d": d, "runs": runs, "spectra": 4}
    beyond, multiple, margin = (given.pop(name) for name in ("beyond", "multiple", "margin"))

    def at(alpha: float) -> Setting:
        return Setting(**given | {"step_size": step_size(alpha, multiple, given["output_scale"])})

    quantities, second, third = [], [], []
    for alpha in exponents:
        theory = weight_outliers(at(alpha + beyond))[1]
        values, _ = weight_spectrum(simulate(at(alpha + beyond)))
        limit = new_in_the_limit(alpha, alpha)
        quantities.append(
            mean_of(
                f"new outliers at {alpha:g}",
                measured_new(values[:, 2], theory.edge, margin),
                (limit - 0.5, limit + 0.5),
                float(predicted_new(theory, margin)),
            )
        )
        second.append(values[:, 2, 1])
        third.append(values[:, 2, 2])
    theories = [weight_outliers(at(alpha))[1] for alpha in drawn]
    places = [
        float(t.singular_values[1]) if len(t.singular_values) > 1 else t.edge for t in theories
    ]
    curves = [
        mean_curve("second singular value", exponents, second),
        mean_curve("third singular value", exponents, third),
        Curve("second outlier", list(drawn), places, theory=True),
        Curve("edge", list(drawn), [t.edge for t in theories], theory=True),
    ]
    label = r"exponent $\alpha_1 = \alpha_2$ of the step sizes"
    return Findings(quantities, Plot(label, "singular value of $W$ after two steps", curves))


def weight_spectrum(
    trajectory: Trajectory,
) -> tuple[Float[np.ndarray, "runs t m"], Float[np.ndarray, "runs t j r"]]:
    """Singular values of W and |<v_k, w*_j>| of a simulation that was asked for spectra."""
    found = trajectory.weights
    assert found is not None
    assert found.singular_values is not None
    assert found.overlap is not None
    return found.singular_values, found.overlap


def span_overlap(setting: Setting) -> Float[np.ndarray, " runs"]:
    """Length of w* in the span of the first two right singular vectors of W after the last step."""
    _, overlaps = weight_spectrum(simulate(setting))
    return np.linalg.norm(overlaps[:, -1, :2], axis=(1, 2))


def overlaps_over_sizes(
    fields: Fields, d: Sequence[int], runs: Runs
) -> tuple[list[Setting], list[Float[np.ndarray, " runs"]]]:
    """span_overlap at every d."""
    given = FIRST_LAYER | dict(fields) | {"spectra": 2}
    settings = [Setting(**given | {"d": size, "runs": drawn}) for size, drawn in with_runs(d, runs)]
    return settings, [span_overlap(setting) for setting in settings]


OVERLAP = r"length of $w^*$ in span $(v_1, v_2)$"


def not_aligned(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """The overlap of the first two directions with the target falls with d."""
    _, values = overlaps_over_sizes(fields, d, runs)
    return scaling_findings(
        d, {"overlap": values}, {"overlap": NOT_LEARNED}, {"overlap": -0.5}, OVERLAP
    )


def aligned(fields: Fields, *, power: float, d: Sequence[int], runs: Runs) -> Findings:
    """The overlap does not fall, and is that predicted for reused batches at the largest d.

    Its exponent is that of the overlaps predicted at the smallest and the largest d.  The predicted
    overlap is off by a share d^-``power``: 1/d, and d^(-1/2) where the target has a part of degree
    two, by which the second step carries on the random overlap of the first with the target.
    """
    settings, values = overlaps_over_sizes(fields, d, runs)
    ends = (settings[0], settings[-1])
    predicted = [
        float(np.linalg.norm(weight_outliers(s.vary(batches="reused"))[1].overlap[:2]))
        for s in ends
    ]
    slope = math.log(predicted[1] / predicted[0]) / math.log(d[-1] / d[0])
    scaled = scaling_findings(d, {"overlap": values}, {"overlap": LEARNED}, {"overlap": slope})
    # The overlap itself is about a half: a fifth of it.
    close = mean_of(
        "overlap less the predicted one",
        values[-1] - predicted[-1],
        (-0.1, 0.1),
        0.0,
        allowance=predicted[-1] * d[-1] ** -power,
    )
    curves = [
        mean_curve("simulation", d, values),
        Curve("reused batches", [s.d for s in ends], predicted, theory=True),
    ]
    plot = Plot("dimension $d$", OVERLAP, curves, "log")
    return Findings([*scaled.quantities, close], plot)


# 1{z > 3/2} without its degrees 0, 1 and 2, of unit variance: information exponent 3.
HIDDEN = NETWORK | {
    "target": "threshold-deep",
    "activation": centred(CLIPPED_EXPONENTIAL),
    "step_size": "p^0.8",
}

EVEN = "(He2(x1) + He2(x2) + He2(x3) + He2(x4) + He2(x5) + He2(x6))/sqrt(12)"
"""Information exponent two; the length in six directions scatters less than that along one."""

BY_EXPONENT = {2: "threshold", 3: "threshold-deep"}
"""Targets by their information exponent: 1{z > 3/2} without its degrees below, of unit variance.
E[y^2 z] is not zero: it is what a reused batch shows the second step."""


def reused_goes_beyond(
    name: str, exponent: int, *, power: float, quick: Fields, full: Fields
) -> Claim:
    """The claim that a reused batch learns a target of this information exponent."""
    return Claim(
        id=name,
        statement=(
            "On a reused batch the second step learns a direction of information exponent "
            f"{exponent}."
        ),
        source=sources.TWO_STEP_ABSTRACT,
        regime=f"{REGIME}; alpha_1 = alpha_2 = 0.3, n = 4 d, information exponent {exponent}",
        rule=(
            "The exponent in d of the length of w* in the span of the first two singular vectors "
            "is above -1/4 and as predicted, and that length is within 0.1 of the predicted one "
            "and as predicted."
        ),
        experiment=partial(aligned, power=power),
        fields=HIDDEN | {"target": BY_EXPONENT[exponent], "batches": "reused"},
        controls={"a fresh batch does not know the labels of the first": {"batches": "fresh"}},
        quick=quick,
        full=full,
        tuned={"step_size": ("p^0.75", "p^0.85")},
    )


CLAIMS = (
    Claim(
        id="two-step-outliers",
        statement="A second step adds floor(alpha_2/(1/2 - alpha_1)) outliers to the weights.",
        source=sources.TWO_STEP_ABSTRACT,
        regime=(
            f"{REGIME}; n = 4 d, alpha_1 = alpha_2 = 0.1 and 0.3, step sizes 3 p^alpha. The second "
            "outlier stands at a multiple of the edge that grows as the square of that factor 3 "
            "and as p^0.1: with 2 p^0.3 it is predicted at 1.21 edges at p = 300, which is not "
            "counted, with 1.5 p^0.3 it is counted from p = 4300 on."
        ),
        rule=(
            "The mean number of singular values after step 2 that are 25 % above the predicted "
            "edge, less the one of step 1, is within 1/2 of floor(alpha_2/(1/2 - alpha_1)), 0 and "
            "1, and is the number predicted at this p."
        ),
        experiment=partial(outliers_added, exponents=(0.1, 0.3), drawn=(0.1, 0.2, 0.3, 0.35)),
        fields=NETWORK | CONSTANTS | {"beyond": 0.0},
        controls={
            "tanh is odd: c_2 = 0 takes the new outlier away on fresh batches": {
                "activation": "tanh"
            },
            "steps larger by p^0.2 than those that are counted for": {"beyond": 0.2},
        },
        quick={"d": 300, "runs": 20},
        full={"d": 1000, "runs": 8},
        tuned=TUNED,
    ),
    Claim(
        id="two-step-outliers-at-unit-scale",
        statement=(
            "A second step adds floor(alpha_2/(1/2 - alpha_1)) outliers to the weights of a "
            "network whose output is of order one at its start."
        ),
        source=sources.beyond(
            sources.TWO_STEPS,
            "abstract, which names no output scale",
            "output scale 1 in place of 1/sqrt(p)",
        ),
        regime=(
            "n, d, p in proportion, eta_j = 3 p^alpha_j, output scale 1; n = 4 d, alpha_1 = "
            "alpha_2 = 0.1, 0.2"
        ),
        rule=(
            "The mean number of singular values after step 2 that are 25 % above the predicted "
            "edge, less the one of step 1, is within 1/2 of floor(alpha_2/(1/2 - alpha_1)), 0 and "
            "0, and is the number predicted at this p."
        ),
        experiment=partial(outliers_added, exponents=(0.1, 0.2), drawn=(0.1, 0.15, 0.2, 0.25)),
        fields=NETWORK | CONSTANTS | {"output_scale": "1", "beyond": 0.0},
        controls={"steps larger by p^0.1 than those that are counted for": {"beyond": 0.1}},
        quick={"d": 300, "runs": 4},
        full={"d": 1000, "runs": 8},
        measured_instead=(
            "one new outlier at 0.2: the answer of the network to step 1 is of order p^alpha_1 in "
            "the residual of step 2, so that every exponent gains alpha_1; the number needs an "
            "output scale 1/sqrt(p)."
        ),
        corrected="two-step-outliers",
    ),
    Claim(
        id="fresh-needs-exponent-one",
        statement=(
            "On fresh batches two steps learn nothing of a target of information exponent above "
            "one."
        ),
        source=sources.TWO_STEP_ABSTRACT,
        regime=f"{REGIME}; alpha_1 = alpha_2 = 0.3, n = 4 d, information exponent 3",
        rule=(
            "exponent in d of the length of w* in the span of the first two singular vectors "
            "below -1/4"
        ),
        experiment=not_aligned,
        fields=HIDDEN,
        controls={
            "a reused batch shows the second step the square of the label": {"batches": "reused"}
        },
        quick={"d": (30, 100, 360), "runs": (320, 24, 96)},
        full={"d": (60, 250, 1000), "runs": (400, 96, 24)},
    ),
    reused_goes_beyond(
        "reused-goes-beyond",
        3,
        power=1.0,
        quick={"d": (40, 120, 360), "runs": (120, 24, 24)},
        full={"d": (60, 250, 1000), "runs": (266, 64, 16)},
    ),
    reused_goes_beyond(
        "reused-goes-beyond-exponent-two",
        2,
        power=0.5,
        quick={"d": (100, 200, 400), "runs": (96, 48, 48)},
        full={"d": (125, 350, 1000), "runs": (256, 96, 32)},
    ),
    Claim(
        id="reuse-needs-large-steps",
        statement=(
            "On a reused batch with alpha_1 + alpha_2 < 1/2 the second step stays inside the "
            "bulk, and nothing of a target of information exponent above one is learned."
        ),
        source=sources.beyond(
            sources.TWO_STEPS,
            "abstract: alpha_1, alpha_2 chosen properly",
            "alpha_1 + alpha_2 = 1/2 as the boundary",
        ),
        regime=(
            f"{REGIME}; alpha_1 = alpha_2 = 0.15, n = 4 d, information exponent 3; 0.18, nearer "
            "to the boundary 1/4, has the same limit but not at d in reach: exponent -0.25 up to "
            "d = 360"
        ),
        rule=(
            "exponent in d of the length of w* in the span of the first two singular vectors "
            "below -1/4"
        ),
        experiment=not_aligned,
        fields=HIDDEN | {"batches": "reused", "step_size": "p^0.65"},
        controls={"alpha_1 + alpha_2 = 0.6": {"step_size": "p^0.8"}},
        quick={"d": (40, 120, 360), "runs": (480, 24, 144)},
        full={"d": (60, 250, 1000), "runs": (266, 64, 16)},
        tuned={"step_size": ("p^0.6", "p^0.68")},
    ),
    Claim(
        id="one-step-needs-exponent-one",
        statement=(
            "One step at linear width learns nothing of a target of information exponent two."
        ),
        source=sources.TWO_STEP_ABSTRACT,
        regime=f"{REGIME}; one step, alpha = 0.3, n = 4 d, relu",
        rule=(
            "exponent in d of the length of the first two singular vectors in the span of the "
            "target below -1/4"
        ),
        experiment=not_aligned,
        fields=NETWORK | {"target": EVEN, "steps": 1, "step_size": "p^0.8"},
        controls={"a linear part": {"target": f"x1 + {EVEN}"}},
        quick={"d": (40, 120, 360), "runs": (90, 30, 10)},
        full={"d": (60, 250, 1000), "runs": (266, 64, 16)},
        tuned={"step_size": ("p^0.7", "p^0.85")},
    ),
)
