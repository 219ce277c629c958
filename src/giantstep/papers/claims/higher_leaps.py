"""How many samples several giant steps need at a leap above one (open in arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from giantstep.analysis.step_exponents import several_steps_exponents
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    Fields,
    Runs,
    merged,
    neurons,
    over_sizes,
    scaling_findings,
)
from giantstep.papers.claims.quantity import Region, drift
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.claims.small_batches import BETWEEN, GIANT, KNOWN_START, schedule

HALFWAY = -0.125
"""Between the exponents 0 of a learned direction and -1/4 of the least steep that is not."""


@dataclass(frozen=True)
class Batch:
    """n = d^kappa fresh samples for each of some steps, with the sizes at which they are tried."""

    steps: int
    kappa: float
    d: Sequence[int]
    runs: Runs

    @property
    def name(self) -> str:
        """As the quantity of a claim."""
        plural = "s" if self.steps > 1 else ""
        return f"{self.steps} step{plural} at n = d^{self.kappa:.3g}"


def side(exponent: float) -> Region:
    """The exponents on the same side of HALFWAY: learned, or not."""
    return (HALFWAY, math.inf) if exponent > HALFWAY else (-math.inf, HALFWAY)


def label_steps(fields: Fields, batch: Batch) -> dict[str, object]:
    """Fields of a setting whose steps use the labels alone, without the network's output.

    The batch is ``samples`` d^kappa.  Step t has the size ``size`` ``growth``^(t-1) (n/d)^(1/2),
    with which its noise is as long as the row or longer.
    """
    given = dict(fields)
    samples, size, growth = (given.pop(name) for name in ("samples", "size", "growth"))
    sizes = [
        f"{size * growth**step:g}*d^{(batch.kappa - 1.0) / 2.0:.6g}" for step in range(batch.steps)
    ]
    return given | {
        "n": f"{samples:g}*d^{batch.kappa:.6g}",
        "steps": batch.steps,
        "step_size": ", ".join(sizes),
    }


def labels_over_steps(fields: Fields, *, leap: int, batches: Sequence[Batch]) -> Findings:
    """Exponent in d of the cosine with w* after the last step, for every number of samples.

    The noise of the first step along w* is d^(-1/2) beside a signal of the order of the cosine that
    it leaves: the allowance is the drift of that share.
    """
    parts = []
    for batch in batches:
        exponents = several_steps_exponents(leap, batch.kappa, batch.steps)
        first, limit = exponents[0], exponents[-1]
        statistics = {batch.name: neurons([[1.0]], batch.steps)}
        values = over_sizes(label_steps(fields, batch), batch.d, batch.runs, statistics)
        regions, expected = {batch.name: side(limit)}, {batch.name: limit}
        allowance = drift(batch.d, power=0.5 + first)
        parts.append(scaling_findings(batch.d, values, regions, expected, allowance=allowance))
    return merged(parts)


def cleared_steps(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """Exponents in d of the cosine after giant steps of the network with its own output.

    ``giant`` is the size of giant steps, ``between`` that of the step between two of them, whose
    noise is a share (d/n)^(1/2) of the row, d^(-1/4): the allowance is the drift of that share.
    """
    given = dict(fields)
    giant, between = given.pop("giant"), given.pop("between")
    parts = []
    for sizes, names in (
        ((giant, giant), {"one giant step": 1, "two giant steps": 2}),
        ((giant, between, giant), {"a step between two giant ones": 3}),
    ):
        statistics = {name: neurons([[1.0]], step) for name, step in names.items()}
        values = over_sizes(given | schedule(*sizes), d, runs, statistics)
        expected = {name: 0.0 if step == 3 else -0.25 for name, step in names.items()}
        regions = {name: side(limit) for name, limit in expected.items()}
        allowance = drift(d, power=0.25)
        parts.append(scaling_findings(d, values, regions, expected, allowance=allowance))
    return merged(parts)


# One neuron, which no other disturbs; its overlap at the start is of the order of d^(-1/2).
LABELS = {
    "residual": "labels",
    "p": 1,
    "start": "orthogonal",
    "readout_start": "ones",
}
FIELDS: dict[int, dict[str, Any]] = {
    2: LABELS
    | {
        "target": "He2(x1)",
        "activation": "relu",
        "start_overlaps": "d^-0.5",
        "samples": 2.0,
        "size": 6.0,
        "growth": 4.0,
    },
    3: LABELS
    | {
        "target": "He3(x1)",
        "activation": "He3",
        "start_overlaps": "2*d^-0.5",
        "samples": 0.05,
        "size": 0.05,
        "growth": 1.0,
    },
}
"""Settings of each leap: numbers of samples at which the cosine is of order one on the boundary."""

# The pair of neurons of a symmetric start, with half the overlap of a random row.
PAIR = KNOWN_START | {"start_overlaps": "d^-0.5/2; d^-0.5/2"}
QUESTION = sources.question(
    sources.FEW_STEPS,
    "the relation between leap and number of samples over several steps",
    "steps that use the labels alone, without the output of the network",
)
LABEL_RULE = (
    "exponent in d of the cosine of the neuron with w* after the last step as predicted by mu -> "
    "max(0, min(mu, (l - 1) mu - (kappa - 1)/2)) from mu = 1/2, and on the same side of -1/8"
)


def over_steps(
    leap: int,
    statement: str,
    regime: str,
    quick: Sequence[Batch],
    full: Sequence[Batch],
    tuned: dict[str, Sequence[float]],
    blind: str,
) -> Claim:
    """The claim about a leap: just enough samples, and too few, for one, two and three steps."""
    return Claim(
        id=f"leap-{leap}-over-steps",
        statement=statement,
        source=QUESTION,
        regime=regime,
        rule=LABEL_RULE,
        experiment=partial(labels_over_steps, leap=leap),
        fields=FIELDS[leap],
        controls={
            f"an activation with c_{leap} = 0": {"activation": blind},
            "the start knows the direction": {"start_overlaps": ((0.5,),)},
        },
        quick={"batches": quick},
        full={"batches": full},
        tuned=tuned,
    )


CLAIMS = (
    over_steps(
        2,
        "At leap 2 each step on the labels multiplies the cosine by (n/d)^(1/2) until it is of "
        "order one: T steps learn from n = d^(1 + 1/T) samples each and not from fewer.",
        "leap 2, relu, T = 1, 2, 3 giant steps on fresh batches, n = 2 d^kappa, kappa = 1 + 1/T "
        "and 1 + 1/(2T)",
        (
            Batch(1, 2.0, (50, 120, 300), (320, 160, 64)),
            Batch(1, 1.5, (100, 500, 2500), (320, 160, 80)),
            Batch(2, 1.5, (100, 500, 2500), (160, 64, 24)),
            Batch(2, 1.25, (100, 700, 5000), (480, 320, 120)),
            Batch(3, 4 / 3, (100, 500, 2500), (160, 64, 32)),
            Batch(3, 7 / 6, (100, 700, 5000), (480, 320, 160)),
        ),
        (
            Batch(1, 2.0, (60, 200, 600), (320, 160, 96)),
            Batch(1, 1.5, (100, 700, 5000), (480, 240, 120)),
            Batch(2, 1.5, (100, 700, 5000), (240, 120, 48)),
            Batch(2, 1.25, (100, 1000, 10_000), (960, 480, 240)),
            Batch(3, 4 / 3, (100, 1000, 10_000), (240, 120, 64)),
            Batch(3, 7 / 6, (100, 1500, 20_000), (960, 480, 240)),
        ),
        {"samples": (1.0, 4.0), "size": (3.0, 12.0)},
        blind="tanh",
    ),
    over_steps(
        3,
        "At leap 3 T steps on the labels learn from n = d^(2 + 1/(2^T - 1)) samples each, and "
        "from d^(1 + 2/T) they do not for T > 1: the signal is the square of the cosine.",
        "leap 3, activation He3, T = 1, 2, 3 giant steps on fresh batches, n = d^kappa/20, kappa = "
        "3, 7/3, 15/7, and 9/4, 2, 5/3",
        (
            Batch(1, 3.0, (30, 70, 150), (320, 160, 96)),
            Batch(1, 2.25, (60, 200, 700), (480, 240, 80)),
            Batch(2, 7 / 3, (60, 180, 500), (640, 320, 120)),
            Batch(2, 2.0, (60, 250, 1000), (640, 320, 160)),
            Batch(3, 15 / 7, (60, 180, 500), (640, 480, 240)),
            Batch(3, 5 / 3, (60, 300, 1500), (640, 480, 320)),
        ),
        (
            Batch(1, 3.0, (30, 90, 250), (640, 320, 120)),
            Batch(1, 2.25, (60, 250, 1000), (640, 320, 120)),
            Batch(2, 7 / 3, (60, 250, 1000), (960, 480, 96)),
            Batch(2, 2.0, (60, 400, 2500), (960, 480, 120)),
            Batch(3, 15 / 7, (60, 250, 1000), (960, 640, 240)),
            Batch(3, 5 / 3, (60, 500, 4000), (960, 640, 320)),
        ),
        {"samples": (0.025, 0.1), "size": (0.025, 0.1)},
        blind="relu",
    ),
    Claim(
        id="cleared-steps",
        statement=(
            "With its own output a network does not learn leap 2 by two giant steps from n = 2 "
            "d^1.5 samples each; with a step of size p/4 between them, which removes the output, "
            "it does."
        ),
        source=sources.question(
            sources.FEW_STEPS,
            "how many samples several steps need at a leap above one",
            "n between d and d^l, which the theorem on one step leaves out",
        ),
        regime=f"leap 2, n = 2 d^1.5, activation He2, one pair of neurons, giant steps of {GIANT}",
        rule=(
            "exponents in d of the median |P w_i|/|w_i| as predicted, -1/4 after one and after "
            "two giant steps and 0 where the step of size p/4 is between them, and on the same "
            "side of -1/8"
        ),
        experiment=cleared_steps,
        fields=BETWEEN | PAIR | {"giant": GIANT, "between": "p/4"},
        controls={
            "the step between them is not taken": {"between": "0"},
            "the start knows the direction": KNOWN_START,
        },
        quick={"d": (100, 400, 1600), "runs": (480, 192, 96)},
        full={"d": (100, 500, 2500, 10_000), "runs": (960, 480, 160, 48)},
        tuned={"giant": ("0.175*p*d^0.25", "0.7*p*d^0.25")},
    ),
)
