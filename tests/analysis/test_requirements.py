"""Exponents beyond the leap index against their definitions, and the table of needed samples."""

import itertools

import numpy as np
import pytest
from jaxtyping import Float

from giantstep import analyze, sample_requirements
from giantstep.analysis import labels, requirements
from giantstep.analysis.requirements import noise_sensitivity_exponent
from giantstep.gaussian import sampling
from giantstep.problem.target import make_target

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
"""Exact for polynomials of degree 79."""

LARGEST_ZERO = 1e-8
"""What rounding leaves of a mean of numbers of order one that is zero."""


def random_polynomial(key: np.random.Generator, r: int) -> str:
    """Two or three monomials of degree at most 4, even or odd ones only in half of the cases."""
    powers = [p for p in itertools.product(range(5), repeat=r) if 1 <= sum(p) <= 4]
    parity = key.integers(4)
    if parity < 2:
        powers = [p for p in powers if sum(p) % 2 == parity]
    chosen = key.choice(len(powers), size=min(len(powers), int(key.integers(1, 4))), replace=False)
    terms = []
    for place in chosen:
        factors = [f"He{k}(x{j + 1})" for j, k in enumerate(powers[place]) if k]
        terms.append("*".join([f"{key.uniform(0.5, 1.5):.3f}", *factors]))
    return " + ".join(terms)


def grid(r: int) -> tuple[list[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]]:
    points = np.stack([axis.ravel() for axis in np.meshgrid(*[NODES] * r, indexing="ij")])
    weights = np.prod(np.meshgrid(*[WEIGHTS] * r, indexing="ij"), axis=0).ravel()
    return list(points), weights


def second_moments_vanish(
    values: Float[np.ndarray, " n"], z: list[Float[np.ndarray, " n"]], w: Float[np.ndarray, " n"]
) -> bool:
    """Whether E[g (z_i z_j - 1[i = j])] = 0 for all i, j, by plain quadrature."""
    scale = np.sqrt(w @ values**2)
    moments = [w @ (values * (a * b - (i == j))) for i, a in enumerate(z) for j, b in enumerate(z)]
    return float(np.max(np.abs(moments))) < LARGEST_ZERO * scale


@pytest.mark.parametrize("seed", range(200))
def test_noise_sensitivity_is_what_quadrature_says(seed: int) -> None:
    """200 random polynomials of one or two directions; exact on both sides."""
    key = np.random.default_rng([2603, seed])
    r = int(key.integers(1, 3))
    text = random_polynomial(key, r)
    target = make_target(text, None)
    z, w = grid(target.r)
    label = np.asarray(target(z), dtype=float)
    by_definition = next(
        (b for b in range(1, 9) if not second_moments_vanish(label**b, z, w)), None
    )
    assert noise_sensitivity_exponent(target) == by_definition, text


def test_a_wrong_definition_is_noticed() -> None:
    """Wrong variant: first moments in the place of second ones give other exponents."""
    differ = 0
    for seed in range(40):
        key = np.random.default_rng([2603, seed])
        target = make_target(random_polynomial(key, int(key.integers(1, 3))), None)
        z, w = grid(target.r)
        label = np.asarray(target(z), dtype=float)
        first = next(
            (b for b in range(1, 9) if any(abs(w @ (label**b * a)) > LARGEST_ZERO for a in z)), None
        )
        differ += first != noise_sensitivity_exponent(target)
    assert differ > 10


@pytest.mark.parametrize(
    ("text", "leaps"),
    [
        ("sign(x1*x2*x3)", (3,)),  # two values: no transform helps (arXiv 2506.05500, parities)
        ("sign(x1*x2)", (2,)),
        ("x1*x2*x3", (2,)),  # through y^2
        ("He3(x1)", (1,)),  # through y^3
        ("He4(x1)", (2,)),  # even: E[z | y] = 0
        ("x1 + He3(x2)", (1,)),
        ("He3(x1)*He2(x2)", (1, 2)),
        ("x1 + x1*x2 + He3(x1)*x3", (1,)),  # E[y^4 x3] is not zero
    ],
)
def test_generative_leaps(text: str, leaps: tuple[int, ...]) -> None:
    analysis = analyze(text)
    further = sample_requirements(analysis).exponents
    assert further.generative_leaps == leaps
    assert further.complete
    assert leaps[0] == analysis.generative_exponent
    assert max(leaps) <= max(analysis.leaps)


@pytest.mark.parametrize(
    ("text", "shifted", "stretched"),
    [("He2(x1)", 1, 2), ("He3(x1)", 1, 1), ("He4(x1)", 1, 2), ("x1*x2*x3", 1, 1)],
)
def test_a_shift_destroys_every_leap_a_stretch_the_odd_ones(
    text: str, shifted: int, stretched: int
) -> None:
    """E f'(z + m) is not zero for a polynomial f; an even f stays even when z is stretched."""
    further = sample_requirements(analyze(text)).exponents
    assert (further.shifted, further.stretched) == (shifted, stretched)


def samples(text: str) -> dict[str, str]:
    return {row.method: row.samples for row in sample_requirements(analyze(text)).rows}


def test_the_table_of_a_cubic() -> None:
    found = samples("He3(x1)")
    assert found["one giant step"] == "d^3"
    assert found["one-pass descent"] == "d^2"
    assert found["correlational queries"] == "d^1.5"
    assert found["statistical queries"] == found["partial-trace estimator"] == "d"
    assert samples("He2(x1)")["one-pass descent"] == "d log d"


def test_several_directions_have_bounds_of_several_directions() -> None:
    found = samples("sign(x1*x2*x3)")
    assert found["low-degree polynomials"] == found["spectral method"] == "d^1.5"
    assert "statistical queries" not in found
    assert "best first-order method" not in found  # n ~ d does not suffice


def test_what_exceeds_a_paper_is_said_to_exceed_it() -> None:
    rows = {row.method: row for row in sample_requirements(analyze("x1 + He3(x2)")).rows}
    assert rows["several giant steps"].source == "beyond 2305.18270"
    rows = {row.method: row for row in sample_requirements(analyze("x1 + x1*x2")).rows}
    assert rows["several giant steps"].source == "2305.18270"


def test_coefficients_are_sampled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One pass over the points for the transforms, one for the powers, one for other inputs."""
    passes: list[int] = []
    plain = sampling.hermite_averages
    for module in (sampling, requirements, labels):
        monkeypatch.setattr(
            module, "hermite_averages", lambda *given: passes.append(len(given[1])) or plain(*given)
        )
    labels._bounded_transforms.cache_clear()
    analysis = analyze("relu(x1 + x2 + x3)*relu(x2 - x4)")
    sample_requirements(analysis)
    assert sorted(passes) == [1, 2, 8, 8]
