"""Calls of one page: the newest counts, one that nobody waits for is given up."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from giantstep.explorer.guard import Access

PATIENCE = 180.0
"""Seconds after which an answer is not coming, on a machine that has other work."""

SLOW = {"setting": {"target": "x1 + x2 + x1^2 - x2^2", "d": 5000, "p": 100, "batches": "reused"}}
"""Many seconds of theory, which the tests do not wait for."""

QUICK = {"setting": {"target": "x1", "d": 100, "p": 2, "readout_n": 0, "test_n": 0}, "draft": True}


def soon(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_a_newer_call_takes_the_place_of_an_older_one(client, calls) -> None:
    with ThreadPoolExecutor(1) as threads:
        older = threads.submit(client.post, "/api/predict", json=SLOW)
        soon(lambda: ("test", "predict") in calls())
        newer = client.post("/api/predict", json=QUICK)
        assert newer.status_code == 200
        assert older.result(PATIENCE).status_code == 409


def test_another_page_and_another_task_do_not_disturb_a_call(client) -> None:
    slow = {"target": "tanh(x1 + He3(x2))", "activation": "relu"}
    with ThreadPoolExecutor(1) as threads:
        mine = threads.submit(client.post, "/api/analyze", json=slow)
        other = {"x-giantstep-page": "another"}
        fast = {"target": "x1", "activation": "relu"}
        assert client.post("/api/analyze", json=fast, headers=other).status_code == 200
        assert client.get("/api/vocabulary").status_code == 200
        assert mine.result(PATIENCE).status_code == 200


def test_a_call_can_be_given_up(client, calls) -> None:
    with ThreadPoolExecutor(1) as threads:
        given_up = threads.submit(client.post, "/api/predict", json=SLOW)
        soon(lambda: ("test", "predict") in calls())
        assert client.delete("/api/predict").status_code == 204
        assert given_up.result(PATIENCE).status_code == 409
    assert client.delete("/api/predict").status_code == 204  # nothing is under way
    assert client.delete("/api/learn").status_code == 404


@pytest.mark.slow
def test_a_storm_of_calls_ends_with_the_answer_to_the_last(client, calls) -> None:
    """As when somebody types fast: more calls than processes, all but the last given up."""
    targets = [f"x1 + {k}*x1*x2" for k in range(1, 13)]

    def asked(target: str) -> int:
        body = {"target": target, "activation": "relu"}
        return client.post("/api/analyze", json=body).status_code

    with ThreadPoolExecutor(len(targets)) as threads:
        answers = []
        for target in targets:
            before = calls().get(("test", "analyze"))
            answers.append(threads.submit(asked, target))
            # One after the other: it is under way, or answered already.
            soon(
                lambda before=before: (
                    answers[-1].done() or calls().get(("test", "analyze")) not in (None, before)
                )
            )
        codes = [answer.result(PATIENCE) for answer in answers]
    assert codes[-1] == 200
    assert set(codes) <= {200, 409}


@pytest.mark.slow
def test_a_call_that_takes_too_long_is_a_sentence_unless_it_is_patient(serving) -> None:
    asked = {"target": "tanh(x1 + He3(x2))", "activation": "relu"}
    headers = {"x-giantstep-page": "test"}
    with (
        serving(Access("127.0.0.1", "secret"), unasked=0.001) as address,
        httpx.Client(base_url=address, headers=headers, timeout=PATIENCE) as client,
    ):
        client.get("/?token=secret")
        slow = client.post("/api/analyze", json=asked | {"patient": False})
        assert slow.status_code == 504
        assert slow.json()["message"] == "This takes longer than 0 s and was stopped"
        for patient in ({"patient": True}, {}):
            found = client.post("/api/analyze", json=asked | patient)
            assert found.status_code == 200
            assert found.json()["leap_index"] == 1
