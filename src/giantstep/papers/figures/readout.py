"""Figures of what the trained second layer reaches (arXiv 2305.18270, 2310.07891)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from giantstep.analysis.floors import floor
from giantstep.papers.figures.networks import WIDE
from giantstep.papers.figures.record import Reproduction
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.losses import loss_curve, losses
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

STEPS = {"random features": 0, "after one giant step": 1}
ERROR = "test error of the readout (mean square)"
HIGHEST = 4.0
"""Top of the axis of errors: those at the interpolation peak would flatten the rest."""


def floors(seed: int, *, d: int, runs: int, small_d: int, small_runs: int) -> list[Plot]:
    """Test error of the readout against n/d and n/d^2, with what it cannot beat."""
    base = Setting(
        **WIDE | {"n": "8d", "p": "2d", "activation": "tanh(z + 0.5)", "ridge": 0.02},
        d=d,
        step_size="n^0.4",
        runs=runs,
        seed=seed,
    )
    noise = base.noise**2
    unreached = floor(base.target.series, np.zeros((0, 1))).by_degree[1] + noise
    square = base.vary(d=small_d, p=f"{small_d**2 // 2}", n="8d", runs=small_runs)
    return [
        _over_samples(
            base,
            base.d,
            ratios=(0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
            x_label=r"samples of the readout $n/d$, $p = 2d$",
            levels={
                r"floor $\|P_{>1} f\|^2$ + noise": unreached,
                "floor after the step: noise": noise,
            },
            predicted=True,
        ),
        _over_samples(
            square,
            small_d**2,
            ratios=(0.125, 0.25, 0.5, 1.0, 2.0),
            x_label=r"samples of the readout $n/d^2$, $p = d^2/2$",
            levels={r"floor at $n \sim d$": unreached, r"floor at $n \sim d^2$: noise": noise},
            predicted=False,
        ),
    ]


def _over_samples(
    base: Setting,
    unit: int,
    *,
    ratios: Sequence[float],
    x_label: str,
    levels: dict[str, float],
    predicted: bool,
) -> Plot:
    """Test errors against readout_n/unit, without a step and after one."""
    curves = []
    fine = np.geomspace(ratios[0], ratios[-1], 24)
    for name, steps in STEPS.items():
        setting = base.vary(steps=steps)
        found = [_last_errors(setting.vary(readout_n=int(r * unit))) for r in ratios]
        curves.append(mean_curve(name, ratios, found))
        if predicted:
            line = loss_curve(setting, readout_sizes=[int(r * unit) for r in fine])
            curves.append(Curve(name, fine.tolist(), [loss.test for loss in line], theory=True))
    tops = [
        np.add(curve.y, 0.0 if curve.error is None else 2 * np.array(curve.error))
        for curve in curves
    ]
    highest = 1.05 * max(float(top.max()) for top in tops)
    return Plot(
        x_label, ERROR, curves, x_scale="log", levels=levels, y_range=(0.0, min(highest, HIGHEST))
    )


def _last_errors(setting: Setting) -> Float[np.ndarray, " runs"]:
    found = simulate(setting).test_error
    assert found is not None
    return found[:, -1]


def by_step_size(seed: int, *, d: int, runs: int) -> list[Plot]:
    """Train and test error of the readout against alpha."""
    alphas = (0.0, 0.1, 0.2, 0.28, 0.34, 0.38, 0.42)
    fine = np.linspace(0.0, 0.42, 22)
    base = Setting(**WIDE, d=d, runs=runs, seed=seed)
    found = [simulate(base.vary(step_size=f"n^{alpha}")) for alpha in alphas]
    predicted = [losses(base.vary(step_size=f"n^{alpha}")) for alpha in fine]
    panels = []
    for name in ("train", "test"):
        measured = [getattr(run, f"{name}_error")[:, 1] for run in found]
        line = [getattr(loss, name) for loss in predicted]
        curves = [
            mean_curve(f"{name} error", alphas, measured),
            Curve(f"{name} error", fine.tolist(), line, theory=True),
        ]
        label = f"{name} error of the readout (mean square)"
        panels.append(Plot(r"exponent of the step size $\alpha$ in $n^\alpha$", label, curves))
    return panels


FIGURES = (
    Reproduction(
        "floors",
        "What the second layer can reach: z + He2(z)/sqrt 2, noise 0.5",
        "arXiv 2305.18270",
        (11.0, 4.8),
        "Bars are two standard errors.",
        floors,
        quick={"d": 150, "runs": 10, "small_d": 36, "small_runs": 3},
        full={"d": 400, "runs": 16, "small_d": 60, "small_runs": 6},
    ),
    Reproduction(
        "losses",
        "Readout after one step of size n^alpha: z + He2(z)/sqrt 2, noise 0.5",
        "arXiv 2310.07891",
        (10.5, 4.6),
        "Bars are two standard errors.",
        by_step_size,
        quick={"d": 250, "runs": 6},
        full={"d": 1000, "runs": 8},
    ),
)
