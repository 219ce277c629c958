"""Linear width, neuron by neuron: mean overlaps and Gram matrix given the readout, and errors.

Row i is kept w_i + sum_k along_k v_k + noise, functions of its entry of the readout
(giantstep.prediction.wide.row_law).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.losses import Losses, best_losses, loss_curve
from giantstep.prediction.wide.network import TYPICAL, ReadoutStatistics
from giantstep.prediction.wide.row_law import RowLaw, laws_of_runs
from giantstep.prediction.wide.samples import objection as two_step_objection
from giantstep.prediction.wide.step import MOST_LENGTHENING, noise_objection, refuse_if
from giantstep.prediction.wide.step import objection as step_objection
from giantstep.prediction.wide.system import readout_objection
from giantstep.prediction.wide.update import noise_added
from giantstep.problem.setting import Setting
from giantstep.problem.starts import STARTS
from giantstep.records.trajectory import keeps_gram

SHARE = (0.05, 20.0)
"""Ratios of p and n to d that count as proportional: both must lie between."""

RIDGES = np.logspace(-6, 3, 28)
"""Penalties, in units of the mean eigenvalue of the features, among which ``cv`` finds the best."""


def objection(setting: Setting) -> str | None:
    """Why the theory of linear width does not cover a setting, None if it does.

    The readout objects only where there is one.
    """
    return rows_objection(setting) or (readout_objection(setting) if setting.readout_n else None)


def rows_objection(setting: Setting) -> str | None:
    """Why the theory of linear width does not cover the rows of W, None if it does."""
    for name in ("p", "n"):
        ratio = getattr(setting, name) / setting.d
        if not SHARE[0] <= ratio <= SHARE[1]:
            return f"{name} must be between {SHARE[0]:g} d and {SHARE[1]:g} d, got {ratio:.3g} d"
    if setting.steps > 2:
        return f"steps must be at most 2, got {setting.steps}"
    return two_step_objection(setting) if setting.steps == 2 else step_objection(setting)


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


def rows_of_runs(setting: Setting, readouts: Float[np.ndarray, "runs p"]) -> list[Rows]:
    """The rows after the setting's last step for the readout of every run, leading order in 1/d."""
    laws = laws_of_runs(setting, readouts)
    if setting.steps == 2:
        refuse_if(move_objection(setting, laws[0]))
    return [_rows(setting, law) for law in laws]


def _rows(setting: Setting, law: RowLaw) -> Rows:
    """Means over starts and batches: rows are independent but for the directions and pairs."""
    paired = STARTS[setting.start].paired
    gram = None
    if keeps_gram(setting):
        gram = law.along @ law.along.T + np.diag(law.random_square)
        if paired:
            first, second = np.split(np.arange(setting.p), 2)
            shared = law.kept[first] * law.kept[second] + law.noise[first] * law.noise[second]
            gram[first, second] += shared
            gram[second, first] += shared
    norms = np.sqrt(law.random_square + np.sum(law.along**2, axis=1))
    if setting.steps == 2:
        return Rows(law.target, norms, gram)
    # What the learned direction has outside the target is as random as the row's start.
    sine_square = 1.0 - float(np.sum(law.overlap**2))
    random = law.random_square + law.along[:, 0] ** 2 * sine_square
    return Rows(law.target, norms, gram, _span(setting, law), random)


def _span(
    setting: Setting, law: RowLaw, along_target: float = 0.5, even_noise: float = 0.05
) -> Float[np.ndarray, "r r"] | None:
    """``span_of_rows`` after at most one step, None where the noise is too uneven for it.

    Noise is larger along directions that the label depends on.  It moves squared cosines by 11 % at
    a squared length of 0.24 and 29 % at 3.6 in that of a row (d = 256, p = d/5).
    """
    direction, along = law.overlap[0], law.along[:, 0]
    if not STARTS[setting.start].paired:
        if setting.p < setting.d and float(np.mean(law.noise**2)) > even_noise:
            return None
        return span_of_rows(law.random_square, along, direction, setting.d)
    # Noise is all that the second row of a pair has: even only where the label depends on the
    # learned direction alone.  Squared cosines agree at a cosine of 0.75 with it, and were 4 to 5
    # standard errors off at 0.
    alone = len(direction) == 1 and float(np.linalg.norm(direction)) >= along_target
    if setting.steps == 1 and not alone:
        return None
    # Turned by 45 degrees the pair is sqrt 2 w and, beside it, sqrt 2 (along v + noise).
    half = setting.p // 2
    squares = np.concatenate([np.full(half, 2.0), 2.0 * law.noise[:half] ** 2])
    turned = np.concatenate([np.zeros(half), math.sqrt(2.0) * along[:half]])
    return span_of_rows(squares, turned, direction, setting.d)


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


MOST_MOVED = 30.0
"""Lengths by which rows may move.  Beyond, the network's answer to the first step rules the second,
and few samples rule it: square lengths were 20 to 50 times those predicted (quadratic neurons)."""


def move_objection(setting: Setting, law: RowLaw) -> str | None:
    """Why two steps are too large for any theory of them, in one sentence, or None."""
    moved = math.sqrt(float(np.mean(np.sum(law.along**2, axis=1))))
    if moved <= MOST_MOVED:
        return None
    return f"two steps must move rows by at most {MOST_MOVED:g} times their length, got {moved:.3g}"


def two_step_noise_objection(setting: Setting) -> str | None:
    """Why features after two steps are not those of independent rows, in one sentence, or None."""
    added = noise_added(setting)
    if added <= MOST_LENGTHENING:
        return None
    return (
        f"the noise of the steps must add at most {MOST_LENGTHENING:g} to the square length of a "
        f"row, got {added:.3g}"
    )


def errors_objection(setting: Setting, statistics: ReadoutStatistics = TYPICAL) -> str | None:
    """Why features after the steps are not covered, None if they are."""
    if setting.steps == 2:
        return two_step_objection(setting) or two_step_noise_objection(setting)
    return step_objection(setting) or noise_objection(setting, statistics)


def readout_losses(
    setting: Setting, statistics: ReadoutStatistics | None = None, near: float | None = None
) -> Losses:
    """Train and test error of the readout; of several penalties, or for ``cv``, the best one.

    ``near`` the penalty that is best for another run.
    """
    refuse_if(errors_objection(setting, statistics or TYPICAL))
    if setting.ridge == "cv":
        penalties = RIDGES * setting.scale**2 * setting.activation.moments.square
        return best_losses(setting, penalties, statistics, near)
    # Downward: each fixed point starts from the one at a larger penalty.
    curve = loss_curve(setting, sorted(setting.ridge, reverse=True), statistics=statistics)
    return min(curve, key=lambda losses: losses.test)
