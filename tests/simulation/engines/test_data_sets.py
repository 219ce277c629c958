"""Steps on the rows of a data set, against the same steps by hand."""

from pathlib import Path

import numpy as np
import pytest

from giantstep.problem.network import (
    chosen_samples,
    coefficients,
    start_readout,
    start_rows,
    target_frame,
)
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.starts import whole_space
from giantstep.problem.tables import Deal
from giantstep.simulation.simulate import simulate


@pytest.fixture
def path(tmp_path: Path) -> str:
    key = np.random.default_rng(0)
    x = key.standard_normal((300, 6))
    y = x[:, 0] * x[:, 1] + x[:, 2] + 0.3 * key.standard_normal(300)
    np.save(tmp_path / "table.npy", np.column_stack([x, 5.0 + 2.0 * y]))
    return str(tmp_path / "table.npy")


@pytest.mark.parametrize("batches", ["fresh", "reused", "repeat(2)", "minibatch(80)"])
@pytest.mark.parametrize("inputs", ["data", "whitened"])
def test_steps_use_the_labels_of_their_rows(path: str, inputs: str, batches: str) -> None:
    """To rounding; labels of other rows make other steps, and the test rows are never seen."""
    setting = Setting(
        "column(x7)",
        inputs=f"{inputs}({path})",
        n=50,
        p=4,
        batches=batches,
        precision="float64",
        seed=3,
    )
    data = setting.data
    assert data is not None
    assert data.labels is not None
    deal = Deal.of(setting, data, 0)
    readout = start_readout(setting, 0)
    space = whole_space(generator(3, 0, Purpose.START, 0), target_frame(setting, 0))
    right = [start_rows(setting, space)]
    wrong = right[0]
    for step in range(2):
        number = step if batches == "fresh" else 0
        rows = deal.rows(Purpose.BATCH, number, slice(0, 80 if "minibatch" in batches else 50))
        chosen = chosen_samples(setting, 0, step)
        rows = rows if chosen is None else rows[chosen]
        x, y, w = data.rows[rows], data.labels[rows], right[-1]
        size = setting.step_size[step]
        right.append(w + size * coefficients(setting, w @ x.T, y, readout) @ x / 50)
        wrong = w + size * coefficients(setting, w @ x.T, y[::-1], readout) @ x / 50
    found = simulate(setting)
    assert found.gram is not None
    for step, w in enumerate(right):
        np.testing.assert_allclose(found.gram[0, step], w @ w.T, rtol=1e-9, atol=1e-10)
    assert not np.allclose(found.gram[0, 2], wrong @ wrong.T, rtol=1e-3)
    # The symmetric start answers 0: its error is the mean square of the labels it is tested on.
    kept_out = deal.rows(Purpose.TEST, 0, slice(0, setting.test_n))
    assert found.network_error is not None
    assert found.network_error[0, 0] == pytest.approx(float(np.mean(data.labels[kept_out] ** 2)))
