"""Mean squared error of a wide network with the readout of its steps, not one that is fitted."""

from __future__ import annotations

from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.batch import fresh_batch
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.part_limits import NETWORK_ERROR, refuse_row_noise
from giantstep.prediction.wide.update import update_after


def network_error(network: Network) -> float:
    """E (y - s f(x))^2 on a new sample x, label noise counted.

    It is the mean square of the residual that another step on new samples would have, whatever
    residual the steps before it took.

    docs/derivations/many_steps.md, eq. (9).
    """
    refuse_beyond(NETWORK_ERROR, network.setting)
    refuse_row_noise(network.setting, network.statistics)
    judged = Network(network.setting.vary(residual="full"), network.statistics)
    if network.setting.steps == 0:
        return judged.residual_square
    rows = update_after(network)
    samples = fresh_batch(judged, rows.kernel, rows.known, rows.kept, rows.spread)
    return float(samples.square.sum())
