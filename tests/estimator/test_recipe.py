"""The record of choices: every field is read, and a fit is handed it."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from giantstep import GiantStepRegressor, estimator
from giantstep.estimator.recipe import Recipe


@pytest.mark.parametrize("name", [field.name for field in fields(Recipe)])
def test_every_choice_is_read_outside_its_page(name: str) -> None:
    [folder] = estimator.__path__
    others = [path for path in Path(folder).glob("*.py") if path.name != "recipe.py"]
    assert any(f"recipe.{name}" in path.read_text() for path in others)


def test_a_fit_follows_its_recipe() -> None:
    """A line goes on beyond the labels that were seen with a wide margin, and ends without one."""
    key = np.random.default_rng(0)
    x = key.standard_normal((120, 3))
    y = x[:, 0]
    far = np.array([[3.0, 0.0, 0.0]]) * np.abs(x).max()
    reach = {
        margin: GiantStepRegressor(
            max_directions=0, soft=False, recipe=Recipe(label_margin=margin, input_margin=9.0)
        )
        .fit(x, y)
        .predict(far)[0]
        for margin in (0.0, 2.0)
    }
    # The blend weighs the clipped part by about one.
    assert reach[0.0] < 1.05 * y.max() < reach[2.0]
    default = GiantStepRegressor(max_directions=0, soft=False)
    given = GiantStepRegressor(max_directions=0, soft=False, recipe=Recipe())
    np.testing.assert_array_equal(default.fit(x, y).predict(x), given.fit(x, y).predict(x))
