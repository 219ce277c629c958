"""Neurons of unequal power: edge and lone neurons against matrices, the threshold against runs."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from giantstep import Setting, make_activation, simulate
from giantstep.prediction.wide import laws
from giantstep.prediction.wide.network import TYPICAL
from giantstep.spectra.start import feature_bulk
from giantstep.spectra.uneven import UnevenNeurons, uneven_neurons

CURVED = "2.4*z + 2.9*(z^2 - 1) + 2.4"


@pytest.mark.parametrize("activation", ["relu", "tanh", "z", CURVED])
@pytest.mark.parametrize("sizes", [(900, 200, 60), (300, 200, 400)])
def test_even_neurons_have_the_edge_of_the_bulk(activation: str, sizes: Any) -> None:
    """Eq. (15) with no deviations is eq. (2)."""
    n, d, p = sizes
    chosen = make_activation(activation)
    even = uneven_neurons(chosen, n, float(d), p, length_variance=0.0)
    bulk = feature_bulk(chosen, n, d, p)
    unit = (bulk.linear + bulk.nonlinear) / (even.linear + even.rest)
    assert even.linear + even.rest == pytest.approx(1.0, rel=1e-6)
    assert unit * even.edge(np.zeros(1))[1] == pytest.approx(bulk.upper.place, rel=1e-6)


def test_equal_deviations_are_a_larger_rest() -> None:
    neurons = UnevenNeurons(900, 200.0, 60, linear=0.5, rest=0.3, variance=0.0, third=0.0)
    more = UnevenNeurons(900, 200.0, 60, linear=0.5, rest=0.5, variance=0.0, third=0.0)
    assert neurons.edge(np.full(60, 0.2))[1] == pytest.approx(more.edge(np.zeros(1))[1], rel=1e-9)


def test_linear_neurons_raise_nothing() -> None:
    """The lengths of Gaussian rows are in the law of their products."""
    linear = uneven_neurons(make_activation("z"), 900, 200.0, 60, length_variance=0.01)
    assert linear.raised(0.01) == pytest.approx((1.0, 1.0), abs=1e-9)


@pytest.mark.parametrize("activation", ["He3", "exp(z)", "He4 + 1e-7*z"])
def test_neurons_of_long_tails_raise_more_than_relu(activation: str) -> None:
    """A linear part that is zero but for rounding, and deviations beyond the power itself."""
    one, relu = (
        uneven_neurons(make_activation(each), 900, 200.0, 60, length_variance=0.01).raised(0.01)
        for each in (activation, "relu")
    )
    assert all(long > short >= 1.0 for long, short in zip(one, relu, strict=True))
    assert np.all(np.isfinite(one))


@pytest.mark.parametrize("activation", ["z^9", "exp(5*z)"])
def test_tails_that_no_sample_has_lower_no_threshold(activation: str) -> None:
    chosen = make_activation(activation)
    factors = uneven_neurons(chosen, 400, 200.0, 100, length_variance=0.01).raised(0.01)
    assert np.all(np.isfinite(factors))
    assert min(factors) >= 1.0


def test_places_of_matrices() -> None:
    """Edge and one lone neuron of Gaussian features with a given covariance, within 2 %.

    The edge of even neurons is 10 % too low for both, the edge of the others 5 % for the second.
    """
    n, d, p = 1600, 800, 400
    rng = np.random.default_rng(0)
    neurons = UnevenNeurons(n, float(d), p, linear=0.5, rest=1.0, variance=0.0, third=0.0)
    deviations = np.where(np.arange(p) < p // 4, 1.5, -0.5)
    edge = math.sqrt(neurons.edge(deviations)[1])
    alone = math.sqrt(neurons.place(5.0, deviations))
    rows = math.sqrt(0.5) * rng.standard_normal((p, d)) / math.sqrt(d)

    def top(each: Any) -> float:
        features = rng.standard_normal((n, d)) @ rows.T
        features += rng.standard_normal((n, p)) * np.sqrt(1.0 + each)
        return float(np.linalg.svd(features / math.sqrt(n), compute_uv=False)[0])

    even = math.sqrt(neurons.edge(np.zeros(1))[1])
    assert top(deviations) == pytest.approx(edge, rel=0.02)
    assert top(np.r_[5.0, deviations[1:]]) == pytest.approx(alone, rel=0.02)
    assert even < 0.9 * edge < 0.95 * 0.9 * alone


CASES = {"few neurons": (400, 100, 30, 40), "blocks": (937, 291, 64, 24)}
BLOCKS = "blocks(0.05, 0.33, 0.3, 8.97, 0.24, 8.21, 0.41, 2.72)"


@pytest.mark.law(sentinel="few neurons")
@pytest.mark.parametrize("case", CASES)
def test_noise_passes_the_threshold_of_the_features_rarely(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs with a singular value more than predicted are as rare as one in twenty.

    The binomial interval holds the count with probability .9995.  Neurons of equal power are
    rejected: more than half of the runs pass their threshold.
    """
    n, d, p, runs = CASES[case]
    inputs = BLOCKS if case == "blocks" else "gaussian"
    activation = "He1 + He2/2" if case == "blocks" else CURVED
    setting = Setting(
        "x1",
        activation=activation,
        inputs=inputs,
        start="gaussian",
        d=d,
        n=n,
        p=p,
        steps=0,
        readout_n=n,
        test_n=1,
        spectra=6,
        runs=runs,
    )
    features = simulate(setting).features
    assert features is not None
    assert features.singular_values is not None
    values = features.singular_values[:, 0]

    def passed() -> int:
        laws._start_margin.cache_clear()
        law = laws.feature_law(setting, TYPICAL)
        predicted = np.sum(law.outliers > law.threshold)
        return int(np.sum(np.sum(values > law.threshold, axis=1) > predicted))

    most = binom.isf(5e-4, runs, 0.05)
    assert passed() <= most
    monkeypatch.setattr(laws, "_raised", lambda setting: 1.0)
    assert passed() > max(most, runs // 2)
    laws._start_margin.cache_clear()
