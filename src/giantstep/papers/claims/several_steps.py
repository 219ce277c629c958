"""Claims about several giant steps of a narrow network (arXiv 2305.18270)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from giantstep.papers.claims.experiments import complement, staircase
from giantstep.papers.claims.record import Claim
from giantstep.papers.claims.small_batches import never

PAPER = "arXiv 2305.18270 (JMLR)"
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
    where: str,
    fields: Mapping[str, object],
    subspaces: Sequence[Sequence[Sequence[float]]],
    controls: dict[str, dict[str, object]],
    quick: Mapping[str, object] = QUICK,
    full: Mapping[str, object] = FULL,
    tuned: Mapping[str, Sequence[str]] | None = None,
) -> Claim:
    """A staircase of the slides: which subspace each step reaches."""
    return Claim(
        name,
        statement,
        f"{PAPER}, {where}",
        f"p fixed, n = {(NETWORK | dict(fields))['n']}, fresh batches, d to infinity",
        RULE,
        partial(staircase, subspaces=subspaces),
        NETWORK | dict(fields),
        controls,
        quick,
        full,
        tuned=tuned or {},
    )


# The response to He3(x1) is the cube of the first step's cosine: it needs many samples, and a
# second step that outweighs the first.
CUBIC = {"activation": "relu", "n": "128d", "p": 16, "step_size": "2*p^1.5, 16*p^1.5"}
CUBIC_SIZES = (
    {"d": (150, 400, 1000), "runs": (144, 24, 56)},
    {"d": (150, 500, 1600, 5000), "runs": 24},
)

SUM, DIFFERENCE = (1.0, 1.0), (1.0, -1.0)
PAIR_LINE = (4.0, 1.0)
# 8/17 s t beside a linear part of norm sqrt(17): it takes a second step that outweighs the first.
PAIR = {
    "target": "4*x1 + x1^2 - 1 + x2",
    "activation": "relu",
    "n": "32d",
    "step_size": "2*p^1.5, 8*p^1.5",
}
PAIR_FULL = {"d": (300, 3000, 30_000), "runs": 24}
PAIR_TUNED = {"step_size": ("2*p^1.5, 4*p^1.5", "2*p^1.5, 16*p^1.5")}
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

CLAIMS = (
    example(
        "staircase-example-1",
        "x1 + x2 + x1^2 - x2^2: step 1 learns w1 + w2, step 2 adds w1 - w2.",
        "Theorem 7, Example 1",
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
        "Theorem 7, Example 2",
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
        "Theorem 7, Example 3",
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
        "Theorem 7, Example 3",
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
        "Theorem 7 and the example of section 2.3",
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
    ),
    Claim(
        "equal-links-never",
        "With equal links the rows never leave the line v*, whatever the number of steps.",
        f"{PAPER}, Theorem 7, Example 2",
        "n = 8 d, four giant steps on fresh batches",
        "exponent in d of the neurons' root mean square cosine outside v* below -1/4 and as "
        "predicted, -1/2, after every step",
        partial(never, outside=complement((SUM,)), steps=4),
        NETWORK | {"target": "equal-links", "p": 8},
        {
            "opposite squares are linear given w1 + w2": {"target": "staircase"},
            "the linear part is w1 - w2": {"target": "x1 - x2 + x1^2 + x2^2 - 2"},
        },
        QUICK,
        FULL,
    ),
    Claim(
        "pair-stays",
        "With the links 4z + z^2 and z the neurons stay on the line v* = 4 w1 + w2.",
        f"{PAPER}, the authors' pair of links",
        "n = 32 d, two giant steps on fresh batches",
        "exponent in d of the neurons' root mean square cosine outside v* below -1/4 and as "
        "predicted, -1/2, after both steps",
        partial(never, outside=complement((PAIR_LINE,)), steps=2),
        NETWORK | PAIR,
        {"the linear part is w1 - 4 w2": {"target": "x1 - 4*x2 + x1^2 - 1"}},
        {"d": (300, 1500, 7500), "runs": (32, 16, 16)},
        PAIR_FULL,
        tuned=PAIR_TUNED,
        seen="after step 2 the cosine outside v* does not fall: x1^2 holds 8/17 s t, s along "
        "v* and t across, which is linear in t given s.",
        corrected="pair-leaves",
    ),
    example(
        "pair-leaves",
        "4 x1 + x1^2 - 1 + x2: step 1 learns v* = 4 w1 + w2, step 2 the direction across it.",
        "Theorem 7",
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
