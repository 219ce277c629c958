"""A step on new Gaussian samples whose lengths it sees, exactly in law and without drawing R^d.

A gradient that is taken ahead on its sample depends on |x|^2, so that the sum over samples is no
longer normal outside the known span.  The sum over the samples so far has at most p directions
there: the next samples have normals along these, and Bartlett's matrix outside them, whose rows
have the lengths that they need (docs/derivations/lookahead.md).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.coordinates import bartlett, compressed, widened
from giantstep.problem.motion import Motion
from giantstep.problem.network import coefficients, displaced, readout_descent
from giantstep.problem.randomness import Purpose, generator
from giantstep.simulation.engines.streamed import Stepped, Stream

SAMPLES = 64
"""Samples with one Bartlett matrix: with fewer QR takes most of the time, with more the normals."""


def step_with_lengths(
    stream: Stream, readout: Float[np.ndarray, " p"], size: float, velocity: Any = None
) -> Stepped:
    """One giant step on the samples of a stream, in a basis grown to fit.

    docs/derivations/lookahead.md, eq. (3).
    """
    setting, rows = stream.setting, stream.rows
    known, readout_sum = np.zeros(rows.shape), np.zeros(setting.p)
    outside = np.zeros((setting.p, 0))
    biases = stream.biases[:, None]
    for index, (data, _, labels, _) in enumerate(stream.each(stream.block)):
        key = generator(setting.seed, stream.run, Purpose.HIDDEN, stream.step, index)
        for first in range(0, len(data), SAMPLES):
            part = slice(first, first + SAMPLES)
            x, y = data[part].astype(float), labels[part].astype(float)
            along = key.standard_normal((len(x), outside.shape[1]))
            unknown = setting.d - x.shape[1] - along.shape[1]
            x = np.concatenate([x, along, bartlett(key, len(x), unknown)], axis=1)
            pre = rows @ x[:, : rows.shape[1]].T + biases
            pre = displaced(setting, pre, y, readout, partial(np.sum, x**2, axis=1))
            sums = coefficients(setting, pre, y, readout) @ x
            known += sums[:, : rows.shape[1]]
            sums = sums[:, rows.shape[1] :]
            outside = compressed(widened(outside, sums.shape[1]) + sums, 0)
            readout_sum += readout_descent(setting, pre, y, readout)
    gradient = np.concatenate([known, outside], axis=1) / stream.count
    motion = Motion(rows, velocity)
    return Stepped.of(setting, motion, gradient, readout_sum / stream.count, size)
