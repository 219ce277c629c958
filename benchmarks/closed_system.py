"""One giant step at linear width, predicted without W, against plain NumPy; and its time.

A line a case: the outliers of F/sqrt(n) with their relative errors (aim 3 %, 7 % for the He series,
whose features have heavy tails), the largest error of an overlap above 0.3 (aim 0.03), deviations
of train error, test error and objective in standard errors, and the seconds of both predictions
(aim 0.5).  d = 1000 and 3 runs; ``--full``: d = 1500, 8 runs, and other starts and readouts.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.rules import hermite_values
from giantstep.prediction.wide.feature_outliers import feature_outliers
from giantstep.prediction.wide.losses import losses
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting

CENTRED_RELU = centred("relu(z)")
ACTIVATIONS = (CENTRED_RELU, "tanh", "erf", "He1 + He2/2")
EXPONENTS = (0.15, 0.30, 0.38)
MORE: tuple[dict[str, Any], ...] = (
    {"start": "symmetric"},
    {"start": "gaussian"},
    {"activation": "relu", "residual": "labels"},
    {"target": "relu(x1) + 1", "residual": "labels"},
    {"target": "x1 + x1*x2"},
    {"readout_start": "signs", "output_scale": "1/sqrt(p)", "ridge": 1e-4},
)


def settings(full: bool) -> list[Setting]:
    """Every activation at every exponent, and with --full the other choices one by one."""
    d = 1500 if full else 1000
    base: dict[str, Any] = {
        "target": "x1 + He2(x1)/sqrt(2)",
        "activation": CENTRED_RELU,
        "d": d,
        "n": 2 * d,
        "p": 3 * d // 2,
        "steps": 1,
        "step_size": "n^0.3",
        "output_scale": "1",
        "start": "sphere",
        "readout_start": "gaussian",
        "noise": 0.5,
        "ridge": 0.1,
    }
    found = [
        Setting(**base | {"activation": activation, "step_size": f"n^{alpha}"})
        for activation in ACTIVATIONS
        for alpha in EXPONENTS
    ]
    return found + ([Setting(**base | more) for more in MORE] if full else [])


def features(setting: Setting, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """W after one step, X^T r / n and a."""
    p, d = setting.p, setting.d
    count = p // 2 if setting.start == "symmetric" else p
    rows = rng.standard_normal((count, d))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= math.sqrt(d) if setting.start == "gaussian" else lengths
    signs = setting.readout_start == "signs"
    a = rng.choice([-1.0, 1.0], count) if signs else rng.standard_normal(count) / math.sqrt(p)
    if setting.start == "symmetric":
        rows, a = np.concatenate([rows, rows]), np.concatenate([a, -a])
    x, y = samples(setting, rng, setting.n)
    pre = x @ rows.T
    output = setting.scale * (setting.activation(pre) @ a)
    residual = y - output if setting.residual == "full" else y
    slopes = setting.activation.derivative(pre) * residual[:, None]
    size = setting.step_size[0] * setting.scale / setting.n
    return rows + size * a[:, None] * (slopes.T @ x), x.T @ residual / setting.n, a


def samples(setting: Setting, rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    x = rng.standard_normal((count, setting.d))
    clean = setting.target([x[:, k] for k in range(setting.target.r)])
    return x, setting.labels(clean, rng.standard_normal(count))


def measure(
    setting: Setting, seed: int, count: int
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, "k c"], Float[np.ndarray, " 3"]]:
    """The first singular values, their overlaps (h_0 .. h_4, a^0 .. a^4), and the losses."""
    rng = np.random.default_rng(seed)
    rows, beta, a = features(setting, rng)
    n, ridge = setting.readout_n, float(setting.ridge[0])
    x, y = samples(setting, rng, n)
    phi = setting.activation(x @ rows.T)
    squares, vectors = np.linalg.eigh(phi.T @ phi / n)
    values = np.sqrt(squares[::-1][: count + 1])
    right = vectors[:, ::-1][:, :count].T
    polynomials = hermite_values(x @ beta / np.linalg.norm(beta), 4)
    powers = a[:, None] ** np.arange(5)
    left = right @ phi.T / (math.sqrt(n) * values[:count, None])
    overlaps = np.concatenate(
        [
            left @ (polynomials / np.linalg.norm(polynomials, axis=0)),
            right @ (powers / np.linalg.norm(powers, axis=0)),
        ],
        axis=1,
    )
    scale = setting.scale
    w = vectors @ ((vectors.T @ (scale * (phi.T @ y) / n)) / (scale**2 * squares + ridge))
    train = float(np.mean((y - scale * phi @ w) ** 2))
    x, y = samples(setting, rng, 2 * n)
    test = float(np.mean((y - scale * setting.activation(x @ rows.T) @ w) ** 2))
    return values, np.abs(overlaps), np.array([train, test, train + ridge * float(w @ w)])


def main() -> None:
    """Print one line a case."""
    full = "--full" in sys.argv
    runs = 8 if full else 3
    for setting in settings(full):
        start = time.perf_counter()
        found = feature_outliers(setting)
        middle = time.perf_counter()
        predicted = losses(setting)
        end = time.perf_counter()
        count = len(found.values)
        measured = [measure(setting, seed, count) for seed in range(runs)]
        values = np.mean([value for value, _, _ in measured], axis=0)
        shown = ", ".join(
            f"{value:.3f}/{expected:.3f} ({abs(expected / value - 1):.1%})"
            for value, expected in zip(values[:count], found.values, strict=True)
        )
        overlaps = np.concatenate([found.left, found.right], axis=1)
        gap = np.abs(np.mean([overlap for _, overlap, _ in measured], axis=0) - overlaps)
        worst = float(np.max(gap[overlaps > 0.3], initial=0.0))
        errors = np.array([loss for _, _, loss in measured])
        expected = np.array([predicted.train, predicted.test, predicted.objective])
        spread = errors.std(axis=0, ddof=1) / math.sqrt(runs)
        off = (expected - errors.mean(axis=0)) / spread
        print(
            f"closed system {setting.activation.name[:12]:12s} d = {setting.d} {setting.start:9s} "
            f"n^{math.log(setting.step_size[0]) / math.log(setting.n):.2f}: outliers "
            f"{shown or 'none'}, next {values[count]:.3f}, edge {found.edge:.3f}, overlaps within "
            f"{worst:.3f}, losses off by {off[0]:+.1f} {off[1]:+.1f} {off[2]:+.1f} s.e., "
            f"{middle - start:.2f} + {end - middle:.2f} s"
        )


if __name__ == "__main__":
    main()
