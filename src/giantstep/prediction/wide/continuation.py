"""Solutions of the fixed point: from scratch, from a neighbour, and down from large penalties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from giantstep.errors import NotConvergedError
from giantstep.prediction.wide.fixed_point import Penalty, Point
from giantstep.prediction.wide.system import ClosedSystem

TOLERANCE = float(np.finfo(float).eps) ** 0.5
"""Largest relative residual of a solution: half the digits.

Newton's method usually ends at rounding; tiny penalties lose digits where features coincide.
"""


def solve(system: ClosedSystem, penalty: Penalty, start: Point | None = None) -> Point:
    """The solution at a penalty: damped steps until Newton's method takes hold.

    On the negative axis (-z above the spectrum) and off the real axis a nearby solution ``start``
    selects the branch, and Newton's method follows it.  A small positive penalty on which the
    search fails is reached from larger ones.
    """
    if start is not None:
        return follow(start.toward(system, penalty))
    if np.imag(penalty) != 0 or np.real(penalty) < 0:
        return _search(system, penalty)
    try:
        point = _search(system, penalty, tries=2)
    except NotConvergedError:
        return _descend(system, float(np.real(penalty)))
    return point if positive(point) else _descend(system, float(np.real(penalty)))


def follow(guess: Point, settled: float = 1e-10) -> Point:
    """The solution to which Newton's method leads from a guess, to a residual ``settled``."""
    return _accepted(_newton(guess, settled), max(settled, TOLERANCE))


def positive(point: Point) -> bool:
    """Whether a real point is the solution for a positive penalty: Q > 0 and damping > 0."""
    return bool(np.all(point.damping > 0) and np.all(np.linalg.eigvalsh(point.resolvent) > 0))


def _accepted(point: Point, tolerance: float = TOLERANCE) -> Point:
    if not point.residual <= tolerance:
        raise NotConvergedError(
            f"closed system at penalty {point.penalty:g} did not converge: relative residual "
            f"{point.residual:.1e} after {point.iterations} iterations"
        )
    return point


def _search(
    system: ClosedSystem, penalty: Penalty, tries: int = 50, damped_steps: int = 8
) -> Point:
    """From Q = 1/lambda, damped steps and tries of Newton's method in turn; one is usual."""
    unit = np.eye(system.noise.shape[-1])
    q = np.repeat((unit / penalty)[None], len(system.neurons), axis=0)
    point = Point(system, penalty, np.ones(len(system.weights), q.dtype), resolvent=q)
    for _ in range(tries):
        for _ in range(damped_steps):
            point = _damped(point)
        point = _newton(point)
        if point.residual <= TOLERANCE:
            break
    return _accepted(point)


def _descend(system: ClosedSystem, penalty: float) -> Point:
    """From a penalty so large that V <= 1 everywhere down to a small one, a tenth at a time.

    Where Newton's method does not follow, or leaves Q > 0, the way is cut in halves.
    """
    power = np.sum([block.power for block in system.blocks], axis=0)
    power = power + np.trace(system.noise, axis1=2, axis2=3)
    high = float(np.max(power @ system.neurons)) / system.n
    point = _search(system, max(high, penalty))
    factor = 0.1
    while point.penalty != penalty:
        trial = max(factor * float(np.real(point.penalty)), penalty)
        try:
            lower = solve(system, trial, point)
        except (NotConvergedError, np.linalg.LinAlgError):
            lower = point
        if lower is not point and positive(lower):
            point = replace(lower, iterations=point.iterations + lower.iterations)
            factor = max(factor**2, 0.1)
        else:
            factor = factor**0.5
        # The way is smooth: shorter steps than a hundredth mean that rounding is in the way.
        if factor > 0.99:
            return _accepted(lower if lower is not point else _newton(point.toward(system, trial)))
    return point


def _damped(point: Point) -> Point:
    """Halfway to the right sides of the equations."""
    damping = 0.5 * (point.damping + 1.0 / (1.0 + point.variance))
    resolvent = 0.5 * (point.resolvent + np.linalg.inv(point.inverse))
    return replace(point, damping=damping, resolvent=resolvent, iterations=point.iterations + 1)


def _newton(point: Point, settled: float = 1e-10, most: int = 16) -> Point:
    """Newton's method while it at least halves the residual; the last good point.

    One step more from a residual of 1e-10 would bring it to rounding.
    """
    for _ in range(most):
        if point.residual <= settled:
            break
        try:
            damping, resolvent = point.direction(*point.gaps)
            trial = point.moved(-damping, -resolvent)
            residual = trial.residual
        except np.linalg.LinAlgError:
            return point
        if not residual < 0.5 * point.residual:  # rounding, divergence, or not a number
            return trial if residual < point.residual else point
        point = trial
    return point
