"""Sweeps that are killed, doubled, starved of disk: the table is that of an undisturbed one."""

import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep import Setting, load, predict, simulate, sweep
from giantstep.errors import InputError
from giantstep.records.table import Table, make_table
from giantstep.store.folder import Store
from giantstep.sweeps.grid import make_grid
from giantstep.sweeps.result import Sweep
from giantstep.sweeps.sweep import Progress, missing_tasks

BASE: dict[str, Any] = {
    "target": "x1 + x1*x2",
    "n": "100d",
    "p": 4,
    "steps": 2,
    "readout_n": 2000,
    "test_n": 2000,
    "runs": 4,
}
AXES: dict[str, Any] = {"d": [60, 90, 120], "noise": "0..0.5:2"}
CALL = """
import json, sys
from giantstep import sweep
base, axes, out = map(json.loads, sys.argv[1:])
sweep(base, axes, out=out, theory=False)
"""


def command(out: Path, base: dict[str, Any] = BASE) -> list[str]:
    """The sweep in a process of its own."""
    return [sys.executable, "-c", CALL, *map(json.dumps, (base, AXES, str(out)))]


@cache
def undisturbed() -> Table:
    """The table of the runs simulated here, one cell after the other."""
    found = [simulate(cell.setting) for cell in make_grid(BASE, AXES).cells]
    return make_table(found, [None] * len(found))


def finished(out: Path) -> Sweep:
    """The sweep, taken up where it was left."""
    return sweep(BASE, AXES, out=out, theory=False)


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path) -> None:
    """Three moments here; fifty in benchmarks/sweep.py."""
    moments = random.Random(3)
    for kill in range(3):
        running = subprocess.Popen(command(tmp_path), start_new_session=True)
        # From the first file of this process on: what comes before writes nothing.
        held = len(list(tmp_path.glob("*.npz")))
        while len(list(tmp_path.glob("*.npz"))) <= held and running.poll() is None:
            time.sleep(0.002)
        time.sleep(moments.uniform(0.0, 0.05))
        running.send_signal(signal.SIGKILL)
        running.wait()
        found = load(tmp_path)
        assert not found.skipped, f"after kill {kill}"
    assert load(tmp_path).trajectories
    assert finished(tmp_path).table == undisturbed()


@pytest.mark.slow
def test_two_sweeps_in_one_folder(tmp_path: Path) -> None:
    both = [subprocess.Popen(command(tmp_path)) for _ in range(2)]
    while any(process.poll() is None for process in both):
        assert not load(tmp_path).skipped
        time.sleep(0.05)
    assert [process.returncode for process in both] == [0, 0]
    assert len(list(tmp_path.iterdir())) == len(make_grid(BASE, AXES).cells) * BASE["runs"]
    assert finished(tmp_path).table == undisturbed()


DISK = """
import json, subprocess, sys
from giantstep import load, sweep
base, axes, out = map(json.loads, sys.argv[1:])

def mount(options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", out], check=True)

def refused(reason):
    try:
        sweep(base, axes, out=out, theory=False, workers=1)
    except OSError as error:
        assert error.strerror == reason, error
        assert error.filename == out, error
        assert not load(out).skipped
    else:
        raise AssertionError("nothing was said")

mount("size=48k")
refused("No space left on device")
held = sum(found.runs for found in load(out).trajectories)
assert 0 < held < 24, held
mount("remount,size=8m")
table = sweep(base, axes, out=out, theory=False, workers=1).table
mount("remount,ro")
assert sweep(base, axes, out=out, theory=False, workers=1).table == table
base["runs"] += 1
refused("Read-only file system")
print(json.dumps(table.columns))
"""


@pytest.mark.slow
def test_a_full_and_a_read_only_disk(tmp_path: Path) -> None:
    private = ["unshare", "--mount", "--map-root-user"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*private, "true"], check=False).returncode
    ):
        pytest.skip("no file system can be mounted here")
    script = [sys.executable, "-c", DISK, *map(json.dumps, (BASE, AXES, str(tmp_path)))]
    done = subprocess.run([*private, *script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == dict(undisturbed().columns)


def test_more_runs_keep_what_is_there(tmp_path: Path) -> None:
    few = sweep(BASE | {"runs": 2}, AXES, out=tmp_path, theory=False, workers=1)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(before) == 12
    seen: list[Progress] = []
    more = sweep(BASE, AXES, out=tmp_path, theory=False, progress=seen.append)
    assert seen[-1] == Progress(12, 12, 1.0, 0)
    assert all((tmp_path / name).stat().st_mtime_ns == when for name, when in before.items())
    assert more.table == undisturbed()
    cut = [row for row in more.table.rows() if row["run"] < 2]
    assert list(few.table.rows()) == cut


def test_failures_are_listed_and_the_rest_goes_on(tmp_path: Path) -> None:
    """A step of 1e30 leaves the finite numbers; a file that is spoilt fails only its own cell."""
    base = BASE | {"runs": 1, "d": 60, "readout_n": 0, "test_n": 0, "steps": 3, "residual": "full"}
    axes = {"step_size": [0.1, 1e30]}
    found = sweep(base, axes, out=tmp_path, theory=False)
    [failed] = found.failed
    assert failed.cell.values == {"step_size": 1e30}
    assert failed.failure is not None
    assert "diverged" in failed.failure
    assert len(found.finished) == 1
    values = found.measured("alignment")
    assert np.isfinite(values[0])
    assert np.isnan(values[1])
    [file] = tmp_path.iterdir()
    content = bytearray(file.read_bytes())
    content[200] ^= 0xFF  # within the record, not in a time that no reader checks
    file.write_bytes(content)
    spoilt = sweep(base, {"step_size": [0.1]}, out=tmp_path, theory=False)
    assert str(file) in spoilt.skipped[0]
    assert "once it is removed the same command makes it anew" in spoilt.skipped[0]
    assert str(file) in str(spoilt.outcomes[0].failure)


def test_prediction_stands_beside_measurement(tmp_path: Path) -> None:
    base = Setting("x1", d=60, n="4d", p=2, steps=1, readout_n=0, test_n=0, runs=2)
    axes = {"d": [60, 120], "batches": ["fresh"], "inputs": ["gaussian", "rademacher"]}
    found = sweep(base, axes, out=tmp_path, workers=1)
    plain, other_law = found.outcomes[:2]
    assert plain.predicted is not None
    assert np.array_equal(plain.predicted.overlap, predict(plain.cell.setting).overlap)
    assert other_law.predicted is None
    assert "inputs" in str(other_law.complaint)
    assert np.isnan(found.predicted("alignment")[0, 0, 1])
    # Nothing is left to do, a theory that says nothing included.
    grid = make_grid(base, axes)
    assert not missing_tasks(grid, Store(tmp_path), theory=True, memory=2**30, workers=1)
    [one, other] = found.exponents("alignment")
    assert one.place == {"batches": "fresh", "inputs": "gaussian"}
    assert one.predicted is not None
    assert one.measured.low <= one.measured.exponent <= one.measured.high
    assert other.predicted is None
    record = json.loads(json.dumps(found.as_dict("alignment"), allow_nan=False))
    assert [cell["runs"] for cell in record["cells"]] == [2, 2, 2, 2]


def worker_processes() -> set[int]:
    """Workers that this process has started, those of other tests too."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
        check=True,
    )
    pids = map(int, listed.stdout.split())
    return {pid for pid in pids if "giantstep.simulation.worker" in command_line(pid)}


def command_line(pid: int) -> str:
    """What a process was called with; nothing where it has ended since it was listed."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_a_process_that_is_lost_is_replaced(tmp_path: Path) -> None:
    """The worker is killed while it works: its task is done by another."""
    if shutil.which("ps") is None or not Path("/proc").exists():
        pytest.skip("processes cannot be listed here")
    others = worker_processes()
    killed: list[int] = []

    def kill(at: Progress) -> None:
        if not killed:
            for pid in worker_processes() - others:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

            # As if it had been killed while it wrote.
            path = tmp_path / f".a.npz.{platform.node().replace('.', '-')}.{killed[0]}.ab.part"
            path.write_bytes(b"half")

    found = sweep(BASE, AXES, out=tmp_path, theory=False, workers=1, progress=kill)
    assert len(killed) == 1
    assert not list(tmp_path.glob(".*"))
    assert not found.failed
    assert found.table == undisturbed()


def test_workers_must_be_there() -> None:
    with pytest.raises(InputError, match="workers must be at least 1, got 0"):
        sweep(BASE, AXES, theory=False, workers=0)


def test_observables_are_named() -> None:
    grid = make_grid(BASE | {"runs": 1}, {"d": [60]})
    found = sweep(BASE | {"runs": 1}, {"d": [60]}, theory=False)
    assert found.grid.cells[0].setting == grid.cells[0].setting
    with pytest.raises(InputError, match=r"show must be one of norm, alignment, .* got 'cosine'"):
        found.measured("cosine")
