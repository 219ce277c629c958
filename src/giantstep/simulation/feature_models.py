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
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.starts import STARTS
from giantstep.simulation.stepped import SteppedRun, stepped_runs, table_errors
from giantstep.simulation.table import FeatureTable

Model = Callable[[Float[np.ndarray, "n d"], np.random.Generator], Float[np.ndarray, "n p"]]


def real_features(step: SteppedRun) -> Model:
    """F = sigma(X W1^T)."""
    return lambda x, key: step.features(x)


@dataclass(frozen=True)
class Spike:
    """A rank-one part of the features: left(x beta) times a^degree."""

    left: Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]]
    degree: int


def spikes(step: SteppedRun, order: int) -> list[Spike]:
    """c_1^k c_k eta^k (X beta)^k (a^k)^T for k = 1..l, order -> l."""
    c = step.setting.activation.coefficients(max(order, 1)).values  # E[sigma He_k] = k! c_k
    first = step.step_size * c[1]
    return [
        Spike(
            lambda along, k=k: c[k] / math.factorial(k) * (first * along) ** k,  # type: ignore[misc]
            k,
        )
        for k in range(1, order + 1)
    ]


def longer_rows(step: SteppedRun) -> Spike:
    """c_2 ds 1 (a^2)^T, ds = eta^2 (d/n) E[r^2] Var sigma'.

    The gradient's rest is noise to every other vector, but it adds ds a_i^2 to the square length
    of row i, and E sigma(|w| z) has the derivative c_2 in |w|^2.  Above alpha = 1/4 it grows as the
    second spike, though the paper's F_2 has no such term.
    """
    setting, activation = step.setting, step.setting.activation
    square = step.step_size**2 * setting.d / setting.n * float(np.mean(step.residual**2))
    height = 0.5 * activation.coefficients(2).values[2] * square * activation.moments.slope_variance
    return Spike(lambda along: np.full(len(along), height), 2)


def expansion(step: SteppedRun, order: int) -> Model:
    """F_l = F0 + sum_{k=1..l} c_1^k c_k eta^k (X beta)^k (a^k)^T, order -> l."""
    beta, added = step.spike, spikes(step, order)

    def features(x: Float[np.ndarray, "n d"], key: np.random.Generator) -> Float[np.ndarray, "n p"]:
        values = np.asarray(step.setting.activation(x @ step.start.T), dtype=float)
        along = x @ beta
        for spike in added:
            values = values + np.outer(spike.left(along), step.readout**spike.degree)
        return values

    return features


def gaussian_equivalent(step: SteppedRun) -> Model:
    """mu0_i + mu1_i <w_i/|w_i|, x> + mu*_i xi: what a Gaussian with F's mean and covariance is."""
    norms = np.linalg.norm(step.weights, axis=1)
    directions = step.weights / norms[:, None]
    moments = feature_moments(step.setting.activation, np.zeros(len(norms)), norms)

    def features(x: Float[np.ndarray, "n d"], key: np.random.Generator) -> Float[np.ndarray, "n p"]:
        shift = np.zeros((len(x), len(norms)))
        noise = _noise(step, directions, shift, norms, moments, key)
        return moments.mean + moments.slope * (x @ directions.T) + noise

    return features


def conditional_equivalent(step: SteppedRun, *, reach: float = 6.5, count: int = 97) -> Model:
    """mu0_i(kappa) + mu1_i(kappa) <w_perp/s, x_perp> + mu*_i(kappa) xi, kappa = <beta/|beta|, x>.

    u_i = <w_i, beta/|beta|>, s_i = |w_perp|; moments of sigma(u_i kappa + s_i z) in z ~ N(0, 1).
    They vary on the scale s_i/u_i, and are splines through ``count`` knots with |kappa| up to
    ``reach``, which a normal exceeds once in 10^10.
    """
    from scipy.interpolate import CubicSpline

    activation, direction = step.setting.activation, step.spike / np.linalg.norm(step.spike)
    along = step.weights @ direction
    across = step.weights - np.outer(along, direction)
    norms = np.linalg.norm(across, axis=1)
    directions = across / norms[:, None]
    knots = np.linspace(-reach, reach, count)
    table = feature_moments(activation, np.outer(knots, along), norms[None, :])
    splines = [CubicSpline(knots, values) for values in (table.mean, table.slope, table.square)]

    def features(x: Float[np.ndarray, "n d"], key: np.random.Generator) -> Float[np.ndarray, "n p"]:
        kappa = x @ direction
        mean, slope, square = (spline(kappa) for spline in splines)
        moments = FeatureMoments(mean, slope, np.zeros_like(mean), square)
        noise = _noise(step, directions, np.outer(kappa, along), norms, moments, key)
        return mean + slope * (x @ directions.T) + noise

    return features


def _noise(
    step: SteppedRun,
    directions: Float[np.ndarray, "p d"],
    shift: Float[np.ndarray, "n p"],
    scale: Float[np.ndarray, " p"],
    moments: FeatureMoments,
    key: np.random.Generator,
) -> Float[np.ndarray, "n p"]:
    """mu* xi, xi independent normals, but for the pairs of a paired start.

    Those share the row they started from: with z, z' of its correlation, independent of the inputs,
    sigma(shift + scale z) - mu0 - mu1 z has the covariances that the rest of a pair should have.
    """
    z = key.standard_normal(shift.shape)
    if not STARTS[step.setting.start].paired:
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
    """Errors of every model by name: real, gaussian, conditional, expansion 0, expansion 1, ...

    ``mean(model, what)`` and ``excess(model, what)`` are means over runs with standard errors, of
    "train" or "test" (arXiv 2310.07891, arXiv 2305.18270).
    """

    setting: Setting
    ridge: float
    models: dict[str, Errors]

    def __repr__(self) -> str:
        errors = ", ".join(f"{name} {self.mean(name)[0]:.4g}" for name in self.models)
        return f"Equivalences(ridge {self.ridge:g}, mean test errors: {errors})"

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

    F_l = sigma(X W_0^T) + sum_{k<=l} c_1^k c_k eta^k (X beta)^k (a^k)^T is the expansion in l
    spikes (arXiv 2310.07891); the Gaussian and the conditional Gaussian equivalents are those of
    arXiv 2305.18270.  n, d and p in proportion, one step.
    """
    if not setting.inputs.is_gaussian:
        raise InputError(f"inputs must be gaussian for feature models, got {setting.inputs.text!r}")
    if not ridge > 0:
        raise InputError(f"ridge must be positive, got {ridge:g}")
    if runs < 2:
        raise InputError(f"runs must be at least 2 for a standard error, got {runs}")
    if any(order < 0 for order in orders):
        raise InputError(f"orders must not be negative, got {orders}")
    setting = setting.vary(ridge=ridge, seed=setting.seed if seed is None else seed)
    by_model: dict[str, list[tuple[float, float, float]]] = {}
    for step in stepped_runs(setting, range(runs)):
        for name, errors in _one_run(step, orders).items():
            by_model.setdefault(name, []).append(errors)
    return Equivalences(
        setting,
        ridge,
        {name: Errors(*np.array(rows).T) for name, rows in by_model.items()},
    )


def _one_run(step: SteppedRun, orders: tuple[int, ...]) -> dict[str, tuple[float, float, float]]:
    models = {
        "real": real_features(step),
        "gaussian": gaussian_equivalent(step),
        "conditional": conditional_equivalent(step),
        **{f"expansion {order}": expansion(step, order) for order in orders},
    }
    by_model, real = {}, step.features(step.training.inputs)
    for name, model in models.items():
        training, test = tables(step, model)
        errors = table_errors(step.setting, training, test)
        by_model[name] = (*errors, distance(training.features, real))
    return by_model


def tables(step: SteppedRun, model: Model) -> tuple[FeatureTable, FeatureTable]:
    """The model's features of the training and of the test data, beside the labels."""
    key = generator(step.setting.seed, step.run, Purpose.HIDDEN)
    training, test = (
        FeatureTable(model(samples.inputs, key), samples.labels)
        for samples in (step.training, step.test)
    )
    return training, test
