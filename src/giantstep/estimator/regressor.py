"""The regressor."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from jaxtyping import Float
from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_sample_weight

from giantstep.errors import InputError, shown
from giantstep.estimator.base import GiantStep
from giantstep.estimator.inputs import ends
from giantstep.estimator.rows import Rows


class GiantStepRegressor(RegressorMixin, GiantStep):
    """Regression on directions that are found by giant steps and tested against noise.

    f(x) = linear part + soft neurons + g(U^T x): the span U grows by giant steps of the residual, a
    ridge readout of fixed neurons on it is g, and the parts are weighed by what they predict out of
    fold.  Columns must be numbers without gaps (scikit-learn's OneHotEncoder and SimpleImputer make
    them so).  Neither the units of the columns nor their order matter, nor does the order of the
    rows.  Extreme values are pulled in unless the label is linear in them; a few cells far outside
    their column are clipped.  A label that is twenty times as far out as all others is clipped too,
    with a warning: one such row would decide the whole fit.  Where y is constant a warning says so,
    and it is predicted.  Beside X a fit holds its standardised columns, in float32 where they are
    many, and blocks of 32 MiB.

    Parameters
    ----------
    max_directions : int, default=5
        Directions at most.
    level : float, default=0.02
        Probability that the tests of the directions call one certain that is not needed; also that
        of the tests of steps against noise.
    soft : bool, default=True
        Whether neurons that are spread over all directions may add what no few directions hold.
    random_state : int, RandomState instance or None, default=0
        Seed of the neurons: all that is random in a fit.
    verbose : int, default=0
        1 prints every fold.
    recipe : Recipe or None, default=None
        All other choices of a fit, each with its reason: ``giantstep.estimator.recipe.Recipe``.

    Attributes
    ----------
    n_directions_ : int
        Certain directions: rows that were left out are predicted worse without each of them.
    n_fitted_ : int
        Directions of the fitted span, certain or not: the number that predicts best out of fold; 0
        says that at this n none predicts reliably.
    certain_ : ndarray of shape (n_fitted_,)
        Which of the fitted directions are certain.
    direction_tests_ : tuple of DirectionTest
        For each fitted direction what rows left out lose without it, with p-value and level.
    directions_ : ndarray of shape (n_fitted_, n_features_in_)
        Weights of the columns in every fitted direction, the strongest first.
    strengths_ : ndarray of shape (n_fitted_,)
        Mean squared slope along each direction, labels of variance one.
    tests_ : tuple of NoiseTest
        Tests against noise of what is left of the labels when 0, 1, ... directions are fitted.
    parts_ : tuple of Part
        Parts of the prediction: name, weight, what each explains alone and adds to the others.
        Weights are factors of least squares, not shares: they need not sum to one.
    clipped_cells_ : ndarray of shape (n_cells, 2)
        Row and column of cells so far outside their column that they count as the end of it.
    clipped_labels_ : ndarray of shape (n_labels, 2)
        Row and output of labels so far outside all others that they count as the end of these.
    stability_ : float
        Mean squared principal cosine between the spans of different folds; NaN without them.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Shares of the columns in the mean squared gradient of the prediction.
    out_of_fold_score_ : float
        R^2 of predictions of rows that were left out.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the table has some.

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import GiantStepRegressor
    >>> x = np.random.default_rng(0).standard_normal((300, 8))
    >>> y = np.tanh(2.0 * x[:, 0] - 2.0 * x[:, 1])
    >>> GiantStepRegressor().fit(x, y).n_directions_
    1
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Find the directions and fit the readout; a weight counts as so many copies of a row."""
        x, labels = self._checked(X, y, multi_output=True, y_numeric=True, ensure_min_samples=2)
        weight = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
        if labels.dtype.kind not in "biuf":
            raise InputError(
                f"y must be numbers, got {shown(labels.flat[0])}; classes are GiantStepClassifier's"
            )
        # Sums and differences of labels and predictions are then numbers.
        most, largest = np.finfo(float).max / 8, np.abs(labels).max()
        if largest > most:
            raise InputError(f"y must not exceed {most:.1e} in size, got {largest}")
        self._flat = labels.ndim == 1
        self._fit(x, np.asarray(labels, dtype=float).reshape(len(x), -1), weight)
        return self

    def _labelled(self, rows: Rows) -> Rows:
        """The rows, labels that lie apart clipped to the range of the others."""
        low, high = ends(rows.y, self._recipe.labels_apart, self._recipe)
        row, output = np.nonzero((rows.y < low) | (rows.y > high))
        places = np.column_stack([rows.index[row], output])
        self.clipped_labels_ = places[np.lexsort(places.T[::-1])]
        if len(places):
            first, column = self.clipped_labels_[0]
            worst = rows.y[row, output][np.argmax(rows.index[row] == first)]
            warnings.warn(
                f"y has {len(places)} of {rows.y.size:,} labels far outside all others, such as "
                f"{worst:.6g} in row {first}: they count as the end of the range of the others, "
                f"{low[column]:.6g} to {high[column]:.6g}; correct or drop them",
                stacklevel=4,
            )
        return replace(rows, y=np.clip(rows.y, low, high))

    def predict(self, X: Any) -> Float[np.ndarray, "n *m"]:  # noqa: N803
        """The blend's prediction."""
        response = self._respond(self._validated(X))
        return response[:, 0] if self._flat else response

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
