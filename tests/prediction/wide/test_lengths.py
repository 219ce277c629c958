"""Squared lengths and cosines of rows at linear width to the next order in 1/d."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from giantstep.prediction.predict import predict
from giantstep.prediction.wide.lengths import longer_after_more, longer_after_one
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.row_law import laws_of_runs
from giantstep.prediction.wide.update import batch_of, update_after
from giantstep.problem.setting import Setting
from giantstep.records.observables import expectations
from giantstep.simulation.simulate import simulate

LONGER = Setting(
    "0.7*x1 + x1*x2",
    activation="gelu",
    d=80,
    n="5d",
    p="1.5d",
    steps=2,
    output_scale="1/sqrt(p)",
    start="sphere",
    readout_start="signs",
    residual="labels",
    step_size=[7.0, 7.0],
    readout_n=0,
    test_n=0,
    runs=400,
    seed=91,
)
SHORTER = LONGER.vary(
    target="0.7*x1", activation="tanh", d=30, n="20d", p="2d", steps=1, step_size=10.0, runs=800
)
OWN = LONGER.vary(target="0.01*x1", d=60, step_size=[6.0, 6.0], residual="full", runs=200)
"""Neurons that learn next to nothing but from the network's own output."""


@pytest.mark.parametrize("batches", ["fresh", "reused"])
def test_steps_of_size_0_add_nothing(batches: str) -> None:
    """No step leaves lengths as they are, and a second one of size 0 those after the first."""
    network = Network(LONGER.vary(step_size=[6.0, 0.0], batches=batches))
    u = network.readout[0]
    assert not np.any(longer_after_one(network, u, 0.0))
    assert np.allclose(longer_after_more(network), longer_after_one(network, u))


def test_inputs_of_several_variances_have_no_next_order() -> None:
    """The terms are those of N(0, I); others are left at the leading order."""
    blocks = LONGER.vary(inputs="blocks(0.3, 2.2, 0.7, 0.486)", steps=1, step_size=6.0)
    assert not np.any(longer_after_one(Network(blocks), np.ones(2)))


@pytest.mark.law(sentinel="shorter")
@pytest.mark.parametrize("setting", [LONGER, SHORTER], ids=["longer", "shorter"])
def test_squared_lengths_at_small_d(setting: Setting) -> None:
    """Mean squared lengths of rows at d = 30 and 80 within 4 standard errors, after each step.

    Three comparisons in all.  Lengths without the terms of order 1/d are rejected: they are too
    short for a label with a product, and too long for tanh.
    """
    runs = simulate(setting)
    assert runs.readout is not None
    for step in range(1, setting.steps + 1):
        part = setting.vary(steps=step, step_size=list(setting.step_size[:step]))
        laws = laws_of_runs(part, runs.readout)
        squares = np.mean(runs.norms[:, step] ** 2, axis=1)
        error = squares.std(ddof=1) / np.sqrt(setting.runs)
        expected = np.mean([law.square_length for law in laws])
        leading = np.mean([law.square_length - law.longer for law in laws])
        assert abs(squares.mean() - expected) < 4 * error
        assert abs(squares.mean() - leading) > 4 * error


@pytest.mark.law(sentinel="own")
@pytest.mark.parametrize("setting", [OWN], ids=["own"])
def test_a_rows_own_part_of_the_output_shortens_it_in_every_step(setting: Setting) -> None:
    """Mean squared lengths after two steps within 4 standard errors, two comparisons.

    Rejected: a second step that knows the own part as little as before, eq. (2) of
    docs/derivations/closed_system.md for the first step alone.
    """
    runs = simulate(setting)
    assert runs.readout is not None
    for step in (1, 2):
        squares = np.mean(runs.norms[:, step] ** 2, axis=1)
        error = squares.std(ddof=1) / np.sqrt(setting.runs)
        part = setting.vary(steps=step, step_size=list(setting.step_size[:step]))
        laws = laws_of_runs(part, runs.readout)
        assert abs(squares.mean() - np.mean([law.square_length for law in laws])) < 4 * error
    network = Network(setting)
    u, pull = network.readout[0], batch_of(network).own_pull
    longer = 2.0 * update_after(network).kept * network.size(1) / setting.p * pull * u**2
    without = np.mean([law.square_length for law in laws]) + longer.mean()
    assert abs(squares.mean() - without) > 4 * error


@pytest.mark.parametrize("start", ["sphere", "gaussian"])
def test_random_rows_have_cosines_of_the_sphere(start: str) -> None:
    """The median |cosine| of rows that know nothing, within 1 %, at d = 12: that of Beta's law.

    |N(0, 1/d)| has a median that is 5 % smaller, and is rejected.
    """
    from scipy.stats import beta, norm

    d, p = 12, 200
    setting = Setting(
        "x1", d=d, n=200, p=p, steps=0, start=start, readout_n=0, test_n=0, runs=2, seed=1
    )
    expected = float(np.sqrt(beta.ppf(0.5, 0.5, 0.5 * (d - 1))))
    # At so small a d what is left out of larger steps would leave it open.
    predicted = replace(predict(setting, theory="linear-width"), relative_uncertainty=0.0)
    shown = expectations(predicted)["cosine_1"].mean[0]
    assert abs(shown / expected - 1.0) < 0.01
    assert norm.ppf(0.75) / np.sqrt(d) < 0.97 * expected
