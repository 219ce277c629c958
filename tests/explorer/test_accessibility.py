"""The page for everyone: names, words for pictures, contrast, focus, small windows, keys alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

AUDIT = (Path(__file__).parent / "audit.js").read_text(encoding="utf-8")

NAMED = frozenset(
    (
        *("button", "link", "tab", "tabpanel", "navigation", "DisclosureTriangle"),
        *("textbox", "combobox", "slider", "listbox", "spinbutton", "checkbox", "radio"),
        *("progressbar", "image", "img"),
    )
)
"""Roles that say nothing to a person who only hears them, unless they have a name."""

FOCUSED = """() => {
  const at = document.activeElement;
  if (at === document.body || at === null) return null;
  const style = getComputedStyle(at);
  const box = at.getBoundingClientRect();
  window.seen ??= [];
  const last = window.seen.at(-1);
  window.seen.push(at);
  return {
    name: at.getAttribute("aria-label") ?? at.id ?? at.textContent,
    again: window.seen.indexOf(at) < window.seen.length - 1,
    ordered: !last || Boolean(last.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING),
    outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    inside: box.width > 0 && box.right > 0 && box.left < innerWidth
      && box.bottom > 0 && box.top < innerHeight,
  };
}"""

MOVING = """() => [...document.querySelectorAll("*")].filter((node) => {
  const {transitionDuration, animationName, scrollBehavior} = getComputedStyle(node);
  return transitionDuration.split(", ").some((time) => parseFloat(time) > 0)
    || animationName !== "none" || scrollBehavior === "smooth";
}).map((node) => `<${node.tagName} class="${node.className}"> moves`)"""


UNFOLD = "document.querySelectorAll('details').forEach((at) => { at.open = true; })"

SMALL = {
    "narrow.p": 4,
    "wide.d": 100,
    "phase.xs": "d, d^1.5",
    "phase.ys": "100, 200",
    "phase.p": 2,
    "claims.id": "one-step-leap-2",
}
"""What the panes show: little work, so that they come to rest."""


def panes(seen: Any) -> Any:
    """The panes one after the other, each at rest."""
    page = seen.open(urlencode(SMALL))
    for tab in page.get_by_role("tab").all():
        tab.click()
        seen.settle()
        yield tab.inner_text()


def nameless(page: Any) -> list[str]:
    """Controls and pictures without a name, as the browser tells them to a screen reader."""
    session = page.context.new_cdp_session(page)
    tree = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    told = [
        (node.get("role", {}).get("value"), node.get("name", {}))
        for node in tree
        if not node["ignored"]
    ]
    assert any(role == "tab" for role, _ in told)
    return [
        f"a {role} without a name" for role, name in told if role in NAMED and not name.get("value")
    ]


@pytest.mark.parametrize(
    ("width", "scale", "theme"),
    [(1400, 1, "light"), (320, 1, "dark"), (640, 2, "light")],
    ids=["wide", "phone", "zoomed"],
)
def test_every_pane_can_be_read(visit, width: int, scale: int, theme: str) -> None:
    """``zoomed``: 1280 points of the screen at 200 % leave the page 640."""
    options = {"color_scheme": theme, "device_scale_factor": scale, "reduced_motion": "reduce"}
    seen = visit(width, 3500, **options)
    faults = {}
    for pane in panes(seen):
        seen.page.evaluate(UNFOLD)
        faults[pane] = seen.page.evaluate(AUDIT) + nameless(seen.page) + seen.page.evaluate(MOVING)
    assert faults == {pane: [] for pane in faults}
    assert len(faults) >= 2


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (320, "dark")])
def test_the_tour_can_be_read(visit, width: int, theme: str) -> None:
    seen = visit(width, 3500, color_scheme=theme)
    page = seen.open()
    page.get_by_role("button", name="Take the tour").click()
    seen.settle()
    faults = page.evaluate(AUDIT) + nameless(page)
    page.get_by_role("group", name="Answers").get_by_role("button").last.click()
    seen.settle()
    faults += page.evaluate(AUDIT) + nameless(page)
    page.get_by_role("button", name="floor", exact=True).focus()
    faults += page.evaluate(AUDIT) + nameless(page)
    assert faults == []


def test_a_mistake_can_be_read_too(visit) -> None:
    seen = visit(320, 3500, color_scheme="dark")
    seen.allowed += ["422"]
    page = seen.open("pane=target")
    page.get_by_label("Target f(x)").fill("x1 + foo")
    page.locator(".echo mark").wait_for()
    assert page.evaluate(AUDIT) == []


def test_text_alone_can_be_twice_as_large(visit) -> None:
    seen = visit(1280, 3500)
    faults = {}
    for pane in panes(seen):
        seen.page.evaluate("document.documentElement.style.fontSize = '200%'")
        seen.settle()
        faults[pane] = seen.page.evaluate(AUDIT)
    assert faults == {pane: [] for pane in faults}


def test_the_audit_finds_what_is_wrong(visit) -> None:
    """A page with one mistake of each kind: none is overlooked."""
    page = visit(640, 3500).open("pane=target")
    page.evaluate("""() => {
      const add = (tag, attributes, text = "") => {
        const node = Object.assign(document.createElement(tag), attributes);
        node.textContent = text;
        document.querySelector("main section:not([hidden])").prepend(node);
        return node;
      };
      add("p", {}, "pale").style.color = "#999";
      add("p", {}, "faded").style.opacity = 0.5;
      add("p", {}, "long").style.width = "700px";
      add("p", {id: "status"}, "twice");
      add("button", {});
      add("label", {htmlFor: "nowhere"}, "of nothing");
      add("canvas", {});
      add("h4", {}, "deep");
    }""")
    assert page.evaluate(MOVING) != []  # as long as nobody asks for less
    # In one go: a picture may be drawn anew in between.
    cut = """
      const text = document.querySelector(".drawing svg text");
      text.setAttribute("x", -20);
      text.setAttribute("fill", "red");
    """
    found = " ".join(page.evaluate(f"{{ {cut} }}\n{AUDIT}") + nameless(page))
    for words in (
        'of "pale"',
        'of "faded"',
        "in a window of 640",
        "id status is given twice",
        "a button without a name",
        "points at nothing: nowhere",
        "a picture without words",
        "heading deep skips a level",
        "is cut off by",
    ):
        assert words in found, found


def test_focus_follows_the_page_and_is_seen(visit) -> None:
    seen = visit()
    for pane in panes(seen):
        page = seen.page
        page.locator(".skip").focus()
        page.evaluate("() => { window.seen = [document.activeElement]; }")
        steps = []
        while True:
            page.keyboard.press("Tab")
            at = page.evaluate(FOCUSED)
            if at is None or at["again"]:
                break
            steps.append(at)
        wrong = [at for at in steps if not (at["ordered"] and at["outlined"] and at["inside"])]
        assert wrong == [], pane
        reachable = page.evaluate("""() => [...document.querySelectorAll(
            "a[href], button, input, select, summary, [tabindex='0']")]
          .filter((node) => node.checkVisibility({ checkVisibilityCSS: true })
            && node.tabIndex >= 0 && !node.disabled
            && !window.seen.includes(node)).map((node) => node.outerHTML.slice(0, 200))""")
        assert reachable == [], pane


def test_the_keyboard_is_enough(visit) -> None:
    """From the first Tab to runs that are drawn, then through them, without a pointer."""
    page = visit().open("pane=target&narrow.d=500&narrow.p=4&narrow.runs=2")

    def tab_to(name: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            focused = page.locator(":focus")
            if focused.count() and name in (
                focused.inner_text(),
                focused.get_attribute("aria-label"),
            ):
                return
        raise AssertionError(f"{name} is not reached")

    tab_to("Target")
    page.keyboard.press("ArrowLeft")
    assert page.locator(":focus").inner_text() == "Few neurons"
    tab_to("Run")
    page.keyboard.press("Enter")
    page.locator(".narrow").get_by_text("Finished.").wait_for()
    # The focus comes back to where it was, not to the top of the page.
    assert page.locator(":focus").inner_text() == "Run"
    tab_to("Step that is shown")
    page.keyboard.press("Home")
    page.locator(".player").get_by_text("start", exact=True).wait_for()
    tab_to("Save neurons as SVG")
    with page.expect_download():
        page.keyboard.press("Enter")
