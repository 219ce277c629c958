"""Processes beside another one: gone with it, deaf to the terminal, and told of little memory."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")

LIMIT = 120.0
"""Seconds after which a state is not coming, on a machine that has other work."""

HELD = r"""
import ctypes, os, signal, sys, time
from giantstep.simulation.processes import process_pool

def wait(how):
    os.write(1, f"{os.getpid()}\n".encode())
    if how == "holding the interpreter":
        ctypes.PyDLL(None).sleep(1000)
    time.sleep(1000)

if __name__ == "__main__":
    # One in the background may have been told to ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with process_pool(2) as pool:
        if sys.argv[1:] == ["interrupted"]:
            os.killpg(0, signal.SIGINT)
        pool.map(wait, ["sleeping", "holding the interpreter"], chunksize=1)
"""
"""A process with two others, one of which lets no thread of its own have a turn."""


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
def script(tmp_path: Path) -> Path:
    path = tmp_path / "held.py"
    path.write_text(HELD)
    return path


def test_processes_of_a_pool_end_with_their_parent(script: Path) -> None:
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            workers = [int(process.stdout.readline()) for _ in range(2)]
            others = {*children(process.pid), *workers}
            assert all(map(is_there, workers))
        finally:
            process.kill()
    wait_until_gone(sorted(others))


def test_an_interrupt_is_for_the_parent_alone(script: Path) -> None:
    """While the others still load: each of them would print a traceback."""
    command = [sys.executable, str(script), "interrupted"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, start_new_session=True
    )
    assert done.stderr.count("Traceback") == 1  # its own
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")


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
    ],
    ids=lambda arguments: arguments[0],
)
def test_workers_end_with_a_command_that_is_killed(arguments: list[str], tmp_path: Path) -> None:
    command = [word.replace("OUT", str(tmp_path)) for word in arguments]
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


def test_a_worker_without_memory_says_so(tmp_path: Path) -> None:
    """OpenBLAS would ask for its buffer without end, and the sweep wait for its worker."""
    worker = f"{sys.executable} -m giantstep.sweeps.worker {tmp_path}"
    process = subprocess.Popen(
        ["sh", "-c", f"ulimit -v 300000; exec {worker}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    setting = {"target": "x1", "d": 50, "p": 2, "readout_n": 0, "test_n": 0, "engine": "deferred"}
    print(json.dumps({"setting": setting, "runs": [0], "memory": 2**30}), file=process.stdin)
    process.stdin.flush()
    report = json.loads(process.stdout.readline())
    process.stdin.close()
    process.wait()
    process.stdout.close()
    assert re.match(r"memory ran out: the limit .* \(ulimit -v\) is too low", report["failure"])
    assert report["traceback"] is None
