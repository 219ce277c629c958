"""The mean-field flow: the neurons of a run follow the mean gradient of all samples.

With p large at fixed d the rows fill R^d, and a step of a small batch moves each of them by its
mean and by noise that the next steps average out.  The mean is an average over N(0, I_d), on points
of a low-discrepancy set, new ones for every group of steps (docs/derivations/mean_field.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.points import normal_sets
from giantstep.prediction.narrow.grouped import Group, groups
from giantstep.prediction.narrow.state import State, labels_at, squared_error
from giantstep.problem.motion import moved_rows
from giantstep.problem.network import residuals
from giantstep.problem.setting import Setting

LOG2_POINTS = 11
"""Points of a group of steps, as a power of two: a mean gradient is off by about one per cent."""

SETS = 2**10
"""Independent sets of points; a run of more groups begins again with the first."""

TOLERANCE = 1e-3
"""Error of a group of steps, in lengths of the rows: below that of the points."""

PIECE = 2**19
"""Preactivations that are held at once: their functions stay in the cache."""


@dataclass(frozen=True)
class Field:
    """What a step does to the neurons on average, and what one sample adds to it.

    ``gradient`` -> G_i = E[c_i x]; ``square`` -> E[c_i^2 |x|^2], ``along`` -> E[c_i^2 z z^T]_kk
    along the target directions; ``error`` -> E (y - f)^2.

    docs/derivations/mean_field.md, eq. (3).
    """

    gradient: Float[np.ndarray, "p d"]
    square: Float[np.ndarray, " p"]
    along: Float[np.ndarray, "p r"]
    error: float

    def noise(self, setting: Setting) -> Float[np.ndarray, " p"]:
        """Squared length that the samples of one step add to its mean, over its squared size."""
        return (self.square - np.sum(self.gradient**2, axis=1)) / setting.n

    def noise_along(self, setting: Setting) -> Float[np.ndarray, "p r"]:
        """The part of it along each target direction."""
        return (self.along - self.gradient[:, : setting.target.r] ** 2) / setting.n


@dataclass
class Flow:
    """The map of a step for one run, and the fields at the first state of every group.

    The rows of ``start`` are all of the run's, or those of a sample of its neurons.

    docs/derivations/mean_field.md, eq. (2).
    """

    setting: Setting
    start: State
    seed: int
    log2_points: int = LOG2_POINTS
    fields: list[Field] = field(default_factory=list)

    def __post_init__(self) -> None:
        sets = min(self.setting.steps + 1, SETS)
        # One more coordinate is the noise of the label.
        self.sets = normal_sets(self.setting.d + 1, self.seed, self.log2_points, sets)
        self.count = sets

    def groups(self) -> Iterator[Group]:
        """All steps from the start, in groups of an error of TOLERANCE row lengths."""
        state = self.start.rows.reshape(1, -1)
        return groups(self, state, self.setting.step_size, scale=self.scale, tolerance=TOLERANCE)

    def scale(self, state: Float[np.ndarray, "1 m"]) -> Float[np.ndarray, "1 m"]:
        """The root mean square length of the rows: single ones may pass through zero."""
        return np.full_like(state, np.sqrt(np.mean(state**2) * self.setting.d))

    def __call__(
        self, state: Float[np.ndarray, "1 m"], step: int, group: int
    ) -> Float[np.ndarray, "1 m"]:
        """What a step adds to the rows."""
        rows = state.reshape(-1, self.setting.d)
        found = self.field(rows, group)
        if group == len(self.fields):
            self.fields.append(found)
        moved = moved_rows(self.setting, rows, found.gradient, self.setting.step_size[step])
        return (moved - rows).reshape(state.shape)

    def field(self, rows: Float[np.ndarray, "p d"], group: int) -> Field:
        """G_i = E[c_i x] with c_i = r s_p a_i sigma'(h_i), on the points of a group.

        docs/derivations/mean_field.md, eq. (1).
        """
        setting, start, d = self.setting, self.start, self.setting.d
        normals = self.sets(group % self.count)
        x, weight = normals[:, :d].astype(np.float32), 1.0 / len(normals)
        outcomes = labels_at(setting, normals, normals[:, d])
        sizes = (setting.scale * start.readout).astype(np.float32)
        pieces = np.array_split(np.arange(len(rows)), -(-len(rows) * len(x) // PIECE))
        inputs = [
            (rows[piece].astype(np.float32) @ x.T) + start.biases[piece, None].astype(np.float32)
            for piece in pieces
        ]
        output = np.zeros(len(x))
        for piece, h in zip(pieces, inputs, strict=True):
            output += sizes[piece] @ np.asarray(setting.activation(h))
        # Each neuron of a sample stands for as many.
        output *= setting.p / len(rows)
        labels = np.asarray(setting.label_transform(outcomes))
        errors = np.asarray(residuals(setting, labels, output), dtype=np.float32)
        squares = np.stack([np.sum(x**2, axis=1), *x[:, : setting.target.r].T ** 2], axis=1)
        gradient, second = np.empty((len(rows), d)), np.empty((len(rows), squares.shape[1]))
        for piece, h in zip(pieces, inputs, strict=True):
            c = np.asarray(setting.activation.derivative(h)) * sizes[piece, None] * errors
            gradient[piece], second[piece] = weight * (c @ x), weight * (c**2 @ squares)
        weights = np.full(len(x), weight)
        error = squared_error(setting, outcomes, output, weights)
        return Field(gradient, second[:, 0], second[:, 1:], error)
