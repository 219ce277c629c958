"""Jobs: events as they come, the experiment of the library at the end, a queue, and cancel."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from giantstep.experiment import run_experiment
from giantstep.problem.setting import Setting
from giantstep.records.table import make_table

SMALL = {"target": "x1 + x2 + x1^2 - x2^2", "d": 200, "n": "2d", "p": 4, "test_n": 500}
LONG = SMALL | {"d": 20_000, "n": "64d", "p": 64, "runs": 64}
"""Minutes of work: whoever waits for its end has not cancelled it."""


def events_of(client, number: str) -> list[tuple[str, object]]:
    """Names and values of a job's events, to its end."""
    found, name = [], ""
    with client.stream("GET", f"/api/jobs/{number}/events") as answer:
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def submitted(client, setting: dict, page: str = "test") -> dict:
    answer = client.post(
        "/api/jobs",
        json={"kind": "learn", "setting": setting},
        headers={"x-giantstep-page": page},
    )
    assert answer.status_code == 202, answer.text
    return answer.json()


def state_of(client, number: str, page: str = "test") -> str:
    jobs = client.get("/api/jobs", headers={"x-giantstep-page": page}).json()
    [state] = [job["state"] for job in jobs if job["id"] == number]
    return state


def wait_until(condition, seconds: float = 180.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_job_ends_with_the_experiment_of_the_library(client) -> None:
    fields = SMALL | {"runs": 3, "seed": 5}
    job = submitted(client, fields)
    events = events_of(client, job["id"])
    names = [name for name, _ in events if name != "progress"]
    assert names == ["started", "frame", "run", "run", "run", "result"]
    [result] = [value for name, value in events if name == "result"]
    expected = run_experiment(Setting(**fields))
    errors = [step["test_error"]["mean"] for step in result["steps"]]
    assert errors == pytest.approx(expected.simulated.test_error.mean(axis=0).tolist(), rel=1e-6)
    assert result["agrees"] == expected.comparison.agrees
    runs = [value for name, value in events if name == "run"]
    places = np.array([run["neurons"] for run in runs])
    plane = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2.0)
    assert places == pytest.approx(expected.simulated.cosine @ plane.T, abs=1e-5)
    # The means sent with the last run are those of all of them.
    assert runs[-1]["steps"] == result["steps"]
    table = client.get(f"/api/jobs/{job['id']}/files/table.csv")
    assert table.headers["content-disposition"] == 'attachment; filename="table.csv"'
    again = make_table([expected.simulated], [expected.predicted]).as_csv()
    assert table.text.splitlines()[0] == again.splitlines()[0]
    assert len(table.text.splitlines()) == len(again.splitlines())


def test_events_go_on_after_the_last_that_was_seen(client) -> None:
    job = submitted(client, SMALL)
    whole = events_of(client, job["id"])
    seen = {"last-event-id": str(len(whole) - 1)}
    answer = client.get(f"/api/jobs/{job['id']}/events", headers=seen)
    assert answer.text.count("event: ") == 1
    assert "event: result" in answer.text


@pytest.mark.slow
def test_cancel_stops_the_process(client) -> None:
    job = submitted(client, LONG, page="cancel")
    before = children()
    with ThreadPoolExecutor(1) as pool:
        events = pool.submit(events_of, client, job["id"])
        wait_until(lambda: state_of(client, job["id"], "cancel") == "running")
        assert client.delete(f"/api/jobs/{job['id']}").json()["state"] == "cancelled"
        assert events.result(180.0)[-1][0] == "cancelled"
    # One of the processes that were there is gone for good.
    wait_until(lambda: before - children())
    wait_until(lambda: len(children()) >= len(before))
    assert events_of(client, submitted(client, SMALL, page="cancel")["id"])[-1][0] == "result"


def children() -> set[int]:
    """Processes that this one has spawned."""
    found = set()
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8") as stat:
                    name, _, rest = stat.read().rpartition(")")
            except OSError:
                continue
            state, parent = rest.split()[:2]
            if int(parent) == os.getpid() and state != "Z" and "python" in name:
                found.add(int(entry))
    return found


@pytest.mark.slow
def test_a_page_has_one_running_job_and_a_bounded_queue(client) -> None:
    first = submitted(client, LONG, page="queue")
    waiting = [submitted(client, SMALL, page="queue") for _ in range(8)]
    wait_until(lambda: state_of(client, first["id"], "queue") == "running")
    assert {state_of(client, job["id"], "queue") for job in waiting} == {"queued"}
    headers = {"x-giantstep-page": "queue"}
    more = client.post("/api/jobs", json={"kind": "learn", "setting": SMALL}, headers=headers)
    assert more.status_code == 429
    # Another page does not wait for this one.
    assert events_of(client, submitted(client, SMALL, page="other")["id"])[-1][0] == "result"
    for job in waiting[1:]:
        client.delete(f"/api/jobs/{job['id']}")
    client.delete(f"/api/jobs/{first['id']}")
    assert events_of(client, waiting[0]["id"])[-1][0] == "result"


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"d": 10**9, "n": "64d"}, "minutes"),
        ({"activation": "exp", "step_size": 1e6}, "run 0"),
        ({"inputs": "data(/etc/passwd)"}, "inputs"),
        ({"runs": 10**4}, "runs must be at most"),
    ],
)
def test_a_job_that_cannot_be_ends_with_a_sentence(client, fields, word) -> None:
    name, value = events_of(client, submitted(client, SMALL | fields, page="bad")["id"])[-1]
    assert name == "problem"
    assert word in value["message"]


def test_an_unknown_job_is_refused(client) -> None:
    assert client.get("/api/jobs/none/events").status_code == 404
    assert client.get("/api/jobs/none/files/table.csv").status_code == 404
    assert client.delete("/api/jobs/none").status_code == 404
