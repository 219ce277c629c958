"""What the folds decide: what chance may explain is not predicted."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from giantstep import GiantStepRegressor
from giantstep.estimator import parts
from giantstep.estimator.blend import _search_folds
from giantstep.estimator.coordinates import plain
from giantstep.estimator.network import SpanModel
from giantstep.estimator.parts import DIRECTIONS, LINEAR, Judged, _reliability, judged_parts
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.span import Search

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


RAN: list[int] = []


@dataclass(frozen=True)
class Luckless(Search):
    """A search that misses the direction with the third draw of its neurons."""

    def run(self) -> dict[int, SpanModel]:
        RAN.append(self.seed)
        axes = np.eye(self.z.shape[1])
        return {0: self.fit(axes[:, :0]), 1: self.fit(axes[:, [int(self.seed == 3)]])}


def test_a_fold_that_is_far_behind_the_others_searches_once_more() -> None:
    key = np.random.default_rng(7)
    x = key.standard_normal((300, 4))
    y = (x[:, :1] ** 2 - 1.0) / np.sqrt(2) + 0.1 * key.standard_normal((300, 1))
    finder = Luckless(plain(x), y, np.ones(300), 1, Recipe(), most=1, level=0.02)
    RAN.clear()
    spans = _search_folds([replace(finder, seed=seed) for seed in (1, 2, 3)])
    assert RAN == [1, 2, 3, 4]
    assert all(found[1].score < 0.2 for found in spans)
    assert finder.fit(np.eye(4)[:, [1]]).score > 0.5
