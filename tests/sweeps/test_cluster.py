"""The same cells on a Dask cluster whose workers die."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from giantstep import simulate, sweep
from giantstep.errors import InputError
from giantstep.records.table import make_table
from giantstep.sweeps.grid import make_grid
from giantstep.sweeps.sweep import Progress

distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")

BASE: dict[str, Any] = {
    "target": "x1 + x1*x2",
    "n": "100d",
    "p": 4,
    "readout_n": 0,
    "test_n": 0,
    "runs": 6,
}
AXES = {"d": [60, 90, 120], "noise": "0..0.5:2"}

# Dask's own warnings about its start and its end are not ours.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_worker_that_is_killed_costs_nothing(tmp_path: Path) -> None:
    killed: list[int] = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:

        def kill(at: Progress) -> None:
            if not killed:
                worker = next(iter(cluster.workers.values()))
                killed.append(worker.pid)
                os.kill(worker.pid, signal.SIGKILL)

        found = sweep(
            BASE,
            AXES,
            out=tmp_path,
            theory=False,
            workers=2,
            cluster=cluster.scheduler_address,
            progress=kill,
        )
    assert killed
    assert not found.failed
    settings = [cell.setting for cell in make_grid(BASE, AXES).cells]
    plain = make_table([simulate(setting) for setting in settings], [None] * len(settings))
    assert found.table == plain


def test_an_address_without_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("giantstep.sweeps.cluster.CONNECTING", "1s")
    for address in ("tcp://127.0.0.1:1", "nonsense://"):
        with pytest.raises(InputError, match="cluster must be 'local' or the address of a"):
            sweep(BASE, AXES, theory=False, cluster=address)
