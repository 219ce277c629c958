"""The regressor."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from jaxtyping import Float
from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_sample_weight, validate_data

from giantstep.estimator.base import GiantStep


class GiantStepRegressor(RegressorMixin, GiantStep):
    """Regression on directions that are found by giant steps and tested against noise.

    f(x) = linear part + soft neurons + g(U^T x): the span U grows by giant steps of the residual, a
    ridge readout of fixed neurons on it is g, and the parts are weighed by what they predict out of
    fold.  Columns must be numbers without gaps; scales and heavy tails do not matter.

    Parameters
    ----------
    max_directions : int, default=5
        Directions at most.
    level : float, default=0.02
        False-positive rate of the test of every step against noise.  It is reported, and the
        number of directions is what predicts best out of fold.
    soft : bool, default=True
        Whether neurons that are spread over all directions may add what no few directions hold.
    random_state : int, RandomState instance or None, default=0
        Seed of the neurons.
    verbose : int, default=0
        1 prints every fold.

    Attributes
    ----------
    n_directions_ : int
        Directions found; 0 says that at this n none predicts reliably.
    directions_ : ndarray of shape (n_directions_, n_features_in_)
        Weights of the columns in every direction, the strongest first.
    strengths_ : ndarray of shape (n_directions_,)
        Mean squared slope along each direction, labels of variance one.
    steps_ : list of Step
        How the search on all rows found directions, with statistic and noise edge of each step.
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
    >>> from giantstep.estimator.regressor import GiantStepRegressor
    >>> x = np.random.default_rng(0).standard_normal((300, 8))
    >>> y = np.tanh(2.0 * x[:, 0] - 2.0 * x[:, 1])
    >>> GiantStepRegressor().fit(x, y).n_directions_
    1
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Find the directions and fit the readout; a weight counts as so many copies of a row."""
        x, labels = validate_data(
            self,
            X,
            y,
            dtype=np.float64,
            multi_output=True,
            y_numeric=True,
            ensure_min_samples=2,
        )
        weight = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
        self._flat = labels.ndim == 1
        self._fit(x, np.asarray(labels, dtype=float).reshape(len(x), -1), weight)
        return self

    def predict(self, X: Any) -> Float[np.ndarray, "n *m"]:  # noqa: N803
        """The blend's prediction."""
        found = self._respond(self._validated(X))
        return found[:, 0] if self._flat else found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
