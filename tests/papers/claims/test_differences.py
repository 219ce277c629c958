"""The page on where the papers and the measurements differ, and the records it is made from."""

from dataclasses import replace
from pathlib import Path

import pytest

from giantstep.cli.main import main
from giantstep.errors import InputError
from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.differences import differences
from giantstep.papers.claims.quantity import exact
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.claims.running import run_claims
from giantstep.papers.claims.source import Source
from giantstep.show.page import claims_page

PAGE = Path(__file__).parents[3] / "docs" / "differences.md"


def claim_of(name: str, value: float, **given: str) -> Claim:
    def experiment(setting: dict[str, float]) -> Findings:
        return Findings([exact("value", value, (0.0, 1.0))])

    return Claim(
        id=name,
        statement=f"Says {name}.",
        source=Source("theorem", "paper"),
        regime="regime",
        rule="rule",
        experiment=experiment,
        setting={},
        controls={},
        **given,
    )  # type: ignore[arg-type]


def test_page_of_the_documentation_is_that_of_the_claims(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["claims", "--differences"])
    assert capsys.readouterr().out == PAGE.read_text(encoding="utf-8")


def test_a_contradicted_claim_stands_beside_the_one_that_holds() -> None:
    wrong = claim_of("wrong", 2.0, measured_instead="two, not one.", corrected="right")
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
        assert bool(claim.measured_instead) == bool(claim.corrected)
        if claim.corrected:
            assert claim.measured_instead.endswith(".")
            assert CLAIMS[claim.corrected].corrected == ""


@pytest.mark.parametrize(
    ("page", "findings", "verdicts"),
    [
        ("claims.md", False, {"holds", "fails", "undecided", "-"}),
        ("findings.md", True, {"seen", "not seen", "undecided", "-"}),
    ],
)
def test_the_tables_of_verdicts_list_every_claim(
    page: str, findings: bool, verdicts: set[str]
) -> None:
    """In order, with its statement: a claim that was reworded has another verdict."""
    listed = [claim for claim in CLAIMS.values() if claim.source.is_finding == findings]
    lines = PAGE.with_name(page).read_text(encoding="utf-8").splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith("| ")][1:]
    assert [row[0].removeprefix("| ") for row in rows] == [claim.id for claim in listed]
    assert [row[1].replace("\\|", "|") for row in rows] == [claim.statement for claim in listed]
    assert {row[2] for row in rows} <= verdicts


def test_what_no_paper_states_is_seen_or_not_and_contradicts_nobody() -> None:
    """With the source of a theorem the same measurement fails, and stands on the page."""
    given = {"measured_instead": "two, not one.", "corrected": "right"}
    for source, word in ((Source("ours"), "not seen"), (Source("theorem", "paper"), "fails")):
        wrong = replace(claim_of("wrong", 2.0, **given), source=source)
        [record] = run_claims([wrong])
        assert record["verdict"] == word
        page = differences({"wrong": wrong, "right": claim_of("right", 0.5)})
        assert ("Says wrong." in page) == (word == "fails")


def test_a_kind_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match=r"kind of a source must be one of theorem.*'lemma'"):
        Source("lemma")
