"""The common part of regressor and classifier: the fit, its coordinates, and its explanation."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from giantstep.errors import InputError, shown
from giantstep.estimator.blend import Choice, choose, fit_models
from giantstep.estimator.blocks import blocks
from giantstep.estimator.certain import noise_tests
from giantstep.estimator.columns import refuse_text
from giantstep.estimator.inputs import clipped_cells, fit_inputs
from giantstep.estimator.insight import look
from giantstep.estimator.models import Data, Limits, make_search, searched_rows
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.rows import Rows, distinct_rows
from giantstep.simulation.threads import single_blas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from giantstep.analysis.analyze import Analysis
    from giantstep.estimator.readout import DirectionReadout
    from giantstep.problem.target import Target

CONSTANT = "y is constant: it is predicted as such, and there is nothing to be learned from it"
"""What is said of a label without variance."""


class GiantStep(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The search, its models and their insight; see the regressor and the classifier."""

    def __init__(
        self,
        *,
        max_directions: int = 5,
        level: float = 0.02,
        soft: bool = True,
        random_state: Any = 0,
        verbose: int = 0,
        recipe: Recipe | None = None,
    ) -> None:
        self.max_directions = max_directions
        self.level = level
        self.soft = soft
        self.random_state = random_state
        self.verbose = verbose
        self.recipe = recipe

    # -- fitting --------------------------------------------------------------------------------

    def _limits(self) -> Limits:
        if not (isinstance(self.max_directions, numbers.Integral) and self.max_directions >= 0):
            raise InputError(
                f"max_directions must be a whole number from 0 on, got {shown(self.max_directions)}"
            )
        if not (self.recipe is None or isinstance(self.recipe, Recipe)):
            raise InputError(f"recipe must be a Recipe or None, got {shown(self.recipe)}")
        if not (isinstance(self.level, numbers.Real) and 0.0 < self.level < 1.0):
            raise InputError(f"level must lie between 0 and 1, got {shown(self.level)}")
        return Limits(
            most=int(self.max_directions),
            level=float(self.level),
            soft=bool(self.soft),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            recipe=self._recipe,
        )

    @property
    def _recipe(self) -> Recipe:
        return self.recipe or Recipe()

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {text}", flush=True)

    def _fit(
        self,
        x: Float[np.ndarray, "n d"],
        y: Float[np.ndarray, "n m"],
        weight: Float[np.ndarray, " n"],
    ) -> Rows:
        """Fit everything; the distinct rows, with labels as they came."""
        limits = self._limits()
        if not np.any(weight > 0):
            raise InputError("sample_weight must be positive for some row, got none")
        with single_blas():
            rows = self._labelled(distinct_rows(x, y, weight))
            data = self._prepared(rows, limits)
            self._choice: Choice = choose(data, limits, self._say)
            self._models = fit_models(data, self._choice, limits, self._say)
            self._record(data, limits)
            self.clipped_cells_ = clipped_cells(self._inputs.scaling, rows, limits.recipe)
        self._rows = len(rows)
        self.n_fitted_ = self._n_features_out = self._choice.k
        self.direction_tests_ = self._choice.tests
        self.certain_ = np.array([test.certain for test in self.direction_tests_], dtype=bool)
        self.n_directions_ = int(self.certain_.sum())
        self.parts_ = self._choice.parts
        self.stability_ = self._choice.stability
        self.out_of_fold_score_ = 1.0 - self._choice.error
        return rows

    def _prepared(self, rows: Rows, limits: Limits, rounding: float = 1e-12) -> Data:
        """Coordinates and standardised labels; one that deviates by rounding is constant."""
        share = rows.weight / len(rows)
        self._mean = share @ rows.y
        # In units of the largest deviation nothing overflows.
        centred = rows.y - self._mean
        unit = np.maximum(np.abs(centred).max(axis=0), np.finfo(float).tiny)
        deviation = unit * np.sqrt(share @ (centred / unit) ** 2)
        varies = deviation > rounding * np.abs(self._mean)
        self._scale = np.where(varies, deviation, 0.0)
        if not varies.any():
            warnings.warn(CONSTANT, stacklevel=4)
        scaled = replace(rows, y=centred / np.where(varies, deviation, np.inf))
        key = np.random.default_rng(limits.seed)
        self._inputs, at = fit_inputs(scaled, key, limits.recipe)
        self._say(f"{len(rows)} distinct rows, {at.white.shape[1]} coordinates")
        return Data(at, scaled.y, scaled.weight)

    def _record(self, data: Data, limits: Limits) -> None:
        """Directions, their tests and importances, and some rows for the picture."""
        self._span = self._models.spans[self._choice.k]
        at = data.at.take(slice(0, limits.recipe.gradient_rows))
        insight = look(self._inputs, self._models, self._span, self._choice.weights, at)
        self._turn = insight.turn
        self.directions_ = insight.directions
        self.strengths_ = insight.strengths
        self.feature_importances_ = insight.importances
        most = searched_rows(data.at.white.shape[1], limits.recipe)
        search = make_search(data, limits, limits.most, most)
        basis = self._span.basis @ self._turn
        self.tests_ = noise_tests(search, basis)
        drawn = slice(0, 1_000)
        self._sample = data.at.take(drawn).white @ basis, data.y[drawn]

    def _labelled(self, rows: Rows) -> Rows:
        """The rows with the labels that are fitted: as they came, unless some are clipped."""
        self.clipped_labels_ = np.empty((0, 2), dtype=int)
        return rows

    def _respond(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n m"]:
        """The blend's prediction, block by block."""
        response = np.empty((len(x), len(self._mean)))
        with single_blas():
            for block in self._blocks(x):
                parts = self._models.predict(self._inputs(x[block]), self.n_fitted_)
                blend = np.tensordot(self._choice.weights, parts, 1)
                response[block] = self._mean + self._scale * blend
        return response

    @staticmethod
    def _blocks(x: Float[np.ndarray, "n d"], neurons: int = 1_024) -> Iterator[slice]:
        """Blocks of rows that are predicted at once, each taking so many columns beside its own."""
        return blocks(len(x), neurons + x.shape[1])

    def _checked(self, *arrays: Any, **options: Any) -> Any:
        """The table, and the labels if there are any, as scikit-learn validates them."""
        refuse_text(arrays[0])
        return validate_data(self, *arrays, dtype=(np.float64, np.float32), **options)

    def _validated(self, x: Any) -> Float[np.ndarray, "n d"]:
        check_is_fitted(self)
        return self._checked(x, reset=False)

    # -- what was found -------------------------------------------------------------------------

    def transform(self, X: Any) -> Float[np.ndarray, "n k"]:  # noqa: N803
        """Coordinates on the directions found, the strongest first."""
        x = self._validated(X)
        coordinates = np.empty((len(x), self.n_fitted_))
        basis = self._span.basis @ self._turn
        with single_blas():
            for block in blocks(len(x), x.shape[1]):
                coordinates[block] = self._inputs(x[block]).white @ basis
        return coordinates

    def response(self, u: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n m"]:
        """The network's value at coordinates on the directions, labels of mean 0 and variance 1."""
        check_is_fitted(self)
        return self._span.respond(np.asarray(u, dtype=float) @ self._turn.T)

    def on_directions(self) -> DirectionReadout:
        """The network as a fitted regressor of ``transform``'s columns, to inspect directions."""
        from giantstep.estimator.readout import DirectionReadout

        check_is_fitted(self)
        return DirectionReadout(self)

    def explain(self) -> str:
        """What is certain, what predicts and how much each part adds, in words."""
        from giantstep.estimator.words import words

        check_is_fitted(self)
        return words(self)

    def _closing_words(self) -> list[str]:
        """Sentences on what follows the blend."""
        return []

    def plot(self) -> Figure:
        """What is certain, what predicts, the response on the directions, importances."""
        from giantstep.estimator.picture import picture

        check_is_fitted(self)
        return picture(self)

    def fitted_target(self, output: int = 0) -> Target:
        """The fitted function as a Hermite polynomial, what is within its noise left out."""
        from giantstep.estimator.fitted import fitted_target

        check_is_fitted(self)
        if self.n_fitted_ == 0:
            raise InputError("no direction was found, so that there is no function to analyze")
        error = math.sqrt(max(self._choice.error, 0.0) / self._rows)
        return fitted_target(
            lambda u: self.response(u)[:, output], self.n_fitted_, error, self._rows
        )

    def analyze_fit(self, output: int = 0) -> Analysis:
        """Leap, staircase and floors of the fitted function, Gaussian coordinates assumed."""
        from giantstep.analysis.analyze import analyze

        return analyze(self.fitted_target(output))

    def needed_samples(self, target: Any = None, noise: float | None = None) -> float:
        """Samples after which the steps of this search are aligned with the target's directions.

        target -> an expression, a catalog name or a callable; the fitted function if not given.
        noise -> variance of the noise over that of the target; as out of fold if not given.
        """
        from giantstep.estimator.needs import needed_samples
        from giantstep.problem.target import make_target

        check_is_fitted(self)
        if noise is None:
            explained = min(max(self.out_of_fold_score_, 1e-3), 1.0)
            noise = (1.0 - explained) / explained
        series = (self.fitted_target() if target is None else make_target(target)).series
        needed = needed_samples(series, self._inputs.to_white.shape[1], noise)
        return needed if math.isinf(needed) else float(math.ceil(needed))
