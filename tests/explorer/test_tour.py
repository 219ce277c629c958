"""The page opens on the demonstration, and leads through it: examples, definitions, the tour."""

from __future__ import annotations

from typing import Any

import pytest

from giantstep.explorer.examples import DEMO, EXAMPLES
from giantstep.explorer.tour import SCENES

LINES = """(name) => document.querySelector(`.narrow .plot[aria-label^="${name}"]`)
    .data.map(({name, mode, y}) => ({name, mode, y}))"""


def readable(text: str) -> str:
    """As the page writes it, for the characters that buttons have."""
    for digit, lowered in zip("123", "₁₂₃", strict=True):
        text = text.replace(f"x{digit}", f"x{lowered}")
    return text


def asked(page: Any) -> Any:
    """The panel of the tour."""
    return page.get_by_role("region", name="Guided tour")


def test_the_page_opens_where_the_error_falls_step_by_step(visit) -> None:
    seen = visit()
    sent: list[dict] = []
    seen.page.on(
        "request",
        lambda request: "/api/predict" in request.url and sent.append(request.post_data_json),
    )
    page = seen.open()
    assert page.url == f"{seen.address}/#"
    assert page.get_by_role("tab", selected=True).inner_text() == "Few neurons"
    assert {name: str(value) for name, value in sent[0]["setting"].items()} == DEMO
    [line] = [
        trace["y"]
        for trace in page.evaluate(LINES, "Mean squared errors")
        if (trace["name"], trace["mode"]) == ("readout, test", "lines")
    ]
    assert line[0] > 5.9
    assert line[1] < 0.75 * line[0]
    assert line[2] < 0.25 * line[1]
    told = page.locator(".reading").all_inner_texts()
    assert "Step 1 found x₁ + x₂" in told[1]
    assert "Step 2 found x₁ - x₂" in told[1]
    assert "6.00 at the start" in told[2]
    assert "The nearest limit of the narrow theory" in page.locator(".narrow").inner_text()
    menu = page.get_by_label("Example")
    assert menu.locator("option:checked").inner_text().startswith(EXAMPLES[0].name)


def test_an_example_sets_all_controls(visit) -> None:
    seen = visit()
    page = seen.open()
    last = EXAMPLES[-1]
    page.get_by_label("Example").select_option(str(len(EXAMPLES) - 1))
    seen.settle()
    assert page.locator(".narrow").get_by_label("Target f(x)").input_value() == "He3(x1)"
    assert page.locator(".narrow").get_by_label("Batches", exact=True).input_value() == "reused"
    assert "Step 2 found x₁" in page.locator(".reading").nth(1).inner_text()
    page.get_by_label("Inputs, d: type a value").fill("5000")
    page.keyboard.press("Enter")
    seen.settle()
    assert page.get_by_label("Example").input_value() == "", last.name


def test_the_tour_asks_then_shows(visit) -> None:
    """All six scenes by the keyboard, each answered, then the way back by the browser's button."""
    seen = visit()
    page = seen.open()
    page.get_by_role("button", name="Take the tour").focus()
    page.keyboard.press("Enter")
    for number, scene in enumerate(SCENES, start=1):
        heading = asked(page).get_by_role("heading")
        assert heading.inner_text() == f"{number} of 6: {scene.title}"
        assert page.evaluate("document.activeElement.tagName") == "H2"
        assert f"tour={number}" in page.url
        assert page.locator(".narrow .plots").is_hidden()
        lit = page.locator(".control.lit")
        assert lit.count() == 1
        assert (
            lit.locator(f"[data-field={scene.control}]")
            .or_(page.locator(f".lit[data-field={scene.control}]"))
            .count()
            == 1
        )
        option = asked(page).get_by_role("button", name=readable(scene.options[scene.right]))
        option.first.focus()
        page.keyboard.press("Enter")
        seen.settle()
        assert "Right." in asked(page).inner_text()
        assert page.locator(".narrow .plots").is_visible()
        assert f"tour.answer={scene.right}" in page.url
        assert page.locator(".problem:visible").count() == 0
        if number < len(SCENES):
            asked(page).get_by_role("button", name="Next scene").focus()
            page.keyboard.press("Enter")
    asked(page).get_by_role("button", name="End the tour").click()
    assert asked(page).count() == 0
    for _ in range(3):  # the end, the last answer, the last question
        page.go_back()
    seen.settle()
    assert asked(page).get_by_role("heading").inner_text().startswith("5 of 6")
    assert page.locator(".narrow input[data-field=activation]").input_value() == "tanh"
    assert page.locator(".narrow .plots").is_visible()


@pytest.mark.parametrize("number", [3])
def test_a_scene_is_an_address_and_escape_leaves_it(visit, number: int) -> None:
    first = visit()
    page = first.open()
    page.get_by_role("button", name="Take the tour").click()
    for _ in range(number - 1):
        asked(page).get_by_role("group").get_by_role("button").first.click()
        asked(page).get_by_role("button", name="Next scene").click()
    seen = visit()
    again = seen.open(page.url.partition("#")[2])
    assert asked(again).get_by_role("heading").inner_text().startswith(f"{number} of 6")
    wrong = next(k for k in range(3) if k != SCENES[number - 1].right)
    asked(again).get_by_role("group").get_by_role("button").nth(wrong).click()
    assert "Not so." in asked(again).inner_text()
    again.keyboard.press("Escape")
    asked(again).wait_for(state="hidden")
    assert "tour" not in again.url
    assert again.locator(":focus").inner_text() == "Take the tour"
    assert again.locator(".lit").count() == 0


@pytest.mark.parametrize("state", ["tour=99", "tour=abc&tour.answer=x", "tour=1&tour.answer=7"])
def test_an_address_of_no_scene_does_no_harm(visit, state: str) -> None:
    page = visit().open(state)
    assert asked(page).count() == (1 if state.startswith("tour=1&") else 0)


def test_a_term_explains_itself(visit) -> None:
    seen = visit()
    page = seen.open()
    term = page.locator(".narrow").get_by_role("button", name="floor", exact=True)
    term.focus()
    tip = page.get_by_role("tooltip")
    assert "lower bound" in tip.inner_text()
    described = term.get_attribute("aria-describedby")
    assert page.locator(f"#{described}").inner_text() == tip.inner_text()
    box, window = tip.bounding_box(), page.viewport_size
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= window["width"]
    assert 0 <= box["y"] <= window["height"] - box["height"]
    page.keyboard.press("Escape")
    assert tip.count() == 0
    page.get_by_role("button", name="What is meant: Batches").hover()
    assert "same samples" in tip.inner_text()
