"""Processes beside another one: gone with it, deaf to the terminal, and told of little memory."""

import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from giantstep.simulation.processes import SHARING, Pool, Process, ProcessLostError
from giantstep.simulation.threads import cores
from giantstep.sweeps.work import Task, local_reports

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")

LIMIT = 120.0
"""Seconds after which a state is not coming, on a machine that has other work."""

HELD = r"""
import ctypes, os, signal, sys, time
from giantstep.simulation.processes import Pool

def wait(how):
    os.write(2, f"{os.getpid()}\n".encode())
    if how == "holding the interpreter":
        ctypes.PyDLL(None).sleep(1000)
    time.sleep(1000)

def main():
    # One in the background may have been told to ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Pool(2) as pool:
        if sys.argv[1:] == ["interrupted"]:
            os.killpg(0, signal.SIGINT)
        pool.map(wait, ["sleeping", "holding the interpreter"])
"""
"""A process with two others, one of which lets no thread of its own have a turn."""

BEGIN = [sys.executable, "-c", "import held; held.main()"]


def children(pid: int) -> list[int]:
    """Processes whose parent this is."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    return [int(child) for child in text.split()]


def is_there(pid: int) -> bool:
    """Whether a process lives; one that has ended may still wait to be noticed."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")")[1].split()[0] != "Z"
        )
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(processes: list[int]) -> None:
    end = time.monotonic() + LIMIT
    while any(map(is_there, processes)):
        assert time.monotonic() < end, "processes are left behind"
        time.sleep(0.01)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """With a folder on the path that has the module of the processes."""
    (tmp_path / "held.py").write_text(HELD)
    paths = [str(tmp_path), *(path for path in sys.path if path)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


def test_processes_of_a_pool_end_with_their_parent(environment: dict[str, str]) -> None:
    with subprocess.Popen(BEGIN, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            workers = [int(process.stderr.readline()) for _ in range(2)]
            others = {*children(process.pid), *workers}
            assert all(map(is_there, workers))
        finally:
            process.kill()
    wait_until_gone(sorted(others))


def test_an_interrupt_is_for_the_parent_alone(environment: dict[str, str]) -> None:
    """While the others still load: each of them would print a traceback."""
    done = subprocess.run(
        [*BEGIN, "interrupted"],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        env=environment,
    )
    assert done.stderr.count("Traceback") == 1  # its own
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")


def test_results_errors_and_lost_processes_of_a_pool() -> None:
    with Pool(2) as pool:
        calls = [(math.sqrt, (4.0,)), (math.sqrt, (-1.0,)), (os._exit, (1,)), (os.getpid, ())]
        outcomes = dict(pool.run(calls))
        assert outcomes[0] == 2.0
        assert isinstance(outcomes[1], ValueError)
        # The traceback of the other process is a note of the exception.
        assert "Traceback" in outcomes[1].__notes__[0]
        assert isinstance(outcomes[2], ProcessLostError)
        assert outcomes[3] != os.getpid()
        assert pool.map(math.sqrt, [4.0, 9.0, 16.0]) == [2.0, 3.0, 4.0]
        with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
            pool.map(math.sqrt, [1.0, -1.0])
        assert pool.map(cores, []) == []
        assert list(pool.run([(cores, ())])) == [(0, 1)]


def test_what_cannot_be_pickled_is_an_error() -> None:
    with Pool(1) as pool:
        [(_, outcome)] = pool.run([(compile, ("1", "", "eval"))])
    assert isinstance(outcome, RuntimeError)


LOADED = 2.0
"""Seconds of a processor after which a worker has loaded what it needs, and computes."""

LOADING = 0.5
"""Those of a worker of the page, which loads and then waits: a fast machine needs few."""


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")")[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


LONG = ["--target", "x1", "--n", "10^9", "--p", "64", "--readout-n", "0", "--test-n", "0"]


@pytest.mark.slow(sentinel="sweep")
@pytest.mark.parametrize(
    "arguments",
    [
        ["sweep", *LONG, "--vary", "d=100,200", "--workers", "2", "--no-theory", "--out", "OUT"],
        ["claims", "spike-count", "staircase-example-1", "--out", "OUT", "--full"],
        ["explore", "--port", "0", "--no-browser"],
        pytest.param(
            ["report", "OUT/table.csv", "--label", "x1", "--jobs", "2", "--out", "OUT/report"],
            marks=pytest.mark.skipif(cores() < 2, reason="a report has one process a processor"),
        ),
    ],
    ids=lambda arguments: arguments[0],
)
def test_workers_end_with_a_command_that_is_killed(arguments: list[str], tmp_path: Path) -> None:
    command = [word.replace("OUT", str(tmp_path)) for word in arguments]
    rows = np.random.default_rng(0).standard_normal((2_000, 20))
    names = ",".join(f"x{k}" for k in range(20))
    np.savetxt(tmp_path / "table.csv", rows, delimiter=",", header=names, comments="")
    end, workers = time.monotonic() + LIMIT, []
    least = LOADING if command[0] == "explore" else LOADED
    with subprocess.Popen(
        [sys.executable, "-m", "giantstep.cli.main", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            while not any(processor_seconds(worker) > least for worker in workers):
                assert time.monotonic() < end, "no worker is at work"
                time.sleep(0.01)
                workers = children(process.pid)
        finally:
            process.kill()
    wait_until_gone(workers)


def test_a_worker_without_memory_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenBLAS would ask for its buffer without end, and the sweep wait for its worker."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    shell = ["sh", "-c", f'ulimit -v 300000; exec {sys.executable} "$@"', "sh"]
    setting = {"target": "x1", "d": 50, "p": 2, "readout_n": 0, "test_n": 0, "engine": "deferred"}
    task = Task(setting=setting, runs=[0], memory=2**30)
    with Pool(1) as pool:
        pool.processes[0].end()
        pool.processes[0] = Process(SHARING, command=shell)
        [(_, report)] = local_reports(pool, [task], tmp_path)
    failure = report["failure"]
    assert failure is not None
    assert re.match(r"memory ran out: the limit .* \(ulimit -v\) is too low", failure)
    assert report["traceback"] is None
