"""Quadratic width: p and readout_n up to a few d^2, where the degree 2 of the features is resolved.

The closed system has the degrees 1 and 2 of the features as blocks and serves n, p ~ d as well as
n, p ~ d^2 (docs/derivations/quadratic.md); here stands only how far it goes.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.analysis.exponents import VANISHING
from giantstep.prediction.wide.rows import SHARE
from giantstep.prediction.wide.step import learned_step
from giantstep.prediction.wide.step import objection as step_objection
from giantstep.prediction.wide.system import readout_objection
from giantstep.problem.setting import Setting

MOST_SQUARES = 4.0
"""The smaller of p and readout_n, in d^2, up to which degree 3 counts as noise: it has d^3/6
dimensions.  Both at 4 d^2 the errors at d = 16 are 6 % (tanh) and 16 % (relu) off, 2.6/d."""

MOST_TURN = 0.2
"""Share of a row's own part along a target direction outside v that the target's degree 2 may add
in a step.  The errors of relu on x1 + He2(x2)/2 at n = d^2, p = d^2/2, readout_n = d^2, d = 30 are
4 % off beside what they are before the step at .19, 25 % at .57 and 40 % at 1.1."""


def objection(setting: Setting) -> str | None:
    """Why the theory of quadratic width does not cover a setting, None if it does."""
    if setting.steps > 1:
        return f"steps must be 0 or 1, got {setting.steps}"
    for name in ("p", "n"):
        ratio = getattr(setting, name) / setting.d
        if not ratio >= SHARE[0]:
            return f"{name} must be at least {SHARE[0]:g} d, got {ratio:.3g} d"
    squares = min(setting.p, setting.readout_n) / setting.d**2
    if squares > MOST_SQUARES:
        return (
            f"the smaller of p and readout_n must be at most {MOST_SQUARES:g} d^2, "
            f"got {squares:.3g} d^2"
        )
    complaint = step_objection(setting)
    if complaint is None and setting.readout_n > 0:
        complaint = readout_objection(setting)
    return complaint or turn_objection(setting)


def turn_objection(setting: Setting) -> str | None:
    """Why the degree 2 of the target must not be left out of a step, None if it may be.

    Row i gains eta a_i E[sigma'(z) z] T_2 w_i, a multiple of its own part along V*, at a_i^2 = 1/p.
    """
    if setting.steps == 0:
        return None
    kept = 1.0 - 2.0 * setting.corruption
    curvature = kept * setting.target.series.tensor(2)
    step = learned_step(setting)
    along = step.overlap
    length = float(np.linalg.norm(along))
    if length > VANISHING:
        outside = np.eye(setting.target.r) - along.T @ along / length**2
        curvature = outside @ curvature @ outside
    tilt = setting.activation.moments.tilt
    largest = float(np.max(np.abs(np.linalg.eigvalsh(curvature))))
    turn = step.size / math.sqrt(setting.p) * abs(tilt) * largest
    if turn <= MOST_TURN:
        return None
    return (
        f"the degree 2 of the target must turn a row outside the learned direction by at most "
        f"{MOST_TURN:g} of its own part, got {turn:.3g}"
    )
