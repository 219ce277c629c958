"""The page as a person uses it, in a real browser: type, look, run, cancel, share, keep."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from typing import Any
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

import pytest

from giantstep.analysis.analyze import analyze
from giantstep.analysis.subspace import name_space
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

NARROW = {
    "pane": "narrow",
    "narrow.d": 2000,
    "narrow.ratio": 4,
    "narrow.p": 4,
    "narrow.runs": 3,
    "narrow.stepping": "giant",
    "narrow.readout_start": "signs",
    "narrow.readout_n": "n",
    "narrow.test_n": 20_000,
    "narrow.bias": 0,
    "narrow.bias_at": "start",
}
SETTING = Setting(
    target="x1 + x2 + x1^2 - x2^2",
    d=2000,
    n="4d",
    p=4,
    steps=2,
    step_size="giant",
    runs=3,
    test_n=20_000,
)
"""What is computed at that address: the page opens on a setting of its own."""

LONG = NARROW | {"narrow.d": 20_000, "narrow.ratio": 64, "narrow.p": 64, "narrow.runs": 64}
"""Minutes of work."""

DRAWN = """(name) => document
    .querySelector(`[role=tabpanel]:not([hidden]) .plot[aria-label^="${name}"]`)
    .data.map(({x, y, mode, name, error_y}) => ({x, y, mode, name, bars: error_y?.array}))"""


def chosen(page: Any) -> Any:
    """The pane that is shown."""
    return page.locator("[role=tabpanel]:not([hidden])")


def button(page: Any, name: str) -> Any:
    return chosen(page).get_by_role("button", name=name, exact=True)


def said(page: Any, words: str) -> None:
    """Wait until a sentence with these words is shown."""
    chosen(page).get_by_text(words).first.wait_for()


def refined(page: Any) -> None:
    """Wait for the prediction that takes the place of the draft."""
    chosen(page).get_by_text("Theory of narrow networks.", exact=True).wait_for()


# What the activation blocks is said otherwise: test_statements.py.
@pytest.mark.parametrize("target", ["x1 + x1*x2", "He3(x1)"])
def test_a_typed_target_shows_its_staircase(visit, target: str) -> None:
    seen = visit()
    page = seen.open("pane=target")
    line = page.get_by_label("Target f(x)")
    line.fill("")
    seen.allowed += ["422"]  # half a target is refused on the way
    line.press_sequentially(target)
    found = analyze(target, "relu")
    for kind, stairs in (("fresh", found.fresh), ("reused", found.reused)):
        names = [name_space(stairs.added(k + 1)) for k in range(len(stairs.bases))]
        told = [f"step {k + 1} adds {' and '.join(n)}" for k, n in enumerate(names) if n]
        page.wait_for_function(
            """([kind, told]) => {
              const words = document.querySelector(`[aria-label^="Staircase with ${kind}"]`)
                ?.getAttribute("aria-label") ?? "";
              const steps = words.match(/step \\d+ adds (?!nothing)/g) ?? [];
              return steps.length === told.length && told.every((part) => words.includes(part));
            }""",
            arg=[kind, told],
        )
        picture = page.get_by_role("img", name=f"Staircase with {kind} batches")
        rising = [n for n in names if n]
        written = picture.locator("text.adds").all_text_contents()
        assert [text.replace("₁", "1").replace("₂", "2").replace("₃", "3") for text in written] == [
            ", ".join(n) for n in rising
        ]
    shown = page.locator(".figure", has_text="Leap index").locator("dd")
    assert shown.inner_text().startswith(str(found.leap_index or "none"))


def test_a_mistake_is_marked_where_it_stands(visit) -> None:
    seen = visit()
    seen.allowed += ["422"]
    page = seen.open("pane=target")
    line = page.get_by_label("Target f(x)")
    line.fill("x1 + foo(x2)")
    page.locator(".echo mark").wait_for()
    assert page.locator(".echo:visible").inner_text() == "x1 + foo(x2)"
    assert page.locator(".echo mark").inner_text() == "f"
    assert "unknown name 'foo'" in page.locator(".control .problem:visible").inner_text()
    assert line.get_attribute("aria-invalid") == "true"
    line.fill("x1 + x2")
    page.locator(".echo").first.wait_for(state="hidden")
    assert page.locator(".problem:visible").count() == 0
    assert line.get_attribute("aria-invalid") == "false"


def test_a_field_that_cannot_be_is_told_below_it(visit) -> None:
    seen = visit()
    seen.allowed += ["422"]
    page = seen.open(urlencode(NARROW))
    typed = page.get_by_label("Neurons, p: type a value")
    typed.fill("five")
    typed.press("Enter")
    control = page.locator(".control[data-field=p]")
    control.locator(".problem").wait_for()
    assert "five" in control.locator(".problem").inner_text()
    typed.fill("4")
    typed.press("Enter")
    control.locator(".problem").wait_for(state="hidden")


def test_runs_land_on_the_lines_of_theory(visit) -> None:
    seen = visit()
    page = seen.open(urlencode(NARROW))
    assert {trace["mode"] for trace in page.evaluate(DRAWN, "Median cosine")} == {"lines"}
    button(page, "Run").click()
    said(page, "Finished.")
    page.locator(".verdict.agrees").wait_for()
    traces = page.evaluate(DRAWN, "Median cosine")
    lines = [trace for trace in traces if trace["mode"] == "lines"]
    points = [trace for trace in traces if trace["mode"] == "markers"]
    assert [line["name"] for line in lines] == [point["name"] for point in points]
    # A cosine is off by about 1/sqrt(d) = 0.022; four times that is far from the other line.
    for line, point in zip(lines, points, strict=True):
        assert point["x"] == line["x"] == [0, 1, 2]
        assert point["y"] == pytest.approx(line["y"], abs=0.09)
    assert points[0]["y"] != pytest.approx(lines[1]["y"], abs=0.09)
    simulated = simulate(SETTING).test_error.mean(axis=0)
    [drawn] = [
        trace["y"]
        for trace in page.evaluate(DRAWN, "Mean squared errors")
        if (trace["mode"], trace["name"]) == ("markers", "readout, test")
    ]
    assert [y for y in drawn if y is not None] == pytest.approx(simulated.tolist(), rel=1e-5)


def test_a_click_cancels_and_the_page_goes_on(visit) -> None:
    seen = visit()
    page = seen.open(urlencode(LONG))
    button(page, "Run").click()
    said(page, "running")
    button(page, "Cancel").click()
    said(page, "Cancelled")
    assert button(page, "Cancel").count() == 0
    jobs = page.request.get(f"{seen.address}/api/jobs", headers=seen.headers).json()
    assert [job["state"] for job in jobs] == ["cancelled"]
    page.get_by_label("Inputs, d: type a value").fill("30000")
    page.keyboard.press("Enter")
    said(page, "d = 30,000")
    button(page, "Run").click()
    said(page, "running")
    # The second of two fast clicks on Run is over Cancel, and not meant for it.
    button(page, "Cancel").click()
    said(page, "Cancelled")
    button(page, "Run").dblclick()
    said(page, "running")
    # A setting that changes meanwhile ends its runs.
    page.get_by_label("Inputs, d: type a value").fill("31000")
    page.keyboard.press("Enter")
    said(page, "Cancelled: the setting has changed.")


def test_the_address_restores_the_state(visit) -> None:
    fields = "'[role=tabpanel]:not([hidden]) :is(input, select)'"
    values = f"[...document.querySelectorAll({fields})].map((at) => at.value)"
    page = visit().open("pane=target&narrow.p=4&narrow.steps=1")
    page.get_by_label("Target f(x)").fill("x1 + x1*x2")
    page.get_by_label("Colours").select_option("dark")
    page.get_by_role("tab", name="Few neurons").click()
    page.get_by_label("Inputs d").focus()
    page.keyboard.press("ArrowRight")
    chosen(page).get_by_label("Samples of a step n").select_option("kappa")
    refined(page)
    second = visit()
    again = second.open(page.url.partition("#")[2])
    assert again.url == page.url
    assert "narrow.d=" in page.url
    assert again.evaluate(values) == page.evaluate(values)
    assert again.get_by_label("Colours").input_value() == "dark"
    refined(again)
    assert again.evaluate(DRAWN, "Median cosine") == page.evaluate(DRAWN, "Median cosine")
    # An address that is pasted over another one in the same window.
    again.goto(f"{second.address}/#{urlencode({'target': 'x2', 'pane': 'target'})}")
    again.get_by_role("tab", name="Target", selected=True).wait_for()
    assert chosen(again).get_by_label("Target f(x)").input_value() == "x2"


@pytest.mark.parametrize(
    "state",
    [
        "target=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "pane=nothing&theme=pink&narrow.d=abc",
        "pane=narrow&narrow.steps=-5&narrow.p=1e99&narrow.giant=__proto__",
        "pane=narrow&narrow.d=%00&constructor=1&__proto__=2",
        "target=" + quote("(" * 3000),
    ],
)
def test_a_hostile_address_is_a_page_with_a_sentence(visit, state: str) -> None:
    seen = visit()
    seen.allowed += ["422"]
    page = seen.open(state)
    assert page.locator("main img").count() == 0
    assert chosen(page).count() == 1
    wrong = page.locator(".problem:visible").count()
    assert wrong >= 1 or "pane=nothing" in state


def test_no_answer_is_told_in_place(visit) -> None:
    seen = visit()
    seen.allowed += ["ERR_FAILED"]
    page = seen.open(urlencode(NARROW))
    page.route("**/api/**", lambda route: route.abort())
    button(page, "Run").click()
    said(page, "the server does not answer")
    assert button(page, "Run").is_enabled()


@pytest.mark.parametrize(("drafted", "onward"), [(True, "Go on"), (False, "Go on"), (True, "Run")])
def test_a_slow_prediction_is_told_and_goes_on_when_it_is_asked_to(
    visit, drafted: bool, onward: str
) -> None:
    """By its button, or when runs are finished: their verdict is not that of the draft."""
    seen = visit()
    seen.allowed += ["504"]
    words = "This takes longer than 15 s and was stopped"

    def answer(route: Any) -> None:
        asked = route.request.post_data_json
        if asked["patient"] or (asked["draft"] and drafted):
            route.continue_()
        else:
            route.fulfill(status=504, json={"message": words, "field": None, "position": None})

    seen.page.route("**/api/predict", answer)
    page = seen.open(urlencode(NARROW))
    said(page, f"{words}. {'The plots show a draft' if drafted else 'There is no prediction yet'}")
    assert chosen(page).get_by_text("Theory of narrow networks.", exact=True).count() == 0
    assert button(page, "Stop").count() == 0
    button(page, onward).click()
    refined(page)
    assert page.locator(".problem:visible").count() == 0
    assert page.locator(".stale").count() == 0


def kept(page: Any, name: str) -> tuple[str, bytes]:
    """Name and content of what a button saves."""
    with page.expect_download() as waiting:
        button(page, name).click()
    with open(waiting.value.path(), "rb") as file:
        return waiting.value.suggested_filename, file.read()


def test_a_staircase_is_kept_as_a_picture(visit) -> None:
    page = visit().open("pane=target")
    name, drawing = kept(page, "Save staircase-fresh as SVG")
    assert name == "staircase-fresh.svg"
    root = ElementTree.fromstring(drawing)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"x₁ + x₂", "x₁ - x₂", "Staircase with fresh batches"} <= set(texts)
    name, picture = kept(page, "Save staircase-reused as PNG")
    assert name == "staircase-reused.png"
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    name, lines = kept(page, "Save the Python lines that reproduce this")
    found: dict[str, Any] = {}
    exec(compile(lines, name, "exec"), found)
    assert found["analysis"].leap_index == 1
    assert json.loads(kept(page, "Save the data as JSON")[1])["leap_index"] == 1


def test_an_experiment_is_kept_whole(visit) -> None:
    seen = visit()
    page = seen.open(urlencode(NARROW | {"narrow.noise": 0.1}))
    expected = SETTING.vary(noise=0.1)
    _, file = kept(page, "Save the TOML file that reproduces this")
    assert Setting(**tomllib.loads(file.decode())) == expected
    name, lines = kept(page, "Save the Python lines that reproduce this")
    compile(lines, name, "exec")
    found: dict[str, Any] = {}
    exec(lines.decode().split("experiment =")[0], found)
    assert found["setting"] == expected
    assert kept(page, "Save alignment as PNG")[1].startswith(b"\x89PNG\r\n\x1a\n")
    drawing = ElementTree.fromstring(kept(page, "Save errors as SVG")[1])
    assert "giant steps t" in "".join(drawing.itertext())
    button(page, "Save the runs as a table").click()
    said(page, "There are no runs yet")
    button(page, "Run").click()
    said(page, "Finished.")
    data = json.loads(kept(page, "Save the data as JSON")[1])
    assert data["measured"]["record"]["simulation"]["setting"]["noise"] == 0.1
    rows = list(csv.DictReader(io.StringIO(kept(page, "Save the runs as a table")[1].decode())))
    assert {row["run"] for row in rows if row["run"]} == {"0", "1", "2"}


def test_what_goes_wrong_is_noticed(visit) -> None:
    """The watch itself: each breach that no test may have is seen."""
    seen = visit()
    page = seen.open()
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.evaluate(
        "document.head.append(Object.assign(document.createElement('script'), {text: '1'}))"
    )
    page.evaluate("fetch('http://127.0.0.1:9/').catch(() => 0)")
    page.evaluate("window.open('http://127.0.0.1:9/')")
    page.evaluate("setTimeout(() => { throw new Error('lost') })")
    page.evaluate("console.warn('careful')")
    words = ("style-src", "script-src", "connect-src", "request: http", "lost", "careful")
    seen.until(lambda: all(any(word in fault for fault in seen.faults) for word in words))
    seen.faults.clear()
