"""Claims about the gradient of one giant step: rank one, and how it knows the target."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from giantstep.gaussian.accuracy import VANISHING
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import FIRST_LAYER, Fields, Runs, with_runs
from giantstep.papers.claims.linear_width import EVEN, WIDE
from giantstep.papers.claims.quantity import Quantity, drift, exponent_of, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.step import learned_step
from giantstep.prediction.wide.strong_spikes import LARGE_SIZE
from giantstep.problem.setting import Setting
from giantstep.simulation.stepped import SteppedRun, stepped_runs

QUICK, FULL = {"d": (60, 240), "runs": 64}, {"d": (100, 300, 1000), "runs": 32}

BETWEEN = 0.039
"""Half of the distance between the cosines 0.816 of the labels and 0.738 of the residual."""

ONE = {"readout_n": 10, "test_n": 10, "step_size": 1.0}
"""A stepped run draws samples for a readout: as few as may be."""


def rank_one(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """|W1 - W0 - eta c_1 a beta^T| over |W1 - W0| falls as d^-1/2, and a beta^T has coefficient 1.

    c_1 is multiplied by ``times``.
    """
    given = FIRST_LAYER | dict(fields) | ONE
    times = given.pop("times")
    found = [
        np.array(
            [
                _remainder(step, times)
                for step in stepped_runs(Setting(**given | {"d": size}), range(drawn))
            ]
        )
        for size, drawn in with_runs(d, runs)
    ]
    rest = [values[:, 0] for values in found]
    # The largest readout, sqrt(2 log p) times the others, leads the remainder.
    slower = 0.5 * math.log(math.log(d[-1]) / math.log(d[0])) / math.log(d[-1] / d[0])
    quantities = [
        exponent_of(
            "exponent of the remainder",
            d,
            rest,
            (-1.0, -0.25),
            -0.5,
            allowance=drift(d) + slower,
        ),
        mean_of(
            "coefficient of a beta^T", found[-1][:, 1], (0.75, 1.25), 1.0, allowance=d[-1] ** -0.5
        ),
    ]
    line = [float(np.median(rest[0])) * (size / d[0]) ** -0.5 for size in d]
    curves = [
        mean_curve("simulation", d, rest),
        Curve("slope -1/2", list(d), line, theory=True, guide=True),
    ]
    label = "share of the update that is not of rank one"
    return Findings(quantities, Plot("dimension $d$", label, curves, "log", "log"))


def _remainder(step: SteppedRun, times: float) -> tuple[float, float]:
    """Operator norm of what eta c_1 a beta^T leaves over that of the update, its coefficient."""
    update = step.weights - step.start
    c = times * step.setting.activation.moments.slope
    spike = np.outer(step.step_size * c * step.readout, step.spike)
    rest = float(np.linalg.norm(update - spike, 2) / np.linalg.norm(update, 2))
    # An activation without c_1 has no spike to fit but rounding.
    fitted = float(np.sum(spike * update) / np.sum(spike**2)) if abs(c) > VANISHING else 0.0
    return rest, fitted


def beta_cosine(fields: Fields, *, d: Sequence[int], runs: int) -> Findings:
    """|cos(beta, w*)| of beta = X^T r/n for each of the output ``scales``, as a formula says.

    The formula is that of the residual ``formula``: "labels" for r = y, "full" for r = y - f_0.
    """
    given = FIRST_LAYER | dict(fields) | ONE
    formula, scales = given.pop("formula"), given.pop("scales")
    quantities: list[Quantity] = []
    curves: list[Curve] = []
    for scale in scales:
        settings = [Setting(**given | {"d": size, "output_scale": scale}) for size in d]
        values = [
            np.array([_cosine(step) for step in stepped_runs(setting, range(runs))])
            for setting in settings
        ]
        expected = learned_step(settings[-1].vary(residual=formula), LARGE_SIZE).cosine
        quantities.append(
            mean_of(
                f"cosine of beta with the target, output scale {scale}",
                values[-1],
                (expected - BETWEEN, expected + BETWEEN),
                expected,
                # A direction at random adds d^-1/2 of cosine, squares add: 1/d.
                allowance=2.0 / d[-1],
            )
        )
        label = f"output scale {scale}"
        curves += [
            mean_curve(label, d, values),
            Curve(label, list(d), [expected] * len(d), theory=True),
        ]
    return Findings(quantities, Plot("dimension $d$", r"$\cos(\beta, w^*)$", curves, "log"))


def _cosine(step: SteppedRun) -> float:
    beta = step.spike
    return float(abs(beta[0]) / np.linalg.norm(beta))


NETWORK = WIDE | {"formula": "full", "scales": ("1", "1/sqrt(p)")}
BLIND = {"a target without a linear part": {"target": "He2(x1)/sqrt(2)"}}
REGIME = (
    "n = 4 d, p = d, relu, readout weights N(0, 1/p); the network a^T sigma(W x) has an output of "
    "order one at its start with output scale 1, of order 1/sqrt(p) with output scale 1/sqrt(p)"
)
RULE = (
    "cosine of beta with w* within four standard errors and 2/d of the formula, and nearer to it "
    "than half of the distance between 0.816 and 0.738, for both output scales"
)

CLAIMS = (
    Claim(
        id="rank-one-step",
        statement=(
            "One gradient at linear width is c_1 a beta^T, beta = X^T r/n, and a small remainder: "
            "W1 = W0 + rank one."
        ),
        source=sources.beyond(
            sources.ONE_STEP,
            "section 2, after arXiv 2205.01445",
            "the residual y - f_0 in beta, where the paper has the labels",
        ),
        regime="n = 4 d, p = d, relu, one step",
        rule=(
            "exponent in d of the remainder's norm over the update's below -1/4, -1/2 predicted; "
            "coefficient of c_1 a beta^T 1"
        ),
        experiment=rank_one,
        fields=WIDE | {"times": 1.0},
        controls={
            "c_1 = 0: the gradient is all remainder": {"activation": EVEN},
            "twice c_1": {"times": 2.0},
        },
        quick={"d": (50, 150, 400), "runs": (96, 32, 12)},
        full={"d": (100, 300, 1000), "runs": (60, 20, 6)},
    ),
    Claim(
        id="beta-knows-the-label",
        statement=(
            "The gradient of the first step is c_1 a beta^T with beta = X^T y/n, of cosine "
            "f_1/sqrt(f_1^2 + (d/n) E y^2) = 0.816 with the target."
        ),
        source=sources.BETA,
        regime=REGIME,
        rule=RULE,
        experiment=beta_cosine,
        fields=NETWORK | {"formula": "labels"},
        controls=BLIND,
        quick=QUICK,
        full=FULL,
        measured_instead=(
            "0.816 with output scale 1/sqrt(p), where the output of the network at its start is "
            "small. With output scale 1, as in the paper, that output is of order one: it adds "
            "W0^T a and noise to beta, and the cosine is 0.74 with relu."
        ),
        corrected="beta-knows-the-residual",
    ),
    Claim(
        id="beta-knows-the-residual",
        statement=(
            "The direction of the first step is that of X^T r/n, r = y - f_0, of cosine "
            "f_1/sqrt(f_1^2 + s^2 c_1^2 + (d/n) E r^2) with the target, s the output scale: 0.738 "
            "where f_0 is of order one, 0.816 where it is small."
        ),
        source=sources.beyond(
            sources.ONE_STEP,
            "section 3, alignment of beta with the target",
            "the output of the network at its start, of order one",
        ),
        regime=REGIME,
        rule=RULE,
        experiment=beta_cosine,
        fields=NETWORK,
        controls=BLIND | {"the formula of the labels alone": {"formula": "labels"}},
        quick=QUICK,
        full=FULL,
    ),
)
