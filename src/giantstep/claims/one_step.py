"""Claims about one giant step of a narrow network (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from giantstep.claims.experiments import (
    FIRST_LAYER,
    Fields,
    complement,
    neuron_cosine,
    over_sizes,
    scaling_findings,
    strongest,
    weakest,
)
from giantstep.claims.record import LEARNED, NOT_LEARNED, Claim, Curve, Findings, Plot, exact
from giantstep.comparison import compare
from giantstep.prediction import predict
from giantstep.setting import Setting
from giantstep.simulation import simulate
from giantstep.theory.phase import cosine_exponent

PAPER = "arXiv 2305.18270"
NARROW = "p fixed, n = d^kappa, d to infinity, fresh batch, symmetric start"


def whatever_the_step_size(
    fields: Fields, *, d: Sequence[int], runs: int, decades: Sequence[float]
) -> Findings:
    """Exponent of the cosine with the target at step sizes over decades around the giant one."""
    parts = []
    for decade in decades:
        size = f"{10.0**decade:g}*p*d^0.5"
        values = over_sizes(
            dict(fields) | {"step_size": size, "steps": 1},
            d,
            runs,
            {f"step size 10^{decade:g}": neuron_cosine([1.0])},
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
    theory = setting.vary(inputs="gaussian")
    simulated = simulate(setting)
    compared = compare(predict(theory), simulated)
    predicted = predict(theory)
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
    values = over_sizes(dict(fields) | {"steps": 1}, d, runs, {name: neuron_cosine([1.0])})
    return scaling_findings(d, values, {name: (-math.inf, -0.1)}, {name: cosine_exponent(2, 1.5)})


PLANE = ((1.0, 0.0), (0.0, 1.0))
SPACE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

CLAIMS = (
    Claim(
        "one-step-nothing",
        "A batch of n = d^(l - eps) samples teaches one step nothing, whatever the step size.",
        f"{PAPER}, Theorem 1",
        f"{NARROW}; leap 2 at n = 4 d, step sizes over six decades",
        "exponent of the median cosine in d below -1/4 at every step size",
        whatever_the_step_size,
        {"target": "He2(x1)", "activation": "relu", "n": "4d", "p": 4},
        {"target": "x1 + He2(x1)"},
        "a linear part makes the leap 1",
        {"d": (300, 3000, 30_000), "runs": 12, "decades": (-3, -1, 0, 1, 3)},
        {"d": (1000, 10_000, 100_000, 1_000_000), "runs": 40, "decades": (-3, -2, -1, 0, 1, 2, 3)},
    ),
    Claim(
        "one-step-below-the-leap",
        "Between n = d^(l-1) and n = d^l the cosine still falls with d, as n = d^kappa allows.",
        f"{PAPER}, Theorem 1",
        f"{NARROW}; leap 2 at n = d^1.5",
        "exponent of the median cosine in d below -0.1",
        below_the_leap,
        {"target": "He2(x1)", "activation": "relu", "n": "d^1.5", "p": 4},
        {"n": "4*d^2"},
        "n = 4 d^2 is at the leap",
        {"d": (100, 300, 1000), "runs": 40},
        {"d": (100, 300, 1000, 3000, 10_000), "runs": 80},
    ),
    Claim(
        "one-step-line",
        "With leap 1 and n of order d one step learns the line v* and only it (rank one).",
        f"{PAPER}, Theorem 2",
        f"{NARROW}; n = 4 d",
        "exponent of the cosine with v* above -1/4, of the one outside below -1/4",
        line_only,
        {"target": "staircase", "activation": "relu", "n": "4d", "p": 8},
        {"target": "He2(x1) - He2(x2)"},
        "no linear part: the leap is 2",
        {"d": (1000, 10_000, 100_000), "runs": 12},
        {"d": (1000, 10_000, 100_000, 1_000_000), "runs": 60},
    ),
    *(
        Claim(
            f"one-step-leap-{leap}",
            f"With leap {leap} and n of order d^{leap} one step learns all of U_{leap}: specialisation.",
            f"{PAPER}, Theorem 3",
            f"{NARROW}; n = 4 d^{leap}, step size p d^{(leap - 1) / 2:g}",
            "exponent of the weakest principal cosine of the rows with U above -1/4",
            _experiment,
            {
                "target": " + ".join(f"He{leap}(x{k}){scale}" for k, scale in ((1, ""), (2, "/2"))),
                "activation": "tanh(z + 0.5)",
                "n": f"4*d^{leap}",
                "p": 8,
                "step_size": f"4*p*d^{(leap - 1) / 2:g}",
            },
            {"n": f"d^{leap - 1}"},
            f"n = d^{leap - 1} is below the leap",
            quick,
            full,
        )
        for leap, quick, full, _experiment in (
            (
                2,
                {"d": (60, 180, 540), "runs": 20},
                {"d": (100, 300, 1000, 3000), "runs": 40},
                lambda fields, **size: specialisation(fields, basis=PLANE, **size),
            ),
            (
                3,
                {"d": (25, 50, 100), "runs": 20},
                {"d": (30, 60, 120, 250), "runs": 40},
                lambda fields, **size: specialisation(fields, basis=PLANE, **size),
            ),
        )
    ),
    Claim(
        "one-step-formulas",
        "Overlaps and norms after one step are those of the closed forms.",
        f"{PAPER}, section 3",
        f"{NARROW}; n = 2 d",
        "Bonferroni p-value of the largest deviation from the prediction at least 1e-3",
        formulas,
        {"target": "staircase", "activation": "relu", "n": "2d", "p": 4, "frame": "axes"},
        {"inputs": "rademacher"},
        "for inputs +-1 along the target's axes x^2 is constant",
        {"d": 2000, "runs": 60},
        {"d": 10_000, "runs": 200},
    ),
    Claim(
        "one-step-deflated",
        "Deflated labels let one step at n of order d^2 learn every direction of a leap-1 target.",
        f"{PAPER}, section 3.2",
        f"{NARROW}; n = 4 d^2, mean and linear part of the labels fitted and removed",
        "exponent of the weakest principal cosine of the rows with V* above -1/4",
        lambda fields, **size: specialisation(fields, basis=PLANE, **size),
        {
            "target": "x1 + He2(x1) - He2(x2)",
            "activation": "relu",
            "n": "4*d^2",
            "p": 8,
            "deflate": 1,
            "step_size": "4*p*d^0.5",
        },
        {"deflate": -1, "n": "4d", "step_size": "p"},
        "the linear part takes the whole step at n = 4 d",
        {"d": (60, 180, 540), "runs": 16},
        {"d": (100, 300, 1000, 3000), "runs": 40},
    ),
)
