"""Directions of a function of x: planted ones are found, others refused in a sentence."""

import numpy as np
import pytest

from giantstep import FoundDirections, InputError, Setting, analyze, find_directions, simulate

D = 30
PLANTED = np.linalg.qr(np.random.default_rng(1).standard_normal((D, 2)))[0].T

NETWORKS = {
    "x1 + x1*x2": lambda u, v: u + u * v,
    "He3(x1) + x1*x2": lambda u, v: u**3 - 3 * u + u * v,
    "tanh(x1)*x2 + x1/2": lambda u, v: np.tanh(u) * v + u / 2,
    "He2(x1)*He2(x2)": lambda u, v: (u**2 - 1) * (v**2 - 1),
}


def network(formula: str):
    """The formula along two planted directions of R^30."""
    function = NETWORKS[formula]

    def predict(x):
        assert x.shape[1:] == (D,)
        return function(*(x @ PLANTED.T).T)

    return predict


def score(found: FoundDirections) -> float:
    """Mean squared cosine of the found directions with the planted plane: 1 if they lie in it."""
    return float(np.linalg.norm(found.directions @ PLANTED.T) ** 2 / found.r)


@pytest.mark.parametrize("formula", NETWORKS)
def test_planted_directions_are_found(formula: str) -> None:
    found = find_directions(network(formula), d=D)
    assert found.r == 2
    assert score(found) > 1 - 1e-9
    assert found.left_out[1] > 0.05 > 1e-9 > found.left_out[2]
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(2), atol=1e-12)
    analysis, expected = analyze(found.target), analyze(formula)
    assert analysis.leap_index == expected.leap_index
    assert analysis.fresh.dimensions == expected.fresh.dimensions
    assert analysis.series.square == pytest.approx(expected.series.square, rel=1e-6)
    assert "2 of 30 directions were found" in analysis.notes[0]
    # Another plane of R^30 would be noticed.
    other = np.linalg.norm(np.eye(D)[:2] @ PLANTED.T) ** 2 / 2
    assert other < 0.5


def test_the_target_is_the_function_along_its_directions() -> None:
    predict = network("He3(x1) + x1*x2")
    found = find_directions(predict, d=D)
    x = np.random.default_rng(2).standard_normal((50, D))
    np.testing.assert_allclose(found.target(list(found.directions @ x.T)), predict(x), rtol=1e-6)


def test_a_given_gradient_and_single_precision_find_the_same() -> None:
    predict = network("x1 + x1*x2")

    def gradient(x):
        u, v = PLANTED @ x.T
        return (1 + v)[:, None] * PLANTED[0] + u[:, None] * PLANTED[1]

    given = find_directions(predict, d=D, gradient=gradient)
    rough = find_directions(lambda x: predict(x).astype(np.float32)[:, None], d=D)
    assert score(given) > 1 - 1e-12
    assert rough.r == 2
    assert score(rough) > 1 - 1e-6


@pytest.mark.parametrize(
    ("r", "sentence"),
    [
        (1, "r = 1 leaves 58 % of the variance to other directions, more than the tolerance 1 %"),
        (3, "r = 3 is more than the 2 directions that function depends on"),
        (0, "r must be between 1 and 8, got 0"),
    ],
)
def test_a_wrong_number_of_directions_is_refused(r: int, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        find_directions(network("x1 + x1*x2"), d=D, r=r)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda x: np.linalg.norm(x, axis=1), "depends on more than 8 of 30 directions"),
        (lambda x: np.sign(x[:, 0]), "function jumps: its mean squared gradient 0 is below"),
        (lambda x: np.ones(len(x)), "function is constant on Gaussian inputs"),
        (lambda x: x, r"one number for each row of x, got shape \(1, 30\) for 1 rows"),
        (lambda x: np.full(len(x), np.nan), "function must give finite numbers"),
    ],
)
def test_other_functions_are_refused(function, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        find_directions(function, d=D)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"d": 0}, "d must be a whole number above 0, got 0"),
        ({"tolerance": 2.0}, "tolerance must be between 0 and 1, got 2.0"),
        ({"gradient": lambda x: x[:, :2]}, r"gradient must give finite numbers of shape"),
    ],
)
def test_bad_options_are_refused(options: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        find_directions(network("x1 + x1*x2"), **{"d": D, **options})


def test_what_is_left_out_is_a_share_of_the_variance() -> None:
    """f = x1 + c*x2: the second direction holds c^2/(1 + c^2), within four standard errors."""
    share = 0.1**2 / (1 + 0.1**2)
    found = find_directions(lambda x: x[:, 0] + 0.1 * x[:, 1] ** 2 / np.sqrt(2), d=5)
    left, error = found.left_out[1], found.left_out_error[1]
    assert abs(left - share) < 4 * error
    # Twice the share is rejected.
    assert abs(left - 2 * share) > 4 * error


def test_the_other_directions_keep_the_mean() -> None:
    """A mean that other directions add stays in the target."""
    found = find_directions(
        lambda x: 3 * x[:, 0] + 0.02 * np.sum(x**2, axis=1), d=D, tolerance=0.05
    )
    assert found.r == 1
    assert found.offset == pytest.approx(0.02 * (D - 1), abs=0.02)


def test_a_setting_takes_the_target() -> None:
    target = find_directions(network("x1 + x1*x2"), d=D).target
    setting = Setting(target, d=2000, n="8d", p=4, steps=1, readout_n=0, test_n=0)
    assert np.abs(simulate(setting).cosine[0, 1, :, 0]).min() > 0.4
