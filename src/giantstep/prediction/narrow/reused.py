"""Several giant steps on one reused batch: the limit n, d -> infinity at fixed n/d.

The effective process is the deferred engine with Bartlett's matrix replaced by its limit
sqrt(d) I, run on N low-discrepancy paths in place of n samples: no response function is needed.
With U the part of the coefficients c outside those used before (V), each step appends to a path's
coordinates sqrt(N d/n - noise) U + (1 - V V^T) e: along the q known directions N paths have the
square of the noise of their mean, of size q for independent ones, which n samples in d dimensions
have not beyond their d.  Two independent halves of the paths tell how large it is.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.coordinates import Known
from giantstep.prediction.narrow.fresh import Evolution, recorded
from giantstep.prediction.narrow.start import Start, coordinates, labels_at, squared_error
from giantstep.problem.network import coefficients
from giantstep.problem.setting import Setting

LEAST_OUTSIDE = 0.25
"""Share of its square length that a combination has outside the known directions at least: with
fewer paths the noise along these would be more than the rest."""


def dimensions(setting: Setting) -> int:
    """Normals a path takes: its start coordinates, its noise, and p (+1) for every step."""
    revealed = setting.p + (setting.deflate == 1)
    return setting.target.r + setting.p + 1 + revealed * setting.steps


class Paths:
    """N paths in place of the samples, and the normals they have left."""

    def __init__(
        self, setting: Setting, data: Float[np.ndarray, "n q"], spare: Float[np.ndarray, "n k"]
    ) -> None:
        self.setting, self.known, self.spare = setting, Known.at_first(data), spare

    @property
    def data(self) -> Float[np.ndarray, "n q"]:
        return self.known.data

    def reveal(self, c: Float[np.ndarray, "n k"]) -> None:
        """Append the directions that sum_mu c_mu x_mu reveals."""
        count, q = self.data.shape
        half = count // 2
        # The square of the noise in sum_mu c_mu x_mu, over |c|^2, by what is new in c: q for
        # independent paths.  What was used before is known, and has no noise left.
        new = c - self.known.used @ (self.known.used.T @ c)
        apart = new[:half].T @ self.data[:half] - new[half:].T @ self.data[half:]
        noise = float(np.sum(apart**2)) / max(float(np.sum(new**2)), np.finfo(float).tiny)

        def limit(k: int) -> Float[np.ndarray, "k k"]:
            """Root mean square length of a combination, for N paths in place of n samples.

            n samples have d - q outside the known directions and along each of these the square of
            their noise, one: d in all; N paths have N d/n in all.
            """
            square = count * self.setting.d / self.setting.n
            return math.sqrt(max(square - noise, LEAST_OUTSIDE * square)) * np.eye(k)

        self.known = self.known.reveal(c, limit, lambda k: self.spare[:, :k])
        self.spare = self.spare[:, self.data.shape[1] - q :]


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
        output = setting.scale * (start.readout @ setting.activation(compact @ fresh.T))
        errors.append(squared_error(setting, fresh_labels, output, weights))
        if step == setting.steps:
            break
        deflated = labels
        if setting.deflate >= 0:
            deflated = labels - labels.mean()
        if setting.deflate == 1:
            paths.reveal(deflated[:, None])
            deflated = deflated - paths.data @ (deflated @ paths.data / count)
        known = paths.data[:, : rows.shape[1]]
        g = np.asarray(coefficients(setting, rows @ known.T, deflated, start.readout))
        paths.reveal(g.T)
        gradient = g @ paths.data / count
        cosines.append(gradient[:, :r] / np.linalg.norm(gradient, axis=1, keepdims=True))
        grown = np.zeros_like(gradient)
        grown[:, : rows.shape[1]] = rows
        rows = grown + setting.step_size[step] * gradient
    return recorded(overlaps, grams, cosines=cosines, errors=errors, r=r)
