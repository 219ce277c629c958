"""The law of an exit time: one neuron with normalised rows that takes many small steps.

Its cosine m with the target is a Markov chain whose steps are small, and the time at which |m| or
the error of the network first reaches a level is that of a diffusion from a random start, of which
paths are drawn (docs/derivations/exit_times.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from numbers import Integral

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.gaussian.rules import panel_rule
from giantstep.prediction.limits import Limit, must_be, one_of, plain_step, refuse_beyond
from giantstep.problem.network import given_overlaps, residuals, start_readout
from giantstep.problem.setting import Setting
from giantstep.records.exits import ExitTimes, check_level

EXIT_LAW = "the law of exit times"


def _one_direction(setting: Setting) -> bool:
    """Whether the points have the coordinates of the target."""
    return setting.target.r == 1


def added_length(setting: Setting) -> float:
    """Squared length that one step adds to the row at the start, eta^2 d E[c^2]/n."""
    return float(setting.step_size[0]) ** 2 * setting.d * _start_powers(setting)[0] / setting.n


def tails(setting: Setting) -> float:
    """The next term of the expansion over that length, eta^2 d E[c^4]/(n^2 E[c^2])."""
    second, fourth = _start_powers(setting)
    return float(setting.step_size[0]) ** 2 * setting.d * fourth / (setting.n**2 * second)


@lru_cache(maxsize=8)
def _start_powers(setting: Setting) -> tuple[float, float]:
    """E[c^2] and E[c^4] of a row at right angles to the target."""
    points = _points(setting)
    error, slope = points.residuals(0.0), points.size * points.slope
    spread = setting.noise**2
    second = points.weights @ (slope**2 * (error**2 + spread))
    fourth = points.weights @ (slope**4 * (error**4 + 6.0 * error**2 * spread + 3.0 * spread**2))
    return float(second), float(fourth)


LIMITS: tuple[Limit, ...] = (
    must_be("inputs", "gaussian", EXIT_LAW, lambda setting: setting.inputs.is_gaussian),
    must_be("p", "1", EXIT_LAW, lambda setting: setting.p == 1),
    must_be("d", "at least 2", EXIT_LAW, lambda setting: setting.d >= 2),
    must_be("target", "of one direction", EXIT_LAW, lambda setting: setting.target.r == 1),
    must_be("rows", "normalised", EXIT_LAW, lambda setting: setting.normalises_rows),
    must_be("steps", "at least 1", EXIT_LAW, lambda setting: setting.steps >= 1),
    must_be("step_size", "one number", EXIT_LAW, lambda setting: len(set(setting.step_size)) == 1),
    must_be("step_size", "other than 0", EXIT_LAW, lambda setting: setting.step_size[0] != 0.0),
    one_of("batches", ("fresh",), EXIT_LAW),
    one_of("deflate", (-1,), EXIT_LAW),
    one_of("corruption", (0.0,), EXIT_LAW),
    *plain_step(EXIT_LAW, dict.fromkeys(("inputs", "batches", "gradient", "rows"))),
    Limit(
        name="length that a step adds to a row",
        quantity=lambda setting: added_length(setting) if _one_direction(setting) else None,
        most=0.1,
        sentence="the steps are too large for a diffusion. One adds {value:.2g} to the squared "
        "length of the row, 1 before it; at most {most:.2g} is allowed",
        evidence="tests/prediction/test_exit_law.py",
        kind="measured",
    ),
    Limit(
        name="tails of a step over its length",
        quantity=lambda setting: tails(setting) if _one_direction(setting) else None,
        most=0.1,
        sentence="few samples make most of the steps. The mean fourth power of what a sample adds "
        "to a row of length 1 is {value:.2g} of its mean square; at most {most:.2g} is allowed. "
        "Use a smaller step",
        # At 0.4 a quarter of the runs that should exit do not.
        evidence="docs/derivations/exit_times.md",
        kind="measured",
    ),
)


def exit_law(
    setting: Setting,
    *,
    cosine: float | None = None,
    error: float | None = None,
    paths: int = 2048,
    groups: int = 2000,
) -> ExitTimes:
    """Exit times of drawn paths: the step at which one neuron first reaches a level.

    ``cosine`` -> the level that |m| rises to; ``error`` -> the level that the network's own error
    E(m) falls to, label noise counted, as ``exit_times`` measures it with infinitely many test
    samples.  Of both one is given.  The setting has one neuron, one target direction, normalised
    rows and fresh batches, as one-pass descent on the sphere has.  A start overlap is the one
    given, or that of a random row.  Steps are taken in ``groups``, for so many ``paths``.

    docs/derivations/exit_times.md, eqs. (1) to (3).

    >>> from giantstep import Setting, exit_law
    >>> setting = Setting("x1", d=100, n=1, p=1, steps=2000, step_size=1e-2, rows="normalised",
    ...                   start="sphere", readout_start="ones", readout_n=0, test_n=0)
    >>> bool(50 < exit_law(setting, cosine=0.5).mean < 400)
    True
    """
    check_level(cosine, error)
    for name, count in (("paths", paths), ("groups", groups)):
        # So many numbers are a few GB.
        if not (isinstance(count, Integral) and 1 <= count <= 10**8):
            raise InputError(f"{name} must be a whole number from 1 to 10^8, got {shown(count)}")
    refuse_beyond(LIMITS, setting)
    grid = _grid(1.0 if cosine is None else cosine, setting.d)
    beyond = _beyond_level(setting, grid, cosine, error)
    mean, variance = _moments(setting, grid)
    # A seed apart from those that a simulation is given.
    key = np.random.default_rng([2**62, setting.d, setting.n])
    state = _starts(setting, key, paths)
    ends = np.unique(np.linspace(0, setting.steps, groups + 1).astype(int))
    exits = np.where(beyond(state) >= 0.0, 0.0, np.nan)
    for begin, end in pairwise(ends):
        left = np.isnan(exits)
        if not left.any():
            break
        size, before = end - begin, state[left]
        spread = np.sqrt(size * np.interp(before, grid, variance))
        after = before + size * np.interp(before, grid, mean)
        after = after + spread * key.standard_normal(len(before))
        first, last = beyond(before), beyond(after)
        passed = last >= 0.0
        share = np.divide(-first, last - first, where=passed, out=np.full(len(first), np.nan))
        exits[left] = begin + share * size
        state[left] = after
    return ExitTimes(exits)


def _beyond_level(
    setting: Setting, grid: Float[np.ndarray, " k"], cosine: float | None, error: float | None
) -> Callable[[Float[np.ndarray, " paths"]], Float[np.ndarray, " paths"]]:
    """How far beyond its level a neuron with each cosine is, negative before it reaches it."""
    if cosine is not None:
        return lambda m: np.abs(m) - cosine
    assert error is not None
    errors = network_errors(setting, grid)
    if error < errors.min():
        raise InputError(
            f"error must be at least {errors.min():.6g}, which no cosine of this neuron brings it "
            f"below, got {shown(error)}"
        )
    return lambda m: error - np.interp(m, grid, errors)


def network_errors(setting: Setting, cosines: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
    """E(m), the mean squared error of the neuron with each cosine, label noise counted.

    docs/derivations/exit_times.md, eq. (3).
    """
    points = _points(setting)
    squares = ((points.labels(m) - points.size * points.feature) ** 2 for m in cosines)
    return np.array([points.weights @ square for square in squares]) + setting.noise**2


def _grid(level: float, d: int, *, half: int = 150) -> Float[np.ndarray, " k"]:
    """Cosines from -level to level, fine where a random start lies: d^-1/2 sinh(s)."""
    scale = 1.0 / math.sqrt(d)
    return scale * np.sinh(np.linspace(-1.0, 1.0, 2 * half + 1) * math.asinh(level / scale))


def _starts(setting: Setting, key: np.random.Generator, paths: int) -> Float[np.ndarray, " k"]:
    """Cosines at the start: that given, or g/sqrt(g^2 + d - 1) of a random row."""
    if setting.start.kind.framed:
        return np.full(paths, given_overlaps(setting)[0, 0])
    normals = key.standard_normal(paths)
    return normals / np.sqrt(normals**2 + key.chisquare(setting.d - 1.0, size=paths))


@dataclass(frozen=True)
class Points:
    """Points of (h, u), h along the row and u across it, and what the network is there."""

    setting: Setting
    h: Float[np.ndarray, " k"]
    u: Float[np.ndarray, " k"]
    weights: Float[np.ndarray, " k"]
    size: float
    feature: Float[np.ndarray, " k"]
    slope: Float[np.ndarray, " k"]

    def target(self, cosine: float) -> Float[np.ndarray, " k"]:
        """z, the coordinate along the target."""
        return cosine * self.h + math.sqrt(1.0 - cosine * cosine) * self.u

    def labels(self, cosine: float) -> Float[np.ndarray, " k"]:
        """The target there, without label noise."""
        return np.asarray(self.setting.target([self.target(cosine)]))

    def residuals(self, cosine: float) -> Float[np.ndarray, " k"]:
        """y - f without label noise, or y."""
        return np.asarray(residuals(self.setting, self.labels(cosine), self.size * self.feature))


def _points(setting: Setting, *, nodes: int = 224, negligible: float = 1e-12) -> Points:
    """A product rule of so many nodes an axis, without ``negligible`` weights."""
    x, w = panel_rule(nodes)
    x, w = x[w > negligible], w[w > negligible]
    h, u = (v.ravel() for v in np.meshgrid(x, x, indexing="ij"))
    feature, slope = (np.asarray(v) for v in setting.activation.with_slope(h))
    size = float(setting.scale * start_readout(setting, 0)[0])
    return Points(setting, h, u, np.outer(w, w).ravel(), size, feature, slope)


def _moments(
    setting: Setting, cosines: Float[np.ndarray, " k"]
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Mean and variance of what a step adds to the cosine, to second order in its size."""
    points, eta, n = _points(setting), setting.step_size[0], setting.n
    h, slope = points.h, points.size * points.slope
    means, variances = [], []
    for m in cosines:
        error, sine = points.residuals(m), math.sqrt(1.0 - m * m)
        first = points.weights * slope * error
        second = points.weights * slope**2 * (error**2 + setting.noise**2)
        push = eta * float(first @ points.u)
        drift = sine * push
        # Squared length that the row gains at right angles to itself.
        gain = eta**2 / n * float(second @ (points.u**2 + setting.d - 2.0))
        gain += (1.0 - 1.0 / n) * push**2
        mean = drift - 0.5 * m * gain
        if not setting.gradient.kind.tangent:
            # A step along the row scales what it does across.
            along = eta * float(first @ h)
            mean -= eta**2 / n * sine * float(second @ (points.u * h))
            mean -= (1.0 - 1.0 / n) * drift * along
        means.append(mean)
        variances.append(eta**2 / n * sine**2 * float(second @ points.u**2) - drift**2 / n)
    return np.array(means), np.array(variances)
