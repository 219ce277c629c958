"""The command line as a stranger meets it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from giantstep.cli import main


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "giantstep.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "statement",
    [
        "import giantstep",
        "from giantstep import analyze; analyze('staircase')",
        "from giantstep.cli import main; main(['analyze', 'staircase'])",
        "from giantstep.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
    ],
)
def test_light_commands_stay_light(statement: str) -> None:
    check = "import sys; sys.exit(str({'jax', 'matplotlib'} & set(sys.modules) or 'light'))"
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{check}"], capture_output=True, text=True, check=False
    )
    assert done.stderr == "light\n"


def test_json_has_the_stable_keys(capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", "x1 + x2 + x1^2 - x2^2", "--json"])
    record = json.loads(capsys.readouterr().out)
    for key in ("leap_index", "information_exponent", "generative_exponent", "one_step", "floors"):
        assert key in record
    assert record["directions"] == ["x1", "x2"]
    for name in ("fresh", "reused"):
        assert record["staircase"][name]["dimensions"] == [1, 2]
        bases = record["staircase"][name]["bases"]
        assert [len(basis) for basis in bases] == [1, 2]
        assert bases[0][0] == pytest.approx([0.5**0.5, 0.5**0.5])


def test_table_speaks_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", "staircase"])
    text = capsys.readouterr().out
    assert "step 1 adds x1 + x2" in text
    assert "step 2 adds x1 - x2" in text


def test_a_leading_minus_is_a_target(capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", "-x1 + x1*x2", "--json", "--activation", "-z + z^2"])
    assert json.loads(capsys.readouterr().out)["leap_index"] == 1


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (["analyze", "x1 +"], "ends too early at position 5"),
        (["analyze", ""], "target is empty"),
        (["analyze", "7"], "constant, got '7'"),
        (["analyze", "x1", "--activation", "foo"], "'foo'"),
        (["analyze", "x1", "--label-degree", "99"], "label_degree must be in 1..8, got 99"),
        (["analyze", "x1", "--label-degree", "abc"], "abc"),
        (["analyze", "x1", "--bogus", "1"], "--bogus"),
        (["analyze"], "TARGET"),
        (["frobnicate"], "frobnicate"),
        (["analyze", "9^9^9 + x1"], "387420489"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(
    arguments: list[str], piece: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    said = capsys.readouterr()
    assert piece in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_out_never_overwrites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "folder"
    main(["analyze", "staircase", "--out", str(folder), "--quiet"])
    written = (folder / "analysis.json").read_text()
    assert json.loads(written)["target"] == "staircase"
    with pytest.raises(SystemExit) as stopped:
        main(["analyze", "linear", "--out", str(folder)])
    assert stopped.value.code == 2
    assert "already holds analysis.json" in capsys.readouterr().err
    assert (folder / "analysis.json").read_text() == written


def test_catalog_lists_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    main(["catalog", "--json"])
    names = json.loads(capsys.readouterr().out)
    main(["catalog"])
    table = capsys.readouterr().out
    assert names
    assert all(name in table for name in names)


def test_colour_is_left_out_on_request() -> None:
    assert "\x1b[" not in run("analyze", "staircase").stdout
