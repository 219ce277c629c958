"""The page on where the papers and the measurements differ, and the records it is made from."""

from pathlib import Path

import pytest

from giantstep.cli.main import main
from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.differences import differences
from giantstep.papers.claims.quantity import exact
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.claims.running import run_claims
from giantstep.show.page import claims_page

PAGE = Path(__file__).parents[3] / "docs" / "differences.md"


def claim_of(name: str, value: float, **given: str) -> Claim:
    def experiment(fields: dict[str, float]) -> Findings:
        return Findings([exact("value", value, (0.0, 1.0))])

    return Claim(name, f"Says {name}.", "paper", "regime", "rule", experiment, {}, {}, **given)  # type: ignore[arg-type]


def test_page_of_the_documentation_is_that_of_the_claims(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["claims", "--differences"])
    assert capsys.readouterr().out == PAGE.read_text(encoding="utf-8")


def test_a_contradicted_claim_stands_beside_the_one_that_holds() -> None:
    wrong = claim_of("wrong", 2.0, seen="two, not one.", corrected="right")
    claims = {"wrong": wrong, "right": claim_of("right", 0.5)}
    page = differences(claims)
    assert "Says wrong." in page
    assert "two, not one." in page
    assert "`right`" in page
    assert "Says wrong." not in differences({"right": claims["right"]})
    report = claims_page(list(run_claims(list(claims.values()))))
    assert "measurements differ" in report
    assert "two, not one." in report


def test_corrections_are_claims_that_are_not_contradicted_themselves() -> None:
    for claim in CLAIMS.values():
        assert bool(claim.seen) == bool(claim.corrected)
        if claim.corrected:
            assert claim.seen.endswith(".")
            assert CLAIMS[claim.corrected].corrected == ""


def test_the_table_of_verdicts_lists_every_claim() -> None:
    """In order, with its statement: a claim that was reworded has another verdict."""
    page = PAGE.with_name("claims.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split(" | ") for line in page if line.startswith("| ")][1:]
    assert [row[0].removeprefix("| ") for row in rows] == list(CLAIMS)
    assert [row[1].replace("\\|", "|") for row in rows] == [c.statement for c in CLAIMS.values()]
    assert {row[3] for row in rows} <= {"holds", "fails", "undecided", "-"}
