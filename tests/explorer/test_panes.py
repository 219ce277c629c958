"""Linear width, phase diagram and claims: what the server says is what the library says."""

import json
import re

import numpy as np
import pytest

from giantstep.explorer.tasks.phase import ROUGH
from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.stored import stored_records
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.observables import expected
from giantstep.sweeps.sweep import sweep

STAIRCASE = "x1 + x2 + x1^2 - x2^2"
WIDE = {"target": STAIRCASE, "d": "60", "n": "2d", "p": "1.5d", "step_size": "n^0.3"}
AXES = [{"field": "n", "values": "d, 8d"}, {"field": "d", "values": "100, 200"}]
PHASE = {"setting": {"target": "x1", "p": "4", "runs": "2", "steps": "1"}, "axes": AXES}


def events_of(client, kind: str, request: dict) -> list[tuple[str, dict]]:
    """Start a job and return all of its events."""
    job = client.post("/api/jobs", json={"kind": kind, **request}).json()
    found = []
    with client.stream("GET", f"/api/jobs/{job['id']}/events") as answer:
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def test_spectra_of_theory_are_those_of_the_library(client) -> None:
    found = client.post("/api/wide", json={"setting": WIDE | {"runs": "3"}}).json()
    theory = predict(Setting.linear_width(**WIDE, runs=1))
    for matrix in ("weights", "features"):
        own = getattr(theory, matrix)
        drawn = found["spectra"][matrix][1]
        assert drawn["edge"] == pytest.approx(float(own.edge[0, 1]), rel=1e-6)
        count = own.usual(1)
        assert drawn["predicted"] == pytest.approx(own.outliers[0, 1, :count].tolist(), rel=1e-6)
        assert len(drawn["density"]["grid"]) == len(drawn["density"]["heights"])
    assert found["steps"][1]["test_error"]["mean"] == pytest.approx(
        float(theory.test_error[0, 1]), rel=1e-6
    )


def test_a_draft_has_the_weights_alone(client) -> None:
    found = client.post("/api/wide", json={"setting": WIDE, "draft": True}).json()
    assert found["spectra"]["weights"][1]["predicted"]
    assert found["spectra"]["features"] == [None, None]
    assert found["setting"]["test_n"] > 0


def test_outside_linear_width_there_is_a_sentence(client) -> None:
    found = client.post("/api/wide", json={"setting": WIDE | {"inputs": "uniform"}}).json()
    assert found["theory"] is None
    assert "inputs must be" in found["complaint"]


@pytest.mark.slow
def test_runs_are_laid_over_the_prediction(client) -> None:
    fields = WIDE | {"runs": "2", "test_n": "200"}
    events = events_of(client, "spectrum", {"setting": fields})
    names = [name for name, _ in events]
    assert [name for name in names if name != "progress"] == [
        *("started", "frame", "run", "run", "comparing", "result")
    ]
    result = events[-1][1]
    for matrix in ("weights", "features"):
        drawn = result["spectra"][matrix][1]
        bins, heights = drawn["bars"]["bins"], drawn["bars"]["heights"]
        assert len(bins) == len(heights) + 1
        assert len(drawn["spikes"]) == 2
    # The bars are a density per log unit: their area is the share of the bulk, all but the spikes.
    weights = result["spectra"]["weights"][0]
    area = float(np.diff(np.log(weights["bars"]["bins"])) @ weights["bars"]["heights"])
    assert area == pytest.approx(1.0, abs=0.05)
    assert result["steps"][1]["test_error"]["mean"] > 0


def test_the_map_is_what_the_library_predicts_coarse_cells_first(client) -> None:
    cells, first, total = [], 0, 1
    while first < total:
        answer = client.post("/api/phase", json=PHASE | {"show": "alignment", "first": first})
        found = answer.json()
        assert found["done"] > first
        cells += found["cells"]
        first, total = found["done"], found["total"]
    assert sorted(cell["place"] for cell in cells) == [[0, 0], [0, 1], [1, 0], [1, 1]]
    one = next(cell for cell in cells if cell["place"] == [1, 1])
    setting = Setting("x1", n="8d", d=200, p=4, steps=1, readout_n=0, test_n=0)
    assert one["at"] == {"n": "8d", "d": 200}
    assert one["sizes"] == {"d": 200, "n": 1600, "p": 4}
    alignment = expected(predict(setting))["alignment"][-1]
    assert one["predicted"] == pytest.approx(float(alignment), abs=0.03)


def test_cells_that_few_points_leave_open_take_more(client) -> None:
    """At a noise of 300 a few points do not know a cosine of which runs have 0.14."""
    setting = {"target": STAIRCASE, "activation": "tanh", "p": "4", "runs": "2", "noise": "300"}
    axes = [{"field": "n", "values": "d^1.75"}, {"field": "d", "values": "10000"}]
    asked = {"setting": setting, "axes": axes, "show": "alignment"}
    [cell] = client.post("/api/phase", json=asked).json()["cells"]
    assert 0.1 < cell["predicted"] < 0.2
    few = predict(Setting(**setting, d=10_000, n="d^1.75", readout_n=0, test_n=0), **ROUGH)
    assert np.isnan(expected(few)["alignment"][-1])


def test_cells_are_measured_one_by_one(client) -> None:
    events = events_of(client, "cells", PHASE | {"show": "test_error"})
    cells = [value for name, value in events if name == "cell"]
    assert len(cells) == 4
    assert all(cell["runs"] == 2 and cell["mean"] > 0 for cell in cells)
    result = events[-1][1]
    same = {tuple(cell["at"].items()): cell["mean"] for cell in cells}
    assert {tuple(cell["at"].items()): cell["mean"] for cell in result["cells"]} == same


@pytest.mark.parametrize(
    ("axes", "word"),
    [
        ([{"field": "start_rows", "values": "/etc/passwd, x"}], "start_rows"),
        ([{"field": "inputs", "values": "data(/etc/passwd), gaussian"}], "inputs"),
        ([{"field": "n", "values": "1..1000:1000"}], "cells"),
        ([{"field": "p", "values": "4, 100000"}], "p must be at most"),
        ([AXES[0], AXES[0]], "twice"),
        ([], "axes"),
        ([{"field": "d", "values": "100.."}], "d must"),
    ],
)
def test_maps_out_of_bounds_are_refused(client, axes: list, word: str) -> None:
    for path in ("phase", "export/sweep-toml"):
        answer = client.post(f"/api/{path}", json=PHASE | {"axes": axes})
        assert answer.status_code == 422
        assert word in answer.json()["message"]
        assert "root:" not in answer.text


def test_a_map_of_hours_is_refused(client) -> None:
    axes = [{"field": "n", "values": "d, d^2"}, {"field": "d", "values": "1000, 1000000"}]
    events = events_of(client, "cells", PHASE | {"axes": axes})
    assert events[-1][0] == "problem"
    assert "minutes" in events[-1][1]["message"]


def test_the_file_of_a_map_is_a_sweep(client, tmp_path, monkeypatch) -> None:
    from giantstep.cli.main import main

    made = client.post("/api/export/sweep-toml", json=PHASE | {"show": "alignment"}).json()
    (tmp_path / made["name"]).write_text(made["text"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    main(["sweep", made["name"], "--dry-run", "--quiet"])
    lines = client.post("/api/export/sweep-python", json=PHASE | {"show": "alignment"}).json()
    compile(lines["text"], lines["name"], "exec")
    assert '"n": "d, 8d"' in lines["text"]


@pytest.mark.slow
def test_a_stored_sweep_is_opened_and_nothing_outside_the_folder(tmp_path) -> None:
    from giantstep.errors import InputError
    from giantstep.explorer.tasks import stored_sweeps

    setting, axes = {"target": "x1", "p": 4, "runs": 2}, {"n": "d, 8d", "d": "100, 200"}
    found = sweep(setting, axes, workers=1)
    inside = tmp_path / "results" / "mine"
    inside.mkdir(parents=True)
    record = {"asked": {"setting": setting, "axes": axes}} | found.as_dict("alignment")
    (inside / "sweep.json").write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / "sweep.json").write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / "results" / "away").symlink_to(tmp_path)
    (tmp_path / "results" / "linked").mkdir()
    (tmp_path / "results" / "linked" / "sweep.json").symlink_to(tmp_path / "sweep.json")
    (tmp_path / "results" / "broken").mkdir()
    (tmp_path / "results" / "broken" / "sweep.json").write_text('{"asked": 3}', encoding="utf-8")
    request = {"folder": str(tmp_path / "results")}

    listed = stored_sweeps.listed(request, lambda *_: None)
    assert listed["sweeps"] == ["broken", "mine"]
    opened = stored_sweeps.opened(request | {"name": "mine"}, lambda *_: None)
    means = [cell["mean"] for cell in opened["cells"]]
    assert means == pytest.approx(found.measured("alignment").ravel().tolist())
    assert [cell["place"] for cell in opened["cells"]] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    for name in (
        "..",
        "../../etc",
        "/etc",
        "away",
        "linked",
        str(tmp_path),
        "broken",
        "none",
        "\0",
    ):
        with pytest.raises(InputError, match="sweep"):
            stored_sweeps.opened(request | {"name": name}, lambda *_: None)
    with pytest.raises(InputError, match="--folder"):
        stored_sweeps.opened({"folder": None, "name": "mine"}, lambda *_: None)


def test_without_a_folder_no_sweep_is_listed(client) -> None:
    assert client.get("/api/sweeps").json() == {"folder": None, "sweeps": []}
    # What a page says of folders is not heard.
    answer = client.post("/api/sweep", json={"name": "etc", "folder": "/"})
    assert answer.status_code == 422
    assert "--folder" in answer.json()["message"]


def test_stored_records_are_of_the_claims_as_they_are_written() -> None:
    """A claim whose words have changed needs a new record: an old one would judge another."""
    stored = stored_records()
    assert set(stored) == set(CLAIMS)
    for name, claim in CLAIMS.items():
        for field in ("statement", "regime", "rule", "measured_instead", "corrected"):
            assert stored[name][field] == getattr(claim, field), (name, field)
        source = claim.source
        assert stored[name]["paper"] == source.citation
        assert stored[name]["kind"] == source.kind
        words = ("seen", "not seen") if source.is_finding else ("holds", "fails")
        assert stored[name]["verdict"] in (*words, "undecided")


def test_claims_are_listed_with_their_verdicts(client) -> None:
    listed = client.get("/api/claims").json()["claims"]
    assert [claim["id"] for claim in listed] == list(CLAIMS)
    verdicts = {claim["id"]: claim["verdict"] for claim in listed}
    assert verdicts["pair-stays"] == "fails"
    assert verdicts["pair-leaves"] == "holds"


@pytest.mark.slow
def test_no_label_of_a_claim_is_left_in_tex(client) -> None:
    for name in CLAIMS:
        text = json.dumps(client.post("/api/claim", json={"id": name}).json()["record"]["plot"])
        assert not re.search(r"\$|\\\\\w|<su", text), (name, text)


def test_a_claim_is_measured_anew_and_agrees_with_the_library(client) -> None:
    events = events_of(client, "measure", {"id": "one-step-formulas", "seed": "3"})
    result = events[-1][1]
    found = CLAIMS["one-step-formulas"].run(False, 3)
    assert result["verdict"] == found.verdict
    measured = [quantity["value"] for quantity in result["quantities"]]
    assert measured == pytest.approx([q.measured for q in found.quantities], rel=1e-6)


@pytest.mark.parametrize(
    "request_", [{"id": "nothing"}, {"id": "pair-stays", "seed": "-1"}, {"id": 3, "seed": "x"}]
)
def test_other_claims_and_seeds_are_refused(client, request_: dict) -> None:
    answer = client.post("/api/export/claim-python", json=request_)
    assert answer.status_code == 422
    assert re.match("claim must|seed must", answer.json()["message"])
