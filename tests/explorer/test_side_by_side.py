"""Two settings side by side on the page: common axes, one sentence, an address, exports, runs."""

from __future__ import annotations

import json
import tomllib
from typing import Any
from urllib.parse import urlencode

import pytest

from giantstep.explorer.examples import DEMO
from giantstep.explorer.tasks.side_by_side import predict, run
from giantstep.explorer.tour import SCENES
from giantstep.problem.setting import Setting

AXES = """(name) => [...document.querySelectorAll(`.sides .plot[aria-label^="${name}"]`)]
    .map((plot) => ({x: plot.layout.xaxis.range, y: plot.layout.yaxis.range,
                     left: plot.getBoundingClientRect().left,
                     top: plot.getBoundingClientRect().top}))"""

ERRORS = """() => [...document.querySelectorAll('.sides .plot[aria-label^="Mean squared"]')]
    .map((plot) => plot.data
      .find((line) => line.name === "readout, test" && line.mode === "lines").y)"""

SMALL = {
    "narrow.d": 1000,
    "narrow.ratio": 4,
    "narrow.p": 4,
    "narrow.runs": 2,
    "narrow.readout_n": "2d",
    "narrow.test_n": "2d",
}
TANH = {"side.field": "activation", "side.value": "tanh"}


def told(change: dict[str, str]) -> str:
    answer = predict({"setting": DEMO, "other": DEMO | change}, lambda *_: None)
    return answer["difference"]


@pytest.mark.slow(sentinel="tanh")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(
            {"activation": "tanh"},
            ("With tanh the second step stays blocked", "tanh has no part of degree 2"),
            id="tanh",
        ),
        ({"n": "0.25d"}, ("With n = 64d step 2 finds x1 - x2",)),
        ({"target": "x1 + x2 + x1^2 + x2^2 - 2"}, ("it stays at chance",)),
        ({"steps": "3"}, ("Both find x1 + x2 and x1 - x2.",)),
    ],
)
def test_a_sentence_says_what_differs(change: dict[str, str], words: tuple[str, ...]) -> None:
    sentence = told(change)
    assert [word for word in words if word not in sentence] == []


@pytest.mark.slow
def test_a_sentence_names_the_cosine_of_the_step_that_it_names() -> None:
    """Scene 6: x1 is found by step 2, and its cosine grows until step 4."""
    scene = SCENES[-1]
    answer = predict({"setting": scene.setting, "other": scene.other}, lambda *_: None)
    after = [step["median_cosines"][0]["mean"] for step in answer["other"]["steps"]]
    assert f"step 2 finds x1 (cosine {after[2]:.2f} after that step)" in answer["difference"]
    assert after[4] > after[2] + 0.1
    fresh = max(step["median_cosines"][0]["mean"] or 0.0 for step in answer["steps"])
    at_chance = fresh < 3 * int(scene.setting["d"]) ** -0.5
    assert ("stays at chance" in answer["difference"]) == at_chance


@pytest.mark.slow
def test_a_sentence_follows_the_numbers_and_not_the_names() -> None:
    """gelu has a part of degree 2: nothing is said to be blocked."""
    assert "blocked" not in told({"activation": "gelu"})


def test_a_wrong_second_setting_is_told_as_such(client) -> None:
    asked = {"setting": DEMO, "other": DEMO | {"p": "five"}, "draft": True}
    answer = client.post("/api/beside", json=asked)
    assert answer.status_code == 422
    assert answer.json()["message"].startswith("beside it: p must be")
    same = client.post("/api/beside", json=asked | {"other": DEMO})
    assert "must differ" in same.json()["message"]
    assert client.post("/api/beside", json={"setting": DEMO, "other": [1]}).status_code == 422


def test_the_cost_is_that_of_both(client) -> None:
    tanh, wide = DEMO | {"activation": "tanh"}, DEMO | {"d": "1000000000", "update": "sign"}
    one, other = (
        client.post("/api/frame", json={"setting": fields}).json()["cost"]
        for fields in (DEMO, tanh)
    )
    asked = {"setting": DEMO, "other": tanh, "draft": True}
    both = client.post("/api/beside", json=asked).json()["cost"]
    assert both["seconds"] == pytest.approx(one["seconds"] + other["seconds"], rel=1e-6)
    refused = client.post("/api/beside", json=asked | {"other": wide}).json()["cost"]
    assert "memory" in refused["message"]


def test_runs_of_both_are_those_of_the_library() -> None:
    fields = DEMO | {"d": "300", "n": "4d", "p": "4", "runs": "2"}
    sent: list[tuple[str, Any]] = []
    asked = {"setting": fields, "other": fields | {"activation": "tanh"}}
    found = run(asked, lambda name, value: sent.append((name, value)))
    assert [value["side"] for name, value in sent if name == "run"] == [0, 0, 1, 1]
    [table] = [value["text"] for name, value in sent if name == "file"]
    assert "tanh" in table
    assert found["record"]["differing"] == ["activation"]
    assert len(found["sides"]) == 2


def test_both_settings_have_the_same_axes_and_are_in_the_address(visit) -> None:
    seen = visit(1300)
    page = seen.open()
    page.get_by_label("Side by side with").select_option("activation")
    seen.settle()
    assert page.get_by_label("Value on the right").input_value() == "tanh"
    assert "side.field=activation" in page.url
    for name in ("Neurons after", "Median cosine", "Mean squared"):
        one, other = page.evaluate(AXES, name)
        assert one["x"] == other["x"]
        assert one["y"] == other["y"]
        assert one["top"] == other["top"]
        assert one["left"] < other["left"]
    relu, tanh = page.evaluate(ERRORS)
    assert relu[2] < 0.25 * relu[1]
    assert tanh[2] > 0.9 * tanh[1]
    assert "has no part of degree 2" in page.locator(".difference").inner_text()
    page.reload()
    page.locator(".sides .plot .main-svg").first.wait_for()
    seen.settle()
    assert page.evaluate(ERRORS) == [relu, tanh]
    page.go_back()
    seen.settle()
    assert page.locator(".sides").is_hidden()
    assert page.get_by_label("Side by side with").input_value() == ""


def test_both_settings_run_and_are_kept(visit) -> None:
    seen = visit(1300)
    page = seen.open(urlencode(SMALL | TANH))
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".narrow .told", has_text="Finished.").wait_for()
    seen.settle()
    modes = page.evaluate(
        """() => [...document.querySelectorAll('.sides .plot[aria-label^="Median cosine"]')]
            .map((plot) => plot.data.some(({mode}) => mode === "markers"))"""
    )
    assert modes == [True, True]
    for place, activation in enumerate(("relu", "tanh")):
        with page.expect_download() as waiting:
            page.locator(".sides [aria-label^='Save the TOML file']").nth(place).click()
        with open(waiting.value.path(), "rb") as file:
            assert Setting(**tomllib.load(file)).activation.name == activation
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the data as JSON").last.click()
    with open(waiting.value.path()) as file:
        kept = json.load(file)
    assert kept["otherMeasured"]["runs"]
    assert kept["version"]


def test_a_phone_has_one_below_the_other(visit) -> None:
    seen = visit(360, 740)
    page = seen.open(urlencode(TANH))
    one, other = page.evaluate(AXES, "Median cosine")
    assert one["left"] == other["left"]
    assert one["top"] < other["top"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("number", [5, 6])
def test_the_scenes_that_compare_show_what_they_say(visit, number: int) -> None:
    """The error falls on one side, and hardly moves on the other after what both learn."""
    scene = SCENES[number - 1]
    seen = visit(1300)
    page = seen.open()
    page.get_by_role("button", name="Take the tour").click()
    panel = page.get_by_role("region", name="Guided tour")
    for at in range(1, number):
        panel.get_by_role("group").get_by_role("button").first.click()
        panel.get_by_role("button", name="Next scene").click()
        panel.get_by_role("heading", name=f"{at + 1} of 6").wait_for()
    panel.get_by_role("group").get_by_role("button").nth(scene.right).click()
    seen.settle()
    assert "Right." in panel.inner_text()
    left, right = page.evaluate(ERRORS)
    learns, stays = (left, right) if number == 5 else (right, left)
    assert learns[-1] < 0.75 * learns[0]
    assert stays[-1] > 0.95 * stays[1]
