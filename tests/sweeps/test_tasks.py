"""How work is shared out."""

from pathlib import Path

import pytest

from giantstep.store.folder import Store
from giantstep.sweeps import local
from giantstep.sweeps.axes import short
from giantstep.sweeps.grid import make_grid
from giantstep.sweeps.sweep import missing_tasks

BASE = {"target": "x1", "p": 2, "steps": 1, "readout_n": 0, "test_n": 0, "runs": 20}


def test_no_task_is_left_for_the_end(tmp_path: Path) -> None:
    """A cell with most of the work is cut into its runs, small cells stay whole."""
    grid = make_grid(BASE, {"n": [1000, 2000, 10_000_000]})
    tasks = missing_tasks(grid, Store(tmp_path), theory=False, memory=2**30, workers=4)
    total = sum(entry.work for entry in tasks)
    assert max(entry.work for entry in tasks) <= total / (8 * 4) * 2
    assert [entry.work for entry in tasks] == sorted((e.work for e in tasks), reverse=True)
    for cell in range(3):
        runs = sorted(run for e in tasks if e.cell == cell for run in e.task["runs"])
        assert runs == list(range(20))
    assert sum(entry.cell == 0 for entry in tasks) == 1
    assert sum(entry.cell == 2 for entry in tasks) == 20
    both = missing_tasks(grid, Store(tmp_path), theory=True, memory=2**30, workers=4)
    assert sum(not entry.task["runs"] for entry in both) == 3


def test_an_accelerator_has_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "cores", lambda: 8)
    monkeypatch.setattr(local, "available_bytes", lambda: None)
    grid = make_grid(BASE | {"engine": "dense"}, {"n": [100, 200]})
    settings = [cell.setting for cell in grid.cells]
    assert local.process_count(settings, 40, 2**20) == 8
    monkeypatch.setattr(local, "on_accelerator", lambda setting: setting.n == 200)
    assert local.process_count(settings, 40, 2**20) == 1
    assert local.process_count(settings[:1], 40, 2**20) == 8


def test_labels_are_short() -> None:
    assert short("d^1.31578947368") == "d^1.316"
    assert short(100_000) == "100000"
    assert short("He2(x1)") == "He2(x1)"
    assert short(0.123456) == "0.1235"
    assert short("fresh") == "fresh"
