"""Soft steps: kernels of infinitely many neurons, their gradients, what they lean towards."""

import numpy as np
import pytest

from giantstep.estimator.coordinates import plain
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.soft import ROUGH, SMOOTH, Kernel, fit_soft


def additive(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of the first three columns."""
    x = np.random.default_rng(0).standard_normal((n, d))
    return x, np.column_stack([np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2], x[:, 1] ** 2])


@pytest.mark.parametrize("diagonal", [False, True])
def test_gradients_are_those_of_the_predictions(diagonal: bool) -> None:
    x, y = additive(150, 4)
    model = fit_soft(plain(x), y, np.ones(150), Recipe(), diagonal=diagonal)
    at = np.random.default_rng(1).standard_normal((5, 4))
    step = 1e-4 * np.eye(4)
    slopes = [(model.predict(plain(at + h)) - model.predict(plain(at - h))) / 2e-4 for h in step]
    np.testing.assert_allclose(model.gradient(at), np.stack(slopes, axis=2), atol=1e-4)


@pytest.mark.parametrize(("kernel", "cauchy"), [(SMOOTH, False), (ROUGH, True)])
def test_kernels_are_those_of_cosine_neurons(kernel: Kernel, cauchy: bool) -> None:
    """2 E[cos(w.x + b) cos(w.x' + b)] = E[cos w.(x - x')] over 40,000 rows, within five errors.

    One comparison each at a level below 1e-6; rows of the other law are far outside.
    """
    key = np.random.default_rng(2)
    difference = np.array([0.6, -0.8, 1.0])
    normal = key.standard_normal((40_000, 3))
    # A row of a multivariate Cauchy law is a Gaussian one over one more, shared by its entries.
    ratio = normal / np.abs(key.standard_normal((40_000, 1)))
    value = float(kernel.value(np.array([[difference @ difference]]))[0, 0])
    for rows, right in ((ratio, cauchy), (normal, not cauchy)):
        drawn = np.cos(rows @ difference)
        error = abs(drawn.mean() - value) / (drawn.std() / 200)
        assert (error < 5) == right


@pytest.mark.parametrize("diagonal", [False, True])
def test_steps_lean_towards_the_columns_that_matter(diagonal: bool) -> None:
    x, y = additive(400, 12)
    fresh = np.random.default_rng(3).standard_normal((1000, 12))
    labels = np.sin(2 * fresh[:, 0]) + fresh[:, 1] * fresh[:, 2]

    def error(recipe: Recipe) -> tuple[float, np.ndarray]:
        model = fit_soft(plain(x), y, np.ones(400), recipe, diagonal=diagonal)
        size = np.abs(model.root if diagonal else np.diag(model.root))
        return float(np.mean((model.predict(plain(fresh))[:, 0] - labels) ** 2)), size

    learned, size = error(Recipe())
    assert size[:3].min() > 1.5 * size[3:].max()
    assert learned < 0.8 * error(Recipe(soft_steps=0))[0]


def test_more_rows_than_those_that_teach_the_metric() -> None:
    x, y = additive(600, 3)
    all_rows = fit_soft(plain(x), y, np.ones(600), Recipe(), diagonal=False)
    part = fit_soft(plain(x), y, np.ones(600), Recipe(metric_rows=300), diagonal=False)
    spread = np.std(all_rows.predict(plain(x)) - part.predict(plain(x)))
    assert 0 < spread < 0.1 * np.std(y)


def test_choices_of_another_fit_serve() -> None:
    """Width and penalties of rows of the same table: predictions differ by little.

    Penalties of a fit to noise are others, and serve badly.
    """
    x, y = additive(400, 4)
    weight, recipe = np.ones(200), Recipe()
    first = fit_soft(plain(x[:200]), y[:200], weight, recipe, diagonal=False)
    rows, labels = plain(x[200:]), y[200:]
    free = fit_soft(rows, labels, weight, recipe, diagonal=False)
    served = fit_soft(rows, labels, weight, recipe, diagonal=False, like=first)
    assert served.relative_width == first.relative_width
    np.testing.assert_allclose(served.penalties, first.penalties)
    spread = np.std(served.predict(rows) - free.predict(rows))
    assert spread < 0.1 * np.std(labels)
    # Where they are not held, only the width serves.
    chosen = fit_soft(rows, labels, weight, recipe, diagonal=False, like=first, held=False)
    assert chosen.relative_width == first.relative_width
    noise = fit_soft(
        plain(x[:200]),
        np.random.default_rng(2).permutation(y[:200]),
        weight,
        recipe,
        diagonal=False,
    )
    wrong = fit_soft(rows, labels, weight, recipe, diagonal=False, like=noise)
    assert np.std(wrong.predict(rows) - free.predict(rows)) > 3 * spread
    again = fit_soft(rows, labels, weight, recipe, diagonal=False, like=noise, held=False)
    assert again.penalties != noise.penalties
