"""Exponents, one step, staircases: the papers' examples, their rotations, and the activation."""

from functools import cache

import numpy as np
import pytest

from giantstep import Analysis, analyze, make_target
from giantstep.analysis.exponents import one_step
from giantstep.analysis.staircase import label_response, staircase
from giantstep.analysis.subspace import Evidence, decide, echelon, name_vector, row_space, span
from giantstep.gaussian.tensors import information_exponent
from giantstep.problem.catalog import CATALOG

EXAMPLES = {
    "x1 + x2 + x1^2 - x2^2": [1, 2],
    "x1 + x2 + x1^2 + x2^2 - 2": [1, 1],
    "x1 + x1*x2 + x1*x3": [1, 2, 2],
    "x1 + x1*x2 + He3(x1)*x3": [1, 3],
    "x1 + He2(x2) + He2(x1)*x2 + He4(x1)*He2(x2)*x3 + He2(x2)*He2(x3)": [1, 2, 3],
    "He3(x1)": [0],
    "He2(x1)": [0],
    "x1 + x1*x2 + x1*x2*x3 + x1*x2*x3*x4": [1, 2, 3, 4],
    "x1 + x2*x3 + x1*x4*x5": [1, 1],
    "x1 + x1*x2 + x2*x3 + x1*x2*x3*x4*x5": [1, 2, 3, 3],
}


@cache
def analyzed(text: str, activation: str = "relu") -> Analysis:
    return analyze(text, activation)


def rotation(r: int, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((r, r)))[0]


def projector(basis: np.ndarray) -> np.ndarray:
    return basis.T @ basis


@pytest.mark.parametrize(("text", "dimensions"), EXAMPLES.items())
def test_fresh_dimensions(text: str, dimensions: list[int]) -> None:
    assert analyzed(text).fresh.dimensions == dimensions


@pytest.mark.parametrize(
    ("text", "dimensions"),
    [
        ("He3(x1)", [0, 1]),
        ("He2(x1)", [0, 0]),
        ("x1 + x2 + x1^2 + x2^2 - 2", [1, 1]),
        ("He2(x1) + He3(x1)", [0, 1]),
        ("x1*x2*x3", [0, 0]),
        ("threshold", [0, 1]),
        ("sign(x1)", [1]),
    ],
)
def test_reused_dimensions(text: str, dimensions: list[int]) -> None:
    assert analyzed(text).reused.dimensions == dimensions


def test_subspaces_of_the_slides() -> None:
    stairs = analyzed("staircase").fresh
    half = np.sqrt(0.5)
    np.testing.assert_allclose(projector(stairs.bases[0]), [[0.5, 0.5], [0.5, 0.5]], atol=1e-12)
    np.testing.assert_allclose(np.abs(stairs.added(2)), [[half, half]], atol=1e-12)
    joint = analyzed("joint-step").fresh
    np.testing.assert_allclose(np.abs(joint.added(2)), [[0, half, half]], atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("text", [*EXAMPLES, "tanh(x1 + He3(x2))", "relu(x1) + x1*relu(x2)*x3"])
def test_rotated_targets_give_rotated_answers(text: str, seed: int) -> None:
    """g(u) = f(R^T u): every subspace turns with R, every exponent and floor stays, to 1e-8."""
    target = make_target(text)
    matrix = rotation(target.r, seed)
    plain = staircase({1: [target.series]})
    turned_series = target.series.rotate(matrix)
    turned = staircase({1: [turned_series]})
    assert turned.dimensions == plain.dimensions
    for before, after in zip(plain.bases, turned.bases, strict=True):
        np.testing.assert_allclose(
            projector(after), matrix @ projector(before) @ matrix.T, atol=1e-8
        )
    assert information_exponent(turned_series) == information_exponent(target.series)


@pytest.mark.parametrize("text", [text for text in EXAMPLES if "x5" not in text])
def test_rotated_text_is_analysed_the_same(text: str) -> None:
    """The same through the whole pipeline, the rotation multiplied into the expression itself."""
    target = make_target(text)
    matrix = rotation(target.r, 7)
    plain, turned = analyzed(text), analyze(target.rotate(matrix))
    assert turned.fresh.dimensions == plain.fresh.dimensions
    assert turned.reused.dimensions == plain.reused.dimensions
    assert turned.leap_index == plain.leap_index
    assert turned.generative_exponent == plain.generative_exponent
    assert turned.leaps == plain.leaps
    for before, after in zip(plain.reused.bases, turned.reused.bases, strict=True):
        np.testing.assert_allclose(
            projector(after), matrix @ projector(before) @ matrix.T, atol=1e-8
        )
    for before, after in zip(plain.floors, turned.floors, strict=True):
        np.testing.assert_allclose(after.by_degree, before.by_degree, atol=1e-8)


@pytest.mark.parametrize("text", [*EXAMPLES, "tanh(x1 + He3(x2))", "threshold"])
def test_an_unused_coordinate_changes_nothing(text: str) -> None:
    target = make_target(text)
    more = make_target(target, directions=np.eye(target.r + 1))
    plain, padded = analyzed(text), analyze(more)
    assert padded.fresh.dimensions == plain.fresh.dimensions
    assert padded.reused.dimensions == plain.reused.dimensions
    assert (padded.leap_index, padded.generative_exponent) == (
        plain.leap_index,
        plain.generative_exponent,
    )
    for before, after in zip(plain.fresh.bases, padded.fresh.bases, strict=True):
        np.testing.assert_allclose(after[:, :-1], before, atol=1e-10)
        np.testing.assert_array_equal(after[:, -1], 0.0)
    for before, after in zip(plain.floors, padded.floors, strict=True):
        np.testing.assert_allclose(after.by_degree, before.by_degree, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "leap", "generative", "leaps"),
    [
        ("x1", 1, 1, (1,)),
        ("He2(x1)", 2, 2, (2,)),
        ("He3(x1)", 3, 1, (3,)),
        ("He4(x1)", 4, 2, (4,)),
        ("x1*x2*x3", 3, 2, (3,)),
        ("sign(x1*x2*x3)", 3, 3, (3,)),
        ("x1 + He2(x2)", 1, 1, (1, 2)),
        ("x1 + x2*x3*x4", 1, 1, (1, 3)),
        ("tanh(x1)", 1, 1, (1,)),
        ("cos(x1)", 2, 2, (2,)),
    ],
)
def test_exponents(text: str, leap: int, generative: int, leaps: tuple[int, ...]) -> None:
    found = analyzed(text)
    assert found.leap_index == found.information_exponent == leap
    assert found.generative_exponent == generative
    assert found.leaps == leaps


def test_deciding_tensor_is_spelled_out() -> None:
    assert analyze("2*x1*x2 - He2(x3)/4 + He3(x1)").deciding_tensor == pytest.approx(
        {"x1*x2": 2.0, "He2(x3)": -0.25}
    )


def test_one_step_with_and_without_deflation() -> None:
    series = make_target("x1 + He2(x2) + x3*x4*x5").series
    sigma = analyze("x1", "tanh(z + 0.5)").activation
    learned = {
        (kappa, deflated): echelon(one_step(series, sigma, kappa, deflated).basis)
        for kappa in (1, 2, 3)
        for deflated in (False, True)
    }
    unit = np.eye(5)
    for key in ((1, False), (2, False), (3, False), (1, True)):
        np.testing.assert_allclose(learned[key], unit[:1], atol=1e-12)
    np.testing.assert_allclose(learned[2, True], unit[1:2], atol=1e-12)
    np.testing.assert_allclose(learned[3, True], unit[2:], atol=1e-12)


def test_below_the_leap_nothing_is_learned() -> None:
    by_batch = {e.batch_exponent: e for e in analyze("He2(x1) + He2(x2)", "tanh").one_step}
    assert len(by_batch[1].basis) == 0
    assert len(by_batch[2].basis) == 2


def test_near_ties_are_visible() -> None:
    weak = analyze("x1 + 1e-7*x1*x2").fresh
    assert weak.dimensions == [1, 2]
    assert weak.decisions[1].near_tie
    assert weak.decisions[1].smallest_kept == pytest.approx(1e-7, rel=1e-6)
    weaker = analyze("x1 + 1e-9*x1*x2").fresh
    assert weaker.dimensions == [1, 1]
    assert weaker.decisions[1].largest_dropped == pytest.approx(1e-9, rel=1e-6)
    assert not analyzed("staircase").fresh.decisions[1].near_tie


@pytest.mark.parametrize(
    ("text", "activation", "reached", "coefficient"),
    [
        ("x1 + He2(x1)*x2", "relu", [1, 1], 3),  # step 2 needs E[sigma'''], zero for relu
        ("x1 + He2(x1)*x2", "tanh(z + 0.5)", [1, 2], None),
        ("x1 + x1*x2", "tanh", [1, 1], 2),  # odd: E[sigma''] = 0
        ("x1 + x1*x2", "relu", [1, 2], None),
        ("x1 + x1*x2", "He2", [0], 1),  # even: not even the first step
        ("x1 + x1*x2", "He1 + He2/2", [1, 2], None),
        ("x1 + He2(x1)*x2", "He1 + He2/2", [1, 1], 3),
    ],
)
def test_what_an_activation_cannot_pick_up(
    text: str, activation: str, reached: list[int], coefficient: int | None
) -> None:
    found = analyzed(text, activation)
    assert found.fresh.dimensions == [1, 2]
    assert found.fresh.reached_dimensions == reached
    if coefficient is None:
        assert not found.fresh.blocked
    else:
        assert found.fresh.blocked[0].coefficient == coefficient
        assert any("cannot learn it" in note for note in found.notes)


def test_response_to_the_own_label() -> None:
    from giantstep import make_activation

    assert label_response(make_activation("relu"), 3) == {1, 2, 3}
    # sigma' even: F(-y) = F(y), so that only odd powers of the label are handed on.
    assert label_response(make_activation("tanh"), 3) == {1, 3}
    assert label_response(make_activation("He1"), 3) == {1}
    assert label_response(make_activation("He1 + He2"), 3) == {1, 2}


def test_reused_with_a_linear_activation_learns_no_more() -> None:
    found = analyze("He3(x1)", "He1")
    assert found.reused.dimensions == [0, 1]
    assert found.reused.reached_dimensions == [0, 0]


def test_truncated_series_say_whether_they_converged() -> None:
    assert analyzed("tanh(x1 + He3(x2))").fresh.converged
    # x2 couples through x1*x2, He2(x3) is out of reach: two degrees fewer than 2 miss x2.
    series = make_target("x1 + x2*sin(2*x1) + He2(x3)").series
    assert staircase({1: [series]}).converged
    assert staircase({1: [series]}).dimensions == [1, 2, 2]
    assert not staircase({1: [series.truncate(2)]}).converged


def test_names_of_directions() -> None:
    assert name_vector(np.array([1.0, -1.0]) / np.sqrt(2)) == "x1 - x2"
    assert name_vector(np.array([0.0, -2.0, 1.0])) == "2*x2 - x3"
    assert name_vector(np.array([2.0, 3.0]) / 5) == "2*x1 + 3*x2"
    assert name_vector(np.array([1.0, 0.83417])) == "x1 + 0.834*x2"


def test_a_rank_comes_with_what_decided_it() -> None:
    u = rotation(4, 0)
    matrix = u[:, :3] @ np.diag([1.0, 1e-3, 1e-12]) @ rotation(3, 1)
    basis, decision, _ = decide([Evidence(matrix[None], 1e-8)], np.eye(3), truncation=0.0)
    assert len(basis) == len(row_space(matrix, 1e-8)) == 2
    assert decision.smallest_kept == pytest.approx(1e-3)
    assert decision.largest_dropped == pytest.approx(1e-12, rel=1e-2)
    np.testing.assert_allclose(projector(span(basis)), projector(basis), atol=1e-12)


@pytest.mark.parametrize("name", list(CATALOG))
def test_whole_catalog_is_analysed(name: str) -> None:
    found = analyzed(name)
    assert found.fresh.converged
    dimensions = found.fresh.dimensions
    assert dimensions == sorted(dimensions)
