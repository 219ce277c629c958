"""The ridge readout of a narrow network at finite readout_n: train and test error to order 1/n.

In the notation s_p phi -> phi, Sig = E[phi phi^T], b = E[phi y], H = Sig + ridge, a = H^-1 b the
readout of infinitely many samples, e = y - phi.a its residual and l = phi^T H^-1 phi,

    bias = 2 ridge a^T H^-1 (E[phi e l] - ridge Sig H^-1 a)
    C    = E[e^2 phi phi^T] - ridge^2 a a^T
    test  = E e^2 + (bias + tr[Sig H^-1 C H^-1])/n
    train = E e^2 + (bias + tr[Sig H^-1 C H^-1] - 2 tr[H^-1 C])/n

for n = readout_n samples; ridge -> 0 leaves E e^2 +- tr[Sig^-1 E[e^2 phi phi^T]]/n.  Features are
not Gaussian and residuals depend on them: the fourth moments are the true ones, by quadrature.
docs/derivations/readout.md derives this, and how the choice among penalties enters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from giantstep.errors import NoTheoryError
from giantstep.gaussian.coordinates import root
from giantstep.prediction.narrow.evolution import Snapshot
from giantstep.prediction.narrow.points import Points
from giantstep.prediction.narrow.state import State, labels_at, second_moment_gap
from giantstep.problem.penalties import penalties_of
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class ReadoutErrors:
    """Expected train and test error, and what terms beyond order 1/readout_n may add to them."""

    train: float
    test: float
    left_out: float


def errors_after_steps(
    setting: Setting, snapshots: Iterable[Snapshot], seed: int
) -> Float[np.ndarray, "t 3"]:
    """Train error, test error and what they leave out of the readout after each step of a run."""
    key = np.random.default_rng([seed, 1])
    errors = []
    for snapshot in snapshots:
        state = replace(snapshot.state, biases=snapshot.state.readout_biases)
        error = readout_errors(setting, state, snapshot.points, key)
        errors.append((error.train, error.test, error.left_out))
    return np.array(errors)


def readout_errors(
    setting: Setting,
    state: State,
    points: Points,
    key: np.random.Generator,
    *,
    choices: int = 512,
) -> ReadoutErrors:
    """Train and test error of the ridge readout on the features of given rows and biases.

    One penalty: the formulas above.  Several, or "cv": the penalty is chosen anew for every sample
    by leave-one-out, as the simulator does; ``key`` draws the samples' fits, so many ``choices``
    that they average to 1/20 of one draw's spread.

    docs/derivations/readout.md, eq. (1).
    """
    n, (labels, gap) = setting.readout_n, _fitted_labels(setting, points)
    features = Features.of(setting, state, points, labels)
    test, inner = features.test_errors(n, halved=points.halved)
    test += gap
    train = test - 2.0 * inner / n
    if len(features.grid) > 1 and len(features.values):  # without features all penalties are one
        noise = features.free_covariance() / n
        drawn = key.standard_normal((choices, len(noise))) @ root(noise).T
        free = features.cross / features.values
        fits = Fits(features.values, free, drawn, np.diagonal(noise))
        train, test = fits.choose(train, test, features.values * features.inverse)
    left_out = len(features.values) / n * float(test[0] - train[0])
    if setting.deflate >= 0:  # the mean, and the linear part, are fitted on the same samples
        power = float(points.weights @ labels**2)
        left_out += (1 + setting.deflate * setting.d) / n * power
    return ReadoutErrors(float(train[0]), float(test[0]), left_out)


def fitted_readout(setting: Setting, state: State, points: Points) -> Float[np.ndarray, " p"]:
    """The readout a = H^-1 b of given rows and biases, a weight for every neuron.

    Several penalties, or "cv": the one of which (1) expects the smallest test error.

    docs/derivations/readout.md, eq. (1).
    """
    labels, _ = _fitted_labels(setting, points)
    features = Features.of(setting, state, points, labels)
    errors, _ = features.test_errors(setting.readout_n, halved=points.halved)
    return features.vectors @ (features.inverse[np.argmin(errors)] * features.cross)


@dataclass(frozen=True)
class Features:
    """Features phi on points in the eigenbasis of Sig, whose eigenvalues are ``values``.

    ``vectors`` is the eigenbasis, a row for each neuron.  ``grid`` are the penalties; what depends
    on them has a row for each.  ``cross`` is b.
    """

    phi: Float[np.ndarray, "m n"]
    values: Float[np.ndarray, " m"]
    vectors: Float[np.ndarray, "p m"]
    weights: Float[np.ndarray, " n"]
    labels: Float[np.ndarray, " n"]
    grid: Float[np.ndarray, " k"]

    @classmethod
    def of(
        cls,
        setting: Setting,
        state: State,
        points: Points,
        labels: Float[np.ndarray, " n"],
        *,
        null: float = 1e-12,
    ) -> Features:
        """Those of a network; eigenvalues below ``null`` times the largest are rounding."""
        inputs = state.preactivations(points.x)
        phi = setting.scale * np.asarray(setting.activation(inputs), dtype=float)
        moments = (phi * points.weights) @ phi.T
        if not np.all(np.isfinite(moments)):
            raise NoTheoryError(
                "no prediction: the features become infinite or too large. Use a smaller step"
            )
        values, vectors = np.linalg.eigh(moments)
        grid = penalties_of(setting.ridge, float(values.mean()))
        kept = values > null * values[-1]  # two neurons that are one
        basis = vectors[:, kept]
        return cls(basis.T @ phi, values[kept], basis, points.weights, labels, grid)

    @cached_property
    def cross(self) -> Float[np.ndarray, " m"]:
        return self.phi @ (self.weights * self.labels)

    @cached_property
    def inverse(self) -> Float[np.ndarray, "k m"]:
        """H^-1."""
        return 1.0 / (self.values + self.grid[:, None])

    def mean_square(self) -> Float[np.ndarray, " k"]:
        """E e^2 = E y^2 - b^T H^-1 (2 - Sig H^-1) b."""
        power = float(self.weights @ self.labels**2)
        explained = self.cross * self.inverse * self.cross * (2.0 - self.values * self.inverse)
        return power - np.sum(explained, axis=1)

    def block(
        self, count: int = 4
    ) -> tuple[Float[np.ndarray, "m j"], Float[np.ndarray, " j"], Float[np.ndarray, " j"]]:
        """Features, weights and labels of one of so many blocks of points.

        Each is a low-discrepancy set, and one of them tells the terms of order 1/n.
        """
        part = slice(0, max(len(self.labels) // count, 1))
        weights = self.weights[part] / np.sum(self.weights[part])
        return self.phi[:, part], weights, self.labels[part]

    def first_order(
        self,
    ) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
        """bias, tr[Sig H^-1 C H^-1] and tr[H^-1 C].

        docs/derivations/readout.md, eq. (1).
        """
        phi, weights, labels = self.block()
        penalty, readout = self.grid[:, None], self.inverse * self.cross
        residual = labels - readout @ phi
        square = phi**2
        # ridge H^-1 a, and E[phi e l]
        pulled = penalty * self.inverse * readout
        weighted = weights * residual
        skew = (weighted * (self.inverse @ square)) @ phi.T
        bias = 2.0 * np.sum(pulled * (skew - self.values * pulled), axis=1)
        # The diagonal of E[e^2 phi phi^T]
        diagonal = (weighted * residual) @ square.T
        outer = np.sum(self.values * (self.inverse**2 * diagonal - pulled**2), axis=1)
        inner = np.sum(self.inverse * diagonal - penalty * pulled * readout, axis=1)
        return bias, outer, inner

    def test_errors(
        self, n: int, *, halved: bool
    ) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
        """Expected test errors of fits to n samples, and tr[H^-1 C].

        ``halved`` points correct the error of a fit that is judged on its own points.
        """
        mean = self.mean_square()
        if halved:
            mean += _overfit(self.phi, self.labels, self.grid)
        bias, outer, inner = self.first_order()
        return mean + (bias + outer) / n, inner

    def free_covariance(self) -> Float[np.ndarray, "m m"]:
        """Sig^-1 E[e^2 phi phi^T] Sig^-1, n times the covariance of readouts without penalty."""
        phi, weights, labels = self.block()
        residual = labels - (self.cross / self.values) @ phi
        square = (phi * (weights * residual**2)) @ phi.T
        return square / np.outer(self.values, self.values)


def _overfit(
    phi: Float[np.ndarray, "m n"],
    labels: Float[np.ndarray, " n"],
    grid: Float[np.ndarray, " k"],
) -> Float[np.ndarray, " k"]:
    """What E e^2 lacks at each penalty, because a is fitted on the points that measure it.

    A readout of one half of the points has errors below the truth there and above it on the other
    half, by twice what one of all points lacks: that is a quarter of the difference.
    """
    half = phi.shape[1] // 2
    sides = (slice(0, half), slice(half, None))
    moments = [phi[:, side] @ phi[:, side].T / half for side in sides]
    crosses = [phi[:, side] @ labels[side] / half for side in sides]
    total = np.zeros(len(grid))
    for one, other in ((0, 1), (1, 0)):
        near, vectors = np.linalg.eigh(moments[one])
        inside = (vectors.T @ crosses[one]) / (np.maximum(near, 0.0) + grid[:, None])
        readout = inside @ vectors.T
        # The mean squares of the labels cancel in the sum over both halves.
        for side, sign in ((other, 1.0), (one, -1.0)):
            square = np.sum((readout @ moments[side]) * readout, axis=1)
            total += sign * (square - 2.0 * readout @ crosses[side])
    return total / 8.0


@dataclass(frozen=True)
class Fits:
    """Readouts without penalty, free + noise, of many samples, in the eigenbasis of Sig.

    ``values`` -> eigenvalues s, ``free`` -> a at ridge 0, ``noise`` -> one row a sample, of mean 0
    and of variances ``variance``.
    """

    values: Float[np.ndarray, " m"]
    free: Float[np.ndarray, " m"]
    noise: Float[np.ndarray, "j m"]
    variance: Float[np.ndarray, " m"]

    def choose(
        self,
        train: Float[np.ndarray, " k"],
        test: Float[np.ndarray, " k"],
        factor: Float[np.ndarray, "k m"],
    ) -> tuple[Float[np.ndarray, " 1"], Float[np.ndarray, " 1"]]:
        """Expected errors at the penalty that leave-one-out takes, from those at every penalty.

        A penalty multiplies the fit by ``factor`` f = s/(s + ridge).  To leading order the parts
        of the errors that differ from sample to sample and from penalty to penalty are

            train, leave-one-out: sum s ((1 - f)(free + noise))^2
            test:                 sum s (f noise - (1 - f) free)^2

        less their means; leave-one-out has the mean of the test error.

        docs/derivations/readout.md, eq. (2).
        """
        change = 1.0 - factor
        surplus = self.noise**2 - self.variance
        crossed = 2.0 * self.noise * self.free
        seen = (crossed + surplus) @ (self.values * change**2).T
        felt = surplus @ (self.values * factor**2).T - crossed @ (self.values * factor * change).T
        chosen = np.argmin(test + seen, axis=1)[:, None]
        return (
            np.take_along_axis(train + seen, chosen, axis=1).mean(axis=0),
            np.take_along_axis(test + felt, chosen, axis=1).mean(axis=0),
        )


def _fitted_labels(setting: Setting, points: Points) -> tuple[Float[np.ndarray, " n"], float]:
    """Labels the readout is fitted on, and what their mean square lacks on these points."""
    labels = labels_at(setting, points.x, points.noise)
    if setting.deflate < 0:
        return labels, second_moment_gap(setting, labels, points.weights)
    fitted = labels - points.weights @ labels
    if setting.deflate == 1:
        fitted = fitted - points.x @ ((points.weights * fitted) @ points.x)
    return fitted, 0.0
