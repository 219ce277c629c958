"""Numbers that a theory gives for the readout of each run, from a few solutions between the runs.

A run's readout counts through its norm and its sum (``ReadoutStatistics``), the sum by the mean
that it gives to the residual: E r = D sinh x and E r^2 = D^2 cosh^2 x, D free of the sum.  Spectra
are even in x, the law of a being symmetric, and follow the size log cosh x of the residual; errors
know its sign and follow x.  A polynomial through Chebyshev-Lobatto nodes between the runs' least
and largest carries the logarithm of a number, and a cubic that in log |a|, whose spread is of
order p^(-1/2).  The product of both spreads is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import VANISHING
from giantstep.prediction.wide.network import ReadoutStatistics
from giantstep.prediction.wide.step import learned_step
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class StatisticsNodes:
    """Readouts to solve for, and for each run the weights with which it takes their results.

    ``median`` -> the node nearest to the run of the median residual.
    """

    statistics: tuple[ReadoutStatistics, ...]
    weights: Float[np.ndarray, "runs k"]
    median: int

    def carried(
        self, values: Sequence[Float[np.ndarray, "..."] | float]
    ) -> Float[np.ndarray, "runs ..."]:
        """Values of all runs from those at the nodes."""
        return np.tensordot(self.weights, np.array(values), axes=1)

    def carried_sizes(
        self, values: Sequence[Float[np.ndarray, "..."] | float]
    ) -> Float[np.ndarray, "runs ..."]:
        """Positive values of all runs from those at the nodes, by their logarithms."""
        return np.exp(self.carried([np.log(value) for value in values]))


def statistics_nodes(
    setting: Setting, readouts: Float[np.ndarray, "runs p"], *, signed: bool
) -> StatisticsNodes:
    """Nodes and weights for the runs with these readouts; ``signed`` -> in x, else log cosh x."""
    runs = [ReadoutStatistics.of(setting, readout) for readout in readouts]
    if setting.steps == 0:
        return StatisticsNodes((runs[0],), np.ones((len(runs), 1)), 0)
    angles = np.array([_angle(setting, run) for run in runs])
    at = angles if signed else np.log(np.cosh(angles))
    # Nodes for ranges up to each bound: errors to 2e-3, edges and outliers to 3e-3, and better.
    counts = ((0.3, 2), (1.2, 3), (math.inf, 5)) if signed else ((0.1, 2), (math.inf, 3))
    nodes = _lobatto(at, next(count for bound, count in counts if np.ptp(at) <= bound))
    # Of the two signs the one that most runs have.
    sign = -1.0 if np.median(angles) < 0 else 1.0
    node_angles = nodes if signed else sign * np.arccosh(np.maximum(np.exp(nodes), 1.0))
    logs = np.log([run.norm for run in runs])
    log_nodes = _lobatto(logs, 4)
    middle, centre = len(nodes) // 2, len(log_nodes) // 2
    beside = np.delete(np.arange(len(log_nodes)), centre)
    pairs = [(log_nodes[centre], angle) for angle in node_angles]
    pairs += [(log_nodes[k], node_angles[middle]) for k in beside]
    # log f(norm, x) = log f(1, x) + log f(norm, x_0) - log f(1, x_0)
    along, across = lagrange(nodes, at), lagrange(log_nodes, logs)
    along[:, middle] += across[:, centre] - 1.0
    total = runs[0].total
    return StatisticsNodes(
        tuple(_statistics_at(setting, math.exp(log), float(x), total) for log, x in pairs),
        weights=np.column_stack([along, across[:, beside]]),
        median=int(np.argmin(np.abs(nodes - np.median(at)))),
    )


def _angle(setting: Setting, run: ReadoutStatistics, least: float = 1e-6) -> float:
    """x with tanh x = E r / sqrt(E r^2) for the first step."""
    step = learned_step(setting, statistics=run)
    if step.residual_square == 0.0:
        return 0.0
    share = step.residual_mean / math.sqrt(step.residual_square)
    # A constant label has nothing but its mean.
    return math.atanh(min(max(share, -1.0 + least), 1.0 - least))


def _statistics_at(setting: Setting, norm: float, angle: float, total: float) -> ReadoutStatistics:
    """Statistics of this norm at which the residual has the angle; ``total`` where none counts."""
    none, one = (
        learned_step(setting, statistics=ReadoutStatistics(norm, each)) for each in (0.0, 1.0)
    )
    per_total = one.residual_mean - none.residual_mean
    deviation = math.sqrt(max(none.residual_square - none.residual_mean**2, 0.0))
    # Neurons of mean zero give the residual no mean, up to rounding.
    if abs(per_total) <= VANISHING * deviation:
        return ReadoutStatistics(norm, total)
    return ReadoutStatistics(norm, (deviation * math.sinh(angle) - none.residual_mean) / per_total)


def _lobatto(
    values: Float[np.ndarray, " runs"], count: int, same: float = 1e-6
) -> Float[np.ndarray, " k"]:
    """Chebyshev-Lobatto nodes over the range of values; one where it is no more than ``same``."""
    low, high = float(values.min()), float(values.max())
    if high - low <= same:
        return np.array([0.5 * (low + high)])
    return 0.5 * (low + high) - 0.5 * (high - low) * np.cos(np.pi * np.linspace(0.0, 1.0, count))


def lagrange(
    nodes: Float[np.ndarray, " k"], at: Float[np.ndarray, " runs"]
) -> Float[np.ndarray, "runs k"]:
    """Values of the Lagrange polynomials of the nodes."""
    same = np.eye(len(nodes), dtype=bool)
    gaps = np.where(same, 1.0, nodes[:, None] - nodes)
    factors = np.where(same, 1.0, (at[:, None, None] - nodes) / gaps)
    return np.asarray(np.prod(factors, axis=2))
