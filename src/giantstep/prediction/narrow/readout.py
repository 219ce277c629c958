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

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import NoTheoryError
from giantstep.gaussian.coordinates import root
from giantstep.prediction.narrow.points import Points
from giantstep.prediction.narrow.start import Start, labels_at, second_moment_gap
from giantstep.problem.penalties import penalties_of
from giantstep.problem.setting import Setting

SAMPLES_A_NEURON = 10
"""Below so many samples a neuron order 1/n is not enough: its square is 1 % of the error."""

SAMPLES_A_DIMENSION = 1000
"""Samples a dimension from which on the readout's fit of the labels' linear part is exact."""

CHOICES = 512
"""Draws of the fit on which the penalty is chosen: they average to 1/20 of one draw's spread."""

BLOCKS = 4
"""Blocks of points, each a low-discrepancy set, of which one tells the terms of order 1/n."""

NULL = 1e-12
"""Eigenvalues of Sig relative to the largest below which two neurons are one: rounding."""


@dataclass(frozen=True)
class ReadoutErrors:
    """Expected train and test error, and what terms beyond order 1/readout_n may add to them."""

    train: float
    test: float
    left_out: float


def objection(setting: Setting) -> str | None:
    """Why there is no prediction of the readout, None where there is one."""
    n, d, p = setting.readout_n, setting.d, setting.p
    if n < SAMPLES_A_NEURON * p:
        return f"readout_n must be at least {SAMPLES_A_NEURON} p = {SAMPLES_A_NEURON * p}, got {n}"
    if setting.deflate == 1 and n < SAMPLES_A_DIMENSION * d:
        least = SAMPLES_A_DIMENSION * d
        return f"readout_n must be at least {SAMPLES_A_DIMENSION} d = {least} to deflate, got {n}"
    return None


def readout_errors(
    setting: Setting,
    state: Start,
    points: Points,
    key: np.random.Generator,
) -> ReadoutErrors:
    """Train and test error of the ridge readout on the features of given rows and biases.

    One penalty: the formulas above.  Several, or "cv": the penalty is chosen anew for every sample
    by leave-one-out, as the simulator does; ``key`` draws the samples' fits.
    """
    n, weights = setting.readout_n, points.weights
    fitted, known = _fitted(setting, points)
    phi = setting.scale * np.asarray(
        setting.activation(state.preactivations(points.x)), dtype=float
    )
    moments = (phi * weights) @ phi.T
    if not np.all(np.isfinite(moments)):
        raise NoTheoryError("no prediction: the features leave the finite numbers")
    values, vectors = np.linalg.eigh(moments)
    grid = penalties_of(setting.ridge, float(values.mean()))
    kept = values > NULL * values[-1]
    # From here on in the eigenbasis of Sig, and one row a penalty.
    values, phi = values[kept], vectors[:, kept].T @ phi
    cross = phi @ (weights * fitted)
    penalty = grid[:, None]
    inverse = 1.0 / (values + penalty)
    readout = inverse * cross
    # E e^2 = E y^2 - b^T H^-1 (2 - Sig H^-1) b
    power = float(weights @ fitted**2)
    mean = power - np.sum(cross * readout * (2.0 - values * inverse), axis=1)
    block = slice(0, max(len(fitted) // BLOCKS, 1))
    some, share = phi[:, block], weights[block] / np.sum(weights[block])
    residual = fitted[block] - readout @ some
    square = some**2
    # ridge H^-1 a, and E[phi e l]
    pulled = penalty * inverse * readout
    weighted = share * residual
    skew = (weighted * (inverse @ square)) @ some.T
    bias = 2.0 * np.sum(pulled * (skew - values * pulled), axis=1)
    # The diagonal of E[e^2 phi phi^T]; with it tr[Sig H^-1 C H^-1] and tr[H^-1 C]
    diagonal = (weighted * residual) @ square.T
    outer = np.sum(values * (inverse**2 * diagonal - pulled**2), axis=1)
    inner = np.sum(inverse * diagonal - penalty * pulled * readout, axis=1)
    if points.halved:
        mean += _overfit(phi, fitted, values, grid)
    test = known + mean + (bias + outer) / n
    train = test - 2.0 * inner / n
    if len(grid) > 1 and len(values):  # without features all penalties are one
        free = cross / values
        noise = (some * (share * (fitted[block] - free @ some) ** 2)) @ some.T
        noise = noise / np.outer(values, values)
        fits = Fits(values, free, _drawn(noise / n, key), np.diagonal(noise) / n)
        train, test = fits.choose(train, test, values * inverse)
    left_out = len(values) / n * float(test[0] - train[0])
    if setting.deflate >= 0:  # the mean, and the linear part, are fitted on the same samples
        left_out += (1 + setting.deflate * setting.d) / n * power
    return ReadoutErrors(float(train[0]), float(test[0]), left_out)


def _overfit(
    phi: Float[np.ndarray, "m n"],
    fitted: Float[np.ndarray, " n"],
    values: Float[np.ndarray, " m"],
    grid: Float[np.ndarray, " k"],
) -> Float[np.ndarray, " k"]:
    """What E e^2 lacks at each penalty, because a is fitted on the points that measure it.

    A readout of one half of the points has errors below the truth there and above it on the other
    half, by twice what one of all points lacks: that is a quarter of the difference.
    """
    half = phi.shape[1] // 2
    parts = [(phi[:, side], fitted[side]) for side in (slice(0, half), slice(half, None))]
    moments = [part @ part.T / half for part, _ in parts]
    crosses = [part @ labels / half for part, labels in parts]
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


def _drawn(
    covariance: Float[np.ndarray, "m m"], key: np.random.Generator
) -> Float[np.ndarray, "j m"]:
    return key.standard_normal((CHOICES, len(covariance))) @ root(covariance).T


def _fitted(setting: Setting, points: Points) -> tuple[Float[np.ndarray, " n"], float]:
    """Labels the readout is fitted on, and what their mean square lacks on these points."""
    labels = labels_at(setting, points.x, points.noise)
    if setting.deflate < 0:
        return labels, second_moment_gap(setting, labels, points.weights)
    fitted = labels - points.weights @ labels
    if setting.deflate == 1:
        fitted = fitted - points.x @ ((points.weights * fitted) @ points.x)
    return fitted, 0.0
