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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import InputError
from giantstep.gaussian.accuracy import RANK
from giantstep.language.brief import brief
from giantstep.prediction.given_weights.directions import learned_directions
from giantstep.prediction.given_weights.family import NODES, Family, make_family
from giantstep.prediction.given_weights.fixed_point import constant_level, fixed_point
from giantstep.prediction.given_weights.response import Response, respond
from giantstep.prediction.limits import LEARNING_CURVE, refuse_beyond
from giantstep.problem.setting import Setting
from giantstep.records.drawing import Drawn


@dataclass(frozen=True)
class LearningCurve(Drawn):
    """Mean squared train and test error of ridge, and its minimised objective, on a grid.

    train = E mean (y - s_p phi.a)^2 on the n samples of the fit, test on a fresh one; ridges ->
    rows, sizes -> columns (arXiv 2305.18270, conditional Gaussian equivalence;
    docs/derivations/equivalence.md).
    """

    ridges: Float[np.ndarray, " a"]
    sizes: Int[np.ndarray, " b"]
    train: Float[np.ndarray, "a b"]
    test: Float[np.ndarray, "a b"]
    objective: Float[np.ndarray, "a b"]

    __repr__ = brief


def learning_curve(
    setting: Setting,
    weights: Float[np.ndarray, "p d"],
    *,
    directions: Float[np.ndarray, "k d"] | None = None,
    frame: Float[np.ndarray, "r d"] | None = None,
    sizes: Sequence[int] | Int[np.ndarray, " b"] | None = None,
    nodes: int | None = None,
) -> LearningCurve:
    """Train and test error of ridge on sigma(W x), for every penalty of the setting and every size.

    The readout is the minimiser of mean (y - s_p phi.a)^2 + ridge |a|^2 over n fresh samples,
    y = f(frame x) + noise: penalty = ridge/s_p^2 in the system above.  ``weights`` -> W;
    ``directions`` -> orthonormal rows v_1 .. v_k outside which W must look isotropic (k = 0 is
    random features; k <= 3), by default the singular vectors of W outside its bulk; ``frame`` ->
    the target directions, by default the first r axes; ``sizes`` -> n, by default readout_n;
    ``nodes`` an axis of kappa (more for a label that jumps as a function of kappa).  Holds for n, d
    and p large and comparable; the samples behind W must be independent of the readout's.

    Given kappa = V x the features count as Gaussian, with the mean and the covariance that sigma(W
    x) has given kappa (arXiv 2305.18270; docs/derivations/equivalence.md, eqs. (1) and (2)).

    >>> import numpy as np
    >>> from giantstep import Setting, learning_curve
    >>> weights = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 60)))[0]
    >>> setting = Setting("x1", d=60, p=60, ridge=0.1, readout_n=120, test_n=10)
    >>> curve = learning_curve(setting, weights, sizes=[120, 240])
    >>> bool(curve.test[0, 1] < curve.test[0, 0])
    True
    """
    refuse_beyond(LEARNING_CURVE, setting)
    _validate_weights(setting, weights)
    directions = learned_directions(weights) if directions is None else directions
    frame = np.eye(setting.d)[: setting.target.r] if frame is None else frame
    _validate_directions(setting, directions, frame)
    ridges = np.array(setting.ridge, dtype=float)
    sizes = np.array([setting.readout_n] if sizes is None else sizes, dtype=int)
    if not (sizes.size and np.all(sizes > 0)):
        raise InputError(f"sizes must be positive, got {sizes.tolist()}")
    family = make_family(setting, weights, frame, directions=directions, nodes=nodes)
    errors = np.empty((3, len(ridges), len(sizes)))
    column: list[Solution] = []
    # Penalties and sizes from large to small: each point starts from the ones before.
    for i in np.argsort(-ridges).tolist():
        row: list[Solution] = []
        for j in np.argsort(-sizes).tolist():
            penalty = float(ridges[i]) / setting.scale**2
            row.append(solve(family, penalty, int(sizes[j]), before=row or column))
            errors[:, i, j] = row[-1].train, row[-1].test, row[-1].objective
        column.append(row[0])
    return LearningCurve(ridges, sizes, *errors)


def _validate_weights(setting: Setting, weights: Float[np.ndarray, "p d"]) -> None:
    if weights.shape != (setting.p, setting.d):
        shape = f"{len(weights)} x {weights.shape[1]}"
        raise InputError(f"weights must be p x d = {setting.p} x {setting.d}, got {shape}")
    if not np.all(np.isfinite(weights)):
        raise InputError("weights must be finite, got inf or nan")


def _validate_directions(
    setting: Setting, directions: Float[np.ndarray, "k d"], frame: Float[np.ndarray, "r d"]
) -> None:
    if len(frame) != setting.target.r:
        raise InputError(f"frame must have r = {setting.target.r} rows, got {len(frame)}")
    if len(directions) > max(NODES):
        raise InputError(f"directions must be at most {max(NODES)}, got {len(directions)}")
    for name, rows in (("frame", frame), ("directions", directions)):
        gap = float(np.max(np.abs(rows @ rows.T - np.eye(len(rows))), initial=0.0))
        if gap > RANK:
            raise InputError(f"{name} must have orthonormal rows, got a gap of {gap:.1e}")


@dataclass(frozen=True)
class Solution:
    """Fixed point, errors and minimised objective at one penalty and size."""

    level: float
    log_variance: Float[np.ndarray, " m"]
    response: Response
    train: float
    test: float
    objective: float

    @property
    def profile(self) -> Float[np.ndarray, " m"]:
        """log V less its constant approximation."""
        return self.log_variance - self.level


def solve(family: Family, penalty: float, n: int, *, before: Sequence[Solution] = ()) -> Solution:
    """Errors at one point; the solutions ``before`` it, the nearest last, give the start."""
    weights = family.weights
    level = constant_level(family.spectrum, penalty, n)
    near = before[-1].response if before else Response.nothing(len(weights))
    log_variance, resolvent = fixed_point(
        family, penalty, n, start=level + _profile(level, len(weights), before), response=near
    )
    # om = 1/(1+V);  abar = Q E[om E[phi y|kappa]];  B = E[(y - phi.abar)^2|kappa]
    omega = 1.0 / (1.0 + np.exp(log_variance))
    readout = resolvent @ family.cross(weights * omega)
    bias = family.bias(readout)
    # e = B + T diag(w om^2) e, symmetric in x = c e with c = sqrt(w) om
    scale = np.sqrt(weights) * omega
    x, response = respond(family, resolvent, n, scale=scale, right=scale * bias, near=near)
    # test = E e, train = E[om^2 e]
    return Solution(
        level=level,
        log_variance=log_variance,
        response=response,
        train=float(np.sqrt(weights) @ (x * omega)),
        test=float(np.sqrt(weights) @ (x / omega)),
        objective=float(weights @ (omega * bias) + penalty * readout @ readout),
    )


def _profile(level: float, m: int, before: Sequence[Solution]) -> Float[np.ndarray, " m"]:
    """log V - level as expected from the solutions before: nearly a straight line in the level."""
    if not before:
        return np.zeros(m)
    last = before[-1]
    if len(before) == 1 or last.level == before[-2].level:
        return last.profile
    ratio = (level - last.level) / (last.level - before[-2].level)
    # Follow the line, not too far.
    return last.profile + float(np.clip(ratio, -1.0, 2.0)) * (last.profile - before[-2].profile)
