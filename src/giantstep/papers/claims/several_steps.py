"""Claims about several giant steps of a narrow network at leap one (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from giantstep.language.latex import in_latex
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    Basis,
    Exponent,
    Runs,
    complement,
    exponents,
    learned,
    not_learned,
    over_sizes,
    strongest,
    weakest,
)
from giantstep.papers.claims.quantity import mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time
from giantstep.papers.claims.source import Source

# Random readouts let neurons of one step differ in more than a sign.
NETWORK = {"activation": "tanh(z + 0.5)", "n": "8d", "p": 16, "readout_start": "gaussian"}


def staircase(*subspaces: Basis) -> tuple[Exponent, ...]:
    """After step t the rows learn exactly the t-th of the subspaces.

    What the neurons know least of it must tend to a constant, what they know best outside of it
    must fall.
    """
    measured = []
    for step, basis in enumerate(subspaces, 1):
        measured.append(learned(f"step {step}: inside $U$", weakest(basis, step)))
        if outside := complement(basis):
            measured.append(not_learned(f"step {step}: outside $U$", strongest(outside, step)))
    return tuple(measured)


def sums_of_links(
    link: str = "x{k} + x{k}^2 - 1", added: str = "", counts: Sequence[int] = (2, 3, 4)
) -> tuple[Exponent, ...]:
    """Along the sum of r directions and across it, after the last step, for numbers r of links.

    ``link`` is the link of direction k, ``added`` what the target has beside the sum of links.
    """
    measured = []
    for count in counts:
        line = [[1.0] * count]
        target = " + ".join(link.format(k=k) for k in range(1, count + 1)) + added
        fields = {"setting": {"target": target}}
        measured += [
            learned(f"$r={count}$: along the sum", weakest(line), **fields),
            not_learned(f"$r={count}$: across it", strongest(complement(line)), **fields),
        ]
    return tuple(measured)


def across_the_pair(
    setting: Fields, *, d: Sequence[int], runs: Runs, wide: Mapping[str, int], notebook_d: int
) -> Findings:
    """The cosine across v* = 4 w1 + w2 after the last step: its exponent, and its size.

    The size is measured at the d of the notebook, in units of d^(-1/2), the cosine of a random
    direction; ``wide`` has the p and the runs of that measurement.
    """
    name, across = "cosine across $v^*$", strongest(complement(PAIR_LINE))
    findings = exponents(setting, measured=[not_learned(name, across)], d=d, runs=runs)
    network = {**setting, "p": wide["p"]}
    [cosines] = over_sizes(network, (notebook_d,), wide["runs"], {name: across})[name]
    size = mean_of(f"{name} times $d^{{1/2}}$", math.sqrt(notebook_d) * cosines, (0.0, 2.0))
    return Findings([*findings.quantities, size], findings.plot)


def example(
    name: str,
    *,
    statement: str,
    source: Source,
    setting: Fields,
    subspaces: Sequence[Basis],
    controls: Mapping[str, str],
    quick: Mapping[str, Any] | None = None,
    full: Mapping[str, Any] | None = None,
    tuned: Sequence[Changes] = (),
) -> Claim:
    """A staircase of the slides: which subspace each step reaches; controls have other targets."""
    fields = {**NETWORK, **setting, "steps": len(subspaces)}
    return Claim(
        id=name,
        statement=statement,
        source=source,
        regime=(
            f"The width $p$ is fixed, $n={in_latex(fields['n'])}$, batches are fresh, and $d$ "
            "grows."
        ),
        rule=(
            "The singular values of the neurons' cosines with the directions inside and "
            "outside $U$ are taken after each step. Inside $U$, the smallest divided by "
            r"$\sqrt{p}$ has an exponent in $d$ above $-1/4$ and as predicted, 0. Outside "
            r"$U$, the largest divided by $\sqrt{p}$ has one below $-1/4$ and as predicted, "
            "$-1/2$."
        ),
        experiment=exponents,
        setting=fields,
        options={"measured": staircase(*subspaces)},
        controls={
            reason: Changes(setting={"target": target}) for reason, target in controls.items()
        },
        quick=quick or {"d": (1000, 5000, 25_000), "runs": (48, 16, 20)},
        full=full or {"d": (300, 3000, 30_000, 300_000), "runs": 12},
        tuned=tuned,
    )


SUM, DIFFERENCE = (1.0, 1.0), (1.0, -1.0)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
PAIR_LINE = ((4.0, 1.0),)
PAIR_TARGET = "4*x1 + x1^2 - 1 + x2"
PAIR_TURNED = {"the linear part is $w_1-4w_2$": "x1 - 4*x2 + x1^2 - 1"}

UNEQUAL = (
    "Readout weights have different sizes (Gaussian), and so have the steps. With readout "
    "weights $+1$ and $-1$, as in the slides, neurons learn only one of the directions that "
    "odd functions of the learned direction open."
)

CLAIMS = (
    example(
        "staircase-example-1",
        statement="For $x_1+x_2+x_1^2-x_2^2$, step 1 learns $w_1+w_2$ and step 2 adds $w_1-w_2$.",
        source=sources.staircase_example(1),
        setting={"target": "staircase"},
        subspaces=((SUM,), (SUM, DIFFERENCE)),
        controls={
            "with equal links nothing is linear given $w_1+w_2$": "equal-links",
            "the linear part is $w_1-w_2$": "x1 - x2 + x1^2 - x2^2",
        },
    ),
    example(
        "staircase-example-2",
        statement=(
            "If both directions have the same link function, step 1 learns $w_1+w_2$ and step 2 "
            "learns nothing new."
        ),
        source=sources.staircase_example(2),
        setting={"target": "equal-links"},
        subspaces=((SUM,), (SUM,)),
        controls={
            "opposite squares are linear given $w_1+w_2$": "staircase",
            "the linear part is $w_1-w_2$": "x1 - x2 + x1^2 + x2^2 - 2",
        },
    ),
    example(
        "staircase-example-3a",
        statement="For $x_1+x_1x_2+x_1x_3$, step 2 learns $w_2+w_3$ and not $w_2-w_3$.",
        source=sources.staircase_example(3),
        setting={"target": "joint-step"},
        subspaces=((X,), (X, (0.0, 1.0, 1.0))),
        controls={
            r"with $\mathrm{He}_2(x_1)$, another function of $x_1$, both directions are linear": (
                "x1 + x1*x2 + He2(x1)*x3"
            ),
            "the linear part is $w_2-w_3$, and then nothing is linear": "x2 - x3 + x1*x2 + x1*x3",
        },
    ),
    example(
        "staircase-example-3b",
        statement=r"For $x_1+x_1x_2+\mathrm{He}_3(x_1)x_3$, step 2 learns both $w_2$ and $w_3$.",
        source=sources.beyond(
            sources.FEW_STEPS, "Example (3) of Conjecture 1 in the slides", UNEQUAL
        ),
        # The response to He3(x1) is the cube of the first step's cosine: it needs many samples,
        # and a second step that outweighs the first.
        setting={
            "target": "split-step",
            "activation": "relu",
            "n": "128d",
            "step_size": "2*p^1.5, 16*p^1.5",
        },
        subspaces=((X,), (X, Y, Z)),
        controls={
            "one coefficient function of $x_1$ for both gives one direction": "joint-step",
            "the linear part is $w_2$": "x2 + He3(x1)*x3",
        },
        quick={"d": (150, 400, 1000), "runs": (144, 24, 56)},
        full={"d": (150, 500, 1600, 5000), "runs": 24},
        tuned=one_at_a_time(
            setting={
                "n": ("64d", "256d"),
                "step_size": ("p^1.5, 8*p^1.5", "4*p^1.5, 32*p^1.5"),
            }
        ),
    ),
    example(
        "staircase-five-terms",
        statement=(
            "Of the five-term target of the slides, three steps learn first $w_1$, then $w_2$, "
            "then $w_3$."
        ),
        source=sources.beyond(
            sources.FEW_STEPS, "Conjecture 1 and the last example of the slides", UNEQUAL
        ),
        # E f^2 = 56 and a linear part of 1: only many samples a dimension show it.
        setting={
            "target": "five-regimes",
            "n": "256d",
            "step_size": "2*p^1.5, 4*p^1.5, 16*p^1.5",
        },
        subspaces=((X,), (X, Y), (X, Y, Z)),
        controls={
            r"without $\mathrm{He}_2(x_1)x_2$ the second direction is never linear": (
                "x1 + He2(x2) + He4(x1)*He2(x2)*x3 + He2(x2)*He2(x3)"
            ),
            "the linear part is $w_3$": (
                "x3 + He2(x2) + He2(x1)*x2 + He4(x1)*He2(x2)*x3 + He2(x2)*He2(x3)"
            ),
        },
        quick={"d": (150, 450, 1350), "runs": (48, 16, 24)},
        full={"d": (100, 300, 1000, 3000), "runs": 16},
        tuned=one_at_a_time(
            setting={
                "n": ("128d", "512d"),
                "step_size": ("p^1.5, 2*p^1.5, 8*p^1.5", "4*p^1.5, 8*p^1.5, 32*p^1.5"),
            }
        ),
    ),
    Claim(
        id="equal-links-never",
        statement=(
            "With $r=2$, 3 or 4 equal link functions, the rows learn the line of the sum "
            r"$v^*=w_1+\cdots+w_r$. They never leave it, whatever the number of steps."
        ),
        source=sources.staircase_example(2),
        regime=(
            "$n=8d$, four giant steps are taken on fresh batches, and the link functions are "
            "$z+z^2-1$."
        ),
        rule=(
            "For every $r$, after four steps, the root mean square cosine of the neurons "
            "with $v^*$ has an exponent in $d$ above $-1/4$ and as predicted, 0. That with "
            "the best learned direction across $v^*$ has one below $-1/4$ and as predicted, "
            "$-1/2$."
        ),
        experiment=exponents,
        setting=NETWORK | {"p": 8, "steps": 4},
        options={"measured": sums_of_links()},
        controls={
            "the first two links differ": Changes(
                options={"measured": sums_of_links(added=" - 2*x2^2 + 2")}
            ),
            "the linear part is $w_1-w_2$": Changes(
                options={"measured": sums_of_links("x{k}^2 - 1", " + x1 - x2")}
            ),
        },
        quick={"d": (1000, 5000, 25_000), "runs": (32, 12, 16)},
        full={"d": (300, 3000, 30_000, 300_000), "runs": 12},
        tuned=one_at_a_time(setting={"n": ("4d", "16d")}),
    ),
    Claim(
        id="pair-stays",
        statement=(
            "With the link functions $4z+z^2-1$ and $z$, the neurons cannot significantly "
            "move away from $v^*=4w_1+w_2$ after several steps."
        ),
        source=sources.PAIR_NOTEBOOK,
        regime=(
            "$n=d$, the activation is relu, and six steps of size $2p$ are taken on fresh "
            "batches. The exponent is measured at $p=64$. The size of the cosine is measured "
            "at $d=4096$ and $p=1024$ ($p=256$ at the quick size). Unlike in the notebook, "
            "the labels are centred and twice as large, and rows start in pairs."
        ),
        rule=(
            "After six steps, the exponent in $d$ of the neurons' root mean square cosine "
            "across $v^*$ is below $-1/4$ and as predicted, $-1/2$. At $d=4096$ that cosine "
            "is at most twice that of a random direction."
        ),
        experiment=across_the_pair,
        setting={
            "target": PAIR_TARGET,
            "activation": "relu",
            "n": "d",
            "p": 64,
            "step_size": "2p",
            "steps": 6,
        },
        options={"notebook_d": 4096},
        controls={
            reason: Changes(setting={"target": target}) for reason, target in PAIR_TURNED.items()
        },
        quick={"d": (256, 1024, 4096), "runs": (32, 16, 12), "wide": {"p": 256, "runs": 3}},
        full={
            "d": (256, 1024, 4096, 16_384),
            "runs": (64, 32, 24, 12),
            "wide": {"p": 1024, "runs": 2},
        },
        tuned=one_at_a_time(setting={"p": (32, 128)}),
        measured_instead=(
            "After six steps the cosine across $v^*$ does not fall with $d$. At $n=d=4096$ "
            "it is 0.08. This is five times that of a random direction and a tenth of that "
            "with $v^*$, so a picture of the neurons hardly shows it. After two steps it is "
            "1.3 times that of a random direction. The reason: with $s$ along $v^*$ and $t$ "
            r"across it, $x_1^2$ contains $\frac{8}{17}st$, which is linear in $t$ given $s$."
        ),
        corrected="pair-leaves",
    ),
    example(
        "pair-leaves",
        statement=(
            "For $4x_1+x_1^2-1+x_2$, step 1 learns $v^*=4w_1+w_2$ and step 2 the direction "
            "across it."
        ),
        source=sources.STAIRCASE,
        # 8/17 s t beside a linear part of norm sqrt(17) is small: it takes large steps.
        setting={
            "target": PAIR_TARGET,
            "activation": "relu",
            "n": "32d",
            "step_size": "4*p^1.5",
        },
        subspaces=(PAIR_LINE, (X[:2], Y[:2])),
        controls={"without the square nothing is linear given $v^*$": "4*x1 + x2", **PAIR_TURNED},
        quick={"d": (300, 1500, 7500), "runs": (128, 16, 40)},
        full={"d": (300, 3000, 30_000), "runs": 24},
        tuned=one_at_a_time(setting={"step_size": ("2*p^1.5", "8*p^1.5")}),
    ),
)
