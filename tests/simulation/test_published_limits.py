"""Limiting laws that others published, or of settings that they did, beside exact runs.

All are of one neuron and steps of size c/d, the k-th step at the time k/d.  The mean of the runs
must lie within 4 of its standard errors of the limit at every recorded time (26 comparisons).  What
limits leave out is of order 1/d, less than a standard error at these sizes.  Beside each stand laws
of other steps, which the same runs reject by 8 standard errors.
"""

from typing import Any

import numpy as np
import pytest
from jaxtyping import Float
from scipy.integrate import solve_ivp
from scipy.special import erf, gammaln

from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

SIZE, NOISE = 0.7, 0.5
TIMES = np.arange(5) / 2.0
LEAST_SQUARES: dict[str, Any] = {
    "target": "x1",
    "activation": "z",
    "n": 1,
    "p": 1,
    "output_scale": "1",
    "readout_start": "ones",
    "noise": NOISE,
    "start": "orthogonal",
    "start_overlaps": [[0.0]],
    "readout_n": 0,
    "test_n": 0,
    "runs": 16,
}


def least_squares(d: int, size: float = SIZE, **fields: Any) -> Trajectory:
    """Runs over ``TIMES`` of one linear neuron that sees one sample a step."""
    sizes = {"d": d, "steps": 2 * d, "record": f"every({d // 2})", "step_size": size / d}
    return simulate(Setting(**(LEAST_SQUARES | sizes | fields)))


def half_errors(found: Trajectory) -> Float[np.ndarray, "runs t"]:
    """|w - w*|^2/2: half the error against clean labels, the risk of the papers."""
    squares = found.norms[..., 0] ** 2
    return np.asarray(squares - 2.0 * found.overlap[..., 0, 0] + 1.0) / 2.0


def farthest(values: Float[np.ndarray, "runs t"], limit: Float[np.ndarray, " t"]) -> float:
    """The largest distance of the means from the limit after the start, in standard errors."""
    drawn = values[:, 1:]
    errors = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    return float(np.max(np.abs(drawn.mean(axis=0) - limit[1:]) / errors))


def solved(slope: Any, start: list[float], times: Float[np.ndarray, " t"]) -> Any:
    """The solution of an ordinary differential equation at these times."""
    return solve_ivp(slope, times[[0, -1]], start, t_eval=times, rtol=1e-4, atol=1e-6).y


# -- momentum --------------------------------------------------------------------------------------


def volterra(size: float, samples: float, times: Float[np.ndarray, " t"]) -> Any:
    """Half errors of steps on single samples of a set of ``samples`` d.

    The model is that of arXiv 2102.04396, the law is ours: docs/derivations/momentum.md, eqs. (3)
    and (4); trapezoids of width 1/400.
    """
    share = 1.0 / samples
    low, high = (1.0 - np.sqrt(share)) ** 2, (1.0 + np.sqrt(share)) ** 2
    angles = (np.arange(400) + 0.5) / 400 * np.pi
    x = (low + high) / 2 + (high - low) / 2 * np.cos(angles)
    weights = np.sin(angles) ** 2 / x
    weights /= weights.sum()
    count = int(400 * times[-1]) + 1
    decay = np.exp(-size * np.outer(np.arange(count) / 400, x))
    first, second = (decay**2 @ (weights * x**k) * size**2 / 400 for k in (1, 2))
    driven = 2 * decay**2 @ (weights * x) + NOISE**2 * (1 + share * (decay**2 @ weights - 1))
    errors = driven.copy()
    for k in range(1, count):
        past = second[k] * errors[0] / 2 + second[k - 1 : 0 : -1] @ errors[1:k]
        errors[k] = (driven[k] + past) / (1 - second[0] / 2)
    fitted = (1 - decay) ** 2 @ (weights / x)
    alone = decay**2 @ weights + NOISE**2 * share * fitted / 2
    found = []
    for k in np.rint(400 * times).astype(int):
        ends = first[k] * errors[0] + first[0] * errors[k]
        found.append(alone[k] + (first[k::-1] @ errors[: k + 1] - ends / 2) / 2)
    return np.array(found)


MOMENTA = {"none": 0.0, "0.5": 0.5, "nesterov(0.8)": 0.8}


@pytest.mark.law(sentinel="0.5")
@pytest.mark.parametrize("momentum", MOMENTA)
def test_momentum_on_single_samples_of_a_set(momentum: str) -> None:
    """Momentum m with the step (1 - m) times as long has the law of plain steps.

    Rejected: the law of fresh samples, and that of plain steps of the step's own size.
    """
    left = 1.0 - MOMENTA[momentum]
    fields = {"momentum": momentum} if left < 1.0 else {}
    errors = half_errors(least_squares(400, SIZE * left, batches="minibatch(800)", **fields))
    assert farthest(errors, volterra(SIZE, 2.0, TIMES)) < 4
    assert farthest(errors, volterra(SIZE, 1e4, TIMES)) > 8
    if fields:
        assert farthest(errors, volterra(SIZE * left, 2.0, TIMES)) > 8


# -- signs and clipped gradients -------------------------------------------------------------------


def sign_descent(times: Float[np.ndarray, " t"], samples: float) -> Any:
    """Half errors of sign steps: docs/derivations/signs.md, eq. (5), arXiv 2411.12135 at n = 1."""

    def slope(_: float, risk: Any) -> Any:
        spread = np.sqrt(2.0 * risk + NOISE**2)
        return -2.0 * SIZE * np.sqrt(2.0 / np.pi) * samples * risk / spread + SIZE**2 / 2.0

    return solved(slope, [1.0], times)[0]


def mean_of_chi(n: int) -> float:
    """E of the root of a chi-squared variable of n degrees of freedom."""
    return float(np.sqrt(2.0) * np.exp(gammaln((n + 1) / 2) - gammaln(n / 2)))


@pytest.mark.law
def test_signs_of_gradients_of_single_samples() -> None:
    """Rejected: the mean of normal gradients, as batches of many samples have them."""
    errors = half_errors(least_squares(400, update="sign"))
    assert farthest(errors, sign_descent(TIMES, mean_of_chi(1))) < 4
    assert farthest(errors, sign_descent(TIMES, 1.0)) > 8


def clipped_descent(level: float, times: Float[np.ndarray, " t"]) -> Any:
    """Half errors of gradients clipped at ``level`` sqrt(d): docs/derivations/signs.md, eq. (6)."""

    def slope(_: float, risk: Any) -> Any:
        spread = np.sqrt(2.0 * risk + NOISE**2)
        z = level / spread
        below = erf(z / np.sqrt(2.0))
        square = spread**2 * (below - z * np.sqrt(2.0 / np.pi) * np.exp(-(z**2) / 2.0))
        square += level**2 * (1.0 - below)
        return -2.0 * SIZE * below * risk + SIZE**2 * square / 2.0

    return solved(slope, [1.0], times)[0]


@pytest.mark.law
def test_clipped_gradients_of_single_samples() -> None:
    """Rejected: a level a quarter higher, and no clipping."""
    errors = half_errors(least_squares(1000, update=f"clipped({0.8 * np.sqrt(1000)})"))
    assert farthest(errors, clipped_descent(0.8, TIMES)) < 4
    assert farthest(errors, clipped_descent(1.0, TIMES)) > 8
    assert farthest(errors, clipped_descent(100.0, TIMES)) > 8


# -- gradients taken ahead -------------------------------------------------------------------------


def taken_ahead(size: float, look: float, times: Float[np.ndarray, " t"]) -> Any:
    """Overlap and squared length of a relu that learns He3: docs/derivations/lookahead.md, eq. (6).

    The equation is ours: of arXiv 2405.15459 the setting is published, its curves in figures only.
    Averages over a grid of 400^2 points of two normals, whose error is below 1e-4.
    """
    nodes = np.linspace(-6.0, 6.0, 401)
    weights = np.exp(-(nodes**2) / 2.0)
    z, v = np.meshgrid(nodes, nodes, indexing="ij")
    joint = np.outer(weights, weights) / weights.sum() ** 2
    label = z**3 - 3.0 * z

    def slope(_: float, state: Any) -> Any:
        overlap, square = state
        h = overlap * z + np.sqrt(square - overlap**2) * v
        moved = h + look * (label - h) * (h > 0)
        gradient = (label - moved) * (moved > 0)
        along = np.sum(joint * gradient * h)
        squares = np.sum(joint * gradient**2)
        return [size * np.sum(joint * gradient * z), 2.0 * size * along + size**2 * squares]

    return solved(slope, [0.0, 1.0], times)


AHEAD: dict[str, Any] = {
    "target": "He3(x1)",
    "activation": "relu",
    "d": 512,
    "n": 1,
    "p": 1,
    "readout_start": "ones",
    "start": "orthogonal",
    "start_overlaps": [[0.0]],
    "steps": "240*d",
    "record": f"every({80 * 512})",
    "step_size": "0.01/d",
    "lookahead": "sample(0.1*p/d)",
    "readout_n": 0,
    "test_n": 0,
    "runs": 16,
}


@pytest.mark.law
def test_gradients_taken_ahead_on_the_sample() -> None:
    """The setting of the code of arXiv 2405.15459: overlap and length after 80 d, .. 240 d steps.

    Rejected: looking back (sharpness-aware steps), twice as far, and not at all.
    """
    times = np.arange(4) * 80.0
    found = simulate(Setting(**AHEAD))
    values = np.stack([found.overlap[..., 0, 0], found.norms[..., 0] ** 2])

    def distance(look: float) -> float:
        limits = taken_ahead(0.01, look, times)
        return max(farthest(*pair) for pair in zip(values, limits, strict=True))

    assert distance(0.1) < 4
    for look in (-0.1, 0.2, 0.0):
        assert distance(look) > 8
