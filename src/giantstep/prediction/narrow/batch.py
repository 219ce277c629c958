"""Weighted points in place of the samples of a batch, which several steps may be taken on.

A step is that of the deferred engine (docs/derivations/deferred.md).  With V the coefficients used
before, c those of this step and U a basis of c outside V, orthonormal under the weights, a point's
known coordinates Z gain U L + (1 - V V^T) e: L are the combinations of n samples outside the known
directions, e what a sample has there beside them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.coordinates import Known
from giantstep.prediction.narrow.noise import Fluctuations
from giantstep.prediction.narrow.points import Points
from giantstep.prediction.narrow.state import State, labels_at
from giantstep.problem.batches import set_size
from giantstep.problem.network import coefficients, moved_readout, readout_descent, stepped_rows
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Gradients:
    """Descent directions of one step: of the rows, which may gain coordinates, and of a."""

    rows: Float[np.ndarray, "p k"]
    readout: Float[np.ndarray, " p"]

    def moved(self, setting: Setting, state: State, size: float) -> State:
        """The state after a step of this size."""
        rows = stepped_rows(setting, state.rows, self.rows, size)
        return replace(
            state, rows=rows, readout=moved_readout(setting, state.readout, self.readout)
        )


def seen_share(setting: Setting) -> float:
    """n/N, of the N samples of a set those that a step is taken on."""
    return setting.n / set_size(setting.batches, setting.n)


class Batch(ABC):
    """Weighted points for the samples of a set; ``spare`` are normals of theirs still unused.

    ``data`` are the known coordinates Z, ``used`` the coefficients V of combinations made so far.

    docs/derivations/deferred.md, eq. (4).
    """

    def __init__(self, setting: Setting, points: Points, spare: Float[np.ndarray, "n k"]) -> None:
        self.setting, self.weights, self.spare = setting, points.weights, spare
        self.samples = set_size(setting.batches, setting.n)
        self.data, self.used = points.x, np.zeros((len(points.x), 0))
        self.labels = setting.label_transform(labels_at(setting, points.x, points.noise))

    def step(self, state: State) -> Gradients:
        """The gradients of a step, in a basis grown by the directions that it reveals."""
        labels = self.labels
        if self.setting.deflate >= 0:
            labels = labels - self.weights @ labels
        if self.setting.deflate == 1:
            self.reveal(labels[:, None])
            labels = labels - self.data @ ((self.weights * labels) @ self.data)
        inputs = state.preactivations(self.data[:, : state.rows.shape[1]])
        c = np.asarray(coefficients(self.setting, inputs, labels, state.readout))
        share = 1.0
        if seen_share(self.setting) < 1:
            # Of a minibatch a step sees the points whose next normal is below a quantile.
            seen = self.unused(1)[:, 0] < NormalDist().inv_cdf(seen_share(self.setting))
            c, share = c * seen, float(self.weights @ seen)
        self.reveal(c.T)
        gradient = (c * self.weights) @ self.data / share
        descent = readout_descent(self.setting, inputs, labels, state.readout, counts=self.weights)
        return Gradients(gradient, descent)

    @abstractmethod
    def reveal(self, c: Float[np.ndarray, "n k"]) -> None:
        """Append to Z the components along the directions that the combinations c x show."""

    def unused(self, k: int) -> Float[np.ndarray, "n k"]:
        """The next k normals of every point."""
        taken, self.spare = self.spare[:, :k], self.spare[:, k:]
        return taken


class NoisyBatch(Batch):
    """Points whose weighted averages have the noise of averages over n samples."""

    def __init__(
        self, setting: Setting, points: Points, spare: Float[np.ndarray, "n k"], noise: Fluctuations
    ) -> None:
        super().__init__(setting, points, spare)
        self.noise = noise

    def reveal(self, c: Float[np.ndarray, "n k"]) -> None:
        """Append the components along what the averages of c x show.

        U = R G^(-1/2), R the part of c outside V and G = mean R R^T, with the symmetric root, which
        moves little when c does; L is Bartlett's matrix over sqrt(n).
        """
        weights = self.weights[:, None]
        null = 1e-12 * float(np.sum(weights * c**2))  # smaller squares are rounding
        k, outside = c.shape[1], self.setting.d - self.data.shape[1]
        for _ in range(2):  # twice for orthogonality to rounding
            c = c - self.used @ (self.used.T @ (weights * c))
        values, vectors = np.linalg.eigh(c.T @ (weights * c))
        kept = values > null
        basis = c @ (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
        self.used = np.concatenate([self.used, basis], axis=1)
        e = self.unused(k)
        e = e - self.used @ (self.used.T @ (weights * e))
        along = basis @ self.noise.bartlett(k, outside) / math.sqrt(self.samples)
        self.data = np.concatenate([self.data, along + e], axis=1)


class LimitBatch(Batch):
    """K paths of equal weight for N samples in the limit n, d -> infinity at fixed n/d.

    Bartlett's matrix is its limit, sqrt(d) I; no response function is needed.

    docs/theory/index.md, eq. (6).
    """

    def reveal(self, c: Float[np.ndarray, "n k"], *, least_outside: float = 0.25) -> None:
        """Append the directions that sum_mu c_mu x_mu reveals, of length sqrt(K d/N - noise).

        N samples have d - q outside the q known directions and along each of these the square of
        their noise, one: d in all.  K paths have K d/N in all, of which the square of their own
        noise, q for independent ones, is taken off; two independent halves tell how large it is.
        With too few paths it would be more than the remainder, of which ``least_outside`` is kept.
        """
        count = len(self.data)
        half = count // 2
        # What was used before is known, and has no noise left.
        new = c - self.used @ (self.used.T @ c)
        apart = new[:half].T @ self.data[:half] - new[half:].T @ self.data[half:]
        noise = float(np.sum(apart**2)) / max(float(np.sum(new**2)), np.finfo(float).tiny)
        square = count * self.setting.d / self.samples
        length = math.sqrt(max(square - noise, least_outside * square))
        grown = Known(self.data, self.used).reveal(c, lambda k: length * np.eye(k), self.unused)
        self.data, self.used = grown.data, grown.used
