"""The explorer in headless Chromium: how soon it shows something, and what 200 runs leave behind.

Aims: the first plots within 1.5 s of loading the page, the analysis within 150 ms of the last
keystroke, a prediction within 300 ms of a slider's release (p <= 50), memory steady over 200 runs.

A page is timed until the frame after it says in its last line that it has drawn what was asked for.
It is loaded with nobody attached: a debugger doubles the time that Plotly takes to load.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

REPEATS = 7

PATIENCE = 60.0
"""Seconds after which what is waited for is not coming: the benchmark fails."""

SETTLE = 3.0
"""Seconds of a new browser before a page is opened, and of a page before it is looked at."""

FLAGS = ("--headless=new", "--no-sandbox", "--no-first-run", "--remote-debugging-port=0")

POLYNOMIALS = tuple(f"x1 + {k}*x1*x{k}" for k in range(2, 2 + REPEATS))
TANHS = (
    "tanh(x1 + x2)",
    "tanh(x1*x2)",
    "tanh(x1)*x2 + x3",
    "tanh(2*x1 + x2) + x1*x2",
    "x1 + tanh(x2 + x3)",
    "tanh(x1)*tanh(x2)",
    "tanh(x1 + He3(x2))",
)

SAID = """([words, after]) => performance.getEntriesByName("said")
  .find((mark) => mark.startTime > after && mark.detail.startsWith(words))?.startTime"""
"""Milliseconds since the page was asked for when it first said these words after some time."""

SEEN = f"""(asked) => new Promise((ready) => {{
  const said = {SAID};
  const look = (now) => (said(asked) ? ready(now) : requestAnimationFrame(look));
  requestAnimationFrame(look);
}})"""
"""The same, at the frame in which it is seen."""

PRESSED = """() => window.addEventListener("keydown", (event) => {
  window.pressed = event.timeStamp;
}, { capture: true })"""


FOLLOWED = """() => {
  window.drawn = [];
  const plot = document.querySelector('.narrow .plot[aria-label^="Neurons"]');
  plot.removeAllListeners("plotly_afterplot");
  plot.on("plotly_afterplot", () => window.drawn.push(performance.now()));
  window.addEventListener("pointerup", ({timeStamp}) => {
    window.up = timeStamp;
    plot.removeAllListeners("plotly_afterplot");
  }, { capture: true, once: true });
}"""
"""When the first plot is drawn while a slider is dragged, and when that is released."""


@contextmanager
def explorer() -> Iterator[tuple[str, int]]:
    """Address and process of a server of its own, once it says that it answers."""
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


@contextmanager
def alone(chromium: str) -> Iterator[str]:
    """Where a browser that has nothing stored can be asked for a page, with nobody attached."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [chromium, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            place = Path(folder) / "DevToolsActivePort"
            waited_for(lambda: place.exists() and place.stat().st_size > 0, "Chromium")
            port = place.read_text(encoding="ascii").split()[0]
            time.sleep(SETTLE)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def waited_for(there: Callable[[], object], words: str) -> None:
    """Wait until something is true; ``words`` say what is missing if it never is."""
    end = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < end, f"not seen: {words}"
        time.sleep(0.1)


def loads(playwright: Any, chromium: str, address: str, words: str) -> list[float]:
    """Times from asking for a page until it has said these words, each in a new browser."""
    times = []
    for _ in range(REPEATS):
        with alone(chromium) as debugger:
            asked = urllib.request.Request(f"{debugger}/json/new?{quote(address)}", method="PUT")
            urllib.request.urlopen(asked, timeout=PATIENCE).close()
            time.sleep(SETTLE)
            browser = playwright.chromium.connect_over_cdp(debugger)
            [page] = [p for p in browser.contexts[0].pages if p.url.startswith("http")]
            waited_for(partial(page.evaluate, SAID, [words, 0]), words)
            times.append(page.evaluate(SAID, [words, 0]))
            browser.close()
    return times


def answered(page: Any, key: str, words: str) -> float:
    """Time from a key that is pressed to the frame that shows what it has asked for."""
    page.keyboard.press(key)
    return page.evaluate(f"async () => (await ({SEEN})(['{words}', pressed])) - pressed")


def typing(page: Any, targets: tuple[str, ...]) -> list[float]:
    """Times from the last keystroke to the analysis."""
    times = []
    line = page.get_by_label("Target f(x)")
    for text in targets:
        line.fill(text[:-1])
        page.wait_for_timeout(500)
        line.press("End")
        times.append(answered(page, text[-1], "Analysed in"))
    return times


def sliding(page: Any, p: int) -> list[float]:
    """Times from the last move of a slider to the new prediction, of about so many neurons."""
    times = []
    page.get_by_label("Neurons, p: type").fill(str(p))
    page.keyboard.press("Enter")
    page.get_by_label("Neurons p").focus()
    for _ in range(REPEATS):
        page.wait_for_timeout(500)  # by then a sign says that the draft is being refined
        page.locator(".narrow .waiting").wait_for(state="hidden")
        times.append(answered(page, "ArrowLeft", "Predicted in"))
    return times


def examples(page: Any, address: str) -> list[float]:
    """Times from a slider's move to the new prediction, one for every example of the menu."""
    times = []
    for number in range(page.locator("#example option").count() - 1):
        page.goto("about:blank")
        page.goto(f"{address}#pane=narrow")
        page.evaluate(PRESSED)
        page.locator("#example").select_option(str(number))
        page.get_by_label("Inputs d").focus()
        page.wait_for_timeout(500)
        page.locator(".narrow .waiting").wait_for(state="hidden")
        times.append(answered(page, "ArrowLeft", "Predicted in"))
    return times


def dragging(page: Any) -> tuple[list[float], list[float]]:
    """Times between two drawings while a slider is dragged, and from its release to the drawing."""
    following, released = [], []
    slider = page.get_by_label("Inputs d")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    middle = box["x"] + box["width"] / 2  # d = 10^5 and larger: theory has an answer
    for number in range(REPEATS):
        page.locator(".narrow .waiting").wait_for(state="hidden")
        page.evaluate(FOLLOWED)
        at = box["x"] + 8 + float(slider.input_value()) / 1000 * (box["width"] - 16)
        page.mouse.move(at, box["y"] + box["height"] / 2)
        page.mouse.down()
        for k in range(40):
            page.mouse.move(middle + 2 * k + number, box["y"] + box["height"] / 2)
            page.wait_for_timeout(50)
        page.mouse.up()
        drawn, up = page.evaluate(
            f"async () => [window.drawn, (await ({SEEN})(['Predicted in', window.up])) - window.up]"
        )
        following += [after - before for before, after in pairwise(drawn)]
        released.append(up)
    return following, released


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
    assert chromium is not None, "no Chromium to look at the page with"
    with explorer() as (address, process), sync_playwright() as playwright:
        target, narrow = f"{address}#pane=target", f"{address}#narrow.runs=2"
        told("first staircase", loads(playwright, chromium, target, "Analysed in"), 1500)
        told("first plots", loads(playwright, chromium, address, "Predicted in"), 1500)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(target)
        page.evaluate(PRESSED)
        told("analysis after a keystroke: polynomials", typing(page, POLYNOMIALS), 150)
        told("analysis after a keystroke: tanh", typing(page, TANHS), 150)
        for d in (1000, 500):
            page.goto("about:blank")
            page.goto(f"{narrow}&narrow.d={d}")
            page.evaluate(PRESSED)
            told(f"prediction after a slider, d = {d}, p < 50", sliding(page, 50), 300)
        page.goto("about:blank")
        page.goto(address)
        page.locator("#example").wait_for()
        told("prediction after a slider, all examples", examples(page, address), 300)
        page.goto("about:blank")
        page.goto(address)
        page.locator(".narrow .plot:visible .main-svg").first.wait_for()
        following, released = dragging(page)
        told("dragged slider: from drawing to drawing", following, 300)
        told("dragged slider: from release to prediction", released, 300)
        page.goto("about:blank")
        page.goto(narrow)
        runs(page, process, count)
        browser.close()


if __name__ == "__main__":
    main()
