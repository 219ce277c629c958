"""Calls that answer at once: vocabulary, analysis, prediction, and refusals as sentences."""

import re
import subprocess
import sys

import pytest

from giantstep.analysis.analyze import analyze
from giantstep.explorer.server import STATIC
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting

STAIRCASE = "x1 + x2 + x1^2 - x2^2"


def test_analysis_is_that_of_the_library(client) -> None:
    found = client.post("/api/analyze", json={"target": STAIRCASE, "activation": "relu"}).json()
    expected = analyze(STAIRCASE, "relu").as_dict()
    assert found["leap_index"] == expected["leap_index"] == 1
    steps = found["stairs"]["fresh"]["steps"]
    assert [step["adds"] for step in steps] == [["x1 + x2"], ["x1 - x2"]]
    assert [floor["narrow"] for floor in found["floors"]] == pytest.approx(
        [floor["narrow"] for floor in expected["floors"]], rel=1e-6
    )


def test_what_is_never_learned_is_listed(client) -> None:
    found = client.post("/api/analyze", json={"target": "He3(x1)", "activation": "relu"}).json()
    assert found["stairs"]["fresh"]["missing"] == ["x1"]
    assert found["stairs"]["fresh"]["steps"] == []
    # Reused batches see it in the second step, through y^3: the first stays where it is.
    reused = [step["adds"] for step in found["stairs"]["reused"]["steps"]]
    assert reused == [[], ["x1"]]


@pytest.mark.parametrize(
    ("target", "position"), [("x1 + foo(x2)", 6), ("x1 +", 5), ("x1 $ x2", 4), ("", None)]
)
def test_a_bad_target_comes_with_its_place(client, target: str, position: int | None) -> None:
    answer = client.post("/api/analyze", json={"target": target, "activation": "relu"})
    assert answer.status_code == 422
    assert answer.json()["field"] == "target"
    assert answer.json()["position"] == position


def test_prediction_is_that_of_the_library(client) -> None:
    fields = {"target": STAIRCASE, "d": 500, "p": 4, "steps": 2}
    found = client.post("/api/predict", json={"setting": fields}).json()
    expected = predict(Setting(**fields))
    cosines = [[place[0] for place in step] for step in found["neurons"][0]]
    plane = (expected.by_run(expected.cosine)[0] @ [2**-0.5, 2**-0.5]).tolist()
    assert cosines == [pytest.approx(step, abs=1e-6) for step in plane]
    assert found["theory"] == expected.theory


def test_a_draft_of_a_wide_network_has_its_rows_alone(client) -> None:
    """Losses of linear width are most of the work."""
    fields = {"target": STAIRCASE, "d": 500, "p": 100, "n": "16d", "steps": 1, "runs": 2}
    draft = client.post("/api/predict", json={"setting": fields, "draft": True}).json()
    found = client.post("/api/predict", json={"setting": fields}).json()
    assert draft["theory"] == found["theory"] == "linear-width"
    assert draft["neurons"] == found["neurons"]
    assert "test_error" not in draft["steps"][1]
    assert found["steps"][1]["test_error"]["mean"] > 0
    assert draft["setting"] == found["setting"]


def test_outside_every_theory_there_is_a_sentence_and_the_rest(client) -> None:
    fields = {"target": STAIRCASE, "d": 500, "p": 4, "inputs": "uniform"}
    found = client.post("/api/predict", json={"setting": fields}).json()
    assert "inputs must be" in found["complaint"]
    assert found["floors"][0] == pytest.approx(6.0, rel=0.05)


def test_what_cannot_be_run_here_is_still_shown(client) -> None:
    """The sign of a gradient needs the dense engine, which cannot hold so many inputs."""
    fields = {"target": "x1", "d": 10**9, "n": "d^0.7", "update": "sign"}
    found = client.post("/api/frame", json={"setting": fields}).json()
    assert "memory must be at least 224 GiB for the dense engine" in found["cost"]["message"]
    runnable = client.post("/api/frame", json={"setting": fields | {"update": "gradient"}}).json()
    assert runnable["cost"]["engine"] == "deferred"


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"start_rows": "/etc/passwd"}, "start_rows"),
        ({"inputs": "data(/etc/passwd)"}, "inputs"),
        ({"inputs": "whitened(/etc/passwd)"}, "inputs"),
        ({"p": 10**6}, "p must be at most"),
        ({"steps": 10**5}, "steps must be at most"),
        ({"n": "-d"}, "n must"),
        ({"colour": "red"}, "colour"),
        ({"target": "x1+" * 4000 + "x1"}, "target"),
    ],
)
def test_files_and_sizes_out_of_bounds_are_refused(client, fields, word) -> None:
    answer = client.post("/api/predict", json={"setting": {"target": "x1", "d": 100} | fields})
    assert answer.status_code == 422
    assert word in answer.json()["message"]
    assert "root:" not in answer.text


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 60_000, b'"' + b"a" * 70_000 + b'"'])
def test_a_request_that_is_no_small_object_is_refused(client, body: bytes) -> None:
    answer = client.post("/api/analyze", content=body)
    assert answer.status_code == 400
    assert "JSON object" in answer.json()["message"]


def test_unknown_addresses_and_tasks_are_refused(client) -> None:
    assert client.get("/api/learn").status_code == 404
    assert client.post("/api/export/analyze", json={}).status_code == 404
    assert client.post("/api/jobs", json={"kind": "analyze"}).status_code == 422
    assert client.get("/static/../server.py").status_code == 404
    assert client.get("/static/%2e%2e/server.py").status_code == 404


def test_the_page_names_every_module_that_it_loads(client) -> None:
    page = client.get("/").text
    named = set(re.findall(r'<link rel="modulepreload" href="(/static/[^"]+)"', page))
    folder = STATIC.parent
    assert named == {f"/{path.relative_to(folder).as_posix()}" for path in STATIC.rglob("*.js")}
    for name in named:
        answer = client.get(name)
        assert answer.headers["content-type"].startswith("text/javascript")
        assert answer.content == (folder / name[1:]).read_bytes()


def test_a_process_is_warm_before_it_loads_what_few_tasks_need() -> None:
    text = (
        "import sys\n"
        "from giantstep.explorer.tasks import TASKS\n"
        "from giantstep.explorer.worker import WARMING\n"
        "for task, request in WARMING:\n"
        "    TASKS[task].load()(request, lambda name, value: None)\n"
        "print('jax' in sys.modules, 'scipy.stats' in sys.modules)\n"
    )
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "True"]


def test_the_vocabulary_names_what_the_language_has(client) -> None:
    found = client.get("/api/vocabulary").json()
    assert {"staircase", "threshold"} <= {entry["name"] for entry in found["catalog"]}
    for activation in found["activations"]:
        answer = client.post("/api/analyze", json={"target": "x1", "activation": activation})
        assert answer.status_code == 200, activation
