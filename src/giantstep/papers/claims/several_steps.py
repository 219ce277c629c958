"""Claims about several giant steps of a narrow network (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    Fields,
    Runs,
    complement,
    merged,
    over_sizes,
    scaling_findings,
    staircase,
    strongest,
    weakest,
)
from giantstep.papers.claims.quantity import LEARNED, NOT_LEARNED, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.claims.source import Source

RULE = (
    "after each step the exponents in d of sigma_min/sqrt(p) of the neurons' cosines with U above "
    "-1/4 and as predicted, 0, of sigma_max/sqrt(p) outside U below -1/4 and as predicted, -1/2"
)
QUICK = {"d": (1000, 5000, 25_000), "runs": (48, 16, 20)}
FULL = {"d": (300, 3000, 30_000, 300_000), "runs": 12}
# Random readouts let neurons of one step differ in more than a sign.
NETWORK = {"activation": "tanh(z + 0.5)", "n": "8d", "p": 16, "readout_start": "gaussian"}


def example(
    name: str,
    statement: str,
    source: Source,
    fields: Mapping[str, object],
    subspaces: Sequence[Sequence[Sequence[float]]],
    controls: dict[str, dict[str, object]],
    quick: Mapping[str, object] = QUICK,
    full: Mapping[str, object] = FULL,
    tuned: Mapping[str, Sequence[object]] | None = None,
) -> Claim:
    """A staircase of the slides: which subspace each step reaches."""
    return Claim(
        id=name,
        statement=statement,
        source=source,
        regime=f"p fixed, n = {(NETWORK | dict(fields))['n']}, fresh batches, d to infinity",
        rule=RULE,
        experiment=partial(staircase, subspaces=subspaces),
        fields=NETWORK | dict(fields),
        controls=controls,
        quick=quick,
        full=full,
        tuned=tuned or {},
    )


def sum_of_links(fields: Fields, *, links: Sequence[int], d: Sequence[int], runs: Runs) -> Findings:
    """Exponents of the cosines with the sum of r directions, and across it, after the last step.

    ``link`` is the link of direction k, ``added`` what the target has beside the sum of links.
    """
    given = dict(fields)
    link, added = given.pop("link"), given.pop("added")
    parts = []
    for count in links:
        line = [[1.0] * count]
        along, across = f"r = {count}: along the sum", f"r = {count}: across it"
        target = " + ".join(link.format(k=k) for k in range(1, count + 1)) + added
        statistics = {along: weakest(line), across: strongest(complement(line))}
        values = over_sizes(given | {"target": target}, d, runs, statistics)
        regions, expected = {along: LEARNED, across: NOT_LEARNED}, {along: 0.0, across: -0.5}
        parts.append(scaling_findings(d, values, regions, expected, "cosine of the neurons"))
    return merged(parts)


NOTEBOOK_D = 4096
"""Dimension and batch size of the authors' notebook."""


def across_the_pair(
    fields: Fields, *, d: Sequence[int], runs: Runs, wide: Mapping[str, int]
) -> Findings:
    """The cosine across v* = 4 w1 + w2 after the last step: its exponent, and its size.

    The size is measured at the d of the notebook, in units of d^(-1/2), the cosine of a random
    direction; ``wide`` has the p and the runs of that measurement.
    """
    name = "cosine across v*"
    across = {name: strongest(complement((PAIR_LINE,)))}
    findings = scaling_findings(
        d, over_sizes(fields, d, runs, across), {name: NOT_LEARNED}, {name: -0.5}
    )
    network = dict(fields) | {"p": wide["p"]}
    [cosines] = over_sizes(network, (NOTEBOOK_D,), wide["runs"], across)[name]
    size = mean_of(f"{name} times d^(1/2)", math.sqrt(NOTEBOOK_D) * cosines, (0.0, 2.0))
    return Findings([*findings.quantities, size], findings.plot)


# The response to He3(x1) is the cube of the first step's cosine: it needs many samples, and a
# second step that outweighs the first.
CUBIC = {"activation": "relu", "n": "128d", "p": 16, "step_size": "2*p^1.5, 16*p^1.5"}
CUBIC_SIZES = (
    {"d": (150, 400, 1000), "runs": (144, 24, 56)},
    {"d": (150, 500, 1600, 5000), "runs": 24},
)

CUBIC_TUNED = {
    "n": ("64d", "256d"),
    "step_size": ("p^1.5, 8*p^1.5", "4*p^1.5, 32*p^1.5"),
}
FIVE_TERMS_TUNED = {
    "n": ("128d", "512d"),
    "step_size": ("p^1.5, 2*p^1.5, 8*p^1.5", "4*p^1.5, 8*p^1.5, 32*p^1.5"),
}

SUM, DIFFERENCE = (1.0, 1.0), (1.0, -1.0)
PAIR_LINE = (4.0, 1.0)
PAIR_TARGET = "4*x1 + x1^2 - 1 + x2"
# 8/17 s t beside a linear part of norm sqrt(17): it takes a second step that outweighs the first.
PAIR = {
    "target": PAIR_TARGET,
    "activation": "relu",
    "n": "32d",
    "step_size": "2*p^1.5, 8*p^1.5",
}
PAIR_FULL = {"d": (300, 3000, 30_000), "runs": 24}
PAIR_TUNED = {"step_size": ("2*p^1.5, 4*p^1.5", "2*p^1.5, 16*p^1.5")}
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

UNEQUAL = (
    "readout weights of different sizes (Gaussian) and steps of different sizes; with +1 and -1, "
    "as in the slides, neurons reach one line of what odd functions of the learned direction open"
)

CLAIMS = (
    example(
        "staircase-example-1",
        "x1 + x2 + x1^2 - x2^2: step 1 learns w1 + w2, step 2 adds w1 - w2.",
        sources.staircase_example(1),
        {"target": "staircase"},
        ((SUM,), (SUM, DIFFERENCE)),
        {
            "with equal links nothing is linear given w1 + w2": {"target": "equal-links"},
            "the linear part is w1 - w2": {"target": "x1 - x2 + x1^2 - x2^2"},
        },
    ),
    example(
        "staircase-example-2",
        "Equal links: step 1 learns w1 + w2, step 2 nothing new.",
        sources.staircase_example(2),
        {"target": "equal-links"},
        ((SUM,), (SUM,)),
        {
            "opposite squares are linear given w1 + w2": {"target": "staircase"},
            "the linear part is w1 - w2": {"target": "x1 - x2 + x1^2 + x2^2 - 2"},
        },
    ),
    example(
        "staircase-example-3a",
        "x1 + x1 x2 + x1 x3: step 2 learns w2 + w3 and not w2 - w3.",
        sources.staircase_example(3),
        {"target": "joint-step"},
        ((X,), (X, (0.0, 1.0, 1.0))),
        {
            "with He2(x1), another function of x1, both directions are linear": {
                "target": "x1 + x1*x2 + He2(x1)*x3"
            },
            "the linear part is w2 - w3, given which nothing is linear": {
                "target": "x2 - x3 + x1*x2 + x1*x3"
            },
        },
    ),
    example(
        "staircase-example-3b",
        "x1 + x1 x2 + He3(x1) x3: step 2 learns both w2 and w3.",
        sources.beyond(
            sources.FEW_STEPS,
            "Example (3) of Conjecture 1 in the slides",
            UNEQUAL,
        ),
        CUBIC | {"target": "split-step"},
        ((X,), (X, Y, Z)),
        {
            "one coefficient function of x1 for both gives one direction": {"target": "joint-step"},
            "the linear part is w2": {"target": "x2 + He3(x1)*x3"},
        },
        *CUBIC_SIZES,
        tuned=CUBIC_TUNED,
    ),
    example(
        "staircase-five-terms",
        "The five-term target of the slides: w1, then w2, then w3.",
        sources.beyond(
            sources.FEW_STEPS, "Conjecture 1 and the last example of the slides", UNEQUAL
        ),
        # E f^2 = 56 and a linear part of 1: only many samples a dimension show it.
        {
            "target": "five-regimes",
            "n": "256d",
            "step_size": "2*p^1.5, 4*p^1.5, 16*p^1.5",
        },
        ((X,), (X, Y), (X, Y, Z)),
        {
            "without He2(x1) x2 the second direction is never linear": {
                "target": "x1 + He2(x2) + He4(x1)*He2(x2)*x3 + He2(x2)*He2(x3)"
            },
            "the linear part is w3": {
                "target": "x3 + He2(x2) + He2(x1)*x2 + He4(x1)*He2(x2)*x3 + He2(x2)*He2(x3)"
            },
        },
        {"d": (150, 450, 1350), "runs": (48, 16, 24)},
        {"d": (100, 300, 1000, 3000), "runs": 16},
        tuned=FIVE_TERMS_TUNED,
    ),
    Claim(
        id="equal-links-never",
        statement=(
            "With r equal links, r = 2, 3, 4, the rows learn the line of their sum v* = w1 + ... + "
            "wr and never leave it, whatever the number of steps."
        ),
        source=sources.staircase_example(2),
        regime="n = 8 d, four giant steps on fresh batches, links z + z^2 - 1",
        rule=(
            "after four steps the exponent in d of the root mean square cosine of the neurons with "
            "v* above -1/4 and as predicted, 0, of what they know best across it below -1/4 and as "
            "predicted, -1/2, for every r"
        ),
        experiment=sum_of_links,
        fields=NETWORK | {"p": 8, "steps": 4, "link": "x{k} + x{k}^2 - 1", "added": ""},
        controls={
            "the first two links differ": {"added": " - 2*x2^2 + 2"},
            "the linear part is w1 - w2": {"link": "x{k}^2 - 1", "added": " + x1 - x2"},
        },
        quick={"links": (2, 3, 4), "d": (1000, 5000, 25_000), "runs": (32, 12, 16)},
        full={"links": (2, 3, 4), "d": (300, 3000, 30_000, 300_000), "runs": 12},
        tuned={"n": ("4d", "16d")},
    ),
    Claim(
        id="pair-stays",
        statement=(
            "With the links 4z + z^2 - 1 and z the neurons cannot significantly move away from v* "
            "= 4 w1 + w2 after several steps."
        ),
        source=sources.PAIR_NOTEBOOK,
        regime=(
            "n = d, relu, six steps of size 2p on fresh batches; the exponent at p = 64, the size "
            "of the cosine at d = 4096 and p = 1024 (p = 256 at the quick size). Unlike in the "
            "notebook the labels are centred and twice as large, and rows start in pairs"
        ),
        rule=(
            "exponent in d of the neurons' root mean square cosine across v* below -1/4 and as "
            "predicted, -1/2, after six steps, and that cosine at d = 4096 at most twice that of a "
            "random direction"
        ),
        experiment=across_the_pair,
        fields={
            "target": PAIR_TARGET,
            "activation": "relu",
            "n": "d",
            "p": 64,
            "step_size": "2p",
            "steps": 6,
        },
        controls={"the linear part is w1 - 4 w2": {"target": "x1 - 4*x2 + x1^2 - 1"}},
        quick={"d": (256, 1024, 4096), "runs": (32, 16, 12), "wide": {"p": 256, "runs": 3}},
        full={
            "d": (256, 1024, 4096, 16_384),
            "runs": (64, 32, 24, 12),
            "wide": {"p": 1024, "runs": 2},
        },
        tuned={"p": (32, 128)},
        measured_instead=(
            "after six steps the cosine across v* does not fall with d: at n = d = 4096 it is "
            "0.08, five times that of a random direction and a tenth of that with v*, so that a "
            "picture of the neurons hardly shows it (after two steps it is 1.3 times that of a "
            "random direction); x1^2 holds 8/17 s t, s along v* and t across, which is linear in t "
            "given s."
        ),
        corrected="pair-leaves",
    ),
    example(
        "pair-leaves",
        "4 x1 + x1^2 - 1 + x2: step 1 learns v* = 4 w1 + w2, step 2 the direction across it.",
        sources.STAIRCASE,
        PAIR,
        ((PAIR_LINE,), (X[:2], Y[:2])),
        {
            "without the square nothing is linear given v*": {"target": "4*x1 + x2"},
            "the linear part is w1 - 4 w2": {"target": "x1 - 4*x2 + x1^2 - 1"},
        },
        {"d": (300, 1500, 7500), "runs": (128, 16, 40)},
        PAIR_FULL,
        tuned=PAIR_TUNED,
    ),
)
