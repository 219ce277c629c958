"""``giantstep claims --file``: a claim of one's own, and what may be wrong with its file."""

import json
import re
from pathlib import Path

import pytest

from giantstep import CLAIMS, Claim, Findings, InputError, Quantity, exponent_of, mean_of
from giantstep.cli.main import main

MINE = """
from giantstep import Changes, Claim, Findings, Setting, Source, mean_of, predict

import helpers_of_mine


def first_step(setting, *, d):
    cosine = abs(predict(Setting(**setting, d=d, readout_n=0, test_n=0)).cosine[0, 1, :, 0])
    return Findings([mean_of("cosine", cosine, helpers_of_mine.REGION)])


claim = Claim(
    id="my-first-step",
    statement="One giant step on 4 d samples finds a line.",
    source=Source(paper="arXiv 2999.12345", place="a conjecture of mine"),
    regime="one step at n = 4 d",
    rule="the mean cosine is above 0.3",
    experiment=first_step,
    setting={"target": "x1", "steps": 1},
    controls={"no line to find": Changes(setting={"target": "He2(x1)"})},
    quick={"d": 1000},
    full={"d": 10_000},
)
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "helpers_of_mine.py").write_text("REGION = (0.3, 1.0)\n")
    path = tmp_path / "my_claim.py"
    path.write_text(MINE)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    return path


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    main(arguments)
    return " ".join(capsys.readouterr().out.split())


def test_a_claim_in_a_file_is_judged_as_those_of_the_papers(
    mine: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    out = ["--out", str(tmp_path / "out")]
    command = ["claims", "--file", str(mine), *out]
    text = said([*command, "--controls"], capsys)
    assert "One giant step on 4 d samples finds a line." in text
    assert re.search(r"control: no line to find not seen not seen", text)
    assert "1 finding: 1 seen" in text
    records = json.loads((tmp_path / "out/quick/claims.json").read_text())["claims"]
    assert [record["id"] for record in records] == ["my-first-step"]
    assert "my-first-step" in (tmp_path / "out/quick/findings.md").read_text()
    # By its name, beside one of the papers, in the list and among what is cited.
    listed = said(["claims", "--list", "my-first-step", "one-step-line", *command[1:]], capsys)
    assert "my-first-step" in listed
    assert "one-step-line" in listed
    assert "@software" in said(["cite", "claims", "--file", str(mine)], capsys)
    # Another text of the file is another claim: its stored record does not count.
    mine.write_text(MINE.replace("(Setting(**setting, d=d", "(Setting(**setting, n='2d', d=d"))
    before = records[0]["measured"]["cosine"]["value"]
    main([*command, "--controls", "--json", "--quiet"])
    after = json.loads(capsys.readouterr().out)["claims"][0]["measured"]["cosine"]["value"]
    assert after < before


def test_an_experiment_is_told_apart_by_all_of_its_file(
    mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A constant beside the function decides the verdict as its lines do."""
    text = MINE.replace("helpers_of_mine.REGION", "REGION").replace("import helpers_of_mine", "")
    command = ["claims", "--file", str(mine), "--out", str(tmp_path / "out"), "--json", "--quiet"]
    verdicts = []
    for region in ("REGION = (0.3, 1.0)", "REGION = (0.9, 1.0)"):
        mine.write_text(region + text)
        main(command)
        verdicts.append(json.loads(capsys.readouterr().out)["claims"][0]["verdict"])
    assert verdicts == ["seen", "not seen"]


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("x = [1", "file must be Python that runs, got '{path}': SyntaxError"),
        ("x = 1\ny = z", "got '{path}', line 2: NameError: name 'z' is not defined"),
        ("x = 1", "file must have a Claim at its top level, got '{path}' without one"),
        ("from giantstep import CLAIMS\nx = CLAIMS['one-step-line']", "must have a Claim at its"),
        (MINE + "other = Claim(**{**vars(claim)})", "got 'my-first-step' twice"),
        (MINE.replace("my-first-step", "one-step-line"), "got 'one-step-line', which the package"),
        (MINE.replace("my-first-step", "../mine"), "must be letters, digits and hyphens, got '../"),
        (
            MINE.replace("return Findings(", "nothing = misspelt\n    return Findings("),
            "the experiment of the claim 'my-first-step' must run, it failed in '{path}', line "
            "{line}: NameError: name 'misspelt' is not defined",
        ),
        (MINE.replace("return Findings(", "return ("), "must return Findings with at least one"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(
    text: str, piece: str, mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine.write_text(text)
    with pytest.raises(SystemExit) as stop:
        main(["claims", "--file", str(mine), "--out", str(tmp_path / "out"), "--quiet"])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    line = next((k for k, each in enumerate(text.splitlines(), 1) if "misspelt" in each), 0)
    assert piece.format(path=mine, line=line) in error


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path / "nowhere.py", tmp_path):
        with pytest.raises(SystemExit) as stop:
            main(["claims", "--file", str(path)])
        assert stop.value.code == 2
        assert f"file cannot be read, got '{path}'" in capsys.readouterr().err


def test_quantities_need_runs() -> None:
    for values in ([1.0], [1.0, float("nan")], [[1.0, 2.0]]):
        with pytest.raises(InputError, match="must be a finite number for each of at least 2 runs"):
            mean_of("cosine", values, (0.0, 1.0))
    with pytest.raises(InputError, match="values must be at least 2 finite numbers"):
        exponent_of("cosine", [10, 100], [[1.0], [1.0]], (0.0, 1.0))
    assert isinstance(mean_of("cosine", [0.5, 0.6], (0.0, 1.0)), Quantity)


def test_an_experiment_must_return_findings() -> None:
    record = vars(CLAIMS["one-step-line"]) | {"experiment": lambda fields, **sizes: Findings([])}
    with pytest.raises(InputError, match="Findings with at least one quantity, got Findings"):
        Claim(**record).run()


def test_a_file_that_ends_the_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ends.py"
    path.write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(SystemExit) as ended:
        main(["claims", "--file", str(path), "--out", str(tmp_path / "out")])
    assert ended.value.code == 2


def test_a_claim_whose_library_is_missing_is_left_out_and_named(
    mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MINE.replace("claim = Claim(", 'claim = Claim(\n    needs="no_such_library",')
    mine.write_text(
        text
        + MINE[MINE.index("claim = Claim(") :]
        .replace("claim = ", "other = ")
        .replace("my-first-step", "my-second-step")
    )
    main(["claims", "--file", str(mine), "--out", str(tmp_path / "out"), "--json"])
    said_there = capsys.readouterr()
    assert "my-first-step is left out: it needs no_such_library" in said_there.err
    assert [r["id"] for r in json.loads(said_there.out)["claims"]] == ["my-second-step"]
