"""Photograph the explorer for README and site: ``python tools/screenshots.py``.

A server of its own, headless Chromium, every pane with its runs finished; the five panes side by
side as a phone in the dark shows them; and an animation of one run, step by step, as a GIF.  Needs
giantstep[app], playwright and Chromium.
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


STAGE = {"width": 1000, "height": 760}
"""The window of the animation."""

ANIMATED = 800
"""Width in pixels of the animation in the README."""

PAUSES = {"theory": 1100, "running": 450, "finished": 1500}
"""Milliseconds a frame is shown: steps of theory, runs as they come in, steps of both."""

LARGEST = 1_500_000
"""Bytes that the animation may have: a page of the README is loaded with it."""


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


def steps_of(page: Page) -> Iterator[Image.Image]:
    """The plots of a pane at each of its steps, the slider of the steps moved by hand."""
    slider = shown(page).get_by_role("slider", name="Step that is shown")
    for step in range(int(slider.get_attribute("max") or 0) + 1):
        slider.evaluate(
            "(at, step) => { at.value = step; at.dispatchEvent(new Event('input')); }", step
        )
        page.wait_for_timeout(SETTLED // 3)
        yield photograph(page, whole=False)


def animation(browser: Browser, address: str) -> list[tuple[Image.Image, int]]:
    """Theory step by step, runs as they come in, then both step by step; with their pauses."""
    page = opened(browser, address, "narrow", viewport=STAGE)
    run = shown(page).get_by_role("button", name=RUN["narrow"], exact=True)
    run.evaluate("(at) => at.closest('.card').scrollIntoView({block: 'start'})")
    frames = [(image, PAUSES["theory"]) for image in steps_of(page)]
    run.click()
    finished = shown(page).get_by_text("Finished.", exact=True)
    for _ in range(8):  # of a fast run a few, of a slow one no more than a reader watches
        if finished.is_visible():
            break
        frames.append((photograph(page, whole=False), PAUSES["running"]))
        page.wait_for_timeout(PAUSES["running"])
    finished.wait_for()
    settle(page)
    return frames + [(image, PAUSES["finished"]) for image in steps_of(page)]


def keep_animation(frames: list[tuple[Image.Image, int]], path: Path) -> None:
    """As a GIF that repeats, in the colours of its last frame; too large a file is an error."""
    size = (ANIMATED, round(ANIMATED * STAGE["height"] / STAGE["width"]))
    images = [image.convert("RGB").resize(size, Image.Resampling.LANCZOS) for image, _ in frames]
    palette = images[-1].quantize(96, dither=Image.Dither.NONE)
    first, *others = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    pauses = [pause for _, pause in frames]
    first.save(path, save_all=True, append_images=others, duration=pauses, loop=0, optimize=True)
    if path.stat().st_size > LARGEST:
        sys.exit(f"{path.name} has {path.stat().st_size:,} bytes, more than {LARGEST:,}")
    print(path.relative_to(DOCS.parent), flush=True)


def main() -> None:
    """The animation, then all panes one after the other."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        sys.exit(f"a browser is needed, none of {', '.join(CHROMIUM)} is on PATH")
    with explorer() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        keep_animation(animation(browser, address), DOCS / "explorer.gif")
        for pane in PANES:
            keep(on_a_desk(browser, address, pane), DOCS / f"explorer_{pane}.png")
        keep(phones(browser, address), DOCS / "explorer_phone_dark.png")
        browser.close()


if __name__ == "__main__":
    main()
