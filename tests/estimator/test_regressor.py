"""What the regressor finds, says and refuses."""

import pickle
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from giantstep.analysis.analyze import analyze
from giantstep.errors import InputError
from giantstep.estimator.certain import direction_tests, noise_tests
from giantstep.estimator.coordinates import plain
from giantstep.estimator.fitted import fitted_target
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.regressor import GiantStepRegressor
from giantstep.estimator.rows import distinct_rows
from giantstep.estimator.span import Search
from giantstep.estimator.words import summary


def planted(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, clean labels x1 + x1 x2 of variance one on a random plane, and that plane."""
    key = np.random.default_rng(seed)
    plane = np.linalg.qr(key.standard_normal((d, 2)))[0]
    x = key.standard_normal((n, d))
    u = x @ plane
    return x, (u[:, 0] + u[:, 0] * u[:, 1]) / np.sqrt(2), plane


@pytest.fixture(scope="module")
def fit() -> GiantStepRegressor:
    x, y, _ = planted(400, 10, 0)
    noise = 0.3 * np.random.default_rng(1).standard_normal(400)
    names = [f"column {j}" for j in range(10)]
    return GiantStepRegressor().fit(pandas.DataFrame(x, columns=names), y + noise)


@pytest.mark.law
@pytest.mark.sentinel
def test_the_plane_is_found(fit: GiantStepRegressor) -> None:
    x, y, plane = planted(2000, 10, 0)
    table = pandas.DataFrame(x, columns=fit.feature_names_in_)
    assert fit.n_directions_ == 2
    basis = np.linalg.qr(fit.directions_.T)[0]
    assert np.sum((basis.T @ plane) ** 2) > 1.95
    assert fit.score(table, y) > 0.96
    assert fit.stability_ > 0.95
    assert fit.strengths_[0] >= fit.strengths_[1] > 0
    assert fit.n_fitted_ == 2
    assert fit.certain_.all()


def test_coordinates_are_the_directions(fit: GiantStepRegressor) -> None:
    x, _, _ = planted(500, 10, 0)
    table = pandas.DataFrame(x, columns=fit.feature_names_in_)
    u = fit.transform(table)
    moved = u - x @ fit.directions_.T
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-8)
    assert list(fit.get_feature_names_out()) == ["giantstepregressor0", "giantstepregressor1"]
    # What lies outside the plane moves nothing but the linear and soft parts.
    assert fit.response(u).shape == (500, 1)


def test_importances_are_those_of_the_plane(fit: GiantStepRegressor) -> None:
    _, _, plane = planted(1, 10, 0)
    # E[(df/dx_j)^2] of u1 + u1 u2 weighs the two directions 2 to 1.
    expected = plane**2 @ [2.0, 1.0] / 3.0
    assert fit.feature_importances_.sum() == pytest.approx(1.0)
    assert np.max(np.abs(fit.feature_importances_ - expected)) < 0.06


def test_it_says_what_it_found(fit: GiantStepRegressor) -> None:
    text = fit.explain()
    assert "2 directions were found, all certain." in text
    assert "Direction 1, certain, has strength" in text
    loss = fit.direction_tests_[1].loss
    assert f"Without direction 2 the error grows by {loss:.1%} of the variance" in text
    assert "column" in text
    assert "With 2 directions fitted, a further direction is not seen" in text
    assert fit.plot().get_suptitle() == "2 directions were found, all certain."


@pytest.mark.parametrize(
    ("fitted", "certain", "sentence"),
    [
        (1, 0, "1 direction is fitted and explains 40% of the variance of rows"),
        (2, 0, "2 directions are fitted and together explain 77% of the variance of rows"),
        (2, 1, "1 direction is certain. 1 more is fitted since that predicts best"),
    ],
)
def test_uncertain_directions_are_said_with_what_they_explain(
    fitted: int, certain: int, sentence: str
) -> None:
    errors = {0: 1.0, 1: 0.6, 2: 0.23}
    fit = SimpleNamespace(
        n_fitted_=fitted,
        n_directions_=certain,
        _scale=np.ones(1),
        _choice=SimpleNamespace(span_errors=errors),
    )
    assert sentence in summary(cast("Any", fit))


def test_words_numbers_and_picture_tell_one_story(fit: GiantStepRegressor) -> None:
    """What is called certain has a test that says so; bars show the tests of steps."""
    assert [test.certain for test in fit.direction_tests_] == list(fit.certain_)
    assert fit.n_directions_ == fit.certain_.sum()
    beyond = [test.given for test in fit.tests_ if test.beyond_noise]
    assert beyond == [0, 1]
    assert fit.tests_[-1].given == 2
    text = fit.explain()
    for part in fit.parts_:
        use = f"adds {part.adds:.1%} to the others with weight {part.weight:.2f}"
        use = use if part.weight > 0 else "is not used"
        assert f"The part '{part.name}' explains {part.alone:.1%} alone and {use}" in text
    assert f"All parts together explain {fit.out_of_fold_score_:.1%}" in text
    # What a part adds cannot exceed what all explain, nor is it less than nothing.
    assert all(-1e-9 < part.adds < fit.out_of_fold_score_ + 0.01 for part in fit.parts_)
    certain, predicts, *_ = fit.plot().axes
    heights = [bar.get_height() for bar in certain.patches]
    assert [height > 1 for height in heights] == [True, True, False]
    alone = [bar.get_width() for bar in predicts.patches[: len(fit.parts_)]]
    assert alone == [max(part.alone, 0.0) for part in fit.parts_[::-1]]


def test_a_third_direction_is_not_needed() -> None:
    """No step sees anything beside the plane; without its second direction one does."""
    x, y, plane = planted(400, 10, 0)
    y = y + 0.3 * np.random.default_rng(1).standard_normal(400)
    scaled = distinct_rows(x, ((y - y.mean()) / y.std())[:, None], np.ones(400))
    z = plain(scaled.inputs(slice(None)))
    finder = Search(z, scaled.y, scaled.weight, 0, Recipe(), most=3, level=0.02)
    third = np.linalg.qr(np.column_stack([plane, np.ones(10)]))[0]
    tests = noise_tests(finder, third)
    assert [test.given for test in tests if test.beyond_noise] == [0, 1]
    # Without the plane's second direction the test sees that something is left.
    assert noise_tests(finder, third[:, :1])[-1].beyond_noise


def test_directions_are_certain_by_holms_procedure() -> None:
    """Increases of known mean and deviation: p-values against level/3, level/2 and level."""
    unit = np.array([1.0, -1.0] * 50)  # mean 0, deviation 1, standard error .1
    tests = direction_tests(np.array([[0.3], [0.0], [0.22]]) + unit, 0.03)
    # Phi(-3) = .00135, Phi(0) = .5, Phi(-2.2) = .0139
    assert [test.p_value for test in tests] == pytest.approx([0.00135, 0.5, 0.0139], rel=0.01)
    assert [test.level for test in tests] == pytest.approx([0.01, 0.03, 0.015])
    assert [test.certain for test in tests] == [True, False, True]
    # After one that fails none is certain, were it below the level of all.
    late = direction_tests(np.array([[0.3], [0.2], [0.19]]) + unit, 0.03)
    assert [test.certain for test in late] == [True, False, False]


@pytest.mark.law
def test_a_direction_that_is_not_needed_is_seldom_certain() -> None:
    """Noise fits of a third direction: at level .02, 60 fits, more than 5 have probability .003.

    A test that counts what the rows of the fit themselves lose calls every one certain.
    """
    wrong, in_sample = 0, 0
    for seed in range(60):
        key = np.random.default_rng([17, seed])
        x, y = key.standard_normal((400, 3)), key.standard_normal(400)
        y = y + x[:, 0] + x[:, 1]
        fitted, fresh = slice(0, 200), slice(200, 400)
        gains = []
        for rows in (fresh, fitted):
            losses = [
                (y[rows] - x[rows][:, kept] @ np.linalg.lstsq(x[fitted][:, kept], y[fitted])[0])
                ** 2
                for kept in ([0, 1, 2], [1, 2], [0, 2], [0, 1])
            ]
            gains.append(np.array([loss - losses[0] for loss in losses[1:]]))
        wrong += direction_tests(gains[0], 0.02)[2].certain
        in_sample += gains[1][2].mean() > 0
    assert wrong <= 5
    assert in_sample == 60


def test_the_fitted_function_has_the_staircase_of_the_target(fit: GiantStepRegressor) -> None:
    found = fit.analyze_fit()
    assert found.leap_index == 1
    assert found.leaps == (1, 1)
    # n t^2 = c s^2 at the first step: t^2 = 1/2, s^2 = 1.
    assert fit.needed_samples("x1 + x1*x2", noise=0.0) == 20
    # A saddle of variance one has t = 1: three times c.
    assert fit.needed_samples("x1^2/2 - x2^2/2", noise=0.0) == 30
    assert fit.needed_samples("He3(x1)") == np.inf


def test_a_constant_label_is_said_and_predicted() -> None:
    x = np.random.default_rng(12).standard_normal((60, 4))
    with pytest.warns(UserWarning, match="^y is constant: it is predicted as such"):
        fit = GiantStepRegressor().fit(x, np.full(60, 3.0))
    np.testing.assert_allclose(fit.predict(2.0 * x), 3.0, rtol=1e-14)
    assert "The label is constant" in fit.explain()
    assert "%" not in fit.explain()


@pytest.mark.parametrize("follows", [True, False])
def test_a_wild_label_is_clipped_and_named(follows: bool) -> None:
    """It would decide the whole fit; labels with a tail stay as they are."""
    key = np.random.default_rng(13)
    x = key.standard_normal((500, 4))
    y = 2.0 * x[:, 0] + x[:, 1] + 0.1 * key.standard_normal(500)
    fresh, clean = x.copy(), 2.0 * x[:, 0] + x[:, 1]
    if follows:
        x[7, 0] = 1e5
    y[7] = 2e5
    with pytest.warns(UserWarning, match="y has 1 of 500 labels .* such as 200000 in row 7"):
        fit = GiantStepRegressor(max_directions=1, soft=False).fit(x, y)
    assert fit.score(fresh, clean) > 0.99
    np.testing.assert_array_equal(fit.clipped_labels_, [[7, 0]])
    assert "Labels far outside all others" in fit.explain()
    tail = np.exp(2.0 * fresh[:, 0])
    alone = GiantStepRegressor(max_directions=0, soft=False).fit(fresh, tail)
    assert len(alone.clipped_labels_) == 0


def test_the_fitted_function_of_an_absolute_value_has_leap_two() -> None:
    """The mean of 400 rows is off by a twentieth, which gives |u| a linear part of its own."""
    key = np.random.default_rng(0)
    x = key.standard_normal((400, 5))
    y = np.abs(x[:, 0]) + 0.1 * key.standard_normal(400)
    fit = GiantStepRegressor(max_directions=1, soft=False).fit(x, y)
    assert fit.analyze_fit().leaps == (2,)
    # Were centre and scale known exactly, the linear part would be one.
    error = np.sqrt(fit._choice.error / 400)
    exact = fitted_target(lambda u: fit.response(u)[:, 0], 1, error)
    assert analyze(exact).leaps == (1,)


@pytest.mark.law
def test_noise_has_no_direction() -> None:
    """10 draws: two or more found have probability .09 at a rate of 5 %, none is found here."""
    found = []
    for seed in range(10):
        key = np.random.default_rng([7, seed])
        x, y = key.standard_t(3, (120, 12)), key.standard_normal(120)
        fit = GiantStepRegressor().fit(x, y)
        found.append(fit.n_fitted_)
        assert fit.score(key.standard_t(3, (500, 12)), key.standard_normal(500)) > -0.15
    assert sum(k > 0 for k in found) <= 1
    assert "No direction was found" in fit.explain()
    assert fit.transform(x).shape == (120, 0)
    assert len(fit.plot().axes) == 4
    with pytest.raises(InputError, match="no direction"):
        fit.analyze_fit()


def test_a_second_seed_and_a_pickle_predict_alike(fit: GiantStepRegressor) -> None:
    x, y, _ = planted(400, 10, 0)
    table = pandas.DataFrame(x, columns=fit.feature_names_in_)
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.predict(table), fit.predict(table))
    other = GiantStepRegressor(random_state=9).fit(x, y)
    assert other.score(x, y) > 0.95


def test_bad_columns_do_no_harm() -> None:
    key = np.random.default_rng(8)
    x = key.standard_normal((200, 4))
    y = np.tanh(2 * x[:, 0])
    bad = np.column_stack(
        [x, x[:, 0] + x[:, 1], np.ones(200), 1e300 * x[:, 2], np.exp(9 * x[:, 3])]
    )
    fit = GiantStepRegressor().fit(bad, y)
    wild = bad.copy()
    wild[:50] *= 1e3
    with np.errstate(over="ignore"):
        wild = np.nan_to_num(wild, posinf=1e308)
    assert np.all(np.isfinite(fit.predict(wild)))
    assert fit.score(bad, y) > 0.9
    assert fit.feature_importances_[5] == 0.0


def test_more_columns_than_rows() -> None:
    key = np.random.default_rng(9)
    x = key.standard_normal((60, 150))
    y = x[:, 0] + 0.1 * key.standard_normal(60)
    found = GiantStepRegressor().fit(x, y).predict(key.standard_normal((20, 150)))
    assert np.all(np.isfinite(found))


@pytest.mark.slow
def test_several_outputs_share_their_directions() -> None:
    x, y, _ = planted(300, 8, 3)
    both = np.column_stack([y, 100.0 - 5.0 * y**2])
    fit = GiantStepRegressor().fit(x, both)
    assert fit.predict(x).shape == (300, 2)
    assert fit.n_directions_ == 2
    assert fit.score(x, both) > 0.9


@pytest.mark.slow
def test_it_lives_in_a_grid_search(capsys: pytest.CaptureFixture[str]) -> None:
    x, y, _ = planted(120, 5, 4)
    model = make_pipeline(StandardScaler(), GiantStepRegressor(soft=False, verbose=1))
    search = GridSearchCV(model, {"giantstepregressor__max_directions": [0, 2]}, cv=2).fit(x, y)
    assert search.best_params_ == {"giantstepregressor__max_directions": 2}
    assert "fold 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_directions", -1), ("max_directions", 1.5), ("level", 0.0), ("recipe", 3)],
)
def test_bad_parameters_are_named(field: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{field} must .*, got {value}"):
        GiantStepRegressor(**{field: value}).fit(np.eye(5), np.arange(5.0))


def test_what_may_stay_unseen_is_said_as_far_as_tests_can_tell() -> None:
    """Fewer rows than coordinates see little; a direction that is seen is not called unseen."""
    key = np.random.default_rng(0)
    few = key.standard_normal((25, 30))
    text = GiantStepRegressor().fit(few, few[:, 0] + 0.1 * key.standard_normal(25)).explain()
    assert "would have been seen" not in text
    assert "25 rows for" in text
    key = np.random.default_rng(100)
    x = key.standard_normal((500, 8))
    y = abs(x[:, 4] + x[:, 3] - x[:, 2]) + 0.2 * key.standard_normal(500)
    fit = GiantStepRegressor().fit(x, y + np.sqrt(0.01 * y.var()) * x[:, 0])
    assert fit.tests_[-1].beyond_noise
    assert "A further direction is beyond noise" in fit.explain()
    assert "would have been seen" not in fit.explain()
