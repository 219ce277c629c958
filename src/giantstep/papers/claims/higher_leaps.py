"""Several giant steps at a leap above one: how many samples they need (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from giantstep.analysis.step_exponents import several_steps_exponents
from giantstep.language.latex import in_latex
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    LINE,
    Exponent,
    Runs,
    exponents,
    neurons,
    not_learned,
    strongest,
)
from giantstep.papers.claims.quantity import Region
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time


def side(exponent: float) -> Region:
    """The exponents on the same side of -1/8: learned, or not.

    That is halfway between 0, of a learned direction, and -1/4, of the least steep that is not.
    """
    return (-0.125, math.inf) if exponent > -0.125 else (-math.inf, -0.125)


# -- steps on the labels alone ---------------------------------------------------------------------


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
        return f"{self.steps} step{plural} at $n=d^{{{self.kappa:.3g}}}$"


def label_steps(
    steps: int, kappa: float, *, samples: float, size: float, growth: float
) -> dict[str, Any]:
    """Fields of steps of ``samples`` d^kappa samples each.

    Step t has the size ``size`` ``growth``^(t-1) (n/d)^(1/2), with which its noise is as long as
    the row or longer.
    """
    sizes = [f"{size * growth**step:g}*d^{(kappa - 1.0) / 2.0:.6g}" for step in range(steps)]
    return {"n": f"{samples:g}*d^{kappa:.6g}"} | schedule(*sizes)


def schedule(*sizes: str) -> dict[str, Any]:
    """Fields of a setting that takes one step of each size."""
    return {"steps": len(sizes), "step_size": ", ".join(sizes)}


def labels_over_steps(
    setting: Fields,
    *,
    leap: int,
    batches: Sequence[Batch],
    samples: float,
    size: float,
    growth: float,
) -> Findings:
    """Exponent in d of the cosine with w* after the last step, for every number of samples.

    The noise of the first step along w* is d^(-1/2) beside a signal of the order of the cosine that
    it leaves: the power of the correction.
    """
    measured = []
    for batch in batches:
        limits = several_steps_exponents(leap, batch.kappa, batch.steps)
        fields = label_steps(batch.steps, batch.kappa, samples=samples, size=size, growth=growth)
        measured.append(
            Exponent(
                batch.name,
                neurons(LINE, batch.steps),
                side(limits[-1]),
                limits[-1],
                setting=fields,
                power=0.5 + limits[0],
                d=batch.d,
                runs=batch.runs,
            )
        )
    return exponents(setting, measured=measured)


def on_labels(target: str, activation: str, start_overlaps: str, **options: float) -> Changes:
    """Setting and options of steps on labels of one neuron, which no other disturbs.

    Its overlap at the start is of the order of d^(-1/2).
    """
    fields = {"target": target, "activation": activation, "start_overlaps": start_overlaps}
    network = {"residual": "labels", "p": 1, "start": "orthogonal", "readout_start": "ones"}
    return Changes(setting=network | fields, options=options)


ON_LABELS = {
    2: on_labels("He2(x1)", "relu", "d^-0.5", samples=2.0, size=6.0, growth=4.0),
    3: on_labels("He3(x1)", "He3", "2*d^-0.5", samples=0.05, size=0.05, growth=1.0),
}
"""Setting and options of each leap: the cosine is of order one on the boundary."""


def over_steps(
    leap: int,
    *,
    statement: str,
    regime: str,
    blind: str,
    quick: Sequence[Batch],
    full: Sequence[Batch],
    tuned: dict[str, Sequence[float]],
) -> Claim:
    """The claim about a leap: just enough samples, and too few, for one, two and three steps."""
    network = ON_LABELS[leap]
    return Claim(
        id=f"leap-{leap}-over-steps",
        statement=statement,
        source=sources.question(
            sources.FEW_STEPS,
            "the relation between leap and number of samples over several steps",
            "Steps use the labels alone, without the output of the network.",
        ),
        regime=regime,
        rule=(
            "The exponent in $d$ of the neuron's cosine with $w^*$ after the last step is as "
            "predicted. The prediction iterates "
            r"$\mu\mapsto\max(0,\min(\mu,(\ell-1)\mu-(\kappa-1)/2))$ from $\mu=1/2$, and the "
            r"exponent is $-\mu$. Measured and predicted exponent are on the same side of "
            "$-1/8$."
        ),
        experiment=labels_over_steps,
        setting=network.setting,
        options={"leap": leap, **network.options},
        controls={
            f"an activation with $c_{leap}=0$": Changes(setting={"activation": blind}),
            "the start knows the direction": Changes(setting={"start_overlaps": ((0.5,),)}),
        },
        quick={"batches": quick},
        full={"batches": full},
        tuned=one_at_a_time(options=tuned),
    )


# -- steps of a network with its own output --------------------------------------------------------

GIANT = "0.35*p*d^0.25"
"""Its noise is of the size of the start at n = 2 d^1.5, and the network's output of order one."""

# With this activation a pair of neurons makes an output that one step of size p/4 removes.
BETWEEN = {"target": "He2(x1)", "activation": "He2", "n": "2*d^1.5", "p": 2}
INFORMED_START = {
    "start": "given",
    "start_gram": ((1.0, 1.0), (1.0, 1.0)),
    "start_overlaps": ((0.5,), (0.5,)),
    "readout_start": "alternating",
}
INFORMED = {"the start knows the direction": Changes(setting=INFORMED_START)}
# The pair of neurons of a symmetric start, with half the overlap of a random row.
PAIR = INFORMED_START | {"start_overlaps": "d^-0.5/2; d^-0.5/2"}


def cleared(giant: str = GIANT, between: str = "p/4") -> tuple[Exponent, ...]:
    """Cosines after one and after two giant steps, and with a step of another size between them.

    The noise of the step between is a share (d/n)^(1/2) of the row, d^(-1/4): the power of the
    correction.
    """
    two, three = schedule(giant, giant), schedule(giant, between, giant)
    return tuple(
        Exponent(name, neurons(LINE, step), side(limit), limit, setting=fields, power=0.25)
        for name, step, limit, fields in (
            ("one giant step", 1, -0.25, two),
            ("two giant steps", 2, -0.25, two),
            ("a step between two giant ones", 3, 0.0, three),
        )
    )


CLAIMS = (
    Claim(
        id="several-steps-nothing",
        statement=(
            "With $n$ of order $d$ samples per step, nothing of a target of leap 2 is "
            "learned after any fixed number of steps."
        ),
        source=sources.SMALL_BATCHES,
        regime="The leap is 2, $n=4d$, and four giant steps are taken on fresh batches.",
        rule=(
            "After every step, the exponent in $d$ of the root mean square cosine of the "
            "neurons is below $-1/4$. It is as predicted, $-1/2$."
        ),
        experiment=exponents,
        setting={
            "target": "He2(x1)",
            "activation": "relu",
            "n": "4d",
            "p": 8,
            "steps": 4,
            "step_size": "p",
        },
        options={
            "measured": tuple(
                not_learned(f"step {step}", strongest(LINE, step), noise=5.0)
                for step in range(1, 5)
            )
        },
        controls={
            "a linear part makes the leap 1": Changes(setting={"target": "x1 + He2(x1)"}),
        },
        quick={"d": (300, 2000, 12_000), "runs": 24},
        full={"d": (300, 3000, 30_000, 300_000), "runs": 24},
        tuned=one_at_a_time(setting={"step_size": ("p/4", "4*p")}),
    ),
    Claim(
        id="small-batches-never",
        statement=(
            r"If $n=\mathcal{O}(d^{\ell-\varepsilon})$, the first layer never learns, even "
            "after $T$ steps, whatever the step sizes."
        ),
        source=sources.SMALL_BATCHES,
        regime=(
            f"The leap is 2 and $n=2d^{{1.5}}$. $T=3$ steps are taken on fresh batches, of "
            f"sizes ${in_latex(GIANT)}$, $p/4$ and ${in_latex(GIANT)}$. The activation is "
            rf"$\mathrm{{He}}_2$, with one pair of neurons."
        ),
        rule=(
            r"After the last step, the exponent in $d$ of the median of $\|Pw_i\|/\|w_i\|$ is "
            "nearer to $-1/4$ than to 0. One step has $-1/4$; 0 means that the direction is "
            "learned."
        ),
        experiment=exponents,
        setting=BETWEEN | schedule(GIANT, "p/4", GIANT),
        options={
            "measured": (
                Exponent("cosine after the last step", neurons(LINE, 3), side(-0.25), -0.25),
            )
        },
        controls=INFORMED,
        quick={"d": (100, 400, 1600), "runs": (400, 200, 96)},
        full={"d": (100, 500, 2500, 10_000), "runs": (1600, 640, 240, 64)},
        tuned=one_at_a_time(
            setting={
                "step_size": [f"{size}*p*d^0.25, p/4, {size}*p*d^0.25" for size in (0.175, 0.7)]
            }
        ),
        measured_instead=(
            "The cosine after three steps does not fall with $d$. One giant step leaves a "
            "cosine of order $d^{-1/4}$. The small step after it removes the output that the "
            "network has made of noise. The next giant step then has a signal as large as "
            "its noise. Without the small step, two giant steps do not learn."
        ),
        corrected="cleared-steps",
    ),
    over_steps(
        2,
        statement=(
            "At leap 2 each step on the labels multiplies the cosine by $(n/d)^{1/2}$ until "
            "it is of order one. So $T$ steps learn from $n=d^{1+1/T}$ samples each, and not "
            "from fewer."
        ),
        regime=(
            "The leap is 2 and the activation is relu. $T=1$, 2 and 3 giant steps are taken "
            r"on fresh batches of $n=2d^\kappa$ samples. The exponents are $\kappa=1+1/T$ and "
            r"$\kappa=1+1/(2T)$."
        ),
        blind="tanh",
        quick=(
            Batch(1, 2.0, (50, 120, 300), (320, 160, 64)),
            Batch(1, 1.5, (100, 500, 2500), (320, 160, 80)),
            Batch(2, 1.5, (100, 500, 2500), (160, 64, 24)),
            Batch(2, 1.25, (100, 700, 5000), (480, 320, 120)),
            Batch(3, 4 / 3, (100, 500, 2500), (160, 64, 32)),
            Batch(3, 7 / 6, (100, 700, 5000), (480, 320, 160)),
        ),
        full=(
            Batch(1, 2.0, (60, 200, 600), (320, 160, 96)),
            Batch(1, 1.5, (100, 700, 5000), (480, 240, 120)),
            Batch(2, 1.5, (100, 700, 5000), (240, 120, 48)),
            Batch(2, 1.25, (100, 1000, 10_000), (960, 480, 240)),
            Batch(3, 4 / 3, (100, 1000, 10_000), (240, 120, 64)),
            Batch(3, 7 / 6, (100, 1500, 20_000), (960, 480, 240)),
        ),
        tuned={"samples": (1.0, 4.0), "size": (3.0, 12.0)},
    ),
    over_steps(
        3,
        statement=(
            "At leap 3, $T$ steps on the labels learn from $n=d^{2+1/(2^T-1)}$ samples each. "
            "For $T>1$ they do not learn from $d^{1+2/T}$, because the signal is the square "
            "of the cosine."
        ),
        regime=(
            r"The leap is 3 and the activation is $\mathrm{He}_3$. $T=1$, 2 and 3 giant steps "
            r"are taken on fresh batches of $n=d^\kappa/20$ samples. The exponents $\kappa$ "
            "are 3, $7/3$, $15/7$, and $9/4$, 2, $5/3$."
        ),
        blind="relu",
        quick=(
            Batch(1, 3.0, (30, 70, 150), (320, 160, 96)),
            Batch(1, 2.25, (60, 200, 700), (480, 240, 80)),
            Batch(2, 7 / 3, (60, 180, 500), (640, 320, 120)),
            Batch(2, 2.0, (60, 250, 1000), (640, 320, 160)),
            Batch(3, 15 / 7, (60, 180, 500), (640, 480, 240)),
            Batch(3, 5 / 3, (60, 300, 1500), (640, 480, 320)),
        ),
        full=(
            Batch(1, 3.0, (30, 90, 250), (640, 320, 120)),
            Batch(1, 2.25, (60, 250, 1000), (640, 320, 120)),
            Batch(2, 7 / 3, (60, 250, 1000), (960, 480, 96)),
            Batch(2, 2.0, (60, 400, 2500), (960, 480, 120)),
            Batch(3, 15 / 7, (60, 250, 1000), (960, 640, 240)),
            Batch(3, 5 / 3, (60, 500, 4000), (960, 640, 320)),
        ),
        tuned={"samples": (0.025, 0.1), "size": (0.025, 0.1)},
    ),
    Claim(
        id="cleared-steps",
        statement=(
            "By two giant steps from $n=2d^{1.5}$ samples each, a network with its own "
            "output in the residual does not learn leap 2. With a step of size $p/4$ between "
            "them, which removes the output, it does."
        ),
        source=sources.question(
            sources.FEW_STEPS,
            "how many samples several steps need at a leap above one",
            r"$n$ lies between $d$ and $d^\ell$, which the theorem on one step leaves out.",
        ),
        regime=(
            rf"The leap is 2, $n=2d^{{1.5}}$, and the activation is $\mathrm{{He}}_2$, with "
            f"one pair of neurons. Giant steps have the size ${in_latex(GIANT)}$."
        ),
        rule=(
            r"The exponents in $d$ of the median of $\|Pw_i\|/\|w_i\|$ are as predicted. They "
            "are $-1/4$ after one and after two giant steps, and 0 where the step of size "
            "$p/4$ is between them. They are on the predicted side of $-1/8$."
        ),
        experiment=exponents,
        setting=BETWEEN | PAIR,
        options={"measured": cleared()},
        controls={
            "the step between them is not taken": Changes(
                options={"measured": cleared(between="0")}
            ),
            **INFORMED,
        },
        quick={"d": (100, 400, 1600), "runs": (480, 192, 96)},
        full={"d": (100, 500, 2500, 10_000), "runs": (960, 480, 160, 48)},
        tuned=one_at_a_time(
            options={"measured": [cleared(f"{size}*p*d^0.25") for size in (0.175, 0.7)]}
        ),
    ),
)
