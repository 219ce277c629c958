"""Claims about one giant step of a narrow network (arXiv 2305.18270)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims import sources
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
from giantstep.papers.claims.quantity import LEARNED, NOT_LEARNED, drift
from giantstep.papers.claims.record import Claim, Findings
from giantstep.prediction.narrow.one_step import cosine_quantiles
from giantstep.problem.setting import Setting

PLANE = ((1.0, 0.0), (0.0, 1.0))
NARROW = "p fixed, n = d^kappa, d to infinity, fresh batch, symmetric start"


DRAWS = 20_000
"""Starts and batches that theory draws for a median cosine, whose error is then one percent."""


def median_exponents(
    fields: Fields, d: Sequence[int], draws: int = DRAWS
) -> Float[np.ndarray, " r"]:
    """Exponent in d, at these d, of the median |cosine| that theory gives for each direction."""
    settings = [Setting(**(FIRST_LAYER | dict(fields) | {"d": size})) for size in d]
    medians = [cosine_quantiles(setting, np.array([0.5]), draws)[0] for setting in settings]
    return np.polyfit(np.log(d), np.log(medians), 1)[0]


def each_direction(
    fields: Fields, *, learned: Sequence[int], d: Sequence[int], runs: Runs
) -> Findings:
    """Every target direction by itself: those of U_l (``learned``) must be learned, others not.

    What theory leaves out of a median cosine is of relative order 1/d: the drift of that is the
    allowance.
    """
    taken = dict(fields) | {"steps": 1}
    predicted = median_exponents(taken, d)
    axes = np.eye(len(predicted))
    names = [f"cosine with w{k}" for k in range(1, len(axes) + 1)]
    statistics = {name: neurons([axis.tolist()], 1) for name, axis in zip(names, axes, strict=True)}
    regions = {
        name: LEARNED if k in learned else NOT_LEARNED for k, name in enumerate(names, start=1)
    }
    expected = dict(zip(names, predicted.tolist(), strict=True))
    values = over_sizes(taken, d, runs, statistics)
    return scaling_findings(d, values, regions, expected, allowance=drift(d, power=1.0))


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
        id=f"one-step-leap-{leap}",
        statement=f"With leap {leap} and n of order d^{leap} one step learns all of U_{leap}.",
        source=sources.ONE_STEP_LEAP,
        regime=f"{NARROW}; n = {fields['n']}, step size 4 p d^{size}",
        rule=(
            "exponents in d of the median |P w_i|/|w_i| over neurons and of sigma_min/sqrt(p) of "
            "their cosines with U above -1/4 and as predicted, 0"
        ),
        experiment=partial(specialisation, basis=PLANE),
        # Four times the giant step: the start counts for little at these d.
        fields=fields | {"step_size": f"4*p*d^{size}"},
        controls={
            "a step of order p is too small for the leap": {"step_size": "p"},
        },
        quick=quick,
        full=full,
        tuned={"step_size": (f"2*p*d^{size}", f"16*p*d^{size}")},
    )


def only_the_leap(
    name: str, target: str, learned: Sequence[int], both: str, quick: Fields, full: Fields
) -> Claim:
    """One step at n of order d^2 learns U_2 and no direction outside of it."""
    inside = " and ".join(f"w{k}" for k in learned)
    return Claim(
        id=f"one-step-only-{name}",
        statement=(
            f"With leap 2 and n of order d^2 one step learns U_2 and nothing else of V*: of "
            f"{target} it learns {inside} only."
        ),
        source=sources.ONE_STEP_LEAP,
        regime=(
            f"{NARROW}; n = 8 d^2, step size 4 p d^0.5, the activation sin(z + 0.8), which has "
            "coefficients of all degrees"
        ),
        rule=(
            "exponent in d of the median cosine of the neurons with each target direction: above "
            "-1/4 inside U_2, below -1/4 outside, and as the law of one step predicts at these d "
            "(0 and -1/2 in the limit)"
        ),
        experiment=partial(each_direction, learned=learned),
        fields={
            "target": target,
            "activation": "sin(z + 0.8)",
            "n": "8*d^2",
            # Outside U_2 the noise is nearly the same for all neurons of a run: runs count.
            "p": 4,
            "step_size": "4*p*d^0.5",
        },
        controls={
            "the other direction has a part of degree 2: it is in U_2, too": {"target": both},
            "a step of order p is too small for the leap": {"step_size": "p"},
        },
        quick=dict(quick),
        full=dict(full),
        tuned={"step_size": ("2*p*d^0.5", "16*p*d^0.5"), "n": ("4*d^2", "16*d^2")},
    )


CLAIMS = (
    Claim(
        id="one-step-line",
        statement=(
            "With leap 1 and n of order d one step learns the line v* and only it (rank one)."
        ),
        source=sources.ONE_STEP_LINE,
        regime=f"{NARROW}; n = 4 d",
        rule=(
            "exponent in d of the median cosine of the neurons with v* above -1/4 and as "
            "predicted, 0, of the strongest outside below -1/4 and as predicted, -1/2"
        ),
        experiment=line_only,
        fields={"target": "staircase", "activation": "relu", "n": "4d", "p": 8},
        controls={
            "no linear part: the leap is 2": {"target": "He2(x1) - He2(x2)"},
            "the linear part is x1 - x2, another line": {"target": "x1 - x2 + x1^2 - x2^2"},
        },
        quick={"d": (1000, 10_000, 100_000), "runs": 20},
        full={"d": (1000, 10_000, 100_000, 1_000_000), "runs": 16},
        tuned={"n": ("2d", "16d")},
    ),
    specialised(
        2,
        {"target": "He2(x1) + He2(x2)/2", "activation": "relu", "n": "8*d^2", "p": 24},
        {"d": (40, 100, 250), "runs": 16},
        {"d": (40, 120, 360, 800), "runs": 16},
    ),
    specialised(
        3,
        # Of all activations He3 has the largest signal beside its noise: d^3 samples are enough.
        {"target": "leap-3", "activation": "He3(z)", "n": "d^3", "p": 16},
        {"d": (16, 32, 64), "runs": (400, 160, 64)},
        {"d": (20, 40, 80, 160), "runs": (400, 200, 80, 40)},
    ),
    only_the_leap(
        "cubic",
        "He2(x1) + He3(x2)/2",
        (1,),
        "He2(x1) + He2(x2)/2",
        {"d": (30, 80, 200), "runs": (800, 400, 200)},
        {"d": (40, 120, 360, 800), "runs": (800, 400, 300, 80)},
    ),
    only_the_leap(
        "product",
        "x1*x2 + He4(x3)/5",
        (1, 2),
        "x1*x2 + He2(x3)/2",
        {"d": (30, 80, 200), "runs": (800, 400, 200)},
        {"d": (40, 120, 360, 800), "runs": (800, 400, 300, 80)},
    ),
    Claim(
        id="one-step-deflated",
        statement=(
            "Deflated labels let one step at n of order d^2 learn every direction of a leap-1 "
            "target."
        ),
        source=sources.DEFLATED_LABELS,
        regime=f"{NARROW}; n = 4 d^2, mean and linear part of the labels fitted and removed",
        rule=(
            "exponents in d of the median cosine of the neurons with w2, which has no linear "
            "part, and of sigma_min/sqrt(p) of their cosines with V* above -1/4 and as predicted, "
            "0"
        ),
        experiment=deflated,
        fields={
            "target": "x1 + He2(x1) - He2(x2)",
            "activation": "relu",
            "n": "4*d^2",
            "p": 16,
            "deflate": 1,
            "step_size": "4*p*d^0.5",
        },
        controls={
            "the linear part takes the whole step of every neuron": {"deflate": -1},
            "n = 2 d is below the leap of what is left": {"n": "2d"},
        },
        quick={"d": (40, 100, 250), "runs": (96, 32, 32)},
        full={"d": (60, 180, 540), "runs": 30},
        tuned={"step_size": ("2*p*d^0.5", "16*p*d^0.5")},
    ),
)
