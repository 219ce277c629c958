"""One step in closed form: against integration, and against the deferred engine."""

import math

import numpy as np
import pytest

from giantstep import make_activation, make_target
from giantstep.analysis.phase import cosine_exponent, phase_curve
from giantstep.gaussian.points import normal_points
from giantstep.prediction.narrow.one_step import cosine_quantiles, mean_update, one_step_law
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate


@pytest.mark.parametrize("activation", ["relu", "tanh", "erf", "He1 + He2/2", "gelu"])
@pytest.mark.parametrize("target", ["staircase", "five-regimes", "He3(x1)", "x1*x2 + 1"])
@pytest.mark.parametrize("norm", [1.0, 1.6])
def test_mean_update_is_the_expectation(activation: str, target: str, norm: float) -> None:
    """E[y sigma'(<w, x>) x] by 8 scrambles of 2^14 points, within 6 standard errors of their mean.

    At most 4 comparisons a case, 40 cases; b_k at the wrong norm is rejected where it matters.
    """
    f, sigma = make_target(target), make_activation(activation)
    m = np.array([0.3, -0.4, 0.2])[: f.r]
    row = norm * np.r_[m, math.sqrt(1 - m @ m)]
    update = mean_update(f.series, sigma, norm * m, norm)
    closed = np.r_[update.along_target, 0.0] + update.along_row * row
    found = []
    for seed in range(8):
        x = normal_points(f.r + 1, seed, 14)
        y = f([x[:, k] for k in range(f.r)])
        found.append((y * sigma.derivative(x @ row)) @ x / len(x))
    error = np.std(found, axis=0, ddof=1) / math.sqrt(8) + 1e-9
    assert np.all(np.abs(np.mean(found, axis=0) - closed) < 6 * error)
    if norm != 1.0 and activation in ("tanh", "erf") and target == "staircase":
        wrong = mean_update(f.series, sigma, norm * m, 1.0)
        other = np.r_[wrong.along_target, 0.0] + wrong.along_row * row
        assert not np.all(np.abs(np.mean(found, axis=0) - other) < 6 * error)


@pytest.mark.law
@pytest.mark.parametrize(("activation", "noise"), [("relu", 0.0), ("tanh", 0.7)])
def test_law_of_one_step(activation: str, noise: float) -> None:
    """Means and covariances of 3000 runs: 3 means and 6 covariances, within 5 standard errors.

    Dropping the d/n term of the norm is rejected.
    """
    setting = Setting(
        "staircase",
        activation=activation,
        d=500,
        n=1000,
        p=2,
        steps=1,
        step_size=2.0,
        start="orthogonal",
        start_overlaps=((0.3, 0.1), (0.0, 0.0)),
        readout_start="alternating",
        residual="labels",
        noise=noise,
        runs=3000,
        readout_n=0,
        test_n=0,
        precision="float64",
    )
    trajectory = simulate(setting)
    law = one_step_law(setting, np.array([0.3, 0.1]), 1.0)
    sample = np.column_stack([trajectory.overlap[:, 1, 0], trajectory.gram[:, 1, 0, 0]])
    expected = np.r_[law.overlap, law.square_norm]
    error = sample.std(axis=0, ddof=1) / math.sqrt(len(sample))
    assert np.all(np.abs(sample.mean(axis=0) - expected) < 5 * error + 1e-4)
    products = np.einsum("na,nb->nab", *(2 * [sample - sample.mean(axis=0)]))
    spread = products.std(axis=0) / math.sqrt(len(sample))
    assert np.all(np.abs(products.mean(axis=0) - law.covariance) < 5 * spread)
    short = one_step_law(setting.vary(d=10), np.array([0.3, 0.1]), 1.0)
    assert abs(sample[:, -1].mean() - short.square_norm) > 5 * error[-1]


@pytest.mark.law(sentinel="He2(x1) + He2(x2)-d^2-100")
@pytest.mark.parametrize(
    ("target", "n", "d"), [("x1 + x1*x2", "4d", 2000), ("He2(x1) + He2(x2)", "d^2", 100)]
)
def test_quantiles_over_the_start(target: str, n: str, d: int) -> None:
    """Median |cosine| with each direction over 600 runs, within 5 standard errors of a median.

    Two comparisons a case.  A quarter of the step size, 8 off or more, is rejected.
    """
    setting = Setting(target, d=d, n=n, p=2, steps=1, runs=600, readout_n=0, test_n=0)
    cosines = np.abs(simulate(setting).cosine[:, 1, 0])
    median = np.median(cosines, axis=0)
    rng = np.random.default_rng(0)
    resampled = [np.median(cosines[rng.integers(0, 600, 600)], axis=0) for _ in range(200)]
    error = np.hypot(np.std(resampled, axis=0), np.std(resampled, axis=0) / math.sqrt(2))
    [found] = cosine_quantiles(setting, np.array([0.5]))
    assert np.all(np.abs(found - median) < 5 * error)
    quarter = setting.vary(step_size=setting.step_size[0] / 4)
    [wrong] = cosine_quantiles(quarter, np.array([0.5]))
    assert not np.all(np.abs(wrong - median) < 5 * error)


def test_noise_is_larger_along_the_target() -> None:
    """Below the boundary noise decides: E[y^2 z^2] = 10 for He2, against E[y^2] = 2 elsewhere.

    The 0.9 quantile of |cosine| over 700 runs at d = 400, n = d^1.5, within 5 standard errors; it
    is rejected with the noise of the other directions (10 replaced by 2: five times the samples),
    which is 11 off.
    """
    setting = Setting(
        "He2(x1)", activation="tanh(z + 0.5)", d=400, n="d^1.5", p=2, steps=1, runs=700,
        step_size="20*d^0.5", readout_n=0, test_n=0,
    )  # fmt: skip
    cosines = np.abs(simulate(setting).cosine[:, 1, 0, 0])
    rng = np.random.default_rng(0)
    boot = [np.quantile(rng.choice(cosines, 700), 0.9) for _ in range(200)]
    error = math.sqrt(2) * float(np.std(boot))
    [[found]] = cosine_quantiles(setting, np.array([0.9]))
    assert abs(found - np.quantile(cosines, 0.9)) < 5 * error
    # The same signal and the same norm, the noise along the target of a fifth of the variance.
    quiet = setting.vary(n=5 * setting.n, d=5 * setting.d, step_size=20 * 400**0.5)
    [[wrong]] = cosine_quantiles(quiet, np.array([0.9]))
    assert abs(wrong - np.quantile(cosines, 0.9)) > 5 * error


def test_exponents_of_the_theorem() -> None:
    assert cosine_exponent(1, 1.0) == 0.0
    assert cosine_exponent(1, 0.5) == -0.25
    assert cosine_exponent(2, 2.0) == 0.0
    assert cosine_exponent(2, 1.5) == -0.25
    assert cosine_exponent(2, 1.0) == -0.5
    assert cosine_exponent(3, 2.0) == -0.5
    # Whatever the step size, n = d^(l-1) or less learns nothing.
    for size in np.linspace(-2, 4, 13):
        assert cosine_exponent(3, 2.0, float(size)) == pytest.approx(-0.5)
        assert cosine_exponent(2, 0.9, float(size)) == pytest.approx(-0.5)
    assert phase_curve(2, np.array([1.0, 1.5, 2.0, 2.5])).tolist() == [-0.5, -0.25, 0.0, 0.0]


@pytest.mark.law
@pytest.mark.parametrize("kappa", [1.5, 2.0])
def test_measured_exponents_lie_on_the_curve(kappa: float) -> None:
    """Leap 2 at n = d^kappa: the exponent over d = 40..320 within 4 standard errors of theory.

    Theory is the slope of the predicted medians at the same sizes (the curve of phase.py is their
    limit, approached slowly below the boundary); two comparisons, level 2e-4 in all.  The
    exponent of leap 1 is rejected below the boundary.
    """
    sizes = (40, 80, 160, 320)
    medians, errors, expected = [], [], []
    for d in sizes:
        setting = Setting(
            "He2(x1)", d=d, n=f"d^{kappa}", p=2, steps=1, runs=200, readout_n=0, test_n=0
        )
        cosines = np.abs(simulate(setting).cosine[:, 1, 0, 0])
        medians.append(math.log(np.median(cosines)))
        expected.append(math.log(cosine_quantiles(setting, np.array([0.5]))[0, 0]))
        rng = np.random.default_rng(0)
        boot = [np.log(np.median(rng.choice(cosines, 200))) for _ in range(200)]
        errors.append(np.std(boot))
    x = np.log(sizes) - np.mean(np.log(sizes))
    slope = float(x @ medians / (x @ x))
    error = float(np.sqrt(x**2 @ np.square(errors)) / (x @ x))
    theory = float(x @ expected / (x @ x))
    assert abs(slope - theory) < 4 * error
    # The finite-size slope lies between the limit and that of nothing learned.
    assert -0.5 < theory < cosine_exponent(2, kappa) + 0.02
    if kappa < 2:
        assert abs(slope - cosine_exponent(1, kappa)) > 4 * error
