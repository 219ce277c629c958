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

from giantstep.gaussian.coordinates import Known, widened
from giantstep.prediction.narrow.fitted_part import FittedPart
from giantstep.prediction.narrow.mean_gradient import mean_gradient
from giantstep.prediction.narrow.noise import Fluctuations
from giantstep.prediction.narrow.points import Points
from giantstep.prediction.narrow.state import State, labels_at
from giantstep.problem.batches import set_size
from giantstep.problem.motion import stepped_rows, used_gradient
from giantstep.problem.network import coefficients, displaced, moved_readout, readout_descent
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Gradients:
    """Descent directions of one step: of the rows, which may gain coordinates, and of a."""

    rows: Float[np.ndarray, "p k"]
    readout: Float[np.ndarray, " p"]

    @classmethod
    def used(
        cls,
        setting: Setting,
        state: State,
        rows: Float[np.ndarray, "p k"],
        readout: Float[np.ndarray, " p"],
    ) -> Gradients:
        """The part of the rows' gradients that a step from a state uses, and that of a."""
        return cls(used_gradient(setting, state.rows, rows), readout)

    def moved(self, setting: Setting, state: State, size: float) -> State:
        """The state after a step of this size."""
        moved = stepped_rows(setting, state.motion, self.rows, size, state.basis)
        readout = moved_readout(setting, state.readout, self.readout)
        return replace(state, rows=moved.rows, velocity=moved.velocity, readout=readout)


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
        self.data: Float[np.ndarray, "n q"] = points.x
        self.used = np.zeros((len(points.x), 0))
        self.outcomes = labels_at(setting, points.x, points.noise)
        self.labels = setting.label_transform(self.outcomes)

    def step(self, state: State) -> Gradients:
        """The gradients of a step, in a basis grown by the directions that it reveals."""
        setting, labels, weights = self.setting, self.deflated(self.labels), self.weights
        if seen_share(setting) < 1:
            # Of a minibatch a step sees the points whose next normal is below a quantile.
            seen = self.unused(1)[:, 0] < NormalDist().inv_cdf(seen_share(setting))
            weights = weights * seen / float(weights @ seen)
        ahead = state
        if setting.lookahead.kind.on_batch:
            shift = setting.lookahead.size * self._look(state, labels, weights).rows
            ahead = replace(state, rows=widened(state.rows, shift.shape[1]) + shift)
        gradients = self._look(ahead, labels, weights)
        return Gradients.used(setting, state, gradients.rows, gradients.readout)

    def _look(
        self, state: State, labels: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"]
    ) -> Gradients:
        """Gradients of a network on the points of these weights.

        Samples that are looked ahead on have |x|^2 = d, docs/derivations/lookahead.md, eq. (4).
        """
        setting, readout = self.setting, state.readout
        inputs = state.preactivations(self.data[:, : state.rows.shape[1]])
        inputs = displaced(
            setting, inputs, labels, readout, lambda: np.full(len(labels), float(setting.d))
        )
        c = np.asarray(coefficients(setting, inputs, labels, readout))
        self.reveal(c.T if weights is self.weights else (c * (weights != 0)).T)
        gradient = (c * weights) @ self.data
        gradient[:, : state.rows.shape[1]] += self.missing(state)
        return Gradients(
            gradient, readout_descent(setting, inputs, labels, readout, counts=weights)
        )

    def deflated(self, labels: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The labels without their fitted part."""
        part = self.fitted_part(labels)
        return labels - part.at(self.data)

    def fitted_part(self, labels: Float[np.ndarray, " n"]) -> FittedPart:
        """The mean and linear part that deflation removes; the latter reveals a direction."""
        deflate = self.setting.deflate
        mean = float(self.weights @ labels) if deflate >= 0 else 0.0
        if deflate == 1:
            self.reveal((labels - mean)[:, None])
            return FittedPart(mean, (self.weights * (labels - mean)) @ self.data)
        return FittedPart(mean, np.zeros(self.data.shape[1]))

    def missing(self, state: State) -> Float[np.ndarray, "p q"] | float:
        """What the mean gradient of the points lacks: its error, where it is known."""
        return 0.0

    @abstractmethod
    def reveal(self, c: Float[np.ndarray, "n k"]) -> None:
        """Append to Z the components along the directions that the combinations c x show."""

    def unused(self, k: int) -> Float[np.ndarray, "n k"]:
        """The next k normals of every point."""
        taken, self.spare = self.spare[:, :k], self.spare[:, k:]
        return taken


class NoisyBatch(Batch):
    """Points whose weighted averages have the noise of averages over n samples.

    Samples themselves have equal weights.  Where points stand for more samples, their own
    ``mean_weights`` tell the mean of their gradients, which that of all samples replaces.
    """

    def __init__(
        self,
        setting: Setting,
        points: Points,
        spare: Float[np.ndarray, "n k"],
        noise: Fluctuations,
        *,
        mean_weights: Float[np.ndarray, " n"] | None = None,
    ) -> None:
        super().__init__(setting, points, spare)
        self.noise, self.mean_weights = noise, mean_weights
        self.fresh = points.x

    def reveal(self, c: Float[np.ndarray, "n k"]) -> None:
        """Append the components along what the averages of c x show, up to all of R^d.

        U = R G^(-1/2), R the part of c outside V and G = mean R R^T; L is Bartlett's matrix over
        sqrt(n).  Runs that have an opposite take the symmetric root, which moves little when c
        does.
        """
        outside = self.setting.d - self.data.shape[1]
        if outside == 0:
            return
        weights = self.weights[:, None]
        null = 1e-12 * float(np.sum(weights * c**2))  # smaller squares are rounding
        for _ in range(2):  # twice for orthogonality to rounding
            c = c - self.used @ (self.used.T @ (weights * c))
        values, vectors = np.linalg.eigh(c.T @ (weights * c))
        kept = values > null
        root = vectors[:, kept] / np.sqrt(values[kept])
        basis = c @ (root @ vectors[:, kept].T if self.noise.opposite else root)
        self.used = np.concatenate([self.used, basis], axis=1)
        lengths = self.noise.bartlett(basis.shape[1], outside) / math.sqrt(self.samples)
        normals = self.unused(lengths.shape[1])
        e = normals - self.used @ (self.used.T @ (weights * normals))
        self.data = np.concatenate([self.data, basis @ lengths + e], axis=1)
        if self.mean_weights is not None:
            self.fresh = np.concatenate([self.fresh, normals], axis=1)

    def unused(self, k: int) -> Float[np.ndarray, "n k"]:
        """The next k normals of every point; those of a run by itself are drawn."""
        return super().unused(k) if self.noise.opposite else self.noise.normals(len(self.data), k)

    def missing(self, state: State) -> Float[np.ndarray, "p q"] | float:
        """E[g x] for samples that were never seen, less its estimate on the same points.

        Along q coordinates N points leave an error of q/N in the square of the mean, where n > N
        samples have noise of q/n (docs/derivations/drawn_runs.md).
        """
        weights, setting = self.mean_weights, self.setting
        if weights is None:
            return 0.0
        x, labels = self.fresh[:, : state.rows.shape[1]], self.labels
        if setting.deflate == 0:
            labels = labels - weights @ labels
        inputs = state.preactivations(x)
        c = np.asarray(coefficients(setting, inputs, labels, state.readout))
        points = Points(x, np.zeros(0), np.zeros(0), weights)
        return mean_gradient(setting, state, points, inputs, c) - (c * weights) @ x


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
