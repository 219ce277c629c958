"""A given matrix against its own bulk: rates on noise, outliers found, bulks refused.

False positives are compared with the binomial interval that holds them with probability .9995
(two-sided); three comparisons are made.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom

from giantstep import InputError, NoTheoryError, layer_outliers
from giantstep.spectra.noise import Calibration, NoiseLaw, calibrate_noise, spike
from giantstep.spectra.profile import ProfileBulk
from giantstep.spectra.scales import Scales, fitted_scales

RUNS = 1500


def equal_law(m: int, n: int) -> NoiseLaw:
    return NoiseLaw(Scales(np.ones(m), np.ones(n)))


def unit(key: np.random.Generator, size: int) -> np.ndarray:
    vector = key.standard_normal(size)
    return np.asarray(vector / np.linalg.norm(vector))


def noise(key: np.random.Generator, p: int, d: int) -> np.ndarray:
    return np.asarray(key.standard_normal((p, d)) / math.sqrt(d))


def consistent(found: int, level: float) -> bool:
    low, high = binom.interval(0.9995, RUNS, level)
    return bool(low <= found <= high)


# -- the false-positive rate ----------------------------------------------------------------------


def test_small_matrices_of_noise_keep_the_level() -> None:
    """20 x 30 at .1, with one calibration for all of a kind; three rules that are wrong.

    A false-positive rate of .1 and not .01, since a wrong rule shows in fewer matrices.
    """
    m, n, level = 20, 30, 0.1
    law, key = equal_law(m, n), np.random.default_rng(1)
    kinds = {
        "gaussian": lambda size: key.standard_normal(size),
        "signs": lambda size: key.choice([-1.0, 1.0], size),
        "student(8)": lambda size: key.standard_t(8, size) * (6 / 8) ** 0.5,
    }
    calibrations = {}
    for kind, draw in kinds.items():
        calibrations[kind] = calibrate_noise(law, draw(100 * m * n))
        matrices = draw((RUNS, m, n)) / math.sqrt(n)
        squares = np.linalg.eigvalsh(matrices @ matrices.swapaxes(1, 2))
        values = np.sqrt(np.maximum(squares, 0.0))
        tops = values[:, -1] / law.deviation(values)

        def found(
            calibration: Calibration,
            tops: np.ndarray = tops,
        ) -> int:
            return int(np.sum(tops > calibration.threshold(law, level)))

        assert consistent(found(calibrations[kind]), level)
        # The end of the bulk in place of Tracy-Widom's quantile.
        assert not consistent(int(np.sum(tops > law.edge)), level)
        if kind != "gaussian":  # the calibration of other entries
            assert not consistent(found(calibrations["gaussian"]), level)
    # Without the fluctuation of sigma and the order 1/n.
    assert Calibration(0.0, 0.0).threshold(law, 0.01) != pytest.approx(
        calibrations["gaussian"].threshold(law, 0.01), rel=0.01
    )


@pytest.mark.parametrize("k", [0, 4])
def test_outliers_do_not_hide_behind_the_variance_that_they_add(k: int) -> None:
    """Four outliers in 24 x 24 are found; with the plain variance one of them is not."""
    key = np.random.default_rng(2)
    left, right = (np.linalg.qr(key.standard_normal((24, k)))[0] for _ in range(2))
    weights = noise(key, 24, 24) + 3.0 * left @ right.T
    found = layer_outliers(weights)
    assert found.count == k
    assert found.deviation == pytest.approx(24**-0.5, rel=0.1)
    plain = float(np.std(weights)) / found.deviation
    assert np.sum(found.singular_values > plain * found.threshold) == max(0, k - 1)


# -- outliers -------------------------------------------------------------------------------------


def test_outliers_are_where_they_should_be() -> None:
    """theta = 4, 3 in 150 x 100: values, strengths, cosines; .3 is not seen; transposed alike."""
    key = np.random.default_rng(3)
    p, d = 150, 100
    left = np.linalg.qr(key.standard_normal((p, 3)))[0]
    right = np.linalg.qr(key.standard_normal((d, 3)))[0]
    weights = noise(key, p, d) + (left * [4.0, 3.0, 0.3]) @ right.T
    found = layer_outliers(weights)
    assert (found.count, found.scales, found.shape) == (2, "none", (p, d))
    # A strength fluctuates by about 1/sqrt(d) = .1.
    np.testing.assert_allclose(found.strengths, [4.0, 3.0], atol=0.4)
    seen = np.abs(np.sum(found.directions * right[:, :2].T, axis=1))
    np.testing.assert_allclose(found.direction_cosines, seen, atol=0.05)
    seen = np.abs(np.sum(found.neurons * left[:, :2], axis=0))
    np.testing.assert_allclose(found.neuron_cosines, seen, atol=0.05)
    assert np.all(found.p_values < 1e-8)
    turned = layer_outliers(weights.T)
    np.testing.assert_allclose(turned.outliers, found.outliers)
    np.testing.assert_allclose(np.abs(turned.neurons), np.abs(found.directions.T), atol=1e-12)
    np.testing.assert_allclose(turned.direction_cosines, found.neuron_cosines)


def test_spike_is_the_closed_form_where_scales_are_equal() -> None:
    """s = sqrt((1 + t^2)(c + t^2))/t, cos^2 = 1 - c(1 + t^2)/(t^2(t^2 + c)), 1 - (c + t^2)/..."""
    m, n, theta = 60, 150, 1.7
    c, square = m / n, theta**2
    value = math.sqrt((1 + square) * (c + square)) / theta
    strength, left, right = spike(equal_law(m, n), value)
    assert strength == pytest.approx(theta, rel=1e-6)
    assert left**2 == pytest.approx(1 - c * (1 + square) / (square * (square + c)), rel=1e-5)
    assert right**2 == pytest.approx(1 - (c + square) / (square * (square + 1)), rel=1e-5)
    with pytest.raises(InputError, match="z must lie above the bulk"):
        ProfileBulk(np.ones((m, 1)), np.ones((n, 1))).means(1.0)


@pytest.mark.parametrize("axis", ["input", "neuron"])
def test_an_outlier_along_one_coordinate_is_not_a_scale(axis: str) -> None:
    key = np.random.default_rng(4)
    weights = noise(key, 60, 40)
    if axis == "input":
        weights[:, 7] += 6.0 * unit(key, 60)
    else:
        weights[7] += 6.0 * unit(key, 40)
    found = layer_outliers(weights)
    assert (found.count, found.scales) == (1, "none")
    [outlier] = found.as_dict()["outliers"]
    few, many = ("inputs", "neurons") if axis == "input" else ("neurons", "inputs")
    assert outlier[few] < 2
    assert outlier[many] > 10


def test_a_mean_is_an_outlier() -> None:
    found = layer_outliers(noise(np.random.default_rng(5), 40, 60) + 0.1)
    assert found.count == 1
    assert abs(found.directions[0].sum()) / math.sqrt(60) > 0.9


def test_a_trained_layer_shows_the_directions_that_it_learned() -> None:
    """Adam on x.u + (x.u)(x.v): two outliers in the plane of u and v; none before training."""
    network = pytest.importorskip("sklearn.neural_network").MLPRegressor
    key = np.random.default_rng(1)
    x = key.standard_normal((2000, 40))
    plane = np.linalg.qr(key.standard_normal((40, 2)))[0]
    u, v = (x @ plane).T
    fields = {"hidden_layer_sizes": (100,), "random_state": 1, "tol": 0.01}
    found = layer_outliers(network(**fields).fit(x, u + u * v).coefs_[0].T)
    assert found.count == 2
    assert np.all(np.linalg.norm(found.directions @ plane, axis=1) > 0.95)
    start = network(**fields, learning_rate_init=1e-9).partial_fit(x, u + u * v)
    assert layer_outliers(start.coefs_[0].T).count == 0


# -- scales ---------------------------------------------------------------------------------------


def test_scales_are_seen_where_they_differ() -> None:
    """Fitted ones are closer to the truth than equal ones and than the plain mean squares."""
    key = np.random.default_rng(6)
    rows = np.exp(0.3 * key.standard_normal(80))
    matrix = key.standard_normal((80, 50)) * np.sqrt(rows / rows.mean())[:, None]
    found = fitted_scales(matrix)
    assert found.differing == (True, False)
    miss = float(np.linalg.norm(found.rows - rows / rows.mean()))
    plain = np.mean(matrix**2, axis=1) / np.mean(matrix**2)
    assert miss < 0.95 * np.linalg.norm(plain - rows / rows.mean())
    assert miss < 0.95 * np.linalg.norm(1.0 - rows / rows.mean())
    assert fitted_scales(key.standard_normal((80, 50))).equal
    assert fitted_scales(key.choice([-1.0, 1.0], (80, 50))).equal


@pytest.mark.parametrize("theta", [0.0, 8.0])
def test_rows_of_different_scales_have_a_bulk_of_their_own(theta: float) -> None:
    """Its values above the edge of equal scales are no outliers, and what is planted is one."""
    key = np.random.default_rng([7, 3])
    p, d = 60, 40
    weights = noise(key, p, d) * np.exp(0.5 * key.standard_normal(p))[:, None]
    weights += theta * np.outer(unit(key, p), unit(key, d))
    found = layer_outliers(weights)
    assert found.scales == "rows"
    assert found.count == (theta > 0)
    law = equal_law(d, p)
    values = found.singular_values[found.count :][::-1]
    equal = law.edge * float(law.deviation(np.r_[values, values[-1:]][:d]))
    assert np.sum(values > equal) >= 1


def test_zero_rows_and_columns_are_left_out() -> None:
    key = np.random.default_rng(8)
    weights = noise(key, 50, 40)
    full = layer_outliers(weights)
    padded = np.zeros((53, 41))
    padded[:50, :40] = weights
    found = layer_outliers(padded)
    assert found.edge == pytest.approx(full.edge)
    record = found.as_dict()
    assert (record["zero_rows"], record["zero_columns"]) == (3, 1)
    assert (record["p"], record["d"]) == (53, 41)
    assert np.isnan(found.row_scales[50:]).all()


# -- refusals -------------------------------------------------------------------------------------


def smooth(key: np.random.Generator) -> np.ndarray:
    """Neighbouring inputs have correlated weights."""
    gaps = np.abs(np.subtract.outer(np.arange(60), np.arange(60)))
    return noise(key, 90, 60) @ np.linalg.cholesky(0.6**gaps).T


def uneven(key: np.random.Generator) -> np.ndarray:
    """Rows and columns of different scales."""
    rows, columns = np.exp(0.5 * key.standard_normal(60)), np.exp(0.4 * key.standard_normal(40))
    return noise(key, 60, 40) * rows[:, None] * columns


@pytest.mark.parametrize(
    ("draw", "reason"),
    [
        (uneven, "rows and their columns both differ in scale"),
        (
            lambda key: noise(key, 29, 31) * np.exp(key.standard_normal(29))[:, None],
            "differ in scale, which only 900 .* got 899",
        ),
        (smooth, "lie beyond the bulk of the others|out of place"),
        (lambda key: noise(key, 90, 60) * (key.random((90, 60)) < 0.03), "out of place"),
        (
            lambda key: key.standard_normal((90, 4)) @ key.standard_normal((4, 60)),
            "56 of .* are zero",
        ),
        (lambda key: np.linalg.qr(noise(key, 90, 60))[0], "out of place"),
        (lambda key: key.standard_cauchy((90, 60)), "out of place|a single one"),
        (lambda _: np.ones((90, 60)), "59 of .* are zero"),
    ],
    ids=[
        "uneven",
        "few and uneven",
        "smooth",
        "sparse",
        "low rank",
        "orthogonal",
        "heavy tails",
        "constant",
    ],
)
def test_what_has_no_such_bulk_is_refused(draw, reason: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(NoTheoryError, match=f"no bulk fits these weights: .*({reason})"):
        layer_outliers(draw(np.random.default_rng(9)))


def test_an_outlier_of_one_weight_is_refused() -> None:
    weights = noise(np.random.default_rng(10), 150, 120)
    weights[3, 4] = 8.0
    with pytest.raises(NoTheoryError, match="a single one, 8, makes an outlier"):
        layer_outliers(weights)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(20), r"weights must be a matrix, a row for each neuron, got shape \(20,\)"),
        (np.ones((3, 3, 2, 2)), "reshape a kernel to"),
        (np.ones((20, 20), dtype=complex), "weights must be real numbers, got dtype complex128"),
        (np.full((20, 20), "a"), "weights must be real numbers"),
        (np.full((20, 20), np.nan), "weights must be finite, got nan at row 0, column 0"),
        (np.ones((20, 5)), "at least 10 rows and columns that are not zero, got 20 x 5"),
        (np.full((20, 20), 1e200), r"of a size that can be squared, got 1e\+200"),
        (np.zeros((20, 20)), "at least 10 rows and columns that are not zero, got 0 x 0"),
    ],
)
def test_bad_input_is_one_sentence(weights: np.ndarray, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        layer_outliers(weights)
    with pytest.raises(InputError, match="level must lie between 0 and 1, got 2"):
        layer_outliers(np.random.default_rng(0).standard_normal((12, 12)), level=2.0)
