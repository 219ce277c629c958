"""The classifier: directions, classes, probabilities."""

import numpy as np
import pytest

from giantstep.errors import InputError
from giantstep.estimator.classifier import GiantStepClassifier


def logistic(n: int, key: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels of a noisy product, and their true probabilities."""
    x = key.standard_normal((n, 8))
    chance = 1.0 / (1.0 + np.exp(-3.0 * x[:, 0] * x[:, 1]))
    return x, np.where(key.uniform(size=n) < chance, "yes", "no"), chance


def test_two_classes_are_told_apart_with_honest_probabilities() -> None:
    """Reliability over ten bins of 4,000 fresh rows within .06; overconfident ones are seen."""
    key = np.random.default_rng(0)
    x, y, _ = logistic(800, key)
    fit = GiantStepClassifier().fit(x, y)
    assert fit.n_directions_ == 2
    assert np.sum(fit.directions_[:, :2] ** 2) > 0.95 * np.sum(fit.directions_**2)
    fresh, labels, _ = logistic(4000, key)
    found = fit.predict_proba(fresh)[:, list(fit.classes_).index("yes")]

    def miscalibration(probability: np.ndarray) -> float:
        order = np.array_split(np.argsort(probability), 10)
        gaps = [probability[part].mean() - np.mean(labels[part] == "yes") for part in order]
        return float(np.mean(np.abs(gaps)))

    assert miscalibration(found) < 0.06
    overconfident = found**3 / (found**3 + (1 - found) ** 3)
    assert miscalibration(overconfident) > 0.06


def test_three_classes() -> None:
    key = np.random.default_rng(1)
    x = key.standard_normal((400, 6))
    y = np.digitize(x[:, 0] - x[:, 1], [-0.8, 0.8])
    fit = GiantStepClassifier().fit(x[:300], y[:300])
    assert fit.score(x[300:], y[300:]) > 0.88
    np.testing.assert_allclose(fit.predict_proba(x).sum(axis=1), 1.0)
    assert fit.n_directions_ == 1


def test_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="two classes"):
        GiantStepClassifier().fit(np.eye(4), ["a"] * 4)
