"""Relative errors of the theory of linear width at d = 100, 200 and 400, over random settings.

``python -m benchmarks finite_size --settings 60 --seed 1`` draws settings: p/d from 0.3 to 2, n/d
from 1 to 8, one or two steps, five activations, targets with parts of degree 1 and 2, three output
scales, a fixed penalty.  The same setting is taken at every d.  Each number that tables show is
compared with its mean over the runs, as (simulated - predicted)/predicted in percent: the mean over
settings, the root mean square without what the sampling error of the runs adds, and the worst.
``--list`` prints every comparison, ``--processes`` spreads the settings over so many processes.
What ``left_out`` in ``prediction/wide/quantities.py`` states comes from here.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from jaxtyping import Bool

from giantstep.errors import NotConvergedError, NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.differences import Difference, statistics
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

RUNS = {100: 96, 200: 32, 400: 12}
"""Runs at each d: the sampling errors of means are then alike, and so is the time at each d."""

LEARNED, UNLEARNED = "cosine, learned direction", "cosine, unlearned direction"
ALWAYS_SHOWN = (
    *(LEARNED, UNLEARNED, "square length", "principal cosine"),
    *("train error", "test error"),
)
"""Kinds of numbers that a table shows after every step: what is not predicted is missing."""

LEAST_LEARNED = 0.1
"""Predicted mean cosine from which on a direction counts as learned."""

ACTIVATIONS = ("relu", "tanh", "erf", "gelu", "softplus")
LINEAR = ("x1", "x1 + 0.5*x2", "0.7*x1")
QUADRATIC = ("", " + He2(x1)/1.4", " + x1*x2", " + 0.5*He2(x2)", " + x1*x2 - 0.5*He2(x1)")


def draw(seed: int, index: int, d: int, runs: int) -> Setting:
    """The setting of a seed and a number, at the dimension d."""
    key = np.random.default_rng([seed, index])

    def between(low: float, high: float) -> float:
        return float(np.exp(key.uniform(math.log(low), math.log(high))))

    p, n, readout_n = between(0.3, 2.0), between(1.0, 8.0), between(1.0, 4.0)
    steps, factors = int(key.integers(1, 3)), [between(0.4, 2.0) for _ in range(2)]
    setting = Setting(
        str(key.choice(LINEAR)) + str(key.choice(QUADRATIC)),
        activation=str(key.choice(ACTIVATIONS)),
        d=d,
        n=round(n * d),
        p=2 * round(p * d / 2),
        steps=steps,
        output_scale=str(key.choice(["1/p", "1/sqrt(p)", "1"])),
        start=str(key.choice(["symmetric", "sphere"])),
        readout_start=str(key.choice(["signs", "gaussian"])),
        residual=str(key.choice(["full", "labels"])),
        noise=float(key.choice([0.0, 0.5])),
        readout_n=round(readout_n * d),
        test_n=1000,
        ridge=round(between(0.01, 1.0), 3),
        spectra=4,
        runs=runs,
        seed=seed + index,
    )
    sizes = [setting.step_size[0] * factor for factor in factors[:steps]]
    return setting.vary(step_size=sizes)


@dataclass(frozen=True)
class Deviation:
    """A number of a table: relative deviation of runs from theory, and its standard error."""

    kind: str
    step: int
    relative: float
    error: float

    def __str__(self) -> str:
        relative, error = 100 * self.relative, 100 * self.error
        return f"{self.kind} {self.step} {relative:+.2f} +- {error:.2f}"


def deviations(prediction: Trajectory, simulation: Trajectory) -> Iterator[Deviation]:
    """The relative deviation of every number that is predicted; NaN where a shown one is not."""
    cosines = np.abs(prediction.overlap) / prediction.norms[..., None]
    learned = np.median(cosines, axis=2).mean(axis=0) > LEAST_LEARNED
    for part in statistics(prediction, simulation):
        for place in np.ndindex(part.predicted.shape):
            kind = _kind(part.name, learned[place[0]])
            if kind in ALWAYS_SHOWN or (kind and np.isfinite(part.predicted[place])):
                yield _deviation(kind, part, place)


def _kind(name: str, learned: Bool[np.ndarray, " r"]) -> str | None:
    """The kind of number that a part is, None for those that are no number of a table."""
    if re.fullmatch(r"cosine_\d", name):
        return UNLEARNED if not learned[int(name[-1]) - 1] else LEARNED
    if re.fullmatch(r"principal_cosine_\d", name):
        return "principal cosine"
    kinds = {
        "square length": "square length",
        "weights outliers": "outlier of W",
        "features outliers": "outlier of the features",
        "train_error": "train error",
        "test_error": "test error",
    }
    return kinds.get(name)


def _deviation(kind: str, part: Difference, place: tuple[int, ...]) -> Deviation:
    centre = part.predicted[place]
    values = np.moveaxis(part.differences, 0, -1)[place] / centre
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return Deviation(kind, place[0], math.nan, math.nan)
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return Deviation(kind, place[0], float(values.mean()), error)


def measured(task: tuple[int, int, int, int]) -> list[Deviation] | str:
    """The deviations of the setting of a seed, a number, d and runs, or why there is no theory."""
    setting = draw(*task)
    try:
        prediction = predict(setting, theory="linear-width")
    except (NoTheoryError, NotConvergedError) as error:
        return str(error)
    return list(deviations(prediction, simulate(setting)))


def table(found: dict[tuple[str, int, int], list[Deviation]]) -> list[str]:
    """A line for each kind of number, step and d."""
    lines = [
        "| number | after step | d | mean % | rms % | worst % | sampling error % | compared "
        "| missing |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (kind, step, d), parts in sorted(found.items()):
        relative = np.array([each.relative for each in parts])
        error = np.array([each.error for each in parts])
        known = np.isfinite(relative)
        if not known.any():
            continue
        relative, error = 100 * relative[known], 100 * error[known]
        square = max(float(np.mean(relative**2 - error**2)), 0.0)
        worst = relative[np.argmax(np.abs(relative))]
        lines.append(
            f"| {kind} | {step} | {d} | {relative.mean():+.2f} | {math.sqrt(square):.2f} "
            f"| {worst:+.1f} | {math.sqrt(np.mean(error**2)):.2f} | {known.sum()} "
            f"| {(~known).sum()} |"
        )
    return lines


def main() -> None:
    """Print the table, and with ``--list`` every comparison before it."""
    parser = argparse.ArgumentParser(prog="benchmarks finite_size")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--settings", type=int, default=12)
    parser.add_argument("--d", type=int, nargs="*", default=sorted(RUNS))
    parser.add_argument("--share", type=float, default=1.0, help="share of the usual runs")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    # The largest d first: its settings take longest.
    tasks = [
        (options.seed, index, d, max(4, round(options.share * RUNS.get(d, 40_000_000 // d**3))))
        for d in sorted(options.d, reverse=True)
        for index in range(options.settings)
    ]
    found: dict[tuple[str, int, int], list[Deviation]] = {}
    # Fork and JAX do not go together.
    with get_context("spawn").Pool(options.processes) as pool:
        for (_, index, d, _), result in zip(tasks, pool.imap(measured, tasks), strict=True):
            if isinstance(result, str):
                print(f"{index} d = {d}: {result}", flush=True)
                continue
            for each in result:
                found.setdefault((each.kind, each.step, d), []).append(each)
                if options.list:
                    print(f"{index} d = {d} {each}", flush=True)
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
