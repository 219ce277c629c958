"""Sampled models of the features after one giant step, side by side with the real ones.

    real         F = sigma(X W1^T)
    expansion l  F_l = F0 + sum_{k<=l} c_1^k c_k eta^k (X beta)^k (a^k)^T       (arXiv 2310.07891)
    gaussian     mu0_i + mu1_i <w_i/|w_i|, x> + mu*_i xi, first two moments of sigma(w_i x) matched
    conditional  the same given kappa = <beta/|beta|, x>                       (arXiv 2305.18270)

with beta = X1^T r/n the spike of the step on its own batch X1, r = y - f0 (or y), eta the step size
times s_p, and c_k = E[sigma He_k]/k!.  A ridge readout on each tells which of them learns like F.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.moments import FeatureMoments, feature_moments
from giantstep.problem.network import coefficients, given_overlaps, start_readout
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting

KAPPA_REACH = 6.5
"""Largest |kappa| tabulated: a normal exceeds it once in 10^10."""

KAPPA_NODES = 97
"""Knots in kappa of the splines through the moments, which vary on the scale s_i/u_i."""

Model = Callable[[Float[np.ndarray, "n d"], np.random.Generator], Float[np.ndarray, "n p"]]


@dataclass(frozen=True)
class OneStep:
    """One run: the start, the batch of its one giant step, and the weights after it."""

    setting: Setting
    readout: Float[np.ndarray, " p"]
    start: Float[np.ndarray, "p d"]
    inputs: Float[np.ndarray, "n d"]
    labels: Float[np.ndarray, " n"]
    residual: Float[np.ndarray, " n"]
    weights: Float[np.ndarray, "p d"]

    @property
    def spike(self) -> Float[np.ndarray, " d"]:
        """beta = X^T r / n."""
        return self.inputs.T @ self.residual / len(self.inputs)

    @property
    def step_size(self) -> float:
        """eta, the step size times s_p."""
        return self.setting.step_size[0] * self.setting.scale


def labelled(
    setting: Setting, count: int, run: int, purpose: Purpose
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
    """Gaussian inputs and their labels; the target directions are the first axes."""
    key = generator(setting.seed, run, purpose)
    inputs = key.standard_normal((count, setting.d))
    clean = setting.target([inputs[:, k] for k in range(setting.target.r)])
    return inputs, setting.labels(np.asarray(clean, float), key.standard_normal(count))


def take_step(setting: Setting, run: int = 0) -> OneStep:
    """Draw the start and the batch of a run and take its first giant step, in plain NumPy."""
    if setting.steps < 1:
        raise InputError(f"steps must be at least 1 for features after a step, got {setting.steps}")
    if not setting.inputs.is_gaussian:
        raise InputError(f"inputs must be gaussian for feature models, got {setting.inputs.text}")
    if setting.deflate >= 0:
        raise InputError(f"deflate must be -1 for feature models, got {setting.deflate}")
    start, readout = _start(setting, run), start_readout(setting, run)
    inputs, labels = labelled(setting, setting.n, run, Purpose.BATCH)
    pre = start @ inputs.T
    gradient = coefficients(setting, pre, labels, readout) @ inputs / setting.n
    residual = labels
    if setting.residual == "full":
        residual = labels - setting.scale * (readout @ np.asarray(setting.activation(pre)))
    weights = start + setting.step_size[0] * gradient
    return OneStep(setting, readout, start, inputs, labels, residual, weights)


def _start(setting: Setting, run: int) -> Float[np.ndarray, "p d"]:
    key = generator(setting.seed, run, Purpose.START, 0)
    p, d = setting.p, setting.d
    if setting.start == "orthogonal":
        overlaps, r = given_overlaps(setting), setting.target.r
        outside = np.linalg.qr(key.standard_normal((d - r, p)))[0].T
        rest = np.sqrt(np.maximum(1.0 - np.sum(overlaps**2, axis=1), 0.0))
        return np.column_stack([overlaps, rest[:, None] * outside])
    rows = key.standard_normal((p // 2 if setting.start == "symmetric" else p, d))
    if setting.start == "gaussian":
        return rows / math.sqrt(d)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.concatenate([rows, rows]) if setting.start == "symmetric" else rows


# -- the models ---------------------------------------------------------------------------------


def real_features(step: OneStep) -> Model:
    """F = sigma(X W1^T)."""
    activation = step.setting.activation
    return lambda x, key: np.asarray(activation(x @ step.weights.T), dtype=float)


def expansion(step: OneStep, order: int) -> Model:
    """F_l = F0 + sum_{k=1..l} c_1^k c_k eta^k (X beta)^k (a^k)^T, order -> l."""
    activation, spike, eta = step.setting.activation, step.spike, step.step_size
    c = activation.coefficients(max(order, 1)).values  # E[sigma He_k] = k! c_k

    def features(x: Float[np.ndarray, "n d"], key: np.random.Generator) -> Float[np.ndarray, "n p"]:
        found = np.asarray(activation(x @ step.start.T), dtype=float)
        along = np.outer(eta * c[1] * (x @ spike), step.readout)
        for k in range(1, order + 1):
            found = found + c[k] / math.factorial(k) * along**k
        return found

    return features


def gaussian_equivalent(step: OneStep) -> Model:
    """mu0_i + mu1_i <w_i/|w_i|, x> + mu*_i xi: what a Gaussian with F's mean and covariance is."""
    norms = np.linalg.norm(step.weights, axis=1)
    directions = step.weights / norms[:, None]
    moments = feature_moments(step.setting.activation, np.zeros(len(norms)), norms)

    def features(x: Float[np.ndarray, "n d"], key: np.random.Generator) -> Float[np.ndarray, "n p"]:
        shift = np.zeros((len(x), len(norms)))
        noise = _noise(step, directions, shift, norms, moments, key)
        return moments.mean + moments.slope * (x @ directions.T) + noise

    return features


def conditional_equivalent(step: OneStep) -> Model:
    """mu0_i(kappa) + mu1_i(kappa) <w_perp/s, x_perp> + mu*_i(kappa) xi, kappa = <beta/|beta|, x>.

    u_i = <w_i, beta/|beta|>, s_i = |w_perp|; moments of sigma(u_i kappa + s_i z) in z ~ N(0, 1).
    """
    from scipy.interpolate import CubicSpline

    activation, direction = step.setting.activation, step.spike / np.linalg.norm(step.spike)
    along = step.weights @ direction
    rest = step.weights - np.outer(along, direction)
    norms = np.linalg.norm(rest, axis=1)
    directions = rest / norms[:, None]
    knots = np.linspace(-KAPPA_REACH, KAPPA_REACH, KAPPA_NODES)
    table = feature_moments(activation, np.outer(knots, along), norms[None, :])
    splines = [CubicSpline(knots, values) for values in (table.mean, table.slope, table.square)]

    def features(x: Float[np.ndarray, "n d"], key: np.random.Generator) -> Float[np.ndarray, "n p"]:
        kappa = x @ direction
        mean, slope, square = (spline(kappa) for spline in splines)
        found = FeatureMoments(mean, slope, np.zeros_like(mean), square)
        noise = _noise(step, directions, np.outer(kappa, along), norms, found, key)
        return mean + slope * (x @ directions.T) + noise

    return features


def _noise(
    step: OneStep,
    directions: Float[np.ndarray, "p d"],
    shift: Float[np.ndarray, "n p"],
    scale: Float[np.ndarray, " p"],
    moments: FeatureMoments,
    key: np.random.Generator,
) -> Float[np.ndarray, "n p"]:
    """mu* xi, xi independent normals, but for the pairs of the symmetric start.

    Those share the row they started from: with z, z' of its correlation, independent of the inputs,
    sigma(shift + scale z) - mu0 - mu1 z has the covariances that the rest of a pair should have.
    """
    z = key.standard_normal(shift.shape)
    if step.setting.start != "symmetric":
        return np.sqrt(moments.rest) * z
    half = len(directions) // 2
    overlap = np.sum(directions[:half] * directions[half:], axis=1)
    z[:, half:] *= np.sqrt(np.maximum(1.0 - overlap**2, 0.0))
    z[:, half:] += overlap * z[:, :half]
    return np.asarray(step.setting.activation(shift + scale * z)) - moments.mean - moments.slope * z


def distance(one: Float[np.ndarray, "n p"], other: Float[np.ndarray, "n p"]) -> float:
    """Operator norm of the difference over sqrt(n), on the scale of the singular values."""
    return float(np.linalg.norm(one - other, 2)) / math.sqrt(len(one))


# -- learning with each -------------------------------------------------------------------------


@dataclass(frozen=True)
class Errors:
    """Train and test error of a ridge readout on one model, by run, and its distance from F."""

    train: Float[np.ndarray, " runs"]
    test: Float[np.ndarray, " runs"]
    distance: Float[np.ndarray, " runs"]


@dataclass(frozen=True)
class Equivalences:
    """Errors of every model by name: real, gaussian, conditional, expansion 0, expansion 1, ..."""

    setting: Setting
    ridge: float
    models: dict[str, Errors]

    def mean(self, model: str, what: str = "test") -> tuple[float, float]:
        """Mean over runs of ``test``, ``train`` or ``distance``, and its standard error."""
        return _mean(getattr(self.models[model], what))

    def excess(self, model: str, what: str = "test") -> tuple[float, float]:
        """Mean over runs of the error less that of the real features in the same run."""
        real = getattr(self.models["real"], what)
        return _mean(getattr(self.models[model], what) - real)


def _mean(values: Float[np.ndarray, " runs"]) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))


def equivalences(
    setting: Setting,
    ridge: float = 0.1,
    orders: tuple[int, ...] = (0, 1, 2),
    runs: int = 8,
    seed: int | None = None,
) -> Equivalences:
    """Ridge regression on the features after one step and on each of their models, side by side.

    ridge -> lambda of min mean (y - s_p phi.a)^2 + lambda |a|^2, orders -> the l of the expansions.
    Every model of a run sees the same step, training and test data (readout_batch, readout_n and
    test_n of the setting); differences are therefore best judged by ``excess``.
    """
    if not ridge > 0:
        raise InputError(f"ridge must be positive, got {ridge:g}")
    if runs < 2:
        raise InputError(f"runs must be at least 2 for a standard error, got {runs}")
    if setting.readout_n == 0:
        raise InputError("readout_n must be positive for a readout, got 0")
    if any(order < 0 for order in orders):
        raise InputError(f"orders must not be negative, got {orders}")
    if seed is not None:
        setting = setting.vary(seed=seed)
    found: dict[str, list[tuple[float, float, float]]] = {}
    for run in range(runs):
        for name, errors in _one_run(setting, ridge, orders, run).items():
            found.setdefault(name, []).append(errors)
    return Equivalences(
        setting,
        ridge,
        {name: Errors(*np.array(rows).T) for name, rows in found.items()},
    )


def _one_run(
    setting: Setting, ridge: float, orders: tuple[int, ...], run: int
) -> dict[str, tuple[float, float, float]]:
    step = take_step(setting, run)
    data = (step.inputs, step.labels)
    if setting.readout_batch == "fresh":
        data = labelled(setting, setting.readout_n, run, Purpose.READOUT)
    test = labelled(setting, setting.test_n, run, Purpose.TEST)
    models = {
        "real": real_features(step),
        "gaussian": gaussian_equivalent(step),
        "conditional": conditional_equivalent(step),
        **{f"expansion {order}": expansion(step, order) for order in orders},
    }
    found, real = {}, None
    for name, model in models.items():
        key = generator(setting.seed, run, Purpose.HIDDEN)
        phi, other = model(data[0], key), model(test[0], key)
        real = phi if real is None else real
        train, error = ridge_errors(
            setting.scale * phi, data[1], setting.scale * other, test[1], ridge
        )
        found[name] = (train, error, distance(phi, real))
    return found


def ridge_errors(
    features: Float[np.ndarray, "n p"],
    labels: Float[np.ndarray, " n"],
    test_features: Float[np.ndarray, "m p"],
    test_labels: Float[np.ndarray, " m"],
    ridge: float,
) -> tuple[float, float]:
    """Train and test error of min over a of mean (y - phi.a)^2 + ridge |a|^2."""
    n, p = features.shape
    if n >= p:
        normal = features.T @ features / n + ridge * np.eye(p)
        weights = np.linalg.solve(normal, features.T @ labels / n)
    else:
        kernel = features @ features.T / n + ridge * np.eye(n)
        weights = features.T @ np.linalg.solve(kernel, labels) / n
    train = float(np.mean((labels - features @ weights) ** 2))
    return train, float(np.mean((test_labels - test_features @ weights) ** 2))
