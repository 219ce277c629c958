"""Commands where something is missing: an extra, standard output, memory, space on the disk."""

import errno
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from giantstep.cli import interrupts
from giantstep.cli.interrupts import interrupts_heard
from giantstep.cli.main import main
from giantstep.show.progress import progress_bar, sweep_progress

WITHOUT_APP = """
import sys
sys.modules |= dict.fromkeys(["starlette", "uvicorn", "plotly"])
from giantstep.cli.main import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("arguments", "code", "piece"),
    [
        (["explore"], 2, "which is not installed: pip install giantstep[app]"),
        (["explore", "--help"], 0, "Usage: giantstep explore"),
        (["cite", "explore"], 0, "@software{giantstep"),
    ],
)
def test_the_explorer_without_its_extra(arguments: list[str], code: int, piece: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_APP, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert piece in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == (code > 0)


@pytest.mark.parametrize(
    ("redirection", "piece"),
    [
        (">&-", "standard output is closed"),
        (">/dev/full", f"cannot go on: {os.strerror(errno.ENOSPC)}"),
    ],
)
def test_output_that_cannot_be_written(redirection: str, piece: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m giantstep.cli.main catalog {redirection}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert piece in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_closed_standard_error_leaves_standard_output_alone() -> None:
    command = f"{shlex.quote(sys.executable)} -m giantstep.cli.main analyze 'x1 +' 2>&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""


def test_a_full_disk_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SystemExit) as stopped:
        main(["analyze", "x1", "--out", str(tmp_path), "--quiet"])
    assert stopped.value.code == 2
    path = str(tmp_path / "analysis.json")
    assert f"cannot use {path!r}: No space left" in capsys.readouterr().err


def test_a_header_that_claims_too_much_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "huge.npy"
    with path.open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(SystemExit) as stopped:
        main(["learn", "x1", "--inputs", f"data({path})"])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert f"inputs cannot read the data set {str(path)!r}: Unable to allocate" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (["learn", "x1", "--inputs", "data(PATH)"], "inputs cannot read the data set"),
        (["learn", "column(y)", "--inputs", "whitened(PATH)"], "inputs cannot read the data set"),
        (["learn", "--file", "PATH"], "file cannot be read, got"),
        (["compare", "x1", "PATH.toml"], "file cannot be read, got"),
        (["sweep", "PATH.toml"], "file cannot be read, got"),
        (["learn", "x1", "--start", "given", "--start-rows", "PATH"], "start_rows cannot be read,"),
        (["spectrum", "--weights", "PATH"], "weights cannot be read, got"),
        (["claims", "--file", "PATH"], "file cannot be read, got"),
        (["cite", "PATH"], "about cannot be read, got"),
    ],
)
def test_what_is_no_file_is_refused_at_once(
    arguments: list[str], piece: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe that nobody writes to and a device without an end would be waited for for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    os.mkfifo(tmp_path / "pipe.toml")
    named = {pipe: "a pipe"}
    if not arguments[-1].endswith(".toml"):
        named |= {Path("/dev/zero"): "a device"}
        if arguments[0] != "cite":  # which takes a folder
            named |= {tmp_path: "a folder"}
    for path, kind in named.items():
        with pytest.raises(SystemExit) as stopped:
            main([argument.replace("PATH", str(path)) for argument in arguments])
        assert stopped.value.code == 2
        said = capsys.readouterr().err
        assert piece in said
        assert f"it is {kind}, not a file" in said
        assert said.count("\n") == 1


def test_a_setting_may_come_through_a_pipe_of_the_shell() -> None:
    text = 'target = "x1"\nd = 50\nsteps = 1\nreadout_n = 0\ntest_n = 0\n'
    done = subprocess.run(
        [sys.executable, "-m", "giantstep", "learn", "--file", "/dev/stdin", "--json"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["simulation"]["setting"]["d"] == 50


LIMITED = """
import resource, sys
from giantstep.cli import learn
from giantstep.cli.main import main
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + int(sys.argv[1]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
main(["learn", "x1 + x1*x2", "--d", "100000", "--n", "4d", "--p", "2000"])
"""
"""The arrays of 2000 neurons take a gigabyte: far more than the second case leaves, which is more
than what is loaded and started after the limit is set."""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory of a process")
@pytest.mark.parametrize(("left", "piece"), [(16, "(ulimit -v) is too low"), (400, "memory ran")])
def test_memory_that_runs_out_is_one_sentence(left: int, piece: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(left)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 1, done.stderr
    assert piece in done.stderr
    assert "Traceback" not in done.stderr


def test_progress_is_told_in_lines_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    text = ""

    def waiting_for(piece: str) -> None:
        nonlocal text
        for _ in range(6000):
            time.sleep(0.01)
            text += capsys.readouterr().err
            if piece in text:
                return
        pytest.fail(f"{piece!r} was not told: {text!r}")

    with progress_bar(quiet=False, every=0.01) as report:
        assert report is not None
        waiting_for("predicting, since 0:00:0")
        for done in (0.25, 0.5, 0.75):
            report(done, int(4000 * done))
            waiting_for(f"simulating: {done:.0%}, ")
        waiting_for("samples/s, 0:00:0")
    with sweep_progress(quiet=False, every=0.01):
        waiting_for("no run is finished yet")
    with progress_bar(quiet=True) as silent:
        assert silent is None


WHILE_LOADING = """
import signal, sys, time

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "cyclopts":
            sys.meta_path.remove(self)
            try:
                signal.raise_signal(signal.SIGINT)
            except BaseException:
                pass

signal.signal(signal.SIGINT, signal.default_int_handler)
from giantstep.simulation import limits
limits.within_limit = lambda: time.sleep(600)
sys.meta_path.insert(0, Interrupting())
"""
IN_THE_GARBAGE_COLLECTOR = """
import gc, signal, sys, time

def collected(phase, about):
    gc.callbacks.remove(collected)
    signal.raise_signal(signal.SIGINT)

def run(arguments):
    gc.callbacks.append(collected)
    gc.collect()
    time.sleep(600)

signal.signal(signal.SIGINT, signal.default_int_handler)
from giantstep.cli import app
app.run = run
"""
ON_A_BUSY_MACHINE = """
import threading, time
start = threading.Thread.start
threading.Thread.start = lambda thread: (start(thread), time.sleep(0.2))
"""


@pytest.mark.parametrize(
    "moment",
    [WHILE_LOADING, IN_THE_GARBAGE_COLLECTOR, IN_THE_GARBAGE_COLLECTOR + ON_A_BUSY_MACHINE],
)
def test_an_interrupt_is_one_sentence_at_any_moment(moment: str) -> None:
    """While a library loads that drops exceptions, and where Python itself can only ignore one.

    On a busy machine the second try comes while the first is still being dealt with.
    """
    script = f"{moment}\nfrom giantstep.cli.main import main\nmain(['catalog'])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stderr == "giantstep: interrupted before anything was finished\n"
    assert (done.returncode, done.stdout) == (130, "")


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """Interrupts raise KeyboardInterrupt, also where the tests run in the background of a shell."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("_interruptible")
def test_other_exceptions_that_are_ignored_are_still_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Broken:
        def __del__(self) -> None:
            raise ValueError("nobody hears this")

    before = sys.unraisablehook, signal.getsignal(signal.SIGINT)
    with interrupts_heard():
        Broken()
    assert "ValueError: nobody hears this" in capsys.readouterr().err
    assert (sys.unraisablehook, signal.getsignal(signal.SIGINT)) == before


@pytest.mark.usefixtures("_interruptible")
def test_a_file_that_never_ends_can_be_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its code runs while it is imported: interrupts wait for an import, but not for ever."""
    monkeypatch.setattr(interrupts._Handler.__init__, "__defaults__", (0.1,))
    path = tmp_path / "endless.py"
    path.write_text("import signal, time\nsignal.raise_signal(signal.SIGINT)\ntime.sleep(600)\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    with pytest.raises(KeyboardInterrupt), interrupts_heard():
        import_module("endless")
