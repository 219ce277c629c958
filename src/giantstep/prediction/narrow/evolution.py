"""What a prediction keeps of a network after each of its steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.prediction.narrow.points import Points
from giantstep.prediction.narrow.state import State, labels_at, squared_error
from giantstep.problem.network import network_output
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Evolution:
    """Steps 0..T of one network: overlaps M with all known directions, Gram matrices Q = W W^T.

    ``gradient_cosine`` are cosines of each step's gradients with the target directions,
    ``network_error`` is the mean squared error of the network with the readout of its steps.
    """

    overlap: Float[np.ndarray, "t p known"]
    gram: Float[np.ndarray, "t p p"]
    gradient_cosine: Float[np.ndarray, "s p r"]
    network_error: Float[np.ndarray, " t"]


@dataclass(frozen=True)
class Snapshot:
    """A network after a step: its state, points for new samples, and the gradient of the step.

    The gradient has the coordinates of the rows and may have more; at the start there is none.
    ``rows`` are those of the network along the target and other directions, where new samples see
    them in coordinates of another length.
    """

    state: State
    points: Points
    gradient: Float[np.ndarray, "p k"] | None = None
    rows: Float[np.ndarray, "p k"] | None = None


def direction_cosines(
    along: Float[np.ndarray, "*k p r"], lengths: Float[np.ndarray, "*k p"]
) -> Float[np.ndarray, "*k p r"]:
    """Components along the target over lengths; 0, as in a simulation, where there is no length."""
    sizes = lengths[..., None]
    return np.divide(along, sizes, where=sizes > 0, out=np.zeros_like(along))


def evolution_of(
    setting: Setting, snapshots: Iterable[Snapshot], most_points: int | None = None
) -> Evolution:
    """The record of a run whose states are known one after the other.

    most_points -> points at most that errors of the network are averaged over.
    """
    r = setting.target.r
    overlaps, grams, cosines, errors = [], [], [np.zeros((0, setting.p, r))], []
    for snapshot in snapshots:
        rows, gradient = snapshot.rows, snapshot.gradient
        rows = snapshot.state.rows if rows is None else rows
        overlaps.append(rows[:, : setting.known])
        grams.append(rows @ rows.T)
        points = snapshot.points if most_points is None else snapshot.points.leading(most_points)
        errors.append(_network_error(setting, snapshot.state, points))
        if gradient is not None:
            lengths = np.linalg.norm(gradient, axis=1)
            cosines.append(direction_cosines(gradient[:, :r], lengths)[None])
    return Evolution(np.stack(overlaps), np.stack(grams), np.concatenate(cosines), np.array(errors))


def _network_error(setting: Setting, state: State, points: Points) -> float:
    """E (y - s_p sum_k a_k sigma(h_k))^2 on the points."""
    features = np.asarray(setting.activation(state.preactivations(points.x)))
    output = network_output(setting, features, state.readout)
    labels = labels_at(setting, points.x, points.noise)
    return squared_error(setting, labels, output, points.weights)
