"""The classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from jaxtyping import Float
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from giantstep.errors import InputError
from giantstep.estimator.base import GiantStep


class GiantStepClassifier(ClassifierMixin, GiantStep):
    """Classification on directions that are found by giant steps and tested against noise.

    The regressor's search on scores of the classes (one column for two classes, one a class for
    more); a logistic regression of the classes on the scores out of fold makes probabilities of
    them, so that these are calibrated on rows that no model saw.

    Parameters and attributes are those of GiantStepRegressor, and

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Find the directions and calibrate; a weight counts as so many copies of a row."""
        x, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(labels)
        weight = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
        self.classes_, place = np.unique(labels, return_inverse=True)
        present = np.unique(place[weight > 0])
        if len(present) < 2:
            raise InputError(
                f"y must have at least two classes with positive weight, got {len(present)} class"
            )
        scores = np.eye(len(self.classes_))[place]
        rows = self._fit(x, scores[:, 1:] if len(self.classes_) == 2 else scores, weight)
        found = rows.y.argmax(axis=1) if rows.y.shape[1] > 1 else rows.y[:, 0].astype(int)
        left = self._choice.left
        # No penalty worth the name: the scores are few.
        self._calibration = LogisticRegression(C=100.0, max_iter=1_000)
        self._calibration.fit(self._choice.predicted, found[left], sample_weight=rows.weight[left])
        return self

    def predict_proba(self, X: Any) -> Float[np.ndarray, "n c"]:  # noqa: N803
        """Probabilities of the classes."""
        scores = (self._respond(self._validated(X)) - self._mean) / self._deviation
        found = np.zeros((len(scores), len(self.classes_)))
        # A class of weight zero, or never left out, keeps probability zero.
        found[:, self._calibration.classes_] = self._calibration.predict_proba(scores)
        return found

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """The most probable class."""
        chosen = self.predict_proba(X).argmax(axis=1)
        return self.classes_[chosen]
