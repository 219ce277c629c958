"""The readout's errors averaged over runs: over the random start and the random batches.

Rows differ from run to run by parts of order d^-1/2 and n^-1/2: a random row has overlaps of order
d^-1/2 with the target, and p of them together reach the share p/d of its linear part.  The mean of
an error over runs is its value at the mean rows and a term of order p/d: half the trace of its
second derivative times the covariance of the rows.  That is taken from pairs of runs with opposite
fluctuations, in which terms of first order cancel.

A drawn run is the deferred engine (docs/derivations/deferred.md) with its n samples replaced by
quadrature points of weights w + sqrt(w/n) xi, xi normal and orthogonal to sqrt(w): averages over
them have the means and covariances of averages over n samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.coordinates import compressed
from giantstep.prediction.narrow.mean_gradient import mean_gradient
from giantstep.prediction.narrow.points import Points, Quadrature
from giantstep.prediction.narrow.readout import readout_errors
from giantstep.prediction.narrow.reused import PathNormals, chosen, share
from giantstep.prediction.narrow.start import Start, labels_at
from giantstep.problem.batches import set_of, set_size
from giantstep.problem.network import (
    coefficients,
    moved_readout,
    readout_descent,
    start_rows,
    stepped_rows,
)
from giantstep.problem.setting import Setting
from giantstep.problem.starts import Space, typical_span

NULL = 1e-12
"""Share of the coefficients' mean square below which a direction was known before: rounding."""


class Fluctuations:
    """Normal variables of a run, or with ``sign`` = -1 those of its opposite."""

    def __init__(self, seed: int, sign: float = 1.0) -> None:
        self.key, self.sign = np.random.default_rng(seed), sign

    def normals(self, *shape: int) -> Float[np.ndarray, "..."]:
        return self.sign * self.key.standard_normal(shape)

    def vectors(self, k: int, m: int) -> Float[np.ndarray, "k j"]:
        """k independent N(0, I_m) vectors by coordinates: Bartlett's, or of many all m."""
        return self.bartlett(k, m) if 2 * k <= m else self.normals(k, m)

    def bartlett(self, k: int, m: int) -> Float[np.ndarray, "k k"]:
        """Bartlett's matrix with chi replaced by sqrt(m - 1/2) + N(0, 1/2): of equal square."""
        normals = self.normals(k, k)
        lengths = np.sqrt(m - 0.5 - np.arange(k)) + math.sqrt(0.5) * np.diagonal(normals)
        return np.tril(normals, -1) + np.diag(lengths)

    def span(self, setting: Setting) -> Space:
        """Coordinates in the span of the known directions and of what is drawn."""
        r, d, known = setting.target.r, setting.d, setting.known
        typical = typical_span(r, d, known - r)

        def gaussian(count: int) -> Float[np.ndarray, "k q"]:
            along = self.normals(count, known)
            return np.concatenate([along, self.vectors(count, d - known)], axis=1)

        def frame(count: int) -> Float[np.ndarray, "m q"]:
            if known == r:
                return typical.frame(count)
            others = np.concatenate(
                [self.normals(count, known - r), self.bartlett(count, d - known)], axis=1
            )
            # The symmetric root, which is odd in small fluctuations as QR is not.
            turned = np.linalg.eigh(others @ others.T)
            inverse = (turned.eigenvectors / np.sqrt(turned.eigenvalues)) @ turned.eigenvectors.T
            found = typical.frame(count)
            found[r:, r:] = inverse @ others
            return found

        return Space(d, gaussian, frame, typical.hold)

    def batch(self, points: Points, samples: int) -> tuple[Points, Float[np.ndarray, " n"]]:
        """Points, and weights under which they average as so many samples do: to second order."""
        root = np.sqrt(points.weights)
        xi = self.normals(len(root))
        noise = root * (xi - root * float(root @ xi)) / math.sqrt(samples)
        return points, points.weights + noise


class Samples(Fluctuations):
    """Those of a run by itself, with samples of its own."""

    def __init__(self, seed: int, setting: Setting) -> None:
        super().__init__(seed)
        self.setting = setting

    def batch(self, points: Points, samples: int) -> tuple[Points, Float[np.ndarray, " n"]]:
        """So many new samples, or if they are more than the points, how often each is among them.

        Not some of the points: these are spread more evenly than samples are.
        """
        count, q = points.x.shape
        if samples > count:
            shares = points.weights / np.sum(points.weights)
            return points, self.key.multinomial(samples, shares) / samples
        drawn = self.normals(samples, q + 2)
        x, weights = drawn[:, :q], np.full(samples, 1.0 / samples)
        if self.setting.inputs.known_directions:
            x = self.setting.inputs.stretched(x, self.setting.target.r)
        return Points(x, drawn[:, q], drawn[:, q + 1], weights), weights


@dataclass(frozen=True)
class Stepped:
    """A state after a step, and the gradient that led to it, in the coordinates of its rows."""

    state: Start
    gradient: Float[np.ndarray, "p k"]


@dataclass(frozen=True)
class Visited:
    """Rows of a drawn run after a step, points for them, and the gradient of the step."""

    rows: Float[np.ndarray, "p q"]
    readout: Float[np.ndarray, " p"]
    points: Points
    gradient: Float[np.ndarray, "p k"] | None = None


class Batch:
    """Points that stand for a batch: what is known of them, and the coefficients used so far."""

    def __init__(
        self,
        setting: Setting,
        draw: Fluctuations,
        points: Points,
        weights: Float[np.ndarray, " n"],
        spare: Float[np.ndarray, "n k"],
    ) -> None:
        self.setting, self.draw, self.weights, self.spare = setting, draw, weights, spare
        self.samples = set_size(setting.batches, setting.n)
        self.data, self.used = points.x, np.zeros((len(points.x), 0))
        self.labels = setting.label_transform(labels_at(setting, points.x, points.noise))

    def step(self, state: Start, size: float) -> Stepped:
        """A giant step, its rows in a basis that holds the directions it reveals."""
        labels = self.labels
        if self.setting.deflate >= 0:
            labels = labels - self.weights @ labels
        if self.setting.deflate == 1:
            self._reveal(labels[:, None])
            labels = labels - self.data @ ((self.weights * labels) @ self.data)
        inputs = state.preactivations(self.data[:, : state.rows.shape[1]])
        g = np.asarray(coefficients(self.setting, inputs, labels, state.readout))
        seen = 1.0
        if share(self.setting) < 1:
            choice, self.spare = self.spare[:, 0], self.spare[:, 1:]
            drawn = chosen(self.setting, choice)
            g, seen = g * drawn, float(self.weights @ drawn)
        self._reveal(g.T)
        gradient = (g * self.weights) @ self.data / seen
        descent = readout_descent(self.setting, inputs, labels, state.readout, counts=self.weights)
        return _moved(self.setting, state, size, gradient=gradient, descent=descent)

    def _reveal(self, c: Float[np.ndarray, "n k"]) -> None:
        """Append the components along what the averages of c x show, as ``Known.reveal`` does.

        With U = R G^(-1/2), R the part of c outside V and G = mean R R^T (the symmetric root, which
        moves little when c does): Z gains U L/sqrt(n) + (1 - V V^T) E, V now with U.
        """
        weights = self.weights[:, None]
        size = float(np.sum(weights * c**2))
        k, outside = c.shape[1], self.setting.d - self.data.shape[1]
        for _ in range(2):  # twice for orthogonality to rounding
            c = c - self.used @ (self.used.T @ (weights * c))
        values, vectors = np.linalg.eigh(c.T @ (weights * c))
        kept = values > NULL * size
        new = c @ (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
        self.used = np.concatenate([self.used, new], axis=1)
        e, self.spare = self.spare[:, :k], self.spare[:, k:]
        e = e - self.used @ (self.used.T @ (weights * e))
        along = new @ self.draw.bartlett(k, outside) / math.sqrt(self.samples)
        self.data = np.concatenate([self.data, along + e], axis=1)


def drawn_errors(
    setting: Setting,
    start: Start,
    source: Quadrature | PathNormals,
    *,
    fluctuations: Fluctuations,
    seed: int,
    given: bool,
) -> Float[np.ndarray, "t 3"]:
    """Train error, test error and what they leave out after each step of one drawn run.

    ``source`` -> points for fresh batches, or the normals of the paths that stand for samples seen
    more than once;
    ``given`` -> whether the rows of the start are those of the run, where they are not drawn;
    ``seed`` -> of the readout's samples.
    """
    if not given:
        rows = start_rows(setting, fluctuations.span(setting))
        start = replace(start, rows=rows)
    return fitted_errors_of(
        setting, start, drawn_states(setting, start, source, fluctuations), seed
    )


def fitted_errors_of(
    setting: Setting, start: Start, states: Iterable[Visited], seed: int
) -> Float[np.ndarray, "t 3"]:
    """Train error, test error and what they leave out of the readout in each of the states."""
    key = np.random.default_rng([seed, 1])
    fitted = replace(start, biases=start.readout_biases)
    errors = [
        readout_errors(setting, replace(fitted, rows=state.rows), state.points, key)
        for state in states
    ]
    return np.array([(error.train, error.test, error.left_out) for error in errors])


def drawn_states(
    setting: Setting, start: Start, source: Quadrature | PathNormals, draw: Fluctuations
) -> Iterator[Visited]:
    """The states of a drawn run after steps 0..T, from the rows of its start."""
    if isinstance(source, PathNormals):
        return _reused(setting, start, source, draw)
    return _fresh(setting, start, source, draw)


def _fresh(
    setting: Setting, start: Start, quadrature: Quadrature, draw: Fluctuations
) -> Iterator[Visited]:
    """States on samples that are new at every step."""
    state, points = start, quadrature(start.rows, 0)
    yield Visited(state.rows, state.readout, points)
    for step, size in enumerate(setting.step_size):
        if setting.deflate == 1:
            # Only what deflation reveals is looked at again before the samples are new.
            seen, weights = draw.batch(points, setting.n)
            spare = np.column_stack([seen.spare, np.zeros((len(seen.x), setting.p))])
            stepped = Batch(setting, draw, seen, weights, spare).step(state, size)
        else:
            stepped = _one_step(setting, state, points, draw=draw, size=size)
        rows = compressed(stepped.state.rows, setting.known)
        state, points = replace(stepped.state, rows=rows), quadrature(rows, step + 1)
        yield Visited(rows, state.readout, points, stepped.gradient)


def _one_step(
    setting: Setting, state: Start, points: Points, *, draw: Fluctuations, size: float
) -> Stepped:
    """A step on samples that are not seen again.

    Along the known directions the update is its mean and the noise of n samples; outside them it is
    G^(1/2) L/sqrt(n), G = mean c c^T, L Bartlett's.
    """
    rows = state.rows
    batch, weights = draw.batch(points, setting.n)
    labels = setting.label_transform(labels_at(setting, batch.x, batch.noise))
    if setting.deflate == 0:
        labels = labels - weights @ labels
    inputs = state.preactivations(batch.x)
    g = np.asarray(coefficients(setting, inputs, labels, state.readout))
    values, vectors = np.linalg.eigh((g * weights) @ g.T)
    symmetric = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    outside = symmetric @ draw.vectors(setting.p, setting.d - rows.shape[1])
    if batch is points:  # the error of their own mean, larger than the noise of n samples, goes
        along = mean_gradient(setting, state, points, inputs, g)
        along += (g * (weights - points.weights)) @ points.x
    else:
        along = (g * weights) @ batch.x
    gradient = np.concatenate([along, outside / math.sqrt(setting.n)], axis=1)
    descent = readout_descent(setting, inputs, labels, state.readout, counts=weights)
    return _moved(setting, state, size, gradient=gradient, descent=descent)


def _moved(
    setting: Setting,
    state: Start,
    size: float,
    *,
    gradient: Float[np.ndarray, "p k"],
    descent: Float[np.ndarray, " p"],
) -> Stepped:
    """A step along a gradient that has more coordinates than the rows."""
    rows = stepped_rows(setting, state.rows, gradient, size)
    readout = moved_readout(setting, state.readout, descent)
    return Stepped(replace(state, rows=rows, readout=readout), gradient)


def _reused(
    setting: Setting, start: Start, sets: PathNormals, draw: Fluctuations
) -> Iterator[Visited]:
    """States where samples are seen more than once."""
    rows, number, normals = start.rows, -1, sets(0)
    yield Visited(rows, start.readout, _unseen(normals, rows.shape[1]))
    for step, size in enumerate(setting.step_size):
        if set_of(setting.batches, step) != number:
            number = set_of(setting.batches, step)
            rows, normals = compressed(rows, setting.target.r), sets(number)
            q = rows.shape[1]
            paths = replace(_unseen(normals, q), noise=normals[:, q])
            _, weights = draw.batch(paths, set_size(setting.batches, setting.n))
            batch = Batch(setting, draw, paths, weights, normals[:, q + 1 :])
        stepped = batch.step(replace(start, rows=rows), size)
        rows = stepped.state.rows
        compact = compressed(rows, setting.target.r)
        points = _unseen(normals, compact.shape[1])
        yield Visited(compact, start.readout, points, stepped.gradient)


def _unseen(normals: Float[np.ndarray, "n k"], q: int) -> Points:
    """Points for samples that are new, which see rows in any q coordinates."""
    weights, noise = np.full(len(normals), 1.0 / len(normals)), normals[:, -1]
    return Points(normals[:, :q], noise, noise, weights)
