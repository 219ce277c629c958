"""Numbers that a theory gives for each run's own readout, from a few solutions between the runs.

A run's readout counts through its norm and its sum (``Draw``), the sum by the mean that it gives to
the residual: E r = D sinh x and E r^2 = D^2 cosh^2 x, D free of the sum.  Spectra are even in x,
the law of a being symmetric, and follow the size log cosh x of the residual; errors know its sign
and follow x.  A polynomial through Chebyshev-Lobatto nodes between the runs' least and largest
carries the logarithm of a number, and a parabola that in log |a|, whose spread is of order
p^(-1/2).  The product of both spreads is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.step import Draw, learned_step
from giantstep.problem.setting import Setting

SAME = 1e-6
"""Ranges of x and of log |a| below which all runs are one."""

FEW = ((0.1, 2), (math.inf, 3))
"""Nodes for ranges of log cosh x up to each bound: edges and outliers to 3e-3 and better."""

MANY = ((0.3, 2), (1.2, 3), (math.inf, 5))
"""Nodes for ranges of x up to each bound: errors to 2e-3 and better."""


@dataclass(frozen=True)
class DrawNodes:
    """Draws to solve for, and for each run the weights with which it takes their results.

    ``median`` -> the node nearest to the run of the median residual.
    """

    draws: tuple[Draw, ...]
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
        """The same for positive values, by their logarithms."""
        return np.exp(self.carried([np.log(value) for value in values]))


def draw_nodes(
    setting: Setting, readouts: Float[np.ndarray, "runs p"], *, signed: bool
) -> DrawNodes:
    """Nodes and weights for the runs with these readouts; ``signed`` -> in x, else log cosh x."""
    draws = [Draw.of(setting, readout) for readout in readouts]
    if setting.steps == 0:
        return DrawNodes((draws[0],), np.ones((len(draws), 1)), 0)
    first = setting.vary(steps=1, step_size=setting.step_size[0])
    angles = np.array([_angle(first, draw) for draw in draws])
    at = angles if signed else np.log(np.cosh(angles))
    nodes = _lobatto(at, next(k for bound, k in (MANY if signed else FEW) if np.ptp(at) <= bound))
    # Of the two signs the one that most runs have.
    sign = -1.0 if np.median(angles) < 0 else 1.0
    node_angles = nodes if signed else sign * np.arccosh(np.maximum(np.exp(nodes), 1.0))
    logs = np.log([draw.norm for draw in draws])
    log_nodes = _lobatto(logs, 3)
    middle, centre = len(nodes) // 2, len(log_nodes) // 2
    beside = np.delete(np.arange(len(log_nodes)), centre)
    pairs = [(log_nodes[centre], angle) for angle in node_angles]
    pairs += [(log_nodes[k], node_angles[middle]) for k in beside]
    # log f(norm, x) = log f(1, x) + log f(norm, x_0) - log f(1, x_0)
    along, across = lagrange(nodes, at), lagrange(log_nodes, logs)
    along[:, middle] += across[:, centre] - 1.0
    return DrawNodes(
        draws=tuple(_draw_at(first, math.exp(log), float(angle), draws) for log, angle in pairs),
        weights=np.column_stack([along, across[:, beside]]),
        median=int(np.argmin(np.abs(nodes - np.median(at)))),
    )


def _angle(first: Setting, draw: Draw) -> float:
    """x with tanh x = E r / sqrt(E r^2)."""
    step = learned_step(first, draw=draw)
    if step.square == 0.0:
        return 0.0
    share = step.mean / math.sqrt(step.square)
    # A constant label has nothing but its mean.
    return math.atanh(min(max(share, -1.0 + SAME), 1.0 - SAME))


def _draw_at(first: Setting, norm: float, angle: float, draws: Sequence[Draw]) -> Draw:
    """The draw of this norm at which the residual has the angle; any, where the sum is nothing."""
    none, one = (learned_step(first, draw=Draw(norm, total)) for total in (0.0, 1.0))
    per_total = one.mean - none.mean
    if per_total == 0.0:
        return Draw(norm, draws[0].total)
    deviation = math.sqrt(max(none.square - none.mean**2, 0.0))
    return Draw(norm, (deviation * math.sinh(angle) - none.mean) / per_total)


def _lobatto(values: Float[np.ndarray, " runs"], count: int) -> Float[np.ndarray, " k"]:
    """Chebyshev-Lobatto nodes over the range of values; one where there is none."""
    low, high = float(values.min()), float(values.max())
    if high - low <= SAME:
        return np.array([0.5 * (low + high)])
    return 0.5 * (low + high) - 0.5 * (high - low) * np.cos(np.pi * np.linspace(0.0, 1.0, count))


def lagrange(
    nodes: Float[np.ndarray, " k"], at: Float[np.ndarray, " runs"]
) -> Float[np.ndarray, "runs k"]:
    """Values of the Lagrange polynomials of the nodes."""
    own = np.eye(len(nodes), dtype=bool)
    gaps = np.where(own, 1.0, nodes[:, None] - nodes)
    factors = np.where(own, 1.0, (at[:, None, None] - nodes) / gaps)
    return np.asarray(np.prod(factors, axis=2))
