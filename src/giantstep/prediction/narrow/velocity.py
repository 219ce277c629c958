"""Means of rows and velocities over runs on fresh batches: the recursion of fresh.py with 2p rows.

With momentum m a step is linear in S = [W; V] and in the gradient, where F is what the update makes
of its direction a gradient + b V (``MomentumKind.weights``), k = 1 - decay, eta the step size:

    S' = T S + E gradient,    T = [[k, eta b F], [0, m]],    E = [eta a F; 1]

With G and H the means of the gradient and of its Gram matrix, from a given state at any n and d,

    E[S' u] = T S u + E G u    for a known direction u
    E[S' S'^T] = T S S^T T^T + T S G^T E^T + E G S^T T^T + E H E^T

for plain updates; others take F of the mean of their Gram matrix, as in fresh.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import RANK
from giantstep.gaussian.coordinates import root
from giantstep.prediction.narrow.state import State, coordinates
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class MeanGradient:
    """G, in coordinates that begin with those of the rows, and H."""

    mean: Float[np.ndarray, "p k"]
    square: Float[np.ndarray, "p p"]


def moved_with_velocity(setting: Setting, step: int, state: State, gradient: MeanGradient) -> State:
    """The mean state after a step.

    Velocities are known by their components along the basis of the rows and by a root of what they
    have outside.

    docs/derivations/momentum.md, eq. (2).
    """
    p, known, q = setting.p, setting.known, state.rows.shape[1]
    assert isinstance(state.velocity, np.ndarray)
    motion = state.motion.grown(max(q, state.velocity.shape[1]))
    vectors = np.concatenate([motion.rows, motion.velocity])
    mean = gradient.mean[:, :q]
    transfer, entry = _matrices(setting, step, motion.velocity, gradient, mean)
    passed = transfer @ vectors
    overlap = passed[:, :known] + entry @ mean[:, :known]
    cross = passed[:, :q] @ (entry @ mean).T
    gram = passed @ passed.T + cross + cross.T + entry @ gradient.square @ entry.T
    if setting.normalises_rows:
        lengths = np.concatenate([np.sqrt(np.diagonal(gram)[:p]), np.ones(p)])
        overlap, gram = overlap / lengths[:, None], gram / np.outer(lengths, lengths)
    rows = coordinates(overlap[:p], gram[:p, :p])
    outside = gram[p:, :p] - overlap[p:] @ overlap[:p].T
    along = np.concatenate([overlap[p:], outside @ np.linalg.pinv(rows[:, known:]).T], axis=1)
    remaining = root(gram[p:, p:] - along @ along.T, RANK)
    return replace(state, rows=rows, velocity=np.concatenate([along, remaining], axis=1))


def _matrices(
    setting: Setting,
    step: int,
    velocity: Float[np.ndarray, "p k"],
    gradient: MeanGradient,
    mean: Float[np.ndarray, "p q"],
) -> tuple[Float[np.ndarray, "m m"], Float[np.ndarray, "m p"]]:
    """T and E; ``mean`` is G in the coordinates of the rows."""
    eta, momentum, identity = setting.step_size[step], setting.momentum, np.eye(setting.p)
    a, b = momentum.kind.weights(momentum.share)
    factor = identity
    if not setting.update.kind.plain:
        cross = mean @ velocity[:, : mean.shape[1]].T
        square = a**2 * gradient.square + a * b * (cross + cross.T)
        factor = setting.update.factor(square + b**2 * velocity @ velocity.T)
    transfer = np.block(
        [
            [(1.0 - setting.decay) * identity, eta * b * factor],
            [np.zeros_like(identity), momentum.share * identity],
        ]
    )
    return transfer, np.concatenate([eta * a * factor, identity])
