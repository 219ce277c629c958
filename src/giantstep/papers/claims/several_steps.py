"""Claims about several giant steps of a narrow network (arXiv 2305.18270)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from giantstep.papers.claims.experiments import (
    Fields,
    complement,
    over_sizes,
    scaling_findings,
    staircase,
    strongest,
)
from giantstep.papers.claims.quantity import NOT_LEARNED
from giantstep.papers.claims.record import Claim, Findings

PAPER = "arXiv 2305.18270"
RULE = (
    "after each step the exponent in d of the weakest principal cosine inside U above -1/4, of "
    "the strongest outside below -1/4"
)
QUICK = {"d": (300, 2000, 12_000), "runs": 16}
FULL = {"d": (300, 3000, 30_000, 300_000), "runs": 12}
# Random readouts let neurons of one step differ in more than a sign.
NETWORK = {"activation": "tanh(z + 0.5)", "n": "8d", "p": 16, "readout_start": "gaussian"}


def never(
    fields: Fields, *, outside: Sequence[Sequence[float]], steps: int, d: Sequence[int], runs: int
) -> Findings:
    """The strongest cosine with a subspace falls with d after every one of the steps."""
    names = [f"step {step}" for step in range(1, steps + 1)]
    statistics = {name: strongest(outside, t) for t, name in enumerate(names, 1)}
    values = over_sizes(dict(fields) | {"steps": steps}, d, runs, statistics)
    return scaling_findings(
        d,
        values,
        dict.fromkeys(names, NOT_LEARNED),
        dict.fromkeys(names, -0.5),
        "strongest principal cosine",
    )


def example(
    name: str,
    statement: str,
    where: str,
    fields: dict[str, object],
    subspaces: Sequence[Sequence[Sequence[float]]],
    controls: dict[str, dict[str, object]],
    quick: dict[str, object] = QUICK,
    full: dict[str, object] = FULL,
) -> Claim:
    """A staircase of the slides: which subspace each step reaches."""
    return Claim(
        name,
        statement,
        f"{PAPER}, {where}",
        f"p fixed, n = {(NETWORK | fields)['n']}, fresh batches, d to infinity",
        RULE,
        partial(staircase, subspaces=subspaces),
        NETWORK | fields,
        controls,
        quick,
        full,
    )


# The response to He3(x1) is the cube of the first step's cosine: it needs many samples, and a
# second step that outweighs the first.
CUBIC = {"activation": "relu", "n": "128d", "p": 16, "step_size": "2*p^1.5, 16*p^1.5"}
CUBIC_SIZES = ({"d": (150, 400, 1000), "runs": 18}, {"d": (150, 500, 1600, 5000), "runs": 24})

SUM, DIFFERENCE = (1.0, 1.0), (1.0, -1.0)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

CLAIMS = (
    example(
        "staircase-example-1",
        "x1 + x2 + x1^2 - x2^2: step 1 learns w1 + w2, step 2 adds w1 - w2.",
        "Conjecture 1, Example 1",
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
        "Conjecture 1, Example 2",
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
        "Conjecture 1, Example 3",
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
        "Conjecture 1, Example 3",
        CUBIC | {"target": "split-step"},
        ((X,), (X, Y, Z)),
        {
            "one coefficient function of x1 for both gives one direction": {"target": "joint-step"},
            "the linear part is w2": {"target": "x2 + He3(x1)*x3"},
        },
        *CUBIC_SIZES,
    ),
    example(
        "staircase-five-terms",
        "The five-term target of the slides: w1, then w2, then w3.",
        "Conjecture 1 and the example of section 4",
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
        {"d": (100, 300, 800), "runs": 10},
        {"d": (100, 300, 1000, 3000), "runs": 16},
    ),
    Claim(
        "several-steps-nothing",
        "Below n = d^l nothing is ever learned, after any number of steps.",
        f"{PAPER}, conjecture on small batches",
        "leap 2, n = 4 d, four giant steps on fresh batches",
        "exponent in d of the strongest cosine below -1/4 after every step",
        partial(never, outside=((1.0,),), steps=4),
        {"target": "He2(x1)", "activation": "relu", "n": "4d", "p": 8, "step_size": "p"},
        {"a linear part makes the leap 1": {"target": "x1 + He2(x1)"}},
        {"d": (300, 2000, 12_000), "runs": 16},
        FULL,
    ),
    Claim(
        "equal-links-never",
        "With equal links the rows never leave the line v*, whatever the number of steps.",
        f"{PAPER}, Example 2",
        "n = 8 d, four giant steps on fresh batches",
        "exponent in d of the strongest cosine outside v* below -1/4 after every step",
        partial(never, outside=complement((SUM,)), steps=4),
        NETWORK | {"target": "equal-links", "p": 8},
        {
            "opposite squares are linear given w1 + w2": {"target": "staircase"},
            "the linear part is w1 - w2": {"target": "x1 - x2 + x1^2 + x2^2 - 2"},
        },
        QUICK,
        FULL,
    ),
)
