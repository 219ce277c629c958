"""The fresh staircase of `analyze` against a Monte Carlo of its definition.

U_{t+1} = U_t + span{ v(x_U) : x_U in U_t },   v(x_U) = E_{x_perp} grad_perp f(x_U + x_perp)

The Monte Carlo knows nothing of the package: it samples gradients, averages them over x_perp at
OUTER random points x_U, and decides the rank of the OUTER x d matrix of averages from its noise. v
is a polynomial, so a few random points x_U, of any spread, span what all of U_t spans: only the
average over x_perp is noisy.

Which U_t. Step t starts from the U_t under test, not from the Monte Carlo's own. U_0 = {0} is
common to both, so agreement at every step is, by induction, agreement of the staircases, while
the Monte Carlo's own U_t, tilted by noise, would leak what is already learned into the next step.

Rank. Let N be the noise of the averages and C = E[N^T N], known from the sample covariances.
Times C^{-1/2}, the averages have singular values in standard errors. If the true rank is k, the
(k+1)-th is at most the norm of N C^{-1/2} on the null directions (Courant-Fischer). Its square is
at most sum_s z_s^T A_s z_s, z_s standard Gaussian, A_s >= 0, sum_s A_s = I_d; far out, no such
sum has a heavier tail than chi^2_d, the case of a single A_s = I, and d <= 4. What exceeds
THRESHOLD is kept; if a value is UNCLEAR, all are first sampled anew, 16 times as long.

Subspace. The two projections must differ, in Frobenius norm, by at most THRESHOLD standard
errors, those of the row space of the averages to first order in N. The square is a quadratic form
in Gaussians whose trace is the squared error: its tail is at most that of chi^2_1, so of chi^2_4.

Level. 36 polynomials, at most 4 steps each, 2 comparisons a step: at most 288 comparisons. For a
new SEED no false direction or distance is found with probability at least 1 - LEVEL = 0.999, the
averages of INNER gradients being Gaussian to good accuracy; so each has level 0.001 / 288:

    P(chi^2_4 > c) = exp(-c/2) (1 + c/2) <= 3.4e-6   for   sqrt(c) >= 5.6 standard errors.

Power. The level says nothing of true directions lost in noise. Against exact quadrature, SEEDs
100 to 299 (7200 polynomials, 15685 steps, 24 of them UNCLEAR at first) gave no failure; the
weakest true direction stood at 14 standard errors in the end, the strongest false one at 2.2, the
largest distance of projections at 4.2.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from giantstep import analyze

SEED = 20240
CASES = 36
LEVEL = 1e-3
COMPARISONS = 2 * 4 * CASES
THRESHOLD = 5.6
UNCLEAR = THRESHOLD / 2.5, THRESHOLD * 2.5
OUTER, INNER = 6, 16_000
SPREAD = 4.0  # of x_U: far out, what depends on x_U stands out from the noise
FLOOR = 1e-6  # round-off of an average, in root-mean-square gradients


class Target(NamedTuple):
    """f(x) = sum over terms of coefficient * prod_i He_{degrees[i]}(forms[i] . x)."""

    terms: list[tuple[float, tuple[int, ...]]]
    forms: np.ndarray  # orthogonal

    @property
    def text(self) -> str:
        names = [
            "".join(f"x{j}" if c == 1 else f"{c:+.17g}*x{j}" for j, c in enumerate(row, 1) if c)
            for row in self.forms
        ]
        return " ".join(
            "*".join([f"{c:+.17g}", *(f"He{k}({names[i]})" for i, k in enumerate(degrees) if k)])
            for c, degrees in self.terms
        )

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """At the columns of x."""
        y = self.forms @ x
        he = [np.ones_like(y), y]
        for k in range(1, 5):
            he.append(y * he[k] - k * he[k - 1])
        out = np.zeros_like(y)
        for c, degrees in self.terms:
            active = [i for i, k in enumerate(degrees) if k]
            for i in active:  # He_k' = k He_{k-1}
                others = (he[degrees[j]][j] for j in active if j != i)
                out[i] += math.prod(others, start=c * degrees[i] * he[degrees[i] - 1][i])
        return self.forms.T @ out


class Staircase(NamedTuple):
    dimensions: list[int]
    bases: list[np.ndarray]


def random_target(rng: np.random.Generator, rotated: bool) -> Target:
    """Sparse, of degree <= 5; most terms open one coordinate behind those opened before."""
    labels = rng.permutation(rng.integers(2, 5))
    terms = {}
    seen = 0
    for number in range(rng.integers(2, 6)):
        degrees = np.zeros(len(labels), dtype=int)
        # A term that opens two coordinates, or one to a power > 1, adds no direction by itself.
        opened = rng.choice(3, p=[0.25, 0.6, 0.15]) if number else 1
        opened = min(opened, len(labels) - seen)
        degrees[labels[seen : seen + opened]] = 1
        if opened and rng.random() < 0.15:
            degrees[labels[seen]] += rng.integers(1, 3)
        for _ in range(rng.integers(not opened, 4) if seen else 0):
            degrees[rng.choice(labels[:seen])] += degrees.sum() < 5
        seen += opened
        # Sizes 1 and 2 only: a direction is then absent by an exact cancellation, like that of
        # x1 + x2 + x1*x2, or clearly present; from a continuum, some would be all but absent.
        size = rng.choice([-2.0, -1.0, 1.0, 2.0])
        # Terms of like variance: none shall bury the others in its noise.
        norm = math.sqrt(math.prod(math.factorial(k) for k in degrees))
        terms[tuple(degrees.tolist())] = float(size / norm)
    top = 1 + max(i for degrees in terms for i, k in enumerate(degrees) if k)
    forms = np.linalg.qr(rng.standard_normal((top, top)))[0] if rotated else np.eye(top)
    return Target([(c, degrees[:top]) for degrees, c in terms.items()], forms)


@functools.cache
def case(index: int, seed: int = SEED) -> tuple[Target, Staircase]:
    target = random_target(np.random.default_rng([seed, index]), rotated=index % 3 == 2)
    fresh = analyze(target.text).as_dict()["staircase"]["fresh"]
    bases = [np.array(rows, dtype=float).reshape(-1, len(target.forms)) for rows in fresh["bases"]]
    return target, Staircase(fresh["dimensions"], bases)


def complement(basis: np.ndarray) -> np.ndarray:
    """Orthonormal rows orthogonal to the orthonormal rows of basis."""
    projection = np.eye(basis.shape[1]) - basis.T @ basis
    return np.linalg.eigh(projection)[1][:, len(basis) :].T


def averages(
    target: Target, basis: np.ndarray, rng: np.random.Generator, inner: int
) -> tuple[np.ndarray, np.ndarray]:
    """The v at OUTER points, a row each, in coordinates of the complement; row covariances."""
    outside = complement(basis)
    v = np.zeros((OUTER, len(outside)))
    covariance = np.zeros((OUTER, len(outside), len(outside)))
    for s in range(OUTER):
        x_u = SPREAD * basis.T @ rng.standard_normal((len(basis), 1))
        gradient = target.gradient(x_u + outside.T @ rng.standard_normal((len(outside), inner)))
        sample = outside @ gradient
        v[s] = sample.mean(axis=1)
        sample -= v[s][:, None]
        round_off = FLOOR**2 * np.sum(gradient**2) / inner * np.eye(len(outside))
        covariance[s] = sample @ sample.T / inner**2 + round_off
    # A row may be scaled at will, the span stays; if not by its noise, the noisiest row decides.
    scale = np.sqrt(np.trace(covariance, axis1=1, axis2=2))
    return v / scale[:, None], covariance / scale[:, None, None] ** 2


def monte_carlo_step(
    target: Target, basis: np.ndarray, rng: np.random.Generator, inner: int = INNER
) -> tuple[np.ndarray, float, np.ndarray]:
    """The U after this one, the standard error of its projection, all directions' z-scores."""
    v, covariance = averages(target, basis, rng, inner)
    variance, axes = np.linalg.eigh(covariance.sum(axis=0))
    _, z_scores, rows = np.linalg.svd(v @ axes / np.sqrt(variance))
    if inner == INNER and np.any((z_scores > UNCLEAR[0]) & (z_scores < UNCLEAR[1])):
        return monte_carlo_step(target, basis, rng, 16 * inner)
    rank = np.count_nonzero(z_scores > THRESHOLD)
    added = np.linalg.qr((rows[:rank] * np.sqrt(variance) @ axes.T).T)[0].T

    # First order: the row space of v + N is tilted by pinv(v added^T) N across added.
    leverage = np.sum(np.linalg.pinv(v @ added.T) ** 2, axis=0)
    across = np.trace(covariance - added.T @ added @ covariance, axis1=1, axis2=2)
    error = math.sqrt(2 * max(leverage @ across, 0.0)) + FLOOR
    return np.vstack([basis, added @ complement(basis)]), error, z_scores


def disagreement(target: Target, claim: Staircase, rng: np.random.Generator) -> str:
    """Where the Monte Carlo contradicts the claimed staircase; empty if nowhere."""
    r = len(target.forms)
    used, active = counts(target)
    basis = np.zeros((0, r))
    finished = complete = False
    for step, (dimension, claimed) in enumerate(zip(*claim, strict=True), 1):
        if finished:
            return f"step {step} is listed, but step {step - 1} is the last"
        estimate, error, z_scores = monte_carlo_step(target, basis, rng)
        if not dimension == len(claimed) == len(estimate):
            return f"step {step}: dimension {dimension}, sampled {len(estimate)}, {z_scores=}"
        distance = np.linalg.norm(estimate.T @ estimate - claimed.T @ claimed)
        if distance > THRESHOLD * error:
            return f"step {step}: projections differ by {distance / error:.1f} standard errors"
        finished = dimension in (used, len(basis))
        complete = finished or dimension == active
        basis = claimed
    return "" if complete else "the last step listed is not the last"


def counts(target: Target) -> tuple[int, int]:
    """Coordinates and directions the target depends on: two and one for x1 - 2*x2.

    A staircase that has all directions may end there, or say once that nothing is added.
    """
    probe = target.gradient(np.random.default_rng(0).standard_normal((len(target.forms), 50)))
    rank = np.linalg.matrix_rank(probe, tol=FLOOR * np.linalg.norm(probe))
    return int(np.count_nonzero(np.abs(probe).max(axis=1) > FLOOR)), int(rank)


def test_threshold_and_cases_are_as_described() -> None:
    half = THRESHOLD**2 / 2
    assert math.exp(-half) * (1 + half) <= LEVEL / COMPARISONS
    stairs = [case(index)[1].dimensions for index in range(CASES)]
    assert max(map(len, stairs)) <= 4
    assert sum(len(set(d)) >= 2 for d in stairs) >= CASES / 3
    assert sum(d == [0] or d[-1:] == d[-2:-1] for d in stairs) >= CASES / 8


@pytest.mark.parametrize("index", range(CASES))
def test_fresh_staircase_is_the_sampled_one(index: int) -> None:
    target, claim = case(index)
    found = disagreement(target, claim, np.random.default_rng([SEED, index, 1]))
    assert not found, f"{target.text}: {claim.dimensions}: {found}"


# Wrong staircases, made from the right one; None where it would not be wrong.


def never_conditions(target: Target, true: Staircase) -> Staircase | None:
    """Only E grad f, whatever has been learned."""
    if len(set(true.dimensions)) < 2:
        return None
    return Staircase(true.dimensions[:1] * 2, true.bases[:1] * 2)


def misses_last_direction(target: Target, true: Staircase) -> Staircase | None:
    """Conditions, but stalls before the last step that adds anything."""
    levels = len(set(true.dimensions))
    if levels < 3:
        return None
    keep = [*range(levels - 1), levels - 2]
    return Staircase([true.dimensions[i] for i in keep], [true.bases[i] for i in keep])


def adds_everything(target: Target, true: Staircase) -> Staircase | None:
    """All coordinates at the first step."""
    r = len(target.forms)
    return None if true.dimensions[0] == r else Staircase([r], [np.eye(r)])


def tilts_last_direction(target: Target, true: Staircase) -> Staircase | None:
    """The right dimensions, but the last direction added is 0.3 rad off."""
    last = len(set(true.dimensions)) - 1
    basis = true.bases[last]
    if len(basis) in (0, len(target.forms)):
        return None
    before = true.bases[last - 1] if last else basis[:0]
    new = np.linalg.svd(basis - basis @ before.T @ before)[2][0]
    away = complement(basis)[0]
    off = basis + np.outer(basis @ new, (math.cos(0.3) - 1) * new + math.sin(0.3) * away)
    return Staircase(true.dimensions, true.bases[:last] + [off] * (len(true.bases) - last))


def stops_too_soon(target: Target, true: Staircase) -> Staircase | None:
    """Right as far as it goes."""
    if len(true.dimensions) < 2 or true.dimensions[-2] == counts(target)[1]:
        return None
    return Staircase(true.dimensions[:-1], true.bases[:-1])


def goes_on_too_long(target: Target, true: Staircase) -> Staircase | None:
    """Right, with the last step told twice."""
    used, active = counts(target)
    if true.dimensions[-1] == active < used and true.dimensions[-2:-1] != [active]:
        return None
    return Staircase(true.dimensions + true.dimensions[-1:], true.bases + true.bases[-1:])


@pytest.mark.parametrize(
    "wrong",
    [
        never_conditions,
        misses_last_direction,
        adds_everything,
        tilts_last_direction,
        stops_too_soon,
        goes_on_too_long,
    ],
)
def test_wrong_staircase_is_rejected(
    wrong: Callable[[Target, Staircase], Staircase | None],
) -> None:
    tried = 0
    for index in range(CASES):
        target, true = case(index)
        claim = wrong(target, true)
        if claim is not None:
            tried += 1
            found = disagreement(target, claim, np.random.default_rng([SEED, index, 2]))
            assert found, f"{target.text}: {claim.dimensions} passes, true: {true.dimensions}"
    assert tried
