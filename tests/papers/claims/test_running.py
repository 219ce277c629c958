"""Verdicts, records that survive a kill, the page and the command."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep.cli.main import main
from giantstep.papers.claims import CLAIMS, FAMILIES
from giantstep.papers.claims.record import (
    Claim,
    Curve,
    Findings,
    Plot,
    Quantity,
    exact,
    exponent_of,
    mean_of,
)
from giantstep.papers.claims.running import run_claims, stored_claims
from giantstep.show.page import claims_page
from giantstep.show.plots.claim import claim_plot


def counting(calls: list[Any]) -> Claim:
    """A claim that notes each of its runs; its quantity is the field ``value``."""

    def experiment(fields: dict[str, Any], **size: Any) -> Findings:
        calls.append(fields["value"])
        plot = Plot("x", "y", [Curve("a", [1, 2], [1.0, 2.0], [0.1, 0.1])], levels={"one": 1.0})
        return Findings([exact("value", fields["value"], (0.0, 1.0))], plot)

    return Claim(
        "counting", "A <statement>.", "paper", "regime", "rule", experiment, {"value": 0.5},
        {"value": 2.0}, "too large",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.1, 0.9, "holds"), (1.1, 1.5, "fails"), (0.5, 1.5, "undecided"), (-2.0, -1.0, "fails")],
)
def test_verdict_follows_the_interval(low: float, high: float, verdict: str) -> None:
    assert Quantity("q", 0.5 * (low + high), low, high, (0.0, 1.0)).verdict == verdict


def test_findings_fail_if_one_does() -> None:
    good, bad = exact("a", 0.5, (0, 1)), exact("b", 2.0, (0, 1))
    open_end = Quantity("c", 0.5, -0.5, 1.5, (0, 1))
    assert Findings([good]).verdict == "holds"
    assert Findings([good, open_end]).verdict == "undecided"
    assert Findings([good, open_end, bad]).verdict == "fails"


def test_intervals_cover() -> None:
    """The 99 % interval of a mean of 10 normals covers 0 in 2000 draws, to 4 standard errors.

    An interval of half the width does not.
    """
    rng = np.random.default_rng(0)
    found = [mean_of("m", rng.standard_normal(10), (-1, 1)) for _ in range(2000)]
    covered = np.mean([q.low < 0 < q.high for q in found])
    error = math.sqrt(0.99 * 0.01 / 2000)
    assert abs(covered - 0.99) < 4 * error
    half = np.mean([abs(q.measured) < 0.25 * (q.high - q.low) for q in found])
    assert abs(half - 0.99) > 4 * error


def test_exponents_have_the_region_of_the_claim() -> None:
    rng = np.random.default_rng(0)
    sizes = (100, 1000, 10_000)
    values = [np.abs(rng.standard_normal(200)) * d**-0.5 for d in sizes]
    found = exponent_of("e", sizes, values, (-math.inf, -0.25), -0.5)
    assert found.verdict == "holds"
    assert found.deviation is not None
    assert abs(found.deviation) < 4
    assert exponent_of("e", sizes, values, (-0.25, math.inf)).verdict == "fails"


def test_finished_claims_are_not_run_again(tmp_path: Path) -> None:
    calls: list[Any] = []
    claim = counting(calls)
    [first] = run_claims([claim], folder=tmp_path)
    [second] = run_claims([claim], folder=tmp_path)
    assert calls == [0.5]
    assert first == second
    list(run_claims([claim], folder=tmp_path, seed=1))  # another seed is another record
    list(run_claims([claim], folder=tmp_path, controls=True))
    assert calls == [0.5, 0.5, 0.5, 2.0]
    [record] = stored_claims([claim], tmp_path, full=False, controls=True, seed=0)
    assert record["verdict"] == "holds"
    assert record["control"]["verdict"] == "fails"
    assert not list(tmp_path.glob("*.part"))


def test_a_broken_record_is_measured_anew(tmp_path: Path) -> None:
    calls: list[Any] = []
    (tmp_path / "counting.json").write_text('{"id": "counting", "verd')
    list(run_claims([counting(calls)], folder=tmp_path))
    assert calls == [0.5]


def test_page_escapes_and_shows_everything(tmp_path: Path) -> None:
    [record] = run_claims([counting([])], controls=True)
    page = claims_page([record])
    for piece in ("A &lt;statement&gt;.", "counting.png", "too large", "0 to 1", "1 holds"):
        assert piece in page


def test_figure_has_theory_and_simulation() -> None:
    from matplotlib.figure import Figure

    [record] = run_claims([counting([])])
    axes = claim_plot(Figure().subplots(), record["plot"])
    assert axes.get_xlabel() == "x"
    assert axes.get_ylabel() == "y"


def test_every_claim_is_complete() -> None:
    # No identifier stands for two claims.
    assert len(CLAIMS) == sum(len(family.CLAIMS) for family in FAMILIES) >= 45
    for name, claim in CLAIMS.items():
        assert claim.id == name
        assert claim.statement.endswith(".")
        assert "arXiv" in claim.paper or "open question" in claim.paper
        assert claim.control
        assert claim.control_reason
        assert claim.quick
        assert claim.full


def test_command_runs_one_claim_and_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["claims", "one-step-line", "--json", "--quiet", "--out", str(tmp_path)])
    [record] = json.loads(capsys.readouterr().out)["claims"]
    for key in ("id", "statement", "paper", "predicted", "measured", "verdict"):
        assert key in record
    folder = tmp_path / "quick"
    stored = json.loads((folder / "claims.json").read_text())
    assert [entry["id"] for entry in stored["claims"]] == ["one-step-line"]
    assert (folder / "claims.html").exists()
    assert (folder / "one-step-line.png").exists()


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (["claims", "no-such-claim"], "unknown claim 'no-such-claim'"),
        (["claims", "--seed", "-1"], "seed"),
        (["reproduce", "no-such-figure"], "unknown figure 'no-such-figure'"),
        (["spectrum"], "target is missing"),
        (["spectrum", "x1", "--ridge", "-1"], "ridge must be positive, got -1"),
        (["spectrum", "x1", "--step-size", "1,2,3", "--steps", "2"], "one for each of 2 steps"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], piece: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    said = capsys.readouterr()
    assert piece in said.err
    assert said.err.count("\n") == 1
