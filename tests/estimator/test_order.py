"""Units, the order of columns and that of rows: none moves a prediction."""

from collections.abc import Callable

import numpy as np
import pytest

from giantstep import GiantStepClassifier, GiantStepRegressor
from giantstep.estimator.rows import distinct_rows

KEY = np.random.default_rng(4)
ROWS, COLUMNS = 120, 5
UNITS, ORDER = np.exp(4 * KEY.standard_normal(COLUMNS)), KEY.permutation(COLUMNS)
X = KEY.standard_normal((ROWS, COLUMNS))
CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "units": lambda x: x * UNITS,
    "zeros": lambda x: x + UNITS,
    "columns": lambda x: x[:, ORDER],
    "all": lambda x: (x * UNITS + UNITS)[:, ORDER],
}


def labels(x: np.ndarray) -> np.ndarray:
    """Two directions and noise."""
    return x[:, 0] + x[:, 0] * x[:, 1] + 0.3 * np.random.default_rng(5).standard_normal(len(x))


@pytest.fixture(scope="module")
def regressor() -> GiantStepRegressor:
    return GiantStepRegressor(max_directions=2).fit(X, labels(X))


@pytest.mark.slow(sentinel="all")
@pytest.mark.parametrize("change", ["units", "all"])
def test_predictions_of_the_regressor(regressor: GiantStepRegressor, change: str) -> None:
    """To 1e-6 of a standard deviation, on fresh rows; directions in units of the columns too."""
    changed, fresh = CHANGES[change], KEY.standard_normal((300, COLUMNS))
    other = GiantStepRegressor(max_directions=2).fit(changed(X), labels(X))
    moved = np.abs(other.predict(changed(fresh)) - regressor.predict(fresh))
    assert moved.max() < 1e-6 * np.std(labels(X))
    np.testing.assert_allclose(
        other.transform(changed(fresh)), regressor.transform(fresh), atol=1e-6
    )
    if change == "units":
        np.testing.assert_allclose(other.directions_ * UNITS, regressor.directions_, atol=1e-6)
        np.testing.assert_allclose(
            other.feature_importances_, regressor.feature_importances_, atol=1e-6
        )


@pytest.mark.slow
def test_probabilities_of_the_classifier() -> None:
    """Columns of few values, whose counts among the classes often tie."""
    x = np.round(X).clip(-1, 1)
    y = labels(X) > 0
    model, changed = GiantStepClassifier(max_directions=2), CHANGES["all"]
    before = model.fit(x, y).predict_proba(x)
    after = model.fit(changed(x), y).predict_proba(changed(x))
    assert np.abs(after - before).max() < 1e-6


@pytest.mark.parametrize("change", CHANGES)
def test_rows_and_columns_keep_their_order(change: str) -> None:
    """Distinct rows come in the same order, columns too, and it is that of nothing they say."""
    y = labels(X)[:, None]
    rows = distinct_rows(X, y, np.ones(ROWS))
    other = distinct_rows(CHANGES[change](X), 7.0 * y, np.ones(ROWS))
    np.testing.assert_array_equal(other.index, rows.index)
    place = ORDER if change in ("columns", "all") else np.arange(COLUMNS)
    np.testing.assert_array_equal(place[other.columns], rows.columns)
    # Correlation of the order with a column or the labels, a standard error of .09.
    along = np.corrcoef(np.column_stack([X, y])[rows.index].T, np.arange(ROWS))[-1, :-1]
    assert np.abs(along).max() < 0.3
