"""The phase diagram and the list of claims in a real browser: what they open with, and say."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

TRACES = """() => [...document.querySelectorAll(".pane.phase .plot.tall")][0].data
    .map(({type, name, x, y, z}) => ({type, name, x, y, z}))"""


def traces(page: Any) -> dict[str | None, dict]:
    return {trace.get("name") or trace["type"]: trace for trace in page.evaluate(TRACES)}


def test_it_opens_where_a_phase_is_seen(visit) -> None:
    seen = visit()
    page = seen.open("pane=phase")
    page.get_by_text("Theory of narrow networks in every cell.").wait_for()
    drawn = page.evaluate(TRACES)
    ground = next(trace for trace in drawn if trace["type"] == "heatmap")["z"]
    for row in ground:
        assert row[0] < 0.25
        assert row[-1] > 0.85
    # The boundary is at half of the plateau, over everything else, around n = d^2.
    [line] = [trace for trace in drawn if "of the plateau" in (trace["name"] or "")]
    assert drawn[-1] == line
    assert line["name"].startswith("theory: half of the plateau, 0.4")
    column = [0.5 + 0.25 * x for x in line["x"] if x is not None]  # the exponents
    assert 1.7 < min(column) < max(column) < 2.1
    assert "Cell colour: theory. Disc colour: simulation." in page.inner_text("main")


def test_cells_that_are_not_computed_are_hatched(visit) -> None:
    seen = visit()
    page = seen.page
    told = []

    def first_part(route: Any) -> None:
        if route.request.post_data_json["first"] == 0:
            answer = route.fetch()
            told.append(answer.json()["done"])
            route.fulfill(response=answer)

    page.route("**/api/phase", first_part)
    page.goto(f"{seen.address}/#pane=phase")
    strokes = (
        "() => document.querySelector('.pane.phase .plot.tall')?.data"
        "?.find(({name}) => name === 'not computed yet')?.x.filter((x) => x === null).length"
    )
    seen.until(lambda: told and page.evaluate(strokes) == 3 * (40 - told[0]))
    page.unroute("**/api/phase")


def test_it_says_where_another_theory_takes_over(visit) -> None:
    state = {"pane": "phase", "phase.x": "n-ratio", "phase.xs": "2d", "phase.y": "p"}
    seen = visit()
    page = seen.open(urlencode(state | {"phase.xs": "2d, 4d", "phase.ys": "4, 8"}))

    def second(route: Any) -> None:
        answer = route.fetch().json()
        for cell in answer["cells"]:
            cell["theory"] = "linear-width" if cell["place"][1] else "narrow"
        route.fulfill(json=answer)

    page.route("**/api/phase", second)
    page.get_by_label("Values across").fill("2d, 5d")
    page.keyboard.press("Enter")
    words = "Theories: narrow networks (2 cells), linear-width networks (2 cells)."
    page.get_by_text(words).wait_for()
    assert {y for y in traces(page)["another theory"]["y"] if y is not None} == {0.5}


def test_a_target_of_its_own_and_that_of_the_others(visit) -> None:
    small = {"phase.xs": "d, d^2", "phase.ys": "50, 100", "phase.p": 2}
    page = visit().open(urlencode({"pane": "phase", "target": "He3(x1)"} | small))
    line = page.locator(".pane.phase .expression").first
    assert line.input_value() == "x1*x2"
    page.get_by_role("button", name="Use the target of the other panes").click()
    assert line.input_value() == "He3(x1)"


@pytest.mark.parametrize("words", ["staircase", "no such words"])
def test_claims_are_searched_as_one_types(visit, words: str) -> None:
    page = visit().open("pane=claims")
    everything = page.locator(".claim").count()
    page.get_by_label("Search").press_sequentially(words)
    page.wait_for_function(
        "(all) => document.querySelectorAll('.claim').length < all", arg=everything, timeout=5000
    )
    listed = page.locator(".claim .name").all_inner_texts()
    assert ("staircase-example-1" in listed) == (words == "staircase")
    assert bool(listed) == (words == "staircase")
    assert page.get_by_label("Search").evaluate("(node) => node === document.activeElement")


def test_the_edge_of_the_bulk_is_in_the_legend(visit) -> None:
    page = visit().open("pane=wide&wide.d=120")
    names = "() => document.querySelector('.pane.wide .plot').data.map(({name}) => name)"
    assert "theory: edge of the bulk" in page.evaluate(names)


def test_the_open_claim_is_in_the_list_that_filters_leave(visit) -> None:
    page = visit().open("pane=claims")
    title = page.locator(".claims .answer h2").first
    page.locator(".claims-list [aria-current]").wait_for()
    page.get_by_label("Verdict").select_option("fails")
    first = page.locator(".claims-list .name").first.inner_text()
    page.locator(".claims-list [aria-current] .name", has_text=first).wait_for()
    page.locator(".claims .answer[aria-busy=false]").wait_for()
    assert title.inner_text() == first
    page.get_by_label("Search").fill("no claim has these words")
    assert title.is_hidden()
    page.get_by_label("Search").fill("")
    assert title.is_visible()


def test_a_claimed_slope_is_not_called_theory(visit) -> None:
    """In a figure theory is a prediction of this project."""
    page = visit().open("pane=claims&claims.id=pair-stays")
    page.locator(".claims .plot .main-svg").first.wait_for()
    names = page.evaluate("document.querySelector('.claims .plot').data.map(({name}) => name)")
    assert any(name.startswith("claimed slope -0.5") for name in names)
    assert not any(name.startswith("theory: slope") for name in names)
