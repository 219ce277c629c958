"""G_i = E[g_i x], the mean gradient of a neuron, from few numbers instead of q coordinates.

Stein's lemma says where it can point.  With g_i = u_i (y - f), u_i = s_p a_i sigma'(h_i),
h_i = <w_i, x> + b_i, f = s_p sum_k a_k sigma(h_k), and y a function of the target's coordinates z:

    E[u_i y x] = E[u_i y z] W* + E[u_i y <v_i, x>]/|v_i|^2 v_i,       v_i = w_i outside the target
    E[u_i f x] = s_p^2 a_i sum_k a_k E[sigma'(h_k) sigma'(h_i)] w_k + gamma_i w_i,

gamma_i so that the product with w_i is E[u_i f <w_i, x>].  What the labels' part needs are averages
over z of y times S(c) = E_t sigma'(c + |v_i| t) and D(c) = E_t t sigma'(c + |v_i| t),
c = <m_i, z> + b_i: smooth functions of one variable, tabulated, under a rule in r coordinates.
E[g_i x] on N points, coordinate by coordinate, has noise along all q of them instead, which exceeds
that of n samples as soon as N < n.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.cubature import kinked_rule, smooth_rule
from giantstep.gaussian.kinks import kink_planes
from giantstep.gaussian.moments import Nonlinearity, Piecewise, feature_moments
from giantstep.gaussian.points import normal_sets
from giantstep.prediction.narrow.points import Points
from giantstep.prediction.narrow.state import State, labels_at
from giantstep.problem.network import network_output
from giantstep.problem.setting import Setting

RULES = {1: (0.125, 24), 2: (0.25, 12), 3: (0.5, 8)}
"""By the number r of target directions: spacing of a grid, and nodes a panel between kinks, for
functions as smooth as a row with half of its length outside the target makes them."""


def stein_applies(setting: Setting) -> bool:
    """Whether the residual is y - f or y at the rows themselves, and the inputs N(0, I)."""
    linear = setting.loss.kind.plain or setting.labels_only
    return linear and setting.inputs.taken_for_gaussian and not setting.lookahead.numbers


def mean_gradient(
    setting: Setting,
    state: State,
    points: Points,
    inputs: Float[np.ndarray, "p n"],
    g: Float[np.ndarray, "p n"],
) -> Float[np.ndarray, "p q"]:
    """E[g x], in the coordinates of the rows; ``inputs`` of neurons and ``g`` on the points.

    docs/derivations/drawn_runs.md, eqs. (1) and (2).
    """
    if not stein_applies(setting):
        return (g * points.weights) @ points.x
    mean = _of_labels(setting, state)
    if setting.labels_only:
        return mean
    return mean - _of_network(setting, state, inputs, points.weights)


def _of_labels(setting: Setting, state: State) -> Float[np.ndarray, "p q"]:
    """E[u y x].

    docs/derivations/drawn_runs.md, eq. (1).
    """
    r, rows = setting.target.r, state.rows
    z, weighted = _label_rule(setting)
    centres = rows[:, :r] @ z.T + state.biases[:, None]
    slope = Piecewise(setting.activation.derivative, setting.activation.kinks)
    level, tilt, lengths = smoothed(slope, centres, np.linalg.norm(rows[:, r:], axis=1))
    factors = np.divide(tilt @ weighted, lengths, where=lengths > 0, out=np.zeros(setting.p))
    mean = np.concatenate([(level * weighted) @ z, factors[:, None] * rows[:, r:]], axis=1)
    return (setting.scale * state.readout)[:, None] * mean


def _of_network(
    setting: Setting,
    state: State,
    inputs: Float[np.ndarray, "p n"],
    weights: Float[np.ndarray, " n"],
) -> Float[np.ndarray, "p q"]:
    """E[u f x], ``inputs`` <w_i, x> + b_i on points of these weights.

    docs/derivations/drawn_runs.md, eq. (2).
    """
    rows = state.rows
    features, slopes = (
        np.asarray(part, dtype=float) for part in setting.activation.with_slope(inputs)
    )
    output = network_output(setting, features, state.readout)
    sizes = setting.scale * state.readout
    weighted = sizes[:, None] * slopes * weights
    # s_p^2 a_i sum_k a_k E[sigma'_k sigma'_i] w_k, and what is missing along w_i
    across = (weighted @ slopes.T * sizes) @ rows
    # E[u_i f <w_i, x>], <w_i, x> = h_i - b_i
    measured = np.einsum("in,n,in->i", weighted, output, inputs)
    measured -= state.biases * (weighted @ output)
    squares = np.sum(rows**2, axis=1)
    missing = measured - np.sum(across * rows, axis=1)
    gamma = np.divide(missing, squares, where=squares > 0, out=np.zeros(setting.p))
    return across + gamma[:, None] * rows


@lru_cache(maxsize=4)
def _label_rule(
    setting: Setting, *, log2_points: int = 13, negligible: float = 1e-10
) -> tuple[Float[np.ndarray, "n r"], Float[np.ndarray, " n"]]:
    """Points z in the coordinates of the target, and weights times the labels there.

    Low-discrepancy points serve where labels have no rule; ``negligible`` weights are left out.
    """
    r, expression = setting.target.r, setting.target.expression
    planes = None if expression is None or r not in RULES else kink_planes(expression, r)
    # Noise of mean 0 does not count unless something is done to the noisy label.
    if planes is None or setting.label_noise.jumps or not setting.label_transform.is_plain:
        normals = normal_sets(r + 1, 0, log2_points, 1)(0)
        z, noise, weights = normals[:, :r], normals[:, r], np.full(len(normals), 1 / len(normals))
    else:
        spacing, nodes = RULES[r]
        z, weights = (
            kinked_rule(np.array([v for v, _ in planes]), np.array([b for _, b in planes]), nodes)
            if planes
            else smooth_rule(r, spacing)
        )
        z, weights = z[weights > negligible], weights[weights > negligible]
        noise = np.zeros(len(z))
    labels = setting.label_transform(labels_at(setting, z, noise))
    if setting.deflate == 0:
        labels = labels - weights @ labels
    return z, weights * labels


def smoothed(
    function: Nonlinearity,
    centres: Float[np.ndarray, "p n"],
    lengths: Float[np.ndarray, " p"],
    *,
    table: int = 128,
    sharp: float = 1e-3,
) -> tuple[Float[np.ndarray, "p n"], Float[np.ndarray, "p n"], Float[np.ndarray, " p"]]:
    """S and D of every neuron at its centres c, and |v_i|, 0 where the row is in the target.

    ``function`` is sigma', or another function of c + |v_i| t.  S and D are tabulated at ``table``
    places where there are more points: linear interpolation over twelve standard deviations leaves
    out 1e-3 of the curvature.  A row is in the target if its length outside, over the range of c,
    is below ``sharp``.

    docs/derivations/drawn_runs.md, eq. (3).
    """
    level, tilt = np.empty_like(centres), np.zeros_like(centres)
    low, high = centres.min(axis=1), centres.max(axis=1)
    lengths = np.where(lengths > sharp * (high - low), lengths, 0.0)
    for i in np.flatnonzero(lengths == 0.0):
        level[i] = np.asarray(function(centres[i]), dtype=float)
    smooth = np.flatnonzero(lengths)
    grids = centres[smooth]
    if centres.shape[1] > table:
        grids = np.linspace(low[smooth], high[smooth], table, axis=1)
    moments = feature_moments(function, grids, np.broadcast_to(lengths[smooth, None], grids.shape))
    if grids.shape == centres.shape:
        level[smooth], tilt[smooth] = moments.mean, moments.slope
        return level, tilt, lengths
    # Two tables at once, as real and imaginary part: places are searched for once.
    tables = moments.mean + 1j * moments.slope
    for place, i in enumerate(smooth):
        values = np.interp(centres[i], grids[place], tables[place])
        level[i], tilt[i] = values.real, values.imag
    return level, tilt, lengths
