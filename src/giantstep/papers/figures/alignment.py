"""Figures of fresh against reused batches (arXiv 2605.17767, 2402.03220)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from giantstep.papers.figures.networks import two_steps
from giantstep.papers.figures.record import Reproduction
from giantstep.prediction.predict import predict
from giantstep.prediction.wide.alignment import second_alignment
from giantstep.prediction.wide.outlier_count import with_exponents
from giantstep.prediction.wide.weight_outliers import weight_outliers
from giantstep.problem.activation import centred
from giantstep.problem.catalog import CLIPPED_EXPONENTIAL
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, MapPlot, Plot, rms_curve
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

HIDDEN = {
    "threshold": "information exponent two",
    "threshold-deep": "information exponent three",
}
"""1{x > 1.5} without its Hermite degrees up to one, and up to two."""

BATCHES = ("fresh", "reused")


def reuse(seed: int, *, sizes: Sequence[int], runs: Sequence[int]) -> list[Plot]:
    """Alignment of the second direction of W with targets that one step cannot find."""
    return [_alignments(target, sizes, runs, seed) for target in HIDDEN]


def _alignments(target: str, sizes: Sequence[int], runs: Sequence[int], seed: int) -> Plot:
    """|<v_2, w*>| over runs, against p = d; the same seeds at every size and for both batches."""
    settings = [
        with_exponents(
            Setting(
                target,
                **two_steps(p) | {"n": "4d"},
                activation=centred(CLIPPED_EXPONENTIAL),
                record="every(2)",
                runs=count,
                seed=seed,
            ),
            0.3,
            0.3,
        )
        for p, count in zip(sizes, runs, strict=True)
    ]
    floors = [float(second_alignment(setting).floor[0]) for setting in settings]
    overlaps = [_second_overlap(setting.vary(batches="reused")) for setting in settings]
    points = [(float(p), y) for p, y in zip(sizes, overlaps, strict=True) if y is not None]
    lines = {
        "fresh": Curve("fresh batches, by chance", sizes, floors, theory=True),
        "reused": Curve("reused batches", *_split(points), theory=True),
    }
    curves = []
    for batches in BATCHES:
        measured = []
        for setting in settings:
            spectrum = simulate(setting.vary(batches=batches)).weights
            assert spectrum is not None
            assert spectrum.alignment is not None
            measured.append(spectrum.alignment[:, -1, 1])
        curves += [rms_curve(f"{batches} batches", sizes, measured), lines[batches]]
    return Plot(
        "width and dimension $p = d$, batch size $n = 4d$",
        r"alignment $|\langle v_2, w^*\rangle|$ after two steps",
        curves,
        x_scale="log",
        y_scale="log",
        y_range=(0.01, 1.0),
        title=HIDDEN[target],
    )


def _second_overlap(setting: Setting) -> float | None:
    """The predicted overlap of the second outlier with the target, None where there is none."""
    overlap = weight_outliers(setting)[-1].alignment
    return float(overlap[1]) if len(overlap) > 1 else None


def _split(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def reuse_map(
    seed: int, *, d: int, runs: int, ratios: Sequence[float], steps: int
) -> list[MapPlot]:
    """Cosines of neurons with the target over n/d and steps, fresh and reused."""
    parts = []
    for batches in BATCHES:
        settings = [
            Setting(
                "threshold-deep",
                activation="softplus",
                d=d,
                n=round(ratio * d),
                p=8,
                steps=steps,
                step_size="2p",
                batches=batches,
                readout_n=0,
                test_n=0,
                runs=runs,
                seed=seed,
            )
            for ratio in ratios
        ]
        predicted = np.array([_cosines(predict(setting)).mean(axis=0) for setting in settings])
        measured = np.array([_cosines(simulate(setting)) for setting in settings])
        parts.append((predicted, measured.mean(axis=1), measured.std(axis=1, ddof=1)))
    top = max(float(np.max(part[:2])) for part in parts)
    return [
        MapPlot(
            x=[float(ratio) for ratio in ratios],
            y=[float(step) for step in range(1, steps + 1)],
            predicted=predicted.tolist(),
            measured=means.tolist(),
            error=(deviations / math.sqrt(runs)).tolist(),
            top=top,
            x_label="samples a dimension $n/d$",
            y_label="giant steps $T$",
            value_label="cosine of neurons with $w^*$",
            title=f"{batches} batches",
        )
        for batches, (predicted, means, deviations) in zip(BATCHES, parts, strict=True)
    ]


def _cosines(trajectory: Trajectory) -> Float[np.ndarray, "runs steps"]:
    """Root mean squares over neurons; of a prediction, of runs drawn around it."""
    return np.sqrt(np.mean(trajectory.drawn().cosine[:, 1:, :, 0] ** 2, axis=-1))


FIGURES = (
    Reproduction(
        "reuse",
        "Second direction of the weights: fresh against reused batches",
        "arXiv 2605.17767",
        (10.5, 5.0),
        (
            "Shown is the second right singular vector of $W$ after two steps of size "
            r"$p^{{0.3}}$. The activation is $\exp(z)$, clipped at 2 and centred. Points are root "
            "mean squares over {runs} runs at the sizes, with the same seeds at every size; bars "
            "are two standard errors."
        ),
        reuse,
        quick={"sizes": (150, 300, 600), "runs": (12, 8, 6)},
        full={"sizes": (400, 800, 1600, 3200), "runs": (48, 32, 16, 8)},
    ),
    Reproduction(
        "reuse-map",
        "A target of information exponent three: over samples and steps",
        "arXiv 2402.03220",
        (11.5, 5.2),
        (
            "Shades are theory. Numbers are measured, with two standard errors of {runs} runs. "
            "Both are cosines, as root mean squares over 8 softplus neurons, at $d$ = {d:,} and "
            "step size $2p$. A random direction has a cosine of $d^{{-1/2}}$."
        ),
        reuse_map,
        quick={"d": 2500, "runs": 3, "ratios": (0.5, 1.0, 2.0, 4.0), "steps": 4},
        full={"d": 10_000, "runs": 6, "ratios": (0.5, 1.0, 2.0, 4.0, 8.0, 16.0), "steps": 6},
    ),
)
