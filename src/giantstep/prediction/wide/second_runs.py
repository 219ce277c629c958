"""Updates of two steps for every run's own readout, and how far they move the rows."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.draws import draw_nodes
from giantstep.prediction.wide.second_kernel import RowUpdate, second_update
from giantstep.prediction.wide.second_samples import Network
from giantstep.problem.setting import Setting


def rows_moved(setting: Setting, update: RowUpdate) -> float:
    """By how many of their lengths two steps move the rows, root mean square."""
    weights = Network(setting).readout[1]
    return math.sqrt(float(weights @ np.diag(update.kernel)) / setting.p)


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
