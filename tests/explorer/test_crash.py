"""A tab or a browser that dies is started anew once; the report says so, and a second death fails.

The tests of a file of their own are run by a pytest of their own, with the fixtures of this folder.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

DYING = """
from contextlib import suppress

import psutil
import pytest
from playwright.sync_api import Error

attempts = []

def end_tab(page):
    with suppress(Error):  # that the page does not load
        page.goto("chrome://crash")
    wait(page)

def end_browser(page):
    for process in psutil.Process().children(recursive=True):
        if process.name().startswith("chrom"):
            with suppress(psutil.NoSuchProcess):
                process.kill()
    wait(page)

def wait(page):
    for _ in range(400):  # until Playwright says that it is gone
        page.wait_for_timeout(50)

@pytest.mark.parametrize("end", [end_tab, end_browser])
def test_once(visit, end):
    page = visit().open()
    attempts.append(end)
    if attempts.count(end) == 1:
        end(page)
    assert page.get_by_label("Target f(x)").count() == 1

def test_always(visit):
    page = visit().open()
    attempts.append("always")
    end_tab(page)

def test_without_crash(visit):
    attempts.append("without crash")
    assert visit().open().title() == "another page"

def test_attempts():
    counts = [attempts.count(x) for x in (end_tab, end_browser, "always", "without crash")]
    assert counts == [2, 2, 2, 1]
"""


def test_a_browser_that_dies_is_started_anew_once(tmp_path: Path, browser: object) -> None:
    (tmp_path / "test_dying.py").write_text(DYING, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "tests.explorer.conftest"]
    command += ["--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    outcomes = {
        name: outcome
        for outcome, name in re.findall(
            r"^(PASSED|FAILED|ERROR) \S*test_dying\.py::(\S+)", done.stdout, re.MULTILINE
        )
    }
    assert outcomes == {
        "test_once[end_tab]": "PASSED",
        "test_once[end_browser]": "PASSED",
        "test_always": "FAILED",
        "test_without_crash": "FAILED",
        "test_attempts": "PASSED",
    }, done.stdout
    assert "PytestWarning: the browser died, and the test began anew" in done.stdout
    assert "2 failed, 3 passed, 3 warnings" in done.stdout
