"""The network at the start, and one gradient, sample by sample, for NumPy and for JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.language.functions import NUMPY, Namespace
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.starts import READOUT_STARTS, STARTS, Space
from giantstep.problem.tables import frame_columns


def coefficients(
    setting: Setting,
    preactivations: Any,
    labels: Any,
    readout: Any,
    namespace: Namespace = NUMPY,
) -> Any:
    """c (p x n) with sum_mu c_i(x_mu) x_mu the descent direction of neuron i.

    c_i = (y - s_p sum_k a_k sigma(h_k)) s_p a_i sigma'(h_i), h = W x (p x n); residual = labels
    drops the network's own output.  A neuron is a row: its samples lie side by side in memory.
    Preactivations of several networks (k x p x n) give the coefficients of each.
    """
    if setting.residual == "labels":
        slopes = setting.activation.derivative(preactivations, namespace)
        return slopes * (setting.scale * readout)[:, None] * labels
    return network_and_coefficients(setting, preactivations, labels, readout, namespace)[1]


def network_and_coefficients(
    setting: Setting,
    preactivations: Any,
    labels: Any,
    readout: Any,
    namespace: Namespace = NUMPY,
) -> tuple[Any, Any]:
    """The network's output s_p sum_k a_k sigma(h_k) on the samples, and c."""
    features, slopes = setting.activation.with_slope(preactivations, namespace)
    output = setting.scale * (readout @ features)
    residual = labels if setting.residual == "labels" else labels - output
    return output, slopes * (setting.scale * readout)[:, None] * residual[..., None, :]


def residuals(
    setting: Setting,
    preactivations: Any,
    labels: Any,
    readout: Any,
    namespace: Namespace = NUMPY,
) -> Any:
    """What a step takes the network's error for: y - s_p sum_k a_k sigma(h_k), or y alone."""
    if setting.residual == "labels":
        return labels
    output = readout @ setting.activation(preactivations, namespace)
    return labels - setting.scale * output


def start_rows(setting: Setting, space: Space) -> Float[np.ndarray, "p q"]:
    """Rows of W at the start, by their coordinates in a space."""
    return STARTS[setting.start].draw(space, setting.p, given_overlaps(setting))


def target_frame(setting: Setting, run: int) -> Float[np.ndarray, "r d"]:
    """The target directions of a run in R^d: axes, columns that are named, or random ones."""
    r, d = setting.target.r, setting.d
    named = frame_columns(setting.frame)
    if named is not None and setting.data is not None:
        return np.eye(d)[setting.data.axes(named)]
    # A Gaussian law looks the same along any frame.
    if setting.frame == "axes" or setting.inputs.is_gaussian or r == 0:
        return np.eye(r, d)
    key = generator(setting.seed, run, Purpose.FRAME)
    return np.linalg.qr(key.standard_normal((d, r)))[0].T


def start_readout(setting: Setting, run: int) -> Float[np.ndarray, " p"]:
    """Entries of a; a paired start gives neuron i + p/2 the opposite of neuron i's."""
    start = STARTS[setting.start]
    key = generator(setting.seed, run, Purpose.START, 1)
    a = READOUT_STARTS[setting.readout_start].draw(key, setting.p // start.copies, setting.p)
    return np.concatenate([a, -a]) if start.paired else a


def given_overlaps(setting: Setting) -> Float[np.ndarray, "p r"]:
    """Overlaps of the orthogonal start with the target directions, zero unless given."""
    if setting.start_overlaps is None:
        return np.zeros((setting.p, setting.target.r))
    return np.array(setting.start_overlaps, dtype=float)
