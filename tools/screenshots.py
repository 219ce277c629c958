"""Photograph the explorer for README and site: ``python tools/screenshots.py``.

A server of its own, headless Chromium, every pane with its runs finished; and the five panes side
by side as a phone in the dark shows them.  Needs giantstep[app], playwright and Chromium.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

DOCS = Path(__file__).parents[1] / "docs"

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
"""What the browser is called on the machines where it is found."""

PATIENCE = 300_000
"""Milliseconds that the runs of a pane may take on a machine that has other work."""

SETTLED = 1500
"""Milliseconds for plots to be drawn once their numbers are there."""

WIDTH, PHONE = 1300, (390, 1500)

GAP = 10
"""Pixels between the phones."""

PANES = ("target", "narrow", "wide", "phase", "claims")

RUN = {"narrow": "Run", "wide": "Run", "phase": "Measure the cells"}
"""The button of a pane whose runs land on the prediction."""


@contextmanager
def explorer() -> Iterator[str]:
    """The address of a server that lives as long as the block."""
    command = [sys.executable, "-m", "giantstep.cli.main", "explore", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"http://\S+", said)
        try:
            if found is None:
                sys.exit(f"the explorer did not start: {said}")
            yield found[0]
        finally:
            process.terminate()


def settle(page: Page) -> None:
    """Wait until nothing more is asked or computed, and plots are drawn."""
    page.wait_for_load_state("networkidle", timeout=PATIENCE)
    page.get_by_role("button", name="Stop", exact=True).wait_for(state="hidden")
    page.wait_for_timeout(SETTLED)


def shown(page: Page) -> Locator:
    """The pane that is shown."""
    return page.locator("[role=tabpanel]:not([hidden])")


def opened(browser: Browser, address: str, pane: str, **window: Any) -> Page:
    """A pane in a window of its own."""
    page = browser.new_context(**window).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{address}#pane={pane}")
    shown(page).wait_for()
    settle(page)
    return page


def keep(image: Image.Image, path: Path) -> None:
    """As a small file: pages have few colours."""
    image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path.relative_to(DOCS.parent), flush=True)


def photograph(page: Page, *, whole: bool) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot(full_page=whole)))


def on_a_desk(browser: Browser, address: str, pane: str) -> Image.Image:
    """A pane as wide as a desk has it, its runs finished."""
    page = opened(browser, address, pane, viewport={"width": WIDTH, "height": 900})
    if pane in RUN:
        shown(page).get_by_role("button", name=RUN[pane], exact=True).click()
        shown(page).get_by_text("Finished.", exact=True).wait_for()
        settle(page)
    return photograph(page, whole=True)


def on_a_phone(browser: Browser, address: str, pane: str) -> Image.Image:
    """A pane as a phone in the dark shows it, scrolled to its results, without runs."""
    size = {"width": PHONE[0], "height": PHONE[1]}
    page = opened(browser, address, pane, viewport=size, color_scheme="dark")
    if pane != "claims":
        result = shown(page).get_by_role("heading", name="What can be learned")
        if pane in RUN:
            result = shown(page).get_by_role("button", name=RUN[pane], exact=True)
        result.evaluate("(at) => at.closest('.card').scrollIntoView({block: 'start'})")
        settle(page)
    return photograph(page, whole=False)


def phones(browser: Browser, address: str) -> Image.Image:
    """All panes on phones side by side."""
    width = PHONE[0] + GAP
    strip = Image.new("RGB", (len(PANES) * width - GAP, PHONE[1]), "#3a414d")
    for place, pane in enumerate(PANES):
        strip.paste(on_a_phone(browser, address, pane), (place * width, 0))
    return strip


def main() -> None:
    """All panes, one after the other."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        sys.exit(f"a browser is needed, none of {', '.join(CHROMIUM)} is on PATH")
    with explorer() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for pane in PANES:
            keep(on_a_desk(browser, address, pane), DOCS / f"explorer_{pane}.png")
        keep(phones(browser, address), DOCS / "explorer_phone_dark.png")
        browser.close()


if __name__ == "__main__":
    main()
