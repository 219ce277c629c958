"""Plots that follow a slider while it is dragged: one request at a time, the newest value last."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

STATE = {"pane": "narrow", "narrow.d": 2000, "narrow.p": 8, "narrow.runs": 1}


class Asked:
    """The predictions that a page asks for, with how many are under way; answers can be held."""

    def __init__(self, page: Any) -> None:
        self.requests: list[dict[str, Any]] = []
        self.held: list[Any] = []
        self.holding = False
        self.under_way = self.most = 0
        page.route("**/api/predict", self._asked)
        for end in ("requestfinished", "requestfailed"):
            page.on(end, self._ended)

    def _asked(self, route: Any) -> None:
        self.requests.append(route.request.post_data_json)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        if self.holding:
            self.held.append(route)
        else:
            route.continue_()

    def _ended(self, request: Any) -> None:
        if request.url.endswith("/api/predict"):
            self.under_way -= 1

    def release(self) -> None:
        self.holding = False
        for route in self.held:
            route.continue_()
        self.held.clear()


class Drag:
    """The handle of a slider below the pointer, at shares of its length."""

    def __init__(self, page: Any, label: str) -> None:
        self.page, self.slider = page, page.get_by_label(label, exact=True)
        self.slider.scroll_into_view_if_needed()
        self.box = self.slider.bounding_box()
        at = float(self.slider.input_value()) / 1000
        self.page.mouse.move(*self.place(at))
        self.page.mouse.down()

    def place(self, share: float) -> tuple[float, float]:
        box = self.box
        return box["x"] + 8 + share * (box["width"] - 16), box["y"] + box["height"] / 2

    def to(self, share: float, steps: int = 1) -> None:
        self.page.mouse.move(*self.place(share), steps=steps)


def sizes(page: Any) -> str:
    return page.locator(".narrow .sizes").inner_text()


def until_shown(page: Any, words: str) -> None:
    page.wait_for_function(
        "(words) => document.querySelector('.narrow .sizes').textContent.includes(words)", arg=words
    )


def value(page: Any) -> str:
    return page.get_by_label("Inputs, d: type a value").input_value()


def test_plots_follow_before_the_slider_is_released(visit) -> None:
    seen = visit()
    page = seen.open(urlencode(STATE))
    asked = Asked(page)
    before = page.url
    drag = Drag(page, "Inputs d")
    drag.to(0.6, steps=6)
    until_shown(page, f"d = {value(page)}")
    assert all(request["draft"] for request in asked.requests)
    assert page.url == before  # the address waits for the end
    drag.to(0.4, steps=6)
    until_shown(page, f"d = {value(page)}")
    assert asked.most == 1
    page.mouse.up()
    page.locator(".narrow").get_by_text("Theory of narrow networks.", exact=True).wait_for()
    assert asked.requests[-1]["draft"] is False
    assert f"narrow.d={value(page).replace(',', '')}" in page.url
    until_shown(page, f"d = {value(page)}")


def test_the_newest_value_wins_and_stale_answers_are_dropped(visit) -> None:
    seen = visit()
    page = seen.open(urlencode(STATE))
    asked = Asked(page)
    shown = sizes(page)
    asked.holding = True
    drag = Drag(page, "Inputs d")
    drag.to(0.3)
    seen.until(lambda: len(asked.requests) == 1)
    for share in (0.35, 0.4, 0.5, 0.6):
        drag.to(share)
    page.wait_for_timeout(300)
    # Those on the way are not asked for while one is under way.
    assert len(asked.requests) == 1
    assert sizes(page) == shown
    asked.release()
    until_shown(page, f"d = {value(page)}")
    assert len(asked.requests) == 2
    assert asked.requests[1]["setting"]["d"] == value(page).replace(",", "")
    # An answer that comes after the release, of a value before it, is not drawn.
    asked.holding = True
    drag.to(0.2)
    seen.until(lambda: len(asked.held) == 1)
    drag.to(0.7)
    page.mouse.up()
    seen.until(lambda: len(asked.held) == 2)
    last = asked.requests[-1]
    assert last["setting"]["d"] == value(page).replace(",", "")
    page.evaluate(
        """() => {
          window.shown = [];
          const node = document.querySelector(".narrow .sizes");
          new MutationObserver(() => window.shown.push(node.textContent))
            .observe(node, {childList: true, characterData: true, subtree: true});
        }"""
    )
    stale, newest = asked.held
    asked.held = []
    asked.holding = False
    stale.continue_()
    newest.continue_()
    seen.settle()
    assert {text.split(", n")[0] for text in page.evaluate("window.shown")} == {
        f"d = {value(page)}"
    }


def test_a_drag_that_ends_where_it_began_ends_all_the_same(visit) -> None:
    seen = visit()
    page = seen.open(urlencode(STATE))
    asked = Asked(page)
    drag = Drag(page, "Inputs d")
    before = value(page)
    begin = float(drag.slider.input_value()) / 1000
    drag.to(0.6, steps=3)
    seen.until(lambda: len(asked.requests) > 0)
    drag.to(begin, steps=3)
    page.mouse.up()
    page.locator(".narrow").get_by_text("Theory of narrow networks.", exact=True).wait_for()
    seen.settle()
    until_shown(page, f"d = {value(page)}")
    assert asked.requests[-1]["draft"] is False
    assert before == value(page) or asked.requests[-1]["setting"]["d"] != before


@pytest.mark.parametrize("size", [(1280, 900), (360, 740)])
def test_nothing_jumps_during_a_drag(visit, shifts, size: tuple[int, int]) -> None:
    """Through sizes with another theory and with none, and on to the full prediction."""
    seen = visit(*size)
    seen.page.add_init_script(shifts)
    page = seen.open(urlencode(STATE | {"narrow.p": 64}))
    if size[0] < 640:
        page.get_by_role("button", name="Settings").click()
    page.evaluate("window.shifts = []")
    drag = Drag(page, "Inputs d")
    for share in (0.5, 0.3, 0.1, 0.02, 0.2, 0.6):
        drag.to(share, steps=3)
        until_shown(page, f"d = {value(page)}")
    page.mouse.up()
    seen.settle()
    found = page.evaluate("window.shifts")
    assert sum(value for value, _ in found) < 0.05, found


def test_a_drag_in_another_pane_predicts_when_it_is_released(visit) -> None:
    seen = visit()
    page = seen.open("pane=wide&wide.d=100&wide.runs=1")
    calls: list[str] = []
    page.on(
        "request", lambda request: calls.append(request.url) if "/api/" in request.url else None
    )
    drag = Drag(page, "Inputs d")
    drag.to(0.3, steps=4)
    page.wait_for_timeout(300)
    assert calls == []
    page.mouse.up()
    seen.until(lambda: calls)
    seen.settle()
