"""The page opens on the demonstration, and leads through it: examples, definitions, the tour."""

from __future__ import annotations

from typing import Any

import pytest

from giantstep.explorer.examples import DEMO, EXAMPLES
from giantstep.explorer.tour import SCENES

SAID = """(node) => {
  const copy = node.cloneNode(true);
  copy.querySelectorAll("math").forEach((math) => math.replaceWith(math.dataset.latex));
  return copy.textContent;
}"""
"""The text of an element, formulas as LaTeX."""

ALIGNMENT = ".narrow .plots > figure[data-plot=alignment] .reading"

LINES = """(name) => document.querySelector(`.narrow .plot[aria-label^="${name}"]`)
    .data.map(({name, mode, y}) => ({name, mode, y}))"""


COVERED = """() => document.querySelector(".control.lit").getBoundingClientRect().top
    < document.querySelector(".tour").getBoundingClientRect().bottom"""
"""Whether the panel of the tour lies over the highlighted control."""


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
    told = [
        page.locator(f".narrow .plots > figure[data-plot={name}] .reading").evaluate(SAID)
        for name in ("neurons", "alignment", "errors")
    ]
    assert "Step 1 found x_{1} + x_{2}" in told[1]
    assert "Step 2 found x_{1} - x_{2}" in told[1]
    assert "6.00 at the start" in told[2]
    assert (
        "The nearest limit of this theory: number of steps at most 100. Here: 2."
        in page.locator(".narrow").inner_text()
    )
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
    assert "Step 2 found x_{1}" in page.locator(ALIGNMENT).evaluate(SAID)
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
        assert not page.evaluate(COVERED)
        assert (
            lit.locator(f"[data-field={scene.control}]")
            .or_(page.locator(f".lit[data-field={scene.control}]"))
            .count()
            == 1
        )
        option = asked(page).get_by_role("group").get_by_role("button").nth(scene.right)
        option.focus()
        page.keyboard.press("Enter")
        seen.settle()
        assert "Right." in asked(page).inner_text()
        assert "The lines in the plots are theory" in asked(page).inner_text()
        assert not page.evaluate(COVERED)
        assert page.locator(".narrow .plots").is_visible()
        assert page.locator(".narrow .sides").is_visible() == (scene.beside is not None)
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
    assert page.get_by_label("Value on the right").input_value() == "tanh"
    assert page.locator(".narrow .plots").is_visible()


def test_plots_of_a_scene_show_what_its_sentence_says(visit) -> None:
    """Scenes 1 to 4, read off the drawn lines; those that compare are in test_side_by_side.py."""
    seen = visit()
    page = seen.open()
    page.get_by_role("button", name="Take the tour").click()
    cosines, errors = [], []
    for scene in SCENES[:4]:
        asked(page).get_by_role("group").get_by_role("button").nth(scene.right).click()
        seen.settle()
        drawn = page.evaluate(LINES, "Median cosine")
        lines = [
            next(
                line["y"]
                for line in drawn
                if line["mode"] == "lines" and line["name"].startswith(name)
            )
            for name in ("x₁ + x₂", "x₁ - x₂")
        ]
        cosines.append(lines)
        [error] = [
            trace["y"]
            for trace in page.evaluate(LINES, "Mean squared errors")
            if (trace["name"], trace["mode"]) == ("readout, test", "lines")
        ]
        errors.append(error)
        asked(page).get_by_role("button", name="Next scene").click()
    # A cosine at chance is of the order of 1/√d, here 0.01.
    (first, _), (few, _), (sums, differences), (flipped_sums, flipped) = cosines
    assert first[0] < 0.03
    assert round(first[1], 1) == 0.8
    assert round(few[1], 1) == 0.2
    assert sums[1] > 0.7
    assert differences[1] < 0.03
    assert differences[2] > 0.3
    assert errors[2][2] < 0.25 * errors[2][1] < 0.25 * 0.75 * errors[2][0]
    assert flipped_sums[1] > 0.7
    assert flipped[2] < 0.03


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
