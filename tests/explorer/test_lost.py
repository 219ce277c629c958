"""What the page says when nothing will come: the server is gone, or the runs would take hours."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

LONG = {
    "pane": "narrow",
    "narrow.d": 20_000,
    "narrow.ratio": 64,
    "narrow.p": 64,
    "narrow.runs": 64,
}
"""Minutes of work."""


def run_button(page: Any) -> Any:
    return page.locator("[role=tabpanel]:not([hidden]) button.main")


@pytest.fixture
def started() -> Iterator[tuple[str, subprocess.Popen]]:
    """The command itself: the address that it prints, and its process."""
    command = [sys.executable, "-m", "giantstep.cli.main", "explore", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        yield re.search(r"http://\S+", process.stderr.readline())[0], process
        process.kill()


def test_a_killed_server_is_told_within_two_seconds(browser, started) -> None:
    address, process = started
    page = browser().new_context().new_page()
    page.goto(f"{address}#{urlencode(LONG)}")
    assert "token" not in page.url
    run_button(page).click()
    page.locator(".told", has_text=re.compile("running|%")).first.wait_for(timeout=60_000)
    process.kill()
    begun = time.monotonic()
    page.get_by_text("the server does not answer").first.wait_for(timeout=10_000)
    assert time.monotonic() - begun < 2.0
    assert page.locator("progress:visible").count() == 0
    assert "%" not in "".join(page.locator(".told").all_text_contents())
    page.context.close()


@pytest.mark.parametrize(
    "state",
    [LONG | {"narrow.runs": 200}, {"pane": "wide", "wide.d": 1000, "wide.runs": 200}],
)
def test_runs_of_hours_are_not_offered(visit, state: dict) -> None:
    page = visit().open(urlencode(state))
    told = page.locator(".problem.slow", has_text="These runs would take about")
    told.wait_for(timeout=20_000)
    assert run_button(page).is_disabled()
    page.get_by_label("Runs: type a value").fill("1")
    page.keyboard.press("Enter")
    told.wait_for(state="hidden", timeout=20_000)
    assert run_button(page).is_enabled()
