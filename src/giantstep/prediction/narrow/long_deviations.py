"""How far a single long run deviates from the recursion, and how far that shifts the mean of runs.

With J the derivative of the map of one step, S what one batch adds (covariance.py), f'' the second
derivative of its increment and V, D the covariance and the shift of the state,

    V' = J V J^T + S,    D' = J D + f''[V]/2,

J, S and f'' held between a few states of the path: N steps take log2 N products, since two
steps of (J, S) are one of (J^2, S + J S J^T).  Derivatives are differences of the closed forms;
those of the error make of V and D its own shift (docs/derivations/long_runs.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import NoTheoryError
from giantstep.gaussian.coordinates import root
from giantstep.prediction.narrow.committee import Committee
from giantstep.prediction.narrow.covariance import batch_columns, entries, packed, unpacked
from giantstep.prediction.narrow.deviations import Deviations, Shift
from giantstep.prediction.narrow.long_runs import Moves, between, lengths_of
from giantstep.prediction.narrow.points import Quadrature, sobol_quadrature
from giantstep.prediction.narrow.state import State, coordinates
from giantstep.problem.setting import Setting


def long_deviations(
    setting: Setting,
    start: State,
    committee: Committee,
    *,
    columns: Float[np.ndarray, "c m"],
    log2_samples: int = 13,
) -> Deviations:
    """Deviations and shift around a long run from one start; ``columns`` are those of V_0.

    S is computed on 2^log2_samples points, which have fourth moments to some percent.
    """
    p, r = setting.p, setting.target.r
    moves = Moves(setting, [start], committee, None)
    times, path = _chosen_states(moves)
    quadrature = sobol_quadrature(r + p, 0, log2_samples, steps=len(times))

    def error(states: Float[np.ndarray, "k m"]) -> Float[np.ndarray, "k 1"]:
        overlap, gram = unpacked(states, p, r)
        return committee.errors(setting, overlap, gram, start.readout)[:, None]

    def bend(number: int, covariance: Float[np.ndarray, "m m"]) -> Float[np.ndarray, " m"]:
        step = min(int(times[number]), setting.steps - 1)
        return curvature(lambda states: moves(states, step, -1), path[number], covariance)

    covariance, shift = columns.T @ columns, np.zeros(path.shape[1])
    moments, before = [], bend(0, covariance)
    for k, state in enumerate(path):
        of_error = curvature(error, state, covariance) + error((state + shift)[None])[0]
        moments.append((np.diagonal(covariance), shift, of_error - error(state[None])[0]))
        if k + 1 == len(path):
            break
        step, size = int(times[k]), int(times[k + 1] - times[k])
        jacobian = _jacobian(moves, state, step)
        batch = _batch_covariance(setting, start, state, quadrature, step=step, number=k)
        covariance = passed_covariance(jacobian, batch, covariance, size)
        if not np.all(np.isfinite(covariance)):
            raise NoTheoryError(
                "no prediction: the differences between runs become infinite. Use a smaller step"
            )
        after = bend(k + 1, covariance)
        # V and the curvature change on the way.
        shift = passed_shift(jacobian, 0.5 * (before + after) if size > 1 else before, shift, size)
        before = after
    return _recorded(setting, times, path, *map(np.stack, zip(*moments, strict=True)))


def _recorded(
    setting: Setting,
    times: Int[np.ndarray, " c"],
    path: Float[np.ndarray, "c m"],
    variances: Float[np.ndarray, "c m"],
    shifts: Float[np.ndarray, "c m"],
    errors: Float[np.ndarray, "c 1"],
) -> Deviations:
    """Variances, shifts and those of the error at a few states, after the recorded steps."""
    p, r, steps = setting.p, setting.target.r, np.array(setting.recorded)

    def around(states: Float[np.ndarray, "t m"], deviation: Float[np.ndarray, "t m"]) -> Deviations:
        return Deviations.of_state(unpacked(deviation, p, r), unpacked(states, p, r)[1])

    deviation = np.sqrt(np.maximum(variances, 0.0))
    shift = Shift(
        *unpacked(between(times, shifts, steps), p, r), between(times, errors, steps)[:, 0]
    )
    recorded = around(between(times, path, steps), between(times, deviation, steps))
    # Runs may deviate most between recorded steps.
    return replace(recorded, largest=around(path, deviation).largest, shift=shift)


def passed_covariance(
    jacobian: Float[np.ndarray, "m m"],
    batch: Float[np.ndarray, "m m"],
    covariance: Float[np.ndarray, "m m"],
    steps: int,
) -> Float[np.ndarray, "m m"]:
    """V after so many steps of V' = J V J^T + S.

    docs/derivations/long_runs.md, eq. (4).
    """
    while steps:
        if steps % 2:
            covariance = jacobian @ covariance @ jacobian.T + batch
        batch = batch + jacobian @ batch @ jacobian.T
        jacobian = jacobian @ jacobian
        steps //= 2
    return covariance


def passed_shift(
    jacobian: Float[np.ndarray, "m m"],
    bend: Float[np.ndarray, " m"],
    shift: Float[np.ndarray, " m"],
    steps: int,
) -> Float[np.ndarray, " m"]:
    """D after so many steps of D' = J D + f''[V]/2, ``bend`` the second term.

    The map is affine: its power is that of the matrix [[J, bend], [0, 1]].

    docs/derivations/long_runs.md, eq. (4).
    """
    size = len(shift)
    affine = np.eye(size + 1)
    affine[:size, :size], affine[:size, size] = jacobian, bend
    return np.asarray((np.linalg.matrix_power(affine, steps) @ np.append(shift, 1.0))[:size])


def curvature(
    function: Callable[[Float[np.ndarray, "k m"]], Float[np.ndarray, "k c"]],
    state: Float[np.ndarray, " m"],
    covariance: Float[np.ndarray, "m m"],
    *,
    reach: float = 1e-2,
) -> Float[np.ndarray, " c"]:
    """f''[V]/2 = the sum over columns of V of (f(y + F) - 2 f(y) + f(y - F))/2.

    ``reach`` is the displacement in standard deviations of a run: its square is left out, and
    rounding leaves 1e-12.

    docs/derivations/long_runs.md, eq. (5).
    """
    columns = reach * root(covariance).T
    sides = function(np.concatenate([state + columns, state - columns]))
    bends = np.sum(sides, axis=0) - 2 * len(columns) * function(state[None])[0]
    return np.asarray(bends / (2.0 * reach**2))


def _chosen_states(
    moves: Moves, *, count: int = 20, tolerance: float = 1e-4
) -> tuple[Int[np.ndarray, " c"], Float[np.ndarray, "c m"]]:
    """Some steps, first and last among them, and the mean states after them.

    At most about ``count``, evenly by the change of the state and by the logarithm of the step:
    derivatives at neighbours are close.
    """
    setting, rows = moves.setting, moves.starts[0].rows
    p, r = setting.p, setting.target.r
    state = packed(rows[None, :, :r], (rows @ rows.T)[None])
    times, path, moved = [0], [state[0]], [0.0]
    for group in moves.groups(state, tolerance):
        change = np.abs(group.after - group.before) / lengths_of(group.before, p, r)
        times.append(group.end)
        path.append(group.after[0])
        moved.append(moved[-1] + float(np.max(change)))
    logarithm = np.log1p(times)
    # A path that does not move at all is divided by the logarithm alone.
    along = np.array(moved) / max(moved[-1], 1e-9) + logarithm / logarithm[-1]
    chosen = np.searchsorted(along, np.linspace(0.0, along[-1], count))
    chosen = np.unique([*chosen, len(times) - 1])
    return np.array(times)[chosen], np.stack(path)[chosen]


def _jacobian(
    moves: Moves, state: Float[np.ndarray, " m"], step: int, *, reach: float = 1e-5
) -> Float[np.ndarray, "m m"]:
    """J, the derivative of the map of one step.

    ``reach`` is the displacement in lengths of the rows: its square is left out, and rounding
    leaves 1e-11.
    """
    setting = moves.setting
    sizes = reach * lengths_of(state[None], setting.p, setting.target.r)[0]
    sides = np.concatenate([state + np.diag(sizes), state - np.diag(sizes)])
    ahead, behind = np.split(sides + moves(sides, step, -1), 2)
    return np.asarray(((ahead - behind) / (2.0 * sizes[:, None])).T)


def _batch_covariance(
    setting: Setting,
    start: State,
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
        replace(start, rows=coordinates(overlap, gram)),
        lambda rows, _: quadrature(rows, number),
        step=step,
        columns=entries(setting),
        key=np.random.default_rng(0),
    )
    return columns.T @ columns
