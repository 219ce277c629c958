"""Labels of a data set read by the regressor: a function of few directions, and its tests."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.estimator.coordinates import plain
from giantstep.estimator.fitted import fitted_target
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.regressor import GiantStepRegressor
from giantstep.estimator.steps import (
    FIRST_ORDER,
    LABEL_SLICES,
    SECOND_ORDER,
    Candidate,
    clipped,
    first_order,
    label_slices,
    second_order,
)
from giantstep.gaussian.series import HermiteSeries
from giantstep.problem.inputs import InputLaw
from giantstep.problem.setting import Setting
from giantstep.problem.tables import whitened
from giantstep.problem.target import Target
from giantstep.records.labels import FittedLabels, StepTest


def fit_labels(setting: Setting) -> FittedLabels:
    """What the rows of a data set tell about its labels, whatever inputs the setting makes of them.

    The function is that of the regressor on its directions, a polynomial of the coefficients that
    are beyond their standard errors, in coordinates of variance one.
    """
    data = setting.data
    if data is None or data.labels is None:
        raise InputError(f"target must be a column of a data set, got {setting.target.name!r}")
    white, y = whitened(data), data.labels
    # As they come: in white coordinates all rotations are alike, and rounding would choose one.
    columns = InputLaw("data", path=data.path).data_set(setting.target.column)
    assert columns is not None
    regressor = GiantStepRegressor(random_state=setting.seed % 2**32)
    with warnings.catch_warnings():
        # Clipped labels are not those that the steps see: no function is taken from them.
        warnings.simplefilter("ignore", UserWarning)
        fit = regressor.fit(columns.rows, y)
    along = [fit.directions_ @ _map(rows, columns.rows).T for rows in (white.rows, data.rows)]
    function = _function(fit, _orthonormal(along[0])[1], len(y))
    used = 0 if function is None else function.r
    return FittedLabels(
        function=function,
        directions=_orthonormal(along[1])[0][:used],
        explained=0.0 if function is None else function.series.variance,
        stability=fit.stability_,
        needed=math.inf if function is None else fit.needed_samples(function),
        tests=step_tests(white.rows, y, None if function is None else function.series),
        names=data.names,
    )


def _map(
    rows: Float[np.ndarray, "n d"], columns: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "d d"]:
    """M with columns = rows M: projections of the columns on v are those of the rows on M v."""
    return np.linalg.lstsq(rows, columns, rcond=None)[0]


def _orthonormal(
    rows: Float[np.ndarray, "k d"],
) -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "k k"]]:
    """Q with rows = L Q, L lower triangular with a positive diagonal, and L."""
    axes, upper = np.linalg.qr(rows.T)
    signs = np.where(np.diagonal(upper) < 0, -1.0, 1.0)
    return (axes * signs).T, (signs[:, None] * upper).T


def _function(fit: GiantStepRegressor, lower: Float[np.ndarray, "k k"], n: int) -> Target | None:
    """The fitted polynomial in orthonormal coordinates, None where nothing is beyond its noise."""
    if fit.n_fitted_ == 0 or len(fit.clipped_labels_):
        return None
    error = math.sqrt(max(1.0 - fit.out_of_fold_score_, 0.0) / n)
    try:
        return fitted_target(lambda v: fit.response(v @ lower.T)[:, 0], len(lower), error)
    except InputError:
        return None


def step_tests(
    z: Float[np.ndarray, "n d"],
    y: Float[np.ndarray, " n"],
    series: HermiteSeries | None,
    *,
    kinds: Sequence[str] | None = None,
    level: float = 0.02,
) -> tuple[StepTest, ...]:
    """Every kind of step against noise on all rows, and its directions on two halves of them.

    A first-order step on m rows has the squared cosine m t^2/(m t^2 + d) with the direction of a
    linear part of variance t^2, the labels having variance one; two of them have that as a cosine.
    level -> false-positive rate of every test, that of the regressor.
    """
    linear = 0.0 if series is None else float(np.sum(series.coefficients[series.degrees == 1] ** 2))
    half = len(y) // 2 * linear
    expected = {FIRST_ORDER: half / (half + z.shape[1])} if half else {}
    tests = []
    for kind in kinds or KINDS:
        step, *halves = (KINDS[kind](z[rows], y[rows], level) for rows in _splits(len(y)))
        edge = step.noise(level, math.inf)
        count = max(int(np.sum(step.statistics > edge)), 1)
        first, second = (part.directions[:, :count] for part in halves)
        tests.append(
            StepTest(
                kind=kind,
                statistic=float(step.statistics[0]),
                edge=edge,
                level=level,
                cosine=float(np.linalg.norm(first.T @ second)) / math.sqrt(count),
                expected=expected.get(kind),
                count=count,
            )
        )
    return tuple(tests)


def _splits(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All rows, and two halves at random: files are often sorted."""
    order = np.random.default_rng(0).permutation(n)
    return order, order[::2], order[1::2]


def _first(z: Float[np.ndarray, "n d"], y: Float[np.ndarray, " n"], level: float) -> Candidate:
    labels = (y - y.mean())[:, None]
    return first_order(clipped(labels, Recipe()), plain(z), np.ones(len(y)), level)


def _sliced(z: Float[np.ndarray, "n d"], y: Float[np.ndarray, " n"], level: float) -> Candidate:
    weight, labels = np.ones(len(y)), (y - y.mean())[:, None]
    slices = label_slices(labels, weight, Recipe())
    return first_order(slices, plain(z), weight, level, kind=LABEL_SLICES)


def _second(z: Float[np.ndarray, "n d"], y: Float[np.ndarray, " n"], level: float) -> Candidate:
    labels = (y - y.mean())[:, None]
    # A linear part would fill the second order with noise of its own.
    linear = np.linalg.lstsq(z, labels, rcond=None)[0]
    residual = clipped(labels - z @ linear, Recipe())
    return second_order(residual, plain(z), np.ones(len(y)), Recipe())


KINDS: dict[str, Callable[..., Candidate]] = {
    FIRST_ORDER: _first,
    LABEL_SLICES: _sliced,
    SECOND_ORDER: _second,
}
"""Steps on all directions of white inputs, by kind."""
