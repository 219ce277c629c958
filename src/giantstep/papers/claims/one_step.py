"""Claims about one giant step of a narrow network (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    Fields,
    Runs,
    complement,
    neurons,
    over_sizes,
    scaling_findings,
    strongest,
    weakest,
)
from giantstep.papers.claims.quantity import LEARNED, NOT_LEARNED, exact
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.plot import Curve, Plot
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.simulation.simulate import simulate

PAPER = "arXiv 2305.18270 (JMLR)"
PLANE = ((1.0, 0.0), (0.0, 1.0))
NARROW = "p fixed, n = d^kappa, d to infinity, fresh batch, symmetric start"


def formulas(fields: Fields, *, d: int, runs: int) -> Findings:
    """Overlaps and norms after one step against the closed forms, all neurons at once."""
    setting = Setting(**(FIRST_LAYER | dict(fields) | {"d": d, "runs": runs, "steps": 1}))
    simulated = simulate(setting)
    # Other inputs, as in a control, are held against the prediction for Gaussian ones.
    predicted = replace(predict(setting.vary(inputs="gaussian")), setting=setting)
    compared = compare(predicted, simulated)
    quantities = [exact("p-value of the largest deviation", compared.p_value, (1e-3, 1.0))]
    x = np.arange(setting.p)
    sizes = np.median(np.abs(simulated.overlap[:, 1, :, 0]), axis=0)
    errors = np.std(np.abs(simulated.overlap[:, 1, :, 0]), axis=0, ddof=1) / math.sqrt(runs)
    curves = [
        Curve("theory", x.tolist(), np.abs(predicted.overlap[0, 1, :, 0]).tolist(), theory=True),
        Curve("simulation", x.tolist(), sizes.tolist(), errors.tolist()),
    ]
    return Findings(
        quantities, Plot("neuron $i$", r"overlap $|\langle w_i, w^*_1\rangle|$", curves)
    )


def specialisation(
    fields: Fields, *, basis: Sequence[Sequence[float]], d: Sequence[int], runs: Runs
) -> Findings:
    """Every neuron learns a part of the subspace, and together they learn every direction of it."""
    statistics = {
        "median |P w|/|w|": neurons(basis, 1),
        "weakest direction": weakest(basis, 1),
    }
    values = over_sizes(dict(fields) | {"steps": 1}, d, runs, statistics)
    regions, expected = dict.fromkeys(statistics, LEARNED), dict.fromkeys(statistics, 0.0)
    return scaling_findings(d, values, regions, expected, "cosine of the neurons")


def deflated(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """The neurons learn the plane, and w2, outside the line v* = w1, among it."""
    statistics = {"weakest direction": weakest(PLANE, 1), "cosine with w2": neurons(PLANE[1:], 1)}
    values = over_sizes(dict(fields) | {"steps": 1}, d, runs, statistics)
    regions, expected = dict.fromkeys(statistics, LEARNED), dict.fromkeys(statistics, 0.0)
    return scaling_findings(d, values, regions, expected)


def line_only(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """The line v* = (1, 1)/sqrt 2 is learned by every neuron, nothing else of the plane is."""
    line = [[1.0, 1.0]]
    statistics = {
        "cosine with v*": neurons(line, 1),
        "cosine outside v*": strongest(complement(line), 1),
    }
    regions = {"cosine with v*": LEARNED, "cosine outside v*": NOT_LEARNED}
    values = over_sizes(dict(fields) | {"steps": 1}, d, runs, statistics)
    return scaling_findings(d, values, regions, {"cosine with v*": 0.0, "cosine outside v*": -0.5})


def specialised(
    leap: int, fields: dict[str, object], quick: dict[str, object], full: dict[str, object]
) -> Claim:
    """One step at n of order d^leap learns the whole plane of a target of that leap."""
    size = f"{(leap - 1) / 2:g}"
    return Claim(
        f"one-step-leap-{leap}",
        f"With leap {leap} and n of order d^{leap} one step learns all of U_{leap}.",
        f"{PAPER}, Theorems 4-5",
        f"{NARROW}; n = {fields['n']}, step size 4 p d^{size}",
        "exponents in d of the median |P w_i|/|w_i| over neurons and of sigma_min/sqrt(p) of their "
        "cosines with U above -1/4 and as predicted, 0",
        partial(specialisation, basis=PLANE),
        # Four times the giant step: the start counts for little at these d.
        fields | {"step_size": f"4*p*d^{size}"},
        {
            "a step of order p is too small for the leap": {"step_size": "p"},
        },
        quick,
        full,
        tuned={"step_size": (f"2*p*d^{size}", f"16*p*d^{size}")},
    )


CLAIMS = (
    Claim(
        "one-step-line",
        "With leap 1 and n of order d one step learns the line v* and only it (rank one).",
        f"{PAPER}, Theorems 4-5",
        f"{NARROW}; n = 4 d",
        "exponent in d of the median cosine of the neurons with v* above -1/4 and as predicted, 0, "
        "of the strongest outside below -1/4 and as predicted, -1/2",
        line_only,
        {"target": "staircase", "activation": "relu", "n": "4d", "p": 8},
        {
            "no linear part: the leap is 2": {"target": "He2(x1) - He2(x2)"},
            "the linear part is x1 - x2, another line": {"target": "x1 - x2 + x1^2 - x2^2"},
        },
        {"d": (1000, 10_000, 100_000), "runs": 20},
        {"d": (1000, 10_000, 100_000, 1_000_000), "runs": 16},
    ),
    specialised(
        2,
        {"target": "He2(x1) + He2(x2)/2", "activation": "relu", "n": "8*d^2", "p": 24},
        {"d": (40, 100, 250), "runs": 16},
        {"d": (40, 120, 360, 800), "runs": 16},
    ),
    specialised(
        3,
        # relu has no third coefficient; that of the sine is large.
        {"target": "leap-3", "activation": "sin(z)", "n": "d^3", "p": 24},
        {"d": (16, 32, 64), "runs": (160, 24, 64)},
        {"d": (20, 40, 80, 160), "runs": 30},
    ),
    Claim(
        "one-step-formulas",
        "Overlaps and norms after one step are those of the closed forms.",
        f"{PAPER}, Theorems 4-5, proof",
        f"{NARROW}; n = 2 d",
        "Bonferroni p-value of the largest deviation from the prediction at least 1e-3",
        formulas,
        {"target": "staircase", "activation": "relu", "n": "2d", "p": 4, "frame": "axes"},
        {"for inputs +-1 along the target's axes x^2 is constant": {"inputs": "rademacher"}},
        {"d": 600, "runs": 60},
        {"d": 2000, "runs": 120},
    ),
    Claim(
        "one-step-deflated",
        "Deflated labels let one step at n of order d^2 learn every direction of a leap-1 target.",
        f"{PAPER}, Theorems 4-5, labels preprocessed",
        f"{NARROW}; n = 4 d^2, mean and linear part of the labels fitted and removed",
        "exponents in d of the median cosine of the neurons with w2, which has no linear part, and "
        "of sigma_min/sqrt(p) of their cosines with V* above -1/4 and as predicted, 0",
        deflated,
        {
            "target": "x1 + He2(x1) - He2(x2)",
            "activation": "relu",
            "n": "4*d^2",
            "p": 16,
            "deflate": 1,
            "step_size": "4*p*d^0.5",
        },
        {
            "the linear part takes the whole step of every neuron": {"deflate": -1},
            "n = 2 d is below the leap of what is left": {"n": "2d"},
        },
        {"d": (40, 100, 250), "runs": (96, 32, 32)},
        {"d": (60, 180, 540), "runs": 30},
    ),
)
