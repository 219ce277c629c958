"""The page of verdicts: what stored records say, and nothing that they do not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from giantstep.cli.main import main
from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.quantity import exact
from giantstep.papers.claims.record import Changes, Claim, Findings, one_at_a_time
from giantstep.papers.claims.running import run_claims
from giantstep.papers.claims.source import Source
from giantstep.papers.claims.summary import stored_records, summary


def judged(setting: dict[str, Any], *, value: float) -> Findings:
    return Findings([exact("value", value + 0.1 * (setting["seed"] == 3), (0.0, 1.0))])


def claim_of(statement: str = "Values are below one.") -> Claim:
    return Claim(
        id="one",
        statement=statement,
        source=Source("theorem", "paper"),
        regime="regime",
        rule="rule",
        experiment=judged,
        setting={},
        options={"value": 0.95},
        controls={"large": Changes(options={"value": 2.0})},
        tuned=one_at_a_time(options={"value": (0.5, 1.5)}),
    )


def row(page: str, name: str = "one") -> list[str]:
    [line] = [line for line in page.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def measured(folder: Path, **fields: Any) -> None:
    list(run_claims([claim_of()], folder=folder, **fields))


def test_verdicts_of_seeds_sizes_controls_and_tuned_constants(tmp_path: Path) -> None:
    measured(tmp_path / "a" / "quick", seed=1)
    measured(tmp_path / "b" / "quick", seed=2, controls=True)
    page = summary({"one": claim_of()}, stored_records(tmp_path))
    assert row(page)[2:6] == ["-", "holds 2", "all fail", "depends (1 of 2 the same)"]
    measured(tmp_path / "c" / "quick", seed=3)
    measured(tmp_path / "d" / "full", seed=1, full=True)
    page = summary({"one": claim_of()}, stored_records(tmp_path))
    assert row(page)[2:4] == ["holds", "holds 2, fails 1"]
    assert "Quick size, seed 1, 2, 3: 2 holds, 1 fails;" in page
    assert "Full size, seed 1: 1 holds;" in page


def test_a_control_that_does_not_fail_is_seen(tmp_path: Path) -> None:
    measured(tmp_path, controls=True)
    [record] = stored_records(tmp_path)
    record["controls"][0]["verdict"] = "holds"
    assert row(summary({"one": claim_of()}, [record]))[4] == "0 of 1 fail"


def test_a_record_of_another_statement_does_not_count(tmp_path: Path) -> None:
    measured(tmp_path)
    page = summary({"one": claim_of("Values are positive.")}, stored_records(tmp_path))
    assert row(page)[1:] == ["Values are positive.", *"----", "theorem", "paper", "-"]


def test_bars_of_a_statement_do_not_end_a_cell() -> None:
    page = summary({"one": claim_of("|w| falls.")}, [])
    assert "| one | \\|w\\| falls. | - | - | - | - | theorem | paper | - |" in page


def test_equal_assumptions_are_listed_once() -> None:
    source = Source("theorem", "paper", assumptions="Inputs are Gaussian.")
    claims = {name: replace(claim_of(), id=name, source=source) for name in ("one", "two")}
    page = summary(claims, [])
    assert row(page)[-1] == row(page, "two")[-1] == "A1"
    assert page.count("Inputs are Gaussian.") == 1
    assert page.endswith("## Assumptions\n\n- **A1**: Inputs are Gaussian.\n")


def test_the_command_prints_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "one-step-formulas"
    list(run_claims([CLAIMS[name]], folder=tmp_path / "one", seed=1))
    measured(tmp_path / "other")
    main(["claims", "--table", str(tmp_path / "one"), str(tmp_path / "other")])
    page = capsys.readouterr().out
    assert row(page, name)[2:4] == ["-", "holds"]
    statements = [claim for claim in CLAIMS.values() if not claim.source.is_finding]
    assert page.count("\n| ") == len(statements) + 1


def test_a_folder_without_records_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["claims", "--table", str(tmp_path)])
    assert caught.value.code == 2
    assert "table must be a folder with records of claims" in capsys.readouterr().err
