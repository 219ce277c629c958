"""Power-law random features: the exact mean loss against SGD itself, and the phases' exponents."""

import math
from dataclasses import replace

import numpy as np
import pytest

from giantstep import (
    DivergenceError,
    InputError,
    power_law_features,
    power_law_phase,
)
from giantstep.analysis.power_law import PowerLawFeatures
from giantstep.analysis.power_law_equivalent import power_law_equivalent

ALPHA, BETA, D, INPUTS, RATE, BATCH, STEPS = 0.8, 0.4, 10, 30, 0.1, 2, 30


def sgd(seed: int, runs: int) -> np.ndarray:
    """Losses of one-pass SGD on the features of a seed, step by step and run by run."""
    axis = np.arange(1.0, INPUTS + 1.0)
    variances, label = axis ** (-2 * ALPHA), axis**-BETA
    weights = np.random.default_rng(seed).standard_normal((D, INPUTS)).T / math.sqrt(D)
    rng, theta, losses = np.random.default_rng(99), np.zeros((runs, D)), []
    for _ in range(STEPS + 1):
        losses.append((theta @ weights.T - label) ** 2 @ variances)
        x = rng.standard_normal((runs, BATCH, INPUTS)) * np.sqrt(variances)
        features = x @ weights
        residual = np.einsum("rbd,rd->rb", features, theta) - x @ label
        theta = theta - RATE * np.einsum("rb,rbd->rd", residual, features)
    return np.array(losses)


def test_mean_loss_is_that_of_sgd() -> None:
    """Six times, each within 4 standard errors; the loss of batches of one is rejected."""
    features: PowerLawFeatures = power_law_features(ALPHA, BETA, D, INPUTS, seed=5)
    losses = sgd(5, 3000)
    times = [0, 1, 2, 5, 10, 30]
    error = losses[times].std(axis=1) / math.sqrt(losses.shape[1]) + 1e-12
    found = features.mean_losses(times, RATE, BATCH)
    assert np.all(np.abs(losses[times].mean(axis=1) - found) < 4 * error)
    wrong = features.mean_losses(times, RATE, 1)
    assert np.any(np.abs(losses[times].mean(axis=1) - wrong) > 8 * error)


def test_mean_loss_is_the_recursion_and_ends_above_the_floor() -> None:
    features = power_law_features(1.0, 0.8, 12, 60, seed=1)
    values, m = features.eigenvalues, features.squares.copy()
    for step in range(8):
        total = float(np.sum(m)) + features.floor
        assert features.mean_losses([step], 0.2)[0] == pytest.approx(total, rel=1e-10)
        m = (1 - 0.4 * values + 0.08 * values**2) * m + 0.04 * values**2 * (total + 0.0)
    last = features.mean_losses([math.inf], 0.2)[0]
    assert features.floor < last < 2 * features.floor
    assert features.mean_losses([math.inf], 0.2, noise=0.1)[0] > last


def test_a_step_that_is_too_large_diverges_and_sizes_are_checked() -> None:
    features = power_law_features(1.0, 0.8, 12, 60)
    with pytest.raises(DivergenceError, match="step_size 5"):
        features.mean_losses([1], 5.0)
    with pytest.raises(InputError, match="inputs - 1, got 60"):
        power_law_features(1.0, 0.8, 60, 60)
    with pytest.raises(InputError, match="step_size must be positive, got nan"):
        features.mean_losses([1], math.nan)
    with pytest.raises(InputError, match="moves every mode by more than rounding, got 1e-16"):
        features.mean_losses([1], 1e-16)
    with pytest.raises(InputError, match="batch must be at least 1, got 0"):
        features.mean_losses([1], 0.1, batch=0)
    with pytest.raises(InputError, match="beta must be at least 0, got nan"):
        power_law_features(1.0, math.nan, 12, 60)
    with pytest.raises(InputError, match="d must be a whole number, got True"):
        power_law_features(1.0, 0.8, True, 60)
    with pytest.raises(InputError, match="12 modes differ by less than rounding, got 20"):
        power_law_features(20.0, 0.8, 12, 60)
    with pytest.raises(InputError, match="alpha must be above 1/2"):
        power_law_phase(0.4, 0.8)
    with pytest.raises(InputError, match="alpha must be above 1/2"):
        power_law_phase(math.inf, 0.8)


@pytest.mark.parametrize(
    ("alpha", "beta", "name", "compute"),
    [
        # Closed forms of docs/derivations/scaling.md, section 4, typed in a second time.
        (1.0, 0.2, "Ia", (1 / 3 - 1) * (1 + 0.2 - 0.5)),
        (1.2, 0.7, "II", -(2.4 + 1.4 - 1) / (2 * 1.9)),
        (0.7, 1.2, "III", (1 - 2.8) / 2.8),
    ],
)
def test_exponents_of_the_phases(alpha: float, beta: float, name: str, compute: float) -> None:
    phase = power_law_phase(alpha, beta)
    assert phase.name == name
    assert phase.compute == pytest.approx(compute)
    # At the crossing both laws of the loss are of one order.
    after = phase.floor if phase.late is None else phase.late * phase.crossing - 1.0
    assert phase.early * phase.crossing == pytest.approx(after)


def whole(alpha: float, beta: float, inputs: int) -> float:
    return float(np.sum(np.arange(1.0, inputs + 1.0) ** (-2 * alpha - 2 * beta)))


@pytest.mark.parametrize(("alpha", "beta"), [(0.7, 1.2), (1.3, 0.1)])
def test_equivalent_has_the_totals_of_every_draw(alpha: float, beta: float) -> None:
    """d modes, the trace of the variances on average, and all of the label."""
    theory = power_law_equivalent(alpha, beta, 30, 200)
    variances = np.arange(1.0, 201.0) ** (-2 * alpha)
    assert theory.d == 30
    assert theory.modes @ theory.eigenvalues == pytest.approx(variances.sum(), rel=2e-3)
    # E tr A^2 = sum v^2 + (sum v)^2/d, and sum v^2/d more at this size.
    second = float(np.sum(variances**2) + np.sum(variances) ** 2 / 30)
    assert theory.modes @ theory.eigenvalues**2 == pytest.approx(second, rel=1e-2)
    assert theory.squares.sum() + theory.floor == pytest.approx(whole(alpha, beta, 200))


def test_equivalent_is_the_mean_of_draws() -> None:
    """Eight losses and the floor of d = 60 within 4 standard errors of 40 draws.

    The spectrum of infinite d, the variances themselves, is rejected.
    """
    alpha, beta, d, inputs, times = 0.8, 0.9, 60, 300, np.geomspace(1, 3e4, 8)
    theory = power_law_equivalent(alpha, beta, d, inputs)
    drawn = [power_law_features(alpha, beta, d, inputs, 500 + k) for k in range(40)]
    losses = np.array([[*each.mean_losses(times, 0.1), each.floor] for each in drawn])
    error = losses.std(axis=0, ddof=1) / math.sqrt(len(drawn))
    found = np.array([*theory.mean_losses(times, 0.1), theory.floor])
    assert np.max(np.abs(losses.mean(axis=0) - found) / error) < 4
    axis = np.arange(1.0, d + 1.0)
    squares = axis ** (-2 * alpha - 2 * beta)
    left = whole(alpha, beta, inputs) - float(squares.sum())
    wrong = replace(theory, eigenvalues=axis ** (-2 * alpha), squares=squares, floor=left)
    wrong = replace(wrong, modes=np.ones(d))
    found = np.array([*wrong.mean_losses(times, 0.1), wrong.floor])
    assert np.max(np.abs(losses.mean(axis=0) - found) / error) > 8


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (1.3, 1.5)])
def test_floor_of_the_equivalent_has_the_exponent_of_the_phase(alpha: float, beta: float) -> None:
    """Between d = 300 and 600 of 300,000 inputs: the exponent of the limit within 1 %.

    Terms of relative order 1/d, and the inputs that are missing, change it by less.
    """
    floors = [power_law_equivalent(alpha, beta, d, 300_000).floor for d in (300, 600)]
    exponent = math.log2(floors[1] / floors[0])
    assert exponent == pytest.approx(power_law_phase(alpha, beta).floor, rel=0.01)
