"""Linear width, neuron by neuron: mean overlaps and Gram matrix given the readout, and errors.

After one step row i is (1 + tilt a_i) w_i + cu a_i v + noise of squared length ds a_i^2, |a| = 1
and v the learned direction (giantstep.prediction.wide.step).  After two, R(u_i)/sqrt(p) takes the
place of cu a_i v, u_i = sqrt(p) a_i (giantstep.prediction.wide.second_kernel).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.limits import (
    ALONG,
    AT_MOST_TWO,
    EVEN_NOISE,
    MOVED,
    NOISE,
    ONE_DIRECTION,
)
from giantstep.prediction.wide.losses import Losses, best_losses, loss_curve
from giantstep.prediction.wide.second_directions import between, directions_of
from giantstep.prediction.wide.second_kernel import RowUpdate
from giantstep.prediction.wide.second_runs import rows_moved, updates_of_runs
from giantstep.prediction.wide.second_samples import Network
from giantstep.prediction.wide.second_types import noise_added
from giantstep.prediction.wide.step import (
    TYPICAL,
    Draw,
    learned_step,
)
from giantstep.problem.setting import Setting
from giantstep.problem.starts import STARTS
from giantstep.records.trajectory import keeps_gram

RIDGES = np.logspace(-6, 3, 28)
"""Penalties, in units of the mean eigenvalue of the features, among which ``cv`` finds the best."""


@dataclass(frozen=True)
class Rows:
    """Mean overlaps and Gram matrix after a step, given the readout, and the span of the rows.

    ``gram`` is None where the record has none.  ``span`` -> R with R^T R the projections of the
    target directions on the rows, ``noise`` -> the squared lengths of what is random in the rows;
    None where they are not known.
    """

    overlap: Float[np.ndarray, "p r"]
    norms: Float[np.ndarray, " p"]
    gram: Float[np.ndarray, "p p"] | None
    span: Float[np.ndarray, "r r"] | None = None
    noise: Float[np.ndarray, " p"] | None = None


def rows_after(setting: Setting, readout: Float[np.ndarray, " p"]) -> Rows:
    """The rows after the setting's last step, leading order in 1/d."""
    p, r = setting.p, setting.target.r
    if setting.steps == 2:
        return rows_of_runs(setting, readout[None])[0]
    a, draw = readout / np.linalg.norm(readout), Draw.of(setting, readout)
    kept, apart, shift, direction = np.ones(p), np.zeros(p), 0.0, np.zeros(r)
    if setting.steps == 1:
        step = learned_step(setting, draw=draw)
        kept, apart = 1.0 + step.tilt * a, np.sqrt(step.lengthening) * a
        shift, direction = step.shift, step.overlap[0]
    squares, along = kept**2 + apart**2, shift * a
    uneven = p < setting.d and not EVEN_NOISE.allows(float(np.mean(apart**2)))
    gram = shift**2 * np.outer(a, a) + np.diag(squares) if keeps_gram(setting) else None
    if STARTS[setting.start].paired:
        first, second = np.arange(p // 2), np.arange(p // 2, p)
        shared = kept[first] * kept[second] + apart[first] * apart[second]
        if gram is not None:
            gram[first, second] += shared
            gram[second, first] += shared
        even = ONE_DIRECTION.allows(float(r)) and ALONG.allows(float(np.linalg.norm(direction)))
        uneven = setting.steps == 1 and not even
        # Turned by 45 degrees the pair is sqrt 2 w and, beside it, sqrt 2 (shift a v + apart).
        squares = np.concatenate([np.full(p // 2, 2.0), 2.0 * apart[first] ** 2])
        along = np.concatenate([np.zeros(p // 2), np.sqrt(2.0) * along[first]])
    # What the learned direction has outside the target is as random as the rest of a row.
    aside = (shift * a) ** 2 * (1.0 - float(direction @ direction))
    return Rows(
        noise=kept**2 + apart**2 + aside,
        overlap=shift * np.outer(a, direction),
        norms=np.sqrt(kept**2 + apart**2 + (shift * a) ** 2),
        gram=gram,
        span=None if uneven else span_of_rows(squares, along, direction, setting.d),
    )


def span_of_rows(
    squares: Float[np.ndarray, " p"],
    along: Float[np.ndarray, " p"],
    direction: Float[np.ndarray, " r"],
    d: int,
) -> Float[np.ndarray, "r r"]:
    """R with R^T R = (p/d) (1 - c c^T) + (s/(1+s)) c c^T, c the learned direction's overlaps.

    Rows y_i v + sqrt(k_i) times independent vectors N(0, I/d): squares -> k, along -> y less its
    random part of variance k_i/d.  Random rows hold p/d of any direction; of v they hold s/(1+s),
    s = (p/d + sum_i y_i^2/k_i)/(1 - p/d), for W W^T is (W W^T without v) + y y^T, and p independent
    rows have the inverse Gram matrix diag(1/k)/(1 - p/d).
    """
    there = squares > 0
    share = float(np.sum(there)) / d
    r = len(direction)
    if share >= 1.0:
        return np.eye(r)
    strength = (share + float(np.sum(along[there] ** 2 / squares[there]))) / (1.0 - share)
    held = share * np.eye(r) + (strength / (1.0 + strength) - share) * np.outer(
        direction, direction
    )
    values, vectors = np.linalg.eigh(held)
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


def rows_of_runs(setting: Setting, readouts: Float[np.ndarray, "rows p"]) -> list[Rows]:
    """``rows_after`` for the readout of every run; what two steps share is computed once."""
    if setting.steps < 2:
        return [rows_after(setting, readout) for readout in readouts]
    u = np.sqrt(setting.p) * readouts / np.linalg.norm(readouts, axis=1, keepdims=True)
    updates = updates_of_runs(setting, readouts)
    MOVED.refuse(rows_moved(setting, updates[0]), setting)
    network = Network(setting)
    return [_after_two(network, update, run) for update, run in zip(updates, u, strict=True)]


def _after_two(network: Network, update: RowUpdate, u: Float[np.ndarray, " p"]) -> Rows:
    nodes, weights = network.readout
    along = between(nodes, directions_of(update, weights).along, u)
    kept = between(nodes, update.kept, u)
    # A spline through squares may fall below zero between the nodes.
    apart = np.sign(u) * np.sqrt(np.maximum(between(nodes, update.spread, u), 0.0))
    overlap = between(nodes, update.target, u) / np.sqrt(len(u))
    squares = kept**2 + apart**2
    norms = np.sqrt(squares + np.sum(along**2, axis=1) / len(u))
    if not keeps_gram(network.setting):
        return Rows(overlap, norms, None)
    gram = along @ along.T / len(u) + np.diag(squares)
    if network.paired:
        first, second = np.arange(len(u) // 2), np.arange(len(u) // 2, len(u))
        shared = kept[first] * kept[second] + apart[first] * apart[second]
        gram[first, second] += shared
        gram[second, first] += shared
    return Rows(overlap, norms, gram)


def noise_of_steps(setting: Setting, draw: Draw = TYPICAL) -> float | None:
    """Square length that the noise of the steps adds to the rows, in what they keep of theirs."""
    if setting.steps == 0:
        return None
    if setting.steps == 1:
        return learned_step(setting, draw=draw).lengthening / setting.p
    refuse_beyond(AT_MOST_TWO, setting)
    return noise_added(setting)


def readout_losses(setting: Setting, draw: Draw | None = None, near: float | None = None) -> Losses:
    """Train and test error of the readout; of several penalties, or for ``cv``, the best one.

    ``near`` the penalty that is best for another draw.
    """
    refuse_beyond(AT_MOST_TWO, setting)
    NOISE.refuse(noise_of_steps(setting, draw or TYPICAL), setting)
    if setting.ridge == "cv":
        penalties = RIDGES * setting.scale**2 * setting.activation.moments.square
        return best_losses(setting, penalties, draw, near)
    # Downward: each fixed point starts from the one at a larger penalty.
    curve = loss_curve(setting, sorted(setting.ridge, reverse=True), draw=draw)
    return min(curve, key=lambda losses: losses.test)
