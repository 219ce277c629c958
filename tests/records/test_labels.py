"""The model of labels of one's own: the fitted function in the place of the data set."""

from pathlib import Path

import numpy as np
import pytest

from giantstep.experiment import run_experiment
from giantstep.problem.setting import Setting
from giantstep.problem.target import make_target
from giantstep.records.labels import FittedLabels
from giantstep.simulation.simulate import simulate


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    np.save(tmp_path / "a.npy", np.random.default_rng(0).standard_normal((200, 9)))
    return Setting("column(x9)", inputs=f"whitened({tmp_path / 'a.npy'})", p=4, n=20, runs=2)


@pytest.fixture
def labels() -> FittedLabels:
    directions = np.linalg.qr(np.random.default_rng(1).standard_normal((8, 2)))[0].T
    return FittedLabels(make_target("0.5*x1*x2"), directions, 0.25, 1.0, needed=10.0, tests=())


def test_given_rows_keep_their_overlaps_with_the_directions(
    setting: Setting, labels: FittedLabels
) -> None:
    rows = np.random.default_rng(2).standard_normal((4, 8))
    given = setting.vary(start="given", start_rows=rows, steps=0, step_size=1.0)
    model = labels.model(given)
    assert model is not None
    found = simulate(model)
    assert found.gram is not None
    np.testing.assert_allclose(found.overlap[0, 0], rows @ labels.directions.T, atol=1e-6)
    np.testing.assert_allclose(found.gram[0, 0], rows @ rows.T, rtol=1e-5, atol=1e-6)
    # In the coordinates of the table they would be elsewhere.
    assert not np.allclose(found.overlap[0, 0], rows[:, :2], atol=0.1)


def test_an_update_along_axes_has_no_model(setting: Setting, labels: FittedLabels) -> None:
    found = run_experiment(setting.vary(update="sign"), labels=labels)
    assert found.complaint == (
        "no prediction: for labels of a data set, update must not depend on the choice of "
        "coordinates, got 'sign'"
    )
    served = run_experiment(setting.vary(update="normalised", record="every(2)"), labels=labels)
    assert served.predicted is not None
    assert served.predicted.theory == "narrow"
    assert len(served.floors) == served.predicted.overlap.shape[1] == 2
