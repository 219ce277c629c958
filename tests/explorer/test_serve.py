"""The command itself: it says where the page is, serves it, and ends without a trace."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

PATIENCE = 180.0
"""Seconds after which an answer is not coming, on a machine that has other work."""


@pytest.mark.slow
def test_the_command_serves_the_page_and_ends_on_interrupt() -> None:
    command = [sys.executable, "-m", "giantstep.cli.main", "explore", "--port", "0", "--no-browser"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"(http://127\.0\.0\.1:\d+/)(\?token=\S+)", line)
    assert found, line
    headers = {"x-giantstep-page": "test"}
    with httpx.Client(base_url=found[1], headers=headers, timeout=PATIENCE) as client:
        assert client.get("/").status_code == 403
        assert client.get(found[2]).status_code == 303
        assert "giantstep" in client.get("/").text
        long = {"target": "x1", "d": 20_000, "n": "64d", "p": 64, "runs": 64}
        job = client.post("/api/jobs", json={"kind": "learn", "setting": long}).json()
        # A stream that is open does not keep the server from ending.
        with client.stream("GET", f"/api/jobs/{job['id']}/events") as events:
            lines = events.iter_lines()
            assert next(lines) == "id: 1"
            workers = children(process.pid)
            assert workers
            process.send_signal(signal.SIGINT)
            last = [text for text in lines if text.startswith("event: ")][-1]
    assert last == "event: cancelled"
    assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == ""
    process.stderr.close()
    end = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < end, "workers are left behind"
        time.sleep(0.05)


def children(pid: int) -> list[int]:
    """Processes whose parent this is."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    return [int(child) for child in text.split()]
