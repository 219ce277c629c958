"""What an attacker or a clumsy user may send: a sentence comes back, nothing hangs or leaks."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from giantstep.errors import InputError
from giantstep.explorer.tasks.stored_sweeps import opened

PATIENCE = 180.0
"""Seconds after which an answer is not coming, on a machine that has other work."""

STAIRCASE = "x1 + x2 + x1^2 - x2^2"
LONG = {"target": STAIRCASE, "d": 20_000, "n": "64d", "p": 64, "runs": 64}
"""Minutes of work: none of it is waited for."""

HOURS = {"target": "x1 + x1*x2", "d": 10**6, "p": 2000, "steps": 4}
"""Theory that takes far longer than anybody waits."""


MAP = {"setting": {"target": "x1"}, "axes": [{"field": "n", "values": "d, 2d"}]}


def workers() -> set[int]:
    """Processes of the server that are there to compute."""
    found = set()
    for process in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):
            if "giantstep.simulation.worker" in process.cmdline():  # one that has ended has none
                found.add(process.pid)
    return found


def soon(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def submit(client: httpx.Client, page: str, setting: dict) -> httpx.Response:
    body = {"kind": "learn", "setting": setting}
    return client.post("/api/jobs", json=body, headers={"x-giantstep-page": page})


def raw(address: str, content: bytes) -> bytes:
    """The whole answer to some bytes, whatever they are."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port), PATIENCE) as line:
        line.sendall(content)
        return b"".join(iter(lambda: line.recv(4096), b""))


def test_a_name_that_was_led_here_is_refused(client) -> None:
    """DNS rebinding: the foreign page is its own origin, at a name that leads to loopback."""
    for name in ("evil.example", "localhost.evil.example", "127.0.0.1.nip.example", "2130706433"):
        host = f"{name}:{client.base_url.port}"
        own = {"host": host, "origin": f"http://{host}", "sec-fetch-site": "same-origin"}
        for path in ("/", "/api/vocabulary", "/api/jobs"):
            answer = client.get(path, headers=own)
            assert answer.status_code == 421
            assert answer.text == "this server answers to its own address only"
        assert client.post("/api/jobs", json={}, headers=own).status_code == 421


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "", "//", "javascript:alert(1)"])
def test_an_origin_that_is_no_address_is_foreign(client, origin: str) -> None:
    answer = client.get("/", headers={"origin": origin})
    assert answer.status_code == 403
    assert answer.text == "this server answers its own pages only"


def test_two_hosts_are_one_too_many(address) -> None:
    own = urlsplit(address).netloc.encode()
    answer = raw(address, b"GET / HTTP/1.1\r\nHost: %s\r\nHost: evil.example\r\n\r\n" % own)
    assert answer.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("expression", [
    "9**9**9", "9^9^9^9", "x1^1000000", "(1e300*x1)^32", "__import__('os').system('id')", "x1.real",
    "lambda: x1", "(" * 3000, "(" * 2900 + "x1" + ")" * 2900, "-" * 5900 + "x1", "tanh(" * 900,
    "He999999999(x1)", "x999999999999", "x1\x00", "x\uff11", "x1/0", "exp(exp(exp(x1)))", "nan", "",
    "*".join(f"x{k}" for k in range(1, 65)), "(" + "+".join(f"x{k}" for k in range(1, 65)) + ")^32",
    "x1+" * 1999 + "x1+", "x1;x2", "x1\nx2", "<script>alert(1)</script>", "%s%n{0}",
])  # fmt: skip
def test_a_hostile_expression_is_a_sentence(client, expression: str) -> None:
    body = {"target": expression, "activation": "relu"}
    answer = client.post("/api/analyze", json=body)
    assert answer.status_code == 422
    assert answer.json()["field"] == "target"
    swapped = client.post("/api/analyze", json={"target": "x1", "activation": expression or "1"})
    assert swapped.status_code == 422
    assert swapped.json()["field"] == "activation"


@pytest.mark.parametrize("fields", [
    {"d": "9" * 5000}, {"d": "9**9**9"}, {"d": 10**400}, {"d": True}, {"d": [1]}, {"d": 0},
    {"n": "d^50"}, {"n": "(" * 5000}, {"p": 10**9}, {"p": "d"}, {"steps": 10**6}, {"runs": 10**9},
    {"runs": 0}, {"seed": -1}, {"seed": 10**30}, {"step_size": [1] * 1500}, {"step_size": 1e308},
    {"noise": 1e308}, {"bias": "inf"}, {"test_n": 10**18}, {"readout_n": "d^9"},
    {"target": {"a": 1}},
    {"target": ["x1"]}, {"batches": ["fresh"]}, {"inputs": ["data(/etc/passwd)"]},
    {"inputs": " data (/etc/passwd)"}, {"__class__": 1}, {"device": "gpu:0"}, {"start_rows": "/"},
])  # fmt: skip
def test_a_size_beyond_all_bounds_is_a_sentence(client, fields: dict) -> None:
    body = {"setting": {"target": "x1", "d": 10_000, "steps": 1} | fields}
    for path in ("/api/frame", "/api/predict", "/api/export/toml"):
        answer = client.post(path, json=body)
        assert answer.status_code == 422, (path, answer.text)
        assert next(iter(fields)) in answer.json()["message"]
        assert "root:" not in answer.text


@pytest.mark.parametrize(("path", "body", "word"), [
    *((path, {"setting": setting}, "setting must be a JSON object")
      for path in ("frame", "predict", "wide", "phase", "export/toml", "export/python")
      for setting in ([], "x1", None, 5)),
    ("analyze", {"target": 5, "activation": ["relu"]}, "must be a text"),
    ("phase", {"axes": 5}, "axes must be a JSON array"),
    ("phase", {"axes": ["n"]}, "axes must"),
    ("phase", {"axes": [{"field": ["n"], "values": {}}]}, "n"),
    ("phase", MAP | {"first": "x"}, "first must"),
    ("phase", MAP | {"first": -1}, "first must"),
    ("claim", {"id": ["x"]}, "claim must"),
    ("export/claim-python", {"id": "one-step-leap-2", "seed": "9" * 5000}, "seed must"),
    ("export/python", {"command": ["learn"], "setting": {"target": "x1"}}, "command must"),
    ("jobs", {"kind": ["learn"]}, "kind must"),
    ("jobs", {"kind": "learn", "setting": []}, "setting must be a JSON object"),
])  # fmt: skip
def test_a_request_of_another_shape_is_a_sentence(client, path, body: dict, word: str) -> None:
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 422, answer.text
    assert word in answer.json()["message"]


@pytest.mark.parametrize("name", ["\0", "a" * 5000, "../..", "/etc", "~", "out", "..\\..", ""])
def test_no_name_leaves_the_folder(tmp_path, name: str) -> None:
    """Straight to the task: a server of its own would tell it the same."""
    folder, outside = tmp_path / "in", tmp_path / "sweep.json"
    folder.mkdir()
    outside.write_text("{}", encoding="utf-8")
    (folder / "out").symlink_to(tmp_path)
    with pytest.raises(InputError, match="sweep must be one of the folder"):
        opened({"folder": str(folder), "name": name}, lambda *_: None)


def test_lines_of_an_analysis_need_no_activation(client) -> None:
    body = {"command": "analyze", "setting": {"target": "x1"}}
    assert 'analyze("x1", "relu")' in client.post("/api/export/python", json=body).json()["text"]


def test_a_body_without_end_is_refused_before_it_ends(address, ticket) -> None:
    host = urlsplit(address).netloc
    head = (
        f"POST /api/analyze HTTP/1.1\r\nHost: {host}\r\nx-giantstep-page: a\r\n"
        f"Cookie: {ticket['cookie']}\r\n"
        "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    chunk = b"%x\r\n" % 70_000 + b" " * 70_000 + b"\r\n"
    answer = raw(address, head.encode() + chunk)
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"at most 65536 bytes" in answer


@pytest.fixture(scope="module")
def ended(address: str, ticket: dict[str, str]) -> str:
    """A job that was cancelled: one for all names, since every cancelling costs a process."""
    with httpx.Client(base_url=address, headers=ticket, timeout=PATIENCE) as client:
        job = submit(client, "files", {"target": "x1", "d": 100, "p": 2, "runs": 1}).json()["id"]
        client.delete(f"/api/jobs/{job}", headers={"x-giantstep-page": "files"})
    return job


@pytest.mark.parametrize("name", [
    "../server.py", "..%2fserver.py", "%2e%2e/%2e%2e/errors.py", "....//server.py", "/etc/passwd",
    "%2fetc%2fpasswd", "..%5cserver.py", "main.js%00.css", "~root", "C:%5cWindows", "panes", ".",
])  # fmt: skip
def test_no_name_reaches_another_file(address: str, ticket, ended: str, name: str) -> None:
    host = f"{urlsplit(address).netloc}\r\nCookie: {ticket['cookie']}"
    for path in (f"/static/{name}", f"/api/jobs/{ended}/files/{name}", f"/api/jobs/{name}/events"):
        request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        answer = raw(address, request.encode())
        assert re.match(rb"HTTP/1.1 40[04] ", answer), (path, answer[:80])
        assert b"import" not in answer
        assert b"root:" not in answer


@pytest.mark.slow
def test_lines_left_open_keep_nobody_waiting(client, address, ticket) -> None:
    """Requests that never end, and streams that nobody reads."""
    job = submit(client, "open", LONG).json()["id"]
    parts, lines = urlsplit(address), []
    threads = threading.active_count()
    for k in range(60):
        line = socket.create_connection((parts.hostname, parts.port), PATIENCE)
        path = f"GET /api/jobs/{job}/events" if k % 2 else "POST /api/analyze"
        head = f"Host: {parts.netloc}\r\nCookie: {ticket['cookie']}\r\nContent-Length: 9\r\n"
        line.sendall(f"{path} HTTP/1.1\r\n{head}".encode())
        if k % 2:
            line.sendall(b"\r\n123456789")
        lines.append(line)
    body = {"target": "x1 + x2", "activation": "relu"}
    assert client.post("/api/analyze", json=body).status_code == 200
    assert client.delete(f"/api/jobs/{job}").json()["state"] == "cancelled"
    for line in lines:
        line.close()
    assert client.get("/api/vocabulary").status_code == 200
    assert threading.active_count() <= threads + 8  # of workers, not of lines


def test_a_job_is_cancelled_once(client) -> None:
    job = submit(client, "twice", LONG).json()["id"]
    for _ in range(3):
        answer = client.delete(f"/api/jobs/{job}")
        assert answer.status_code == 200
        assert answer.json()["state"] == "cancelled"
    assert client.get(f"/api/jobs/{job}/events").text.count("event: cancelled") == 1
    for unknown in ("none", "a" * 5000, "%00", "..."):
        assert client.delete(f"/api/jobs/{unknown}").status_code == 404
        assert client.get(f"/api/jobs/{unknown}/events").status_code == 404


@pytest.mark.slow
def test_many_pages_share_two_places_and_a_bounded_queue(client) -> None:
    with ThreadPoolExecutor(8) as threads:
        names = [f"page-{k % 50}" for k in range(150)]
        answers = list(threads.map(lambda name: (name, submit(client, name, LONG)), names))
    accepted = [(name, answer.json()["id"]) for name, answer in answers if answer.is_success]
    refusals = {
        answer.status_code: answer.json()["message"] for _, answer in answers if answer.is_error
    }
    assert refusals == {429: "too many jobs are waiting: cancel one, or wait"}
    states = [
        job["state"]
        for name in set(names)
        for job in client.get("/api/jobs", headers={"x-giantstep-page": name}).json()
    ]
    assert states.count("running") <= 2
    for _, job in reversed(accepted):  # those that wait first: none of them begins
        client.delete(f"/api/jobs/{job}")
    body = {"target": "x1 + x2", "activation": "relu"}
    assert client.post("/api/analyze", json=body).status_code == 200
    soon(lambda: len(workers()) <= 6)  # three that wait, and as many still ending


def test_a_call_that_nobody_waits_for_is_ended(address, ticket, calls, computing) -> None:
    """The window is closed while theory is computed: its process does not go on for hours."""
    parts, body = urlsplit(address), json.dumps({"setting": HOURS})
    head = f"POST /api/predict HTTP/1.1\r\nHost: {parts.netloc}\r\nx-giantstep-page: left\r\n"
    head += f"Cookie: {ticket['cookie']}\r\n"
    with socket.create_connection((parts.hostname, parts.port), PATIENCE) as line:
        line.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        # A call that has no process yet ends without one.
        soon(lambda: ("left", "predict") in calls() and computing())
        before = workers()
    soon(lambda: ("left", "predict") not in calls())
    soon(lambda: before - workers())


@pytest.mark.slow
def test_a_process_that_is_killed_is_told_and_replaced(client) -> None:
    soon(lambda: len(workers()) >= 3)
    job = submit(client, "killed", LONG).json()["id"]
    with client.stream("GET", f"/api/jobs/{job}/events") as answer:
        lines = answer.iter_lines()
        assert any(line == "event: frame" for line in lines)
        for worker in workers():
            os.kill(worker, signal.SIGKILL)
        rest = "\n".join(lines)
    assert "event: died" in rest
    assert "the computation was stopped" in rest
    # One of the others may be asked before it is known that it is gone.
    body = {"target": "x1 + x2", "activation": "relu"}
    soon(lambda: client.post("/api/analyze", json=body).status_code == 200)


@pytest.mark.slow
def test_a_server_for_others_asks_for_its_token_and_ends_at_once() -> None:
    """``giantstep explore --host 0.0.0.0``, with a job under way and its stream open."""
    command = [sys.executable, "-m", "giantstep.cli.main", "explore", "--host", "0.0.0.0"]
    started = subprocess.Popen(
        [*command, "--port", "0", "--no-browser"], stderr=subprocess.PIPE, text=True
    )
    with started:
        found = re.search(r"(http://\S+:\d+)/\?token=(\S+)", started.stderr.readline())
        address, token = found[1], found[2]
        assert urlsplit(address).hostname not in ("127.0.0.1", "0.0.0.0", "localhost")
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            client.headers["x-giantstep-page"] = "test"
            for path in (
                "/",
                "/?token=",
                f"/?token={token[:-1]}",
                f"/api/vocabulary?token={token}",
            ):
                refusal = client.get(path)
                assert refusal.status_code == 403
                assert refusal.text == "open the address with the token that the server printed"
            assert client.post("/api/jobs", json={"kind": "learn"}).status_code == 403
            assert client.get(f"/?token={token}").status_code == 303
            job = submit(client, "test", LONG).json()["id"]
            with client.stream("GET", f"/api/jobs/{job}/events") as answer:
                assert any(line == "event: frame" for line in answer.iter_lines())
                spawned = children_of(started.pid)
                started.send_signal(signal.SIGINT)
                assert started.wait(PATIENCE) in (0, 130, -signal.SIGINT)
        assert spawned
        soon(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in spawned))


def children_of(parent: int) -> list[int]:
    with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as listed:
        return [int(pid) for pid in listed.read().split()]
