"""The figures of the papers, simulated and predicted anew."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.analysis.analyze import analyze
from giantstep.analysis.floors import floor
from giantstep.prediction.narrow.one_step import one_step_law
from giantstep.prediction.predict import predict
from giantstep.prediction.wide.comparison import beside
from giantstep.prediction.wide.losses import loss_curve, losses
from giantstep.prediction.wide.outlier_count import phase_diagram, with_exponents
from giantstep.prediction.wide.spectra import predict_spectra
from giantstep.prediction.wide.two_steps import weight_outliers
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.show.plots.learn import target_plane
from giantstep.show.plots.neurons import neurons
from giantstep.show.plots.panels import count_map, level, points_and_line, size_axis
from giantstep.show.plots.spectrum import spectrum
from giantstep.simulation.simulate import simulate
from giantstep.simulation.spectra import measure_spectra

RELU = centred("relu(z)")
"""ReLU less its mean: the papers' activations at linear width are centred."""

SQUARE = "x1 + He2(x1)/1.41421356"
"""The target of the linear-width figures: z + He2(z)/sqrt 2."""

WIDE = {
    "activation": RELU,
    "n": "2d",
    "p": "1.5d",
    "steps": 1,
    "output_scale": "1",
    "start": "sphere",
    "readout_start": "gaussian",
    "ridge": 0.1,
    "readout_n": "n",
    "test_n": 4000,
    "noise": 0.5,
}
"""The setting of arXiv 2310.07891."""

JUMP = 1.5
TAIL = 0.5 * math.erfc(JUMP / math.sqrt(2.0))
DENSITY = math.exp(-0.5 * JUMP**2) / math.sqrt(2.0 * math.pi)
# 1{z > 1.5} less its Hermite degrees <= 1, of unit variance: information exponent two.
HIDDEN = f"(step(x1 - {JUMP}) - {TAIL} - {DENSITY}*x1)/{math.sqrt(TAIL - TAIL**2 - DENSITY**2)}"
# exp(min(z, 2)) + e^2 max(z - 2, 0), less its mean.
CLIPPED = "exp(2 - relu(2 - z)) + exp(2)*relu(z - 2)"

EXPONENTS = (0.15, 0.3, 0.44)
"""Of the step sizes p^alpha at which outliers are counted."""

Panels = Sequence[Axes]


@dataclass(frozen=True)
class Reproduction:
    """A figure: its panels, what fills them, and where it comes from."""

    name: str
    title: str
    paper: str
    panels: int
    size: tuple[float, float]
    draw: Callable[[Panels, bool, int], None]

    def figure(self, full: bool = False, seed: int = 0) -> Figure:
        """Simulate, predict and draw."""
        figure = Figure(figsize=self.size, layout="constrained")
        axes = figure.subplots(1, self.panels, squeeze=False)[0]
        self.draw(axes, full, seed)
        figure.suptitle(self.title, fontsize="medium")
        return figure


def one_step(panels: Panels, full: bool, seed: int) -> None:
    """Neurons after one step: a line at n ~ d, leap 1; the whole plane at n ~ d^2, leap 2."""
    small = {"activation": "relu", "p": 40, "readout_start": "gaussian", "steps": 1, "seed": seed}
    d = 100_000 if full else 10_000
    _neurons(panels[0], Setting("staircase", d=d, n="4d", **small, readout_n=0, test_n=0))
    wide = small | {"step_size": "6*p*d^0.5", "n": "4*d^2", "d": 1500 if full else 400}
    setting = Setting("He2(x1) - He2(x2)", **wide, readout_n=0, test_n=0)
    found = simulate(setting)
    neurons(panels[1], found, np.eye(2), ("x1", "x2"), predicted=_from_start(found))
    panels[0].set_title("x1 + x2 + x1^2 - x2^2 at $n = 4d$: one direction", fontsize="medium")
    panels[1].set_title("x1^2 - x2^2 at $n = 4d^2$: specialisation", fontsize="medium")


def _from_start(found: Trajectory) -> Trajectory:
    """The closed form of one step from each neuron's own start, in the place of what was found."""
    setting = found.setting
    assert found.readout is not None
    overlap, gram = found.overlap.copy(), found.gram.copy()
    for i, (start, entry) in enumerate(zip(found.overlap[0, 0], found.readout[0], strict=True)):
        law = one_step_law(setting, start, float(entry), log2_points=13)
        overlap[0, 1, i], gram[0, 1, i, i] = law.overlap, law.square_norm
    return replace(found, overlap=overlap, gram=gram)


def staircases(panels: Panels, full: bool, seed: int) -> None:
    """The two examples of the slides, two steps on fresh batches."""
    for axes, name in zip(panels, ("staircase", "equal-links"), strict=True):
        setting = Setting(
            name,
            activation="relu",
            d=1_000_000 if full else 100_000,
            n="8d",
            p=16,
            readout_start="gaussian",
            steps=2,
            seed=seed,
            readout_n=0,
            test_n=0,
        )
        _neurons(axes, setting)
        title = "x1 + x2 + x1^2 - x2^2" if name == "staircase" else "x1 + x2 + x1^2 + x2^2 - 2"
        axes.set_title(title, fontsize="medium")


def _neurons(axes: Axes, setting: Setting) -> None:
    plane, names = target_plane(analyze(setting.target, setting.activation))
    neurons(axes, simulate(setting), plane, (names[0], names[1]), predicted=predict(setting))


def floors(panels: Panels, full: bool, seed: int) -> None:
    """Test error of the readout against n/d and n/d^2, with what it cannot beat."""
    d = 400 if full else 150
    ratios = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
    base = Setting(
        SQUARE,
        **(WIDE | {"d": d, "n": "8d", "p": "2d", "activation": "tanh(z + 0.5)", "ridge": 0.02}),
        step_size="n^0.4",
        runs=16 if full else 10,
        seed=seed,
    )
    series = base.target.series
    fine = np.geomspace(ratios[0], ratios[-1], 24)
    for index, steps in enumerate((0, 1)):
        setting = base.vary(steps=steps)
        found = [_test_errors(setting.vary(readout_n=int(r * d)))[:, -1] for r in ratios]
        curve = loss_curve(setting, readout_sizes=[int(r * d) for r in fine])
        line = (fine.tolist(), [losses.test for losses in curve])
        name = "random features" if steps == 0 else "after one giant step"
        points_and_line(panels[0], ratios, np.stack(found, axis=1), line, name, index)
    noise = base.noise**2
    unreached = floor(series, np.zeros((0, 1))).by_degree[1] + noise
    level(panels[0], unreached, r"floor $\|P_{>1} f\|^2$ + noise")
    level(panels[0], noise, r"floor after the step: noise")
    panels[0].set_xlabel(r"samples of the readout $n/d$, $p = 2d$")
    small = 60 if full else 36
    square = base.vary(d=small, p=f"{small * small // 2}", n="8d", runs=6 if full else 3)
    for index, steps in enumerate((0, 1)):
        setting = square.vary(steps=steps)
        sizes = [int(r * small**2) for r in (0.125, 0.25, 0.5, 1.0, 2.0)]
        found = [_test_errors(setting.vary(readout_n=size))[:, -1] for size in sizes]
        name = "random features" if steps == 0 else "after one giant step"
        x = [size / small**2 for size in sizes]
        points_and_line(panels[1], x, np.stack(found, axis=1), None, name, index)
    level(panels[1], unreached, r"floor at $n \sim d$")
    level(panels[1], noise, r"floor at $n \sim d^2$: noise")
    panels[1].set_xlabel(r"samples of the readout $n/d^2$, $p = d^2/2$")
    size_axis(panels[0], ratios)
    size_axis(panels[1], (0.125, 0.25, 0.5, 1.0, 2.0))
    for axes in panels:
        axes.set_ylabel("test error of the readout (mean square)")
        axes.legend(fontsize="small", frameon=False)
        axes.set_ylim(bottom=0.0, top=min(axes.get_ylim()[1], 4.0))


def _test_errors(setting: Setting) -> Float[np.ndarray, "runs t"]:
    found = simulate(setting).test_error
    assert found is not None
    return found


def spikes(panels: Panels, full: bool, seed: int) -> None:
    """Singular values of the features at four step sizes n^alpha."""
    d = 1000 if full else 300
    for axes, alpha in zip(panels, (0.1, 0.2, 0.3, 0.42), strict=True):
        setting = Setting(
            SQUARE, **WIDE, d=d, step_size=f"n^{alpha}", runs=4 if full else 2, seed=seed
        )
        predicted, measured = predict_spectra(setting), measure_spectra(setting)
        assert measured.features is not None
        theory = predicted.features[-1]
        assert theory is not None
        found = beside(predicted.features, measured.features)[-1]
        spectrum(
            axes,
            measured.features[:, -1],
            theory.edge,
            (theory.grid, theory.density),
            theory.outliers.tolist(),
            found.measured,
            r"$\sigma(XW^\top)/\sqrt{n}$",
        )
        axes.set_title(rf"step size $n^{{{alpha}}}$", fontsize="medium")
        legend = axes.get_legend()
        if legend is not None and axes is not panels[-1]:
            legend.remove()


def loss(panels: Panels, full: bool, seed: int) -> None:
    """Train and test error of the readout against alpha."""
    d = 1000 if full else 250
    alphas = (0.0, 0.1, 0.2, 0.28, 0.34, 0.38, 0.42)
    fine = np.linspace(0.0, 0.42, 22)
    setting = Setting(SQUARE, **WIDE, d=d, step_size=1.0, runs=8 if full else 6, seed=seed)
    runs = [simulate(setting.vary(step_size=f"n^{alpha}")) for alpha in alphas]
    predicted = [losses(setting.vary(step_size=f"n^{alpha}")) for alpha in fine]
    for axes, name in zip(panels, ("train", "test"), strict=True):
        measured = np.stack([getattr(run, f"{name}_error")[:, 1] for run in runs], axis=1)
        line = (fine.tolist(), [getattr(loss, name) for loss in predicted])
        points_and_line(axes, alphas, measured, line, f"{name} error")
        axes.set_xlabel(r"exponent of the step size $\alpha$ in $n^\alpha$")
        axes.set_ylabel(f"{name} error of the readout (mean square)")
        axes.legend(fontsize="small", frameon=False)


def outliers(panels: Panels, full: bool, seed: int) -> None:
    """New outliers of W after two steps over (alpha_1, alpha_2): limit, and counts at one size."""
    p = 2000 if full else 600
    grid = np.linspace(0.0, 0.46, 93)
    for axes, (name, text) in zip(
        panels, (("ReLU", RELU), ("shifted tanh", centred("tanh(z + 0.5)"))), strict=True
    ):
        base = Setting(
            "x1 + He2(x1)/1.4",
            **_two(p, seed) | {"activation": text},
        )
        counts = phase_diagram(base.activation, "1/sqrt(p)", "fresh", grid)
        measured = []
        for first in EXPONENTS:
            for second in EXPONENTS:
                setting = with_exponents(base, first, second)
                theory = predict_spectra(setting)
                found = beside(theory.weights, measure_spectra(setting).weights)[-1]
                # One outlier is the first step's.
                expected = len(found.predicted or ()) - 1
                measured.append((first, second, max(expected, 0), max(found.count - 1, 0)))
        count_map(axes, grid, counts, measured)
        axes.set_title(
            f"{name}; limit: shades 0, 1, 2, ...; $p = {p}$: measured (predicted if other)",
            fontsize="small",
        )


def _two(p: int, seed: int) -> dict[str, object]:
    return {
        "d": p,
        "n": "2d",
        "p": p,
        "steps": 2,
        "step_size": 1.0,
        "output_scale": "1/sqrt(p)",
        "start": "gaussian",
        "readout_start": "gaussian",
        "readout_n": 0,
        "test_n": 0,
        "seed": seed,
    }


def reuse(panels: Panels, full: bool, seed: int) -> None:
    """Alignment of the second direction with a target of information exponent two."""
    sizes = (500, 1000, 2000, 3000) if full else (150, 300, 600)
    activation = centred(CLIPPED)
    for index, batches in enumerate(("fresh", "reused")):
        found, predicted = [], []
        runs = 6
        for p in sizes:
            base = Setting(
                HIDDEN,
                **_two(p, seed) | {"n": "4d"},
                activation=activation,
                batches=batches,
                runs=runs,
            )
            setting = with_exponents(base, 0.3, 0.3)
            found.append(measure_spectra(setting).alignment[:, 2, 1])
            overlap = weight_outliers(setting)[-1].alignment
            predicted.append(float(overlap[1]) if len(overlap) > 1 else float("nan"))
        line = (sizes, predicted) if batches == "reused" else None
        points_and_line(
            panels[0], sizes, np.stack(found, axis=1), line, f"{batches} batches", index
        )
        if batches == "fresh":
            start = float(np.mean(found[0]))
            falling = [start * (p / sizes[0]) ** -0.5 for p in sizes]
            panels[0].plot(sizes, falling, ":", color="firebrick", label=r"slope $-1/2$")
    size_axis(panels[0], sizes)
    panels[0].set_yscale("log")
    panels[0].set_xlabel("width and dimension $p = d$, $n = 4d$")
    panels[0].set_ylabel(r"alignment $|\langle v_2, w^*\rangle|$ after two steps")
    panels[0].legend(fontsize="small", frameon=False)


REPRODUCTIONS = {
    entry.name: entry
    for entry in (
        Reproduction(
            "one-step",
            "Neurons after one giant step",
            "arXiv 2305.18270",
            2,
            (10.0, 5.0),
            one_step,
        ),
        Reproduction(
            "staircases",
            "Two giant steps: a staircase, and none",
            "arXiv 2305.18270",
            2,
            (10.0, 5.0),
            staircases,
        ),
        Reproduction(
            "floors",
            "What the second layer can reach: z + He2(z)/sqrt 2, noise 0.5",
            "arXiv 2305.18270",
            2,
            (11.0, 4.4),
            floors,
        ),
        Reproduction(
            "spikes",
            "Singular values of the features after one step of size n^alpha",
            "arXiv 2310.07891",
            4,
            (17.0, 4.0),
            spikes,
        ),
        Reproduction(
            "losses",
            "Readout after one step of size n^alpha: z + He2(z)/sqrt 2, noise 0.5",
            "arXiv 2310.07891",
            2,
            (10.5, 4.2),
            loss,
        ),
        Reproduction(
            "outliers",
            "New outliers of the weights after the second step",
            "arXiv 2605.17767",
            2,
            (10.5, 4.8),
            outliers,
        ),
        Reproduction(
            "reuse",
            "Fresh against reused batches, information exponent two",
            "arXiv 2605.17767",
            1,
            (5.6, 4.4),
            reuse,
        ),
    )
}
