"""Which subspace each giant step reaches, with fresh and with reused batches.

Fresh (Conjecture 1 of arXiv 2305.18270, n ~ d): U_0 = {0} and
U_{t+1} = U_t + span{ E_perp grad_perp f(x_U + x_perp) : x_U in U_t }.
Reused: from the second step on, a sample has felt its own label, and transforms of the label take
the place of f.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from operator import eq

import numpy as np
from jaxtyping import Float, Int

from giantstep.analysis.exponents import picks_up
from giantstep.analysis.labels import EVEN, ODD, Labels
from giantstep.analysis.subspace import (
    Decision,
    Evidence,
    completed,
    decide,
    name_vector,
    row_space,
    snap,
    span,
    tidy,
)
from giantstep.gaussian.accuracy import VANISHING
from giantstep.gaussian.independent_sums import gradient_of_sum, is_separable
from giantstep.gaussian.rules import adaptive_coefficients, panel_rule
from giantstep.gaussian.series import MOST_TURNED, HermiteSeries, among
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
    blocked: tuple[Blocked, ...] = ()
    reached: tuple[Float[np.ndarray, "_ r"], ...] = ()

    @property
    def converged(self) -> bool:
        """Whether every direction was decided: found, or surely absent."""
        return not any(decision.undecided for decision in self.decisions)

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
        return added(before, now)

    def in_coordinates(self, frame: Float[np.ndarray, "k r"]) -> Staircase:
        """The staircase of u = frame x as one of x."""
        return replace(
            self,
            bases=tuple(tidy(basis @ frame) for basis in self.bases),
            blocked=tuple(replace(b, basis=tidy(b.basis @ frame)) for b in self.blocked),
            reached=tuple(tidy(basis @ frame) for basis in self.reached),
        )


# Terms of total degree m of label power j that a step may use.
Allowed = Callable[[int, int], bool]

# Directions outside a subspace that a step may add at all, transforms of the label given or not.
Possible = Callable[[Float[np.ndarray, "_ r"], bool], Float[np.ndarray, "_ r"]]


def anything(basis: Float[np.ndarray, "_ r"], transformed: bool) -> Float[np.ndarray, "_ r"]:
    """Every direction outside a subspace: no symmetry is known."""
    return completed(basis)[len(basis) :]


@dataclass(frozen=True)
class Step:
    """The subspace a step reaches, what decided it, and how far noise may have tilted it."""

    basis: Float[np.ndarray, "_ r"]
    decision: Decision
    tilt: float = 0.0


def ascend(
    labels: Labels,
    before: Step,
    allowed: Allowed | None = None,
    leap: int = 1,
    possible: Possible = anything,
) -> Step:
    """One step up from a subspace."""
    basis = before.basis
    frame, inside = completed(basis), len(basis)
    r = basis.shape[1]
    evidence: list[tuple[int, Evidence]] = []
    truncation = 0.0
    for power, listed in labels.items():
        for series in listed:
            sd = standard_deviation(series)
            summed = _summed(series, leap)
            if not summed:
                matrices, degrees = series.rotate(frame).gradient_matrices(inside, leap)
            if inside:
                truncation = max(truncation, math.sqrt(series.tail) / sd)
            for level in _levels(series, leap):
                usable = partial(_usable, allowed, power, level)
                if summed:
                    rows = gradient_of_sum(series, frame, inside, usable)
                else:
                    rows = matrices[:, among(degrees, usable)]
                evidence.append((level, Evidence(rows / sd, rank_tolerance(series) / sd)))
    evidence.sort(key=lambda item: item[0])
    highest = max((level for level, _ in evidence), default=1)
    transformed = len(labels) > 1
    left = possible(basis, transformed) if leap == 1 else anything(basis, transformed)
    rows, decision, tilt = decide(
        [item for _, item in evidence],
        left @ frame[inside:].T if r > inside else np.zeros((0, 0)),
        truncation,
        # ||grad of the part of degree <= L|| is at most sqrt(L) times its norm.
        slack=before.tilt * math.sqrt(highest),
    )
    tilt = max(tilt, before.tilt)
    return Step(span(basis, snap(rows @ frame[inside:], tilt)), decision, tilt)


def _usable(allowed: Allowed | None, power: int, level: int, m: int) -> bool:
    """A tensor of degree m of a label's power, where all up to the level are asked together."""
    return m <= level and (allowed is None or allowed(m, power))


def _levels(series: HermiteSeries, leap: int) -> list[int]:
    """Total degrees up to which rows are asked together: noise grows with every degree."""
    if series.replicates is None:
        return [series.degree]
    steps = (leap, leap + 1, leap + 2, leap + 4)
    return sorted({min(level, series.degree) for level in (*steps, series.degree)})


def climb(
    first: Labels,
    later: Labels,
    allowed: Allowed | None = None,
    possible: Possible = anything,
) -> list[Step]:
    """Steps until all is learned or a step that used all of ``later`` adds nothing."""
    r = first[1][0].r
    steps = [Step(np.zeros((0, r)), Decision(None, None, 0.0))]
    while True:
        number = len(steps)
        # The first step sees rows of norm one; afterwards their norm is generic.
        step = ascend(first if number == 1 else later, steps[-1], allowed, possible=possible)
        steps.append(step)
        more = number == 1 and later is not first
        if len(step.basis) == r or (len(step.basis) == len(steps[-2].basis) and not more):
            return steps[1:]


@dataclass(frozen=True)
class Stage:
    """Directions that become learnable together from n ~ d^leap fresh samples a step.

    ``missing`` is None, or the degree that the activation lacks: it cannot learn them so.
    """

    leap: int
    basis: Float[np.ndarray, "_ r"]
    missing: int | None = None


def stages(
    labels: Labels, allowed: Allowed | None = None, start: Step | None = None
) -> list[Stage]:
    """The stages until every direction is learned, the smallest leap taken each time.

    A stage of leap k needs n ~ d^k: from U it adds the range of E[grad_perp^k f | x_U] for the
    smallest k at which that is not zero.  The staircase proper is the stretch of ones at the start.
    With ``allowed`` only terms that an activation can use count, and the stages after that are
    left to other activations.  With transforms of the label the leaps are generative ones.
    """
    r, highest = labels[1][0].r, max(s.degree for listed in labels.values() for s in listed)
    now = start or Step(np.zeros((0, r)), Decision(None, None, 0.0))
    listed: list[Stage] = []
    while len(now.basis) < r:
        for k in range(1, highest + 1):
            following = ascend(labels, now, allowed, leap=k)
            if len(following.basis) > len(now.basis):
                listed.append(Stage(k, added(now.basis, following.basis)))
                now = following
                break
        else:
            break
    reached = now.basis
    for stage in stages(labels, start=now) if allowed is not None else []:
        degree, _ = _needed_term(labels, reached, stage.basis, stage.leap)
        # A term below the tolerance leaves the least degree that a stage of this leap can have.
        listed.append(replace(stage, missing=max(degree, stage.leap)))
        reached = span(reached, stage.basis)
    return listed


def added(
    before: Float[np.ndarray, "_ r"], now: Float[np.ndarray, "_ r"]
) -> Float[np.ndarray, "_ r"]:
    """The part of a subspace that is orthogonal to an earlier one."""
    return tidy(row_space(now - now @ before.T @ before))


def staircase(
    labels: Labels, activation: Activation | None = None, possible: Possible = anything
) -> Staircase:
    """The staircase of a target given as {1: [f]} (fresh) or with its transforms (reused batches).

    U_{t+1} = U_t + span{E_perp grad_perp f(x_U + x_perp)}, docs/theory/index.md, eq. (3).
    With an activation it also says which of the directions that activation cannot pick up: the
    term h_beta(x_U) x_j of f^k moves a neuron by b_{|beta|+1} u^beta, and f^k enters only if the
    neuron's response to its own label has a part of degree k - 1.
    """
    first: Labels = {1: labels[1]} if len(labels) > 1 else labels
    steps = climb(first, labels, possible=possible)
    bases, decisions = tuple(s.basis for s in steps), tuple(s.decision for s in steps)
    if activation is None:
        return Staircase(bases, decisions)
    usable = UsableTerms(activation, len(labels) > 1)
    mine = climb(first, labels, usable, possible)
    blocked = tuple(_blocked(labels, steps, mine, usable, possible))
    return Staircase(bases, decisions, blocked, tuple(step.basis for step in mine))


class UsableTerms:
    """Whether an activation can use terms of a total degree of a label power."""

    def __init__(self, activation: Activation, reused: bool) -> None:
        self.activation = activation
        self.powers = label_response(activation) if reused else frozenset({1})
        self.usable: dict[int, bool] = {}

    def hands_on(self, power: int) -> bool:
        """Whether the response has that power, or for bounded transforms any high one."""
        if power == ODD:
            return bool(self.powers & {5, 7})
        if power == EVEN:
            return bool(self.powers & {4, 6, 8})
        return power in self.powers

    def __call__(self, degree: int, label_power: int) -> bool:
        if not self.hands_on(label_power):
            return False
        if degree not in self.usable:
            # Norm one decides the first step (degree 1); either norm will do later on.
            norms = (1.0,) if degree == 1 else (1.0, GENERIC_NORM)
            self.usable[degree] = any(picks_up(self.activation, degree, norm) for norm in norms)
        return self.usable[degree]


def _blocked(
    labels: Labels,
    steps: Sequence[Step],
    mine: Sequence[Step],
    usable: UsableTerms,
    possible: Possible,
) -> list[Blocked]:
    """Directions each step adds in theory but not with this activation, from the same subspace.

    ``mine`` are the steps of this activation: those that are asked for until it falls behind.
    """
    blocked, together = [], True
    before = Step(np.zeros((0, labels[1][0].r)), Decision(None, None, 0.0))
    for number, step in enumerate(steps, start=1):
        used: Labels = {1: labels[1]} if number == 1 else labels
        together = together and number <= len(mine)
        own = mine[number - 1] if together else ascend(used, before, usable, possible=possible)
        together = together and own.tilt == step.tilt and np.array_equal(own.basis, step.basis)
        rows = added(own.basis, step.basis)
        if len(rows):
            needed = _needed_term(used, before.basis, rows)
            blocked.append(Blocked(number, rows, *needed))
        before = step
    return blocked


def _needed_term(
    labels: Labels,
    basis: Float[np.ndarray, "_ r"],
    missing: Float[np.ndarray, "_ r"],
    leap: int = 1,
) -> tuple[int, int]:
    """(degree, label power) of the largest term of the first label that moves the directions."""
    inside = len(basis)
    # Coordinates u1 .. in U, then the missing directions, then the rest.
    frame = completed(np.concatenate([basis, missing]))
    best = (0.0, 1, 1)
    for power, listed in labels.items():
        for series in listed:
            sure, degrees = _moving_terms(series, frame, inside, len(missing), leap)
            if len(sure) and sure.max() > max(best[0], rank_tolerance(series)):
                best = (float(sure.max()), int(degrees[int(np.argmax(sure))]), power)
        if best[0] > 0:
            break
    bounded = {ODD: 3, EVEN: 2}
    return best[1], bounded.get(best[2], best[2])


def _moving_terms(
    series: HermiteSeries, frame: Float[np.ndarray, "r r"], inside: int, missing: int, leap: int
) -> tuple[Float[np.ndarray, " m"], Int[np.ndarray, " m"]]:
    """Sizes, less their noise, and degrees of the terms that move the ``missing`` directions."""
    if _summed(series, leap):
        degrees = np.arange(1, series.degree + 1)
        parts = [gradient_of_sum(series, frame, inside, partial(eq, int(m))) for m in degrees]
        return np.array([np.abs(part[..., :missing]).max(initial=0.0) for part in parts]), degrees
    turned = series.rotate(frame)
    outside = turned.outside_degrees(inside) == leap
    wanted = turned.exponents[:, inside : inside + missing].sum(axis=1) > 0
    part = turned.select(outside & wanted)
    return np.maximum(np.abs(part.coefficients) - 9.0 * part.standard_errors, 0.0), part.degrees


def _summed(series: HermiteSeries, leap: int) -> bool:
    """Whether rows come from a sum over many directions: its series cannot be turned."""
    return leap == 1 and series.r > MOST_TURNED and is_separable(series)


# Many targets are analysed with one activation, as somebody types one.
@lru_cache(maxsize=64)
def label_response(activation: Activation, highest: int = 8) -> frozenset[int]:
    """Powers of the label, up to ``highest``, that a reused batch hands to the second step.

    After one step the preactivation of a sample has moved by a multiple of its own label:
    F(y) = E_h sigma'(h + y sigma'(h)), and the second gradient weighs the sample by y F(y).
    Power k is handed on if F has a part of degree k - 1; decided on Chebyshev coefficients on
    [-1, 1], exact for the parities that matter.  Powers beyond 3 stand for all.
    """
    nodes = np.cos(np.pi * (np.arange(16) + 0.5) / 16)
    kinks = np.array(activation.kinks or ())
    beside = np.concatenate([kinks - VANISHING, kinks + VANISHING])
    slopes = activation.derivative(beside) if len(kinks) else kinks

    def response(y: float) -> tuple[float, float]:
        def value(h: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
            return np.asarray(activation.derivative(h + y * activation.derivative(h)), dtype=float)

        with np.errstate(all="ignore"):
            if activation.expression is None:
                # Differences of a callable never settle to rounding: a fixed rule, to 1e-5.
                h, weights = panel_rule(3584)
                return float(weights @ value(h)), 1e-7
            # Where h, or h + y sigma'(h) beside a kink, is a kink again: the rule is split there.
            places = np.concatenate([kinks, *(kink - y * slopes for kink in kinks)])
            [mean], error = adaptive_coefficients(value, 0, places.tolist())
        return float(mean), error

    values, errors = zip(*(response(float(y)) for y in nodes), strict=True)
    coefficients = np.polynomial.chebyshev.chebfit(nodes, np.array(values), 15)
    threshold = max(VANISHING, 100.0 * max(errors))
    handed = {k for k in range(2, highest + 1) if abs(coefficients[k - 1]) > threshold}
    return frozenset({1} | handed)


def target_plane(stairs: Staircase, r: int) -> tuple[Float[np.ndarray, "k r"], tuple[str, ...]]:
    """The first two directions in the order in which a staircase learns them, with names."""
    learned = [stairs.added(step) for step in range(1, len(stairs.bases) + 1)]
    frame = completed(np.concatenate([np.zeros((0, r)), *learned]))[:2]
    return frame, tuple(name_vector(row) for row in frame)
