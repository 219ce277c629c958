"""What the folds decide: what chance may explain is not predicted."""

from dataclasses import replace

import numpy as np
import pytest
from jaxtyping import Float

from giantstep import GiantStepRegressor
from giantstep.estimator import parts
from giantstep.estimator.coordinates import Coordinates, no_turn
from giantstep.estimator.folds import Fold, _share, folds
from giantstep.estimator.models import Data, Limits, Models, fit_plain, make_search
from giantstep.estimator.parts import DIRECTIONS, LINEAR, Judged, _reliability, judged_parts
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.span import Growth

NEARLY = Recipe().nearly_errors


def test_reliability_is_the_positive_part() -> None:
    gain = np.array([1.0, 3.0])  # mean 2, deviation 1, standard error 1/sqrt(2)
    assert _reliability(gain) == pytest.approx(1 - 1 / 8)
    assert _reliability(np.array([-1.0, 1.5])) == 0.0
    assert _reliability(-gain) == 0.0


@pytest.mark.slow
def test_noise_is_predicted_by_its_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst of 12 draws; without the shrinkage one of them takes chance for a signal.

    The mean of 60 labels itself costs 1/60 on average, six times that is allowed.
    """

    def worst() -> float:
        lost = []
        for seed in range(12):
            key = np.random.default_rng([5, seed])
            x, y = np.exp(key.standard_normal((60, 5))), key.standard_normal(60)
            fit = GiantStepRegressor(max_directions=0).fit(x, y)
            lost.append(np.mean(fit.predict(np.exp(key.standard_normal((500, 5)))) ** 2))
        return float(max(lost))

    assert worst() < 0.1
    monkeypatch.setattr(parts, "_reliability", lambda gain: 1.0)
    assert worst() > 0.1


def test_the_simplest_blend_that_is_nearly_the_best() -> None:
    """Directions that are as good as the linear part take all weight; worse ones take none."""
    key = np.random.default_rng(6)
    y = key.standard_normal((400, 1))
    good, same, bad = (y + 0.3 * s * key.standard_normal(y.shape) for s in (1.0, 1.0, 9.0))
    copy = Judged(np.array([good, good]), y, np.ones(400))
    linear, directions = judged_parts(copy, [LINEAR, DIRECTIONS], NEARLY)
    assert linear.weight == linear.adds == 0.0
    assert directions.weight > 0.85
    assert directions.adds == pytest.approx(
        copy.share(np.array([0.0, directions.weight])), abs=0.01
    )
    both = judged_parts(
        Judged(np.array([good, same]), y, np.ones(400)), [LINEAR, DIRECTIONS], NEARLY
    )
    # One alone leaves .09/1.09 of the variance, both together half of that.
    assert all(0.4 < part.weight < 0.6 for part in both)
    assert all(0.02 < part.adds < 0.06 for part in both)
    linear, directions = judged_parts(
        Judged(np.array([good, bad]), y, np.ones(400)), [LINEAR, DIRECTIONS], NEARLY
    )
    assert directions.weight < 0.05 < 0.8 < linear.weight


def grown_folds(
    y: Float[np.ndarray, "n 1"], x: Float[np.ndarray, "n 4"], axes: list[int]
) -> tuple[Data, list[Fold], list[Growth]]:
    """Three folds, each with the span of one axis in hand."""
    data = Data(Coordinates(x, no_turn(4), no_turn(4)), y, np.ones(len(y)))
    limits = Limits(most=1, level=0.02, soft=False, seed=0, recipe=Recipe())
    fitted, growths = [], []
    parted = folds(len(y), 4, Recipe(folds=(), least_folds=3))
    for axis, (inside, outside) in zip(axes, parted, strict=True):
        search = make_search(data.take(inside), limits, 1)
        growths.append(Growth(search))
        growths[-1].offer(search.fit(np.eye(4)[:, [axis]]))
        models = Models(*fit_plain(data.take(inside), limits), {}, y.min(axis=0), y.max(axis=0))
        fitted.append(Fold(search, models, outside))
    return data, fitted, growths


def test_a_fold_that_is_far_behind_starts_from_the_span_of_the_one_ahead() -> None:
    key = np.random.default_rng(7)
    x = key.standard_normal((300, 4))
    y = (x[:, :1] ** 2 - 1.0) / np.sqrt(2) + 0.1 * key.standard_normal((300, 1))
    data, fitted, growths = grown_folds(y, x, [0, 0, 1])
    assert growths[2].best[1].score > 0.5
    _share(data, fitted, growths)
    assert all(growth.best[1].score < 0.2 for growth in growths)


def test_what_rows_left_out_do_not_gain_by_is_not_shared() -> None:
    """A fold that is ahead by its own count, on labels that depend on nothing."""
    key = np.random.default_rng(8)
    x = key.standard_normal((300, 4))
    y = key.standard_normal((300, 1))
    data, fitted, growths = grown_folds(y, x, [0, 0, 1])
    best = growths[0].best[1]
    ahead = replace(best, ridge=replace(best.ridge, error=0.1))
    growths[0].offer(ahead)
    before = growths[2].best[1]
    _share(data, fitted, growths)
    assert growths[0].best[1].score < 0.2
    assert growths[2].best[1] is before
