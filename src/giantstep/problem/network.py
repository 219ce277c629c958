"""One gradient of the network, sample by sample; written once for NumPy and for JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.language.functions import NUMPY, Namespace
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting


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
    """
    residual = labels
    if setting.residual == "full":
        output = readout @ setting.activation(preactivations, namespace)
        residual = labels - setting.scale * output
    slopes = setting.activation.derivative(preactivations, namespace)
    return slopes * (setting.scale * readout)[:, None] * residual


def start_readout(setting: Setting, run: int) -> Float[np.ndarray, " p"]:
    """Entries of a: signs +-1, alternating +-1, gaussian N(0, 1/p), uniform on [-1, 1].

    The symmetric start pairs neuron i with neuron i + p/2, which has the opposite entry.
    """
    p = setting.p
    rng = generator(setting.seed, run, Purpose.START, 1)
    count = p // 2 if setting.start == "symmetric" else p
    if setting.readout_start == "signs":
        a = rng.choice([-1.0, 1.0], size=count)
    elif setting.readout_start == "alternating":
        a = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
    elif setting.readout_start == "gaussian":
        a = rng.standard_normal(count) / np.sqrt(p)
    else:
        a = rng.uniform(-1.0, 1.0, size=count)
    return np.concatenate([a, -a]) if setting.start == "symmetric" else a


def given_overlaps(setting: Setting) -> Float[np.ndarray, "p r"]:
    """Overlaps of the orthogonal start with the target directions, zero unless given."""
    if setting.start_overlaps is None:
        return np.zeros((setting.p, setting.target.r))
    return np.array(setting.start_overlaps, dtype=float)
