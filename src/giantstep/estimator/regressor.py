"""GiantStepRegressor: finds the directions that matter, tests them, and fits a network on them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from giantstep.estimator.blend import Data, Limits, choose, fit_models
from giantstep.estimator.inputs import fit_inputs
from giantstep.estimator.rows import Rows, blocks, distinct_rows
from giantstep.simulation.threads import single_blas

FITTED_ON = 50_000
"""Rows that fix centre, scale and whitening of the inputs: more would not change a digit."""
PREDICTED_WIDTH = 512


class _GiantStep(TransformerMixin, BaseEstimator):
    def __init__(
        self,
        max_directions: int = 5,
        level: float = 0.02,
        soft: bool = True,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.max_directions = max_directions
        self.level = level
        self.soft = soft
        self.random_state = random_state
        self.verbose = verbose


class GiantStepRegressor(RegressorMixin, _GiantStep):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        X, y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        w = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        Y = np.asarray(y, dtype=float).reshape(len(X), -1)
        with single_blas():
            rows = distinct_rows(X, Y, w)
            share = rows.weight / len(rows)
            self._mean = share @ rows.y
            dev = np.sqrt(share @ (rows.y - self._mean) ** 2)
            dev[dev <= 1e-12 * np.abs(self._mean)] = 0
            self._scale = dev
            yy = (rows.y - self._mean) / np.where(dev > 0, dev, np.inf)
            rows = Rows(rows.x, yy, rows.weight)
            limits = Limits(self.max_directions, self.level, self.soft, 0)
            self.inputs_ = fit_inputs(
                rows.take(np.arange(min(len(rows), FITTED_ON))), np.random.default_rng(0)
            )
            data = Data(self.inputs_(rows.x), rows.y, rows.weight)
            say = (lambda t: print(t)) if self.verbose else (lambda t: None)
            self.choice_ = choose(data, limits, say)
            self.models_ = fit_models(data, self.choice_, limits, say)
            self.n_directions_ = self.choice_.k
        self._shape = np.shape(y)
        return self

    def predict(self, X):
        X = validate_data(self, X, dtype=np.float64, reset=False)
        out = np.empty((len(X), len(self._mean)))
        with single_blas():
            for b in blocks(len(X), PREDICTED_WIDTH):
                p = self.models_.predict(self.inputs_(X[b]), self.n_directions_)
                out[b] = self._mean + self._scale * np.tensordot(self.choice_.weights, p, 1)
        return out if len(self._shape) > 1 else out[:, 0]
