"""Claims about batches too small for the leap of the target (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from giantstep.analysis.phase import cosine_exponent
from giantstep.papers.claims import sources
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


def schedule(*sizes: str) -> dict[str, object]:
    """Fields of a setting that takes one step of each size."""
    return {"steps": len(sizes), "step_size": ", ".join(sizes)}


def after_all_steps(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """Exponent of the neurons' cosine after the last step: that of one step, -1/4, and not 0."""
    name = "cosine after the last step"
    steps = len(fields["step_size"].split(","))
    values = over_sizes(dict(fields) | {"steps": steps}, d, runs, {name: neurons([[1.0]], steps)})
    return scaling_findings(d, values, {name: (-math.inf, -0.125)}, {name: -0.25})


GIANT = "0.35*p*d^0.25"
"""Its noise is of the size of the start at n = 2 d^1.5, and the network's output of order one."""

# With this activation a pair of neurons makes an output that one step of size p/4 removes.
BETWEEN = {"target": "He2(x1)", "activation": "He2", "n": "2*d^1.5", "p": 2}
KNOWN_START = {
    "start": "given",
    "start_gram": ((1.0, 1.0), (1.0, 1.0)),
    "start_overlaps": ((0.5,), (0.5,)),
    "readout_start": "alternating",
}

LINEAR_PART = {"a linear part makes the leap 1": {"target": "x1 + He2(x1)"}}

CLAIMS = (
    Claim(
        id="one-step-nothing",
        statement=(
            "A batch of n = d^(l - eps) samples teaches one step nothing, whatever the step size."
        ),
        source=sources.ONE_STEP_SMALL_BATCH,
        regime=f"{NARROW}; leap 2 at n = 4 d, step sizes over six decades",
        rule=(
            "exponent in d of the median |P w_i|/|w_i| over neurons below -1/4 and as predicted, "
            "-1/2, at every step size"
        ),
        experiment=whatever_the_step_size,
        fields={"target": "He2(x1)", "activation": "relu", "n": "4d", "p": 8},
        controls=LINEAR_PART,
        quick={"d": (300, 3000, 30_000), "runs": (128, 32, 40), "decades": (-3, -1, 0, 1, 3)},
        full={"d": (300, 3000, 30_000, 300_000), "runs": 32, "decades": (-3, -2, -1, 0, 1, 2, 3)},
        tuned={"p": (4, 16)},
    ),
    Claim(
        id="linear-batch-necessary",
        statement=(
            "With leap 1, too, a batch of n = d^(1 - eps) teaches nothing: the cosine falls as "
            "d^(-(1 - kappa)/2) at n = d^kappa."
        ),
        source=sources.beyond(
            sources.FEW_STEPS,
            "theorem on one step, first case",
            "the rate, where the theorem says that the cosine tends to 0",
        ),
        regime=f"{NARROW}; kappa = 1/2, 3/4, giant step",
        rule=(
            "exponent in d of the median |P w_i|/|w_i| as predicted, -1/4 and -1/8, and nearer to "
            "it than to 0"
        ),
        experiment=partial(batch_exponents, leap=1, kappas=(0.5, 0.75)),
        fields={"target": "x1", "activation": "relu", "p": 8, "step_size": "8*p", "beyond": 0.0},
        controls={"n = d^(kappa + 1/2) is no smaller than d": {"beyond": 0.5}},
        quick={"d": (1000, 10_000, 100_000), "runs": 60},
        full={"d": (1000, 10_000, 100_000, 1_000_000), "runs": 100},
        tuned={"step_size": ("p", "32*p")},
    ),
    Claim(
        id="one-step-below-the-leap",
        statement=(
            "Between n = d^(l-1) and n = d^l the cosine falls as d^(-(l - kappa)/2) at n = d^kappa."
        ),
        source=sources.beyond(
            sources.FEW_STEPS,
            "theorem on one step, first case",
            "the rate, where the theorem says that the cosine tends to 0",
        ),
        regime=f"{NARROW}; leap 2 at n = d^1.5, giant step",
        rule=(
            "exponent in d of the median |P w_i|/|w_i| as predicted, -1/4, and nearer to it than "
            "to 0"
        ),
        experiment=partial(batch_exponents, leap=2, kappas=(1.5,)),
        fields={
            "target": "He2(x1)",
            "activation": "relu",
            "p": 16,
            "step_size": "8*p*d^0.5",
            "beyond": 0.0,
        },
        controls={"n = d^2 is at the leap": {"beyond": 0.5}},
        quick={"d": (100, 400, 1600), "runs": 80},
        # At n = d^2, of the control, a run at the largest d takes 12 s.
        full={"d": (100, 400, 1600, 6400), "runs": (400, 100, 100, 40)},
        tuned={"step_size": ("4*p*d^0.5", "32*p*d^0.5")},
    ),
    Claim(
        id="several-steps-nothing",
        statement=(
            "From n of order d samples a step nothing of leap 2 is learned, after any fixed "
            "number of steps."
        ),
        source=sources.SMALL_BATCHES,
        regime="leap 2, n = 4 d, four giant steps on fresh batches",
        rule=(
            "exponent in d of the root mean square cosine of the neurons below -1/4 and as "
            "predicted, -1/2, after every step"
        ),
        experiment=partial(never, outside=((1.0,),), steps=4, noise=5.0),
        fields={"target": "He2(x1)", "activation": "relu", "n": "4d", "p": 8, "step_size": "p"},
        controls=LINEAR_PART,
        quick={"d": (300, 2000, 12_000), "runs": 24},
        full={"d": (300, 3000, 30_000, 300_000), "runs": 24},
        tuned={"step_size": ("p/4", "4*p")},
    ),
    Claim(
        id="small-batches-never",
        statement=(
            "If n = O(d^(l - eps)), the first layer never learns, even after T steps, whatever "
            "the step sizes."
        ),
        source=sources.SMALL_BATCHES,
        regime=(
            f"leap 2, n = 2 d^1.5, T = 3 steps on fresh batches of sizes {GIANT}, p/4 and {GIANT}, "
            "activation He2, one pair of neurons"
        ),
        rule=(
            "exponent in d of the median |P w_i|/|w_i| after the last step nearer to -1/4, that "
            "of one step, than to 0, which is learned"
        ),
        experiment=after_all_steps,
        fields=BETWEEN | {"step_size": f"{GIANT}, p/4, {GIANT}"},
        controls={"the start knows the direction": KNOWN_START},
        quick={"d": (100, 400, 1600), "runs": (400, 200, 96)},
        full={"d": (100, 500, 2500, 10_000), "runs": (1600, 640, 240, 64)},
        tuned={
            "step_size": tuple(f"{size}*p*d^0.25, p/4, {size}*p*d^0.25" for size in (0.175, 0.7))
        },
        measured_instead=(
            "the cosine after three steps does not fall with d: one giant step leaves d^(-1/4), "
            "the small step after it removes the output that the network has made of noise, and "
            "the next giant step has a signal of the size of its noise; without the small step "
            "two giant steps do not learn."
        ),
        corrected="cleared-steps",
    ),
)
