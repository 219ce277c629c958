"""Claims about two giant steps at linear width (arXiv 2605.17767)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Float

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
from giantstep.prediction.wide.two_steps import WeightOutliers, weight_outliers
from giantstep.problem.activation import centred
from giantstep.problem.catalog import CLIPPED_EXPONENTIAL
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate
from giantstep.spectra.outliers import count_above

PAPER = "arXiv 2605.17767"
REGIME = "n, d, p in proportion, eta_j of order p^alpha_j, output scale 1/sqrt(p)"

MARGIN = 0.25
"""Outliers are counted from a quarter above the edge: heavy-tailed labels lift it by as much."""

MULTIPLE = 3.0
"""Step sizes 3 p^alpha: with relu the second outlier then stands clear of the bulk from p = 300."""

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


def step_size(alpha: float, output_scale: str = "1/sqrt(p)") -> str:
    """eta = 3 p^alpha; the output scale is part of eta, not of a setting's step size."""
    return f"{MULTIPLE}*p^{alpha + {'1': 0.0, '1/sqrt(p)': 0.5, '1/p': 1.0}[output_scale]:g}"


def new_in_the_limit(first: float, second: float) -> int:
    """floor(alpha_2/(1/2 - alpha_1)), for an activation with all coefficients."""
    # Exponents are decimals: 0.3/(0.5 - 0.2) must count as 1.
    return math.floor(second / (0.5 - first) + 1e-9)


def clear_outliers(predicted: WeightOutliers) -> int:
    """Predicted outliers that stand clear of the edge by the margin."""
    return int(np.sum(predicted.singular_values > (1.0 + MARGIN) * predicted.edge))


def outliers_added(
    fields: Fields,
    *,
    exponents: Sequence[float],
    drawn: Sequence[float],
    d: int,
    runs: int,
) -> Findings:
    """Outliers of the weights after step 2 less those after step 1, both steps of size 3 p^alpha.

    The steps that are taken are larger by p^``beyond`` of the fields; ``drawn`` are the exponents
    of the predicted curves.
    """
    given = FIRST_LAYER | dict(fields) | {"d": d, "runs": runs, "spectra": 4}
    beyond, scale = given.pop("beyond"), given["output_scale"]
    quantities, second, third = [], [], []
    for alpha in exponents:
        setting = Setting(**given | {"step_size": step_size(alpha + beyond, scale)})
        theory = weight_outliers(setting)
        values, _ = weight_spectrum(simulate(setting))
        added = np.array(
            [
                count_above(run[2], theory[1].edge, MARGIN).count
                - count_above(run[1], theory[0].edge, MARGIN).count
                for run in values
            ],
            dtype=float,
        )
        limit = new_in_the_limit(alpha, alpha)
        expected = float(clear_outliers(theory[1]) - clear_outliers(theory[0]))
        region = (limit - 0.5, limit + 0.5)
        quantities.append(mean_of(f"new outliers at {alpha:g}", added, region, expected))
        second.append(values[:, 2, 1])
        third.append(values[:, 2, 2])
    theories = [
        weight_outliers(Setting(**given | {"step_size": step_size(a, scale)}))[1] for a in drawn
    ]
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


def aligned(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """The overlap does not fall, and is that predicted for reused batches at the largest d.

    Its exponent is that of the overlaps predicted at the smallest and the largest d.
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
        allowance=1.0 / d[-1],
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

CLAIMS = (
    Claim(
        "two-step-outliers",
        "A second step adds floor(alpha_2/(1/2 - alpha_1)) outliers to the weights.",
        f"{PAPER}, abstract",
        f"{REGIME}; n = 4 d, alpha_1 = alpha_2 = 0.1, 0.3",
        "mean number of new singular values 25 % above the predicted edge within 1/2 of 0, 1",
        partial(outliers_added, exponents=(0.1, 0.3), drawn=(0.1, 0.2, 0.3, 0.35)),
        NETWORK | {"beyond": 0.0},
        {
            "tanh is odd: c_2 = 0 takes the new outlier away on fresh batches": {
                "activation": "tanh"
            },
            "steps larger by p^0.2 than those that are counted for": {"beyond": 0.2},
        },
        {"d": 300, "runs": 20},
        {"d": 1000, "runs": 8},
    ),
    Claim(
        "two-step-outliers-at-unit-scale",
        "A second step adds floor(alpha_2/(1/2 - alpha_1)) outliers to the weights of a network "
        "whose output is of order one at its start.",
        f"{PAPER}, abstract, which names no output scale",
        "n, d, p in proportion, eta_j = 3 p^alpha_j, output scale 1; n = 4 d, alpha_1 = alpha_2 = "
        "0.1, 0.2",
        "mean number of new singular values 25 % above the predicted edge within 1/2 of 0, 0",
        partial(outliers_added, exponents=(0.1, 0.2), drawn=(0.1, 0.15, 0.2, 0.25)),
        NETWORK | {"output_scale": "1", "beyond": 0.0},
        {"steps larger by p^0.1 than those that are counted for": {"beyond": 0.1}},
        {"d": 300, "runs": 4},
        {"d": 1000, "runs": 8},
        seen="one new outlier at 0.2: the answer of the network to step 1 is of order p^alpha_1 in "
        "the residual of step 2, so that every exponent gains alpha_1; the number needs an output "
        "scale 1/sqrt(p).",
        corrected="two-step-outliers",
    ),
    Claim(
        "fresh-needs-exponent-one",
        "On fresh batches two steps learn nothing of a target of information exponent above one.",
        f"{PAPER}, abstract",
        f"{REGIME}; alpha_1 = alpha_2 = 0.3, n = 4 d, information exponent 3",
        "exponent in d of the length of w* in the span of the first two singular vectors below "
        "-1/4",
        not_aligned,
        HIDDEN,
        {"a reused batch shows the second step the square of the label": {"batches": "reused"}},
        {"d": (30, 100, 360), "runs": (320, 24, 96)},
        {"d": (60, 250, 1000), "runs": (400, 96, 24)},
    ),
    Claim(
        "reused-goes-beyond",
        "On a reused batch the second step learns a direction of information exponent above one.",
        f"{PAPER}, abstract",
        f"{REGIME}; alpha_1 = alpha_2 = 0.3, n = 4 d, information exponent 3",
        "exponent in d of the length of w* in the span of the first two singular vectors above "
        "-1/4, and that length within 0.1 of the predicted one",
        aligned,
        HIDDEN | {"batches": "reused"},
        {"a fresh batch does not know the labels of the first": {"batches": "fresh"}},
        {"d": (40, 120, 360), "runs": (120, 24, 24)},
        {"d": (60, 250, 1000), "runs": (266, 64, 16)},
    ),
    Claim(
        "reuse-needs-large-steps",
        "On a reused batch with alpha_1 + alpha_2 < 1/2 the second step stays inside the bulk, and "
        "nothing of a target of information exponent above one is learned.",
        f"{PAPER}, abstract: alpha_1, alpha_2 chosen properly",
        f"{REGIME}; alpha_1 = alpha_2 = 0.15, n = 4 d, information exponent 3; 0.18, nearer to the "
        "boundary 1/4, has the same limit but not at d in reach: exponent -0.25 up to d = 360",
        "exponent in d of the length of w* in the span of the first two singular vectors below "
        "-1/4",
        not_aligned,
        HIDDEN | {"batches": "reused", "step_size": "p^0.65"},
        {"alpha_1 + alpha_2 = 0.6": {"step_size": "p^0.8"}},
        {"d": (40, 120, 360), "runs": (480, 24, 144)},
        {"d": (60, 250, 1000), "runs": (266, 64, 16)},
        tuned={"step_size": ("p^0.6", "p^0.68")},
    ),
    Claim(
        "one-step-needs-exponent-one",
        "One step at linear width learns nothing of a target of information exponent two.",
        f"{PAPER}, abstract",
        f"{REGIME}; one step, alpha = 0.3, n = 4 d, relu",
        "exponent in d of the length of the first two singular vectors in the span of the target "
        "below -1/4",
        not_aligned,
        NETWORK | {"target": EVEN, "steps": 1, "step_size": "p^0.8"},
        {"a linear part": {"target": f"x1 + {EVEN}"}},
        {"d": (40, 120, 360), "runs": (90, 30, 10)},
        {"d": (60, 250, 1000), "runs": (266, 64, 16)},
        tuned={"step_size": ("p^0.7", "p^0.85")},
    ),
)
