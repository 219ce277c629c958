"""Ridge on the features of given weights: learning curves by conditional Gaussian equivalence.

Given the coordinates kappa of the input along the learned directions, the features
phi = sigma(W x) and the label count only through their conditional means, linear parts and
variances (arXiv 2305.18270; arXiv 2402.04980 and 2410.18938 treat one step).  With

    S(kappa) = E[phi phi^T | kappa] = mu0 mu0^T + (mu1 mu1^T) o G + diag(mu*^2),

G the Gram matrix of the normalised rows outside the learned directions, the train and test error
of the minimiser of mean (y - phi.a)^2 + penalty |a|^2 over n samples follow from

    V(kappa) = tr[S(kappa) Q]/n,   Q = ( E[S(kappa)/(1+V(kappa))] + penalty )^-1.

docs/derivations/equivalence.md derives this and the way it is computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import InputError, NotConvergedError
from giantstep.prediction.given_weights.family import NODES, Family, make_family
from giantstep.problem.activation import Activation
from giantstep.problem.target import ORTHONORMAL, Target

TOLERANCE = 1e-7
"""Of log V at the fixed point, in the norm of the weights: errors to 1e-6."""

RESPONSE_TOLERANCE = 1e-5
"""Relative residual of the response: errors to 1e-6, for linear functionals of Galerkin's solution
are better than the solution."""

ITERATIONS = 300
"""Of the fixed point; 3 to 8 are usual, whatever the penalty."""

MEMORY = 6
"""Past iterates combined by Anderson's acceleration."""

LONGEST = 3.0
"""Change of log V in one accelerated step: the peak and its surroundings are e^3 apart."""

KEPT, FORGET = 10, 1e-3
"""Vectors on which the response is remembered; nearly dependent ones say nothing new."""


@dataclass(frozen=True)
class Curve:
    """Mean squared train and test error of ridge, and its minimised objective, on a grid."""

    ridges: Float[np.ndarray, " a"]
    sizes: Int[np.ndarray, " b"]
    train: Float[np.ndarray, "a b"]
    test: Float[np.ndarray, "a b"]
    objective: Float[np.ndarray, "a b"]


def learning_curve(
    weights: Float[np.ndarray, "p d"],
    frame: Float[np.ndarray, "r d"],
    directions: Float[np.ndarray, "k d"],
    activation: Activation,
    target: Target,
    noise: float,
    ridges: Sequence[float] | Float[np.ndarray, " a"],
    sizes: Sequence[int] | Int[np.ndarray, " b"],
    output_scale: float = 1.0,
    nodes: int | None = None,
) -> Curve:
    """Train and test error of ridge on sigma(W x), for every penalty and every sample size.

    The readout is the minimiser of mean (y - s_p phi.a)^2 + ridge |a|^2 over n fresh samples,
    y = f(frame x) + noise: penalty = ridge/s_p^2 in the system above.  ``weights`` -> W,
    ``directions`` -> orthonormal rows v_1 .. v_k outside which W must look isotropic (k = 0 is
    random features; k <= 3), ``output_scale`` -> s_p, ``sizes`` -> n, ``nodes`` an axis of kappa
    (more for a label that jumps as a function of kappa).  Holds for n, d and p large and
    comparable; the samples behind W must be independent of the readout's.
    """
    ridges, sizes = np.array(ridges, dtype=float), np.array(sizes, dtype=int)
    _check(weights, frame, directions, target, noise, output_scale)
    if not (ridges.size and np.all(np.isfinite(ridges)) and np.all(ridges > 0)):
        raise InputError(f"ridges must be positive and finite, got {ridges.tolist()}")
    if not (sizes.size and np.all(sizes > 0)):
        raise InputError(f"sizes must be positive, got {sizes.tolist()}")
    family = make_family(weights, frame, directions, activation, target, noise, nodes)
    found = np.empty((3, len(ridges), len(sizes)))
    column: list[Solution] = []
    # Penalties and sizes from large to small: each point starts from the ones before.
    for i in np.argsort(-ridges).tolist():
        row: list[Solution] = []
        for j in np.argsort(-sizes).tolist():
            penalty = float(ridges[i]) / output_scale**2
            row.append(solve(family, penalty, int(sizes[j]), row or column))
            found[:, i, j] = row[-1].train, row[-1].test, row[-1].objective
        column.append(row[0])
    return Curve(ridges, sizes, *found)


def _check(
    weights: Float[np.ndarray, "p d"],
    frame: Float[np.ndarray, "r d"],
    directions: Float[np.ndarray, "k d"],
    target: Target,
    noise: float,
    output_scale: float,
) -> None:
    if not output_scale > 0:
        raise InputError(f"output_scale must be positive, got {output_scale}")
    if not 0 <= noise < math.inf:
        raise InputError(f"noise must not be negative, got {noise}")
    if len(frame) != target.r:
        raise InputError(f"frame must have r = {target.r} rows, got {len(frame)}")
    if len(directions) > max(NODES):
        raise InputError(f"directions must be at most {max(NODES)}, got {len(directions)}")
    if not np.all(np.isfinite(weights)):
        raise InputError("weights must be finite, got inf or nan")
    for name, rows in (("frame", frame), ("directions", directions)):
        gap = float(np.max(np.abs(rows @ rows.T - np.eye(len(rows))), initial=0.0))
        if gap > ORTHONORMAL:
            raise InputError(f"{name} must have orthonormal rows, got a gap of {gap:.1e}")


@dataclass(frozen=True)
class Response:
    """K = diag(c) T diag(c) on a few orthonormal vectors; T = tr[S Q S' Q]/n, c = sqrt(w)/(1+V)."""

    basis: Float[np.ndarray, "m j"]
    core: Float[np.ndarray, "j j"]

    @classmethod
    def nothing(cls, m: int) -> Response:
        """K of which nothing is known."""
        return cls(np.zeros((m, 0)), np.zeros((0, 0)))

    def invert(self, vector: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
        """(1 - K)^-1 vector, K taken to vanish outside the basis."""
        inside = self.basis.T @ vector
        eye = np.eye(len(self.core))
        return vector + self.basis @ (np.linalg.solve(eye - self.core, inside) - inside)

    def update(self, basis: Float[np.ndarray, "m j"], images: Float[np.ndarray, "m j"]) -> Response:
        """K is now known to take the orthonormal basis to images; elsewhere it stays."""
        other = self.basis - basis @ (basis.T @ self.basis)
        left, singular, _ = np.linalg.svd(other, full_matrices=False)
        extra = left[:, singular > FORGET][:, : max(0, KEPT - basis.shape[1])]
        joint = np.column_stack([basis, extra])
        old = self.basis.T @ joint
        core = old.T @ self.core @ old
        known = joint.T @ images
        core[:, : basis.shape[1]] = known
        core[: basis.shape[1]] = known.T
        return Response(joint, 0.5 * (core + core.T))


@dataclass(frozen=True)
class Solution:
    """Fixed point, errors and minimised objective at one penalty and size."""

    level: float
    log_variance: Float[np.ndarray, " m"]
    response: Response
    train: float
    test: float
    objective: float


def solve(family: Family, penalty: float, n: int, before: Sequence[Solution] = ()) -> Solution:
    """Errors at one point; the solutions ``before`` it, the nearest last, give the start."""
    level = _level(family.spectrum, penalty, n)
    start = np.full(len(family.weights), level)
    response = Response.nothing(len(start))
    if before:
        start += before[-1].log_variance - before[-1].level
        response = before[-1].response
    if len(before) > 1 and before[-1].level != before[-2].level:
        # log V - level is nearly a straight line in the level: follow it, not too far.
        last, other = before[-1], before[-2]
        ratio = (level - last.level) / (last.level - other.level)
        slope = last.log_variance - last.level - (other.log_variance - other.level)
        start += float(np.clip(ratio, -1.0, 2.0)) * slope
    log_variance, resolvent = _fixed_point(family, penalty, n, start, response)
    # om = 1/(1+V);  abar = Q E[om E[phi y|kappa]];  B = E[(y - phi.abar)^2|kappa]
    omega, weights = 1.0 / (1.0 + np.exp(log_variance)), family.weights
    readout = resolvent @ family.cross(weights * omega)
    bias = family.bias(readout)
    # e = B + T diag(w om^2) e, symmetric in x = c e with c = sqrt(w) om
    scale = np.sqrt(weights) * omega
    x, response = _respond(family, resolvent, n, scale, scale * bias, response)
    test = float(np.sqrt(weights) @ (x / omega))
    train = float(np.sqrt(weights) @ (x * omega))
    objective = float(weights @ (omega * bias) + penalty * readout @ readout)
    return Solution(level, log_variance, response, train, test, objective)


def _level(spectrum: Float[np.ndarray, " p"], penalty: float, n: int) -> float:
    """log V when V is the same at every kappa: V = (1/n) sum_i s_i/(s_i/(1+V) + penalty).

    The right-hand side over V falls, so that a bisection in log V finds the only root.
    """
    low, high = -40.0, math.log(spectrum.sum() / (n * penalty))
    for _ in range(64):
        middle = 0.5 * (low + high)
        v = math.exp(middle)
        if np.sum(spectrum / (spectrum / (1.0 + v) + penalty)) > n * v:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _fixed_point(
    family: Family,
    penalty: float,
    n: int,
    start: Float[np.ndarray, " m"],
    response: Response,
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, "p p"]]:
    """log V(kappa) = log tr[S(kappa) Q]/n, and Q, by Anderson's iteration.

    The plain iteration always converges (its map is increasing, and log V contracts), slowly near
    the interpolation peak.  When acceleration makes things worse, return to the best point, forget
    the response, and take 1, 2, 4, .. plain steps.
    """
    root = np.sqrt(family.weights)
    x, size, best = start, np.inf, np.inf
    rescue, failures, plain = start, 0, 0
    points: list[Float[np.ndarray, " m"]] = []
    gaps: list[Float[np.ndarray, " m"]] = []
    for _ in range(ITERATIONS):
        variance = np.exp(x)
        system = family.combine(family.weights / (1.0 + variance))
        system.flat[:: len(system) + 1] += penalty
        resolvent = _inverse(system)
        traces = family.traces(resolvent)
        if not np.all(traces > 0):
            raise NotConvergedError(
                f"rounding hides tr[S Q] at n = {n} and penalty {penalty:g}: got {traces.min():.1e}"
            )
        gap = np.log(traces / n) - x
        size = float(np.linalg.norm(root * gap))
        if size < TOLERANCE:
            return x, resolvent
        if size > 2.0 * best and plain == 0:
            points, gaps, response = [], [], Response.nothing(len(x))
            x, plain, failures = rescue, 2**failures, failures + 1
            continue
        if size < best:
            best, rescue = size, x + gap
        points, gaps = [*points, x][-MEMORY:], [*gaps, gap][-MEMORY:]
        if plain > 0:
            x, plain = x + gap, plain - 1
            continue
        moved, changed = np.diff(np.array(points), axis=0), np.diff(np.array(gaps), axis=0)
        mix = np.linalg.lstsq((changed * root).T, gap * root, rcond=None)[0]
        # d log V -> sqrt(w) dV/(1+V) is the coordinate in which the response is symmetric.
        scale = root * variance / (1.0 + variance)
        step = response.invert(scale * (gap - mix @ changed)) / scale - mix @ moved
        x = x + np.clip(step, -LONGEST, LONGEST)
    raise NotConvergedError(
        f"no fixed point in {ITERATIONS} iterations at n = {n} and penalty {penalty:g}: "
        f"log V is off by {size:.1e}"
    )


def _inverse(matrix: Float[np.ndarray, "p p"]) -> Float[np.ndarray, "p p"]:
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


def _respond(
    family: Family,
    resolvent: Float[np.ndarray, "p p"],
    n: int,
    scale: Float[np.ndarray, " m"],
    right: Float[np.ndarray, " m"],
    near: Response,
) -> tuple[Float[np.ndarray, " m"], Response]:
    """x with (1 - K) x = right, by Galerkin's method, and K on the basis it has built.

    K v = c tr[S Q (sum c v S') Q]/n has eigenvalues in [0, 1) that fall quickly, kappa being
    smoothed: each new vector is the residual, preconditioned by the response at a nearby point.
    """
    basis, images = np.zeros((len(scale), 0)), np.zeros((len(scale), 0))
    x, core, residual = np.zeros_like(right), np.zeros((0, 0)), right
    while np.linalg.norm(residual) > RESPONSE_TOLERANCE * np.linalg.norm(right):
        if basis.shape[1] == len(scale):
            size = np.linalg.norm(residual) / np.linalg.norm(right)
            raise NotConvergedError(f"the response at n = {n} is off by {size:.1e}")
        vector = near.invert(residual)
        for _ in range(2):  # twice is enough for orthogonality
            vector -= basis @ (basis.T @ vector)
        vector /= np.linalg.norm(vector)
        inner = resolvent @ family.combine(scale * vector) @ resolvent
        basis = np.column_stack([basis, vector])
        images = np.column_stack([images, scale * family.traces(inner) / n])
        core = basis.T @ images
        core = 0.5 * (core + core.T)
        coefficients = np.linalg.solve(np.eye(len(core)) - core, basis.T @ right)
        x = basis @ coefficients
        residual = right - x + images @ coefficients
    return x, near.update(basis, images)
