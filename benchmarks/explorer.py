"""The explorer in headless Chromium: how soon it shows something, and what 200 runs leave behind.

Aims: the first plot within 1.5 s of loading the page, the analysis within 150 ms of the last
keystroke, a prediction within 300 ms of a slider's release (p <= 50), memory steady over 200 runs.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

REPEATS = 9

TARGETS = tuple(f"x1 + {k}*x1*x{k}" for k in range(2, 2 + REPEATS))
NEURONS = (10, 20, 30, 40, 50, 12, 22, 32, 42)

SEEN = """([selector, words]) => new Promise((ready) => {
  const look = () => {
    const found = document.querySelector(selector);
    const told = `${found?.getAttribute("aria-label")} ${found?.textContent}`;
    if (found && told.includes(words)) ready(performance.now());
    else requestAnimationFrame(look);
  };
  look();
})"""
"""Milliseconds since the page was asked for, once something is there that says these words."""

TYPED = """([label, text, event]) => {
  const field = [...document.querySelectorAll("[role=tabpanel]:not([hidden]) input")]
    .find((at) => (at.getAttribute("aria-label") ?? at.labels[0]?.textContent).startsWith(label));
  field.value = text;
  field.dispatchEvent(new Event(event));
  return performance.now();
}"""


@contextmanager
def explorer() -> Iterator[tuple[str, int]]:
    """Address and process of a server of its own."""
    command = [sys.executable, "-m", "giantstep.cli.main", "explore", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None
        try:
            yield found[0], process.pid
        finally:
            process.terminate()


def megabytes(process: int) -> float:
    """Memory of a process and of those it has spawned."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    total = 0
    for pid in (process, *map(int, listed.split())):
        held = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
        total += int(held[1]) if held else 0
    return total / 1024


def heap(page: Any) -> float:
    """Megabytes that the page holds once its garbage is collected."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used / 2**20


def loads(browser: Any, address: str, state: str, selector: str) -> list[float]:
    """Times to the first plot, each in a window that has nothing stored."""
    times = []
    for _ in range(REPEATS):
        page = browser.new_page()
        page.goto(f"{address}#{state}", wait_until="commit")
        times.append(page.evaluate(SEEN, [selector, ""]))
        page.close()
    return times


def typing(page: Any) -> list[float]:
    """Times from the last keystroke to the staircase."""
    times = []
    for k, text in enumerate(TARGETS, start=2):
        begin = page.evaluate(TYPED, ["Target", text, "input"])
        times.append(page.evaluate(SEEN, [".stairs", f"adds x{k}"]) - begin)
        page.wait_for_timeout(300)
    return times


def sliding(page: Any) -> list[float]:
    """Times from the release of a slider to the new prediction."""
    times = []
    for p in NEURONS:
        begin = page.evaluate(TYPED, ["Neurons, p: type", str(p), "change"])
        times.append(page.evaluate(SEEN, [".narrow .sizes", f"p = {p},"]) - begin)
        page.get_by_text("Theory of narrow networks.", exact=True).wait_for()
    return times


def told(name: str, times: list[float], aim: float) -> None:
    shown = f"{median(times):7.0f} ms, worst {max(times):7.0f} ms (aim {aim:.0f} ms)"
    print(f"explorer  {name:44s} {shown}", flush=True)


def runs(page: Any, process: int, count: int) -> None:
    """Press Run again and again; memory of the processes and of the page."""
    panel = page.locator(".narrow")
    for number in range(1, count + 1):
        panel.get_by_role("button", name="Run", exact=True).click()
        panel.get_by_text("Finished.").wait_for()
        if number in (1, 10, count) or number % 50 == 0:
            held = f"{megabytes(process):7.0f} MiB of processes, {heap(page):6.1f} MiB of the page"
            print(f"explorer  memory after {number:4d} runs {'':22s} {held}", flush=True)


def main() -> None:
    """Print the four."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    count = parser.parse_args().runs
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with explorer() as (address, process), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        told("first staircase", loads(browser, address, "", ".stairs"), 1500)
        told("first plot", loads(browser, address, "pane=narrow", ".plot .main-svg"), 1500)
        page = browser.new_page()
        page.set_default_timeout(300_000)
        page.goto(address)
        page.locator(".stairs").first.wait_for()
        told("analysis after the last keystroke", typing(page), 150)
        page.goto("about:blank")
        page.goto(f"{address}#pane=narrow&narrow.runs=2&narrow.d=500")
        page.get_by_text("Theory of narrow networks.", exact=True).wait_for()
        told("prediction after a slider's release", sliding(page), 300)
        runs(page, process, count)
        browser.close()


if __name__ == "__main__":
    main()
