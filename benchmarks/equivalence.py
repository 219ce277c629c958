"""Ridge on giant-step features given the weights: speed, and agreement with dense simulation.

A point and a curve at p = d = 1000; deviations from dense ridge with the same weights over a grid
of activations, targets, first-step batches and sample sizes, in standard errors over batches, after
one step and two; how deviations fall with d.  With ``--full`` larger sizes and every combination.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np

from giantstep.prediction.given_weights.curve import learning_curve
from giantstep.prediction.given_weights.directions import learned_directions
from giantstep.problem.setting import Setting

RIDGE = 0.01


def network(labels: str, activation: str, p: int, d: int) -> Setting:
    """A setting whose penalty is that of the system itself: output scale 1."""
    given: dict[str, Any] = {"noise": 0.3, "output_scale": "1", "start": "sphere", "ridge": RIDGE}
    return Setting(labels, activation=activation, p=p, d=d, **given)


def draw(rng: np.random.Generator, n: int, setting: Setting) -> tuple[Any, Any]:
    """Inputs and noisy labels; the target depends on the first coordinates."""
    x = rng.standard_normal((n, setting.d))
    y = np.asarray(setting.target([x[:, k] for k in range(setting.target.r)]))
    return x, y + setting.noise * rng.standard_normal(n)


def giant_weights(rng: np.random.Generator, setting: Setting, n: int, steps: int = 1) -> Any:
    """Unit rows after steps of size sqrt(p), output scale 1/sqrt(p), a ~ N(0, 1/p)."""
    p, d, activation = setting.p, setting.d, setting.activation
    weights = rng.standard_normal((p, d))
    weights /= np.linalg.norm(weights, axis=1)[:, None]
    readout = rng.standard_normal(p) / math.sqrt(p)
    for _ in range(steps):
        x, y = draw(rng, n, setting)
        h = x @ weights.T
        residual = y - activation(h) @ readout / math.sqrt(p)
        slope = activation.derivative(h) * readout * residual[:, None]
        weights = weights + math.sqrt(p) / n * slope.T @ x
    return weights


def dense(
    rng: np.random.Generator, weights: Any, setting: Setting, *, n: int, batches: int
) -> tuple[Any, Any]:
    """Mean train and test error over fresh batches with the same weights, and standard errors."""
    found = []
    for _ in range(batches):
        x, y = draw(rng, n + 1000, setting)
        phi = np.asarray(setting.activation(x @ weights.T))
        gram = phi[:n].T @ phi[:n] / n + RIDGE * np.eye(setting.p)
        square = (y - phi @ np.linalg.solve(gram, phi[:n].T @ y[:n] / n)) ** 2
        found.append([square[:n].mean(), square[n:].mean()])
    values = np.array(found)
    return values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(batches)


def speed(p: int) -> None:
    """Seconds for one point, and for curves of 20 sizes and 20 penalties."""
    setting = network("x1 + He2(x1)/1.4", "tanh", p, p)
    weights = giant_weights(np.random.default_rng(0), setting, 2 * p)
    directions = learned_directions(weights, 1)
    sizes, ridges = np.geomspace(0.3 * p, 4 * p, 20).astype(int), np.geomspace(1e-4, 1, 20)
    seconds = []
    for r, n in (([0.01], [p]), ([0.01], [p]), ([0.01], sizes), (ridges, [p])):
        start = time.perf_counter()
        learning_curve(setting.vary(ridge=r), weights, directions=directions, sizes=n)
        seconds.append(time.perf_counter() - start)
    print(
        f"equiv    p = d = {p}, k = 1: a point {min(seconds[:2]):.2f} s, "
        f"20 sizes {seconds[2]:.1f} s, 20 penalties {seconds[3]:.1f} s"
    )


def agreement(name: str, labels: str, ratio: float, d: int, batches: int, steps: int = 1) -> None:
    """Root mean square deviation in standard errors over n/d = 0.3 .. 4, for several k."""
    setting = network(labels, name, 6 * d // 5, d)
    rng, r = np.random.default_rng(0), setting.target.r
    weights = giant_weights(rng, setting, int(ratio * d), steps)
    sizes = [int(c * d) for c in (0.3, 0.7, 1.2, 2.0, 4.0)]
    runs = [dense(rng, weights, setting, n=n, batches=batches) for n in sizes]
    mean, error = np.array(runs).transpose(1, 2, 0)
    line = []
    chosen = {f"k = {k}": learned_directions(weights, k) for k in range(steps + 1)}
    # The target's own directions only beside the singular vectors, never instead of them.
    if r + 1 <= 3:
        chosen["target and 1 more"] = learned_directions(weights, r + 1, np.eye(d)[:r])
    for label, directions in chosen.items():
        curve = learning_curve(setting, weights, directions=directions, sizes=sizes)
        scores = (np.concatenate([curve.train, curve.test]) - mean) / error
        line.append(f"{label} {np.sqrt(np.mean(scores**2)):.2f} (max {np.abs(scores).max():.1f})")
    print(
        f"equiv    {name}, {labels}, {steps} step(s), n0 = {ratio}d, d = {d}, {batches} batches, "
        f"rms deviation in standard errors: {', '.join(line)}"
    )


def finite_size(name: str, d: int, draws: int, batches: int) -> None:
    """Relative deviation of theory from simulation at n = d/2, averaged over weights."""
    setting = network("x1 + He2(x1)/1.4", name, d, d)
    found, sampling = [], []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        weights = giant_weights(rng, setting, 2 * d)
        mean, error = dense(rng, weights, setting, n=d // 2, batches=batches)
        directions = learned_directions(weights, 1)
        curve = learning_curve(setting, weights, directions=directions, sizes=[d // 2])
        found.append(np.array([curve.train[0, 0], curve.test[0, 0]]) / mean - 1)
        sampling.append(error / mean)
    train, test = np.mean(found, axis=0)
    errors = np.sqrt(np.mean(np.square(sampling), axis=0) / draws)
    print(
        f"equiv    {name}, p = d = {d}, n = d/2, {draws} weights x {batches} batches: theory over "
        f"simulation, train {train:+.1%} +- {errors[0]:.1%}, test {test:+.1%} +- {errors[1]:.1%}"
    )


def main() -> None:
    """Speed, agreement and finite size."""
    full = "--full" in sys.argv
    for p in (500, 1000, 2000) if full else (500, 1000):
        speed(p)
    d, batches = (500, 60) if full else (200, 40)
    for i, name in enumerate(("tanh", "relu", "erf")):
        for j, labels in enumerate(("x1 + He2(x1)/1.4", "x1 + x1*x2")):
            for ratio in (0.5, 2.0, 8.0) if full else ((0.5, 2.0, 8.0)[(i + j) % 3],):
                agreement(name, labels, ratio, d, batches)
    agreement("relu", "x1 + He2(x1)/1.4", 2.0, d, batches, steps=2)
    agreement("tanh", "x1 + x1*x2 + x1*x3", 4.0, d, batches, steps=2)
    for name in ("relu", "tanh"):
        for size in (25, 50, 100, 200, 400) if full else (25, 50, 100):
            finite_size(name, size, 8, 500 if full else 150)


if __name__ == "__main__":
    main()
