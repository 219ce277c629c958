"""How far a single long run strays from the recursion, and how far that shifts the mean over runs.

With J the derivative of the map of one step, S what one batch adds (fluctuations.md), f'' the
second derivative of its increment and V, D the covariance and the shift of the state,

    V' = J V J^T + S,    D' = J D + f''[V]/2,

J, S and f'' held between a few states of the path: N steps take log2 N products, since two
steps of (J, S) are one of (J^2, S + J S J^T).  Derivatives are differences of the closed forms;
those of the error make of V and D its own shift (docs/derivations/long_runs.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import NoTheoryError
from giantstep.gaussian.coordinates import root
from giantstep.prediction.narrow.committee import Committee
from giantstep.prediction.narrow.fluctuations import (
    Deviations,
    batch_columns,
    entries,
    packed,
    unpacked,
)
from giantstep.prediction.narrow.grouped import STILL, groups
from giantstep.prediction.narrow.long_runs import TOLERANCES, Moves, between, lengths_of
from giantstep.prediction.narrow.points import Quadrature, sobol_quadrature
from giantstep.prediction.narrow.start import Start, coordinates
from giantstep.problem.setting import Setting

MOST_STATES = 20
"""States of the path at which derivatives are computed, evenly by the change of the state and by
the logarithm of the step: those of neighbours are close."""

LOG2_SAMPLES = 13
"""Points of S, as a power of two: fourth moments to some percent."""

FIRST, SECOND = 1e-5, 1e-2
"""Displacements, in lengths of the rows and in standard deviations of a run: their squares are left
out of first and second derivatives, and rounding leaves 1e-11 and 1e-12."""


@dataclass(frozen=True)
class Shift:
    """What a mean over runs has beyond the recursion, after every recorded step."""

    overlap: Float[np.ndarray, "t p r"]
    gram: Float[np.ndarray, "t p p"]
    network_error: Float[np.ndarray, " t"]


@dataclass(frozen=True)
class Around:
    """Deviations and shift after recorded steps, and Gram matrices and deviations along the path.

    Runs may stray most between recorded steps.
    """

    deviations: Deviations
    shift: Shift
    gram: Float[np.ndarray, "c p p"]
    along: Deviations


def long_fluctuations(
    setting: Setting, begin: Start, committee: Committee, *, start: Float[np.ndarray, "c m"]
) -> Around:
    """What there is around a long run from one start; ``start`` are the columns of V_0."""
    p, r = setting.p, setting.target.r
    moves = Moves(setting, [begin], committee, None)
    times, path = _states(moves)
    quadrature = sobol_quadrature(r + p, 0, LOG2_SAMPLES, steps=len(times))

    def error(states: Float[np.ndarray, "k m"]) -> Float[np.ndarray, "k 1"]:
        overlap, gram = unpacked(states, p, r)
        readout = np.broadcast_to(begin.readout, overlap.shape[:2])
        return committee.error(setting, overlap, gram, readout)[:, None]

    def bend(number: int, covariance: Float[np.ndarray, "m m"]) -> Float[np.ndarray, " m"]:
        step = min(int(times[number]), setting.steps - 1)
        return curvature(lambda states: moves(states, step, -1), path[number], covariance)

    covariance, shift = start.T @ start, np.zeros(path.shape[1])
    found, before = [], bend(0, covariance)
    for k, state in enumerate(path):
        of_error = curvature(error, state, covariance) + error((state + shift)[None])[0]
        found.append((np.diagonal(covariance), shift, of_error - error(state[None])[0]))
        if k + 1 == len(path):
            break
        step, size = int(times[k]), int(times[k + 1] - times[k])
        jacobian = _jacobian(moves, state, step)
        batch = _batch(setting, begin, state, quadrature, step=step, number=k)
        covariance = passed(jacobian, batch, covariance, size)
        if not np.all(np.isfinite(covariance)):
            raise NoTheoryError("no prediction: what a run strays by leaves the finite numbers")
        after = bend(k + 1, covariance)
        # V and the curvature change on the way.
        shift = summed(jacobian, 0.5 * (before + after) if size > 1 else before, shift, size)
        before = after
    kept = np.array(setting.recorded)
    squares, shifts, errors = (np.stack(part) for part in zip(*found, strict=True))
    deviation = np.sqrt(np.maximum(squares, 0.0))
    return Around(
        _deviations(between(times, path, kept), between(times, deviation, kept), p, r),
        Shift(*unpacked(between(times, shifts, kept), p, r), between(times, errors, kept)[:, 0]),
        unpacked(path, p, r)[1],
        _deviations(path, deviation, p, r),
    )


def _deviations(
    states: Float[np.ndarray, "t m"], deviations: Float[np.ndarray, "t m"], p: int, r: int
) -> Deviations:
    """Those of overlaps, lengths and Gram matrices, from those of packed states."""
    _, gram = unpacked(states, p, r)
    of_overlap, of_gram = unpacked(deviations, p, r)
    norms = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
    return Deviations(of_overlap, np.diagonal(of_gram, axis1=1, axis2=2) / (2.0 * norms), of_gram)


def passed(
    jacobian: Float[np.ndarray, "m m"],
    batch: Float[np.ndarray, "m m"],
    covariance: Float[np.ndarray, "m m"],
    steps: int,
) -> Float[np.ndarray, "m m"]:
    """V after so many steps of V' = J V J^T + S."""
    while steps:
        if steps % 2:
            covariance = jacobian @ covariance @ jacobian.T + batch
        batch = batch + jacobian @ batch @ jacobian.T
        jacobian = jacobian @ jacobian
        steps //= 2
    return covariance


def summed(
    jacobian: Float[np.ndarray, "m m"],
    bend: Float[np.ndarray, " m"],
    shift: Float[np.ndarray, " m"],
    steps: int,
) -> Float[np.ndarray, " m"]:
    """D after so many steps of D' = J D + bend."""
    while steps:
        if steps % 2:
            shift = jacobian @ shift + bend
        bend = bend + jacobian @ bend
        jacobian = jacobian @ jacobian
        steps //= 2
    return shift


def curvature(
    function: Callable[[Float[np.ndarray, "k m"]], Float[np.ndarray, "k c"]],
    state: Float[np.ndarray, " m"],
    covariance: Float[np.ndarray, "m m"],
) -> Float[np.ndarray, " c"]:
    """f''[V]/2 = the sum over columns of V of (f(y + F) - 2 f(y) + f(y - F))/2."""
    columns = SECOND * root(covariance).T
    sides = function(np.concatenate([state + columns, state - columns]))
    bends = np.sum(sides, axis=0) - 2 * len(columns) * function(state[None])[0]
    return np.asarray(bends / (2.0 * SECOND**2))


def _states(moves: Moves) -> tuple[Int[np.ndarray, " c"], Float[np.ndarray, "c m"]]:
    """Some steps, first and last among them, and the mean states after them."""
    setting, rows = moves.setting, moves.starts[0].rows
    p, r = setting.p, setting.target.r
    state = packed(rows[None, :, :r], (rows @ rows.T)[None])
    times, path, moved = [0], [state[0]], [0.0]
    for group in groups(
        moves,
        state,
        setting.step_size,
        scale=lambda state: lengths_of(state, p, r),
        tolerance=TOLERANCES[0],
    ):
        change = np.abs(group.after - group.before) / lengths_of(group.before, p, r)
        times.append(group.end)
        path.append(group.after[0])
        moved.append(moved[-1] + float(np.max(change)))
    logarithm = np.log1p(times)
    along = np.array(moved) / max(moved[-1], STILL) + logarithm / logarithm[-1]
    chosen = np.searchsorted(along, np.linspace(0.0, along[-1], MOST_STATES))
    chosen = np.unique([*chosen, len(times) - 1])
    return np.array(times)[chosen], np.stack(path)[chosen]


def _jacobian(moves: Moves, state: Float[np.ndarray, " m"], step: int) -> Float[np.ndarray, "m m"]:
    """The derivative of the map of one step."""
    setting = moves.setting
    sizes = FIRST * lengths_of(state[None], setting.p, setting.target.r)[0]
    sides = np.concatenate([state + np.diag(sizes), state - np.diag(sizes)])
    ahead, behind = np.split(sides + moves(sides, step, -1), 2)
    return np.asarray(((ahead - behind) / (2.0 * sizes[:, None])).T)


def _batch(
    setting: Setting,
    begin: Start,
    state: Float[np.ndarray, " m"],
    quadrature: Quadrature,
    *,
    step: int,
    number: int,
) -> Float[np.ndarray, "m m"]:
    """S, what one batch adds to the covariance."""
    [overlap], [gram] = unpacked(state[None], setting.p, setting.target.r)
    columns = batch_columns(
        setting,
        replace(begin, rows=coordinates(overlap, gram)),
        lambda rows, _: quadrature(rows, number),
        step=step,
        columns=entries(setting),
        key=np.random.default_rng(0),
    )
    return columns.T @ columns
