"""What the page states about a setting is true: staircases, planes, words, verdicts."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from giantstep.analysis.analyze import analyze
from giantstep.analysis.staircase import added
from giantstep.analysis.subspace import name_space
from giantstep.explorer.examples import DEMO, EXAMPLES
from giantstep.explorer.tasks.learn import verdict_view
from giantstep.explorer.tasks.predict import frame
from giantstep.explorer.terms import definitions
from giantstep.explorer.tour import SCENES
from giantstep.explorer.views.analysis import stairs_view
from giantstep.explorer.views.reading import alignment_reading, neurons_reading
from giantstep.explorer.views.spectrum import spectrum_reading

TANH = ("x1 + x1*x2", "tanh")


def no_one(*_: Any) -> None:
    """Nobody listens to the events of a task."""


@pytest.mark.parametrize("kind", ["fresh", "reused"])
@pytest.mark.parametrize(
    ("target", "activation", "step", "blocked", "reason"),
    [
        (*TANH, 2, "x2", "tanh has no part of degree 2"),
        (DEMO["target"], "tanh", 2, "x1 - x2", "tanh has no part of degree 2"),
        ("x1 + x1*x2", "He2", 1, "x1", "He2 has no part of degree 1"),
    ],
)
def test_a_blocked_direction_is_not_added(
    kind: str, target: str, activation: str, step: int, blocked: str, reason: str
) -> None:
    analysis = analyze(target, activation)
    view = stairs_view(getattr(analysis, kind), analysis.activation)
    assert view["blocked"][0] == {"step": step, "directions": [blocked], "reason": reason}
    assert all(blocked not in entry["adds"] for entry in view["steps"])
    assert view["missing"] == []


@pytest.mark.parametrize(
    ("target", "activation"),
    [
        TANH,
        ("x1 + x1*x2 + x2*x3", "tanh"),
        ("He3(x1)", "He1"),
        ("He3(x1)", "relu"),
        ("x1 + He2(x1)*x2 + x1*x3", "relu"),
    ],
)
def test_steps_of_a_view_are_what_the_activation_reaches(target: str, activation: str) -> None:
    """Every direction is added, blocked or missing, once."""
    analysis = analyze(target, activation)
    for stairs in (analysis.fresh, analysis.reused):
        view = stairs_view(stairs, analysis.activation)
        reached = stairs.reached[-1]
        assert sum(len(step["adds"]) for step in view["steps"]) == len(reached)
        offered = added(reached, stairs.bases[-1])
        names = [name for entry in view["blocked"] for name in entry["directions"]]
        assert sorted(names) == sorted(name_space(offered))
        assert len(reached) + len(names) + len(view["missing"]) == analysis.target.r


def test_a_note_names_a_blocked_direction_once() -> None:
    """One sentence for both kinds of batches, in the words of the drawing."""
    notes = [note for note in analyze(*TANH).notes if "would add" in note]
    assert notes == [
        "With fresh or reused batches step 2 would add x2, but tanh cannot learn it: tanh has no "
        "part of degree 2."
    ]


def test_a_direction_that_larger_batches_teach_is_named_so() -> None:
    """n = d^2: no label says what n ~ d samples would do."""
    [leap] = [example for example in EXAMPLES if example.name == "A leap of 2"]
    assert frame({"setting": leap.setting}, no_one)["subspaces"] == ["x1, x2 (step 1)"]
    small = frame({"setting": leap.setting | {"n": "4d"}}, no_one)
    assert small["subspaces"] == ["x1, x2 (not at n ~ d)"]
    odd = leap.setting | {"target": "He3(x1) + He3(x2)"}
    assert frame({"setting": odd}, no_one)["subspaces"] == ["x1, x2 (not at n ~ d^2)"]


def step(number: int, *cosines: float) -> dict[str, Any]:
    return {"step": number, "median_cosines": [{"mean": value} for value in cosines]}


def test_a_cosine_with_several_directions_is_one_with_their_plane() -> None:
    names = [["x1", "x2"]]
    told = neurons_reading(step(1, 0.42), names, 500)
    assert "at least 0.42 with the plane of x1 and x2" in told
    told = alignment_reading([step(0, 0.0), step(1, 0.42)], names, 500)
    assert told == "Step 1 found x1 and x2 (|cosine| 0.42 with their plane)."
    told = alignment_reading([step(0, 0.0), step(1, 0.01)], names, 500)
    assert r"x1 and x2 are still at chance, about $\sqrt{2/d}$ = 0.06" in told
    assert "with x1." in neurons_reading(step(1, 0.42), [["x1"]], 500)


def test_no_step_is_left_out_of_the_sentence() -> None:
    steps = [step(0, 0.0, 0.0), *(step(k, 0.5, 0.0) for k in range(1, 5))]
    told = alignment_reading(steps, [["x1"], ["x2"]], 10_000)
    assert told.startswith("Step 1 found x1 (|cosine| 0.50). Steps 2 to 4 found no new direction.")


def test_sentences_of_a_spectrum() -> None:
    told = spectrum_reading(1, {"edge": 1.65, "predicted": [6.29, 3.23, 1.6]})
    assert told == (
        "After step 1 theory puts the end of the bulk at 1.65 and 2 singular values beyond it, "
        "at 6.29 and 3.23."
    )
    none = spectrum_reading(0, {"edge": 1.65, "predicted": []})
    assert none.endswith("and no singular value beyond it.")
    assert spectrum_reading(0, {"edge": None}) == ""


@pytest.mark.parametrize(
    ("term", "subject"),
    [
        ("linear width", "At linear width"),
        ("narrow", "A network is narrow"),
        ("singular value", "The singular values of a matrix are"),
        ("near-tie", "A near-tie is"),
        ("sizes", "$d$ is the number of inputs"),
        ("kappa", r"The letter $\kappa$ is the exponent"),
    ],
)
def test_a_definition_speaks_of_its_term(term: str, subject: str) -> None:
    assert definitions()[term]["text"].startswith(subject)


def test_a_floor_is_defined_as_d_grows() -> None:
    text = definitions()["floor"]["text"]
    assert "as $d$ grows" in text
    assert "At finite $d$ errors may lie slightly below it" in text
    assert "No readout does better" not in text


class Runs:
    """An experiment of which only the number of runs is asked."""

    simulated = type("Simulated", (), {"runs": 4})


@pytest.mark.parametrize("noticed", [True, False])
def test_the_headline_says_which_error_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch, noticed: bool
) -> None:
    from rich.text import Text

    from giantstep.explorer.tasks import learn

    tested = "The p-value of all 9 comparisons is 1."
    power = " With 4 runs an error of 47 % would be noticed." if noticed else ""
    monkeypatch.setattr(learn, "certainty", lambda _: tested + power)
    monkeypatch.setattr(learn, "verdict", lambda _: Text(f"They agree. {tested}{power}"))
    view = verdict_view(Runs())  # type: ignore[arg-type]
    assert view == {"verdict": f"They agree.{power}", "sure": tested}


def test_the_staircase_is_drawn_with_what_is_blocked(visit) -> None:
    """Drawing, its words for those who hear it, and the sentence below: none says "adds x2"."""
    page = visit().open(urlencode({"pane": "target", "target": TANH[0], "activation": TANH[1]}))
    for kind in ("fresh", "reused"):
        picture = page.get_by_role("img", name=f"Staircase with {kind} batches")
        words = picture.get_attribute("aria-label")
        assert "step 1 adds x1" in words
        assert "step 2 offers x2, which is blocked: tanh has no part of degree 2" in words
        titles = picture.locator("title").all_text_contents()
        assert not any("adds x2" in text for text in [words, *titles])
        assert picture.locator(".adds").all_text_contents() == ["x₁"]
        drawn = " ".join(picture.locator(".why tspan").all_text_contents())
        assert drawn == "blocked: tanh has no part of degree 2"
        assert picture.locator(".blocked .ghost").evaluate(
            "(node) => getComputedStyle(node).strokeDasharray"
        ) not in ("none", "")
    assert "it stays blocked: tanh has no part of degree 2" in page.locator(".target").inner_text()


def test_on_paper_there_are_target_activation_and_whole_plots(visit) -> None:
    """A phase diagram of a wide window is wider than paper: its drawing gets a view box."""
    small = {"phase.xs": "d, d^2", "phase.ys": "50, 100", "phase.p": 2}
    page = visit(1600, 900).open(urlencode({"pane": "phase"} | small))
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 900})
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".phase .printed").is_visible()
    assert "activation" in page.locator(".phase .printed").text_content()
    for drawing in page.locator(".phase .plot .main-svg").all():
        box, card = (
            drawing.bounding_box(),
            drawing.evaluate(
                "(node) => { const {left, right} = node.closest('.card').getBoundingClientRect();"
                " return [left, right]; }"
            ),
        )
        assert card[0] <= box["x"]
        assert box["x"] + box["width"] <= card[1]
        assert drawing.get_attribute("viewBox")


def test_a_scene_without_a_setting_in_its_address_has_its_own(visit) -> None:
    page = visit().open("tour=1")
    assert page.get_by_label("Neurons, p: type a value").input_value() == SCENES[0].setting["p"]
    assert "narrow.p=2" in page.url


def test_what_is_old_is_marked_while_theory_is_computed(visit) -> None:
    """A tour's result is not told above an empty page, nor an old formula below a new target."""
    seen = visit()
    page = seen.page
    held: list[Any] = []
    for task in ("beside", "predict"):
        page.route(f"**/api/{task}", lambda route: held.append(route))
    page.goto(f"{seen.address}/#tour=6&tour.answer=0")
    panel = page.get_by_role("region", name="Guided tour")
    panel.get_by_text("The plots are being computed.").wait_for()
    assert not panel.get_by_text(SCENES[5].happened[:40]).is_visible()
    seen.until(lambda: held)
    assert page.locator(".narrow .sizes.old").count() == 1
    page.goto(f"{seen.address}/#")
    page.reload()
    seen.until(lambda: page.locator(".narrow .plots").is_visible())  # floors alone
    page.locator(".narrow").get_by_label("Target f(x)").fill("He4(x1)")
    page.locator(".narrow .written.old").wait_for()
    seen.allowed += ["net::ERR", "Failed"]
    page.unroute_all(behavior="ignoreErrors")


def test_drafts_are_marked_on_the_plots(visit) -> None:
    seen = visit()
    page = seen.page

    def drafts_only(route: Any) -> None:
        if json.loads(route.request.post_data)["draft"]:
            route.continue_()

    page.route("**/api/predict", drafts_only)
    page.goto(f"{seen.address}/#narrow.d=2000&narrow.p=8")
    page.locator(".plots.draft").wait_for()
    mark = page.locator(".plots figcaption").first.evaluate(
        "(node) => getComputedStyle(node, '::after').content"
    )
    assert re.search("draft", mark)
    page.unroute_all(behavior="ignoreErrors")


def test_two_settings_have_sentences_and_surfaces(visit) -> None:
    small = {"narrow.d": 2000, "narrow.p": 8, "side.field": "activation", "side.value": "tanh"}
    page = visit().open(urlencode(small))
    figures = page.locator(".sides figure")
    assert figures.count() == 4
    told = [text for text in page.locator(".sides .side .reading").all_text_contents() if text]
    assert len(told) == 8
    surface = page.locator('.sides .plot[aria-label^="Target and network"]').first
    assert np.ptp(surface.evaluate("(node) => node.data[0].z")) > 1
