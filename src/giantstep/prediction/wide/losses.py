"""Train and test error of the ridge readout after giant steps at linear width, without W.

The objective L = min over a of mean (y - phi.a)^2 + lambda |a|^2 of the fixed point is

    L = h^T D (1 + K D)^-1 h + sum_m o_m h2_m,   h = (h0, 0, h1_1, .., 0, ..),

h0, h1, h2 the label's moments given kappa and K = groups sum_t p_t psi Q psi^T over means psi, both
on blocks of nodes: functions of kappa, those times |x|^2 and those times each special direction.
With 1/(1+V) + tau in place of 1/(1+V), test = dL/dtau at tau = 0 and train = L - lambda dL/dlambda;
both derivatives come from the Hessian of the fixed point.  See docs/derivations/closed_system.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, NotConvergedError
from giantstep.prediction.labels import LabelMoments
from giantstep.prediction.wide.continuation import positive, solve
from giantstep.prediction.wide.fixed_point import Point, spread_over
from giantstep.prediction.wide.step import TYPICAL, Draw, random_offset, refuse_if
from giantstep.prediction.wide.system import ClosedSystem, closed_system, labels_given, objection
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Losses:
    """Mean squared errors of the readout at one penalty, and L = train + ridge |a|^2."""

    ridge: float
    readout_n: int
    train: float
    test: float
    objective: float
    residual: float
    iterations: int


def losses(setting: Setting, ridge: float | None = None, draw: Draw | None = None) -> Losses:
    """Train error, test error and objective at one penalty in the setting's own convention.

    ridge: min over a of mean (y - s_p phi.a)^2 + ridge |a|^2, the setting's one penalty unless
    given.  Where the residual's mean is random (``random_offset``) the average over runs is taken,
    by the two-point rule at a total of +-1, exact to third order; ``draw`` fixes it instead.
    """
    return loss_curve(setting, None if ridge is None else [ridge], draw=draw)[0]


def loss_curve(
    setting: Setting,
    ridges: Sequence[float] | None = None,
    readout_sizes: Sequence[int] | None = None,
    draw: Draw | None = None,
) -> list[Losses]:
    """``losses`` at several penalties or readout sizes, each started from the one before.

    All pairs, the penalties varying fastest.
    """
    refuse_if(objection(setting))
    penalties = _ridges(setting) if ridges is None else list(ridges)
    sizes = [setting.readout_n] if readout_sizes is None else list(readout_sizes)
    for ridge in penalties:
        if not ridge > 0:
            raise InputError(f"ridge must be positive, got {ridge:g}")
    for size in sizes:
        if size < 1:
            raise InputError(f"readout_n must be at least 1, got {size}")
    if draw is None and random_offset(setting):
        ends = (Draw(total=side) for side in (-1.0, 1.0))
        low, high = (loss_curve(setting, penalties, sizes, draw=end) for end in ends)
        return [_average(a, b) for a, b in zip(low, high, strict=True)]
    system = closed_system(setting, draw=draw or TYPICAL)
    labels = labels_given(setting, system.overlap, system.kappa)
    found: list[Losses] = []
    point: Point | None = None
    for size in sizes:
        sized = replace(system, n=size)
        for ridge in penalties:
            # s_p a is the readout of unit output scale: lambda = ridge / s_p^2.
            penalty = ridge / setting.scale**2
            point = _nearby(sized, penalty, point)
            train, test, objective = energies(point, labels)
            found.append(
                Losses(
                    ridge=ridge,
                    readout_n=size,
                    train=train,
                    test=test,
                    objective=objective,
                    residual=point.residual,
                    iterations=point.iterations,
                )
            )
    return found


def _ridges(setting: Setting) -> list[float]:
    if setting.ridge == "cv":
        raise InputError("ridge must be a number for the closed system, got 'cv'")
    return list(setting.ridge)


def _average(first: Losses, second: Losses) -> Losses:
    return replace(
        first,
        train=0.5 * (first.train + second.train),
        test=0.5 * (first.test + second.test),
        objective=0.5 * (first.objective + second.objective),
        residual=max(first.residual, second.residual),
        iterations=first.iterations + second.iterations,
    )


def _nearby(system: ClosedSystem, penalty: float, last: Point | None) -> Point:
    """From the last solution where Newton's method holds on to it, else from scratch."""
    if last is not None:
        try:
            point = solve(system, penalty, last)
        except NotConvergedError:
            return solve(system, penalty)
        if positive(point):
            return point
    return solve(system, penalty)


def energies(point: Point, labels: LabelMoments) -> tuple[float, float, float]:
    """(train, test, L) at a solution.

    L = h^T R h + o.h2 with R = (D^-1 + K)^-1: dL = (Z h)^T dD (Z h) - (R h)^T dK (R h) + do.h2,
    Z = (1 + K D)^-1 and R = D Z.
    """
    system, o = point.system, point.weighted
    label = np.zeros((system.blocks, len(o)))
    label[0] = labels.mean
    label[2 : 2 + labels.slope.shape[1]] = labels.slope.T
    repeated = np.tile(o, system.blocks)
    constant = spread_over(system.means, point.counted)
    screened = np.linalg.solve(np.eye(len(repeated)) + constant * repeated, label.ravel())
    objective = float(label.ravel() @ (repeated * screened) + o @ labels.rest)
    # dL/do and dL/dQ of a group of each type.
    by_weight = np.sum(screened.reshape(label.shape) ** 2, axis=0) + labels.rest
    seen = np.einsum("x,xtkb->tkb", repeated * screened, system.means)
    by_group = np.einsum("tkb,tkc->tbc", seen, seen)

    def along(damping: Float[np.ndarray, " m"], resolvent: Float[np.ndarray, "t b b"]) -> float:
        counted = system.neurons[:, None, None] * resolvent
        return float(by_weight @ (system.weights * damping) - np.sum(by_group * counted))

    none = np.zeros_like(point.resolvent)
    test = along(*point.direction(1.0 / point.damping**2, none))
    penalty = float(np.real(point.penalty))
    train = objective - penalty * along(*point.per_penalty())
    return train, test, objective
