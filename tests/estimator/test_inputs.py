"""Tails of columns: drawn in, unless the label is linear in them."""

import numpy as np
import pytest

from giantstep import GiantStepRegressor
from giantstep.estimator.inputs import ends, fit_inputs
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.rows import distinct_rows


@pytest.mark.parametrize(("label", "drawn"), [("tail", False), ("sign", True), ("noise", True)])
def test_tails_are_kept_where_the_label_is_linear_in_them(label: str, drawn: bool) -> None:
    key = np.random.default_rng(0)
    delay = key.standard_t(2, (300, 1))
    x = np.hstack([delay, key.standard_normal((300, 3))])
    noise = key.standard_normal(300)
    y = {"tail": delay[:, 0] + 0.3 * noise, "sign": np.sign(delay[:, 0]), "noise": noise}[label]
    rows = distinct_rows(x, ((y - y.mean()) / y.std())[:, None], np.ones(300))
    assert list(fit_inputs(rows, key, Recipe())[0].scaling.heavy) == [drawn, False, False, False]


def test_a_line_through_heavy_tails_is_a_line() -> None:
    """Within the range seen, since inputs are clipped beyond; drawn in it is none.

    The noise itself leaves .93 of the variance.
    """
    key = np.random.default_rng(1)
    x = np.hstack([key.standard_t(2, (700, 1)), key.standard_normal((700, 3))])
    y = x[:, 0] + 0.5 * key.standard_normal(700)
    seen = (x[:, 0] > x[:300, 0].min()) & (x[:, 0] < x[:300, 0].max()) & (np.arange(700) >= 300)

    def score(recipe: Recipe) -> float:
        model = GiantStepRegressor(max_directions=0, soft=False, recipe=recipe)
        fit = model.fit(x[:300], y[:300])
        return fit.score(x[seen], y[seen])

    assert score(Recipe()) > 0.9
    assert score(Recipe(tails_worth=1.0)) < 0.87


def cell(value: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows of which one has this value in its third column, labels, and clean rows and labels."""
    key = np.random.default_rng(2)
    x, plane = key.standard_normal((2300, 6)), np.linalg.qr(key.standard_normal((6, 2)))[0]
    u = x @ plane
    y = u[:, 0] + u[:, 0] * u[:, 1]
    x[17, 2] = value
    return x[:300], y[:300], x[300:], y[300:]


@pytest.mark.parametrize("value", [1e5, -1e300])
def test_one_wild_cell_does_no_harm_and_is_named(value: float) -> None:
    x, y, fresh, labels = cell(value)
    fit = GiantStepRegressor(soft=False, max_directions=2).fit(x, y)
    assert fit.score(fresh, labels) > 0.98
    np.testing.assert_array_equal(fit.clipped_cells_, [[17, 2]])
    assert "row 17 of x3" in fit.explain()
    tame, y, *_ = cell(0.5)
    assert len(GiantStepRegressor(soft=False, max_directions=0).fit(tame, y).clipped_cells_) == 0


def test_ends_leave_out_few_cells_that_lie_apart_and_nothing_else() -> None:
    x = np.random.default_rng(3).standard_normal((500, 5))
    least, largest = x.min(axis=0), x.max(axis=0)
    x[:4, 0], x[:9, 1] = 50.0, 50.0  # four cells are few, nine of 500 are not
    x[:, 2] = np.exp(2 * x[:, 2])  # a tail is no gap
    x[:, 3] = np.arange(500) % 100 == 0  # mostly constant
    first, last = ends(x, Recipe().cells_apart, Recipe())
    assert (first[0], last[0]) == (x[4:, 0].min(), x[4:, 0].max())
    np.testing.assert_array_equal(first[1:], x[:, 1:].min(axis=0))
    np.testing.assert_array_equal(last[1:], x[:, 1:].max(axis=0))
    assert (first[4], last[4]) == (least[4], largest[4])
