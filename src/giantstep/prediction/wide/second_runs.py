"""Updates of two steps for runs that differ in the sum of their readouts.

In the limit a run enters through sum_i a_i alone, which the network's mean at the start carries
into the residual; an update is smooth in it and is interpolated between a few.
"""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
from jaxtyping import Float

from giantstep.analysis.exponents import VANISHING
from giantstep.prediction.wide.second_kernel import RowUpdate, second_update
from giantstep.prediction.wide.second_samples import Network
from giantstep.problem.setting import Setting

SUMS = 5
"""Sums of the readout at which the update is computed; between them kernels are good to 1e-3 where
the network's mean is of the size of the label, to 2 % where it is seven times as large."""

MOST_MOVED = 30.0
"""Lengths by which rows may move.  Beyond, the network's answer to the first step rules the second,
and few samples rule it: square lengths were 20 to 50 times those predicted (quadratic neurons)."""


def move_objection(setting: Setting, update: RowUpdate) -> str | None:
    """Why two steps are too large for any theory of them, in one sentence, or None."""
    weights = Network(setting).readout[1]
    moved = math.sqrt(float(weights @ np.diag(update.kernel)) / setting.p)
    if moved <= MOST_MOVED:
        return None
    return f"two steps must move rows by at most {MOST_MOVED:g} times their length, got {moved:.3g}"


def updates_of_runs(setting: Setting, readout_sums: Float[np.ndarray, " runs"]) -> list[RowUpdate]:
    """``second_update`` for every run, from at most SUMS computed ones."""
    plain = Network(setting)
    if abs(plain.start_feedback * plain.moments.mean) <= VANISHING:
        return [second_update(plain)] * len(readout_sums)
    nodes, places = np.unique(readout_sums, return_inverse=True)
    shares = np.eye(len(nodes))
    if len(nodes) > SUMS:
        nodes, shares = _polynomials(nodes)
    computed = [second_update(Network(setting, float(node))) for node in nodes]
    return [_combined(computed, share) for share in shares[places]]


def _polynomials(
    values: Float[np.ndarray, " m"],
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, "m k"]]:
    """Chebyshev's nodes between the least and the largest value, and Lagrange's polynomials."""
    from scipy.interpolate import BarycentricInterpolator

    angles = np.pi * (np.arange(SUMS) + 0.5) / SUMS
    middle, half = 0.5 * (values[-1] + values[0]), 0.5 * (values[-1] - values[0])
    nodes = middle - half * np.cos(angles)
    return nodes, np.asarray(BarycentricInterpolator(nodes, np.eye(SUMS))(values))


def _combined(updates: list[RowUpdate], shares: Float[np.ndarray, " k"]) -> RowUpdate:
    """Sum of the updates with the given shares, field by field."""
    return RowUpdate(
        **{
            field.name: np.tensordot(
                shares, np.stack([getattr(update, field.name) for update in updates]), axes=1
            )
            for field in fields(RowUpdate)
        }
    )
