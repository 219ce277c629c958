"""The classifier: directions, classes, probabilities."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from giantstep.errors import InputError
from giantstep.estimator.classifier import GiantStepClassifier
from giantstep.estimator.logistic import _least_loss, calibrate
from giantstep.estimator.recipe import Recipe


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


@pytest.mark.slow
def test_three_classes_side_by_side_are_those_of_a_softmax() -> None:
    """Where a linear logistic regression is right, the log loss is at most .02 above its own.

    The difference of the two losses has a standard error of .003 over the 2,000 fresh rows.
    """
    key = np.random.default_rng(2)
    x = key.standard_normal((2400, 6))
    logits = 3.0 * x[:, :2] @ np.array([[1.0, -0.5, -0.5], [0.0, 0.87, -0.87]])
    y = np.argmax(logits + key.gumbel(size=logits.shape), axis=1)
    fit = GiantStepClassifier().fit(x[:400], y[:400])
    peer = LogisticRegression().fit(x[:400], y[:400])
    assert fit.n_directions_ == 2
    losses = [log_loss(y[400:], model.predict_proba(x[400:])) for model in (fit, peer)]
    assert losses[0] < losses[1] + 0.02
    # Scores alone, as least squares gives them, are worse than that.
    fit._theta[2] = 0.0
    assert log_loss(y[400:], fit.predict_proba(x[400:])) > losses[1] + 0.02


@pytest.mark.slow
def test_ten_classes_are_calibrated_out_of_sample() -> None:
    """Confidence and accuracy over ten bins of 1,400 digits; sharper probabilities are seen."""
    x, y = load_digits(return_X_y=True)
    fit = GiantStepClassifier(max_directions=2).fit(x[:400], y[:400])
    chance = fit.predict_proba(x[400:])
    assert fit.score(x[400:], y[400:]) > 0.9

    def miscalibration(chance: np.ndarray) -> float:
        confidence, right = chance.max(axis=1), chance.argmax(axis=1) == y[400:]
        bins = np.array_split(np.argsort(confidence), 10)
        return float(np.mean([abs(confidence[i].mean() - right[i].mean()) for i in bins]))

    assert miscalibration(chance) < 0.04
    assert miscalibration(chance**3 / np.sum(chance**3, axis=1, keepdims=True)) > 0.04


@pytest.mark.slow
def test_a_rare_class_keeps_its_frequency() -> None:
    """Mean probability of a class of 3 in 100 within three standard errors of its frequency."""
    key = np.random.default_rng(3)
    x = key.standard_normal((5000, 5))
    rare = key.uniform(size=5000) < 1.0 / (1.0 + np.exp(4.5 - 2.0 * x[:, 0]))
    fit = GiantStepClassifier().fit(x[:1000], rare[:1000])
    chance = fit.predict_proba(x[1000:])[:, 1]
    # Both the labels that were fitted and those that are compared are draws.
    error = np.sqrt(rare.mean() * (1 / 1000 + 1 / 4000))
    assert abs(chance.mean() - rare[1000:].mean()) < 3 * error
    assert chance[rare[1000:]].mean() > 3 * chance[~rare[1000:]].mean()


@pytest.mark.slow
def test_a_class_of_weight_zero_is_never_predicted() -> None:
    x, y, _ = logistic(200, np.random.default_rng(4))
    y[:40] = "nil"
    fit = GiantStepClassifier(max_directions=1).fit(x, y, sample_weight=y != "nil")
    alone = GiantStepClassifier(max_directions=1).fit(x[40:], y[40:])
    chance = fit.predict_proba(x)
    assert list(fit.classes_) == ["nil", "no", "yes"]
    assert np.all(chance[:, 0] == 0.0)
    np.testing.assert_allclose(chance[:, 1:], alone.predict_proba(x))


@pytest.mark.parametrize("seed", range(3))
def test_noise_has_the_frequencies_of_the_classes(seed: int) -> None:
    """A fold lacks what it leaves out, so that its shares are the lower the more came there."""
    key = np.random.default_rng([5, seed])
    x, y = key.standard_t(3, (100, 6)), key.choice(3, 100, p=[0.6, 0.3, 0.1])
    fit = GiantStepClassifier(max_directions=0).fit(x, y)
    found = fit.predict_proba(key.standard_t(3, (100, 6)))
    np.testing.assert_allclose(found, np.broadcast_to(np.bincount(y) / 100, found.shape))
    assert "Probabilities are the shares of the classes: " in fit.explain()


def test_evidence_that_chance_may_explain_has_no_weight() -> None:
    """40 draws of evidence without any; a gain of any size would be used in half of them."""

    def used(recipe: Recipe) -> int:
        key = np.random.default_rng(6)
        draws = (key.standard_normal((1, 100, 2)) for _ in range(40))
        found = [calibrate(p, key.integers(2, size=100), np.ones(100), half, recipe) for p in draws]
        return sum(bool(theta.any()) for theta in found)

    half = np.full(2, 0.5)
    # At two standard errors of the gain one draw in 30,000 would be.
    assert used(Recipe()) == 0
    assert used(Recipe(calibration_errors=0.0)) > 10


def test_weights_of_evidence_are_not_negative() -> None:
    """Evidence against what came has weight zero, also where it is strong."""
    place = np.arange(200) % 2
    right = np.where(place[:, None] == [0, 1], 0.5, -0.5)
    half = np.full(2, 0.5)
    mixed = right * np.where(np.arange(200) % 10 < 2, -1.0, 1.0)[:, None]
    theta = calibrate(np.array([mixed, -right]), place, np.ones(200), half, Recipe())
    assert theta[0] > 0.5
    assert theta[1] == 0.0


def test_a_class_of_one_row() -> None:
    x, y, _ = logistic(60, np.random.default_rng(6))
    y[0] = "once"
    fit = GiantStepClassifier(max_directions=1).fit(x, y)
    found = fit.predict_proba(x)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.all(np.isfinite(found))


def test_one_class_is_refused() -> None:
    with pytest.raises(
        InputError, match="at least two classes with positive weight, got 'a' alone"
    ):
        GiantStepClassifier().fit(np.eye(4), ["a"] * 4)


def slope_of_loss(
    theta: np.ndarray, parts: np.ndarray, place: np.ndarray, shares: np.ndarray
) -> float:
    """Largest slope of the log loss with a ridge of one row, written anew."""
    logits = np.log(shares) + np.tensordot(theta, parts, 1)
    chance = np.exp(logits - np.logaddexp.reduce(logits, axis=1)[:, None])
    squares = np.mean(parts**2, axis=(1, 2))
    gradient = np.tensordot(parts, chance - np.eye(len(shares))[place], 2) + squares * theta
    return float(np.abs(gradient / np.sqrt(squares)).max()) / len(place)


def test_weights_of_evidence_have_the_least_loss() -> None:
    """Evidence of all sizes, so that some probabilities are far below the bound of a logarithm."""
    for seed in range(10):
        key = np.random.default_rng([8, seed])
        place, shares = key.integers(3, size=120), key.dirichlet(np.ones(3))
        sizes = np.exp(key.uniform(-3.0, 4.0, (2, 1, 1)))
        parts = sizes * (key.standard_normal((2, 120, 3)) + np.eye(3)[place])
        theta = _least_loss(parts, place, np.ones(120), shares, prior=1.0)
        assert slope_of_loss(theta, parts, place, shares) < 1e-12
        assert slope_of_loss(1.01 * theta, parts, place, shares) > 1e-6


def rare(n: int, key: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which about one in six is of the second class."""
    x = key.standard_normal((n, 3))
    return x, np.where(x[:, 0] + 0.5 * key.standard_normal(n) > 1.1, "rare", "usual")


def test_a_class_weight_is_so_many_copies_of_its_rows() -> None:
    key = np.random.default_rng(5)
    x, y = rare(120, key)
    fresh, _ = rare(50, key)
    quick = {"max_directions": 1, "soft": False, "recipe": Recipe(folds=())}
    weighed = GiantStepClassifier(**quick, class_weight={"rare": 3, "usual": 1}).fit(x, y)
    copies = np.where(y == "rare", 3, 1)
    copied = GiantStepClassifier(**quick).fit(np.repeat(x, copies, axis=0), np.repeat(y, copies))
    np.testing.assert_allclose(weighed.predict_proba(fresh), copied.predict_proba(fresh))
    # Both kinds of weights multiply.
    halves = np.where(y == "rare", 0.5, 1.0)
    product = GiantStepClassifier(**quick, class_weight={"rare": 6, "usual": 1})
    product.fit(x, y, sample_weight=halves)
    np.testing.assert_allclose(weighed.predict_proba(fresh), product.predict_proba(fresh))


def test_balanced_classes_are_predicted_as_often() -> None:
    """Without weights most rows of the rare class are missed, balanced ones are found."""
    key = np.random.default_rng(6)
    x, y = rare(300, key)
    fresh, labels = rare(2000, key)
    found = {
        weight: np.mean(
            GiantStepClassifier(
                max_directions=1, soft=False, recipe=Recipe(folds=()), class_weight=weight
            )
            .fit(x, y)
            .predict(fresh)[labels == "rare"]
            == "rare"
        )
        for weight in (None, "balanced")
    }
    assert found["balanced"] > 0.85
    assert found[None] < 0.8


@pytest.mark.parametrize("weight", [{"rare": -1.0, "usual": 1.0}, {"rare": np.inf, "usual": 1.0}])
def test_bad_class_weights_are_named(weight: dict[str, float]) -> None:
    x, y = rare(60, np.random.default_rng(7))
    with pytest.raises(InputError, match="class_weight must be finite and not negative"):
        GiantStepClassifier(class_weight=weight).fit(x, y)
