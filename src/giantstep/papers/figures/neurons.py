"""Figures of neurons in the plane of the target (arXiv 2305.18270)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.analysis.analyze import analyze
from giantstep.analysis.staircase import target_plane
from giantstep.papers.figures.record import Reproduction
from giantstep.prediction.narrow.one_step import one_step_law
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.plot import NeuronPlot
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

PAPER = "arXiv 2305.18270"
FIRST_LAYER: dict[str, Any] = {
    "activation": "relu",
    "readout_start": "gaussian",
    "readout_n": 0,
    "test_n": 0,
}


def one_step(seed: int, *, line_d: int, plane_d: int) -> list[NeuronPlot]:
    """Neurons after one step: a line at n ~ d, leap 1; the whole plane at n ~ d^2, leap 2."""
    shared = FIRST_LAYER | {"p": 40, "steps": 1, "seed": seed}
    line = Setting("staircase", **shared, d=line_d, n="4d")
    plane = Setting(
        "He2(x1) - He2(x2)",
        **shared,
        d=plane_d,
        n="4*d^2",
        step_size="6*p*d^0.5",
    )
    simulated = simulate(plane)
    return [
        _panel(
            simulate(line), predict(line), "$x_1 + x_2 + x_1^2 - x_2^2$ at $n = 4d$: one direction"
        ),
        _panel(simulated, from_start(simulated), "$x_1^2 - x_2^2$ at $n = 4d^2$: specialisation"),
    ]


def from_start(run: Trajectory) -> Trajectory:
    """The closed form of one step from each neuron's own start, in place of the simulated rows."""
    assert run.readout is not None
    overlap, norms = run.overlap.copy(), run.norms.copy()
    for i, (start, entry) in enumerate(zip(run.overlap[0, 0], run.readout[0], strict=True)):
        law = one_step_law(run.setting, start, float(entry), log2_points=13)
        overlap[0, 1, i], norms[0, 1, i] = law.overlap, np.sqrt(law.square_norm)
    return replace(run, overlap=overlap, norms=norms)


def staircases(seed: int, *, d: int) -> list[NeuronPlot]:
    """The two examples of the slides, two steps on fresh batches."""
    panels = []
    for name in ("staircase", "equal-links"):
        setting = Setting(
            name,
            **FIRST_LAYER,
            d=d,
            n="8d",
            p=16,
            steps=2,
            seed=seed,
        )
        sign = "-" if name == "staircase" else "+"
        title = f"$x_1 + x_2 + x_1^2 {sign} x_2^2$"
        panels.append(_panel(simulate(setting), predict(setting), title))
    return panels


def example_3(seed: int, *, d: int) -> list[NeuronPlot]:
    """Neurons in the plane of w_2 and w_3, which the second step learns as a sum, or both."""
    panels = []
    for name in ("joint-step", "split-step"):
        setting = Setting(
            name,
            **FIRST_LAYER,
            d=d,
            # The response to He3(x1) is the cube of the first step's cosine: it needs many
            # samples, and a second step that outweighs the first.
            n="128d",
            p=40,
            steps=2,
            step_size="2*p^1.5, 16*p^1.5",
            seed=seed,
        )
        factor = "x_1" if name == "joint-step" else r"\mathrm{He}_3(x_1)"
        title = f"$x_1 + x_1 x_2 + {factor}\\, x_3$"
        plane = np.eye(3)[1:]
        panels.append(_plot(simulate(setting), predict(setting), plane, ("x2", "x3"), title))
    return panels


def _panel(simulated: Trajectory, predicted: Trajectory, title: str) -> NeuronPlot:
    """Neurons of the first run, in the plane that the staircase on fresh batches learns first."""
    setting = simulated.setting
    plane, names = target_plane(analyze(setting.target, setting.activation).fresh, setting.target.r)
    return _plot(simulated, predicted, plane, (names[0], names[1]), title)


def _plot(
    simulated: Trajectory,
    predicted: Trajectory,
    plane: Float[np.ndarray, "2 r"],
    names: tuple[str, str],
    title: str,
) -> NeuronPlot:
    """Cosines of the first run's neurons with the rows of a plane."""
    points, crosses = (part.cosine[0] @ plane.T for part in (simulated, predicted))
    return NeuronPlot(
        [[(float(x), float(y)) for x, y in step] for step in points],
        [(float(x), float(y)) for x, y in crosses.reshape(-1, 2)],
        names,
        title,
    )


FIGURES = (
    Reproduction(
        "one-step",
        "Neurons after one giant step",
        PAPER,
        (10.0, 5.6),
        (
            "All 40 neurons of one run, ReLU, Gaussian readout: on the left $d$ = {line_d:,}, on "
            "the right $d$ = {plane_d:,}. Crosses are the closed form of one step. On the left "
            "it is that of the typical start, on the right that of each neuron's own start. A "
            "line joins each neuron with its cross."
        ),
        one_step,
        quick={"line_d": 10_000, "plane_d": 400},
        full={"line_d": 100_000, "plane_d": 1500},
    ),
    Reproduction(
        "staircases",
        "Two giant steps: a staircase, and none",
        PAPER,
        (10.0, 5.6),
        (
            "All 16 neurons of one run, ReLU, Gaussian readout, $d$ = {d:,}, $n=8d$ fresh "
            "samples a step. Crosses are the predicted means."
        ),
        staircases,
        quick={"d": 100_000},
        full={"d": 1_000_000},
    ),
    Reproduction(
        "example-3",
        "Two directions as a sum, or both: the plane that the second step reaches",
        PAPER,
        (10.0, 5.6),
        (
            "All 40 neurons of one run, ReLU, Gaussian readout, $d$ = {d:,}. Each step has "
            "$n=128d$ fresh samples, and the step sizes are $2p^{{1.5}}$ and $16p^{{1.5}}$. "
            "Crosses are the predicted means."
        ),
        example_3,
        quick={"d": 1000},
        full={"d": 20_000},
    ),
)
