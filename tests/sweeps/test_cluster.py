"""The same cells on a Dask cluster whose workers die."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from giantstep import simulate, sweep
from giantstep.errors import InputError
from giantstep.records.table import make_table
from giantstep.store.folder import Store
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


@pytest.mark.slow
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


DYING = """
import os, pathlib, signal
from giantstep import sweep
base, axes, out, address = {}, {}, {}, {}

def kill(at):
    if len(list(pathlib.Path(out).glob("*.npz"))) >= 5:
        os.kill(os.getpid(), signal.SIGKILL)

sweep(base, axes, out=out, theory=False, workers=2, cluster=address, progress=kill)
"""


@pytest.mark.slow
def test_a_client_that_is_killed_costs_what_it_had_not_written(tmp_path: Path) -> None:
    """The sweep itself dies by SIGKILL while the workers go on; the next one finishes its work."""
    settings = [cell.setting for cell in make_grid(BASE, AXES).cells]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        workers = {worker.pid for worker in cluster.workers.values()}
        given = map(repr, (BASE, AXES, str(tmp_path), cluster.scheduler_address))
        command = [sys.executable, "-c", DYING.format(*given)]
        client = subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
        assert client.returncode == -signal.SIGKILL
        before = set(tmp_path.glob("*.npz"))
        missing = sum(len(Store(tmp_path).missing(setting)) for setting in settings)
        assert 0 < missing < sum(setting.runs for setting in settings)
        dates = {path: path.stat().st_mtime_ns for path in before}
        found = sweep(
            BASE,
            AXES,
            out=tmp_path,
            theory=False,
            workers=2,
            cluster=cluster.scheduler_address,
        )
        assert {worker.pid for worker in cluster.workers.values()} == workers
    assert {path: path.stat().st_mtime_ns for path in before} == dates
    assert not found.failed
    plain = make_table([simulate(setting) for setting in settings], [None] * len(settings))
    assert found.table == plain
    other = make_table([simulate(s.vary(seed=1)) for s in settings], [None] * len(settings))
    assert found.table != other


def test_an_address_without_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("giantstep.sweeps.cluster.CONNECTING", "1s")
    for address in ("tcp://127.0.0.1:1", "nonsense://"):
        with pytest.raises(InputError, match="cluster must be 'local' or the address of a"):
            sweep(BASE, AXES, theory=False, cluster=address)
