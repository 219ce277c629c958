"""The figure of gradient cosines over several steps (arXiv 2305.18270)."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims.experiments import beside
from giantstep.papers.figures.record import Reproduction
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate


def gradient_cosines(seed: int, *, d: int, p: int, line_p: int, runs: int) -> list[Plot]:
    """Root mean square cosines of all neurons' gradients with two directions, step by step."""
    steps = 6
    both = {"$w_1 + w_2$": (1.0, 1.0), "$w_1 - w_2$": (1.0, -1.0)}
    panels = []
    for target, directions, title in (
        ("staircase", both, "$x_1 + x_2 + x_1^2 - x_2^2$: both directions"),
        ("equal-links", both, "$x_1 + x_2 + x_1^2 + x_2^2$: one direction for ever"),
        # The pair of the authors' notebook, which finds one direction at this batch size.
        (
            "4*x1 + x1^2 - 1 + x2",
            {"$4w_1 + w_2$": (4.0, 1.0), "$w_1 - 4w_2$": (1.0, -4.0)},
            "$4x_1 + x_1^2 + x_2$: both directions",
        ),
    ):
        setting = Setting(
            target,
            activation="relu",
            d=d,
            n=d,
            p=p,
            steps=steps,
            step_size="2p",
            readout_n=0,
            test_n=0,
            runs=runs,
            seed=seed,
        )
        simulated, line = simulate(setting), predict(setting.vary(p=line_p))
        x = [float(step) for step in range(1, steps + 1)]
        curves: list[Curve] = []
        for name, direction in directions.items():
            measured, predicted = (_along(each, direction) for each in (simulated, line))
            curves += beside(name, x, list(measured.T), predicted[0].tolist())
        chance = [1.0 / math.sqrt(d)] * steps
        curves.append(Curve("random direction, $d^{-1/2}$", x, chance, theory=True))
        panels.append(
            Plot(
                "giant step $t$",
                r"cosine of a neuron's gradient with the direction",
                curves,
                y_range=(0.0, 0.45),
                title=title,
            )
        )
    return panels


def _along(trajectory: Trajectory, direction: tuple[float, ...]) -> Float[np.ndarray, "runs s"]:
    """Root mean square over neurons of the cosine with one direction."""
    assert trajectory.gradient_cosine is not None
    unit = np.array(direction) / np.linalg.norm(direction)
    return np.sqrt(np.mean((trajectory.gradient_cosine @ unit) ** 2, axis=-1))


FIGURES = (
    Reproduction(
        "gradient-cosines",
        "Where gradients point, over six giant steps",
        "arXiv 2305.18270",
        (15.0, 4.8),
        (
            "There are $n=d$ = {d:,} fresh samples a step, $p$ = {p:,} ReLU neurons, and the "
            "step size is $2p$. Shown are root mean squares over neurons, means over {runs} "
            "runs; bars are two standard errors. Theory is the recursion of means for {line_p} "
            "neurons, few against $d$. It does not contain the fluctuations, which are of order "
            "$d^{{-1/2}}$."
        ),
        gradient_cosines,
        quick={"d": 1024, "p": 256, "line_p": 32, "runs": 6},
        full={"d": 4096, "p": 1024, "line_p": 64, "runs": 6},
    ),
)
