"""Tables as strangers bring them: what is refused in which words, and what is taken."""

import pickle

import numpy as np
import pandas
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from giantstep import GiantStepClassifier, GiantStepRegressor
from giantstep.errors import InputError
from giantstep.estimator.columns import refuse_text


def table(n: int = 60) -> pandas.DataFrame:
    key = np.random.default_rng(0)
    return pandas.DataFrame(key.standard_normal((n, 3)), columns=["a", "b", "c"])


@pytest.mark.parametrize(
    "values",
    [
        ["red", "blue"] * 30,
        pandas.Categorical(["red", "blue"] * 30),
        pandas.Categorical([1, 2] * 30),
        pandas.date_range("2020-01-01", periods=60),
    ],
)
@pytest.mark.parametrize("model", [GiantStepRegressor, GiantStepClassifier])
def test_categories_text_and_dates_are_refused_by_name(model: type, values: object) -> None:
    mixed = table().assign(colour=values)
    with pytest.raises(InputError, match=r"got categories, text or dates in 'colour'; .*OneHot"):
        model().fit(mixed, np.arange(60) % 2)


def test_text_in_an_array_is_refused_by_its_column() -> None:
    mixed = np.column_stack([np.arange(4.0).astype(object), ["u", "v", "u", "v"]])
    with pytest.raises(InputError, match="in 'column 1'"):
        refuse_text(mixed)


@pytest.mark.parametrize(
    "taken",
    [
        table(),
        table() > 0,
        table().astype(object),
        table().to_numpy().astype(object),
        table().to_numpy().astype(str),
        table().assign(count=pandas.array([1, None] * 30, dtype="Int64")),  # scikit-learn's to say
        [[1, 2], [3, 4]],
    ],
)
def test_numbers_are_taken(taken: object) -> None:
    refuse_text(taken)


def test_words_as_labels_are_sent_to_the_classifier() -> None:
    with pytest.raises(InputError, match=r"y must be numbers, got .*GiantStepClassifier"):
        GiantStepRegressor().fit(table(), ["yes", "no"] * 30)


def test_missing_values_are_scikit_learns_to_refuse() -> None:
    with pytest.raises(ValueError, match="does not accept missing values"):
        GiantStepRegressor().fit(table().where(table() < 1), np.arange(60.0))


def test_the_documented_pipeline() -> None:
    mixed = table(120)
    y = np.tanh(2 * mixed["a"]) + np.where(np.arange(120) % 3 == 0, 0.0, 1.0)
    mixed = mixed.assign(size=pandas.Categorical(np.array(["S", "M", "L"])[np.arange(120) % 3]))
    mixed.loc[7, "b"] = np.nan
    words = make_column_selector(dtype_exclude="number")
    front = make_column_transformer(
        (OneHotEncoder(sparse_output=False), words), remainder=SimpleImputer()
    )
    model = make_pipeline(front, GiantStepRegressor(soft=False))
    model.set_output(transform="pandas")
    assert model.fit(mixed, y).score(mixed, y) > 0.9
    assert "remainder__a" in model[-1].explain()
    found = model.transform(mixed)
    assert list(found.columns) == list(model.get_feature_names_out())
    assert found.index.equals(mixed.index)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(mixed), model.predict(mixed))


X = np.random.default_rng(1).standard_normal((40, 3))


@pytest.mark.parametrize(
    ("x", "weight"),
    [
        (X[:2], None),
        (np.ones((40, 3)), None),
        (np.repeat(X[:2], 20, axis=0), None),
        (X, np.eye(40)[0] + np.eye(40)[1]),
        (np.column_stack([X, 1e-310 * X[:, 0]]), None),
    ],
    ids=["two rows", "one row again and again", "two rows again and again", "two weights", "tiny"],
)
@pytest.mark.parametrize("model", [GiantStepRegressor, GiantStepClassifier])
def test_next_to_nothing_is_fitted_without_warnings(
    model: type, x: np.ndarray, weight: np.ndarray | None
) -> None:
    fit = model(max_directions=1).fit(x, np.arange(len(x)) % 2, sample_weight=weight)
    assert np.all(np.isfinite(fit.predict(x)))
    assert np.all(np.isfinite(fit.directions_))
    assert "distinct row" in fit.explain()


def test_one_row_of_weight_is_its_label() -> None:
    with pytest.warns(UserWarning, match="y is constant"):
        fit = GiantStepRegressor().fit(X, np.arange(40.0), sample_weight=np.eye(40)[7])
    np.testing.assert_allclose(fit.predict(X), 7.0)


# scikit-learn adds up what it validates.
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")
def test_the_largest_numbers() -> None:
    wide = np.column_stack([X, 1.7e308 * np.sign(X[:, 0])])
    fit = GiantStepRegressor(max_directions=1, soft=False).fit(wide, X[:, 1])
    assert np.all(np.isfinite(fit.predict(-wide)))
    with pytest.raises(InputError, match=r"y must not exceed 2.2e\+307 in size, got 1.7e\+308"):
        GiantStepRegressor().fit(X, 1.7e308 * np.sign(X[:, 0]))
