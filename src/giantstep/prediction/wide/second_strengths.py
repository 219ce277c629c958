"""How strong the second step is along each power of the readout, at any p.

The second update W_2 - W_1 has rows size_2 Q(u_i)/sqrt(p) plus noise.  With q_k the powers u, u^2,
.. made orthonormal over the neurons, |q_k^T (W_2 - W_1)| is the strength of order k - 1,

    strength_k^2 = size_2^2 <q_k, Q.Q' q_k> + <q_k^2, noise>,

which grows as p^(alpha_2 - (k-1)(1/2 - alpha_1)) once size_1/sqrt(p) is small (arXiv 2605.17767);
docs/derivations/two_step.md.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.limits import ONE_OR_TWO
from giantstep.prediction.wide.second_kernel import (
    own_rows,
    second_batch,
    second_gradient,
    second_residual,
)
from giantstep.prediction.wide.second_samples import Network
from giantstep.prediction.wide.step import TYPICAL, Draw
from giantstep.problem.setting import Setting


def second_strengths(
    setting: Setting, count: int = 3, draw: Draw = TYPICAL
) -> Float[np.ndarray, " count"]:
    """|q_k^T (W_2 - W_1)| for k = 1 .. count, n, d, p in proportion, given a run's readout."""
    refuse_beyond(ONE_OR_TWO, setting)
    network = Network(setting, draw)
    samples, slopes = second_batch(network)
    residual = second_residual(network, samples, slopes)
    kernel = network.size(1) ** 2 * second_gradient(network, slopes, residual).inner
    u, weights = network.readout
    root = np.sqrt(weights)
    powers = orthonormal_powers(u, root, count)
    square = np.einsum("qk,qs,sk->k", root[:, None] * powers, kernel, root[:, None] * powers)
    # Orders that are zero may round to less.
    return np.sqrt(np.maximum(square, 0.0) + (powers**2).T @ own_rows(network, slopes, residual))


def orthonormal_powers(
    u: Float[np.ndarray, " q"], root: Float[np.ndarray, " q"], count: int
) -> Float[np.ndarray, "q count"]:
    """u, u^2, .. times the root of their weights, made orthonormal in this order."""
    return np.linalg.qr(root[:, None] * u[:, None] ** np.arange(1, count + 1))[0]
