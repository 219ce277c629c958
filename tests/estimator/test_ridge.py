"""Ridge and leave-one-out against fits that truly leave a row out."""

import numpy as np
import pytest

from giantstep.estimator import blocks
from giantstep.estimator import ridge as module
from giantstep.estimator.ridge import fit_ridge

KEY = np.random.default_rng(2)
PHI, Y = KEY.standard_normal((25, 4)) + 1.0, KEY.standard_normal((25, 2))
WEIGHT = KEY.uniform(0.3, 2.0, 25)
WEIGHT /= WEIGHT.mean()


def by_hand(penalty: float, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted ridge with a free intercept, from its augmented normal equations."""
    phi, y, w = np.column_stack([PHI, np.ones(25)])[keep], Y[keep], WEIGHT[keep]
    gram = (phi * w[:, None]).T @ phi + 25 * penalty * np.diag([1.0, 1, 1, 1, 0])
    found = np.linalg.solve(gram, (phi * w[:, None]).T @ y)
    return found[:-1], found[-1]


def test_weights_and_left_out_residuals_are_those_of_a_refit() -> None:
    fit = fit_ridge(lambda block: PHI[block], Y, WEIGHT, 4)
    weights, intercept = by_hand(fit.penalty, np.arange(25))
    np.testing.assert_allclose(fit.weights, weights, atol=1e-10)
    np.testing.assert_allclose(fit.intercept, intercept, atol=1e-10)
    for row in (0, 7, 24):
        weights, intercept = by_hand(fit.penalty, np.delete(np.arange(25), row))
        np.testing.assert_allclose(
            fit.residual[row], Y[row] - PHI[row] @ weights - intercept, atol=1e-8
        )
    assert fit.error == pytest.approx(np.mean(WEIGHT[:, None] * fit.residual**2))


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fit_ridge(lambda block: PHI[block], Y, WEIGHT, 4)
    monkeypatch.setattr(blocks, "BLOCK_NUMBERS", 4 * 6)
    parts = fit_ridge(lambda block: PHI[block], Y, WEIGHT, 4)
    np.testing.assert_allclose(parts.weights, whole.weights, atol=1e-12)
    np.testing.assert_allclose(parts.residual, whole.residual, atol=1e-12)


def test_the_penalty_has_the_least_error() -> None:
    fit = fit_ridge(lambda block: PHI[block], Y, WEIGHT, 4)
    alone = [
        fit_ridge(lambda block: PHI[block], Y, WEIGHT, 4, penalties=np.array([penalty])).error
        for penalty in module.PENALTIES
    ]
    assert fit.error == pytest.approx(min(alone))
    assert fit.error < max(alone)


def test_one_penalty_is_that_of_the_grid() -> None:
    """Cholesky's factor and the eigenvectors give one fit; constant features leave the mean."""
    key = np.random.default_rng(11)
    phi, y = key.standard_normal((60, 5)), key.standard_normal((60, 2))
    weight = key.uniform(0.5, 1.5, 60)
    weight /= weight.mean()
    chosen = fit_ridge(phi.__getitem__, y, weight, 5)
    alone = fit_ridge(phi.__getitem__, y, weight, 5, np.array([chosen.relative]))
    np.testing.assert_allclose(alone.weights, chosen.weights, rtol=1e-9)
    np.testing.assert_allclose(alone.residual, chosen.residual, rtol=1e-9)
    other = fit_ridge(phi.__getitem__, y, weight, 5, np.array([100.0 * chosen.relative]))
    assert np.max(np.abs(other.residual - chosen.residual)) > 1e-3
    same = np.full((60, 5), 0.1)
    flat = fit_ridge(same.__getitem__, y, weight, 5, np.array([1e-6]))
    np.testing.assert_allclose(flat(same), np.broadcast_to(weight @ y / 60, y.shape), atol=1e-6)
