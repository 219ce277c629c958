"""Claims about one giant step of a narrow network (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from giantstep.analysis.phase import cosine_exponent
from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    Fields,
    complement,
    neuron_cosine,
    over_sizes,
    rms_cosine,
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

PAPER = "arXiv 2305.18270"
PLANE = ((1.0, 0.0), (0.0, 1.0))
NARROW = "p fixed, n = d^kappa, d to infinity, fresh batch, symmetric start"


def whatever_the_step_size(
    fields: Fields, *, d: Sequence[int], runs: int, decades: Sequence[float]
) -> Findings:
    """Exponent of the rows' cosine with the target at step sizes over decades."""
    parts = []
    for decade in decades:
        size = f"{10.0**decade:g}*p*d^0.5"
        values = over_sizes(
            dict(fields) | {"step_size": size, "steps": 1},
            d,
            runs,
            {f"step size 10^{decade:g}": strongest([[1.0]], 1)},
        )
        parts.append(values)
    merged = {name: runs_ for part in parts for name, runs_ in part.items()}
    return scaling_findings(
        d,
        merged,
        dict.fromkeys(merged, NOT_LEARNED),
        dict.fromkeys(merged, -0.5),
    )


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
    fields: Fields, *, basis: Sequence[Sequence[float]], d: Sequence[int], runs: int
) -> Findings:
    """Every direction of the subspace is learned by the rows in one step."""
    name = "weakest cosine"
    values = over_sizes(dict(fields) | {"steps": 1}, d, runs, {name: weakest(basis, 1)})
    return scaling_findings(d, values, {name: LEARNED}, {name: 0.0}, "principal cosine")


def deflated(fields: Fields, *, d: Sequence[int], runs: int) -> Findings:
    """The rows learn the plane, and every neuron by itself has a part outside the line v* = w1."""
    statistics = {"weakest cosine": weakest(PLANE, 1), "a neuron's cosine": rms_cosine(PLANE[1])}
    values = over_sizes(dict(fields) | {"steps": 1}, d, runs, statistics)
    regions, expected = dict.fromkeys(statistics, LEARNED), dict.fromkeys(statistics, 0.0)
    return scaling_findings(d, values, regions, expected)


def line_only(fields: Fields, *, d: Sequence[int], runs: int) -> Findings:
    """The line v* = (1, 1)/sqrt 2 is learned by every neuron, nothing else of the plane is."""
    line = [[1.0, 1.0]]
    statistics = {
        "cosine with v*": neuron_cosine(line[0], 1),
        "cosine outside v*": strongest(complement(line), 1),
    }
    regions = {"cosine with v*": LEARNED, "cosine outside v*": NOT_LEARNED}
    values = over_sizes(dict(fields) | {"steps": 1}, d, runs, statistics)
    return scaling_findings(d, values, regions, {"cosine with v*": 0.0, "cosine outside v*": -0.5})


def below_the_leap(fields: Fields, *, d: Sequence[int], runs: int) -> Findings:
    """At n = d^(l - 1/2) the cosine falls as d^(-1/4) in the limit, faster at reachable sizes."""
    name = "cosine"
    values = over_sizes(dict(fields) | {"steps": 1}, d, runs, {name: strongest([[1.0]], 1)})
    return scaling_findings(d, values, {name: (-math.inf, -0.1)}, {name: cosine_exponent(2, 1.5)})


def specialised(
    leap: int, fields: dict[str, object], quick: dict[str, object], full: dict[str, object]
) -> Claim:
    """One step at n of order d^leap learns the whole plane of a target of that leap."""
    size = f"{(leap - 1) / 2:g}"
    return Claim(
        f"one-step-leap-{leap}",
        f"With leap {leap} and n of order d^{leap} one step learns all of U_{leap}.",
        f"{PAPER}, Theorem 3",
        f"{NARROW}; n = {fields['n']}, step size 4 p d^{size}",
        "exponent of the weakest principal cosine of the rows with U above -1/4",
        partial(specialisation, basis=PLANE),
        # Four times the giant step: the start counts for little at these d.
        fields | {"step_size": f"4*p*d^{size}"},
        {"n = 2 d is below the leap": {"n": "2d"}},
        quick,
        full,
    )


CLAIMS = (
    Claim(
        "one-step-nothing",
        "A batch of n = d^(l - eps) samples teaches one step nothing, whatever the step size.",
        f"{PAPER}, Theorem 1",
        f"{NARROW}; leap 2 at n = 4 d, step sizes over six decades",
        "exponent in d of the cosine between the rows and the target below -1/4 at every step size",
        whatever_the_step_size,
        {"target": "He2(x1)", "activation": "relu", "n": "4d", "p": 8},
        {"a linear part makes the leap 1": {"target": "x1 + He2(x1)"}},
        {"d": (300, 3000, 30_000), "runs": 16, "decades": (-3, -1, 0, 1, 3)},
        {"d": (300, 3000, 30_000, 300_000), "runs": 16, "decades": (-3, -2, -1, 0, 1, 2, 3)},
    ),
    Claim(
        "one-step-below-the-leap",
        "Between n = d^(l-1) and n = d^l the cosine still falls with d, as n = d^kappa allows.",
        f"{PAPER}, Theorem 1",
        f"{NARROW}; leap 2 at n = d^1.5",
        "exponent in d of the cosine between the rows and the target below -0.1",
        below_the_leap,
        {"target": "He2(x1)", "activation": "relu", "n": "d^1.5", "p": 8},
        {"n = 4 d^2 is at the leap": {"n": "4*d^2"}},
        {"d": (40, 120, 300), "runs": 30},
        {"d": (40, 120, 360, 720), "runs": 40},
    ),
    Claim(
        "one-step-line",
        "With leap 1 and n of order d one step learns the line v* and only it (rank one).",
        f"{PAPER}, Theorem 2",
        f"{NARROW}; n = 4 d",
        "exponent of the cosine with v* above -1/4, of the one outside below -1/4",
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
        {"target": "He2(x1) + He2(x2)/2", "activation": "relu", "n": "8*d^2", "p": 12},
        {"d": (40, 100, 250), "runs": 12},
        {"d": (40, 120, 360, 800), "runs": 16},
    ),
    specialised(
        3,
        # relu has no third coefficient; that of the sine is large.
        {"target": "leap-3", "activation": "sin(z)", "n": "d^3", "p": 12},
        {"d": (20, 40, 80), "runs": 20},
        {"d": (20, 40, 80, 160), "runs": 30},
    ),
    Claim(
        "one-step-formulas",
        "Overlaps and norms after one step are those of the closed forms.",
        f"{PAPER}, section 3",
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
        f"{PAPER}, section 3.2",
        f"{NARROW}; n = 4 d^2, mean and linear part of the labels fitted and removed",
        "exponents of the cosine of a neuron with w2, which has no linear part, and of "
        "the weakest principal cosine of the rows with V* above -1/4",
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
        {"d": (40, 100, 250), "runs": 16},
        {"d": (60, 180, 540), "runs": 30},
    ),
)
