"""What the folds decide: what chance may explain is not predicted."""

import numpy as np
import pytest

from giantstep import GiantStepRegressor
from giantstep.estimator import blend
from giantstep.estimator.blend import _reliability


def test_reliability_is_the_positive_part() -> None:
    gain = np.array([1.0, 3.0])  # mean 2, deviation 1, standard error 1/sqrt(2)
    assert _reliability(gain) == pytest.approx(1 - 1 / 8)
    assert _reliability(np.array([-1.0, 1.5])) == 0.0
    assert _reliability(-gain) == 0.0


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
    monkeypatch.setattr(blend, "_reliability", lambda gain: 1.0)
    assert worst() > 0.1
