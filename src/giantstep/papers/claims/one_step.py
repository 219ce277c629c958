"""Claims about one giant step of a narrow network (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from giantstep.analysis.phase import cosine_exponent
from giantstep.language.latex import in_latex
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    LINE,
    Exponent,
    Runs,
    complement,
    exponents,
    learned,
    neurons,
    not_learned,
    strongest,
    weakest,
)
from giantstep.papers.claims.quantity import LEARNED, NOT_LEARNED
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time
from giantstep.prediction.narrow.one_step import cosine_quantiles
from giantstep.problem.setting import Setting

NARROW = "The width $p$ is fixed and $d$ grows. The batch is fresh and the start is symmetric."


def at_step_sizes(*decades: int) -> tuple[Exponent, ...]:
    """Cosines with He2's direction after a step of size 10^decade p d^(1/2): none is learned.

    From small steps to large ones the cosine is c d^(-1/2) with c from 1, that of the start, to
    sqrt(5), that of the noise of the gradient along w*: E[y^2 z^2]/E[y^2] = 5 for y = He2(z).
    """
    return tuple(
        not_learned(
            f"step size $10^{{{decade:g}}}$",
            neurons(LINE, 1),
            setting={"step_size": f"{10.0**decade:g}*p*d^0.5"},
            noise=5.0,
        )
        for decade in decades
    )


def at_batches(leap: int, *kappas: float, beyond: float = 0.0) -> tuple[Exponent, ...]:
    """Cosines at n = d^kappa and the giant step: exponent -(leap - kappa)/2.

    The batch that is taken is larger by d^``beyond``.  A learned cosine has the exponent 0; the
    region ends halfway between that and the predicted exponent.  The squared norm of the start
    beside that of the noise is of order d^(-(leap - kappa)): the power of the correction.
    """
    return tuple(
        Exponent(
            f"cosine at $n=d^{{{kappa:g}}}$",
            neurons(LINE, 1),
            (-math.inf, 0.5 * cosine_exponent(leap, kappa)),
            cosine_exponent(leap, kappa),
            setting={"n": f"d^{kappa + beyond:g}"},
            power=leap - kappa,
        )
        for kappa in kappas
    )


def median_exponents(
    setting: Fields, d: Sequence[int], draws: int = 20_000
) -> Float[np.ndarray, " r"]:
    """Exponent in d, at these d, of the median |cosine| that theory gives for each direction.

    Theory draws so many starts and batches that the error of a median is one percent.
    """
    settings = [Setting(**{**FIRST_LAYER, **setting, "d": size}) for size in d]
    medians = [cosine_quantiles(sized, np.array([0.5]), draws)[0] for sized in settings]
    return np.polyfit(np.log(d), np.log(medians), 1)[0]


def each_direction(
    setting: Fields, *, inside: Sequence[int], d: Sequence[int], runs: Runs
) -> Findings:
    """Every target direction by itself: those of U_l (``inside``) must be learned, others not.

    What theory leaves out of a median cosine is of relative order 1/d: the power of the correction.
    """
    predicted = median_exponents(setting, d)
    measured = [
        Exponent(
            f"cosine with $w_{k}$",
            neurons([axis.tolist()], 1),
            LEARNED if k in inside else NOT_LEARNED,
            float(limit),
            power=1.0,
        )
        for k, (axis, limit) in enumerate(
            zip(np.eye(len(predicted)), predicted, strict=True), start=1
        )
    ]
    return exponents(setting, measured=measured, d=d, runs=runs)


PLANE = ((1.0, 0.0), (0.0, 1.0))
SUM = ((1.0, 1.0),)


def specialised(leap: int, setting: Fields, *, quick: Fields, full: Fields) -> Claim:
    """One step at n of order d^leap learns the whole plane of a target of that leap."""
    size = f"{(leap - 1) / 2:g}"
    return Claim(
        id=f"one-step-leap-{leap}",
        statement=(
            f"With leap {leap} and $n$ of order $d^{leap}$, one step learns all of $U_{leap}$."
        ),
        source=sources.ONE_STEP_LEAP,
        regime=(
            f"{NARROW} $n={in_latex(setting['n'])}$, and the step size is "
            f"${in_latex(f'4*p*d^{size}')}$."
        ),
        rule=(
            "Two exponents in $d$ are above $-1/4$ and as predicted, 0. One is that of the "
            r"median over neurons of $\|Pw_i\|/\|w_i\|$. The other is that of the smallest "
            r"singular value of their cosines with $U$, divided by $\sqrt{p}$."
        ),
        experiment=exponents,
        # Four times the giant step: the start counts for little at these d.
        setting={**setting, "steps": 1, "step_size": f"4*p*d^{size}"},
        options={
            "measured": (
                learned(r"median $\|Pw\|/\|w\|$", neurons(PLANE, 1)),
                learned("weakest direction", weakest(PLANE, 1)),
            )
        },
        controls={
            "a step of order $p$ is too small for the leap": Changes(setting={"step_size": "p"})
        },
        quick=quick,
        full=full,
        tuned=one_at_a_time(setting={"step_size": (f"2*p*d^{size}", f"16*p*d^{size}")}),
    )


def only_the_leap(name: str, target: str, inside: Sequence[int], both: str) -> Claim:
    """One step at n of order d^2 learns U_2 and no direction outside of it."""
    directions = " and ".join(f"$w_{k}$" for k in inside)
    return Claim(
        id=f"one-step-only-{name}",
        statement=(
            "With leap 2 and $n$ of order $d^2$, one step learns $U_2$ and nothing else of "
            f"$V^*$. Of ${in_latex(target)}$ it learns {directions} only."
        ),
        source=sources.ONE_STEP_LEAP,
        regime=(
            f"{NARROW} $n=8d^2$ and the step size is $4pd^{{0.5}}$. The activation is "
            r"$\sin(z+0.8)$, which has coefficients of all degrees."
        ),
        rule=(
            "The median cosine of the neurons with each target direction is measured. Its "
            "exponent in $d$ is above $-1/4$ inside $U_2$ and below $-1/4$ outside. It is as "
            "the law of one step predicts at these $d$ (0 and $-1/2$ in the limit)."
        ),
        experiment=each_direction,
        setting={
            "target": target,
            "activation": "sin(z + 0.8)",
            "n": "8*d^2",
            # Outside U_2 the noise is nearly the same for all neurons of a run: runs count.
            "p": 4,
            "steps": 1,
            "step_size": "4*p*d^0.5",
        },
        options={"inside": inside},
        controls={
            "the other direction has a part of degree 2, so it is in $U_2$ too": Changes(
                setting={"target": both}
            ),
            "a step of order $p$ is too small for the leap": Changes(setting={"step_size": "p"}),
        },
        quick={"d": (30, 80, 200), "runs": (800, 400, 200)},
        full={"d": (40, 120, 360, 800), "runs": (800, 400, 300, 80)},
        tuned=one_at_a_time(
            setting={"step_size": ("2*p*d^0.5", "16*p*d^0.5"), "n": ("4*d^2", "16*d^2")}
        ),
    )


RATE = sources.beyond(
    sources.FEW_STEPS,
    "theorem on one step, first case",
    "The rate is ours; the theorem says that the cosine tends to 0.",
)

CLAIMS = (
    Claim(
        id="one-step-nothing",
        statement=(
            r"From a batch of $n=\mathcal{O}(d^{\ell-\varepsilon})$ samples one step learns "
            "nothing, whatever the step size."
        ),
        source=sources.ONE_STEP_SMALL_BATCH,
        regime=f"{NARROW} The leap is 2, $n=4d$, and step sizes range over six decades.",
        rule=(
            "At every step size, the exponent in $d$ of the median over neurons of "
            r"$\|Pw_i\|/\|w_i\|$ is below $-1/4$. It is as predicted, $-1/2$."
        ),
        experiment=exponents,
        setting={"target": "He2(x1)", "activation": "relu", "n": "4d", "p": 8, "steps": 1},
        controls={
            "a linear part makes the leap 1": Changes(setting={"target": "x1 + He2(x1)"}),
        },
        quick={
            "measured": at_step_sizes(-3, -1, 0, 1, 3),
            "d": (300, 3000, 30_000),
            "runs": (128, 32, 40),
        },
        full={
            "measured": at_step_sizes(-3, -2, -1, 0, 1, 2, 3),
            "d": (300, 3000, 30_000, 300_000),
            "runs": 32,
        },
        tuned=one_at_a_time(setting={"p": (4, 16)}),
    ),
    Claim(
        id="linear-batch-necessary",
        statement=(
            r"With leap 1, too, nothing is learned from a batch of $n=d^{1-\varepsilon}$ "
            r"samples. At $n=d^\kappa$ the cosine falls as $d^{-(1-\kappa)/2}$."
        ),
        source=RATE,
        regime=rf"{NARROW} $n=d^\kappa$ with $\kappa=1/2$ and $3/4$, and the step is giant.",
        rule=(
            r"The exponents in $d$ of the median of $\|Pw_i\|/\|w_i\|$ are as predicted, "
            "$-1/4$ and $-1/8$. They are nearer to these values than to 0."
        ),
        experiment=exponents,
        setting={"target": "x1", "activation": "relu", "p": 8, "steps": 1, "step_size": "8*p"},
        options={"measured": at_batches(1, 0.5, 0.75)},
        controls={
            r"$n=d^{\kappa+1/2}$ is not smaller than $d$": Changes(
                options={"measured": at_batches(1, 0.5, 0.75, beyond=0.5)}
            )
        },
        quick={"d": (1000, 10_000, 100_000), "runs": 60},
        full={"d": (1000, 10_000, 100_000, 1_000_000), "runs": 100},
        tuned=one_at_a_time(setting={"step_size": ("p", "32*p")}),
    ),
    Claim(
        id="one-step-below-the-leap",
        statement=(
            r"Between $n=d^{\ell-1}$ and $n=d^\ell$, the cosine falls as "
            r"$d^{-(\ell-\kappa)/2}$ at $n=d^\kappa$."
        ),
        source=RATE,
        regime=f"{NARROW} The leap is 2, $n=d^{{1.5}}$, and the step is giant.",
        rule=(
            r"The exponent in $d$ of the median of $\|Pw_i\|/\|w_i\|$ is as predicted, "
            "$-1/4$. It is nearer to that than to 0."
        ),
        experiment=exponents,
        setting={
            "target": "He2(x1)",
            "activation": "relu",
            "p": 16,
            "steps": 1,
            "step_size": "8*p*d^0.5",
        },
        options={"measured": at_batches(2, 1.5)},
        controls={
            "$n=d^2$ is at the leap": Changes(options={"measured": at_batches(2, 1.5, beyond=0.5)})
        },
        quick={"d": (100, 400, 1600), "runs": 80},
        # At n = d^2, of the control, a run at the largest d takes 12 s.
        full={"d": (100, 400, 1600, 6400), "runs": (400, 100, 100, 40)},
        tuned=one_at_a_time(setting={"step_size": ("4*p*d^0.5", "32*p*d^0.5")}),
    ),
    Claim(
        id="one-step-line",
        statement=(
            "With leap 1 and $n$ of order $d$, one step learns the line of $v^*$ and only "
            "this line (rank one)."
        ),
        source=sources.ONE_STEP_LINE,
        regime=f"{NARROW} $n=4d$.",
        rule=(
            "The exponent in $d$ of the neurons' median cosine with $v^*$ is above $-1/4$ "
            "and as predicted, 0. That of the largest cosine outside $v^*$ is below $-1/4$ "
            "and as predicted, $-1/2$."
        ),
        experiment=exponents,
        setting={"target": "staircase", "activation": "relu", "n": "4d", "p": 8, "steps": 1},
        options={
            "measured": (
                learned("cosine with $v^*$", neurons(SUM, 1)),
                not_learned("cosine outside $v^*$", strongest(complement(SUM), 1)),
            )
        },
        controls={
            "no linear part: the leap is 2": Changes(setting={"target": "He2(x1) - He2(x2)"}),
            "the linear part is $x_1-x_2$, another line": Changes(
                setting={"target": "x1 - x2 + x1^2 - x2^2"}
            ),
        },
        quick={"d": (1000, 10_000, 100_000), "runs": 20},
        full={"d": (1000, 10_000, 100_000, 1_000_000), "runs": 16},
        tuned=one_at_a_time(setting={"n": ("2d", "16d")}),
    ),
    specialised(
        2,
        {"target": "He2(x1) + He2(x2)/2", "activation": "relu", "n": "8*d^2", "p": 24},
        quick={"d": (40, 100, 250), "runs": 16},
        full={"d": (40, 120, 360, 800), "runs": 16},
    ),
    specialised(
        3,
        # Of all activations He3 has the largest signal beside its noise: d^3 samples are enough.
        {"target": "leap-3", "activation": "He3(z)", "n": "d^3", "p": 16},
        quick={"d": (16, 32, 64), "runs": (400, 160, 64)},
        full={"d": (20, 40, 80, 160), "runs": (400, 200, 80, 40)},
    ),
    only_the_leap("cubic", "He2(x1) + He3(x2)/2", (1,), "He2(x1) + He2(x2)/2"),
    only_the_leap("product", "x1*x2 + He4(x3)/5", (1, 2), "x1*x2 + He2(x3)/2"),
    Claim(
        id="one-step-deflated",
        statement=(
            "If the linear part of the labels is removed first, one step at $n$ of order "
            "$d^2$ learns every direction of a target of leap 1."
        ),
        source=sources.DEFLATED_LABELS,
        regime=(
            f"{NARROW} $n=4d^2$. The mean and the linear part of the labels are fitted and removed."
        ),
        rule=(
            "Two exponents in $d$ are above $-1/4$ and as predicted, 0. One is that of the "
            "neurons' median cosine with $w_2$, which has no linear part. The other is that "
            "of the smallest singular value of their cosines with $V^*$, divided by "
            r"$\sqrt{p}$."
        ),
        experiment=exponents,
        setting={
            "target": "x1 + He2(x1) - He2(x2)",
            "activation": "relu",
            "n": "4*d^2",
            "p": 16,
            "deflate": 1,
            "steps": 1,
            "step_size": "4*p*d^0.5",
        },
        options={
            "measured": (
                learned("weakest direction", weakest(PLANE, 1)),
                learned("cosine with $w_2$", neurons(PLANE[1:], 1)),
            )
        },
        controls={
            "the linear part takes the whole step of every neuron": Changes(
                setting={"deflate": -1}
            ),
            "$n=2d$ is below the leap of the labels that are left": Changes(setting={"n": "2d"}),
        },
        quick={"d": (40, 100, 250), "runs": (96, 32, 32)},
        full={"d": (60, 180, 540), "runs": 30},
        tuned=one_at_a_time(setting={"step_size": ("2*p*d^0.5", "16*p*d^0.5")}),
    ),
)
