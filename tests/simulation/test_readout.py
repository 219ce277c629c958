"""Ridge readout: against direct solves, leave-one-out against leaving out, both sides of n = p."""

from typing import Any

import numpy as np
import pytest

from giantstep.problem.setting import Setting
from giantstep.simulation import readout
from giantstep.simulation.engines import blocks
from giantstep.simulation.meter import Meter
from giantstep.simulation.readout import KEPT, LEFT_OUT, fit_readout
from giantstep.simulation.simulate import MEMORY, make_engine, simulate


class Samples:
    """Given features and labels as training data, in two blocks."""

    def __init__(self, phi: np.ndarray, y: np.ndarray) -> None:
        self.phi, self.y, self.count = phi, y, len(y)

    def reduce(self, reducer: Any, *arguments: Any, exact: bool = False) -> list[Any]:
        middle = self.count // 2
        parts = [
            reducer(self.phi[part], self.y[part], *arguments)
            for part in (slice(0, middle), slice(middle, None))
        ]
        return [a + b for a, b in zip(*parts, strict=True)]

    def head(self, count: int) -> "Samples":
        return self

    def keep(self, count: int) -> "Samples":
        return self

    def collect(self) -> tuple[np.ndarray, np.ndarray]:
        return self.phi, self.y


def samples(n: int, p: int, seed: int = 0) -> Samples:
    rng = np.random.default_rng(seed)
    phi = np.maximum(rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) / np.sqrt(p), 0)
    return Samples(phi, phi @ rng.standard_normal(p) + rng.standard_normal(n))


def setting(p: int, **fields: Any) -> Setting:
    return Setting("x1", d=100, p=p, start="sphere", **fields)


def direct(data: Samples, penalty: float, scale: float) -> tuple[np.ndarray, float]:
    """Weights and training error of min mean (y - s phi.a)^2 + penalty |a|^2."""
    phi, y, n = scale * data.phi, data.y, data.count
    a = np.linalg.solve(phi.T @ phi / n + penalty * np.eye(phi.shape[1]), phi.T @ y / n)
    return a, float(np.mean((y - phi @ a) ** 2))


@pytest.mark.parametrize(("n", "p"), [(200, 10), (30, 31), (31, 30), (30, 30), (12, 40)])
@pytest.mark.parametrize("scale", ["1/p", "1/sqrt(p)", "1"])
def test_agrees_with_a_direct_solve(n: int, p: int, scale: str) -> None:
    data = samples(n, p)
    record = setting(p, ridge=(1e-4, 0.3), output_scale=scale)
    fit = fit_readout(data, record)
    for k, penalty in enumerate((1e-4, 0.3)):
        weights, train = direct(data, penalty, record.scale)
        np.testing.assert_allclose(fit.weights[k], weights, rtol=1e-6, atol=1e-8)
        assert fit.train_errors[k] == pytest.approx(train, rel=1e-6)


@pytest.mark.parametrize(("n", "p"), [(60, 10), (30, 30), (20, 45)])
def test_leave_one_out_is_leaving_one_out(n: int, p: int) -> None:
    data = samples(n, p)
    record = setting(p, ridge=(1e-3, 0.1), output_scale="1/sqrt(p)")
    fit = fit_readout(data, record)
    for k, penalty in enumerate((1e-3, 0.1)):
        errors = []
        for left in range(n):
            keep = np.arange(n) != left
            # The penalty of the sum stays n * penalty when one sample goes.
            rest = Samples(data.phi[keep], data.y[keep])
            weights, _ = direct(rest, penalty * n / (n - 1), record.scale)
            errors.append((data.y[left] - record.scale * data.phi[left] @ weights) ** 2)
        assert fit.loo_errors[k] == pytest.approx(np.mean(errors), rel=1e-6)
    assert fit.chosen == int(np.argmin(fit.loo_errors))


@pytest.mark.parametrize("n", [20, 39, 40, 41, 80])
def test_interpolation_threshold_stays_finite(n: int) -> None:
    fit = fit_readout(samples(n, 40), setting(40, ridge=1e-12, output_scale="1"))
    assert np.all(np.isfinite(fit.weights))
    if n < 40:
        assert fit.train_errors[0] < 1e-12
    # Twice as many samples as neurons cannot be interpolated.
    if n == 80:
        assert fit.train_errors[0] > 0.1


def test_cross_validation_finds_the_useful_penalty() -> None:
    """Pure noise wants a huge penalty, a noiseless linear law a tiny one."""
    rng = np.random.default_rng(0)
    phi = rng.standard_normal((200, 50))
    record = setting(50, output_scale="1")
    noise = fit_readout(Samples(phi, rng.standard_normal(200)), record)
    clean = fit_readout(Samples(phi, phi @ rng.standard_normal(50)), record)
    assert noise.penalties[noise.chosen] > 1.0
    assert clean.penalties[clean.chosen] < 1e-6


@pytest.mark.parametrize(("n", "again"), [(9000, 0), (LEFT_OUT + 9000, 0), (9000, 3)])
@pytest.mark.parametrize("deflate", [-1, 1])
def test_samples_are_drawn_once_where_they_fit(
    n: int, again: int, deflate: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leave-one-out sees the blocks of the normal equations; the fit is the same either way."""
    if again:
        monkeypatch.setattr("giantstep.simulation.readout.KEPT", 0)
    record = setting(6, readout_n=n, noise=0.5, deflate=deflate)
    engine: Any = make_engine(record, MEMORY, Meter(1, None))
    engine.begin(0)
    drawn: list[int] = []
    plain = blocks.generator
    training = engine.training(0)

    def counted(*where: int) -> np.random.Generator:
        drawn.append(where[-1])
        return plain(*where)

    monkeypatch.setattr(blocks, "generator", counted)
    fit = fit_readout(training, record)
    count = -(-n // blocks.HOST.block)
    assert sorted(drawn) == sorted([*range(count), *range(again)])
    monkeypatch.setattr("giantstep.simulation.readout.KEPT", KEPT if again else 0)
    other = fit_readout(training, record)
    np.testing.assert_array_equal(fit.loo_errors, other.loo_errors)
    np.testing.assert_array_equal(fit.weights, other.weights)


def test_a_penalty_below_single_precision_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """40 linear features of 20 inputs: half of the eigenvalues are 0, and 1e-7 of others rounding.

    Penalties of 1e-6 and 1e-10 then have the same errors, to a thousandth.  Without the second
    pass in float64 the smaller one has no train error and a huge test error.
    """
    record = Setting(
        "x1", activation="z", d=20, n="16d", p=40, steps=1, step_size=1e4, start="sphere",
        noise=0.5, readout_n=4000, test_n=4000, seed=1,
    )  # fmt: skip

    def errors(penalty: float) -> np.ndarray:
        found = simulate(record.vary(ridge=[penalty]))
        assert found.train_error is not None
        assert found.test_error is not None
        return np.array([found.train_error[0, -1], found.test_error[0, -1]])

    np.testing.assert_allclose(errors(1e-10), errors(1e-6), rtol=1e-3)
    monkeypatch.setattr(readout, "SINGLE", 0.0)
    train, test = errors(1e-10)
    assert train == 0.0
    assert test > 1e3
