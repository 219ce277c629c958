"""Squared lengths of rows at linear width to the next order in 1/d.

To leading order a row is the same random vector in all directions beside what it learns.  At
finite d it is longer or shorter along the few directions that its label and its own start know.

The derivation is docs/derivations/finite_size.md.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.along_target import (
    along_target_after_one,
    along_unseen_after_one,
    excess_along_target,
)
from giantstep.prediction.wide.network import Network


def longer_after_one(
    network: Network, u: Float[np.ndarray, "*u"], size: float | None = None
) -> Float[np.ndarray, "*u"]:
    """What the order 1/d adds to the squared length after the first step of a ``size``.

    0 for inputs that are not N(0, I), whose terms are not derived.

    docs/derivations/finite_size.md, eqs. (8) and (9).
    """
    if not network.setting.inputs.is_gaussian:
        return np.zeros(u.shape)
    seen = along_target_after_one(network, u, size).variance
    unseen = along_unseen_after_one(network, u, size).variance[..., 0]
    along_target = np.sum(seen, axis=-1) - seen.shape[-1] * unseen
    return (along_target + _along_start(network, u, size)) / network.setting.d


def longer_after_more(network: Network) -> Float[np.ndarray, " q"]:
    """The same after the last step of the setting, at the nodes of u.

    Of the terms along the start of a row there are those of the first step alone, as it left them.

    docs/derivations/finite_size.md, eq. (8).
    """
    if not network.setting.inputs.is_gaussian:
        return np.zeros(len(network.readout[0]))
    along_start = _along_start(network.with_steps(1), network.readout[0])
    return (excess_along_target(network) + along_start) / network.setting.d


def _along_start(
    network: Network, u: Float[np.ndarray, "*u"], size: float | None = None
) -> Float[np.ndarray, "*u"]:
    """d times what a step adds along the start w of a row, and because the label sees w.

    docs/derivations/finite_size.md, eq. (9).
    """
    moments, delta, scale = network.moments, network.noise_ratio, network.start_feedback
    b1, b2, b3 = moments.slope, moments.tilt, moments.bend
    # E[sigma'^2 (h^2 - 1)] and E[(sigma - c_0)^2 (h^2 - 1)] = 2 E[h sigma sigma'] - 2 c_0 b_2
    of_slopes = moments.pull_square - moments.slope_square
    of_output = scale**2 * 2.0 * (moments.own_pull + moments.linear * b1)
    square, linear = network.residual_square, network.label[2]
    seen = float(np.trace(network.target_squares)) - len(linear) * square + of_output
    noise = square * of_slopes + moments.slope_square * of_output + 0.5 * of_slopes * seen
    learned = float(linear @ linear) + (scale * moments.linear) ** 2
    mean = (2.0 * b1 * b3 + b3**2) * learned
    mean += scale**2 * (b2**4 + (b1 * b3) ** 2 - delta * b1**4)
    step = network.size(0) if size is None else size
    return (step / math.sqrt(network.setting.p) * u) ** 2 * (delta * noise + mean)
