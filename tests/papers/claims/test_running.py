"""Verdicts, records that survive a kill, the page and the command."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from giantstep.cli import claims as command
from giantstep.cli.main import main
from giantstep.papers.claims import CLAIMS, FAMILIES, running
from giantstep.papers.claims.quantity import Region, exact
from giantstep.papers.claims.record import Changes, Claim, Experiment, Findings, one_at_a_time
from giantstep.papers.claims.running import run_claims, stored_claims
from giantstep.papers.claims.source import Source
from giantstep.records.origin import source_digest
from giantstep.records.plot import Curve, Plot
from giantstep.show.page import claims_page, region_text
from giantstep.show.plots.curves import curves


def counting(calls: list[Any]) -> Claim:
    """A claim that notes each of its runs; its quantity is the option ``value``."""

    def experiment(setting: dict[str, Any], *, value: float) -> Findings:
        calls.append(value)
        simulated = Curve("a", [1, 2], [1.0, 2.0], [0.1, 0.1])
        theory = Curve("law", [1, 2], [3.0, 4.0], theory=True)
        plot = Plot("x", "y", [simulated, theory], levels={"one": 1.0})
        return Findings([exact("value", value, (0.0, 1.0))], plot)

    return claim_of(experiment)


def claim_of(experiment: Experiment, name: str = "counting") -> Claim:
    return Claim(
        id=name,
        statement="A <statement>.",
        source=Source("theorem", "paper"),
        regime="regime",
        rule="rule",
        experiment=experiment,
        setting={},
        options={"value": 0.5},
        controls={
            "too large": Changes(options={"value": 2.0}),
            "too small": Changes(options={"value": -1.0}),
        },
    )


def test_finished_claims_are_not_run_again(tmp_path: Path) -> None:
    calls: list[Any] = []
    claim = counting(calls)
    [first] = run_claims([claim], folder=tmp_path)
    [second] = run_claims([claim], folder=tmp_path)
    assert calls == [0.5]
    assert first == second
    list(run_claims([claim], folder=tmp_path, seed=1))  # another seed is another record
    list(run_claims([claim], folder=tmp_path, controls=True))
    assert calls == [0.5, 0.5, 0.5, 2.0, -1.0]
    [record] = stored_claims([claim], tmp_path, full=False, controls=True, seed=0)
    assert record["verdict"] == "holds"
    assert [control["verdict"] for control in record["controls"]] == ["fails", "fails"]
    assert not list(tmp_path.glob("*.part"))


def test_tuned_values_are_repeated_with_the_controls() -> None:
    calls: list[Any] = []
    claim = replace(counting(calls), tuned=one_at_a_time(options={"value": (0.2, 3.0)}))
    [record] = run_claims([claim], controls=True)
    assert calls == [0.5, 2.0, -1.0, 0.2, 3.0]
    assert record["tuned"] == [
        {"changes": {"value": "0.2"}, "verdict": "holds"},
        {"changes": {"value": "3.0"}, "verdict": "fails"},
    ]
    assert "value = 3.0" in claims_page([record])
    [record] = run_claims([claim])
    assert record["tuned"] == []


@pytest.mark.slow
def test_claims_side_by_side_are_the_same_records(tmp_path: Path) -> None:
    """In other processes, the controls of a claim too."""
    chosen = [CLAIMS[name] for name in ("one-step-formulas", "no-spike-without-c1")]
    apart = list(run_claims(chosen, folder=tmp_path, controls=True, processes=2))
    assert [record["id"] for record in apart] == [claim.id for claim in chosen]
    assert stored_claims(chosen, tmp_path, full=False, controls=True, seed=0) == apart
    again = list(run_claims(chosen, folder=tmp_path, controls=True, processes=2))
    assert again == apart
    [alone] = run_claims(chosen[1:], controls=True)
    for name in ("measured", "controls", "tuned"):
        assert alone[name] == apart[1][name]


@pytest.mark.slow
def test_what_is_finished_before_its_turn_is_written(tmp_path: Path) -> None:
    """The second claim takes a fifth of the first's time: an interrupt then does not lose it."""
    chosen = [CLAIMS[name] for name in ("one-step-nothing", "linear-batch-necessary")]
    found = run_claims(chosen, folder=tmp_path, processes=2)
    first = next(found)
    found.close()  # type: ignore[attr-defined]
    assert first["id"] == chosen[0].id
    assert len(stored_claims(chosen, tmp_path, full=False, controls=False, seed=0)) == 2


def test_a_broken_record_is_measured_anew(tmp_path: Path) -> None:
    calls: list[Any] = []
    (tmp_path / "counting.json").write_text('{"id": "counting", "verd')
    list(run_claims([counting(calls)], folder=tmp_path))
    assert calls == [0.5]


def judged(setting: dict[str, Any], *, value: float, region: Region) -> Findings:
    return Findings([exact("value", value, region)])


def judged_twice(setting: dict[str, Any], *, value: float, region: Region) -> Findings:
    return Findings([exact("value", 2.0 * value, region)])


def test_another_region_or_another_experiment_is_measured_anew(tmp_path: Path) -> None:
    """Same identifier, fields and sizes: the verdict is that of what is asked for now."""
    inside = claim_of(partial(judged, region=(0.0, 0.8)))
    outside = claim_of(partial(judged, region=(0.6, 0.8)))
    [record] = run_claims([inside], folder=tmp_path)
    assert record["verdict"] == "holds"
    [record] = run_claims([outside], folder=tmp_path)
    assert record["verdict"] == "fails"
    [record] = run_claims([inside], folder=tmp_path)
    assert record["verdict"] == "holds"
    [record] = run_claims([claim_of(partial(judged_twice, region=(0.0, 0.8)))], folder=tmp_path)
    assert record["verdict"] == "fails"


def test_other_source_is_measured_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file of the package that the experiment may call has changed."""
    calls: list[Any] = []
    list(run_claims([counting(calls)], folder=tmp_path))
    monkeypatch.setattr(running, "package_source", lambda: "another")
    list(run_claims([counting(calls)], folder=tmp_path))
    assert calls == [0.5, 0.5]


def test_source_is_that_of_the_rooms_an_experiment_may_use(tmp_path: Path) -> None:
    for name in ("simulation/step.py", "show/table.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("x = 1")
    before = source_digest(tmp_path)
    (tmp_path / "show/table.py").write_text("x = 2")
    assert source_digest(tmp_path) == before
    (tmp_path / "simulation/step.py").write_text("x = 2")
    assert source_digest(tmp_path) != before


def interrupted(setting: dict[str, Any], *, value: float) -> Findings:
    raise KeyboardInterrupt


def test_an_interrupt_is_passed_on_and_stores_nothing_of_the_claim(tmp_path: Path) -> None:
    calls: list[Any] = []
    claims = [counting(calls), claim_of(interrupted, "cut-short")]
    with pytest.raises(KeyboardInterrupt):
        list(run_claims(claims, folder=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["counting.json"]
    with pytest.raises(KeyboardInterrupt):
        list(run_claims(claims, folder=tmp_path))
    assert calls == [0.5]


def test_an_interrupted_command_keeps_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = {"counting": counting([]), "cut-short": claim_of(interrupted, "cut-short")}
    monkeypatch.setattr(command, "CLAIMS", claims)
    with pytest.raises(SystemExit) as stopped:
        main(["claims", "--quiet", "--out", str(tmp_path)])
    assert stopped.value.code == 130
    folder = tmp_path / "quick"
    said = capsys.readouterr().err
    assert said == f"giantstep: interrupted after 1 of 2 claims, which are kept in {folder}\n"
    stored = json.loads((folder / "claims.json").read_text())
    assert [record["id"] for record in stored["claims"]] == ["counting"]
    assert "counting.png" in (folder / "claims.html").read_text()
    assert not (folder / "cut-short.json").exists()


def test_page_escapes_and_shows_everything(tmp_path: Path) -> None:
    [record] = run_claims([counting([])], controls=True)
    page = claims_page([record])
    for piece in ("A &lt;statement&gt;.", "counting.png", "too large", "0 to 1", "1 holds"):
        assert piece in page


@pytest.mark.parametrize(
    ("value", "region", "allowance", "text"),
    [
        (None, [0.0, 1.0], 0.0, "0 to 1"),
        (0.5, [0.0, None], 0.0, "0.5 (at least 0)"),
        (0.5, [None, 1.0], 0.02, "0.5 ± 0.02 (at most 1)"),
        (0.5, [None, None], 0.02, "0.5 ± 0.02"),
    ],
)
def test_predictions_in_words(
    value: float | None, region: list[float | None], allowance: float, text: str
) -> None:
    assert region_text({"value": value, "region": region, "allowance": allowance}) == text


def test_figure_has_theory_and_simulation() -> None:
    """Points with bars of two standard errors, the line of theory and the level, where they are."""
    [record] = run_claims([counting([])])
    axes = curves(Figure().subplots(), Plot.from_dict(json.loads(json.dumps(record["plot"]))))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")
    [points] = axes.containers
    line, _, bars = points.lines
    np.testing.assert_array_equal(line.get_xydata(), [[1, 1.0], [2, 2.0]])
    assert line.get_linestyle() == "None"
    np.testing.assert_allclose(bars[0].get_segments()[0], [[1, 0.8], [1, 1.2]])
    lines = [line for line in axes.lines if line.get_label() == "theory: law"]
    np.testing.assert_array_equal(lines[0].get_xydata(), [[1, 3.0], [2, 4.0]])
    assert any(list(line.get_ydata()) == [1.0, 1.0] for line in axes.lines)
    assert [text.get_text() for text in axes.texts] == ["one"]


def test_every_claim_is_complete() -> None:
    # No identifier stands for two claims.
    assert len(CLAIMS) == sum(len(family.CLAIMS) for family in FAMILIES) >= 45
    for name, claim in CLAIMS.items():
        assert claim.id == name
        assert claim.statement.endswith(".")
        assert claim.source.paper.startswith("arXiv ")
        assert claim.source.place
        # What a paper states is judged inside its assumptions, which are said.
        assert claim.source.assumptions or claim.source.is_finding
        assert claim.controls or claim.corrected
        for changes in (*claim.controls.values(), *claim.tuned):
            assert changes.setting or changes.options
            # The option of a control or of a tuned value is one that the experiment has.
            assert set(changes.options) <= {*claim.options, *claim.quick}
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
