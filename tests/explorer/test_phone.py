"""The page on a phone, and that nothing on it jumps while theory and runs come in."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

PANES = {
    "narrow": {"narrow.d": 1000, "narrow.p": 4, "narrow.runs": 3},
    "wide": {"wide.d": 120, "wide.runs": 2},
    "phase": {"phase.xs": "d, d^2", "phase.ys": "50, 100", "phase.p": 2, "phase.runs": 2},
}


def shown(page: Any) -> Any:
    return page.locator("[role=tabpanel]:not([hidden])")


@pytest.mark.parametrize("size", [(1280, 900), (360, 740)])
@pytest.mark.parametrize("pane", list(PANES))
def test_nothing_jumps_while_answers_come_in(
    visit, shifts, pane: str, size: tuple[int, int]
) -> None:
    seen = visit(*size)
    seen.page.add_init_script(shifts)
    page = seen.open(urlencode({"pane": pane} | PANES[pane]))
    shown(page).locator("button.main").click()
    shown(page).get_by_text("Finished.").wait_for()
    seen.settle()
    found = page.evaluate("window.shifts")
    assert sum(value for value, _ in found) < 0.05, found


@pytest.mark.parametrize("size", [(1280, 900), (360, 740)])
def test_nothing_jumps_while_two_settings_are_drawn_and_run(
    visit, shifts, size: tuple[int, int]
) -> None:
    """From the choice of a second setting to the end of the runs of both."""
    seen = visit(*size)
    seen.page.add_init_script(shifts)
    page = seen.open(
        urlencode(PANES["narrow"] | {"side.field": "activation", "side.value": "tanh"})
    )
    shown(page).locator("button.main").click()
    shown(page).locator(".told", has_text="Finished.").wait_for()
    seen.settle()
    found = page.evaluate("window.shifts")
    assert sum(value for value, _ in found) < 0.05, found


def test_a_jump_is_seen(visit, shifts) -> None:
    """The watch itself."""
    seen = visit()
    seen.page.add_init_script(shifts)
    page = seen.open("pane=narrow")
    before = len(page.evaluate("window.shifts"))
    page.evaluate(
        "document.querySelector('main').before(Object.assign(document.createElement('p'),"
        " {textContent: 'here', className: 'card'}))"
    )
    page.wait_for_function("(before) => window.shifts.length > before", arg=before, timeout=9000)


@pytest.mark.parametrize("pane", list(PANES))
def test_on_a_phone_run_and_plots_come_first_and_controls_in_a_sheet(visit, pane: str) -> None:
    seen = visit(360, 740)
    page = seen.open(urlencode({"pane": pane} | PANES[pane]))
    page.set_default_timeout(20_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    run, plot = shown(page).locator("button.main"), shown(page).locator(".plot:visible").first
    assert run.bounding_box()["y"] + run.bounding_box()["height"] < 740
    assert plot.bounding_box()["y"] < 740
    asked = shown(page).locator(".asked")
    assert not asked.is_visible()
    opener = page.get_by_role("button", name="Settings")
    assert opener.get_attribute("aria-expanded") == "false"
    opener.click()
    box = asked.bounding_box()
    assert 0 < box["y"] < 740
    assert box["y"] + box["height"] <= 740
    assert plot.is_visible()  # what changes is seen above the sheet
    line = shown(page).locator(".asked input").first
    line.focus()
    page.keyboard.press("Escape")
    assert not asked.is_visible()
    assert opener.evaluate("(node) => node === document.activeElement")


def test_a_wide_window_has_no_sheet(visit) -> None:
    page = visit().open("pane=narrow")
    assert page.get_by_role("button", name="Settings").count() == 0
    assert shown(page).locator(".asked").is_visible()
