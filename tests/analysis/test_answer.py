"""The answer in sentences says what the record says, for any target and any activation."""

import re

import numpy as np
import pytest

from giantstep.analysis.analyze import Analysis, analyze
from giantstep.analysis.answer import answer, directions, named, steps_needed
from giantstep.analysis.staircase import added
from giantstep.analysis.subspace import name_space

GENERIC = "tanh(z + 0.7) + 0.3*relu(z + 0.4)"
"""An activation without a missing degree."""

ASKED = [
    ("x1", "relu"),
    ("x1", "He3"),
    ("x1", "sign(z)"),
    ("x1 + x2 + x1^2 - x2^2", "relu"),
    ("x1 + x2 + x1^2 - x2^2", "tanh"),
    ("x1 + x2 + x1^2 + x2^2 - 2", "relu"),
    ("x1 + x1*x2 + He3(x3)", "relu"),
    ("x1 + x1*x2*x3", "relu"),
    ("x1*x2*x3", "relu"),
    ("x1*x2*x3", "tanh(z + 0.5)"),
    ("He3(x1)", "relu"),
    ("He3(x1)", "tanh"),
    ("He4(x1)", "relu"),
    ("x1^2", "relu"),
    ("x1^2", "tanh"),
    ("x1*x2", "He3"),
    ("He2(x1)*x2", "relu"),
    ("x1*x2 + x1*x2*x3", "tanh(z + 0.5)"),
    ("x1 + x1*x2 + He3(x2)", "tanh"),
    ("exp(x1)*x2", "erf"),
    ("abs(x1) + abs(x2)", "relu"),
    ("sign(x1*x2*x3)", "relu"),
    ("sin(7*x1)", "relu"),
    ("cos(3*x1*x2)", "relu"),
    ("x1 + 0.37*x2 + (0.37*x1 - x2)^2", "relu"),
    ("x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8", "relu"),
    ("x1*x2 + x3*x4 + x5*x6", "relu"),
    ("x1 + He2(x2) + He3(x3) + He4(x4) + He5(x5)", "silu"),
    ("x1 + x1*x2 + x1*x2*x3 + x1*x2*x3*x4 + x1*x2*x3*x4*x5", "tanh(z + 0.5)"),
    ("threshold", "relu"),
    ("five-regimes", "relu"),
    ("staircase", "relu"),
]


def contradictions(analysis: Analysis, sentences: list[str]) -> list[str]:
    """What the sentences say and the record does not, or the other way round."""
    text = " ".join(sentences)
    fresh, reused = analysis.fresh.reached[-1], analysis.reused.reached[-1]
    complete = len(fresh) == len(directions(analysis))
    gained = len(added(fresh, reused)) > 0
    beyond = [stage for stage in analysis.stages if stage.leap > 1 and stage.missing is None]
    missing = [stage for stage in analysis.stages if stage.missing is not None]
    told = {int(k) for k in re.findall(r"d\^(\d+)", text)}
    checks = {
        "complete": complete == bool(re.search("all directions|only direction", text)),
        "nothing": (len(fresh) == 0) == ("no step learns anything" in text),
        "reuse": (gained and not complete) == bool(re.search(r"Reused.* learn |or reused", text)),
        "no help": not ("samples do not help." in text and gained),
        "samples": complete or told >= {stage.leap for stage in beyond[:1]},
        "exponents": told <= {*analysis.leaps, *(stage.leap for stage in analysis.stages)},
        "activation": bool(missing) <= bool(re.search("activation|do not (help|teach)", text)),
        "directions": {f"x{k}" for k in re.findall(r"\bx(\d+)", text)} <= set(analysis.directions),
        "steps": complete == (steps_needed(analysis) is not None),
    }
    return [name for name, fine in checks.items() if not fine] + wrong_steps(analysis, text)


def wrong_steps(analysis: Analysis, text: str) -> list[str]:
    """Steps of the first sentence that are not those of the staircase."""
    reached = analysis.fresh.reached
    before, wrong = reached[0][:0], []
    for ordinal, now in zip(
        ("first step learns", "second", "third", "fourth"), reached, strict=False
    ):
        gain = added(before, now)
        listed = len(gain) and "steps learn" not in text
        if listed and f"the {ordinal} {named(gain)}" not in text:
            wrong.append(ordinal)
        before = now
    return wrong


@pytest.mark.parametrize(("target", "activation"), ASKED)
def test_sentences_agree_with_the_record(target: str, activation: str) -> None:
    analysis = analyze(target, activation)
    sentences = answer(analysis)
    assert contradictions(analysis, sentences) == []
    assert all(sentence.endswith(".") and len(sentence.split()) <= 30 for sentence in sentences)


@pytest.mark.parametrize(
    ("target", "activation", "words"),
    [
        ("x1 + x2 + x1^2 - x2^2", "relu", "the first step learns x1 + x2, the second x1 - x2."),
        (
            "x1 + x2 + x1^2 - x2^2",
            "tanh",
            "can also learn x1 - x2, but tanh has no part of degree 2.",
        ),
        ("x1 + x1*x2 + He3(x3)", "relu", "x3 needs about d^3 samples and another activation: relu"),
        ("x1 + x1*x2 + He3(x3)", "relu", "Reused batches of n ~ d samples also learn x3"),
        ("He3(x1)", "tanh", "x1 needs about d^3 samples a step, or reused batches of n ~ d"),
        ("x1*x2*x3", "tanh(z + 0.5)", "x1, x2 and x3 need about d^3 samples a step."),
        ("x1", "sign(z)", "the slope of sign(z) has no part of degree 0"),
    ],
)
def test_what_a_reader_reads_first(target: str, activation: str, words: str) -> None:
    assert words in " ".join(answer(analyze(target, activation)))


def test_a_wrong_answer_is_noticed() -> None:
    """The check can fail: the answer of another target, or of another activation."""
    analysis = analyze("x1 + x2 + x1^2 - x2^2")
    for target, activation in [
        ("x1 + x2 + x1^2 - x2^2", "tanh"),
        ("x1 + x1*x2", "relu"),
        ("x1 + x2 + x1^2 + x2^2 - 2", "relu"),
        ("x1*x2*x3", "relu"),
    ]:
        assert contradictions(analysis, answer(analyze(target, activation)))


def random_target(key: np.random.Generator) -> str:
    """A sum of products of Hermite polynomials of up to four inputs."""
    terms = []
    for _ in range(key.integers(1, 4)):
        inputs = key.choice(4, size=key.integers(1, 4), replace=False) + 1
        degrees = key.choice([1, 1, 1, 2, 3], size=len(inputs))
        terms.append("*".join(f"He{d}(x{k})" for d, k in zip(degrees, inputs, strict=True)))
    return " + ".join(terms)


@pytest.mark.parametrize("seed", range(40))
def test_random_targets_are_answered(seed: int) -> None:
    key = np.random.default_rng(seed)
    target = random_target(key)
    activation = str(key.choice(["relu", "tanh", "silu", "He3", "He2 + He1", "tanh(z + 0.5)"]))
    analysis = analyze(target, activation)
    sentences = answer(analysis)
    assert all(sentence.strip(" .") for sentence in sentences)
    assert contradictions(analysis, sentences) == [], (target, activation, sentences)


@pytest.mark.parametrize("seed", range(10))
def test_what_other_activations_can_learn_one_of_them_learns(seed: int) -> None:
    """Directions that are called blocked are learned by an activation that has every degree."""
    target = random_target(np.random.default_rng(100 + seed))
    mine, generic = analyze(target, "tanh"), analyze(target, GENERIC)
    assert generic.fresh.reached_dimensions[-1] == mine.fresh.dimensions[-1]
    assert [stage.leap for stage in generic.stages] == list(mine.leaps)
    assert all(stage.missing is None for stage in generic.stages)


def test_a_small_part_is_pointed_out() -> None:
    """sin(5 x1) has 5 e^-12.5 x1: one step learns x1 only from far more samples than d."""
    text = " ".join(answer(analyze("sin(5*x1) + x2^2")))
    kept = analyze("sin(5*x1) + x2^2").fresh.decisions[0].smallest_kept
    assert kept is not None
    assert f"But step 1 uses a small part of the target, {100 * kept:.2g} %" in text
    assert "small part" not in " ".join(answer(analyze("0.1*x1 + x2^2")))


def test_a_function_of_python_is_answered() -> None:
    analysis = analyze(lambda x1, x2: x1 + x1 * x2)
    assert contradictions(analysis, answer(analysis)) == []


@pytest.mark.parametrize("target", ["sin(30*x1)", "sign(sin(20*x1))", "sin(30*x1) + x2"])
def test_what_is_undecided_is_said_so(target: str) -> None:
    """Nearly all of the variance is beyond the expansion."""
    sentences = answer(analyze(target))
    assert sentences[-1] == "Some of this could not be decided: see below."
    assert "No way to learn x1 was found up to degree 40." in sentences


def test_directions_are_those_that_the_target_depends_on() -> None:
    assert name_space(directions(analyze("x1*x3 + x2*x3"))) == ["x1 + x2", "x3"]
    assert steps_needed(analyze("x1 + x2 + x1*x3 + x2*x3")) == 2
    assert "These are all directions" in " ".join(answer(analyze("x1 + x2 + x1*x3 + x2*x3")))
    assert len(directions(analyze("x1 + 2*x2 + (x1 + 2*x2)^2"))) == 1


def test_stages_are_those_of_one_step() -> None:
    """At n ~ d^l, l the leap index, one step learns what the first stage adds."""
    for target in ("x1*x2 + x3", "x1*x2*x3", "He2(x1) + He3(x2)"):
        analysis = analyze(target, GENERIC)
        [step] = [
            entry
            for entry in analysis.one_step
            if entry.batch_exponent == analysis.leap_index and not entry.deflated
        ]
        assert name_space(step.learned) == name_space(analysis.stages[0].basis)


def test_an_activation_may_take_more_steps_than_the_staircase() -> None:
    """relu learns in three steps what the staircase offers in two."""
    analysis = analyze("tanh(x1 + He3(x2))/sqrt(2) + x1*x3")
    assert len(analysis.fresh.reached) > len(analysis.fresh.decisions)
    assert "the third" in " ".join(answer(analysis))


@pytest.mark.parametrize("target", ["x1 + x1*x2 + x3*x4", "x1 + He3(x1)*x2 + x3*x4"])
def test_what_another_activation_learns_from_few_samples_needs_no_more(target: str) -> None:
    """x2 needs another activation at n ~ d; x3 and x4 need d^2 samples as well."""
    text = " ".join(answer(analyze(target, "tanh")))
    assert "Other activations can also learn x2, but tanh has no part of degree" in text
    assert (
        "x3 and x4 need about d^2 samples and another activation: tanh has no part of degree 2."
        in text
    )
    assert "x2, x3" not in text
