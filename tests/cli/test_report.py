"""``giantstep report``: what it refuses leaves nothing behind, what it makes is a folder."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from giantstep.cli.main import main
from giantstep.reports import record as saved
from giantstep.reports import report as made
from giantstep.reports.record import Report


def table(folder: Path, rows: int = 60) -> Path:
    key = np.random.default_rng(0)
    x = key.standard_normal((rows, 2))
    path = folder / "table.csv"
    y = x[:, 0] + 0.1 * key.standard_normal(rows)
    lines = [f"{a:.4f},{b:.4f},{c:.4f},1" for (a, b), c in zip(x, y, strict=True)]
    path.write_text("\n".join(["a,b,y,constant", *lines]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--label", "constant"], "label 'constant' must vary, got"),
        (["--label", "z"], "label must be a column (a, b, y, constant), got 'z'"),
        (["--label", "y", "--task", "guess"], "task must be one of auto, numbers, classes"),
        (["--label", "y", "--jobs", "0"], "jobs must be a whole number of at least 1, got 0"),
        (["--label", "y", "--seed", "-1"], "seed must be a whole number of at least 0, got -1"),
        (["--label", "y", "--drop", "q"], "drop must name a column of"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = table(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["report", str(path), "--quiet", *arguments])
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["table.csv"]


def test_a_folder_that_holds_a_report_is_refused_before_any_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = table(tmp_path), tmp_path / "out"
    folder.mkdir()
    (folder / "report.html").write_text("mine", encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        main(["report", str(path), "--label", "y", "--out", str(folder)])
    assert end.value.code == 2
    assert "out already holds report.html" in capsys.readouterr().err
    assert (folder / "report.html").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("place", ["table.csv", "table.csv/report"])
def test_a_file_in_place_of_a_folder_is_refused_before_any_fit(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["report", str(path), "--label", "y", "--out", str(tmp_path / place)])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert f"out must be a folder, got the file {str(path)!r}" in said
    assert "fit" not in said


@pytest.mark.slow
def test_it_writes_a_page_a_record_and_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = table(tmp_path), tmp_path / "out"
    main(["report", str(path), "--label", "y", "--quick", "--json", "--out", str(folder)])
    said = capsys.readouterr()
    record = json.loads(said.out)
    assert record == json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert record["title"] == "table.csv"
    assert "all of its cells are the same" in " ".join(record["said"])
    assert "fit 1 of" in said.err
    assert {each.suffix for each in folder.iterdir()} <= {".html", ".json", ".joblib", ".skops"}


@pytest.mark.slow
def test_warnings_come_before_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    numbered = [f"{k},{line}" for k, line in enumerate(lines[1:])]
    path.write_text("\n".join([f"id,{lines[0]}", *numbered]), encoding="utf-8")
    main(["report", str(path), "--label", "y", "--quick", "--out", str(tmp_path / "out")])
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("warning: Column 'id' looks like a row number and should be dropped")
    assert said.index("1. On rows held out") < said.index("note: Column 'constant' is left out")


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True])
def test_an_answer_that_cannot_be_saved_is_shown(
    full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another report was faster with the same folder, or the disk is full."""
    path, folder = table(tmp_path), tmp_path / "out"
    finish = made.finish

    def meanwhile(work: made.Work, note: made.Note | None = None) -> Report:
        if full:
            monkeypatch.setattr(saved, "write_whole", no_space)
        else:
            folder.mkdir()
            (folder / "report.html").write_text("theirs", encoding="utf-8")
        return finish(work, note)

    def no_space(place: Path, text: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(place))

    monkeypatch.setattr(made, "finish", meanwhile)
    with pytest.raises(SystemExit) as end:
        main(["report", str(path), "--label", "y", "--quick", "--out", str(folder)])
    said = capsys.readouterr()
    assert end.value.code == 2
    assert "1. On rows held out the fit explains" in said.out
    if full:
        assert "No space left on device" in said.err
    else:
        assert "out already holds report.html" in said.err
        assert (folder / "report.html").read_text(encoding="utf-8") == "theirs"


PAUSED = """
import signal, sys
from giantstep.reports import report as made, resamples

def pause(*arguments):
    print("PAUSED", file=sys.stderr, flush=True)
    while True:
        signal.pause()

# A command in the background may have been told to ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
{patch}
from giantstep.cli.main import main
main(sys.argv[1:])
"""

IN_THE_FITS = """
from joblib.externals import loky

fit, held, wait = resamples.fit_model, [], loky.wait

class Seen(made.HeldOut):
    def __init__(self, *fields):
        super().__init__(*fields)
        held.append(self)

def paused(*arguments):
    # Once every part of the rows has been predicted, with fits of the other process under way.
    return pause() if held[0].complete("giant steps") else fit(*arguments)

made.HeldOut, resamples.fit_model = Seen, paused
# After each of its own fits the command waits for one of the other process.
loky.wait = lambda running, seconds, ready: wait(running, None, ready)
"""
IN_A_PART = "made.drift = pause"
BEFORE_ANY_FIT = "made.prepare = pause"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups")
@pytest.mark.parametrize(
    ("patch", "missing"),
    [(IN_THE_FITS, "some fits"), (IN_A_PART, "drift"), (BEFORE_ANY_FIT, None)],
)
def test_a_signal_keeps_what_is_there(patch: str, missing: str | None, tmp_path: Path) -> None:
    """Ctrl-C of a terminal: SIGINT to the command and the process that it has started.

    The command itself stops at a given place and says so, so that no clock decides what is there.
    """
    path, folder = table(tmp_path), tmp_path / "out"
    words = ["report", str(path), "--label", "y", "--quick", "--jobs", "2", "--out", str(folder)]
    with subprocess.Popen(
        [sys.executable, "-c", PAUSED.format(patch=patch), *words],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert any(line == "PAUSED\n" for line in lines)
        os.killpg(process.pid, signal.SIGINT)
        said, complaints = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in complaints
    if missing is None:
        assert "interrupted before anything was finished" in complaints
        assert not folder.exists()
        return
    assert "interrupted; what was done is in" in complaints
    assert "1. On rows held out" in said
    record = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert record["missing"][0] == missing
    assert record["models"][0]["name"] == "giant steps"
    assert record["directions"]
    assert record["hardness"] is None
    assert "The report was interrupted" in (folder / "report.html").read_text(encoding="utf-8")
    assert len(list(folder.iterdir())) == 3
