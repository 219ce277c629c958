"""Many rows, many columns: blocks, memory, coordinates that are not formed, threads."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from giantstep.estimator import blocks, moments
from giantstep.estimator.coordinates import Turn, Turned, plain
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.regressor import GiantStepRegressor
from giantstep.estimator.ridge import fit_ridge
from giantstep.estimator.wide import fit_linear

KEY = np.random.default_rng(0)


def planted(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels tanh(2u) + noise of variance .09 on a random direction, and that direction."""
    key = np.random.default_rng(seed)
    direction = key.standard_normal(d)
    direction /= np.linalg.norm(direction)
    x = key.standard_normal((n, d))
    return x, np.tanh(2 * x @ direction) + 0.3 * key.standard_normal(n), direction


@pytest.mark.parametrize("outside", [0.0, 0.7])
def test_products_are_those_of_the_matrix(outside: float) -> None:
    """S T (1 - U U^T), formed here and nowhere else."""
    columns, vectors = KEY.standard_normal((40, 6)), np.linalg.qr(KEY.standard_normal((6, 3)))[0]
    gains = np.array([2.0, 1.0, 0.5])
    turn = vectors * gains
    if outside:
        turn = vectors * gains @ vectors.T + outside * (np.eye(6) - vectors @ vectors.T)
    c = turn.shape[1]
    basis = np.linalg.qr(KEY.standard_normal((c, 1)))[0]
    formed = columns @ turn @ (np.eye(c) - basis @ basis.T)
    found = Turned(columns, Turn(vectors, gains, outside)).without(basis)
    assert found.shape == formed.shape
    a, b, w = KEY.standard_normal((40, 2)), KEY.standard_normal((c, 2)), KEY.standard_normal(40)
    np.testing.assert_allclose(found @ b, formed @ b, atol=1e-12)
    np.testing.assert_allclose(found.adjoint(a), formed.T @ a, atol=1e-12)
    np.testing.assert_allclose(found.gram(w), (formed.T * w) @ formed, atol=1e-12)
    np.testing.assert_allclose(found.dense(slice(3, 9)), formed[3:9], atol=1e-12)


def test_small_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, _ = planted(300, 6, 1)
    x[:, 0] = np.exp(3 * x[:, 0])
    # Sums in another order differ by rounding, which the choices of longer searches may enlarge.
    whole = GiantStepRegressor(max_directions=1).fit(x, y)
    monkeypatch.setattr(blocks, "BLOCK_NUMBERS", 2**14)
    parts = GiantStepRegressor(max_directions=1).fit(x, y)
    np.testing.assert_allclose(parts.predict(x), whole.predict(x), atol=1e-9)
    np.testing.assert_allclose(parts.transform(x), whole.transform(x), atol=1e-9)
    np.testing.assert_allclose(parts.feature_importances_, whole.feature_importances_, atol=1e-9)


@pytest.mark.slow
def test_columns_in_float32_change_little() -> None:
    x, y, _ = planted(400, 6, 2)
    double = GiantStepRegressor().fit(x, y)
    single = GiantStepRegressor(recipe=Recipe(float64_numbers=0)).fit(x, y)
    assert np.sqrt(np.mean((single.predict(x) - double.predict(x)) ** 2)) < 0.01
    # Inputs in float32 are taken as they are.
    assert single.score(x.astype(np.float32), y) == pytest.approx(single.score(x, y), abs=1e-5)


def test_mean_leverage_serves_rows_beyond_those_judged() -> None:
    phi, y = KEY.standard_normal((2000, 10)), KEY.standard_normal((2000, 2))
    weight = KEY.uniform(0.5, 2.0, 2000)
    weight /= weight.mean()
    penalties = np.array([0.1])
    exact, found = (
        fit_ridge(phi.__getitem__, y, weight, 10, penalties, least_judged=judged)
        for judged in (2000, 200)
    )
    np.testing.assert_array_equal(found.residual[:200], exact.residual[:200])
    # A leverage is 10/2000, and differs from its mean by about as much.
    difference = np.abs(found.residual - exact.residual) / np.abs(exact.residual)
    assert 0 < difference.max() < 0.05
    assert found.error == pytest.approx(exact.error, rel=1e-3)


def test_a_wide_ridge_is_the_dense_one() -> None:
    for n, p in [(400, 150), (150, 250)]:
        x = KEY.standard_normal((n, p)) + 0.3
        y = x[:, :2] @ [[1.0, 0.0], [1.0, 0.0]] + KEY.standard_normal((n, 2))
        weight = KEY.uniform(0.5, 1.5, n)
        weight /= weight.mean()
        # The grids differ by the estimate of the trace.
        dense, found = (fit_linear(plain(x), y, weight, most) for most in (p, 0))
        assert found.penalty == pytest.approx(dense.penalty, rel=0.15)
        for j in range(2):
            assert np.corrcoef(found.weights[:, j], dense.weights[:, j])[0, 1] > 0.999
            assert np.corrcoef(found.residual[:, j], dense.residual[:, j])[0, 1] > 0.97
        np.testing.assert_allclose(found.residual.std(0), dense.residual.std(0), rtol=0.1)


def test_leading_moments_are_those_of_the_dense_matrix() -> None:
    z = KEY.standard_normal((1500, 60))
    y = (z[:, :1] ** 2 - z[:, 1:2] ** 2) + 0.3 * KEY.standard_normal((1500, 1))
    a = moments.weighed(np.column_stack([y, np.abs(y)]), np.ones(1500))
    values, vectors, radius = moments.leading(a, plain(z), dense=60)
    found, directions, other = moments.leading(a, plain(z), dense=0)
    np.testing.assert_allclose(found[:2], values[:2], rtol=1e-6)
    assert np.sum((directions[:, :2].T @ vectors[:, :2]) ** 2) > 2 - 1e-6
    assert moments.largest(a, plain(z), dense=0) == pytest.approx(values[0], rel=1e-6)
    assert 0 < other < 2 * radius


@pytest.mark.slow
def test_memory_is_a_multiple_of_the_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside X: half of it for the columns in float32, blocks, and some numbers of every row.

    Copies of X in float64 would each add one.
    """
    monkeypatch.setattr(blocks, "BLOCK_NUMBERS", 2**17)
    small = Recipe(
        searched_rows=1_500, refined_per_coordinate=50, metric_rows=1_500, gradient_rows=200
    )
    x, y, _ = planted(60_000, 60, 3)
    tracemalloc.start()
    fit = GiantStepRegressor(max_directions=1, recipe=small).fit(x, y)
    _, fitted = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    held, _ = tracemalloc.get_traced_memory()
    fit.predict(x)
    _, predicted = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert fitted < 1.2 * x.nbytes
    assert predicted - held < 0.3 * x.nbytes


@pytest.mark.slow
def test_many_isotropic_columns_keep_their_direction() -> None:
    """No principal coordinates hold a direction of isotropic columns: nothing may be dropped."""
    x, y, direction = planted(1200, 300, 4)
    many = Recipe(principal_coordinates=100, leading_coordinates=20, dense_coordinates=100)
    fit = GiantStepRegressor(soft=False, recipe=many).fit(x, y)
    assert fit.n_directions_ == 1
    found = fit.directions_[0] / np.linalg.norm(fit.directions_[0])
    assert (found @ direction) ** 2 > 0.85
    new = planted(1, 300, 4)[2]
    fresh = np.random.default_rng(5).standard_normal((2000, 300))
    assert fit.score(fresh, np.tanh(2 * fresh @ new)) > 0.8
    # The leading fifteenth of the coordinates would hold next to nothing of it.
    leading = fit._inputs.to_white.vectors
    assert leading.shape == (300, 20)
    assert np.sum((leading.T @ direction) ** 2) < 0.3


@pytest.mark.slow
def test_predictions_in_threads_and_a_search_in_processes() -> None:
    x, y, _ = planted(120, 4, 6)
    fit = GiantStepRegressor().fit(x, y)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fit.predict, [x] * 8))
    for part in found:
        np.testing.assert_array_equal(part, fit.predict(x))
    grid = {"max_directions": [0, 1]}
    search = GridSearchCV(GiantStepRegressor(soft=False), grid, cv=2, n_jobs=2).fit(x, y)
    assert search.best_params_ == {"max_directions": 1}
