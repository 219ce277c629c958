"""Both engines have the law of a plain loop in R^d, for every kind of step.

The loop draws whole samples, holds W and its velocities in R^d, and knows nothing of coordinates or
streams.  Two-sample Kolmogorov-Smirnov tests on 8 numbers a run after the last of four steps, 240
runs: overall level 1e-3 (Bonferroni over all cases and both engines).  Beside each case stands an
engine that takes another step on purpose, which must be rejected at that level.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import ks_2samp

from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

BASE: dict[str, Any] = {
    "target": "x1 + x2 + x1^2 - x2^2",
    "activation": "erf",
    "d": 24,
    "n": 40,
    "p": 3,
    "steps": 4,
    "step_size": 3.0,
    "start": "sphere",
    "readout_start": "ones",
    "noise": 0.3,
    "runs": 240,
    "readout_n": 0,
    "test_n": 0,
    "frame": "axes",
}
TANGENT: dict[str, Any] = {
    # The network's own output pulls along the rows.
    "gradient": "tangent",
    "output_scale": "1",
    "step_size": 1.0,
    "n": 100,
}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "heavy ball": ({"momentum": 0.7}, {"momentum": 0.0}),
    "nesterov": ({"momentum": "nesterov(0.7)", "step_size": 1.0, "n": 200}, {"momentum": 0.7}),
    "heavy ball, reused": ({"momentum": 0.7, "batches": "reused"}, {"momentum": 0.4}),
    "nesterov, repeated": ({"momentum": "nesterov(0.7)", "batches": "repeat(2)"}, {"momentum": 0}),
    "heavy ball, rows": (
        {"momentum": 0.7, "rows": "normalised", "decay": 0.2},
        {"momentum": 0.0},
    ),
    "heavy ball, normalised": (
        {"momentum": 0.7, "update": "normalised", "step_size": 0.5},
        {"momentum": 0.0},
    ),
    "nesterov, orthogonal": (
        {"momentum": "nesterov(0.7)", "update": "orthogonal", "step_size": 0.5},
        {"momentum": 0.0},
    ),
    "heavy ball, sign": (
        {"momentum": 0.7, "update": "sign", "step_size": 0.1},
        {"momentum": 0.0},
    ),
    "adam": ({"update": "adam(0.6, 0.8)", "step_size": 0.1}, {"update": "adam(0.6, 0.2)"}),
    "tangent": (TANGENT, {"gradient": "full"}),
    "tangent, reused": (TANGENT | {"batches": "reused", "momentum": 0.5}, {"gradient": "full"}),
    "tangent, rows": (TANGENT | {"rows": "normalised", "step_size": 3.0}, {"gradient": "full"}),
    "clipped": ({"update": "clipped(0.3)"}, {"update": "gradient"}),
    "clipped, reused": (
        {"update": "clipped(0.3)", "batches": "reused", "momentum": 0.7},
        {"update": "gradient"},
    ),
    "clipped whole": ({"update": "clippedwhole(0.3)"}, {"update": "clipped(0.3)"}),
    "ahead on the sample": ({"lookahead": "sample(2/d)"}, {"lookahead": "sample(1/d)"}),
    "ahead on the sample, few": (
        {"lookahead": "sample(2/d)", "n": 8},
        {"lookahead": "none"},
    ),
    "ahead on the sample, tangent": (
        {"lookahead": "sample(-1/d)", "gradient": "tangent", "momentum": 0.5, "rows": "normalised"},
        {"lookahead": "none"},
    ),
    "ahead on the batch": ({"lookahead": "batch(2)"}, {"lookahead": "sample(2/n)"}),
    "ahead on the batch, few": ({"lookahead": "batch(2)", "n": 8}, {"lookahead": "none"}),
    "ahead on the batch, reused": (
        {"lookahead": "batch(-2)", "batches": "reused", "momentum": 0.5, "n": 100},
        {"lookahead": "none"},
    ),
    "ahead, orthogonal": (
        {"lookahead": "batch(3)", "update": "orthogonal", "step_size": 0.5},
        {"lookahead": "none"},
    ),
}
LEVEL = 1e-3 / (8 * 2 * len(CASES))


def clipped(setting: Setting, g: np.ndarray) -> np.ndarray:
    """The gradient, its rows or all of it no longer than they may be."""
    if not setting.update.numbers:
        return g
    axes = (1, 2) if setting.update.name == "clippedwhole" else 2
    length = np.sqrt(np.sum(g**2, axis=axes, keepdims=True))
    return g * np.minimum(1.0, setting.update.numbers[0] / length)


def directions(setting: Setting, g: np.ndarray) -> np.ndarray:
    """What the step size multiplies, row by row in R^d."""
    if setting.update == "normalised":
        return g / np.linalg.norm(g, axis=2, keepdims=True)
    if setting.update == "orthogonal":
        left, _, right = np.linalg.svd(g, full_matrices=False)
        return np.asarray(left @ right)
    return np.sign(g) if setting.update == "sign" else g


def taken_at(setting: Setting, w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Preactivations of the network that gradients are taken of, a copy of it for each sample."""
    h, rho = w @ x, setting.lookahead.size
    c = setting.scale * np.multiply(*slope_and_residual(setting, h, y))
    if setting.lookahead.kind.on_batch:
        return (w + rho * c @ np.swapaxes(x, 1, 2) / setting.n) @ x
    copies = w[..., None] + rho * c[:, :, None] * x[:, None]
    return np.einsum("kpdn,kdn->kpn", copies, x)


def slope_and_residual(
    setting: Setting, h: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    phi, slope = erf(h / 2**0.5), (2 / np.pi) ** 0.5 * np.exp(-(h**2) / 2)
    return slope, y - setting.scale * np.sum(phi, axis=1, keepdims=True)


def plain_loop(setting: Setting, seed: int) -> list[np.ndarray]:
    """All runs of a setting in R^d."""
    key, runs, scale = np.random.default_rng(seed), setting.runs, setting.scale
    p, d, n = setting.p, setting.d, setting.n
    w = key.standard_normal((runs, p, d))
    w /= np.linalg.norm(w, axis=2, keepdims=True)
    v, squares = np.zeros_like(w), np.zeros_like(w)
    m, ahead = setting.momentum.share, setting.momentum.name == "nesterov"
    for step in range(setting.steps):
        if step % setting.batches.steps_per_set == 0:
            x = key.standard_normal((runs, d, n))
            y = x[:, :1] + x[:, 1:2] + x[:, :1] ** 2 - x[:, 1:2] ** 2
            y = y + setting.noise * key.standard_normal((runs, 1, n))
        h = taken_at(setting, w, x, y) if setting.lookahead.numbers else w @ x
        slope, r = slope_and_residual(setting, h, y)
        g = scale * (slope * r) @ np.swapaxes(x, 1, 2) / n
        if setting.gradient == "tangent":
            g = g - w * np.sum(g * w, 2, keepdims=True) / np.sum(w * w, 2, keepdims=True)
        cosine = g[:, 0, 0] / np.linalg.norm(g[:, 0], axis=1)
        g = clipped(setting, g)
        if setting.update.name == "adam":
            b1, b2 = setting.update.numbers
            v, squares = b1 * v + (1 - b1) * g, b2 * squares + (1 - b2) * g**2
            unbiased = (v / (1 - b1 ** (step + 1)), squares / (1 - b2 ** (step + 1)))
            moved = unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
        else:
            v = m * v + g
            moved = directions(setting, g + m * v if ahead else v)
        w = (1.0 - setting.decay) * w + setting.step_size[step] * moved
        if setting.rows == "normalised":
            w /= np.linalg.norm(w, axis=2, keepdims=True)
    return numbers(w[:, :, :2], w @ np.swapaxes(w, 1, 2), cosine)


def numbers(overlap: np.ndarray, gram: np.ndarray, cosine: np.ndarray) -> list[np.ndarray]:
    """Eight numbers a run; what is the same in all runs is so up to rounding."""
    found = [overlap[:, 0, 0], overlap[:, 0, 1], overlap[:, 1, 0], gram[:, 0, 0], gram[:, 1, 1]]
    found += [gram[:, 0, 1], gram[:, 1, 2], cosine]
    return [np.round(values, 4) for values in found]


def observed(trajectory: Trajectory) -> list[np.ndarray]:
    assert trajectory.gram is not None
    assert trajectory.gradient_cosine is not None
    cosine = trajectory.gradient_cosine[:, -1, 0, 0]
    return numbers(trajectory.overlap[:, -1], trajectory.gram[:, -1], cosine)


def smallest(one: list[np.ndarray], two: list[np.ndarray]) -> float:
    assert len(one) == 8
    return min(float(ks_2samp(a, b).pvalue) for a, b in zip(one, two, strict=True))


@cache
def of_loop(name: str) -> list[np.ndarray]:
    return plain_loop(Setting(**(BASE | CASES[name][0])), 1)


@pytest.mark.law(sentinel="deferred-heavy ball")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("engine", ["deferred", "dense"])
def test_a_step_has_the_law_of_a_plain_loop(engine: str, name: str) -> None:
    fields, wrong = CASES[name]
    setting = Setting(**(BASE | fields), seed=2)
    if engine == "deferred" and not setting.turns:
        pytest.skip("the deferred engine has no axes")
    found = observed(simulate(setting.vary(engine=engine)))
    assert smallest(found, of_loop(name)) > LEVEL
    other = observed(simulate(setting.vary(engine=engine, **wrong)))
    assert smallest(other, of_loop(name)) < LEVEL


@pytest.mark.parametrize("momentum", [0.6, "nesterov(0.6)"])
def test_velocities_add_up_along_a_constant_gradient(momentum: float | str) -> None:
    """A linear neuron that sees labels alone has one gradient on a reused batch, whatever its row.

    After three steps of size one its row has moved by that gradient times 1, 1 + m, 1 + m + m^2
    added up, or for Nesterov by one more power of m each.
    """
    fields = {"d": 30, "n": 50, "p": 2, "readout_start": "ones", "residual": "labels", "runs": 2}
    fields |= {"batches": "reused", "step_size": 1.0, "precision": "float64", "steps": 3}
    setting = Setting("x1", activation="z", readout_n=0, test_n=0, start="orthogonal", **fields)
    powers = [1.0, 1.6, 1.96] if momentum == 0.6 else [1.6, 1.96, 2.176]
    for engine in ("deferred", "dense"):
        plain = simulate(setting.vary(steps=1, engine=engine))
        found = simulate(setting.vary(momentum=momentum, engine=engine))
        moved = found.overlap - found.overlap[:, :1]
        gradient = plain.overlap[:, 1] - plain.overlap[:, 0]
        for step, factor in enumerate(np.cumsum(powers)):
            np.testing.assert_allclose(moved[:, step + 1], factor * gradient, rtol=1e-9)
