"""Linear width, neuron by neuron: mean overlaps and Gram matrix given the readout, and errors.

Row i is kept w_i + sum_k along_k v_k + noise, functions of its entry of the readout
(giantstep.prediction.wide.row_law).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.batch_limits import BATCH_NOISE
from giantstep.prediction.wide.drawn_batches import laws_of_batches
from giantstep.prediction.wide.limits import AT_MOST_FOUR
from giantstep.prediction.wide.losses import Losses, best_losses, loss_curve
from giantstep.prediction.wide.network import TYPICAL, ReadoutStatistics
from giantstep.prediction.wide.part_limits import refuse_row_noise
from giantstep.prediction.wide.quantities import fitted_on_batch, noise_of_steps
from giantstep.prediction.wide.row_law import RowLaw, laws_of_runs
from giantstep.prediction.wide.seen_inputs import seen_inputs
from giantstep.prediction.wide.span_limits import ALONG, EVEN_NOISE, ONE_DIRECTION
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import keeps_gram


@dataclass(frozen=True)
class Rows:
    """Mean overlaps and Gram matrix after a step, given the readout, and the span of the rows.

    ``gram`` is None where the record has none.  ``span`` -> R with R^T R the projections of the
    target directions on the rows, None where it is not known.  ``deviation`` -> the standard
    deviation over runs of overlaps with the target directions, None where the leading order makes a
    variance negative; ``shared`` -> its part that all rows share, with the sign of the row.
    """

    overlap: Float[np.ndarray, "p r"]
    norms: Float[np.ndarray, " p"]
    gram: Float[np.ndarray, "p p"] | None
    deviation: Float[np.ndarray, "p r"] | None
    shared: Float[np.ndarray, "p r"]
    span: Float[np.ndarray, "r r"] | None = None


def rows_of_runs(setting: Setting, readouts: Float[np.ndarray, "runs p"]) -> list[Rows]:
    """The rows after the setting's last step for the readout of every run, leading order in 1/d."""
    gram = keeps_gram(setting)
    return [_rows(setting, law, with_gram=gram) for law in laws_of_runs(setting, readouts)]


def rows_of_batches(setting: Setting, readouts: Float[np.ndarray, "rows p"]) -> list[Rows]:
    """The rows after one step on a drawn batch for each of the readouts, without Gram matrices."""
    return [_rows(setting, law, with_gram=False) for law in laws_of_batches(setting, readouts)]


def _rows(setting: Setting, law: RowLaw, *, with_gram: bool) -> Rows:
    """Means over starts and batches: rows are independent but for the directions and pairs."""
    paired = setting.start.kind.paired
    gram = None
    if with_gram:
        gram = law.along @ law.along.T + np.diag(law.random_square + law.longer)
        if paired:
            first, second = np.split(np.arange(setting.p), 2)
            shared = law.kept[first] * law.kept[second] + law.noise[first] * law.noise[second]
            gram[first, second] += shared
            gram[second, first] += shared
    norms = np.sqrt(law.square_length)
    uneven = len(seen_inputs(setting).shares) > 1
    span = None if setting.steps > 1 or uneven else _span(setting, law)
    variance = law.along_target.variance / setting.d
    deviation = np.sqrt(variance) if np.all(variance >= 0.0) else None
    shared = np.sqrt(law.along_target.shared_variance / setting.d) * np.sign(law.along[:, :1])
    return Rows(law.target, norms, gram, deviation, shared, span)


def _span(setting: Setting, law: RowLaw) -> Float[np.ndarray, "r r"] | None:
    """``span_of_rows`` after at most one step, None where the noise is too uneven for it."""
    direction, along = law.overlap[0], law.along[:, 0]
    if not setting.start.kind.paired:
        if setting.p < setting.d and not EVEN_NOISE.allows(float(np.mean(law.noise**2))):
            return None
        return span_of_rows(law.random_square, along, direction, setting.d)
    cosine = float(np.linalg.norm(direction))
    even = ONE_DIRECTION.allows(float(len(direction))) and ALONG.allows(cosine)
    if setting.steps == 1 and not even:
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


def readout_losses(
    setting: Setting, statistics: ReadoutStatistics | None = None, near: float | None = None
) -> Losses:
    """Train and test error of the readout; of several penalties, or for ``cv``, the best one.

    ``near`` the penalty that is best for another run.
    """
    refuse_beyond(AT_MOST_FOUR, setting)
    refuse_row_noise(setting, statistics or TYPICAL)
    if fitted_on_batch(setting):
        BATCH_NOISE.refuse(noise_of_steps(setting, statistics or TYPICAL), setting)
    if setting.cross_validates:
        return best_losses(setting, statistics, near)
    # Downward: each fixed point starts from the one at a larger penalty.
    curve = loss_curve(setting, sorted(setting.penalties, reverse=True), statistics=statistics)
    return min(curve, key=lambda losses: losses.left_out)
