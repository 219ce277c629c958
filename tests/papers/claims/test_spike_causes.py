"""What the claims on limiting losses, thresholds, gradient noise and two steps are made of."""

import math

import numpy as np
import pytest

from giantstep import Setting, simulate
from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.feature_steps import feature_spectra
from giantstep.papers.claims.input_spikes import noise_edge
from giantstep.papers.claims.limiting_losses import STEPPED, at_scale, measured_shares
from giantstep.papers.claims.spike_thresholds import beta_length, predicted_sizes
from giantstep.papers.claims.wide import WIDE
from giantstep.prediction.wide.feature_outliers import feature_outliers
from giantstep.prediction.wide.step import learned_step
from giantstep.prediction.wide.strong_spikes import limiting_losses
from giantstep.simulation.stepped import stepped_runs


def shares(cause: str, **fields: object) -> list[float]:
    [setting] = at_scale(STEPPED | fields, "1", [40], 4)
    sizes = [0.0, *(1.5 * setting.n**alpha for alpha in (0.125, 0.3125))]
    return measured_shares(setting, cause, sizes).mean(axis=0).tolist()


def test_a_linear_network_has_a_step_of_rank_one() -> None:
    """sigma' = 1: no rows are lengthened; those of a quadratic one are."""
    cause = {"cause": "longer rows", "residual": "labels"}
    assert shares(activation="He1", **cause) == pytest.approx([0.0, 0.0], abs=1e-9)
    assert max(abs(share) for share in shares(activation="He1 + He2/2", **cause)) > 0.01


def test_a_step_of_labels_alone_has_no_output_in_it() -> None:
    cause = {"cause": "own output", "activation": "He1 + He2/2"}
    assert shares(residual="labels", **cause) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert max(abs(share) for share in shares(residual="full", **cause)) > 0.1


def test_third_spike_gains_the_cubic_part() -> None:
    """L_2 - L_3 = lambda m_1 cos^6, with longer rows or without; those of cos^4 are far off."""
    fields = dict(CLAIMS["limiting-losses-of-three-spikes"].setting)
    setting = Setting(**fields | {"d": 1000, "residual": "labels", "step_size": 1.0})
    cosine = learned_step(setting, 1e9).cosine
    for lengthened in (True, False):
        found = limiting_losses(setting, count=3, lengthened=lengthened)
        gain = found.objectives[2] - found.objectives[3]
        assert gain == pytest.approx(0.1 * found.noise_resolvent * cosine**6, rel=1e-6)
        assert gain != pytest.approx(0.1 * found.noise_resolvent * cosine**4, rel=0.1)


def test_length_of_beta() -> None:
    """Mean of |beta|^2 over 40 runs within 4 standard errors, with the network's output in it."""
    setting = Setting(**WIDE | {"d": 100, "readout_n": 10, "test_n": 10, "step_size": 1.0})
    squares = np.array([np.sum(step.spike**2) for step in stepped_runs(setting, range(40))])
    error = squares.std(ddof=1) / math.sqrt(40)
    assert abs(squares.mean() - beta_length(setting) ** 2) < 4 * error
    assert abs(squares.mean() - beta_length(setting.vary(residual="labels")) ** 2) > 4 * error


def test_predicted_sizes_are_where_the_outlier_is() -> None:
    """At the size that is found, the outlier is 1.25 times the edge of the start, to 5 %."""
    setting = Setting(**WIDE | {"d": 200, "readout_n": "n", "test_n": 10, "step_size": 1.0})
    level = 1.25 * feature_outliers(setting.vary(step_size=0.0)).edge
    for k, size in enumerate(predicted_sizes(setting, 1.25)):
        place = feature_outliers(setting.vary(step_size=size / beta_length(setting))).values[k]
        assert place == pytest.approx(level, rel=0.05)


def test_edge_of_the_noise_of_a_gradient() -> None:
    """The noise built by hand to 5 %; without its part that is linear in w.x it is off by more."""
    d, n, p = 300, 225, 400
    setting = Setting("1 + x1", d=d, n=n, p=p, activation="softplus", output_scale="1/sqrt(p)")
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(n, d))
    residual = 1.0 + rng.normal(size=n)
    weights = rng.normal(size=(p, d)) / math.sqrt(d)
    slope = 1.0 / (1.0 + np.exp(-weights @ inputs.T))
    matrix = ((slope - 0.5) * residual) @ inputs[:, :-1] / n * setting.scale
    found = noise_edge(setting, inputs, residual)
    assert np.linalg.norm(matrix, 2) == pytest.approx(found, rel=0.05)
    independent = (rng.permuted(slope - 0.5, axis=1) * residual) @ inputs[:, :-1] / n
    assert np.linalg.norm(independent * setting.scale, 2) < 0.9 * found


def test_spectra_after_two_steps_are_those_of_a_simulation() -> None:
    setting = Setting(
        **dict(CLAIMS["features-after-two-steps"].setting)
        | {"d": 40, "step_size": "n^0.3*p^0.5", "runs": 2, "spectra": 4}
    )
    features = simulate(setting.vary(engine="dense", precision="float64")).features
    assert features is not None
    assert features.singular_values is not None
    for run, spectrum in enumerate(feature_spectra(setting)):
        np.testing.assert_allclose(spectrum.values, features.singular_values[run, 2, :4], rtol=1e-3)
        assert np.max(np.abs(spectrum.values / features.singular_values[run, 1, :4] - 1.0)) > 0.1
