"""How far a single run deviates from the mean: standard deviations over runs, by two methods.

On fresh batches the covariance of (M, Q) is carried from step to step (covariance.py).  Where
samples are seen again, or labels deviate with their fit, exact runs at fewer samples tell:
deviations are of order n^(-1/2) at fixed n/d (docs/derivations/fluctuations.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.prediction.narrow.batch import seen_share
from giantstep.prediction.narrow.covariance import (
    batch_columns,
    entries,
    fewer_columns,
    passed_columns,
    start_columns,
    unpacked,
)
from giantstep.prediction.narrow.points import points_for
from giantstep.prediction.narrow.state import State, coordinates
from giantstep.problem.lookahead import LookaheadWord
from giantstep.problem.setting import Setting
from giantstep.problem.starts import typical_span
from giantstep.simulation.engines import deferred
from giantstep.simulation.meter import Meter
from giantstep.simulation.simulate import MEMORY


@dataclass(frozen=True)
class Shift:
    """What a mean over runs has beyond the recursion of the means, after every recorded step."""

    overlap: Float[np.ndarray, "t p r"]
    gram: Float[np.ndarray, "t p p"]
    network_error: Float[np.ndarray, " t"]


@dataclass(frozen=True)
class Deviations:
    """Standard deviations over runs of what one run has after steps 0..T.

    ``largest`` is how far a run is from its mean after any step, in lengths of its rows; ``shift``
    is what that does to the mean, where it is computed.
    """

    overlap: Float[np.ndarray, "t p r"]
    norms: Float[np.ndarray, "t p"]
    gram: Float[np.ndarray, "t p p"]
    largest: float
    shift: Shift | None = None

    @classmethod
    def of_state(
        cls,
        deviation: tuple[Float[np.ndarray, "t p r"], Float[np.ndarray, "t p p"]],
        gram: Float[np.ndarray, "t p p"],
    ) -> Deviations:
        """Those of (M, Q), and of lengths sqrt(Q_ii) around mean Gram matrices."""
        lengths = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
        squares = np.diagonal(deviation[1], axis1=1, axis2=2)
        norms = squares / (2.0 * np.maximum(lengths, np.finfo(float).tiny))
        return cls(deviation[0], norms, deviation[1], largest_share(gram, *deviation))


def largest_share(
    gram: Float[np.ndarray, "t p p"],
    of_overlap: Float[np.ndarray, "t p r"],
    of_gram: Float[np.ndarray, "t p p"],
) -> float:
    """How far a run is from its mean, in lengths of its rows: the largest share after any step.

    Root mean square over the entries of the Gram matrix, whose means are ``gram``, and of the
    overlaps unless there is one step, after which their mean is exact.  What runs differ by at the
    start is not counted.
    """
    squares = np.mean(np.diagonal(gram, axis1=1, axis2=2), axis=1)
    parts = [(of_gram, squares), (of_overlap, np.sqrt(squares))]
    shares = []
    for deviation, unit in parts if len(gram) != 2 else parts[:1]:
        variances = np.maximum(deviation**2 - deviation[0] ** 2, 0.0)
        shares.append(np.sqrt(np.mean(variances, axis=(1, 2))) / unit)
    return float(np.max(shares))


Mean = tuple[Float[np.ndarray, "t p known"], Float[np.ndarray, "t p p"]]
"""Mean overlaps with all known directions, and mean Gram matrices, after every step."""


@dataclass(frozen=True)
class Method:
    """A way to estimate deviations.

    ``rows(setting, count)`` -> how many of so many rows are affordable;
    ``estimate(setting, start, mean, given=, row=, rows=)`` -> those of row number ``row`` of
    ``rows``; ``given`` -> whether the start is that of every run, so that the batches alone make
    runs deviate.
    """

    name: str
    serves: Callable[[Setting], bool]
    rows: Callable[[Setting, int], int]
    estimate: Callable[..., Deviations]


def method_of(setting: Setting) -> Method:
    """The first method that serves a setting."""
    return next(method for method in METHODS if method.serves(setting))


# -- by the covariance of (M, Q) ------------------------------------------------------------------


@dataclass(frozen=True)
class Effort:
    """Columns of F, points of a difference, and points of S, the last two as powers of two.

    Columns are exact where (M, Q) has no more entries (64: p = 8), else random combinations: 64
    give a standard deviation to 1/sqrt(128), 9 %, 4 that of one of many rows, whose errors average
    out, to 35 %.  Most of the error of a difference's points falls out of it; fourth moments of the
    labels, which S needs, converge slowly.
    """

    columns: int
    log2_coarse: int
    log2_fine: int


LEAST = Effort(columns=4, log2_coarse=10, log2_fine=11)
MOST = Effort(columns=64, log2_coarse=12, log2_fine=17)


def effort(setting: Setting, rows: int, *, work: int = 2**22, log2_numbers: int = 22) -> Effort:
    """What each of many rows may take.

    ``work`` are points times neurons of all differences at all steps of all rows, some tenths of a
    second; ``log2_numbers`` points times entries of phi in S, as a power of two (errors are 3 % of
    a standard deviation for x1 + He2(x1) x2 at p = 8).
    """
    steps = max(setting.steps, 1)
    affordable = work // (2 * setting.p * steps * rows)
    columns = min(max(affordable // 2**LEAST.log2_coarse, LEAST.columns), MOST.columns)
    points = min(max(affordable // columns, 2**LEAST.log2_coarse), 2**MOST.log2_coarse)
    fine = log2_numbers - math.ceil(math.log2(rows * steps * entries(setting)))
    return Effort(
        columns=columns,
        log2_coarse=int(math.log2(points)),
        log2_fine=min(max(fine, LEAST.log2_fine), MOST.log2_fine),
    )


def affordable_rows(setting: Setting, count: int, *, most_work: int = 2**26) -> int:
    """Of so many rows those whose deviations take some seconds with the least effort."""
    a_row = 2 * LEAST.columns * 2**LEAST.log2_coarse * setting.p * max(setting.steps, 1)
    return min(count, most_work // a_row)


def deviations_by_covariance(
    setting: Setting, start: State, mean: Mean, *, given: bool, row: int = 0, rows: int = 1
) -> Deviations:
    """V' = J V J^T + S along the mean states, from V_0 = 0 where the start is given.

    docs/derivations/fluctuations.md, eq. (3).
    """
    overlap, gram = mean
    key, work = np.random.default_rng(row), effort(setting, rows)
    coarse, fine = (points_for(setting, row, k) for k in (work.log2_coarse, work.log2_fine))
    from_start = start_columns(setting)
    factor = fewer_columns(from_start[:0] if given else from_start, work.columns, key)
    exact = entries(setting) <= work.columns
    if not exact:  # every column one more deviation, of a run of its own
        missing = np.zeros((work.columns - len(factor), entries(setting)))
        factor = np.concatenate([factor, missing])
    variances = [np.sum(factor**2, axis=0)]
    for step in range(setting.steps):
        state = replace(start, rows=coordinates(overlap[step], gram[step]))
        batch = batch_columns(setting, state, fine, step=step, columns=work.columns, key=key)
        passed = passed_columns(setting, state, factor, quadrature=coarse, step=step)
        factor = passed + batch if not exact else np.concatenate([passed, batch])
        factor = fewer_columns(factor, work.columns, key)
        variances.append(np.sum(factor**2, axis=0))
    deviation = unpacked(np.sqrt(np.stack(variances)), setting.p, setting.known)
    return Deviations.of_state(deviation, gram)


# -- by runs at fewer samples ---------------------------------------------------------------------


def told_by_runs(setting: Setting) -> bool:
    """Whether there is no recursion for V: samples are seen again, or labels or updates fitted.

    With momentum the state has velocities, which V has not; of tangent gradients its noise is
    not derived.
    """
    plain = setting.update.kind.plain and setting.plain_gradient
    frozen = setting.readout_between.kind.frozen and plain
    return setting.seen_again or setting.deflate >= 0 or not frozen


def fewer_samples(setting: Setting, *, least: int = 2**11, room: int = 4) -> int:
    """Samples of a run at the same n/d: those of the setting at most.

    Deviations scale as n^(-1/2) from ``least`` samples on; d is ``room`` times what the basis of a
    run may come to span.
    """
    enough = math.ceil(room * deferred.dimensions_needed(setting) * setting.n / setting.d)
    return min(setting.n, max(least, enough))


def _with_fewer(setting: Setting, n: int) -> Setting:
    """The setting at fewer samples and the same n/d, every other number as it is held.

    Numbers that are given in terms of d do not follow it, but for a look ahead on a sample: its
    output changes by rho |x|^2, which keeps its size.  Rows of d numbers become coordinates.
    """
    d, batches = round(setting.d * n / setting.n), str(setting.batches)
    if setting.batches.kind.draws:
        batches = f"minibatch({round(n / seen_share(setting))})"
    held = ("p", "steps", "step_size", "readout_between", "update")
    fields: dict[str, Any] = {name: getattr(setting, name) for name in held}
    ahead, rows = setting.lookahead, setting.start_rows
    if ahead.kind.on_sample:
        ahead = LookaheadWord(ahead.name, *(rho * setting.d / d for rho in ahead.numbers))
    if rows is not None:
        span = typical_span(setting.target.r, setting.d, setting.inputs.known_directions)
        fields["start_rows"] = span.hold(rows.values)
    sizes = {"n": n, "d": d, "batches": batches, "lookahead": ahead}
    return setting.vary(**fields, **sizes, readout_n=0, test_n=0, spectra=0)


def deviations_by_runs(
    setting: Setting,
    start: State,
    mean: Mean,
    *,
    given: bool,
    row: int = 0,
    rows: int = 1,
    all_runs: int = 64,
    fewest_runs: int = 4,
) -> Deviations:
    """Standard deviations over runs at fewer samples and the same n/d, times sqrt(fewer/n).

    The runs are exact ones, from rows and biases that are ``given``, or from starts of their own:
    what start and batch add to (M, Q) is of order d^-1/2 and n^-1/2.  64 runs tell a standard
    deviation to 9 %, 4 to 41 %, whose errors average out over many rows.
    """
    n = fewer_samples(setting)
    # A seed apart from those that a simulation is given.
    small = _with_fewer(setting, n).vary(seed=2**62 + row)
    engine = deferred.DeferredEngine(small, MEMORY, Meter(0, None))
    overlaps, grams = [], []
    for run in range(max(all_runs // rows, fewest_runs)):
        engine.begin(run)
        engine.readout = start.readout
        if given:
            engine.motion, engine.biases = start.motion, start.biases
        states = [engine.layer]
        for step in range(setting.steps):
            engine.step(step)
            states.append(engine.layer)
        overlaps.append(np.stack([layer.overlap for layer in states]))
        grams.append(np.stack([layer.gram for layer in states]))
    norms = np.sqrt(np.diagonal(grams, axis1=2, axis2=3))
    scale = math.sqrt(n / setting.n)
    of_overlap, of_norms, of_gram = (
        scale * np.std(values, axis=0, ddof=1) for values in (overlaps, norms, grams)
    )
    largest = largest_share(mean[1], of_overlap, of_gram)
    return Deviations(of_overlap, of_norms, of_gram, largest)


METHODS = (
    Method(
        "runs at fewer samples",
        serves=told_by_runs,
        rows=lambda setting, count: count,
        estimate=deviations_by_runs,
    ),
    Method(
        "covariance of (M, Q)",
        serves=lambda setting: True,
        rows=affordable_rows,
        estimate=deviations_by_covariance,
    ),
)
