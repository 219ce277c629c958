"""Labels of a data set read by the regressor: a function of few directions, and its tests."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.estimator.coordinates import plain
from giantstep.estimator.fitted import fitted_target
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

LEVEL = 0.02
"""False-positive rate of every test, that of the regressor."""

KINDS = (FIRST_ORDER, LABEL_SLICES, SECOND_ORDER)


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
    regressor = GiantStepRegressor(level=LEVEL, random_state=setting.seed % 2**32)
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
    if fit.n_directions_ == 0 or len(fit.clipped_labels_):
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
    kinds: Sequence[str] = KINDS,
) -> tuple[StepTest, ...]:
    """Every kind of step against noise on all rows, and its directions on two halves of them.

    A first-order step on m rows has the squared cosine m t^2/(m t^2 + d) with the direction of a
    linear part of variance t^2, the labels having variance one; two of them have that as a cosine.
    """
    found = []
    linear = 0.0 if series is None else float(np.sum(series.coefficients[series.degrees == 1] ** 2))
    half = len(y) // 2 * linear
    for kind in kinds:
        whole, *halves = (_step(kind, z[rows], y[rows]) for rows in _splits(len(y)))
        edge = whole.noise(LEVEL, math.inf)
        count = max(int(np.sum(whole.statistics > edge)), 1)
        first, second = (part.directions[:, :count] for part in halves)
        expected = half / (half + z.shape[1]) if kind == FIRST_ORDER and half else None
        found.append(
            StepTest(
                kind=kind,
                statistic=float(whole.statistics[0]),
                edge=edge,
                level=LEVEL,
                cosine=float(np.linalg.norm(first.T @ second)) / math.sqrt(count),
                expected=expected,
                count=count,
            )
        )
    return tuple(found)


def _splits(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All rows, and two halves at random: files are often sorted."""
    order = np.random.default_rng(0).permutation(n)
    return order, order[::2], order[1::2]


def _step(kind: str, z: Float[np.ndarray, "n d"], y: Float[np.ndarray, " n"]) -> Candidate:
    weight, labels = np.ones(len(y)), (y - y.mean())[:, None]
    if kind == LABEL_SLICES:
        return first_order(label_slices(labels, weight), plain(z), weight, LEVEL, kind=kind)
    if kind == FIRST_ORDER:
        return first_order(clipped(labels), plain(z), weight, LEVEL)
    # A linear part would fill the second order with noise of its own.
    linear = np.linalg.lstsq(z, labels, rcond=None)[0]
    return second_order(clipped(labels - z @ linear), plain(z), weight)
