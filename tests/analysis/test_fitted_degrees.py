"""Floors of a given activation: degrees of its neurons, least squares on given rows, runs."""

import math
from typing import Any

import numpy as np
import pytest

from giantstep import Setting, analyze, make_activation, simulate
from giantstep.analysis.fitted_degrees import FittedDegrees
from giantstep.papers.claims.regimes import FIVE
from giantstep.problem.activation import Activation


@pytest.mark.parametrize(
    ("activation", "even", "odd"),
    [
        ("relu", None, 3),
        ("softplus", None, 3),
        ("gelu", None, 3),
        ("silu", None, 3),
        ("abs(z)", None, 1),
        ("tanh", 0, None),
        ("erf", 0, None),
        ("sin", 0, None),
        ("sigmoid", 2, None),
        ("step", 2, None),
        ("tanh(z/10)", 0, None),
        ("tanh(z) + z^4", 6, None),
        ("abs(z) + He5", None, 7),
        ("softplus(z + 2)", None, None),
        ("exp(z/4)", None, None),
        ("z", 0, 3),
        ("He1 + He2/2", 4, 3),
        ("He3", 0, 5),
    ],
)
def test_a_parity_ends_where_that_part_of_the_activation_is_a_polynomial(
    activation: str, even: int | None, odd: int | None
) -> None:
    assert FittedDegrees(make_activation(activation)).ends == (even, odd)


@pytest.mark.parametrize("activation", ["relu", "softplus", "tanh", "sigmoid", "sign", "cos"])
def test_with_biases_only_polynomials_end(activation: str) -> None:
    biased = FittedDegrees(make_activation(activation), bias=0.5)
    assert biased.ends == (None, None)
    assert all(map(biased, range(30)))
    assert FittedDegrees(make_activation("He3"), bias=0.5).ends == (4, 5)


def test_rows_of_length_one_lack_what_vanishes_there_alone() -> None:
    """He3(z) has no linear part under N(0, 1): E[He3(s z) z] = 3 s (s^2 - 1)."""
    cubic = make_activation("He3")
    assert [FittedDegrees(cubic, moved=False)(k) for k in range(4)] == [False, False, False, True]
    assert [FittedDegrees(cubic)(k) for k in range(5)] == [False, True, False, True, False]


def test_callables_are_read_as_expressions_are() -> None:
    assert FittedDegrees(make_activation(np.tanh)).ends == (0, None)
    assert FittedDegrees(make_activation(lambda z: np.logaddexp(0.0, z))).ends == (None, 3)


TERMS = [(0,), (1,), (2,), (3,), (4,), (0, 1), (1, 1), (2, 1), (3, 1), (0, 2), (1, 2)]
"""Exponents of terms in x1, which spans U, and x2 outside."""

HIGHEST = 40
FACTORIALS = np.array([float(math.factorial(k)) for k in range(HIGHEST + 1)])


def least_errors(activation: Activation, p: int, bias: float) -> dict[tuple[int, ...], float]:
    """E (h_alpha - best readout)^2 of p neurons for the terms, the law of x integrated.

    Rows (v, s omega) with v along x1 and omega uniform in ten dimensions more.  The features have
    the Gram matrix sum_D c_D(i) c_D(j) cos(i, j)^D, c_D the normalised Hermite coefficients.
    """
    rng = np.random.default_rng(3)
    omega = rng.standard_normal((p, 10))
    omega /= np.linalg.norm(omega, axis=1)[:, None]
    along = rng.choice([-1.5, -1.1, -0.7, -0.3, 0.3, 0.7, 1.1, 1.5], size=(p, 1))
    rows = np.concatenate([along, rng.choice([0.7, 1.0, 1.3], size=(p, 1)) * omega], axis=1)
    norms, shifts = np.linalg.norm(rows, axis=1), bias * rng.choice([-1.5, -0.7, 0.6, 1.2], size=p)
    coefficients = np.zeros((p, HIGHEST + 1))
    kinds = np.round(np.stack([norms, shifts], axis=1), 9)
    for norm, shift in np.unique(kinds, axis=0):
        values = activation.coefficients(HIGHEST, norm, shift).values
        coefficients[np.all(kinds == (norm, shift), axis=1)] = values / np.sqrt(FACTORIALS)
    unit = rows / norms[:, None]
    cosines, gram = unit @ unit.T, np.zeros((p, p))
    for degree in range(HIGHEST + 1):
        gram += np.outer(coefficients[:, degree], coefficients[:, degree]) * cosines**degree
    gram += 1e-7 * np.trace(gram) / p * np.eye(p)
    errors = {}
    for alpha in TERMS:
        degree = sum(alpha)
        count = FACTORIALS[degree] / math.prod(FACTORIALS[k] for k in alpha)
        product = np.prod(unit[:, : len(alpha)] ** np.array(alpha), axis=1)
        overlap = coefficients[:, degree] * math.sqrt(count) * product
        errors[alpha] = 1.0 - float(overlap @ np.linalg.solve(gram, overlap))
    return errors


@pytest.mark.parametrize(
    ("name", "bias"),
    [
        ("relu", 0.0),
        ("softplus", 0.0),
        ("gelu", 0.0),
        ("tanh", 0.0),
        ("erf", 0.0),
        ("softplus(z + 2)", 0.0),
        ("He3", 0.0),
        ("relu", 1.0),
        ("tanh", 1.0),
    ],
)
def test_neurons_fit_the_degrees_that_they_have_and_no_others(name: str, bias: float) -> None:
    """Least squares on rows whose part in U is given: the error of a missing degree is exactly one.

    Any other comes down, by a twentieth at least, with four times as many neurons.
    """
    activation = make_activation(name)
    fits = FittedDegrees(activation, bias=bias)
    few, many = (least_errors(activation, p, bias) for p in (100, 400))
    for alpha in TERMS:
        if fits(sum(alpha)):
            assert many[alpha] < max(0.95 * few[alpha], 1e-3), alpha
            assert many[alpha] < 0.95, alpha
        else:
            assert few[alpha] == pytest.approx(1.0, abs=1e-9)
            assert many[alpha] == pytest.approx(1.0, abs=1e-9)


def test_five_regimes_with_softplus_leave_the_cross_term() -> None:
    """softplus = z/2 + an even function: He2(x1)*x2, of weight one, is out of reach at any p."""
    regimes = {
        name: {(r.n_exponent, r.p_exponent): r for r in analyze(FIVE, name).regimes}
        for name in ("softplus", "relu", "softplus(z + 2)")
    }
    for name in ("softplus", "relu"):
        floors = [entry.floor for entry in regimes[name].values()]
        assert floors == pytest.approx([2.08, 2.08, 1.08, 1.08, 1.04])
        assert "He2(x1)*x2" not in str(regimes[name][1, 1].fitted)
    anything = [2.08, 1.08, 1.08, 1.08, 0.04]
    for table in regimes.values():
        assert [entry.floor_any for entry in table.values()] == pytest.approx(anything)
    full = [entry.floor for entry in regimes["softplus(z + 2)"].values()]
    assert full == pytest.approx(anything)


def test_odd_activations_miss_the_mean_unless_it_was_fitted_before() -> None:
    """f = 2 + x1 + He2(x1) with tanh: the weights 4 of the mean and 2 of He2 are left."""
    found = analyze("2 + x1 + He2(x1)", "tanh")
    assert [entry.narrow for entry in found.floors] == pytest.approx([7, 6])
    assert [entry.narrow for entry in found.floors_any] == pytest.approx([3, 0], abs=1e-12)
    assert [entry.floor for entry in found.regimes[:2]] == pytest.approx([6, 6])
    # Degrees below two are removed and fitted on their own; tanh learns nothing of He2.
    assert [entry.floor for entry in found.regimes[2:]] == pytest.approx([2, 2, 2])


def test_a_truncated_series_says_how_far_a_floor_may_be_too_low() -> None:
    """E f_odd^2 beyond degree one of f = sign(x1): 1 - 2/pi, which relu misses."""
    found = analyze("sign(x1)", "relu").floors[1]
    assert found.narrow < 1.0 - 2.0 / math.pi < found.narrow + found.narrow_uncertainty + 1e-12
    assert analyze("sign(x1)", "tanh").floors[1].narrow == pytest.approx(0.0, abs=1e-12)


SIZES: dict[str, Any] = {"d": 5, "p": 200, "steps": 1, "readout_n": 4000, "test_n": 20_000}


def test_runs_come_down_to_the_floor_of_the_activation_and_not_to_that_of_any() -> None:
    """x1*x2*x3 + x1 at k = 2 once x1 is learned: floor 1 with relu, 0 with any activation.

    p is ten times the number of even and linear terms of degree up to two.  Errors of two runs lie
    within 15 % of the floor of relu; the floor that ignores the activation is rejected, and so is
    the one of relu once the readout has biases.
    """
    target = "x1*x2*x3 + x1"
    analysis = analyze(target, "relu")
    floor, best = (table[1].by_degree[2] for table in (analysis.floors, analysis.floors_any))
    assert (floor, best) == pytest.approx((1.0, 0.0), abs=1e-12)
    plain = simulate(Setting(target, **SIZES, runs=2, seed=1)).test_error
    biased = simulate(Setting(target, **SIZES, runs=2, seed=1, bias=1.0, bias_at="readout"))
    assert plain is not None
    assert biased.test_error is not None
    last = plain[:, 1]
    assert np.all(np.abs(last - floor) < 0.15)
    assert not np.any(np.abs(last - best) < 0.15)
    assert np.all(biased.test_error[:, 1] < 0.5)


@pytest.mark.parametrize(
    ("activation", "floor"), [("softplus", 1.0), ("softplus(z + 2)", 0.0), ("tanh", 0.0)]
)
def test_a_readout_on_rows_that_know_u_exactly(activation: str, floor: float) -> None:
    """x1 + He2(x1)*x2/sqrt(2), p = 40 d rows with random parts along x1, 20,000 samples.

    The test error meets the floor of p ~ d: within 4 standard errors and 5 % where the cross term
    is out of reach, below .3 where it is not.  The other floor is rejected.
    """
    found = analyze("x1 + He2(x1)*x2/sqrt(2)", activation).regimes[1]
    assert found.floor == pytest.approx(floor, abs=1e-12)
    rng = np.random.default_rng(8)
    d, p, n = 8, 320, 20_000
    rows = rng.standard_normal((p, d)) / math.sqrt(d)
    rows[:, 0] = 1.5 * rng.standard_normal(p)
    sigma = make_activation(activation)

    def draw() -> tuple[np.ndarray, np.ndarray]:
        x = rng.standard_normal((n, d))
        y = x[:, 0] + (x[:, 0] ** 2 - 1.0) * x[:, 1] / math.sqrt(2.0)
        return np.asarray(sigma(x @ rows.T)), y

    features, y = draw()
    gram = features.T @ features / n
    readout = np.linalg.solve(gram + 1e-7 * np.eye(p), features.T @ y / n)
    features, y = draw()
    squares = (y - features @ readout) ** 2
    mean, error = float(squares.mean()), float(squares.std() / math.sqrt(n))
    if floor:
        assert abs(mean - floor) < 4 * error + 0.05
    else:
        assert mean < 0.3
