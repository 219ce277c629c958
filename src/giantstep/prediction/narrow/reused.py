"""Several giant steps on one reused batch: the limit n, d -> infinity at fixed n/d.

The effective process is the deferred engine with Bartlett's matrix replaced by its limit
sqrt(d) I, run on N low-discrepancy paths in place of n samples: no response function is needed.
With U the part of the coefficients c outside those used before (V), each step appends to a path's
coordinates sqrt(N d/n) U + (1 - V V^T) e.  The path bias is O(1/N).
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from giantstep.prediction.narrow.fresh import Evolution, coordinates, recorded
from giantstep.prediction.narrow.start import Start, gradient_at, labels_at, limiting_errors
from giantstep.problem.setting import Setting


def dimensions(setting: Setting) -> int:
    """Normals a path takes: its start coordinates, its noise, and p (+1) for every step."""
    revealed = setting.p + (setting.deflate == 1)
    return setting.target.r + setting.p + 1 + revealed * setting.steps


class Paths:
    """Coordinates of N paths, and the coefficient vectors used so far."""

    def __init__(
        self, setting: Setting, data: Float[np.ndarray, "n q"], spare: Float[np.ndarray, "n k"]
    ) -> None:
        self.setting, self.data, self.spare = setting, data, spare
        self.used = np.zeros((len(data), 0))

    def outside_used(self, c: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
        for _ in range(2):  # twice, for orthogonality to rounding
            c = c - self.used @ (self.used.T @ c)
        return c

    def reveal(self, c: Float[np.ndarray, "n k"]) -> None:
        """Append the directions that sum_mu c_mu x_mu reveals."""
        u, values, _ = np.linalg.svd(self.outside_used(c), full_matrices=False)
        new = u[:, values > 1e-9 * max(float(np.linalg.norm(c)), 1e-300)]
        k = new.shape[1]
        fresh, self.spare = self.spare[:, :k], self.spare[:, k:]
        self.used = np.concatenate([self.used, new], axis=1)
        outside = self.setting.d - self.data.shape[1] - 0.5 * (k - 1)
        scale = math.sqrt(len(self.data) * outside / self.setting.n)
        added = scale * new + self.outside_used(fresh)
        self.data = np.concatenate([self.data, added], axis=1)


def reused_evolution(setting: Setting, start: Start, points: Float[np.ndarray, "n q"]) -> Evolution:
    """Overlaps, Gram matrices, gradient cosines and errors after each step on the same batch."""
    r, count = setting.target.r, len(points)
    rows, q = start.rows, start.rows.shape[1]
    noise = points[:, q]
    weights = np.full(count, 1.0 / count)
    paths = Paths(setting, points[:, :q], points[:, q + 1 :])
    labels = labels_at(setting, points, noise)
    overlaps, grams, cosines, errors = [], [], [], []
    for step in range(setting.steps + 1):
        overlaps.append(rows[:, :r])
        grams.append(rows @ rows.T)
        # Fresh samples see the rows in any coordinates: the first r + p of the points serve.
        compact = coordinates(overlaps[-1], grams[-1])
        fresh = points[:, : compact.shape[1]]
        fresh_labels = labels_at(setting, fresh, points[:, -1])
        errors.append(
            limiting_errors(setting, compact, start.readout, fresh, fresh_labels, weights)
        )
        if step == setting.steps:
            break
        deflated = labels
        if setting.deflate >= 0:
            deflated = labels - labels.mean()
        if setting.deflate == 1:
            paths.reveal(deflated[:, None])
            deflated = deflated - paths.data @ (deflated @ paths.data / count)
        known = paths.data[:, : rows.shape[1]]
        g = gradient_at(setting, rows, start.readout, known, deflated)
        paths.reveal(g.T)
        gradient = g @ paths.data / count
        cosines.append(gradient[:, :r] / np.linalg.norm(gradient, axis=1, keepdims=True))
        grown = np.zeros_like(gradient)
        grown[:, : rows.shape[1]] = rows
        rows = grown + setting.step_size[step] * gradient
    return recorded(overlaps, grams, cosines, errors)
