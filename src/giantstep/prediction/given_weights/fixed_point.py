"""The fixed point of ridge on given weights, equation (1) of docs/derivations/equivalence.md.

    x = log V,   V(kappa) = tr[S(kappa) Q]/n,   Q = ( E[S(kappa)/(1+V(kappa))] + penalty )^-1

by Anderson's iteration: x and its gap F(x) - x, F(x) = log tr[S Q]/n, of the iterates so far are
combined so that the gaps nearly cancel, and the response takes what is left the rest of the way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import NotConvergedError
from giantstep.prediction.given_weights.family import Family
from giantstep.prediction.given_weights.response import Response


def constant_level(spectrum: Float[np.ndarray, " p"], penalty: float, n: int) -> float:
    """log V when V is the same at every kappa: V = (1/n) sum_i s_i/(s_i/(1+V) + penalty).

    ``spectrum`` -> eigenvalues s_i of E S.  The right-hand side grows with V, from its value at
    V = 0 to that at infinity, and less than V does: there is one root between the two.
    """
    from scipy.optimize import brentq

    def gap(x: float) -> float:
        image = np.sum(spectrum / (spectrum / (1.0 + math.exp(x)) + penalty)) / n
        return math.log(image) - x

    # Wider by 1e-6, so that the equation changes sign between them whatever the rounding.
    low = math.log(np.sum(spectrum / (spectrum + penalty)) / n) - 1e-6
    high = math.log(np.sum(spectrum) / (n * penalty)) + 1e-6
    return float(brentq(gap, low, high))


def resolvent_at(
    family: Family, penalty: float, log_variance: Float[np.ndarray, " m"]
) -> Float[np.ndarray, "p p"]:
    """Q = ( E[S/(1+V)] + penalty )^-1."""
    system = family.combine(family.weights / (1.0 + np.exp(log_variance)))
    system.flat[:: len(system) + 1] += penalty
    return inverse(system)


def inverse(matrix: Float[np.ndarray, "p p"]) -> Float[np.ndarray, "p p"]:
    """Inverse of a positive definite matrix, which is overwritten."""
    from scipy.linalg.lapack import dpotrf, dpotri

    factor, failed = dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise NotConvergedError(f"E[S/(1+V)] + penalty is not positive definite at pivot {failed}")
    lower = np.tril(dpotri(factor, lower=1, overwrite_c=1)[0])
    diagonal = np.diagonal(lower).copy()
    lower += lower.T
    lower.flat[:: len(lower) + 1] = diagonal
    return lower


def log_traces(
    family: Family, resolvent: Float[np.ndarray, "p p"], n: int, *, penalty: float
) -> Float[np.ndarray, " m"]:
    """F = log tr[S(kappa) Q]/n; ``penalty`` for the message alone."""
    traces = family.traces(resolvent)
    if not np.all(traces > 0):
        raise NotConvergedError(
            f"rounding hides tr[S Q] at n = {n} and penalty {penalty:g}: got {traces.min():.1e}"
        )
    return np.log(traces / n)


@dataclass(frozen=True)
class Past:
    """The last iterates x and their gaps F(x) - x, the newest last."""

    points: Float[np.ndarray, "j m"]
    gaps: Float[np.ndarray, "j m"]

    @classmethod
    def nothing(cls, m: int) -> Past:
        return cls(np.zeros((0, m)), np.zeros((0, m)))

    def add(
        self, point: Float[np.ndarray, " m"], gap: Float[np.ndarray, " m"], most: int = 6
    ) -> Past:
        """The iterates with one more, no more than ``most``."""
        return Past(np.vstack([self.points, point])[-most:], np.vstack([self.gaps, gap])[-most:])

    def step(self, weights: Float[np.ndarray, " m"], response: Response) -> Float[np.ndarray, " m"]:
        """From the newest iterate to the combination of least gap, and by Newton from there.

        With dx, df the differences of neighbours: mix minimises |gap - mix.df| in the norm of the
        weights, and the step is (1 - F')^-1 (gap - mix.df) - mix.dx.  It is at most 3 long: the
        peak and its surroundings are e^3 apart.
        """
        moved, changed = np.diff(self.points, axis=0), np.diff(self.gaps, axis=0)
        root, gap, variance = np.sqrt(weights), self.gaps[-1], np.exp(self.points[-1])
        mix = np.linalg.lstsq((changed * root).T, gap * root, rcond=None)[0]
        # d log V -> sqrt(w) dV/(1+V) is the coordinate in which F' is the symmetric response.
        scale = root * variance / (1.0 + variance)
        step = response.invert(scale * (gap - mix @ changed)) / scale - mix @ moved
        return np.clip(step, -3.0, 3.0)


@dataclass
class Rescue:
    """Where to return to when acceleration makes things worse, and the plain steps to take then.

    The plain iteration always converges (F increases, and log V contracts), slowly near the
    interpolation peak: it takes 1, 2, 4, .. steps, more after each failure.
    """

    point: Float[np.ndarray, " m"]
    best: float = math.inf
    failures: int = 0
    plain: int = 0

    def needed(self, size: float) -> bool:
        return self.plain == 0 and size > 2.0 * self.best

    def begin(self) -> Float[np.ndarray, " m"]:
        self.plain, self.failures = 2**self.failures, self.failures + 1
        return self.point

    def remember(self, image: Float[np.ndarray, " m"], size: float) -> None:
        """F(x) of the iterate with the smallest gap."""
        if size < self.best:
            self.best, self.point = size, image

    def takes_step(self) -> bool:
        """Whether this step is a plain one."""
        taken = self.plain > 0
        self.plain -= int(taken)
        return taken


def fixed_point(
    family: Family,
    penalty: float,
    n: int,
    *,
    start: Float[np.ndarray, " m"],
    response: Response,
    tolerance: float = 1e-7,
    iterations: int = 300,
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, "p p"]]:
    """log V(kappa) with log V = log tr[S(kappa) Q]/n, and Q.

    ``response`` -> F' as it is at a nearby point, forgotten where it misleads.  ``tolerance`` is
    that of log V in the norm of the weights: errors to 1e-6.  Three to eight iterations are usual,
    whatever the penalty.

    docs/theory/index.md, eq. (10); docs/derivations/equivalence.md, eq. (1).
    """
    x, size = start, math.inf
    past, rescue = Past.nothing(len(start)), Rescue(start)
    for _ in range(iterations):
        resolvent = resolvent_at(family, penalty, x)
        gap = log_traces(family, resolvent, n, penalty=penalty) - x
        size = float(np.linalg.norm(np.sqrt(family.weights) * gap))
        if size < tolerance:
            return x, resolvent
        if rescue.needed(size):
            x, past, response = rescue.begin(), Past.nothing(len(x)), Response.nothing(len(x))
            continue
        rescue.remember(x + gap, size)
        past = past.add(x, gap)
        x = x + (gap if rescue.takes_step() else past.step(family.weights, response))
    raise NotConvergedError(
        f"no fixed point in {iterations} iterations at n = {n} and penalty {penalty:g}: "
        f"log V is off by {size:.1e}"
    )
