"""Figures of neurons in the plane of the target (arXiv 2305.18270)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from giantstep.analysis.analyze import analyze
from giantstep.papers.figures.record import Reproduction
from giantstep.papers.plot import NeuronPlot
from giantstep.prediction.narrow.one_step import one_step_law
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

PAPER = "arXiv 2305.18270"
FIRST_LAYER: dict[str, Any] = {
    "activation": "relu",
    "readout_start": "gaussian",
    "readout_n": 0,
    "test_n": 0,
}


def one_step(full: bool, seed: int) -> list[NeuronPlot]:
    """Neurons after one step: a line at n ~ d, leap 1; the whole plane at n ~ d^2, leap 2."""
    shared = FIRST_LAYER | {"p": 40, "steps": 1, "seed": seed}
    line = Setting("staircase", **shared, d=100_000 if full else 10_000, n="4d")
    plane = Setting(
        "He2(x1) - He2(x2)",
        **shared,
        d=1500 if full else 400,
        n="4*d^2",
        step_size="6*p*d^0.5",
    )
    found = simulate(plane)
    return [
        _panel(simulate(line), predict(line), "x1 + x2 + x1^2 - x2^2 at $n = 4d$: one direction"),
        _panel(found, from_start(found), "x1^2 - x2^2 at $n = 4d^2$: specialisation"),
    ]


def from_start(found: Trajectory) -> Trajectory:
    """The closed form of one step from each neuron's own start, in the place of what was found."""
    assert found.readout is not None
    overlap, norms = found.overlap.copy(), found.norms.copy()
    for i, (start, entry) in enumerate(zip(found.overlap[0, 0], found.readout[0], strict=True)):
        law = one_step_law(found.setting, start, float(entry), log2_points=13)
        overlap[0, 1, i], norms[0, 1, i] = law.overlap, np.sqrt(law.square_norm)
    return replace(found, overlap=overlap, norms=norms)


def staircases(full: bool, seed: int) -> list[NeuronPlot]:
    """The two examples of the slides, two steps on fresh batches."""
    panels = []
    for name in ("staircase", "equal-links"):
        setting = Setting(
            name,
            **FIRST_LAYER,
            d=1_000_000 if full else 100_000,
            n="8d",
            p=16,
            steps=2,
            seed=seed,
        )
        title = "x1 + x2 + x1^2 - x2^2" if name == "staircase" else "x1 + x2 + x1^2 + x2^2 - 2"
        panels.append(_panel(simulate(setting), predict(setting), title))
    return panels


def _panel(simulated: Trajectory, predicted: Trajectory, title: str) -> NeuronPlot:
    setting = simulated.setting
    stairs = analyze(setting.target, setting.activation).fresh
    return NeuronPlot(simulated, predicted, stairs, title)


FIGURES = (
    Reproduction("one-step", "Neurons after one giant step", PAPER, (10.0, 5.0), one_step),
    Reproduction(
        "staircases", "Two giant steps: a staircase, and none", PAPER, (10.0, 5.0), staircases
    ),
)
