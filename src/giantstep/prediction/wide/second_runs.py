"""Updates of two steps for every run's own readout, and how far they may move the rows."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.draws import draw_nodes
from giantstep.prediction.wide.second_kernel import RowUpdate, second_update
from giantstep.prediction.wide.second_samples import Network
from giantstep.problem.setting import Setting

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


def updates_of_runs(setting: Setting, readouts: Float[np.ndarray, "runs p"]) -> list[RowUpdate]:
    """``second_update`` for every run, smooth in its norm and sum: from a few computed ones."""
    nodes = draw_nodes(setting, readouts, signed=True)
    computed = [second_update(Network(setting, draw)) for draw in nodes.draws]
    carried = {
        field.name: nodes.carried([getattr(update, field.name) for update in computed])
        for field in fields(RowUpdate)
    }
    return [
        RowUpdate(**{name: values[run] for name, values in carried.items()})
        for run in range(len(readouts))
    ]
