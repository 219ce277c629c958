"""The figure of error floors from n ~ d to n ~ d^2 (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.analysis.fitted_degrees import FittedDegrees
from giantstep.analysis.floors import floor, floor_with
from giantstep.papers.figures.record import Reproduction
from giantstep.prediction.wide.rows import readout_losses
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.simulation.simulate import simulate

TARGETS = {
    r"$z + \mathrm{He}_2(z)/\sqrt{2} + \mathrm{He}_3(z)/\sqrt{6}$": (
        "x1 + He2(x1)/1.41421356 + He3(x1)/2.44948974"
    ),
    r"$z_1 + z_1 z_2 + z_1 \mathrm{He}_2(z_2)/\sqrt{2}$": "x1 + x1*x2 + x1*He2(x2)/1.41421356",
}
"""Each of variance 3, its first direction learned in one step, in degrees 1, 2 and 3 otherwise."""

SQUARE: dict[str, Any] = {
    "activation": centred("tanh(z + 0.7)"),
    "n": "d^2",
    "p": "2*d^2",
    "steps": 1,
    "step_size": "p^0.5",
    "output_scale": "1",
    "start": "sphere",
    "readout_start": "gaussian",
    "noise": 0.3,
    "test_n": 4000,
}
NAMES = ("random features", "after one giant step")


def floors(seed: int, *, d: int, runs: int, exponents: Sequence[float], points: int) -> list[Plot]:
    """Test error of the readout against log n/log d, with what it cannot beat at d and at d^2."""
    return [
        _panel(Setting(target, **SQUARE, d=d, runs=runs, seed=seed), exponents, points, title=title)
        for title, target in TARGETS.items()
    ]


def _panel(base: Setting, exponents: Sequence[float], points: int, *, title: str) -> Plot:
    """Without a step and after one: the same runs, samples of the readout being added."""
    errors = [measured(at_exponent(base, exponent)) for exponent in exponents]
    curves = []
    for steps, name in enumerate(NAMES):
        curves.append(mean_curve(name, exponents, [part[steps] for part in errors]))
        last = min(exponents[-1], 2 + math.log(3.9) / math.log(base.d))
        fine = np.linspace(exponents[0], last, points)
        line = [predicted(base, float(exponent), steps) for exponent in fine]
        curves.append(Curve(name, fine.tolist(), line, theory=True))
    return Plot(
        r"samples of the readout, $\log n/\log d$",
        "test error of the readout (mean square)",
        curves,
        levels=_levels(base),
        y_range=(0.0, 4.0),
        title=title,
    )


def _levels(base: Setting) -> dict[str, float]:
    """Floors with noise before and after the step at n ~ d and n ~ d^2, equal ones named once.

    Those of the activation, which has all degrees: they are those of any.
    """
    series, first = base.target.series, np.eye(base.target.r)[:1]
    names: dict[float, str] = {}
    for moved, (name, learned) in enumerate(zip(NAMES, (first[:0], first), strict=True)):
        fits = FittedDegrees(base.activation, moved=bool(moved))
        by_degree = floor_with(floor(series, learned), series, fits).by_degree
        sizes: dict[float, list[str]] = {}
        for degree, size in ((1, "d"), (2, "d^2")):
            value = round(float(by_degree[degree]) + base.noise**2, 6)
            sizes.setdefault(value, []).append(f"${size}$")
        for value, texts in sizes.items():
            text = rf"{name}, $n \sim$ {' and '.join(texts)}"
            names[value] = f"{names[value]}; {text}" if value in names else text
    return {text: value for value, text in names.items()}


def at_exponent(base: Setting, exponent: float) -> Setting:
    """A readout of d^exponent samples, with penalties relative to p/n, the size of its kernel.

    Theory says which is best: leave-one-out of a few samples sometimes does not see that a readout
    follows one large label.
    """
    n = round(base.d**exponent)
    return base.vary(readout_n=n, ridge=(np.logspace(-2.5, 1.5, 13) * base.p / n).tolist())


def measured(setting: Setting) -> list[Float[np.ndarray, " runs"]]:
    """Test errors before and after the step, each at the penalty that theory finds best."""
    errors = simulate(setting).test_error_by_ridge
    assert errors is not None
    best = [readout_losses(after(setting, steps)).ridge for steps in (0, 1)]
    return [errors[:, steps, list(setting.ridge).index(ridge)] for steps, ridge in enumerate(best)]


def predicted(base: Setting, exponent: float, steps: int) -> float:
    """Test error of the best penalty."""
    return readout_losses(after(at_exponent(base, exponent), steps)).test


def after(setting: Setting, steps: int) -> Setting:
    """The setting of one step after all its steps, or before."""
    return setting if steps else setting.vary(steps=0, step_size=1.0)


FIGURES = (
    Reproduction(
        "floors",
        "What the second layer can reach from $n$ samples: plateaus between $d$ and $d^2$",
        "arXiv 2305.18270",
        (12.5, 6.0),
        (
            r"Activation $\tanh(z+0.7)$ minus its mean, $p=2d^2$, a step on $d^2$ samples, noise "
            "0.3, the penalty of least predicted error; $d$ = {d}. Points: means over {runs} "
            "runs; bars are two standard errors. Starts and steps are the same along the axis, "
            "so all points of a curve may be off together. Lines: theory at this $d$. Dashed: "
            r"lower bounds $\|P_{{U,>k}}f\|^2$ plus noise at $n\sim{{d^k}}$, where $U$ is empty "
            "or the direction of the step. They hold for this activation, which has all degrees, "
            "as for any."
        ),
        floors,
        quick={"d": 20, "runs": 6, "exponents": (1.25, 1.5, 2.0, 2.2), "points": 6},
        full={"d": 64, "runs": 8, "exponents": (1.25, 1.5, 1.75, 2.0, 2.2), "points": 14},
    ),
)
