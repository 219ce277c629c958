"""One giant step of a narrow network: means and fluctuations in closed form.

From a row w with teacher overlaps m and norm s, residual = y, the update divided by eta s_p a has

    mean in V*      sum_k b_{k+1}(s)/k! T_{k+1}[m^k] + m sum_k b_{k+2}(s)/k! <T_k, m^k>
    mean along w    the second sum
    covariance      E[y^2 sigma'^2 x x^T]/n - (mean)(mean)^T/n

with b_k(s) = E[sigma^(k)(s z)] and T_k = E[grad^k f] (Stein's lemma; section 3 of arXiv 2305.18270
to leading order).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.points import normal_points
from giantstep.gaussian.series import HermiteSeries
from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.narrow.covariance import BatchNoise
from giantstep.prediction.narrow.fresh import mean_step, seen_points
from giantstep.prediction.narrow.limits import ONE_STEP_LAW
from giantstep.prediction.narrow.points import Points
from giantstep.prediction.narrow.state import State, labels_at
from giantstep.problem.activation import Activation
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class MeanUpdate:
    """Mean update over eta s_p a: ``along_target`` in V*, ``along_row`` times the row itself."""

    along_target: Float[np.ndarray, "*k r"]
    along_row: Float[np.ndarray, "*k"]


def mean_update(
    series: HermiteSeries,
    activation: Activation,
    overlap: Float[np.ndarray, "*k r"],
    norm: float = 1.0,
    *,
    highest: int = 24,
) -> MeanUpdate:
    """E[y sigma'(<w, x>) x] = along_target + along_row w, for rows of one norm and any overlaps.

    Degrees of the target up to ``highest`` count; overlaps below 1 make further ones negligible.

    docs/theory/index.md, eq. (2).
    """
    degree = min(series.degree, highest)
    b = activation.derivative_coefficients(degree + 2, norm).values
    along_target = np.zeros(overlap.shape)
    along_row = np.zeros(overlap.shape[:-1])
    for exponent, c in zip(series.exponents, series.coefficients, strict=True):
        k = int(exponent.sum())
        if k > degree:
            continue
        # c h_alpha contributes alpha!^(1/2) c to every entry of T_k with index alpha, so that
        # <T_k, m^k>/k! = c m^alpha / sqrt(alpha!), and its gradient in m is T_k[m^(k-1)]/(k-1)!.
        weight = float(c) / math.sqrt(math.prod(math.factorial(a) for a in exponent.tolist()))
        along_row += b[k + 2] * weight * np.prod(overlap**exponent, axis=-1)
        for j in np.flatnonzero(exponent):
            lowered = exponent.copy()
            lowered[j] -= 1
            slope = np.prod(overlap**lowered, axis=-1)
            along_target[..., j] += b[k] * weight * exponent[j] * slope
    return MeanUpdate(along_target, along_row)


@dataclass(frozen=True)
class OneStepLaw:
    """Law of one neuron after one step from a given start, at finite n and d.

    ``overlap`` and ``square_norm`` are means, ``covariance`` that of (overlaps, squared norm).
    """

    overlap: Float[np.ndarray, " r"]
    square_norm: float
    covariance: Float[np.ndarray, "k k"]


def one_step_law(
    setting: Setting,
    overlap: Float[np.ndarray, " r"],
    readout: float,
    seed: int = 0,
    log2_points: int = 17,
) -> OneStepLaw:
    """Mean and covariance of a neuron's overlaps and squared norm after one step, residual = y.

    They are those of a step on a fresh batch (fresh.py, covariance.py) for p = 1 and q = r + 1.

    docs/derivations/fluctuations.md, eq. (2).
    """
    refuse_beyond(ONE_STEP_LAW, setting)
    if not (setting.labels_only or setting.start.kind.paired):
        raise InputError(f"one_step_law needs residual = y: symmetric start, got {setting.start!r}")
    r = setting.target.r
    row = np.r_[overlap, math.sqrt(max(1.0 - float(overlap @ overlap), 0.0))]
    normals = normal_points(r + 2, seed, log2_points)
    x, noise, weights = normals[:, : r + 1], normals[:, -1], np.full(len(normals), 1 / len(normals))
    seen = seen_points(setting, Points(x, noise, noise, weights))
    slopes = np.asarray(setting.activation.derivative(x @ row))
    g = (setting.scale * readout * slopes * seen.labels)[None]
    moved = mean_step(setting, row[None], seen, g, step=0)
    state = State(row[None], np.array([readout]))
    batch = BatchNoise(setting, state, seen, g, moved, setting.step_size[0])
    columns = batch.columns()
    return OneStepLaw(moved.overlap[0], float(moved.gram[0, 0]), columns.T @ columns)


def cosine_quantiles(
    setting: Setting,
    probabilities: Float[np.ndarray, " k"],
    draws: int = 2000,
    seed: int = 0,
) -> Float[np.ndarray, "k r"]:
    """Quantiles of |cosine| with each target direction after one step, over start and batch.

    The start is drawn (overlaps of a uniform unit vector), the mean update follows in closed form,
    and the batch adds Gaussian noise: of covariance E[y^2 z z^T] E[sigma'^2]/n inside V*, larger
    than outside where y depends on z (10 against 2 for He2), and of variance E[y^2] E[sigma'^2]/n
    in every direction outside.  A random row is orthogonal to V* to leading order.
    """
    refuse_beyond(ONE_STEP_LAW, setting)
    series, r = setting.target.series, setting.target.r
    rng = np.random.default_rng(seed)
    eta = setting.step_size[0] * setting.scale
    normal = rng.standard_normal((draws, r))
    outside_square = rng.chisquare(setting.d - r, size=draws)
    starts = normal / np.sqrt(outside_square + np.sum(normal**2, axis=1))[:, None]
    square = series.square + setting.noise**2
    slope_square = setting.activation.moments.slope_square
    noise = math.sqrt(square * slope_square / setting.n)
    points = normal_points(r + 1, seed)
    weighted = points[:, :r] * labels_at(setting, points, points[:, r])[:, None]
    inside = np.linalg.cholesky(weighted.T @ weighted / len(points) * slope_square / setting.n)
    # The noise of a draw, along the target and outside it: one draw after the other.
    drawn = [(rng.standard_normal(r), rng.chisquare(setting.d - r)) for _ in range(draws)]
    update = mean_update(series, setting.activation, starts)
    drift = update.along_target + update.along_row[:, None] * starts
    step = drift + np.array([along for along, _ in drawn]) @ inside.T
    moved = starts + eta * step
    outside = 1.0 - np.sum(starts**2, axis=1)
    row_part = (1.0 + eta * update.along_row) ** 2 * outside
    free = (eta * noise) ** 2 * np.array([square for _, square in drawn])
    length = np.sqrt(np.sum(moved**2, axis=1) + row_part + free)
    return np.quantile(np.abs(moved) / length[:, None], probabilities, axis=0)
