"""A readout on the step's own batch at linear width: predicted errors against dense simulations.

Random settings of one step or two on fresh batches, d = 100 to 300, p/d = 0.3 to 2, n/d = 1 to 8,
given penalties and those that leave-one-out chooses, pairs and single rows, with and without the
network's own output in the residual.  Sizes of steps are drawn by the noise they add to the squared
length of a row, 0.001 to 0.5; the second step is between half of the first and twice as long.  A
line a setting: noise, relative deviations of the predicted train and test error after the last
step, the standard errors of the simulations in brackets, and z, the deviation over the root of the
sum of squares of this standard error and of the uncertainty that the prediction states.  At the end
root mean squares by noise, sampling errors taken off, and how many z are beyond 2 and 3.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from multiprocessing import get_context

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq

from giantstep.errors import NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.prediction.wide.quantities import noise_of_steps
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

TARGETS = (
    *("x1", "x1 + He2(x1)/2", "sign(x1)", "sin(2*x1)", "2*tanh(x1) + x2/2", "x1 + x1*x2"),
    *("x1 + x2*x3/2", "abs(x1) + x1/2"),
)
NOISES = (0.001, 0.03, 0.1, 0.5)
"""Borders of the table at the end."""


@dataclass(frozen=True)
class Deviation:
    """Relative deviations of (train, test), their standard errors, and the noise of the step.

    ``stated`` is the relative uncertainty that the prediction states, ``z`` the deviation in joint
    standard errors.
    """

    noise: float
    relative: Float[np.ndarray, " two"]
    error: Float[np.ndarray, " two"]
    stated: float
    words: str

    @property
    def z(self) -> Float[np.ndarray, " two"]:
        return np.asarray(self.relative / np.hypot(self.error, (1.0 + self.relative) * self.stated))


def draw(seed: int, index: int, *, runs: int, largest: int, steps: int = 1) -> Setting:
    """One random setting, the same for a seed and an index."""
    key = np.random.default_rng([seed, index])
    d = int(100 * (largest / 100) ** key.uniform())
    start = str(key.choice(["symmetric", "sphere"]))
    setting = Setting(
        str(key.choice(TARGETS)),
        activation=str(key.choice(["relu", "tanh", "erf", "gelu"])),
        d=d,
        n=int(d * 8.0 ** key.uniform()),
        p=2 * int(0.15 * d * (2.0 / 0.3) ** key.uniform()),
        steps=1,
        step_size=1.0,
        start=start,
        output_scale=str(key.choice(["1/sqrt(p)", "1/p"])),
        readout_start=str(key.choice(["signs", "gaussian"])),
        residual=str(key.choice(["full", "labels"])),
        noise=float(key.choice([0.0, 0.3])),
        readout_batch="last",
        test_n=4000,
        runs=runs,
        seed=int(key.integers(10**6)),
        engine="dense",
    )
    noise = 10.0 ** key.uniform(math.log10(NOISES[0]), math.log10(NOISES[-1]))
    penalty = setting.scale**2 * setting.p * 10.0 ** key.uniform(-3.0, 0.0)
    ridge = "cv" if key.uniform() < 0.3 else [penalty]
    ratios = [1.0, *(2.0 ** key.uniform(-1.0, 1.0, size=steps - 1))]
    setting = setting.vary(ridge=ridge, steps=steps, step_size=ratios)
    return setting.vary(step_size=(_factor(setting, noise) * np.array(ratios)).tolist())


def _factor(setting: Setting, noise: float) -> float:
    """By what the sizes of the steps are multiplied for this noise, at most 1e6 or 1e-6."""

    def beyond(log: float) -> float:
        sizes = (10.0**log * np.array(setting.step_size)).tolist()
        return math.log((noise_of_steps(setting.vary(step_size=sizes)) or math.nan) / noise)

    return float(10.0 ** brentq(beyond, -6.0, 6.0, xtol=1e-3))


def compared(index: int, *, seed: int, runs: int, largest: int, steps: int) -> Deviation | str:
    """Prediction against simulation, or the sentence of a refusal."""
    setting = draw(seed, index, runs=runs, largest=largest, steps=steps)
    try:
        prediction = predict(setting, theory="linear-width")
    except NoTheoryError as refusal:
        return str(refusal)
    if np.isnan(_errors(prediction)[1]).all():
        return prediction.notes[-1]
    return deviation(prediction, simulate(setting))


def deviation(prediction: Trajectory, simulation: Trajectory) -> Deviation:
    """How far a prediction is from the runs of a simulation."""
    setting = simulation.setting
    measured = _errors(simulation)
    mean = measured.mean(axis=1)
    return Deviation(
        noise=noise_of_steps(setting) or math.nan,
        relative=_errors(prediction).mean(axis=1) / mean - 1.0,
        error=measured.std(axis=1, ddof=1) / math.sqrt(simulation.runs) / mean,
        stated=math.hypot(prediction.relative_uncertainty, prediction.readout_relative_uncertainty),
        words=repr(setting),
    )


def _errors(record: Trajectory) -> Float[np.ndarray, "two runs"]:
    """Train and test error after the last step; NaN where there is none."""
    given = (record.train_error, record.test_error)
    return np.stack([np.full(1, math.nan) if each is None else each[:, -1] for each in given])


def main() -> None:
    """Lines of all settings, and root mean squares by noise."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks own_batch")
    parser.add_argument("--settings", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--largest", type=int, default=300, help="largest d")
    parser.add_argument("--steps", type=int, default=1, choices=(1, 2))
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    fields = {name: getattr(given, name) for name in ("seed", "runs", "largest", "steps")}
    task = partial(compared, **fields)
    indices = range(given.first, given.first + given.settings)
    deviations = []
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        for result in pool.map(task, indices):
            if isinstance(result, str):
                print(f"own_batch refused: {result}", flush=True)
                continue
            deviations.append(result)
            parts = zip(("train", "test"), result.relative, result.error, result.z, strict=True)
            shown = (f"{name} {off:+.1%} ({err:.1%}) z {z:+.2f}" for name, off, err, z in parts)
            print(
                f"own_batch noise {result.noise:.3f} {' '.join(shown)} {result.words}", flush=True
            )
    for low, high in pairwise(NOISES):
        _summary([each for each in deviations if low <= each.noise < high], f"{low:g} to {high:g}")


def _summary(deviations: list[Deviation], noise: str) -> None:
    """Root mean squares of deviations beyond sampling errors; NaN where nothing was predicted."""
    parts = []
    for j, name in enumerate(("train", "test")):
        pairs = [(e.relative[j], e.error[j]) for e in deviations if np.isfinite(e.relative[j])]
        square = float(np.mean([a**2 - b**2 for a, b in pairs])) if pairs else math.nan
        worst = max((abs(a) for a, _ in pairs), default=math.nan)
        root = math.sqrt(max(square, 0.0))
        z = np.array([abs(e.z[j]) for e in deviations if np.isfinite(e.z[j])])
        beyond = f"{np.sum(z > 2.0)} beyond 2, {np.sum(z > 3.0)} beyond 3"
        parts.append(f"{name} {root:.1%}, at most {worst:.1%}, of {len(pairs)}; z {beyond}")
    print(f"own_batch noise {noise}: {'. '.join(parts)}")


if __name__ == "__main__":
    main()
