"""Figures of the error against log n/log d: several steps, and deflated labels (arXiv 2305.18270).

The target x1 + x1 x2 + He2(x2)/sqrt 2 has floors 2, 1, 0 at n, p ~ d: with no direction learned
(random features, and the linear kernel), with w_1, and with w_1 and w_2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.analysis.floors import floor
from giantstep.errors import NoTheoryError
from giantstep.papers.figures.record import Reproduction
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.processes import process_pool
from giantstep.simulation.simulate import simulate
from giantstep.simulation.threads import cores

PAPER = "arXiv 2305.18270"
LADDER: dict[str, Any] = {
    "target": "x1 + x1*x2 + He2(x2)/sqrt(2)",
    "activation": "relu",
    "p": "2d",
    # Squared errors are heavy-tailed: with fewer the bars are those of the test samples.
    "test_n": 20_000,
}
LEARNED = {
    "floor, nothing learned": (),
    "floor, $w_1$ learned": ((1.0, 0.0),),
    "floor, $w_1$ and $w_2$ learned": ((1.0, 0.0), (0.0, 1.0)),
}
LINEAR = {"activation": "z", "start": "sphere", "steps": 0, "step_size": 1.0}
"""2d random linear features span the inputs: regression on them is that of the linear kernel."""

X_LABEL = r"exponent of the batch size $\log n/\log d$"
ERROR = "test error of the readout (mean square)"
HIGHEST = 3.2
"""Top of the axis: errors near interpolation would flatten the rest."""

PREDICTED = 2
"""Steps that the theory of linear width covers."""


APART = 256
"""Dimension from which a size is worth a process of its own: it compiles anew for every n."""


@dataclass(frozen=True)
class Point:
    """Test errors of one n by run: after T = 0, 1, .. steps, of the linear kernel, as predicted."""

    errors: Float[np.ndarray, "runs t"]
    linear: Float[np.ndarray, " runs"]
    predicted: Float[np.ndarray, " t"]


def learning_curves(
    seed: int, *, small_d: int, large_d: int, runs: int, exponents: Sequence[float], steps: int
) -> list[Plot]:
    """Test error after T = 0..steps steps, and of the linear kernel, at two dimensions."""
    sizes = [(d, kappa) for d in (large_d, small_d) for kappa in reversed(exponents)]
    point = partial(_point, runs=runs, steps=steps, seed=seed)
    if large_d < APART or cores() == 1:
        found = list(starmap(point, sizes))
    else:
        with process_pool(min(cores(), len(sizes))) as pool:
            found = pool.starmap(point, sizes, chunksize=1)
    points = dict(zip(sizes, found, strict=True))
    return [
        _curves(exponents, [points[d, kappa] for kappa in exponents], f"$d = {d}$")
        for d in (small_d, large_d)
    ]


def _point(d: int, kappa: float, *, runs: int, steps: int, seed: int) -> Point:
    """All T of a run share its start and its batches, all n their first samples."""
    setting = Setting(
        **LADDER, d=d, n=f"d^{kappa}", steps=steps, step_size="p", runs=runs, seed=seed
    )
    return Point(
        _test_errors(simulate(setting)),
        _test_errors(simulate(setting.vary(**LINEAR)))[:, 0],
        _predicted(setting.vary(steps=PREDICTED)),
    )


def _curves(exponents: Sequence[float], points: Sequence[Point], title: str) -> Plot:
    curves = [mean_curve("linear kernel", exponents, [point.linear for point in points])]
    for step in range(points[0].errors.shape[1]):
        name = f"$T = {step}$" if step else "random features"
        curves.append(mean_curve(name, exponents, [point.errors[:, step] for point in points]))
        if step <= PREDICTED:
            known = [
                (float(x), float(point.predicted[step]))
                for x, point in zip(exponents, points, strict=True)
                if not np.isnan(point.predicted[step])
            ]
            curves.append(Curve(name, [x for x, _ in known], [y for _, y in known], theory=True))
    return Plot(
        X_LABEL,
        ERROR,
        curves,
        levels=floors(),
        x_range=with_room(exponents),
        y_range=(0.0, HIGHEST),
        title=title,
    )


def _test_errors(found: Trajectory) -> np.ndarray:
    assert found.test_error is not None
    return found.test_error


def _predicted(setting: Setting) -> np.ndarray:
    """Test errors after each step, NaN where no theory covers it."""
    try:
        return _test_errors(predict(setting, theory="linear-width"))[0]
    except NoTheoryError:
        return np.full(setting.steps + 1, np.nan)


def with_room(exponents: Sequence[float]) -> tuple[float, float]:
    """The range of an axis that leaves its right end to the words of the floors."""
    low, high = exponents[0], exponents[-1]
    return low - 0.05 * (high - low), high + 0.5 * (high - low)


def floors() -> dict[str, float]:
    """|| P_{U, > 1} f ||^2 for what is learned."""
    series = Setting(**LADDER, d=100).target.series
    bases = {name: np.array(basis).reshape(-1, 2) for name, basis in LEARNED.items()}
    return {name: floor(series, basis).by_degree[1] for name, basis in bases.items()}


def preprocessed(seed: int, *, d: int, runs: int, exponents: Sequence[float]) -> list[Plot]:
    """Test error after one step on the labels, and without their degrees up to one."""
    kinds: dict[str, dict[str, Any]] = {
        "random features": {"steps": 0, "step_size": 1.0},
        "one step, labels as they are": {"step_size": "4p"},
        "one step, degrees 0 and 1 removed": {"step_size": "4*p*d^0.5", "deflate": 1},
    }
    curves = []
    for name, fields in kinds.items():
        base = Setting(**{**LADDER, "steps": 1} | fields, d=d, runs=runs, seed=seed)
        found = [_test_errors(simulate(base.vary(n=f"d^{kappa}")))[:, -1] for kappa in exponents]
        curves.append(mean_curve(name, exponents, found))
    return [
        Plot(
            X_LABEL,
            ERROR,
            curves,
            levels=floors(),
            x_range=with_room(exponents),
            y_range=(0.0, 5.8),
        )
    ]


FIGURES = (
    Reproduction(
        "learning-curves",
        "A staircase in the error: x1 + x1 x2 + He2(x2)/sqrt 2",
        PAPER,
        (13.0, 5.4),
        "p = 2d ReLU neurons, paired at the start; T steps of size p on n fresh samples each, "
        "then ridge regression of the second layer on n more, penalty by leave-one-out; "
        "d = {small_d} and {large_d}. Means over {runs} runs, all T and n with the same starts; "
        "bars are two standard errors. Theory is that of linear width, where it covers n and T; "
        "after two steps it lies above the points, less so at the larger d.",
        learning_curves,
        quick={
            "small_d": 32,
            "large_d": 64,
            "runs": 3,
            "exponents": (1.1, 1.3, 1.5, 1.75),
            "steps": 6,
        },
        full={
            "small_d": 256,
            "large_d": 512,
            "runs": 3,
            "exponents": (0.8, 1.1, 1.4, 1.7, 2.0),
            "steps": 6,
        },
    ),
    Reproduction(
        "preprocessed",
        "One step on preprocessed labels: x1 + x1 x2 + He2(x2)/sqrt 2",
        PAPER,
        (7.5, 5.4),
        "d = {d}, p = 2d ReLU neurons. On labels as they are, one step (of size 4p) learns $w_1$ "
        "alone; with their linear part fitted and removed, one of size $4p\\sqrt{{d}}$ learns "
        "$w_1$ and $w_2$ from $n \\sim d^2$ on. Means over {runs} runs, all with the same "
        "starts; bars are two standard errors.",
        preprocessed,
        quick={"d": 36, "runs": 3, "exponents": (1.0, 1.5, 2.0, 2.25)},
        full={"d": 128, "runs": 8, "exponents": (1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5)},
    ),
)
