"""Singular values of the features after giant steps at linear width: bulk and outliers.

The fixed point at penalty -z, z outside the spectrum of F^T F/n, F = sigma(X W^T), is the
resolvent of the features at z.  Their means add K(z) = groups sum_t p_t psi Q psi^T: outliers stand
where an eigenvalue of -D^(1/2) K D^(1/2) is 1, and its eigenvector e gives the overlaps of the
singular vectors.  Inside the bulk z = x^2 + i0 and Im tr Q / pi is the density.  See
docs/derivations/closed_system.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, NotConvergedError
from giantstep.gaussian.rules import hermite_values
from giantstep.prediction.wide.blocks import flat_pair, spread_over
from giantstep.prediction.wide.continuation import follow, solve
from giantstep.prediction.wide.fixed_point import Point
from giantstep.prediction.wide.network import TYPICAL, ReadoutStatistics
from giantstep.prediction.wide.runs import lagrange
from giantstep.prediction.wide.system import ClosedSystem, closed_system
from giantstep.problem.setting import Setting

DEGREES = 5
"""Overlaps are given with h_0 .. h_4 of kappa and with a^0 .. a^4."""


@dataclass(frozen=True)
class FeatureOutliers:
    """Singular values of F/sqrt(n) above ``edge``, the end of the bulk, largest first.

    ``left``: |overlap| of left singular vectors with h_k(kappa_1)/sqrt(n); ``right``: of right ones
    with a^k, normalised; k = 0 .. 4.
    """

    edge: float
    values: Float[np.ndarray, " k"]
    left: Float[np.ndarray, "k degrees"]
    right: Float[np.ndarray, "k degrees"]


def feature_outliers(setting: Setting, statistics: ReadoutStatistics = TYPICAL) -> FeatureOutliers:
    """Outliers of F/sqrt(readout_n), F = sigma(X W^T) on fresh samples, and their overlaps.

    An activation with a mean has the constant among them.  ``statistics`` -> of a run's readout.

    docs/derivations/closed_system.md, eq. (14).
    """
    system = closed_system(setting, statistics=statistics, prune=True)
    branch = Branch.down(system)
    edge = branch.points[-1]
    outliers = branch.outliers()
    overlaps = [_overlaps(point, j) for j, point in enumerate(outliers)]
    return FeatureOutliers(
        edge=math.sqrt(_place(edge)),
        values=np.array([math.sqrt(_place(point)) for point in outliers]),
        left=np.array([left for left, _ in overlaps]).reshape(-1, DEGREES),
        right=np.array([right for _, right in overlaps]).reshape(-1, DEGREES),
    )


def noisy_place(setting: Setting, noise: float, statistics: ReadoutStatistics = TYPICAL) -> float:
    """The singular value of the features along a direction of W with this much more noise.

    Rows have the same noise in all other directions.  The edge of the features where they see too
    little of the direction.

    docs/derivations/bulk.md, eq. (13).
    """
    system = closed_system(setting, statistics=statistics, prune=True, even=True)
    branch = Branch.down(system)
    linear = range(len(system.types.shares))
    return max(branch.place_of(partial(_noisy_strength, noise=noise, q=q)) for q in linear)


def _noisy_strength(point: Point, noise: float, q: int) -> float:
    """The largest eigenvalue of -D^(1/2) K D^(1/2) with K of a noisy direction of class q alone.

    docs/derivations/bulk.md, eq. (13).
    """
    system, block = point.system, point.system.blocks[q]
    load = system.types.load[q]
    slope = block.parts[:, :, 0] / load[:, :, 0]
    noisy = load.copy()
    noisy[..., -1] = np.copysign(
        np.sqrt(load[..., -1] ** 2 + noise * system.types.readout**2), load[..., -1]
    )
    means = np.einsum("mtb,tbj->mtjb", slope, noisy / math.sqrt(block.dimension))
    root = np.sqrt(point.weighted)
    coupling = -root[:, None] * spread_over(means, point.counted) * root
    return float(np.linalg.eigvalsh(coupling)[-1])


def _place(point: Point) -> float:
    return -float(np.real(point.penalty))


def _strength(point: Point, j: int) -> float:
    """The strength that is number j from the largest."""
    return float(strengths(point)[j])


def strengths(point: Point) -> Float[np.ndarray, " x"]:
    """Eigenvalues of -D^(1/2) K D^(1/2), largest first.

    K = psi Q psi^T, Q < 0: where nodes are more than coefficients of one, those of
    L^T psi^T D psi L, -Q = L L^T, for the others are 0.
    """
    nodes, means = np.tile(point.weighted, point.system.layers), point.system.means
    if means[0].size >= len(means):
        return np.linalg.eigvalsh(_coupling(point))[::-1]
    _, turned = flat_pair(means, np.linalg.cholesky(-point.counted))
    return np.linalg.eigvalsh((turned.T * nodes) @ turned)[::-1]


def _coupling(point: Point) -> Float[np.ndarray, "x x"]:
    """-D^(1/2) K D^(1/2)."""
    root = np.sqrt(np.tile(point.weighted, point.system.layers))
    return -root[:, None] * spread_over(point.system.means, point.counted) * root


@dataclass(frozen=True)
class Branch:
    """Solutions on the real axis from far above the spectrum down to its edge, in order."""

    points: tuple[Point, ...]

    @classmethod
    def down(cls, system: ClosedSystem, tolerance: float = 1e-8) -> Branch:
        """March down from above the spectrum until the steps to its edge are negligible.

        ``tolerance`` is that of the edge in z, relative; what is read off there is accurate to its
        square root.
        """
        place = _far_above(system)
        points = [solve(system, -place)]
        # Of classes of directions one of k directions has a bulk as wide as 4 sqrt(k/n) of its
        # place, .14 for one direction and n = 800, that a longer step would miss.
        march = 0.7 if len(system.types.shares) == 1 else 0.15
        reach = march * place
        while reach > tolerance * place:
            point = _stable(system, place - reach, points[-1])
            if point is None:
                reach *= 0.3
                continue
            place -= reach
            # Not all of the way to the edge as it is expected.
            reach = min(4.0 * reach, march * place, 0.9 * _way_left(points[-1], point))
            points.append(point)
        return cls(tuple(points))

    def outliers(self) -> list[Point]:
        """Where the largest strength is 1, the next one, and so on for all that pass 1."""
        count = int(np.sum(strengths(self.points[-1]) > 1.0))
        below: list[int] = []
        for i, point in enumerate(self.points):
            if len(below) == count:
                break
            passed = int(np.sum(strengths(point) > 1.0))
            below += [i] * (min(passed, count) - len(below))
        return [self._crossing(partial(_strength, j=j), i) for j, i in enumerate(below)]

    def place_of(self, strength: Callable[[Point], float]) -> float:
        """The singular value at which a strength is 1; the edge where it never is."""
        below = next((i for i, point in enumerate(self.points) if strength(point) > 1.0), None)
        end = self.points[-1] if below is None else self._crossing(strength, below)
        return math.sqrt(_place(end))

    def _crossing(self, strength: Callable[[Point], float], below: int) -> Point:
        """Where a strength is 1, which it first exceeds at the point ``below``."""
        if below == 0:
            raise NotConvergedError("an outlier lies above twice the trace of the features")
        seen = [self.points[below - 1]]

        def at(log_place: float) -> Point:
            near = min(seen, key=lambda point: abs(math.log(_place(point)) - log_place))
            point = _stable(near.system, math.exp(log_place), near)
            if point is None:
                raise NotConvergedError(
                    "the bulk falls into parts, one of them at the singular value "
                    f"{math.exp(0.5 * log_place):.4g}, and its upper end was not found"
                )
            seen.append(point)
            return point

        low, high = (math.log(_place(self.points[i])) for i in (below, below - 1))
        return at(zero_between(lambda x: strength(at(x)) - 1.0, low, high, 1e-9))


def _far_above(system: ClosedSystem) -> float:
    """A z above every eigenvalue: twice the trace of E[phi phi^T]."""
    return 2.0 * system.groups * system.noise.shape[-1] * system.feature_square


def _way_left(above: Point, below: Point) -> float:
    """How far z is from the edge: where the secant of ``_opening``, there linear in z, is 0.

    Where the opening does not fall yet, all of z may be left.
    """
    wide, narrow = _opening(above), _opening(below)
    if not narrow < wide:
        return _place(below)
    return (_place(above) - _place(below)) * narrow / (wide - narrow)


def zero_between(
    function: Callable[[float], float], low: float, high: float, tolerance: float
) -> float:
    """The zero between two places of opposite sign; NotConvergedError where the signs agree."""
    from scipy.optimize import brentq

    # Each value may cost a march to the edge: the ends are asked for once.
    ends = {place: function(place) for place in (low, high)}
    if ends[low] * ends[high] > 0:
        raise NotConvergedError(
            f"no change of sign between {low:g} and {high:g}: "
            f"got {ends[low]:.1e} and {ends[high]:.1e}"
        )

    def value(place: float) -> float:
        return ends[place] if place in ends else function(place)

    return float(brentq(value, low, high, xtol=tolerance))


def _opening(point: Point) -> float:
    """(m^2/m')^2 with m = tr Q: 1 far above the spectrum, falling to 0 linearly at its edge."""
    system = point.system
    trace = float(np.sum(np.trace(point.counted, axis1=1, axis2=2)))
    moved = np.trace(point.per_penalty[1], axis1=1, axis2=2)
    neurons = system.groups * point.resolvent.shape[-1]
    return (trace**2 / (neurons * float(system.neurons @ moved))) ** 2


def _stable(system: ClosedSystem, place: float, near: Point) -> Point | None:
    """The solution outside the spectrum next to another one, None inside.

    There Q < 0 and damping > 0, and both move with z as resolvents do: d tr Q/d lambda < 0 and
    d damping/d lambda > 0, signs that turn on the other branch behind the edge.
    """
    try:
        point = solve(system, -place, near)
        damping, resolvent = point.per_penalty
    except (NotConvergedError, np.linalg.LinAlgError):
        return None
    outside = np.all(point.damping > 0) and np.all(np.linalg.eigvalsh(point.resolvent) < 0)
    moving = np.all(damping > 0) and np.all(np.trace(resolvent, axis1=1, axis2=2) < 0)
    return point if outside and moving else None


def _overlaps(
    point: Point, j: int
) -> tuple[Float[np.ndarray, " degrees"], Float[np.ndarray, " degrees"]]:
    """|overlaps| of singular vectors j: residues of (1 + K)^-1 at the outlier.

    With rate = e^T K'(z) e: left^2 = (sqrt(o) h . e)^2/(z rate), right^2 = (e . psi Q b)^2/rate.

    docs/derivations/closed_system.md, eq. (14).
    """
    system = point.system
    e = np.linalg.eigh(_coupling(point)).eigenvectors[:, -1 - j]
    root = np.sqrt(np.tile(point.weighted, system.layers))
    damping, resolvent = point.per_penalty
    counted = system.neurons[:, None, None] * resolvent
    # d/dz = -d/dlambda, and K e = -e.
    turned = root * e
    rate = float(np.sum(e**2 * np.tile(damping / point.damping, system.layers)))
    rate -= float(turned @ spread_over(system.means, counted) @ turned)
    polynomials = hermite_values(system.kappa[:, 0], DEGREES - 1)
    left = polynomials.T @ turned[: len(system.kappa)] / math.sqrt(_place(point) * rate)
    # Modes are as often positive as negative.
    seen = np.einsum("x,xtb->tb", turned, system.means[:, :, 0])
    powers = system.types.readout[:, :, None] ** np.arange(DEGREES)
    norm = np.sqrt(np.einsum("t,tbk->k", system.neurons, powers**2))
    right = np.einsum("tb,tbc,tck->k", seen, point.counted, powers) / (norm * math.sqrt(rate))
    return np.abs(left), np.abs(right)


def feature_density(
    setting: Setting,
    values: Float[np.ndarray, " k"],
    statistics: ReadoutStatistics = TYPICAL,
    edge: float | None = None,
    *,
    neighbours: int = 3,
) -> Float[np.ndarray, " k"]:
    """Density at ``values`` of the min(n, p) singular values of F/sqrt(n), outliers left out.

    2 x Im tr Q(x^2 + i0) / (pi min(n, p)), tr over all p neurons: its integral over the bulk is 1,
    less where features coincide (the symmetric start without a step has p/2 of them).  ``edge`` is
    that of ``feature_outliers``, where it is known; each solution is extrapolated from so many
    ``neighbours``.
    """
    if np.any(values <= 0):
        raise InputError(f"values must be positive, got {np.min(values):g}")
    system = closed_system(setting, statistics=statistics, prune=True)
    end = math.sqrt(_place(Branch.down(system).points[-1])) if edge is None else edge
    density = np.zeros(len(values))
    inside = [i for i in np.argsort(-values) if values[i] < end]
    # In this angle the solution has no root at the edge.
    angles = np.arccos(values[inside] / end)
    solved: list[Point] = []
    for k, i in enumerate(inside):
        before = angles[k - len(solved) : k]
        ahead = lagrange(before, angles[k : k + 1])[0] if solved else np.zeros(0)
        point = _inside(system, float(values[i]) ** 2, solved, ahead)
        solved = [*solved, point][-neighbours:]
        trace = np.sum(np.trace(point.counted, axis1=1, axis2=2))
        density[i] = 2.0 * values[i] * float(np.imag(trace)) / math.pi
    return density / min(setting.readout_n, setting.p)


def _inside(
    system: ClosedSystem,
    place: float,
    solved: Sequence[Point],
    ahead: Float[np.ndarray, " k"],
    accuracy: float = 1e-6,
) -> Point:
    """The solution just above the real axis: from its neighbours, or down from far above.

    ``ahead`` -> the weights with which the neighbours are extrapolated to this place; ``accuracy``
    -> height of z over the axis, relative to z, which smears less than that, and residual.
    """
    height = accuracy * place
    for guess in _guesses(solved, ahead, -complex(place, height)):
        try:
            point = follow(guess, accuracy)
        except NotConvergedError:
            continue
        if _upper(point):
            return point
    above = place
    point = solve(system, -complex(place, above))
    while above > height:
        above = max(0.1 * above, height)
        point = _descend(system, place, above, point)
    return point


def _guesses(
    solved: Sequence[Point], ahead: Float[np.ndarray, " k"], penalty: complex
) -> Iterator[Point]:
    """The neighbours extrapolated; then the tangent at the last, for where the bulk ends."""
    if solved:
        damping, resolvent = (
            np.tensordot(ahead, np.array([getattr(point, name) for point in solved]), axes=1)
            for name in ("damping", "resolvent")
        )
        last = solved[-1]
        yield replace(last, penalty=penalty, damping=damping, resolvent=resolvent, iterations=0)
        yield last.toward(last.system, penalty)


def _descend(system: ClosedSystem, place: float, height: float, near: Point) -> Point:
    """One solution lower, by smaller steps where Newton's method needs them."""
    start = -float(np.imag(near.penalty))
    try:
        point = solve(system, -complex(place, height), near)
        if _upper(point):
            return point
    except NotConvergedError:
        pass
    if start < 1.01 * height:
        raise NotConvergedError(f"closed system lost its branch at z = {place:g} + {height:g}i")
    middle = _descend(system, place, math.sqrt(start * height), near)
    return _descend(system, place, height, middle)


def _upper(point: Point) -> bool:
    """Resolvents map the upper half plane into itself: Im Q > 0, Im damping < 0."""
    return bool(
        np.all(np.imag(point.damping) < 0)
        and np.all(np.linalg.eigvalsh(np.imag(point.resolvent)) > 0)
    )
