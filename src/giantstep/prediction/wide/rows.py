"""Linear width, neuron by neuron: mean overlaps and Gram matrix given the readout, and errors.

After one step row i is (1 + tilt a_i) w_i + cu a_i v + noise of squared length ds a_i^2, |a| = 1
and v the learned direction (giantstep.prediction.wide.step).  After two, R(u_i)/sqrt(p) takes the
place of cu a_i v, u_i = sqrt(p) a_i (giantstep.prediction.wide.second_kernel).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.losses import Losses, loss_curve
from giantstep.prediction.wide.second_kernel import second_update
from giantstep.prediction.wide.second_samples import Network
from giantstep.prediction.wide.second_samples import objection as two_step_objection
from giantstep.prediction.wide.step import (
    learned_step,
    noise_objection,
    readout_norm,
    refuse_if,
)
from giantstep.prediction.wide.step import objection as step_objection
from giantstep.prediction.wide.system import readout_objection
from giantstep.problem.setting import Setting
from giantstep.problem.starts import STARTS
from giantstep.records.trajectory import keeps_gram

SHARE = (0.05, 20.0)
"""Ratios of p and n to d that count as proportional: both must lie between."""

RIDGES = np.logspace(-6, 3, 28)
"""Penalties, in units of the mean eigenvalue of the features, among which ``cv`` finds the best."""

EVEN_NOISE = 0.05
"""Square length that the noise of a step adds to a row, in that of the row, up to which the span of
the rows is known: the noise is larger along directions that the label depends on, and moves squared
cosines by 11 % at 0.24 and 29 % at 3.6 (d = 256, p = d/5)."""


def objection(setting: Setting) -> str | None:
    """Why the theory of linear width does not cover a setting, None if it does.

    The readout is predicted after at most one step, and objects only where there is one.
    """
    predicted = setting.readout_n > 0 and setting.steps < 2
    return rows_objection(setting) or (readout_objection(setting) if predicted else None)


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


def rows_after(setting: Setting, readout: Float[np.ndarray, " p"]) -> Rows:
    """The rows after the setting's last step, leading order in 1/d."""
    p, r = setting.p, setting.target.r
    a = readout / readout_norm(setting)
    if setting.steps == 2:
        return _after_two(setting, a)
    kept, apart, shift, direction = np.ones(p), np.zeros(p), 0.0, np.zeros(r)
    if setting.steps == 1:
        step = learned_step(setting, offset=float(np.sum(a)))
        kept, apart = 1.0 + step.tilt * a, np.sqrt(step.lengthening) * a
        shift, direction = step.shift, step.overlap[0]
    squares, along = kept**2 + apart**2, shift * a
    uneven = p < setting.d and float(np.mean(apart**2)) > EVEN_NOISE
    gram = shift**2 * np.outer(a, a) + np.diag(squares) if keeps_gram(setting) else None
    if STARTS[setting.start].paired:
        first, second = np.arange(p // 2), np.arange(p // 2, p)
        shared = kept[first] * kept[second] + apart[first] * apart[second]
        if gram is not None:
            gram[first, second] += shared
            gram[second, first] += shared
        # Noise is all that the second row of a pair has.
        uneven = setting.steps == 1 and r > 1
        # Turned by 45 degrees the pair is sqrt 2 w and, beside it, sqrt 2 (shift a v + apart).
        squares = np.concatenate([np.full(p // 2, 2.0), 2.0 * apart[first] ** 2])
        along = np.concatenate([np.zeros(p // 2), np.sqrt(2.0) * along[first]])
    return Rows(
        noise=kept**2 + apart**2,
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


def _after_two(setting: Setting, a: Float[np.ndarray, " p"]) -> Rows:
    root = np.sqrt(setting.p)
    u = root * a
    network = Network(setting, float(np.sum(u)) / root)
    update = second_update(network)
    nodes = network.readout[0]
    overlap = _between(nodes, update.target, u) / root
    kernel = _between(nodes, _between(nodes, update.kernel, u).T, u) / setting.p
    diagonal = _between(nodes, update.kept**2 + update.spread, u)
    gram = 0.5 * (kernel + kernel.T) + np.diag(diagonal)
    return Rows(overlap, np.sqrt(np.diagonal(gram)), gram)


def _between(
    nodes: Float[np.ndarray, " q"], values: Float[np.ndarray, "q *k"], u: Float[np.ndarray, " p"]
) -> Float[np.ndarray, "p *k"]:
    """Values at u of a smooth function given at the nodes; two nodes are the signs themselves."""
    if len(nodes) == 2:
        return values[(u > nodes.mean()).astype(int)]
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(nodes, values)(np.clip(u, nodes[0], nodes[-1])))


def readout_losses(setting: Setting) -> Losses:
    """Train and test error of the readout; of several penalties, or for ``cv``, the best one."""
    refuse_if(step_objection(setting) or noise_objection(setting))
    if setting.ridge == "cv":
        mean_eigenvalue = setting.scale**2 * setting.activation.moments.square
        penalties = RIDGES * mean_eigenvalue
    else:
        penalties = np.array(setting.ridge)
    # Downward: each fixed point starts from the one at a larger penalty.
    curve = loss_curve(setting, sorted(penalties.tolist(), reverse=True))
    return min(curve, key=lambda losses: losses.test)
