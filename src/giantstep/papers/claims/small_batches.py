"""Claims about batches too small for the leap of the target (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from giantstep.analysis.phase import cosine_exponent
from giantstep.papers.claims.experiments import (
    Fields,
    Runs,
    merged,
    neurons,
    over_sizes,
    scaling_findings,
    strongest,
)
from giantstep.papers.claims.quantity import NOT_LEARNED, drift
from giantstep.papers.claims.record import Claim, Findings

PAPER = "arXiv 2305.18270 (JMLR)"
NARROW = "p fixed, n = d^kappa, d to infinity, fresh batches, symmetric start"


def crossover(d: Sequence[int], noise: float = 5.0) -> float:
    """What the exponent may gain while the cosine passes from start to noise, beside its drift.

    ``noise`` is E[y^2 z^2]/E[y^2], 5 for He2: d times the squared cosine with w* of the noise
    of the gradient, where that of the start is 1.
    """
    return drift(d) + 0.5 * math.log(noise) / math.log(d[-1] / d[0])


def whatever_the_step_size(
    fields: Fields, *, d: Sequence[int], runs: Runs, decades: Sequence[float]
) -> Findings:
    """Exponent of the neurons' cosine with the target at step sizes over decades.

    From small steps to large ones the cosine is c d^(-1/2) with c from 1, that of the start, to
    sqrt(E[y^2 z^2]/E[y^2]), that of the noise of the gradient along w*; a step in between may pass
    from one to the other over the range of d.
    """
    parts = []
    for decade in decades:
        name = f"step size 10^{decade:g}"
        size = {"step_size": f"{10.0**decade:g}*p*d^0.5", "steps": 1}
        values = over_sizes(dict(fields) | size, d, runs, {name: neurons([[1.0]], 1)})
        regions, expected = {name: NOT_LEARNED}, {name: -0.5}
        parts.append(scaling_findings(d, values, regions, expected, allowance=crossover(d)))
    return merged(parts)


def batch_exponents(
    fields: Fields, *, leap: int, kappas: Sequence[float], d: Sequence[int], runs: Runs
) -> Findings:
    """Exponent of the neurons' cosine at n = d^kappa and the giant step: -(leap - kappa)/2.

    The batch that is taken is n = d^kappa times d^``beyond`` of the fields.  A learned cosine has
    the exponent 0; the region ends halfway between that and the predicted exponent.  The squared
    norm of the start beside that of the noise is of order d^(-(leap - kappa)): the allowance.
    """
    setting = dict(fields) | {"steps": 1}
    beyond = setting.pop("beyond")
    parts = []
    for kappa in kappas:
        name = f"cosine at n = d^{kappa:g}"
        limit = cosine_exponent(leap, kappa)
        batch = {"n": f"d^{kappa + beyond:g}"}
        values = over_sizes(setting | batch, d, runs, {name: neurons([[1.0]], 1)})
        region = (-math.inf, 0.5 * limit)
        allowance = drift(d, power=leap - kappa)
        parts.append(
            scaling_findings(d, values, {name: region}, {name: limit}, allowance=allowance)
        )
    return merged(parts)


def never(
    fields: Fields,
    *,
    outside: Sequence[Sequence[float]],
    steps: int,
    d: Sequence[int],
    runs: Runs,
    noise: float = 1.0,
) -> Findings:
    """What the neurons know of a subspace falls as d^(-1/2) after every one of the steps.

    ``noise`` is that of crossover: 1 where the steps are giant at every d.
    """
    names = [f"step {step}" for step in range(1, steps + 1)]
    statistics = {name: strongest(outside, t) for t, name in enumerate(names, 1)}
    values = over_sizes(dict(fields) | {"steps": steps}, d, runs, statistics)
    return scaling_findings(
        d,
        values,
        dict.fromkeys(names, NOT_LEARNED),
        dict.fromkeys(names, -0.5),
        "strongest cosine of the neurons",
        allowance=crossover(d, noise),
    )


def step_by_step(
    fields: Fields, *, expected: Sequence[float], d: Sequence[int], runs: Runs
) -> Findings:
    """Exponent of the neurons' cosine after each step; -1/8 parts -1/4 from 0."""
    names = [f"step {step}" for step in range(1, len(expected) + 1)]
    statistics = {name: neurons([[1.0]], t) for t, name in enumerate(names, 1)}
    values = over_sizes(dict(fields) | {"steps": len(expected)}, d, runs, statistics)
    regions = [(-0.125, math.inf) if limit > -0.125 else (-math.inf, -0.125) for limit in expected]
    return scaling_findings(
        d,
        values,
        dict(zip(names, regions, strict=True)),
        dict(zip(names, expected, strict=True)),
    )


# The update's noise is then of the size of the start, and the network's output of order one.
BETWEEN = {
    "target": "He2(x1)",
    "activation": "relu",
    "n": "4*d^1.5",
    "p": 8,
    "step_size": "p*d^0.25",
}
BETWEEN_FULL = {"d": (100, 500, 2500, 10_000), "runs": 32}

LINEAR_PART = {"a linear part makes the leap 1": {"target": "x1 + He2(x1)"}}

CLAIMS = (
    Claim(
        "one-step-nothing",
        "A batch of n = d^(l - eps) samples teaches one step nothing, whatever the step size.",
        f"{PAPER}, Theorems 4-5 and Definition 3",
        f"{NARROW}; leap 2 at n = 4 d, step sizes over six decades",
        "exponent in d of the median |P w_i|/|w_i| over neurons below -1/4 and as predicted, -1/2, "
        "at every step size",
        whatever_the_step_size,
        {"target": "He2(x1)", "activation": "relu", "n": "4d", "p": 8},
        LINEAR_PART,
        {"d": (300, 3000, 30_000), "runs": (128, 32, 40), "decades": (-3, -1, 0, 1, 3)},
        {"d": (300, 3000, 30_000, 300_000), "runs": 32, "decades": (-3, -2, -1, 0, 1, 2, 3)},
        tuned={"p": (4, 16)},
    ),
    Claim(
        "linear-batch-necessary",
        "With leap 1, too, a batch of n = d^(1 - eps) teaches nothing: the cosine falls as "
        "d^(-(1 - kappa)/2) at n = d^kappa.",
        f"{PAPER}, Theorems 4-5",
        f"{NARROW}; kappa = 1/2, 3/4, giant step",
        "exponent in d of the median |P w_i|/|w_i| as predicted, -1/4 and -1/8, and nearer to it "
        "than to 0",
        partial(batch_exponents, leap=1, kappas=(0.5, 0.75)),
        {"target": "x1", "activation": "relu", "p": 8, "step_size": "8*p", "beyond": 0.0},
        {"n = d^(kappa + 1/2) is no smaller than d": {"beyond": 0.5}},
        {"d": (1000, 10_000, 100_000), "runs": 60},
        {"d": (1000, 10_000, 100_000, 1_000_000), "runs": 100},
        tuned={"step_size": ("p", "32*p")},
    ),
    Claim(
        "one-step-below-the-leap",
        "Between n = d^(l-1) and n = d^l the cosine falls as d^(-(l - kappa)/2) at n = d^kappa.",
        f"{PAPER}, Theorems 4-5",
        f"{NARROW}; leap 2 at n = d^1.5, giant step",
        "exponent in d of the median |P w_i|/|w_i| as predicted, -1/4, and nearer to it than to 0",
        partial(batch_exponents, leap=2, kappas=(1.5,)),
        {
            "target": "He2(x1)",
            "activation": "relu",
            "p": 16,
            "step_size": "8*p*d^0.5",
            "beyond": 0.0,
        },
        {"n = d^2 is at the leap": {"beyond": 0.5}},
        {"d": (100, 400, 1600), "runs": 80},
        # At n = d^2, of the control, a run at the largest d takes 12 s.
        {"d": (100, 400, 1600, 6400), "runs": (400, 100, 100, 40)},
        tuned={"step_size": ("4*p*d^0.5", "32*p*d^0.5")},
    ),
    Claim(
        "several-steps-nothing",
        "From n of order d nothing of leap 2 is learned, after any number of steps.",
        f"{PAPER}, conjecture on small batches at n of order d",
        "leap 2, n = 4 d, four giant steps on fresh batches",
        "exponent in d of the root mean square cosine of the neurons below -1/4 and as predicted, "
        "-1/2, after every step",
        partial(never, outside=((1.0,),), steps=4, noise=5.0),
        {"target": "He2(x1)", "activation": "relu", "n": "4d", "p": 8, "step_size": "p"},
        LINEAR_PART,
        {"d": (300, 2000, 12_000), "runs": 24},
        {"d": (300, 3000, 30_000, 300_000), "runs": 24},
        tuned={"step_size": ("p/4", "4*p")},
    ),
    Claim(
        "small-batches-never",
        "Below n = d^l nothing is ever learned, after any number of steps of whatever size.",
        f"{PAPER}, conjecture on small batches",
        "leap 2, n = 4 d^1.5, two steps of size p d^(1/4) on fresh batches",
        "exponent in d of the median |P w_i|/|w_i| nearer to -1/4 than to 0 after both steps",
        partial(step_by_step, expected=(-0.25, -0.25)),
        BETWEEN,
        LINEAR_PART,
        {"d": (100, 500, 2500), "runs": (240, 40, 48)},
        BETWEEN_FULL,
        seen="after two steps the cosine no longer falls with d: the first leaves d^(-1/4), from "
        "which the second has a signal of the size of its noise.",
        corrected="steps-multiply-the-cosine",
    ),
    Claim(
        "steps-multiply-the-cosine",
        "At leap 2 each step from n samples multiplies the cosine by (n/d)^(1/2) until it is of "
        "order one: n = d^(1 + 1/T) is enough for T steps.",
        f"{PAPER}, beyond: steps and batches between d and d^l (open question)",
        "leap 2, n = 4 d^1.5, two steps of size p d^(1/4) on fresh batches",
        "exponents in d of the median |P w_i|/|w_i| as predicted, -1/4 after step 1 and 0 after "
        "step 2, and nearer to these than to each other's",
        partial(step_by_step, expected=(-0.25, 0.0)),
        BETWEEN,
        {"n = 4 d: the factor does not grow with d": {"n": "4d"}, **LINEAR_PART},
        {"d": (100, 500, 2500), "runs": (400, 40, 84)},
        BETWEEN_FULL,
        tuned={"step_size": ("p*d^0.25/2", "1.5*p*d^0.25")},
    ),
)
