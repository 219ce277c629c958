"""``giantstep sweep`` and ``giantstep estimate`` as a stranger meets them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from giantstep.cli.main import main
from giantstep.cli.output import write_json
from giantstep.simulation.estimate import Speed
from giantstep.sweeps.axes import read_axes

FILE = """
[setting]
target = "x1"
p = 2
n = "4d"
steps = 1
readout_n = 0
test_n = 0
runs = 3

[axes]
d = [30, 60]
noise = "0..1:2"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sweep in a file, on a machine whose speed is known: nothing is timed."""
    monkeypatch.setattr("giantstep.sweeps.preview.pilot_speed", lambda *given, **options: Speed())
    path = tmp_path / "grid.toml"
    path.write_text(FILE)
    return path


def stopped(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    return int(str(stop.value.code))


def test_a_sweep_from_a_file(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    main(["sweep", str(file), "--out", str(out), "--dry-run", "--json"])
    said = capsys.readouterr()
    planned = json.loads(said.out)
    assert (planned["cells"], planned["runs"], planned["finished"]) == (4, 12, 0)
    assert planned["largest"][0]["at"]["d"] == 60
    assert "4 cells, 12 runs, 0 already finished" in said.err
    assert not out.exists()
    main(["sweep", str(file), "--out", str(out)])
    text = capsys.readouterr().out
    assert "alignment after the last step" in text
    assert "Exponent of alignment in d" in text
    assert "4 of 4 cells finished" in text
    assert {path.name for path in out.iterdir()} == {
        *("runs", "sweep.json", "table.csv", "map.png", "curves.png")
    }
    assert (out / "map.png").read_bytes().startswith(b"\x89PNG")
    assert len((out / "table.csv").read_text().splitlines()) == 1 + 4 * 3 * 2
    # Predictions are kept as well.
    main(["sweep", str(file), "--out", str(out), "--dry-run", "--json"])
    assert json.loads(capsys.readouterr().out)["predictions"] == 0
    # Again with one more run: the same sweep; with other axes: another.
    command = ["sweep", str(file), "--out", str(out), "--json", "--quiet"]
    main([*command, "--runs", "4", "--no-theory"])
    record = json.loads(capsys.readouterr().out)
    assert [cell["runs"] for cell in record["cells"]] == [4, 4, 4, 4]
    assert stopped([*command, "--vary", "d=30,90"]) == 2
    assert "out holds another sweep" in capsys.readouterr().err
    assert len(list((out / "runs").glob("*.npz"))) == 16 + 4


def test_a_sweep_takes_a_target_in_the_place_of_a_file(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--vary", "d=30,60", "--p", "2", "--steps", "1", "--dry-run", "--json", "--quiet"]
    for target in ("x1 + x1*x2", "-x1 + x2", "staircase"):
        main(["sweep", target, *command, "--out", str(tmp_path / "out")])
        planned = json.loads(capsys.readouterr().out)
        assert [cell["at"] for cell in planned["largest"]] == [{"d": 60}, {"d": 30}]
    for arguments, piece in {
        ("missing.toml",): "file cannot be read, got 'missing.toml'",
        ("x1", "--target", "x2"): "target must be given once, got 'x1' and 'x2'",
        ("x1 +",): "target: ",
    }.items():
        assert stopped(["sweep", *arguments, *command]) == 2
        assert piece in capsys.readouterr().err
    assert stopped(["sweep", "x1", "--quiet"]) == 2
    assert "axes must name at least one field, got none" in capsys.readouterr().err


def test_the_time_of_a_sweep_counts_its_predictions(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second for each; none without theory."""
    plan = ["--out", str(tmp_path / "kept"), "--workers", "1", "--dry-run", "--json"]

    def planned(*flags: str) -> tuple[dict[str, float], str]:
        main(["sweep", str(file), *plan, *flags])
        told = capsys.readouterr()
        return json.loads(told.out), told.err

    (both, told), (alone, _) = planned(), planned("--no-theory")
    assert both["predictions"] == both["cells"] > 0
    assert f"and {both['cells']} predictions take" in told
    assert both["seconds"] == pytest.approx(alone["seconds"] + both["cells"])
    assert alone["predictions"] == 0


def test_failures_are_told(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    command = ["sweep", "x1 + x2", "--p", "2", "--steps", "3", "--out", out]
    command += ["--vary", "step_size=0.1,1e30", "--d", "40", "--no-theory"]
    assert stopped([*command, "--readout-n", "0", "--test-n", "0"]) == 1
    said = capsys.readouterr()
    assert "1 of 2 cells finished" in said.out
    assert "failed: step_size = 1e+30: run 0 diverged" in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (["--vary", "d=30,0"], "d must be at least 1, got 0, in the cell d = 0, noise = 0"),
        (["--vary", "d"], "vary must be FIELD=VALUES"),
        (["--vary", "d=30", "--vary", "d=60"], "vary must name a field once"),
        (["--vary", "d=30,60;d=60,90"], "got d a second time in 'd=30,60;d=60,90'"),
        (["--engine", "dense", "--memory", "1 KiB"], "in the cell d = 30, noise = 0"),
        (["--cluster", "tcp://127.0.0.1:1"], "cluster"),
        (["--workers", "0"], "workers must be at least 1, got 0"),
        (["--vary", "d=10..20"], "d must be a range LOW..HIGH:COUNT, got '10..20'"),
        (["--show", "beauty"], "show must be one of norm, alignment"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str],
    piece: str,
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("giantstep.sweeps.cluster.CONNECTING", "1s")
    command = ["sweep", str(file), "--out", str(tmp_path / "out"), "--quiet", "--no-theory"]
    assert stopped([*command, "--runs", "1", *arguments]) == 2
    said = capsys.readouterr()
    assert piece in said.err
    assert said.err.startswith("giantstep: ")
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_a_full_disk_leaves_the_record_of_the_sweep(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What says which sweep a folder holds is whole or as it was: else the next one is refused."""
    path = tmp_path / "sweep.json"
    write_json({"asked": 1}, path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            write_json({"asked": 2, "more": list(range(1000))}, path)
    assert json.loads(path.read_text()) == {"asked": 1}
    assert not list(tmp_path.glob(".sweep.json*"))


@pytest.mark.slow
def test_an_interrupt_keeps_what_is_finished(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    # A process in the background may have been told to ignore interrupts, and passes that on.
    listening = "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    listening += "runpy.run_module('giantstep.cli.main', run_name='__main__')"
    command = [sys.executable, "-c", listening, "sweep", str(file), "--out", str(out)]
    command += ["--no-theory", "--vary", "seed=0..199:200", "--n", "50000d"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ)
    while not list(out.glob("runs/*.npz")) and running.poll() is None:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    assert running.returncode == 130
    assert f"interrupted: what is finished is kept in {out}" in said
    assert "Traceback" not in said


def test_maps_are_drawn_with_their_boundaries() -> None:
    """Edges halfway between places, on a log scale where the axis has one."""
    from giantstep.show.plots.sweep import _edges

    [plain] = read_axes({"noise": "0..1:3"})
    [log] = read_axes({"n": "1d..16d:3 log"})
    assert _edges(plain).tolist() == [-0.25, 0.25, 0.75, 1.25]
    assert np.allclose(_edges(log), [0.5, 2.0, 8.0, 32.0])


@pytest.mark.slow
def test_estimates_of_both_engines(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["estimate", "x1 + x1*x2", "--d", "100", "--runs", "3", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {"deferred", "dense"}
    assert all(each["measured"] and each["seconds"] > 0 for each in found.values())
    main(["estimate", "x1", "--d", "100", "--p", "100", "--start", "sphere"])
    text = " ".join(capsys.readouterr().out.split())
    assert "the deferred engine needs d >= 101" in text
    assert "d = 100, n = 400, p = 100" in text
    assert "e+" not in text
    main(["estimate", "x1", "--engine", "dense"])
    assert "deferred" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_cell_of_which_theory_says_nothing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At p = d/2 and at p fixed theory has the alignment: no note says that it is missing."""
    small = ["--readout-n", "0", "--test-n", "0", "--out"]
    wide = ["sweep", "--target", "He2(x1)", "--vary", "d=600,700", "--p", "d/2", "--step-size", "p"]
    main([*wide, *small, str(tmp_path / "few")])
    few = capsys.readouterr().out
    assert "does not predict" not in few
    main(["sweep", "--target", "He2(x1)", "--vary", "d=500,600", *small, str(tmp_path / "many")])
    assert "says nothing" not in capsys.readouterr().out
