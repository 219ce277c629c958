"""The formula of one step: equal to the prediction and to an expectation by quadrature."""

import numpy as np
import pytest
import sympy

from giantstep import Setting, make_activation, make_target, one_step_formula, predict
from giantstep.prediction.narrow.one_step import mean_update

CASES = [
    ("x1 + x1*x2 + He3(x1)/6", "relu"),
    ("x1 + x2 + x1^2 - x2^2", "tanh(z + 0.5)"),
    ("He2(x1)*x2 + 2", "gelu"),
    ("x1^3*x2 + x2", "He1 + He2/2 + He3/3"),
    ("x1 + x2^2", "sign"),
]


def expression(target: str, activation: str):
    """The formula as a function of m, the step size, the output scale and the output weight."""
    formula = one_step_formula(target, activation)
    m = [f"m{k + 1}" for k in range(formula.target.r)]
    symbols = sympy.symbols([*m, "eta", "s_p", "a"], real=True)
    matrix = formula.to_sympy()
    assert matrix.free_symbols <= set(symbols)
    return sympy.lambdify(symbols, list(matrix))


@pytest.mark.slow(sentinel="tanh")
@pytest.mark.parametrize(
    ("target", "activation"), [CASES[0], CASES[1], CASES[4]], ids=["relu", "tanh", "sign"]
)
def test_it_is_the_prediction(target: str, activation: str) -> None:
    """Equal to ``predict`` from given rows: within four of the uncertainties that it states."""
    overlaps = np.array([[0.6, -0.3], [-0.2, 0.5]])
    rows = np.concatenate([overlaps, np.diag(np.sqrt(1 - np.sum(overlaps**2, axis=1)))], axis=1)
    setting = Setting(
        target,
        activation=activation,
        d=10**6,
        n="100d",
        p=2,
        steps=1,
        step_size=1.5,
        start="given",
        start_rows=rows,
        residual="labels",
        readout_n=0,
        test_n=0,
    )
    predicted, formula = predict(setting), expression(target, activation)
    for row in range(2):
        weight = float(predicted.readout[0, row])
        found = formula(*overlaps[row], setting.step_size[0], setting.scale, weight)
        uncertainty = predicted.overlap_uncertainty[0, 1, row]
        assert np.all(np.abs(found - predicted.overlap[0, 1, row]) <= 4 * uncertainty + 1e-12)
        assert np.all(uncertainty < 0.01)
        # A tenth more output weight is noticed, unless nothing moves.
        wrong = formula(*overlaps[row], setting.step_size[0], setting.scale, 1.1 * weight)
        off = np.abs(wrong - predicted.overlap[0, 1, row])
        assert np.any(off > 4 * uncertainty + 1e-12) == (activation != "sign")


@pytest.mark.parametrize(("target", "activation"), CASES[:4])
def test_it_is_the_closed_form(target: str, activation: str) -> None:
    """Equal to the closed form that the law of one step is computed with."""
    m = np.array([0.4, -0.7])
    update = mean_update(make_target(target).series, make_activation(activation), m)
    expected = m + 0.3 * (update.along_target + update.along_row * m)
    found = expression(target, activation)(*m, 0.5, 0.2, 3.0)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(("target", "activation"), CASES[:4])
def test_it_is_an_expectation(target: str, activation: str) -> None:
    """E[y sigma'(<w, x>) z] by a rule in z and in what w has outside, split at the kink."""
    m = np.array([0.5, 0.3])
    outside = np.sqrt(1 - m @ m)
    nodes, weights = np.polynomial.hermite_e.hermegauss(16)
    weights = weights / weights.sum()
    u, v = (each.ravel() for each in np.meshgrid(nodes, nodes))
    w = np.outer(weights, weights).ravel()
    # sigma'(<m, z> + outside g), averaged over g on a fine grid that a kink hurts little.
    g = np.linspace(-9, 9, 2001)
    density = np.exp(-(g**2) / 2) / np.sum(np.exp(-(g**2) / 2))
    derivative = make_activation(activation).derivative
    slope = derivative((m[0] * u + m[1] * v)[:, None] + outside * g) @ density
    y = make_target(target)([u, v])
    mean = np.array([np.sum(w * y * slope * u), np.sum(w * y * slope * v)])
    found = expression(target, activation)(*m, 1.0, 1.0, 1.0)
    np.testing.assert_allclose(found - m, mean, atol=2e-3 * np.abs(mean).max())


def test_every_update_is_ordered_by_degree() -> None:
    updates = one_step_formula("x1 + x1*x2", "He1 + He2 + He3 + He4").updates
    degrees = [sum(powers) for powers in updates[0]]
    assert degrees == sorted(degrees)
