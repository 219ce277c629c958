"""Claims about the gradient of one giant step: rank one, and how it knows the target."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from giantstep.gaussian.accuracy import VANISHING
from giantstep.language.latex import in_latex
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import Runs, at_sizes, beside, slope_line
from giantstep.papers.claims.quantity import Quantity, drift, exponent_of, mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings
from giantstep.papers.claims.wide import EVEN, WIDE
from giantstep.prediction.wide.step import learned_step
from giantstep.prediction.wide.strong_spikes import LARGE_SIZE
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.simulation.stepped import SteppedRun, stepped_runs


def rank_one(setting: Fields, *, times: float, d: Sequence[int], runs: Runs) -> Findings:
    """|W1 - W0 - eta c_1 a beta^T| over |W1 - W0| falls as d^-1/2, and a beta^T has coefficient 1.

    c_1 is multiplied by ``times``.
    """
    parts = [
        np.array([_remainder(step, times) for step in stepped_runs(each, range(each.runs))])
        for each in at_sizes(setting, d, runs)
    ]
    remainders = [values[:, 0] for values in parts]
    # The largest readout, sqrt(2 log p) times the others, leads the remainder.
    slower = 0.5 * math.log(math.log(d[-1]) / math.log(d[0])) / math.log(d[-1] / d[0])
    quantities = [
        exponent_of(
            "exponent of the remainder",
            d,
            remainders,
            (-1.0, -0.25),
            -0.5,
            allowance=drift(d) + slower,
        ),
        mean_of(
            r"coefficient of $a\beta^{\top}$",
            parts[-1][:, 1],
            (0.75, 1.25),
            1.0,
            allowance=d[-1] ** -0.5,
        ),
    ]
    curves = [
        mean_curve("simulation", d, remainders),
        slope_line(d, float(np.median(remainders[0])), -0.5),
    ]
    label = "share of the update that is not of rank one"
    return Findings(quantities, Plot("dimension $d$", label, curves, "log", "log"))


def _remainder(step: SteppedRun, times: float) -> tuple[float, float]:
    """Operator norm of what eta c_1 a beta^T leaves over that of the update, its coefficient."""
    update = step.weights - step.start
    c = times * step.setting.activation.moments.slope
    spike = np.outer(step.step_size * c * step.readout, step.spike)
    remainder = float(np.linalg.norm(update - spike, 2) / np.linalg.norm(update, 2))
    # An activation without c_1 has no spike to fit but rounding.
    fitted = float(np.sum(spike * update) / np.sum(spike**2)) if abs(c) > VANISHING else 0.0
    return remainder, fitted


def beta_cosine(
    setting: Fields, *, formula: str, scales: Sequence[str], d: Sequence[int], runs: int
) -> Findings:
    """|cos(beta, w*)| of beta = X^T r/n for each of the output ``scales``, as a formula says.

    The formula is that of the residual ``formula``: "labels" for r = y, "full" for r = y - f_0.
    """
    quantities: list[Quantity] = []
    curves: list[Curve] = []
    for scale in scales:
        settings = at_sizes({**setting, "output_scale": scale}, d, runs)
        values = [
            np.array([_cosine(step) for step in stepped_runs(each, range(runs))])
            for each in settings
        ]
        expected = learned_step(settings[-1].vary(residual=formula), LARGE_SIZE).cosine
        # Half of the distance between the cosines 0.816 of the labels and 0.738 of the residual.
        region = (expected - 0.039, expected + 0.039)
        name = rf"cosine of $\beta$ with the target, output scale ${in_latex(scale)}$"
        # A direction at random adds d^-1/2 of cosine, squares add: 1/d.
        quantities.append(mean_of(name, values[-1], region, expected, allowance=2.0 / d[-1]))
        curves += beside(f"output scale ${in_latex(scale)}$", d, values, [expected] * len(d))
    return Findings(quantities, Plot("dimension $d$", r"$\cos(\beta, w^*)$", curves, "log"))


def _cosine(step: SteppedRun) -> float:
    beta = step.spike
    return float(abs(beta[0]) / np.linalg.norm(beta))


# A stepped run draws samples for a readout: as few as may be.
STEP = WIDE | {"readout_n": 10, "test_n": 10, "step_size": 1.0}
BLIND = {
    "a target without a linear part": Changes(setting={"target": "He2(x1)/sqrt(2)"}),
}
SCALES = {"scales": ("1", "1/sqrt(p)")}
REGIME = (
    r"$n=4d$, $p=d$, the activation is relu, and readout weights are $\mathcal{N}(0,1/p)$. "
    r"With output scale 1 the network $a^{\top}\sigma(Wx)$ has an output of order one at its "
    r"start. With output scale $1/\sqrt{p}$ it is of order $1/\sqrt{p}$."
)
RULE = (
    r"For both output scales, the cosine of $\beta$ with $w^*$ is within four standard errors "
    "and $2/d$ of the formula. It is also nearer to it than half of the distance between "
    "0.816 and 0.738."
)

CLAIMS = (
    Claim(
        id="rank-one-step",
        statement=(
            r"One gradient at linear width is $c_1a\beta^{\top}$ plus a small remainder, "
            r"where $\beta=X^{\top}r/n$. So $W_1-W_0$ is close to a matrix of rank one."
        ),
        source=sources.beyond(
            sources.ONE_STEP,
            "section 2, after arXiv 2205.01445",
            r"$\beta$ uses the residual $y-f_0$, where the paper has the labels.",
        ),
        regime="$n=4d$, $p=d$, the activation is relu, and one step is taken.",
        rule=(
            "The ratio of the remainder's norm to the update's norm has an exponent in $d$ "
            r"below $-1/4$, and as predicted, $-1/2$. The coefficient of $c_1a\beta^{\top}$ "
            "is 1."
        ),
        experiment=rank_one,
        setting=STEP,
        options={"times": 1.0},
        controls={
            "$c_1=0$: the gradient is all remainder": Changes(setting={"activation": EVEN}),
            "twice $c_1$": Changes(options={"times": 2.0}),
        },
        quick={"d": (50, 150, 400), "runs": (96, 32, 12)},
        full={"d": (100, 300, 1000), "runs": (60, 20, 6)},
    ),
    Claim(
        id="beta-knows-the-label",
        statement=(
            r"The gradient of the first step is $c_1a\beta^{\top}$ with $\beta=X^{\top}y/n$. "
            "Its cosine with the target is "
            r"$f_1/\sqrt{f_1^2+\frac{d}{n}\mathbb{E}[y^2]}=0.816$."
        ),
        source=sources.BETA,
        regime=REGIME,
        rule=RULE,
        experiment=beta_cosine,
        setting=STEP,
        options=SCALES | {"formula": "labels"},
        controls=BLIND,
        quick={"d": (60, 240), "runs": 64},
        full={"d": (100, 300, 1000), "runs": 32},
        measured_instead=(
            r"With output scale $1/\sqrt{p}$ the network's output at its start is small, and "
            "the cosine is 0.816. With output scale 1, as in the paper, that output is of "
            r"order one. It adds $W_0^{\top}a$ and noise to $\beta$, and with relu the cosine "
            "is 0.74."
        ),
        corrected="beta-knows-the-residual",
    ),
    Claim(
        id="beta-knows-the-residual",
        statement=(
            r"The first step has the direction of $X^{\top}r/n$, where $r=y-f_0$ is the "
            "residual. Its cosine with the target is "
            r"$f_1/\sqrt{f_1^2+s^2c_1^2+\frac{d}{n}\mathbb{E}[r^2]}$, where $s$ is the output "
            "scale. This is 0.738 where $f_0$ is of order one, and 0.816 where it is small."
        ),
        source=sources.beyond(
            sources.ONE_STEP,
            r"section 3, alignment of $\beta$ with the target",
            "The network's output at its start is of order one.",
        ),
        regime=REGIME,
        rule=RULE,
        experiment=beta_cosine,
        setting=STEP,
        options=SCALES | {"formula": "full"},
        controls=BLIND
        | {"the formula of the labels alone": Changes(options={"formula": "labels"})},
        quick={"d": (60, 240), "runs": 64},
        full={"d": (100, 300, 1000), "runs": 32},
    ),
)
