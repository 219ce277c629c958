"""Figures of the error against log n/log d: several steps, and deflated labels (arXiv 2305.18270).

A narrow network fits what depends on the directions that it has learned.  The target
x1 + x1 x2 + He2(x2)/sqrt 2 leaves the errors 3, 2 and 0 to it with no direction, with w_1, and with
w_1 and w_2 learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.analysis.fitted_degrees import FittedDegrees
from giantstep.analysis.floors import floor, floor_with
from giantstep.errors import NoTheoryError
from giantstep.papers.figures.record import Reproduction
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.simulation.processes import Pool
from giantstep.simulation.simulate import simulate
from giantstep.simulation.threads import cores

PAPER = "arXiv 2305.18270"
LADDER: dict[str, Any] = {
    "target": "x1 + x1*x2 + He2(x2)/sqrt(2)",
    "activation": "relu",
    "p": 32,
    # Squared errors are heavy-tailed: with fewer the bars are those of the test samples.
    "test_n": 20_000,
}
TITLE = r"$x_1 + x_1 x_2 + \mathrm{He}_2(x_2)/\sqrt{2}$"
X_LABEL = r"exponent of the batch size $\log n/\log d$"
ERROR = "test error of the readout (mean square)"


def learning_curves(
    seed: int, *, small_d: int, large_d: int, runs: int, exponents: Sequence[float], steps: int
) -> list[Plot]:
    """Test error after T = 0..steps steps at two dimensions."""
    panels = []
    for d in (small_d, large_d):
        base = Setting(**LADDER, d=d, steps=steps, step_size="4p", runs=runs, seed=seed)
        points = _points(base, exponents)
        curves = []
        for step in range(steps + 1):
            name = f"$T = {step}$" if step else "$T = 0$: no step"
            errors = {kappa: points[kappa][0][:, step] for kappa in exponents}
            theory = {kappa: points[kappa][1][step] for kappa in exponents}
            curves += _both(name, errors, theory)
        panels.append(_plot(curves, exponents, f"$d = {d:,}$"))
    return panels


def preprocessed(seed: int, *, d: int, runs: int, exponents: Sequence[float]) -> list[Plot]:
    """Test error after one step on the labels, and without their degrees up to one."""
    kinds: dict[str, dict[str, Any]] = {
        "no step": {"steps": 0, "step_size": 1.0},
        "one step, labels as they are": {"step_size": "4p"},
        "one step, degrees 0 and 1 removed": {"step_size": "4*p*d^0.5", "deflate": 1},
    }
    curves = []
    for name, fields in kinds.items():
        base = Setting(**{**LADDER, "steps": 1} | fields, d=d, runs=runs, seed=seed)
        points = _points(base, exponents)
        errors = {kappa: points[kappa][0][:, -1] for kappa in exponents}
        theory = {kappa: points[kappa][1][-1] for kappa in exponents}
        curves += _both(name, errors, theory)
    return [_plot(curves, exponents, TITLE)]


Errors = tuple[Float[np.ndarray, "runs t"], Float[np.ndarray, " t"]]
"""Test errors of the runs after each step, and the predicted ones."""


def _points(base: Setting, exponents: Sequence[float], apart: int = 500) -> dict[float, Errors]:
    """Errors at n = d^kappa for every exponent kappa, from d = ``apart`` on in processes."""
    settings = [base.vary(n=f"d^{kappa}") for kappa in exponents]
    if base.d < apart or cores() == 1:
        points = [_point(setting) for setting in settings]
    else:
        with Pool(min(cores(), len(settings))) as pool:
            points = pool.map(_point, settings)
    return dict(zip(exponents, points, strict=True))


def _point(setting: Setting) -> Errors:
    measured = simulate(setting).test_error
    assert measured is not None
    try:
        predicted = predict(setting).test_error
    except NoTheoryError:
        predicted = None
    if predicted is None:
        return measured, np.full(setting.steps + 1, np.nan)
    return measured, predicted.mean(axis=0)


def _both(
    name: str, errors: Mapping[float, Float[np.ndarray, " runs"]], theory: Mapping[float, float]
) -> list[Curve]:
    """Points of the runs, and the line of theory where there is one."""
    finite = {kappa: float(value) for kappa, value in theory.items() if np.isfinite(value)}
    points = mean_curve(name, list(errors), list(errors.values()))
    line = Curve(name, list(finite), list(finite.values()), theory=True)
    return [points, line]


def _plot(curves: Sequence[Curve], exponents: Sequence[float], title: str) -> Plot:
    return Plot(
        X_LABEL,
        ERROR,
        curves,
        levels=floors(),
        x_range=with_room(exponents),
        # Errors near interpolation would flatten the others.
        y_range=(0.0, 3.4),
        title=title,
    )


def with_room(exponents: Sequence[float]) -> tuple[float, float]:
    """The range of an axis that leaves its right end to the words of the floors."""
    low, high = exponents[0], exponents[-1]
    return low - 0.05 * (high - low), high + 0.5 * (high - low)


def floors() -> dict[str, float]:
    """E Var(f | P_U x) for what is learned, and what relu misses of the rest: nothing."""
    setting = Setting(**LADDER, d=100)
    series, fits = setting.target.series, FittedDegrees(setting.activation)
    bases = {
        "floor, nothing learned": np.empty((0, 2)),
        "floor, $w_1$ learned": np.eye(2)[:1],
        "floor, $w_1$ and $w_2$ learned": np.eye(2),
    }
    return {
        name: floor_with(floor(series, basis), series, fits).by_degree[0]
        for name, basis in bases.items()
    }


FIGURES = (
    Reproduction(
        "learning-curves",
        f"A staircase in the error: {TITLE}",
        PAPER,
        (13.0, 5.4),
        (
            "32 ReLU neurons start in pairs and take $T$ steps of size $4p$ on $n$ fresh samples "
            "each. The second layer is fitted by ridge regression on $n$ more, with the penalty "
            "of least leave-one-out error. $d$ is {small_d:,} and {large_d:,}. Points: means "
            "over {runs} runs, all $T$ with the same starts; bars are two standard errors. "
            "Lines: theory of narrow networks. Step 1 learns $w_1$, and given it step 2 learns "
            "$w_2$. Later steps turn the neurons further to $w_2$."
        ),
        learning_curves,
        quick={
            "small_d": 200,
            "large_d": 400,
            "runs": 3,
            "exponents": (1.1, 1.3, 1.5),
            "steps": 4,
        },
        full={
            "small_d": 1000,
            "large_d": 4000,
            "runs": 8,
            "exponents": (0.9, 1.05, 1.2, 1.35, 1.5, 1.65),
            "steps": 4,
        },
    ),
    Reproduction(
        "preprocessed",
        "One step on preprocessed labels",
        PAPER,
        (7.5, 5.6),
        (
            "$d$ = {d}, 32 ReLU neurons. On labels as they are, one step (of size $4p$) learns "
            "$w_1$ alone. With their linear part fitted and removed, one step of size "
            r"$4p\sqrt{{d}}$ learns $w_1$ and $w_2$ from $n\sim{{d^2}}$ on. Its error still falls "
            "with $n$ there. Points: means over {runs} runs, all with the same starts; bars are "
            "two standard errors. Lines: theory of narrow networks, where it has readout errors. "
            "At this $d$ it has none for deflated labels."
        ),
        preprocessed,
        quick={"d": 100, "runs": 3, "exponents": (1.0, 1.5, 2.0)},
        full={"d": 400, "runs": 8, "exponents": (1.0, 1.25, 1.5, 1.75, 2.0, 2.25)},
    ),
)
