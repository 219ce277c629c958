"""The estimators among scikit-learn's own tools: output, pipelines, inspection, several outputs."""

import pickle

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer

from giantstep.errors import InputError
from giantstep.estimator.classifier import GiantStepClassifier
from giantstep.estimator.readout import DirectionReadout
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.regressor import GiantStepRegressor

# One direction at most, no soft steps, two folds: the conventions in a tenth of the time.
QUICK = {"max_directions": 1, "soft": False, "recipe": Recipe(folds=())}
COLUMN = "giantstepregressor0"

Table = tuple[pandas.DataFrame, np.ndarray]


@pytest.fixture(scope="module")
def table() -> Table:
    """200 rows of |a - b| with names and an index of their own."""
    key = np.random.default_rng(0)
    x = key.standard_normal((200, 4))
    y = np.abs(x[:, 0] - x[:, 1]) + 0.1 * key.standard_normal(200)
    return pandas.DataFrame(x, columns=list("abcd"), index=np.arange(200) + 7), y


@pytest.fixture(scope="module")
def fit(table: Table) -> GiantStepRegressor:
    return GiantStepRegressor(**QUICK).set_output(transform="pandas").fit(*table)


def test_coordinates_are_a_frame_with_names_and_index(
    fit: GiantStepRegressor, table: Table
) -> None:
    x, _ = table
    u = fit.transform(x)
    assert list(u.columns) == list(fit.get_feature_names_out()) == [COLUMN]
    assert u.index.equals(x.index)
    # Predictions are arrays all the same, and so are coordinates where nobody asked for a frame.
    assert type(fit.predict(x)) is np.ndarray
    plain = pickle.loads(pickle.dumps(fit)).set_output(transform="default")
    np.testing.assert_array_equal(plain.transform(x), u.to_numpy())


def test_noise_has_a_frame_without_columns(table: Table) -> None:
    x, _ = table
    y = np.random.default_rng(1).standard_normal(len(x))
    noise = GiantStepRegressor(**QUICK).set_output(transform="pandas").fit(x, y)
    assert noise.transform(x).shape == (200, 0)
    # Beside the columns themselves a model behind it always has some.
    both = make_union(GiantStepRegressor(**QUICK), FunctionTransformer())
    assert both.fit(x, y).transform(x).shape == (200, 4)


def test_it_is_a_transformer_of_some_columns(table: Table) -> None:
    x, y = table
    front = make_column_transformer(
        (GiantStepRegressor(**QUICK), ["a", "b", "c"]), remainder="passthrough"
    ).set_output(transform="pandas")
    names = [f"giantstepregressor__{COLUMN}", "remainder__d"]
    assert list(front.fit_transform(x, y).columns) == names


def test_a_model_behind_it_is_tuned_in_a_pipeline(table: Table) -> None:
    """Of 150 neighbours the mean is flat: on the direction found, 5 are better."""
    x, y = table
    model = make_pipeline(GiantStepRegressor(**QUICK), KNeighborsRegressor())
    grid = {"kneighborsregressor__n_neighbors": [5, 60]}
    search = GridSearchCV(model, grid, cv=2).fit(x, y)
    assert search.best_params_ == {"kneighborsregressor__n_neighbors": 5}
    # On all four columns the neighbours are farther apart.
    alone = GridSearchCV(KNeighborsRegressor(), {"n_neighbors": [5, 60]}, cv=2).fit(x, y)
    assert search.best_score_ > alone.best_score_ + 0.1


def test_partial_dependence_along_a_direction_is_the_response(
    fit: GiantStepRegressor, table: Table
) -> None:
    """It is the absolute value, in the units of the label; along a column it is washed out."""
    x, _ = table
    u = fit.transform(x)
    readout = fit.on_directions()
    found = partial_dependence(readout, u, [COLUMN], grid_resolution=9)
    grid = found["grid_values"][0]
    np.testing.assert_allclose(found["average"][0], readout.predict(grid[:, None]))
    # |a - b| has slope sqrt 2 along a direction of length one; 200 rows give it to some per cent.
    length = np.linalg.norm(fit.directions_[0])
    np.testing.assert_allclose(found["average"][0], np.abs(grid) / length * 2**0.5, atol=0.25)
    column = partial_dependence(fit, x, ["a"], grid_resolution=9)["average"][0]
    assert np.ptp(column) < 0.7 * np.ptp(found["average"][0])


def test_importance_of_a_direction_by_permutation(fit: GiantStepRegressor, table: Table) -> None:
    x, y = table
    u = fit.transform(x)
    importance = permutation_importance(fit.on_directions(), u, y, n_repeats=3, random_state=0)
    # A permutation doubles the variance: the score falls from one to minus one.
    assert importance.importances_mean[0] > 1.5


def test_what_the_readout_refuses(fit: GiantStepRegressor) -> None:
    with pytest.raises(InputError, match="column for each direction, 1 in all, got 2 columns"):
        fit.on_directions().predict(np.zeros((3, 2)))
    with pytest.raises(NotFittedError):
        GiantStepRegressor().on_directions()
    with pytest.raises(NotFittedError):
        partial_dependence(DirectionReadout(GiantStepRegressor()), np.zeros((9, 1)), [0])


def test_readout_and_classifier_are_copied(fit: GiantStepRegressor) -> None:
    u = np.linspace(-1.0, 1.0, 5)[:, None]
    again = pickle.loads(pickle.dumps(fit.on_directions()))
    np.testing.assert_array_equal(again.predict(u), fit.on_directions().predict(u))
    assert clone(GiantStepClassifier(class_weight="balanced")).class_weight == "balanced"


def test_outputs_with_directions_of_their_own(table: Table) -> None:
    """One fit of both shares its single direction; MultiOutputRegressor finds one for each."""
    x, y = table
    both = np.column_stack([y, x["c"]])
    apart = MultiOutputRegressor(GiantStepRegressor(**QUICK)).fit(x, both)
    assert [one.n_directions_ for one in apart.estimators_] == [1, 1]
    assert apart.score(x, both) > 0.95
    shared = GiantStepRegressor(**QUICK).fit(x, both)
    assert shared.predict(x).shape == (200, 2)
    assert shared.n_fitted_ == 1
    assert shared.on_directions().predict(shared.transform(x)).shape == (200, 2)
