"""Train and test error of the ridge readout of a wide network after giant steps, without W.

The objective L = min over a of mean (y - phi.a)^2 + lambda |a|^2 of the fixed point is

    L = h^T D (1 + K D)^-1 h + h2^T D (1 + A_2 D)^-1 h2 + sum_m o_m rest_m,   h = (h0, h1, 0),

h_k the label's parts of degree k given kappa and the radius, K = groups sum_t p_t psi Q psi^T over
means psi, both on layers of nodes: functions of kappa, and those times each special direction; A_2
is the kernel of the features' degree 2.
With infinitely many further samples of total weight tau, test = dL/dtau at tau = 0, and
train = L - lambda dL/dlambda; both derivatives come from the Hessian of the fixed point.  See
docs/derivations/closed_system.md and, for a readout on the step's own batch, own_batch.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, NotConvergedError
from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.blocks import flat_pair
from giantstep.prediction.wide.continuation import positive, solve
from giantstep.prediction.wide.fixed_point import Point
from giantstep.prediction.wide.limits import LOSSES
from giantstep.prediction.wide.network import TYPICAL, ReadoutStatistics, random_offset
from giantstep.prediction.wide.own_batch import batch_samples
from giantstep.prediction.wide.quantities import fitted_on_batch
from giantstep.prediction.wide.readout_samples import ReadoutSamples, fresh_samples
from giantstep.prediction.wide.system import ClosedSystem
from giantstep.problem.penalties import penalty_grid
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Losses:
    """Mean squared errors of the readout at one penalty, and L = train + ridge |a|^2.

    ``left_out`` -> the leave-one-out error, which is the test error of fresh samples.  ``loose`` ->
    where the penalty was searched, how far the train error of a neighbour is away, relative, whose
    leave-one-out error cannot be told from the best.

    objective = min over a of mean (y - s_p phi.a)^2 + ridge |a|^2; n, d and p large and in
    proportion, one step of size n^alpha (arXiv 2310.07891; docs/derivations/closed_system.md).
    """

    ridge: float
    readout_n: int
    train: float
    test: float
    left_out: float
    objective: float
    residual: float
    iterations: int
    loose: float = 0.0


def losses(
    setting: Setting, ridge: float | None = None, statistics: ReadoutStatistics | None = None
) -> Losses:
    """Train error, test error and objective at one penalty in the setting's own convention.

    ridge: min over a of mean (y - s_p phi.a)^2 + ridge |a|^2, the setting's one penalty unless
    given.  Where the residual's mean is random (``random_offset``) the average over runs is taken,
    by the two-point rule at a total of +-1, exact to third order; ``statistics`` fix it instead.
    """
    return loss_curve(setting, None if ridge is None else [ridge], statistics=statistics)[0]


def loss_curve(
    setting: Setting,
    ridges: Sequence[float] | None = None,
    readout_sizes: Sequence[int] | None = None,
    statistics: ReadoutStatistics | None = None,
) -> list[Losses]:
    """``losses`` at several penalties or readout sizes, each started from the one before.

    All pairs, the penalties varying fastest.

    The closed system of docs/derivations/closed_system.md, one step at linear or quadratic width
    (arXiv 2310.07891, arXiv 2402.04980).

    docs/derivations/closed_system.md, eq. (13).

    >>> from giantstep import Setting, loss_curve
    >>> small, large = loss_curve(Setting.linear_width("x1", d=200), ridges=[0.1, 10.0])
    >>> small.test < large.test
    True
    """
    refuse_beyond(LOSSES, setting)
    penalties = _ridges(setting) if ridges is None else list(ridges)
    sizes = [setting.readout_n] if readout_sizes is None else list(readout_sizes)
    for ridge in penalties:
        if not ridge > 0:
            raise InputError(f"ridge must be positive, got {ridge:g}")
    for size in sizes:
        if size < 1:
            raise InputError(f"readout_n must be at least 1, got {size}")
        if fitted_on_batch(setting) and size != setting.n:
            raise InputError(f"readout_n must be n = {setting.n} for the last batch, got {size}")
    solutions = _Solutions.of(setting, statistics)
    return [solutions.at(ridge, size) for size in sizes for ridge in penalties]


def best_losses(
    setting: Setting,
    statistics: ReadoutStatistics | None = None,
    near: float | None = None,
    *,
    coarse: int = 3,
) -> Losses:
    """The losses at the penalty of least leave-one-out error.

    Every ``coarse``-th is tried, from the largest down until that error has risen twice, unless
    the best is expected ``near`` one; then those beside the best, until it is: errors fall and
    rise slowly, and tiny penalties may lose all digits.
    """
    refuse_beyond(LOSSES, setting)
    solutions = _Solutions.of(setting, statistics)
    ridges = penalty_grid(setting.scale**2 * solutions.feature_square)
    solved: dict[int, Losses] = {}

    def least(tried: Iterable[int]) -> int:
        # Downward: each fixed point starts from one at a larger penalty.
        for k in sorted(set(tried) - set(solved), reverse=True):
            solved[k] = solutions.at(float(ridges[k]), setting.readout_n)
        return min(solved, key=lambda k: solved[k].left_out)

    last = len(ridges) - 1
    if near is None:
        reach = coarse - 1
        for k in range(last, -1, -coarse):
            best = least([k])
            if best >= k + 2 * coarse:
                break
    else:
        reach, best = 1, least([int(np.argmin(np.abs(np.log(ridges / near))))])
    while True:
        middle = best
        best = least(range(max(middle - reach, 0), min(middle + reach, last) + 1))
        if best == middle or near is None:
            return replace(solved[best], loose=_loose(solved, best))


def _loose(solved: dict[int, Losses], best: int) -> float:
    """``Losses.loose``: leave-one-out errors of n samples are good to about n^(-1/2)."""
    least = solved[best]
    told = least.left_out * (1.0 + least.readout_n**-0.5)
    beside = [solved[k] for k in (best - 1, best + 1) if k in solved and solved[k].left_out <= told]
    return max((abs(other.train / least.train - 1.0) for other in beside), default=0.0)


class _Solutions:
    """Solutions of the systems of a setting, those of the ends of a random offset, as they come."""

    def __init__(self, setting: Setting, runs: Sequence[ReadoutStatistics]) -> None:
        self.scale = setting.scale
        samples = batch_samples if fitted_on_batch(setting) else fresh_samples
        self.samples = [samples(setting, run) for run in runs]
        self.systems = [each.system for each in self.samples]
        self.points: list[tuple[Point, ...]] = []

    @property
    def feature_square(self) -> float:
        """E phi^2 over inputs and neurons, the mean over the systems."""
        return float(np.mean([system.feature_square for system in self.systems]))

    @classmethod
    def of(cls, setting: Setting, statistics: ReadoutStatistics | None) -> _Solutions:
        """Those of one readout, or of the two-point rule."""
        if statistics is None and random_offset(setting):
            return cls(setting, [ReadoutStatistics(total=side) for side in (-1.0, 1.0)])
        return cls(setting, [statistics or TYPICAL])

    def at(self, ridge: float, size: int) -> Losses:
        """Losses at a penalty and a readout size, started from the nearest ones there are."""
        # s_p a is the readout of unit output scale: lambda = ridge / s_p^2.
        penalty = ridge / self.scale**2

        def distance(points: tuple[Point, ...]) -> float:
            point = points[0]
            ratios = float(np.real(point.penalty)) / penalty, point.system.n / size
            return sum(abs(math.log(ratio)) for ratio in ratios)

        near = min(self.points, key=distance, default=[None] * len(self.systems))
        points = tuple(
            _nearby(system if system.n == size else replace(system, n=size), penalty, last)
            for system, last in zip(self.systems, near, strict=True)
        )
        self.points.append(points)
        errors = [energies(*each) for each in zip(points, self.samples, strict=True)]
        train, test, left_out, objective = np.mean(errors, axis=0).tolist()
        return Losses(
            ridge=ridge,
            readout_n=size,
            train=train,
            test=test,
            left_out=left_out,
            objective=objective,
            residual=max(point.residual for point in points),
            iterations=sum(point.iterations for point in points),
        )


def _ridges(setting: Setting) -> list[float]:
    if setting.cross_validates:
        raise InputError("ridge must be a number for the closed system, got 'cv'")
    return list(setting.penalties)


def _nearby(system: ClosedSystem, penalty: float, last: Point | None) -> Point:
    """From the last solution where Newton's method holds on to it, else from scratch."""
    if last is not None:
        try:
            point = solve(system, penalty, last)
        except NotConvergedError:
            return solve(system, penalty)
        if positive(point):
            return point
    return solve(system, penalty)


def energies(point: Point, samples: ReadoutSamples) -> tuple[float, float, float, float]:
    """(train, test, leave-one-out, L) at a solution.

    docs/derivations/closed_system.md, eq. (13); docs/derivations/quadratic.md, eq. (4);
    docs/derivations/own_batch.md, eqs. (6) and (7).
    """
    objective, by_weight, by_group = _gradient(point, samples)
    system, screen = point.system, point.screen

    def along(
        weights: Float[np.ndarray, " m"],
        damping: Float[np.ndarray, " m"],
        resolvent: Float[np.ndarray, "t b b"],
    ) -> float:
        counted = system.neurons[:, None, None] * resolvent
        return float(by_weight @ (weights + system.weights * damping) - np.sum(by_group * counted))

    def error_on(weights: Float[np.ndarray, " m"]) -> float:
        """dL/dtau for further samples with these weights."""
        variance = -(screen.variance_by_weight @ weights) / system.n
        inverse = np.tensordot(weights, screen.inverse_by_weight + system.noise, 1)
        damping, resolvent = point.direction(variance, inverse)
        return along(weights, -damping, -resolvent)

    penalty = float(np.real(point.penalty))
    train = objective - penalty * along(np.zeros_like(system.weights), *point.per_penalty)
    test = error_on(samples.test_weights)
    # A sample left out of the readout is a further one with the law of the others.
    fresh = samples.test_weights is system.weights
    return train, test, test if fresh else error_on(system.weights), objective


def _gradient(
    point: Point, samples: ReadoutSamples
) -> tuple[float, Float[np.ndarray, " m"], Float[np.ndarray, "t b b"]]:
    """L, dL/do and -dL/dQ of a group of each type.

    L = sum of h^T R h with R = (D^-1 + C)^-1, C = K or A_2:
    dL = (Z h)^T dD (Z h) - (R h)^T dC (R h), Z = (1 + C D)^-1 and R = D Z.
    """
    system, o, screen = point.system, point.weighted, point.screen
    screened = _screened(point, samples)
    drawn = (o * screened).ravel()
    objective = float(samples.label.ravel() @ drawn + o @ samples.remaining)
    by_weight = np.sum(screened**2, axis=0) + samples.remaining
    seen = np.einsum("x,xtlb->tlb", drawn, system.means)
    by_group = np.einsum("tlb,tlc->tbc", seen, seen)
    counts = screen.stack.counts[:-1] / system.n
    shares = counts / screen.stack.dimensions[:-1]
    for known in samples.known:
        # dY = Z dA Z^T - Y dD Y in the part of K that the batch takes away.
        pulled = known * drawn[: len(o)]
        by_weight -= counts @ (screen.answers[:-1] @ pulled) ** 2
        shape = (len(counts), *screen.stack.parts.shape[2:])
        turned = (pulled @ screen.screened[:-1]).reshape(shape)
        by_group -= np.einsum("q,qtjb,qtjc->tbc", shares, turned, turned)
    second, curve = system.blocks[-1], samples.curve
    bent = screen.matrices[-1] @ curve
    objective += float(np.sum(curve * (o[:, None] * bent)))
    by_weight += np.sum(bent**2, axis=1)
    along_curve = np.einsum("ms,mtjb->stjb", o[:, None] * bent, second.parts)
    by_group += np.einsum("stjb,stjc->tbc", along_curve, along_curve) / second.dimension
    return objective, by_weight, by_group


def _screened(point: Point, samples: ReadoutSamples) -> Float[np.ndarray, "y m"]:
    """(1 + K D)^-1 h, by sets of layers that no mode connects.

    K = T psi^T, T = psi Q: where nodes are more than coefficients of one, as
    h - T (1 + psi^T D T)^-1 psi^T D h.  On the batch of the step K loses E = rho rho' [Z A] over n,
    summed over linear directions and over the functions rho that the rows know of the batch:
    (1 - E D)^-1 T and (1 - E D)^-1 h are then in the place of T and h.
    """
    system, o, label = point.system, point.weighted, samples.label
    screened, count = np.zeros_like(label), len(o)
    for part in system.coupled:
        given = label[part.layers]
        if not np.any(given):
            continue
        nodes, h = np.tile(o, len(given)), given.ravel()
        psi, turned = flat_pair(part.means, point.counted)
        if part.layers[0] and len(samples.known):
            linear = np.tensordot(point.screen.stack.counts[:-1], point.screen.answers[:-1], 1)
            pairs = samples.known.T @ samples.known
            kept = np.eye(count) - pairs * linear / system.n * o
            first = np.linalg.solve(kept, np.column_stack([h[:count], turned[:count]]))
            h = np.concatenate([first[:, 0], h[count:]])
            turned = np.concatenate([first[:, 1:], turned[count:]])
        if psi.shape[1] < len(psi):
            drawn = psi.T * nodes
            inner = np.eye(len(drawn)) + drawn @ turned
            answer = h - turned @ np.linalg.solve(inner, drawn @ h)
        else:
            kernel = turned @ psi.T
            answer = np.linalg.solve(np.eye(len(h)) + kernel * nodes, h)
        screened[part.layers] = answer.reshape(given.shape)
    return screened
