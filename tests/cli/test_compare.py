"""``giantstep compare`` as a stranger meets it."""

import json
from pathlib import Path

import pytest

from giantstep import load
from giantstep.cli.main import main

SMALL = ["--d", "200", "--p", "2", "--steps", "1", "--readout-n", "0", "--test-n", "0"]


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stop:
        main(["compare", *arguments])
    assert stop.value.code == 2
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    return text


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    paths = tmp_path / "gradient.toml", tmp_path / "muon.toml"
    fields = 'target = "x1 + x1*x2"\nd = 200\np = 2\nsteps = 1\nreadout_n = 0\ntest_n = 0\n'
    paths[0].write_text(fields)
    paths[1].write_text(fields + 'update = "orthogonal"\n')
    return str(paths[0]), str(paths[1])


def test_two_files_in_one_table_and_one_picture(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    main(["compare", *files, "--runs", "3", "--out", str(out)])
    text = " ".join(capsys.readouterr().out.split())
    assert "differing in update: gradient | orthogonal" in text
    assert "gradient: Theory and simulation agree" in text
    assert "muon: Theory and simulation agree" in text
    assert (out / "compare.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((out / "compare.json").read_text())
    assert record["differing"] == ["update"]
    assert [entry["name"] for entry in record["settings"]] == ["gradient", "muon"]
    kept = load(out)
    assert [found.runs for found in kept.trajectories] == [3, 3]
    assert all(prediction is not None for prediction in kept.predictions)


def test_it_goes_on_where_it_was(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With more runs, and after it was finished; another setting needs --overwrite."""
    out = tmp_path / "out"
    command = ["compare", *files, "--out", str(out), "--quiet"]
    main([*command, "--runs", "2"])
    kept = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert len(kept) == 6
    main([*command, "--runs", "3"])
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    record = json.loads((out / "compare.json").read_text())
    assert [part["simulation"]["runs"] for part in record["settings"]] == [3, 3]
    main([*command, "--runs", "3"])
    other = [*command[1:], "--noise", "0.5"]
    assert refusal(other, capsys) == (
        f"giantstep: out already holds compare.json of noise = 0.0, not 0.5, got '{out}'; "
        "--overwrite replaces it\n"
    )
    third = refusal([*command[1:], "x1*x2*x3"], capsys)
    assert "out already holds compare.json of 2 settings, not 3" in third
    assert json.loads((out / "compare.json").read_text()) == record
    main(["compare", *other, "--overwrite"])


def test_one_target_and_what_varies(capsys: pytest.CaptureFixture[str]) -> None:
    main(["compare", "x1", *SMALL, "--vary", "update=gradient,orthogonal", "--json", "--quiet"])
    record = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in record["settings"]] == ["gradient", "orthogonal"]
    main(["compare", "x1", "-x1 + x2", *SMALL, "--show", "principal_cosine_1"])
    assert "principal cosine 1" in capsys.readouterr().out


def test_papers_are_cited(capsys: pytest.CaptureFixture[str]) -> None:
    main(["cite", "compare", "x1", "x2", "--batches", "reused"])
    assert "2402.03220" in capsys.readouterr().out


def test_what_is_wrong_is_one_sentence(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text('[setting]\ntarget = "x1"\n[axes]\nd = "10, 20"\n')
    for arguments, piece in {
        (): "settings must be at least 2, got 0: name two files, two targets, or one and --vary",
        (files[0],): "settings must be at least 2, got 1",
        (files[0], files[0]): f"got the same for {files[0]} and {files[0]}",
        (files[0], "missing.toml"): "file cannot be read, got 'missing.toml'",
        (files[0], str(grid)): f"file must hold the fields of one setting, got the sweep '{grid}'",
        ("x1", "x2 +"): "target",
        ("x1", "x2", "--show", "beauty"): "show must be one of norm, alignment",
        ("x1", "--vary", "d=10,20", "--vary", "n=4d,8d"): "giantstep sweep takes a grid",
        ("x1", "x2", "--d", "abc"): "d must be a whole number, got 'abc'",
    }.items():
        assert piece in refusal(list(arguments), capsys)
