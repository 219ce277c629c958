"""Giant steps on batches that are seen more than once: the limit n, d -> infinity at fixed n/d.

The effective process is the deferred engine with Bartlett's matrix replaced by its limit
(``LimitBatch``), run on K low-discrepancy paths in place of the N samples of a set
(docs/derivations/fluctuations.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from giantstep.prediction.narrow.batch import Batch, LimitBatch, NoisyBatch, seen_share
from giantstep.prediction.narrow.evolution import Evolution, Snapshot, evolution_of
from giantstep.prediction.narrow.noise import Fluctuations
from giantstep.prediction.narrow.points import Normals, Points, halved_normals
from giantstep.prediction.narrow.state import State, coordinates
from giantstep.problem.batches import set_of, set_size, uses
from giantstep.problem.setting import Setting


def path_dimensions(setting: Setting) -> int:
    """Normals a path takes: its start coordinates, its noise, and p (+1) for every step."""
    revealed = setting.p * setting.lookahead.kind.looks
    a_step = revealed + (setting.deflate == 1) + (seen_share(setting) < 1)
    return setting.target.r + setting.moving + 1 + a_step * uses(setting.batches, setting.steps)


def path_normals(setting: Setting, seed: int, log2_points: int) -> Normals:
    """Normals of the paths of each set of samples, by its number."""
    sets = set_of(setting.batches, max(setting.steps - 1, 0)) + 1
    return halved_normals(path_dimensions(setting), seed, log2_points, sets)


def seen_again_states(
    setting: Setting, start: State, sets: Normals, noise: Fluctuations | None = None
) -> Iterator[Snapshot]:
    """States of a run on samples seen more than once; without noise in the limit n, d -> infinity.

    A reused batch is one set of n samples; repeat(k) takes a new one after every k steps, on which
    the rows are known by their overlaps and Gram matrix alone; of minibatch(N) a step sees the
    share n/N of the set.
    """
    state, number, gradient = start, -1, None
    for step in range(setting.steps + 1):
        # Samples that are new see the rows in any coordinates.
        compact = _compact(setting, state, noise)
        if step < setting.steps and set_of(setting.batches, step) != number:
            number = set_of(setting.batches, step)
            normals = sets(number)
            state = state if step == 0 else compact
            batch = _path_batch(setting, normals, state.rows.shape[1], noise)
        yield Snapshot(compact, _new_samples(normals, compact.rows.shape[1]), gradient)
        if step < setting.steps:
            gradients = batch.step(state)
            state = gradients.moved(setting, state, setting.step_size[step])
            gradient = gradients.rows


def seen_again_evolution(setting: Setting, start: State, sets: Normals) -> Evolution:
    """Overlaps, Gram matrices, cosines and errors in the limit n, d -> infinity at fixed n/d.

    docs/theory/index.md, eq. (6).
    """
    return evolution_of(setting, seen_again_states(setting, start, sets))


def _compact(setting: Setting, state: State, noise: Fluctuations | None) -> State:
    """The state in as few coordinates as may be, of (M, Q) by Cholesky or of a drawn run by QR."""
    r = setting.target.r
    if noise is not None:
        return state.compressed(r)
    motion = state.motion.grown(state.rows.shape[1])
    if motion.velocity is None:
        return replace(state, rows=coordinates(motion.rows[:, :r], motion.rows @ motion.rows.T))
    vectors = np.concatenate([motion.rows, motion.velocity])
    rows, velocity = np.split(coordinates(vectors[:, :r], vectors @ vectors.T), 2)
    return replace(state, rows=rows, velocity=velocity)


def _path_batch(
    setting: Setting, normals: Float[np.ndarray, "n k"], q: int, noise: Fluctuations | None
) -> Batch:
    """The paths of a set, their first q normals along known directions, then their label noise."""
    paths = replace(_new_samples(normals, q), noise=normals[:, q])
    if noise is None:
        return LimitBatch(setting, paths, normals[:, q + 1 :])
    paths = noise.batch(paths, set_size(setting.batches, setting.n))
    return NoisyBatch(setting, paths, normals[:, q + 1 :], noise)


def _new_samples(normals: Float[np.ndarray, "n k"], q: int) -> Points:
    """Points for samples that are new, which see rows in any q coordinates."""
    weights, noise = np.full(len(normals), 1.0 / len(normals)), normals[:, -1]
    return Points(normals[:, :q], noise, noise, weights)
