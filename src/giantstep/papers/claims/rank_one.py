"""Claims about the gradient of one giant step: rank one, and how it knows the target."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from giantstep.analysis.exponents import VANISHING
from giantstep.papers.claims.experiments import FIRST_LAYER, Fields, Runs, with_runs
from giantstep.papers.claims.linear_width import EVEN, ONE_STEP, WIDE
from giantstep.papers.claims.quantity import drift, exponent_of, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.limits import LARGE_SIZE
from giantstep.prediction.wide.step import learned_step
from giantstep.problem.setting import Setting
from giantstep.simulation.stepped import SteppedRun, stepped_runs

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
    """|cos(beta, w*)| of beta = X^T r/n, as the formula told of the residual ``formula`` says."""
    given = FIRST_LAYER | dict(fields) | ONE
    formula = given.pop("formula")
    settings = [Setting(**given | {"d": size}) for size in d]
    values = [
        np.array([_cosine(step) for step in stepped_runs(setting, range(runs))])
        for setting in settings
    ]
    told = settings[-1].vary(residual=settings[-1].residual if formula == "own" else formula)
    expected = learned_step(told, LARGE_SIZE).cosine
    # A direction at random adds d^-1/2 of cosine, squares add: 1/d.
    cosine = mean_of(
        "cosine of beta with the target", values[-1], (0.5, 1.0), expected, allowance=2.0 / d[-1]
    )
    curves = [
        mean_curve("simulation", d, values),
        Curve("limit", list(d), [expected] * len(d), theory=True),
    ]
    return Findings([cosine], Plot("dimension $d$", r"$\cos(\beta, w^*)$", curves, "log"))


def _cosine(step: SteppedRun) -> float:
    beta = step.spike
    return float(abs(beta[0]) / np.linalg.norm(beta))


NETWORK = WIDE | {"formula": "own"}
BLIND = {"a target without a linear part": {"target": "He2(x1)/sqrt(2)"}}

CLAIMS = (
    Claim(
        "rank-one-step",
        "One gradient at linear width is c_1 a beta^T, beta = X^T r/n, and a small remainder: "
        "W1 = W0 + rank one.",
        f"{ONE_STEP}, section 2 (and arXiv 2205.01445)",
        "n = 4 d, p = d, relu, one step",
        "exponent in d of the remainder's norm over the update's below -1/4, -1/2 predicted; "
        "coefficient of c_1 a beta^T 1",
        rank_one,
        WIDE | {"times": 1.0},
        {
            "c_1 = 0: the gradient is all remainder": {"activation": EVEN},
            "twice c_1": {"times": 2.0},
        },
        {"d": (50, 150, 400), "runs": (96, 32, 12)},
        {"d": (100, 300, 1000), "runs": (60, 20, 6)},
    ),
    Claim(
        "beta-knows-the-label",
        "The direction of the first step has cosine f_1/sqrt(f_1^2 + (d/n) E y^2) with the target: "
        "0.816.",
        f"{ONE_STEP}, alignment of beta with the target (section 3)",
        "n = 4 d, p = d, relu; the gradient of the loss of the network at its start",
        "cosine of beta with w* within four standard errors and 2/d of 0.816",
        beta_cosine,
        NETWORK | {"formula": "labels"},
        BLIND,
        {"d": (60, 240), "runs": 24},
        {"d": (100, 300, 1000), "runs": 24},
        seen="0.73 with relu, 0.70 with tanh: the network's own output at its start is of order "
        "one and adds W0^T a and noise to beta; 0.816 holds where the step uses the labels alone.",
        corrected="beta-knows-the-residual",
    ),
    Claim(
        "beta-knows-the-residual",
        "The direction of the first step has cosine f_1/sqrt(f_1^2 + c_1^2 + (d/n) E r^2) with the "
        "target, r = y - f_0.",
        f"{ONE_STEP}, alignment of beta with the target, for the actual residual",
        "n = 4 d, p = d, relu; the gradient of the loss of the network at its start",
        "cosine of beta with w* within four standard errors and 2/d of 0.738",
        beta_cosine,
        NETWORK,
        BLIND | {"the formula of the labels alone": {"formula": "labels"}},
        {"d": (60, 240), "runs": 24},
        {"d": (100, 300, 1000), "runs": 24},
    ),
    Claim(
        "beta-of-labels",
        "Where the step uses the labels alone, beta has cosine f_1/sqrt(f_1^2 + (d/n) E y^2) with "
        "the target: 0.816.",
        f"{ONE_STEP}, alignment of beta with the target, residual = labels",
        "n = 4 d, p = d, relu",
        "cosine of beta with w* within four standard errors and 2/d of 0.816",
        beta_cosine,
        NETWORK | {"residual": "labels"},
        BLIND
        | {"the step of the network's own residual": {"residual": "full", "formula": "labels"}},
        {"d": (60, 240), "runs": 24},
        {"d": (100, 300, 1000), "runs": 24},
    ),
)
