"""What the claims about one step hold against runs: leading orders, closed forms, exponents."""

import math

import numpy as np
import pytest

from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.experiments import FIRST_LAYER
from giantstep.papers.claims.floors import degree_two
from giantstep.papers.claims.one_step import median_exponents
from giantstep.papers.claims.step_formulas import (
    closed_form,
    leading_form,
    ratio_values,
    step_forms,
)
from giantstep.problem.activation import make_activation
from giantstep.problem.setting import Setting

FIELDS = {
    "target": "He2(x1) + He4(x1)/3",
    "activation": "sin(z + 0.8)",
    "n": "4*d^2",
    "p": 4,
    "step_size": "2*p*d^0.5",
}
LEAP_3 = {"target": "He3(x1)", "activation": "sin(z)", "n": "d^3", "step_size": "p*d"}


def setting(d: int, **changes: object) -> Setting:
    return Setting(**(FIRST_LAYER | FIELDS | {"d": d, "steps": 1} | changes))


@pytest.mark.parametrize("changes", [{}, LEAP_3])
@pytest.mark.parametrize("readout", [1.0, -1.0])
def test_closed_form_is_that_of_averages_over_two_coordinates(
    changes: dict[str, object], readout: float
) -> None:
    """E[y sigma' x] by quadrature in the plane of w* and w, without Stein's lemma or a series.

    The squared length is E |w + (s/n) sum_mu y sigma' x|^2, written out for independent samples.
    """
    problem = setting(100, **changes)
    overlap = problem.d**-0.5
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    plane = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1).reshape(-1, 2)
    share = np.outer(weights, weights).ravel() / (2.0 * math.pi)
    row = np.array([overlap, math.sqrt(1.0 - overlap**2)])
    labels = np.asarray(problem.target([plane[:, 0]]))
    size = problem.step_size[0] * problem.scale * readout
    g = size * labels * np.asarray(problem.activation.derivative(plane @ row))
    mean = (share * g) @ plane
    alone = share @ (g**2 * (np.sum(plane**2, axis=1) + problem.d - 2))
    square = 1.0 + 2.0 * mean @ row + alone / problem.n
    square += (problem.n - 1) / problem.n * mean @ mean
    form = closed_form(problem, np.array([[overlap]]), np.array([[readout]]))
    assert form.overlap[0, 0] == pytest.approx(overlap + mean[0], rel=1e-9)
    assert form.square[0, 0] == pytest.approx(square, rel=1e-9)


@pytest.mark.parametrize(("leap", "changes"), [(2, {}), (3, LEAP_3)])
def test_leading_order_is_the_limit_of_the_closed_form(
    leap: int, changes: dict[str, object]
) -> None:
    """What it leaves out of overlap and squared length falls as 1/d; a wrong factor would stay."""
    missing = []
    for d in (1000, 100_000):
        problem = setting(d, **changes)
        start = np.array([[0.7, -1.3]]) * d**-0.5
        # A neuron and its partner: what the start itself adds cancels.
        rows, readout = np.repeat(start, 2, axis=1), np.tile([1.0, -1.0], (1, 2))
        leading = leading_form(problem, leap, rows, readout)
        closed = closed_form(problem, rows, readout)
        slope = np.sum(closed.overlap * leading.overlap) / np.sum(leading.overlap**2)
        missing.append([slope - 1.0, np.mean(closed.square) / np.mean(leading.square) - 1.0])
    small, large = np.abs(missing)
    assert np.max(large) < 1e-3
    np.testing.assert_allclose(small / large, 100.0, rtol=0.1)


def test_ratio_values_have_the_ratio_of_means_as_their_mean() -> None:
    values = ratio_values(np.array([2.0, 0.0, 7.0]), np.array([1.0, 0.0, 2.0]))
    assert values.mean() == pytest.approx(3.0)
    # A ratio that is the same in all runs has no spread, even where a denominator is zero.
    assert ratio_values(np.array([2.0, 0.0]), np.array([1.0, 0.0])) == pytest.approx(2.0)


@pytest.mark.law(sentinel="right")
@pytest.mark.parametrize("labels", ["right", "halved"])
def test_labels_of_half_the_size_are_seen(labels: str) -> None:
    """Runs on half of the target have half of the overlap, and shorter rows."""
    untold = {"right": {}, "halved": {"target": "He2(x1)/2 + He4(x1)/6"}}[labels]
    fields = FIELDS | {"steps": 1}
    findings = step_forms(fields, leap=2, untold=untold, d=(25, 100), runs=100)
    assert findings.verdict == ("holds" if labels == "right" else "fails")


def test_theory_gives_the_exponents_of_directions_inside_and_outside() -> None:
    fields = {
        "target": "He2(x1) + He3(x2)/2",
        "activation": "sin(z + 0.8)",
        "n": "8*d^2",
        "p": 4,
        "steps": 1,
        "step_size": "4*p*d^0.5",
    }
    inside, outside = median_exponents(fields, (1000, 100_000))
    assert inside == pytest.approx(0.0, abs=0.02)
    assert outside == pytest.approx(-0.5, abs=0.02)
    both = median_exponents(fields | {"target": "He2(x1) + He2(x2)"}, (1000, 100_000))
    assert both == pytest.approx(0.0, abs=0.02)


def test_floors_of_degree_two_and_of_any_penalty() -> None:
    """Powers of the terms out of reach; relu has no coefficient of degree 3, tanh none of 2."""
    relu, tanh = (make_activation(name).coefficients(3).values for name in ("relu", "tanh"))
    assert abs(relu[3]) < 1e-12
    assert abs(tanh[2]) < 1e-12
    assert abs(relu[2]) > 0.1
    claim = CLAIMS["floor-at-any-penalty"]
    within = claim.controls["the part outside $U$ has degree 1 and is fitted"]
    targets = (claim.setting["target"], within.options["untold"]["target"])
    powers = [Setting(target, d=100).target.series.square for target in targets]
    assert powers == pytest.approx([3.0, 3.0])


@pytest.mark.law(sentinel="relu")
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_tanh_does_not_come_down_to_degree_two(activation: str) -> None:
    fields = {
        "target": "x1 + x1*x2 + x1*x2*x3/2",
        "activation": activation,
        "steps": 0,
        "start": "sphere",
        "readout_start": "gaussian",
        "ridge": "0.03/p^2",
        "test_n": 5000,
    }
    findings = degree_two(fields, untold={}, ratios=(0.5, 2), samples=4.0, d=12, runs=4)
    last = findings.quantities[-1]
    assert last.name == "error at the largest ratio"
    assert last.verdict == ("holds" if activation == "relu" else "fails")
