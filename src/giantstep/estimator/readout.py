"""The network on the directions as a regressor of its own, for scikit-learn's inspection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array

from giantstep.errors import InputError

if TYPE_CHECKING:
    from giantstep.estimator.base import GiantStep


class DirectionReadout(RegressorMixin, BaseEstimator):
    """The fitted network of an estimator, as a regressor of coordinates along its directions.

    Its columns are those of ``transform``.  Its prediction is ``response`` in the units of the
    labels: the linear and soft parts of the blend are left out.  For a classifier it predicts the
    class scores.  Partial dependence and permutation importance of scikit-learn then speak of
    directions in place of columns.

    Parameters
    ----------
    estimator : GiantStepRegressor or GiantStepClassifier
        A fitted estimator.
    """

    def __init__(self, estimator: GiantStep) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803
        """Nothing is left to fit: the readout is that of the estimator."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self.estimator, "n_fitted_")

    def predict(self, X: Any) -> Float[np.ndarray, "n *m"]:  # noqa: N803
        """The readout at coordinates along the directions."""
        u, fit = check_array(X, ensure_min_features=0), self.estimator
        if u.shape[1] != fit.n_fitted_:
            raise InputError(
                f"X must have a column for each direction, {fit.n_fitted_} in all, got "
                f"{u.shape[1]} columns"
            )
        labels = fit._mean + fit._scale * fit.response(u)
        return labels[:, 0] if labels.shape[1] == 1 else labels
