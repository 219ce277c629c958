"""scikit-learn's own checks of an estimator."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from giantstep.estimator.classifier import GiantStepClassifier
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.regressor import GiantStepRegressor

# One direction at most, no soft steps, two folds: a fit with the same conventions in a tenth of the
# time.
QUICK = Recipe(folds=())
ESTIMATORS = [
    GiantStepRegressor(max_directions=1, soft=False, recipe=QUICK),
    GiantStepClassifier(max_directions=1, soft=False, recipe=QUICK),
]


# With SCIPY_ARRAY_API unset scikit-learn skips its check of other array libraries with a warning.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_convention(estimator: Any, check: Any) -> None:
    check(estimator)
