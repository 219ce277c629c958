"""Which subspace each giant step reaches, with fresh and with reused batches.

Fresh (Conjecture 1 of arXiv 2305.18270, n ~ d): U_0 = {0} and
U_{t+1} = U_t + span{ E_perp grad_perp f(x_U + x_perp) : x_U in U_t }.
Reused: from the second step on, a sample has felt its own label, and the polynomials of the label
y, y^2, y^3, ... take the place of f.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.analysis.exponents import VANISHING, active_dimension, picks_up
from giantstep.analysis.subspace import Decision, completed, row_space, span, tidy
from giantstep.gaussian.rules import adaptive_coefficients
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.tensors import rank_tolerance, standard_deviation
from giantstep.problem.activation import Activation

# After a step the rows of W no longer have norm one; sqrt 2 stands for any such norm, at which a
# coefficient that vanishes by accident at norm one (He3 at 1: b_1 = 0) does not.
GENERIC_NORM = 2.0**0.5


@dataclass(frozen=True)
class Blocked:
    """A direction the theory adds in a step, but through a zero coefficient of the activation."""

    step: int
    basis: Float[np.ndarray, "_ r"]
    coefficient: int
    label_power: int


@dataclass(frozen=True)
class Staircase:
    """Subspaces step by step; the last step that is listed is full, or adds nothing."""

    bases: tuple[Float[np.ndarray, "_ r"], ...]
    decisions: tuple[Decision, ...]
    converged: bool
    blocked: tuple[Blocked, ...] = ()
    reached: tuple[Float[np.ndarray, "_ r"], ...] = ()

    @property
    def dimensions(self) -> list[int]:
        """Dimension learned after each step, whatever the activation."""
        return [len(basis) for basis in self.bases]

    @property
    def reached_dimensions(self) -> list[int]:
        """Dimension after each step with this activation."""
        return [len(basis) for basis in self.reached]

    def added(self, step: int) -> Float[np.ndarray, "_ r"]:
        """Directions that step ``step`` (counted from 1) adds, orthogonal to the earlier ones."""
        now = self.bases[step - 1]
        before = self.bases[step - 2] if step > 1 else np.zeros((0, now.shape[1]))
        outside = now - now @ before.T @ before
        rows, _ = row_space(outside, 1e-7)
        return tidy(rows)


# Powers of the label: {1: f, 2: f^2, ...}; constant ones (sign^2) are left out.
LabelPowers = Mapping[int, HermiteSeries]

# Terms of total degree m of label power j that a step may use.
Allowed = Callable[[int, int], bool]


def ascend(
    label_powers: LabelPowers,
    basis: Float[np.ndarray, "_ r"],
    allowed: Allowed | None = None,
    leap: int = 1,
) -> tuple[Float[np.ndarray, "_ r"], Decision]:
    """One step up from a subspace: the subspace reached and the singular values that decided."""
    frame = completed(basis)
    inside = len(basis)
    blocks, tolerances = [], []
    for power, series in label_powers.items():
        sd = standard_deviation(series)
        usable = None if allowed is None else (lambda m, j=power: allowed(m, j))
        matrix = series.rotate(frame).gradient_matrix(inside, leap, usable)
        blocks.append(matrix / sd)
        tolerances.append(rank_tolerance(series) / sd)
    rows, decision = row_space(np.concatenate(blocks), max(tolerances))
    return span(basis, rows @ frame[inside:]), decision


def climb(
    first: LabelPowers,
    later: LabelPowers,
    full: int,
    allowed: Allowed | None = None,
) -> tuple[list[Float[np.ndarray, "_ r"]], list[Decision]]:
    """Steps until all is learned or a step that used all of ``later`` adds nothing."""
    bases: list[Float[np.ndarray, "_ r"]] = [np.zeros((0, first[1].r))]
    decisions: list[Decision] = []
    while True:
        step = len(decisions) + 1
        # The first step sees rows of norm one; afterwards their norm is generic.
        basis, decision = ascend(first if step == 1 else later, bases[-1], allowed)
        bases.append(basis)
        decisions.append(decision)
        stalled = len(basis) == len(bases[-2]) and (step > 1 or len(later) == len(first))
        if len(basis) == full or stalled:
            return bases[1:], decisions


def used_coordinates(series: HermiteSeries) -> int:
    """Number of coordinates that appear in the series at all: no step can add more.

    A coefficient counts above rounding (1e-12 of the standard deviation) and ten quadrature
    errors, far below the tolerance on ranks: a weak direction is listed as dropped, not hidden.
    """
    noise = max(1e-12 * standard_deviation(series), 10.0 * series.error)
    present = np.abs(series.coefficients) > noise
    return int(np.sum(np.any(series.exponents[present] > 0, axis=0)))


def leaps(series: HermiteSeries) -> list[int]:
    """The leap of each stage until every direction is learned, the smallest one taken each time.

    A stage of leap k needs n ~ d^k: from U it adds the range of E[grad_perp^k f | x_U] for the
    smallest k at which that is not zero.  The staircase proper is the stretch of ones at the start.
    """
    basis = np.zeros((0, series.r))
    found: list[int] = []
    full = active_dimension(series)
    while len(basis) < full:
        for k in range(1, series.degree + 1):
            following, _ = ascend({1: series}, basis, leap=k)
            if len(following) > len(basis):
                basis = following
                found.append(k)
                break
        else:
            break
    return found


def staircase(label_powers: LabelPowers, activation: Activation | None = None) -> Staircase:
    """The staircase of a target given as {1: f} (fresh) or {1: f, 2: f^2, ...} (reused batches).

    With an activation it also says which of the directions that activation cannot pick up: the
    term h_beta(x_U) x_j of f^k moves a neuron by b_{|beta|+1} u^beta, and f^k enters only if the
    neuron's response to its own label has a part of degree k - 1.
    """
    first = {1: label_powers[1]}
    full = used_coordinates(first[1])
    bases, decisions = climb(first, label_powers, full)
    # A series cut off in degree can only miss directions: settled if two degrees fewer agree.
    cut = {j: s.truncate(s.degree - 2) if s.tail > 0 else s for j, s in label_powers.items()}
    converged = (
        len(bases[-1]) == active_dimension(first[1])
        or all(s.tail == 0 for s in label_powers.values())
        or [len(b) for b in climb({1: cut[1]}, cut, full)[0]] == [len(b) for b in bases]
    )
    if activation is None:
        return Staircase(tuple(bases), tuple(decisions), converged)
    usable = UsableTerms(activation, label_response(activation, max(label_powers)))
    reached, _ = climb(first, label_powers, full, usable)
    blocked = tuple(_blocked(label_powers, bases, usable))
    return Staircase(tuple(bases), tuple(decisions), converged, blocked, tuple(reached))


class UsableTerms:
    """Whether an activation can use terms of a total degree of a label power."""

    def __init__(self, activation: Activation, powers: frozenset[int]) -> None:
        self.activation, self.powers = activation, powers
        self.known: dict[int, bool] = {}

    def __call__(self, degree: int, label_power: int) -> bool:
        if label_power not in self.powers:
            return False
        if degree not in self.known:
            # Norm one decides the first step (degree 1); either norm will do later on.
            norms = (1.0,) if degree == 1 else (1.0, GENERIC_NORM)
            self.known[degree] = any(picks_up(self.activation, degree, norm) for norm in norms)
        return self.known[degree]


def _blocked(
    label_powers: LabelPowers,
    bases: Sequence[Float[np.ndarray, "_ r"]],
    usable: UsableTerms,
) -> list[Blocked]:
    """Directions each step adds in theory but not with this activation, from the same subspace."""
    found = []
    before = np.zeros((0, label_powers[1].r))
    for step, basis in enumerate(bases, start=1):
        powers = {1: label_powers[1]} if step == 1 else label_powers
        with_activation, _ = ascend(powers, before, usable)
        missing = basis - basis @ with_activation.T @ with_activation
        rows, _ = row_space(missing, 1e-7)
        if len(rows):
            found.append(Blocked(step, tidy(rows), *_needed_term(powers, before, tidy(rows))))
        before = basis
    return found


def _needed_term(
    label_powers: LabelPowers,
    basis: Float[np.ndarray, "_ r"],
    missing: Float[np.ndarray, "_ r"],
) -> tuple[int, int]:
    """(degree, label power) of the largest term of lowest power that moves the directions."""
    frame = completed(basis)
    inside = len(basis)
    # Coordinates u1 .. in U, then the missing directions, then the rest.
    frame = completed(np.concatenate([frame[:inside], missing]))
    for power, series in label_powers.items():
        turned = series.rotate(frame)
        outside = turned.outside_degrees(inside) == 1
        wanted = turned.exponents[:, inside : inside + len(missing)].sum(axis=1) == 1
        part = turned.select(outside & wanted)
        weight = np.abs(part.coefficients)
        if len(weight) and weight.max() > rank_tolerance(series):
            return int(part.degrees[int(np.argmax(weight))]), power
    raise ValueError("no term moves the blocked directions")


def label_response(activation: Activation, highest: int) -> frozenset[int]:
    """Powers of the label that a reused batch hands to the second step.

    After one step the preactivation of a sample has moved by a multiple of its own label:
    F(y) = E_h sigma'(h + y sigma'(h)), and the second gradient weighs the sample by y F(y).
    Power k is handed on if F has a part of degree k - 1; decided on Chebyshev coefficients on
    [-1, 1], exact for the parities that matter.
    """
    if highest == 1:
        return frozenset({1})
    nodes = np.cos(np.pi * (np.arange(16) + 0.5) / 16)

    def response(y: float) -> tuple[float, float]:
        def value(h: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
            return np.asarray(activation.derivative(h + y * activation.derivative(h)), dtype=float)

        with np.errstate(all="ignore"):
            [mean], error = adaptive_coefficients(value, 0)
        return float(mean), error

    values, errors = zip(*(response(float(y)) for y in nodes), strict=True)
    coefficients = np.polynomial.chebyshev.chebfit(nodes, np.array(values), 15)
    threshold = max(VANISHING, 100.0 * max(errors))
    handed = {k for k in range(2, highest + 1) if abs(coefficients[k - 1]) > threshold}
    return frozenset({1} | handed)
