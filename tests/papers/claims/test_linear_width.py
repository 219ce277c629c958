"""What the claims on one step at linear width measure."""

import math

import numpy as np
import pytest

from giantstep import Setting
from giantstep.papers.claims.linear_width import _share
from giantstep.papers.claims.spike_thresholds import crossing, leaving_sizes
from giantstep.papers.claims.wide import WIDE, spikes_in_the_limit
from giantstep.simulation.feature_models import real_features, tables
from giantstep.simulation.readout import fit_readout
from giantstep.simulation.stepped import stepped_runs


@pytest.mark.parametrize("alpha", [-0.1, 0.0, 0.1, 0.249, 0.251, 0.332, 0.334, 0.374, 0.376])
def test_spikes_of_the_limit(alpha: float) -> None:
    """l is the only number with (l-1)/(2l) < alpha < l/(2l+2), 0 for alpha <= 0."""
    found = spikes_in_the_limit(alpha)
    if alpha <= 0:
        assert found == 0
    else:
        assert (found - 1) / (2 * found) < alpha < found / (2 * found + 2)


def test_share_is_the_mean_over_inputs() -> None:
    """The exact share against a mean over 200000 inputs, within 4 standard errors; twice it not."""
    setting = Setting(**WIDE | {"d": 30, "step_size": "1.5*n^0.32", "test_n": 200_000})
    [step] = stepped_runs(setting)
    training, test = tables(step, real_features(step))
    answer = test.features @ fit_readout(training, setting).weights[0]
    terms = answer * (step.test.inputs[:, 0] ** 2 - 1.0) / math.sqrt(2.0)
    error = terms.std() / math.sqrt(len(terms))
    exact = _share(step)
    assert abs(terms.mean() - exact) < 4 * error
    assert abs(terms.mean() - 2 * exact) > 8 * error


def test_leaving_sizes_are_where_the_singular_value_is() -> None:
    """At the step size found, the singular value is 1.25 times that of the start, to 5 %."""
    setting = Setting(**WIDE | {"d": 60, "readout_n": "n", "step_size": 2.0})
    [step] = stepped_runs(setting)
    unit = np.linalg.norm(step.readout) * np.linalg.norm(step.spike)

    def values(size: float) -> np.ndarray:
        [other] = stepped_runs(setting.vary(step_size=size))
        return np.linalg.svd(other.features(other.training.inputs), compute_uv=False)

    top = values(0.0)[0]
    for k, size in enumerate(leaving_sizes(step, 1.25)):
        found = values(size / unit)[k]
        assert found == pytest.approx(1.25 * top, rel=0.05)


def testcrossing_at_the_ends() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0])
    assert crossing(x, y, 2.0) == 1.5
    assert crossing(x, y, 4.0) == 2.0
    assert crossing(x, y, -1.0) == 0.0
