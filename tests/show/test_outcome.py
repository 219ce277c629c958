"""The sentences above the tables of learn and spectrum say what the tables hold."""

import math
import re
from typing import Any

import numpy as np
import pytest
from rich.console import Console, RenderableType

from giantstep.analysis.analyze import analyze
from giantstep.analysis.answer import answer
from giantstep.experiment import Experiment, run_experiment
from giantstep.problem.setting import Setting
from giantstep.records.summary import Value
from giantstep.show.tables.experiment import summary
from giantstep.show.tables.learn import learn_report
from giantstep.show.tables.outcome import (
    above_chance,
    directions_outcome,
    mean_random_cosine,
    random_cosine,
    spectra_outcome,
    with_error,
)

SIZES = {"d": 3000, "p": 8, "steps": 2, "readout_n": 0, "test_n": 0, "runs": 4}


def text_of(content: RenderableType) -> str:
    console = Console(width=120, highlight=False)
    with console.capture() as capture:
        console.print(content)
    return capture.get()


@pytest.fixture(scope="module")
def staircase() -> Experiment:
    return run_experiment(Setting("x1 + x1*x2 + x3^2 - 1", **SIZES))


def test_directions_are_found_at_their_steps(staircase: Experiment) -> None:
    found, left, why = directions_outcome(staircase)
    steps = {step.step: step.cosines for step in staircase.steps}
    cosines = [float(size) for size in re.findall(r"cosine ([0-9.]+)", found)]
    assert re.sub(r"[0-9.]+\)", ")", found) == (
        "Step 1 learned x1 (cosine ), step 2 learned x2 (cosine )."
    )
    assert cosines == pytest.approx([steps[1][0].mean, steps[2][1].mean], rel=0.06)
    assert left.startswith("Not clearly above chance after step 2: x3 (cosine 0.0")
    assert left.endswith("random neurons 0.012).")
    assert why == "Theory does not expect x3 to be learned from so few samples."


def test_the_sentences_stand_above_the_tables(staircase: Experiment) -> None:
    text = text_of(learn_report(staircase))
    places = [
        text.index(word) for word in ("Step 1 learned", "Theory and simulation", "Median |cos")
    ]
    assert places == sorted(places)
    assert text.count("Theory and simulation") == 1


def test_a_cosine_within_its_error_of_chance_is_not_found() -> None:
    """A multiple of chance and two standard errors: wrong variants on either side."""
    assert above_chance(Value(0.4, 0.01), 0.1, 2.5)
    assert not above_chance(Value(0.4, 0.01), 0.1, 4.5)
    assert not above_chance(Value(0.25, 0.001), 0.1, 2.5)
    assert not above_chance(Value(0.4, 0.08), 0.1, 2.5)
    assert not above_chance(Value(float("nan"), None), 0.1, 2.5)


def test_the_cosine_of_random_neurons_is_a_median() -> None:
    """Medians over 4,000 random rows, whose standard error is 2 % of them; not means over rows."""
    rows = np.random.default_rng(3).standard_normal((4000, 400))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for k in (1, 2, 3):
        found = np.median(np.linalg.norm(rows[:, :k], axis=1))
        assert random_cosine(k, 400) == pytest.approx(found, rel=0.05)
        assert random_cosine(k, 400) != pytest.approx(math.sqrt(k / 400), rel=0.1)


@pytest.mark.sentinel
@pytest.mark.law
def test_a_direction_far_above_chance_by_less_than_a_factor_is_weakly_aligned() -> None:
    """x2 at d = 40: some ten standard errors above random neurons, and less than twice as much."""
    sizes = {"d": 40, "n": "4d", "p": 6, "steps": 3, "runs": 100, "seed": 11, "step_size": 0.2}
    update = {"update": "adam(0.9, 0.999)", "readout_n": 0, "test_n": 0}
    experiment = run_experiment(Setting("x1 + x1*x2", **sizes, **update))
    cosine = experiment.steps[-1].cosines[1]
    assert cosine.standard_error is not None
    above = cosine.mean - random_cosine(1, 40)
    assert above > 6.0 * cosine.standard_error
    text = " ".join(directions_outcome(experiment))
    cosines = r"x2 \(cosine 0\.\d+ ± 0\.\d+, random neurons 0\.11\)"
    assert re.search(rf"Weakly aligned after step 3: {cosines}\. To count as learned, ", text)
    assert "a cosine must clearly exceed 2 times that of random neurons." in text
    assert "Not clearly above chance" not in text


def test_one_run_has_the_error_of_one_direction() -> None:
    """2.8 times the median of random neurons: of one run it is chance, of four it may be learned.

    Among 4,000 random directions a share of 5 % or less is called learned.  Rejected: one run
    without an error, which calls more of them so.
    """
    d = 100_000
    chance = random_cosine(1, d)
    alone = Value(2.8 * chance, None)
    assert not above_chance(with_error(alone, 1, d), chance, 2.0)
    assert above_chance(with_error(Value(2.8 * chance, 0.1 * chance), 1, d), chance, 2.0)
    drawn = np.abs(np.random.default_rng(3).standard_normal(4000)) / math.sqrt(d)
    runs = [Value(float(size), None) for size in drawn]
    share = np.mean([above_chance(with_error(run, 1, d), chance, 2.0) for run in runs])
    assert share < 0.05
    assert np.mean([above_chance(run, chance, 2.0) for run in runs]) > 0.05


def test_the_mean_cosine_of_a_random_direction() -> None:
    """4,000 random directions, within 4 standard errors; the median is rejected."""
    rows = np.random.default_rng(3).standard_normal((4000, 40))
    found = np.abs(rows[:, 0]) / np.linalg.norm(rows, axis=1)
    error = found.std(ddof=1) / math.sqrt(4000)
    assert abs(found.mean() - mean_random_cosine(1, 40)) < 4.0 * error
    assert abs(found.mean() - random_cosine(1, 40)) > 4.0 * error


def test_nothing_is_called_found_where_nothing_is_learned() -> None:
    experiment = run_experiment(Setting("x1^2 - 1", **SIZES))
    sentence, why = directions_outcome(experiment)
    assert sentence.startswith("Not clearly above chance after step 2: x1 (cosine")
    assert why == "Theory does not expect x1 to be learned from so few samples."


@pytest.mark.parametrize(
    ("target", "activation", "steps", "why"),
    [
        ("x1 + x1*x2", "tanh", 2, "Theory does not expect x2 to be learned: tanh has no part of"),
        ("x1 + x1*x2", "relu", 1, "Theory does not expect x2 to be learned in so few steps."),
        ("x1 + x1*x2", "relu", 2, "For large d, steps of giant size are expected to learn x2 by"),
    ],
)
def test_it_is_said_whether_theory_expects_what_is_not_learned(
    target: str, activation: str, steps: int, why: str
) -> None:
    """d = 30 is too small to show the second direction; the analysis is that of large d."""
    sizes = {**SIZES, "d": 30, "n": "4d", "steps": steps}
    sentences = directions_outcome(run_experiment(Setting(target, activation=activation, **sizes)))
    assert sentences[-1].startswith(why), sentences


@pytest.mark.parametrize(
    ("target", "fields"),
    [
        ("He3(x1)/sqrt(6)", {"lookahead": "sample(p/d)", "activation": "tanh"}),
        ("He3(x1)", {"inputs": "clusters(2, 1)"}),
        ("He3(x1)", {"inputs": "rademacher", "frame": "axes"}),
    ],
)
def test_nothing_is_ruled_out_where_the_analysis_does_not_hold(
    target: str, fields: dict[str, Any]
) -> None:
    """The analysis says of plain steps on N(0, I) that they learn nothing of the target."""
    setting = Setting(target, **{**SIZES, "d": 50, "steps": 1, **fields})
    experiment = run_experiment(setting)
    assert experiment.floors[1:] == [None]
    assert [name for name, _ in experiment.subspaces] == ["x1"]
    assert not any("does not expect" in sentence for sentence in directions_outcome(experiment))


def test_samples_are_compared_with_the_effective_dimension() -> None:
    """4 d samples are d^1 and, at power(0.9), more than two times D^2: one step is enough."""
    setting = Setting("He2(x1)", **{**SIZES, "d": 10_000, "n": "4d", "steps": 1})
    wide = run_experiment(setting.vary(inputs="power(0.9)", activation="tanh(z + 0.5)", p=4))
    assert wide.analysis is not None
    assert wide.analysis.inputs.letter == "D"
    assert [name for name, _ in wide.subspaces] == ["x1 (step 1)"]
    assert " D^2 samples a step" in " ".join(answer(wide.analysis))
    assert " d^2 samples a step" in " ".join(answer(analyze("He2(x1)")))


def test_what_the_start_has_is_told() -> None:
    start = {"start": "orthogonal", "start_overlaps": [[0.5], [0.5]]}
    experiment = run_experiment(Setting("x1", **{**SIZES, **start, "p": 2, "steps": 1}))
    assert directions_outcome(experiment) == ["The start already has x1 (cosine 0.5)."]


def test_few_inputs_tell_nothing() -> None:
    experiment = run_experiment(Setting("x1*x2", **{**SIZES, "d": 5, "p": 2, "n": 100}))
    assert directions_outcome(experiment) == [
        "d = 5 is too small to tell a learned direction from chance."
    ]


FEW: dict[str, Any] = {"readout_n": 0, "test_n": 0, "runs": 6}


def test_one_direction_that_has_a_cosine_with_two_is_learned_once() -> None:
    """Two clusters turn what step 1 learns towards x1 - x2; step 2 alone adds a direction.

    The cosine with x1 - x2 after step 1 is clear of chance: by it alone both would be learned.
    """
    setting = Setting("x1 + x2 + x1^2 - x2^2", d=20_000, n="4d", inputs="clusters(2, 0.5)", **FEW)
    experiment = run_experiment(setting)
    cosine = experiment.steps[1].cosines[1]
    assert above_chance(with_error(cosine, 1, 20_000), random_cosine(1, 20_000), 2.0)
    [sentence] = directions_outcome(experiment)
    assert re.sub(r"[0-9.]+\)", ")", sentence) == (
        "Step 1 learned x1 + x2 (cosine ), step 2 learned x1 - x2 (cosine )."
    )
    sentences = directions_outcome(run_experiment(setting.vary(steps=1)))
    assert sentences[0].startswith("Step 1 learned x1 + x2 (cosine 0.")
    assert re.fullmatch(
        r"What was learned also has a cosine with x1 - x2 \(0\.05\d* ± 0\.00\d+\)\. "
        r"This adds no direction\.",
        sentences[1],
    )


def test_what_later_steps_lose_is_told() -> None:
    """Inputs so uneven that the second step is mostly noise; steps on N(0, I) lose nothing."""
    setting = Setting("x1 + x2 + x1^2 - x2^2", d=3000, n="4d", inputs="power(1)", **FEW)
    experiment = run_experiment(setting)
    sentence = directions_outcome(experiment)[0]
    assert re.fullmatch(
        r"Step 1 learned x1 \+ x2 \(cosine 0\.1\d*, but 0\.0\d+ after step 2\)\.", sentence
    )
    assert "but" not in directions_outcome(run_experiment(setting.vary(inputs="gaussian")))[0]


def test_small_sizes_show_what_is_learned() -> None:
    """At d = 20 a cosine of 0.48 after two steps is learned: random neurons have 0.15."""
    setting = Setting("sign(x1)", d=20, n=800, p=4, steps=2, output_scale="1/sqrt(p)", **FEW)
    [sentence] = directions_outcome(run_experiment(setting))
    assert re.fullmatch(r"Step [12] learned x1 \(cosine 0\.\d+\)\.", sentence)


def test_a_line_in_a_plane_is_one_direction() -> None:
    """Two neurons of one axis lie in the plane of x1 and x2; with two axes both are learned."""
    start = {"start": "orthogonal", "start_overlaps": [[0.6, 0.6], [-0.6, -0.6]]}
    setting = Setting("x1*x2", d=3000, p=2, steps=1, step_size=1e-6, **FEW | start)
    assert directions_outcome(run_experiment(setting)) == [
        "The start already has 1 direction in the span of x1 and x2 (cosine 0.85 with the span)."
    ]
    both = setting.vary(start_overlaps=[[0.6, 0.6], [0.6, -0.6]])
    assert directions_outcome(run_experiment(both)) == [
        "The start already has x1 and x2 (cosine 0.85)."
    ]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        # One step on a batch sees every sample once: its staircase is that of fresh batches.
        (
            {"target": "x1 + He3(x2)", "activation": "He1 + He2/2", "batches": "reused"},
            "Theory does not expect x2 to be learned: He1 + He2/2 has no part of degree 3.",
        ),
        (
            {"target": "x1*x2", "activation": "tanh"},
            "Theory does not expect x1 and x2 to be learned: tanh has no part of degree 2.",
        ),
        (
            {"target": "x1*x2", "activation": "relu"},
            "Theory does not expect x1 and x2 to be learned from so few samples.",
        ),
        (
            {"target": "He2(x1)", "activation": "sin", "n": "4d^2"},
            "Theory does not expect x1 to be learned: sin has no part of degree 2.",
        ),
        (
            {
                "target": "x1 + He3(x2)",
                "activation": "He1 + He2/2",
                "batches": "reused",
                "steps": 2,
            },
            "Theory does not expect x2 to be learned: a step with He1 + He2/2 does not depend on "
            "y^3.",
        ),
    ],
)
def test_the_obstacle_is_the_one_of_the_batch(fields: dict[str, Any], why: str) -> None:
    sizes = {"d": 400, "n": 800, "p": 2, "steps": 1, **FEW}
    assert directions_outcome(run_experiment(Setting(**sizes | fields)))[-1] == why


def test_outliers_are_counted() -> None:
    sizes = {"d": 100, "step_size": 5.0, "test_n": 0, "readout_n": 0, "runs": 2}
    experiment = run_experiment(Setting.linear_width("x1", **sizes))
    text = " ".join(spectra_outcome(experiment))
    weights = experiment.steps[-1].weights
    assert weights is not None
    assert weights.counts is not None
    assert f"After step 1 W has {max(weights.counts)} singular value" in text
    assert "outside the bulk" in text
    assert "with the target directions (1: it lies in their span)." in text
    assert len(summary(experiment, [])) == 2
