"""The network drawn, what it computes beside the target, and neurons that fly, in Chromium."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from giantstep.explorer.examples import DEMO
from giantstep.explorer.tasks.predict import run
from giantstep.explorer.views.function import function_reading
from giantstep.prediction.narrow.fitted_function import FittedFunction

STEPS = {"pane": "narrow", "narrow.d": 2000, "narrow.p": 8, "narrow.runs": 2}
ONE_DIRECTION = STEPS | {"target": "x1 + x1^2"}

DRAWN = """(name) => document
    .querySelector(`.narrow .plot[aria-label^="${name}"]`)
    .data.map(({type, x, y, z, name}) => ({type, x, y, z, name}))"""
FUNCTION = "Target and network"
NEURONS = "Neurons after step"


def scrub(page: Any, key: str) -> None:
    """Move the player by a key."""
    page.get_by_label("Step that is shown").focus()
    page.keyboard.press(key)


def reading(page: Any, title: str) -> Any:
    """The sentence below a plot."""
    caption = page.locator("figcaption").get_by_text(title, exact=True)
    return page.locator("figure").filter(has=caption).locator(".reading")


def lines(page: Any) -> list[float]:
    """Widths of the lines of the network, from the first direction."""
    return page.evaluate("""() => [...document.querySelectorAll(".network line.towards-1")]
        .map((line) => Number(line.getAttribute("stroke-width")))""")


def test_maps_of_target_and_network_follow_the_step(visit) -> None:
    seen = visit()
    page = seen.open(urlencode(STEPS))
    shown = {}
    for step, key in ((2, "End"), (1, "ArrowLeft"), (0, "Home")):
        scrub(page, key)
        seen.settle()
        target, network, strip = page.evaluate(DRAWN, FUNCTION)
        assert {target["type"], network["type"]} == {"contour"}
        shown[step] = np.array(network["z"])
        # The same colours: both maps and the strip share their ends.
        ends = page.evaluate(
            """() => document.querySelector('.plot[aria-label^="Target and"]').data
              .map(({zmin, zmax}) => [zmin, zmax])"""
        )
        assert ends[0] == ends[1] == ends[2]
        assert ends[0] == [np.min(target["z"]), np.max(target["z"])]
        assert strip["type"] == "heatmap"
        told = reading(page, "What the network computes").inner_text()
        assert told.startswith("At the start" if step == 0 else f"After step {step}")
    first, second = np.meshgrid(target["x"], target["y"])
    # x1 + x2 + x1^2 - x2^2 in (x1 + x2)/sqrt 2 and (x1 - x2)/sqrt 2
    exact = np.sqrt(2) * first + 2 * first * second
    assert np.allclose(target["z"], exact, atol=0.02)
    assert np.ptp(shown[0]) < 0.1 * np.ptp(exact)
    # Rows of a map are values of x1 - x2: after step 1 they are all the same.
    along = {step: np.ptp(z.mean(axis=0)) for step, z in shown.items()}
    across = {step: np.max(np.ptp(z, axis=0)) for step, z in shown.items()}
    assert across[1] < 0.2 * along[1] < across[2]


def test_the_sentence_says_which_directions_are_flat(visit) -> None:
    seen = visit()
    page = seen.open(urlencode(STEPS))
    scrub(page, "ArrowLeft")
    seen.settle()
    told = reading(page, "What the network computes")
    assert re.match(
        r"After step 1 the network follows .* only; along .* it is flat. It explains \d+%",
        told.text_content(),
    )
    formulas = told.locator("math").evaluate_all("(found) => found.map((at) => at.dataset.latex)")
    assert formulas == ["x_{1} + x_{2}", "x_{1} - x_{2}"]
    told = reading(page, "The network").text_content()
    assert told.startswith("After step 1 the squared length of a neuron is")


def test_one_direction_has_curves(visit) -> None:
    page = visit().open(urlencode(ONE_DIRECTION))
    target, network = page.evaluate(DRAWN, FUNCTION)
    x = np.array(target["x"])
    assert np.allclose(target["y"], x + x**2, atol=0.01)
    assert network["name"] == "network after step 2"
    assert np.ptp(network["y"]) > 0.2


def test_lines_of_the_network_widen_with_the_cosines(visit) -> None:
    seen = visit()
    page = seen.open(urlencode(STEPS))
    picture = page.get_by_role("img", name="The network after step 2")
    picture.wait_for()
    cosines = run({"setting": setting_of(STEPS)}, lambda *_: None)["neurons"][0]
    assert lines(page) == pytest.approx([7 * abs(c[0]) for c in cosines[2]], abs=0.01)
    scrub(page, "Home")
    seen.settle()
    assert max(lines(page)) < 0.5
    assert page.get_by_role("img", name="The network after step 0").count() == 1


def setting_of(state: dict[str, Any]) -> dict[str, str]:
    """The fields of the setting at an address of this file: the page opens on a demonstration."""
    from giantstep.explorer.examples import DEMO

    own = {key.removeprefix("narrow."): str(value) for key, value in state.items()}
    return DEMO | {key: value for key, value in own.items() if key != "pane"}


PLACES = """() => {
  window.places = [];
  const plot = document.querySelector('.narrow .plot[aria-label^="Neurons after"]');
  plot.on("plotly_afterplot", () => {
    const {x, y} = plot.data.find(({name}) => name === "theory");
    window.places.push(Math.max(...x.map((value, k) => Math.hypot(value, y[k]))));
  });
}"""
"""The largest distance of a neuron from the centre whenever the plot is drawn."""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_neurons_fly_unless_less_motion_is_wanted(visit, motion: str) -> None:
    seen = visit(reduced_motion=motion)
    page = seen.open(urlencode(STEPS))
    scrub(page, "Home")
    seen.settle()
    page.evaluate(PLACES)
    scrub(page, "ArrowRight")
    seen.settle()
    places = page.evaluate("window.places")
    start, end = 0.0, places[-1]
    assert end > 0.3
    between = [place for place in places if start + 0.1 * end < place < 0.9 * end]
    assert bool(between) == (motion == "no-preference")
    assert places == sorted(places)


def test_where_there_is_no_function_a_sentence_says_so(visit) -> None:
    page = visit().open(urlencode(STEPS | {"narrow.readout_n": 20}))
    told = reading(page, "What the network computes").text_content()
    assert told.startswith("What the network computes is not drawn: readout_n must be")
    assert page.evaluate(DRAWN, FUNCTION) == []
    assert page.get_by_role("img", name="The network after step 2").count() == 1


def test_sentences_are_made_from_the_shares() -> None:
    grid = np.zeros(1)
    function = FittedFunction(
        places=np.arange(3),
        grid=grid,
        target=np.zeros((1, 1)),
        network=np.zeros((3, 1, 1)),
        readout=np.zeros((3, 2)),
        varies=np.array([[0.0, 0.0], [0.5, 0.009], [0.5, 0.011]]),
        explained=np.array([-0.001, 0.5, 0.75]),
    )
    told = [function_reading(step, ("x1", "x2"), function, step) for step in range(3)]
    shares = [
        f"It explains {n}% of the target's variance over these directions." for n in (0, 50, 75)
    ]
    assert told == [
        f"At the start the network is nearly flat along x1 and x2. {shares[0]}",
        f"After step 1 the network follows x1 only; along x2 it is flat. {shares[1]}",
        f"After step 2 the network follows x1 and x2. {shares[2]}",
    ]


def test_the_share_of_the_whole_target_is_told_where_it_has_other_directions() -> None:
    """x2*x3 is half of the variance of x1 + x2*x3, and the plane x1, x2 averages it out."""
    target = {"target": "x1 + x2*x3", "d": "10000"}
    answer = run({"setting": DEMO | target, "draft": True}, lambda *_: None)
    told = answer["function"]["reading"][-1]
    error = answer["steps"][-1]["test_error"]["mean"]
    assert "It explains 100% of the target's variance over these directions." in told
    assert told.endswith(f"over all of them it explains {1 - error / 2:.0%}.")
    assert 0.45 < 1 - error / 2 < 0.51
    noisy = run({"setting": DEMO | target | {"noise": "1"}, "draft": True}, lambda *_: None)
    assert noisy["function"]["reading"][-1].endswith("are averaged out here.")
    plain = run({"setting": DEMO, "draft": True}, lambda *_: None)["function"]["reading"][-1]
    assert "other directions" not in plain
