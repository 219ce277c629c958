"""Figures of what the features after one step are like: conditional equivalence, alignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims.wide import along_power, spike_overlaps
from giantstep.papers.figures.networks import EXPONENT, SHIFTED, WIDE, step_size
from giantstep.papers.figures.record import Reproduction
from giantstep.prediction.given_weights.curve import learning_curve
from giantstep.prediction.wide.feature_outliers import feature_outliers
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.simulation.stepped import SteppedRun, stepped_runs, table_errors
from giantstep.simulation.table import FeatureTable


def equivalence(
    seed: int,
    *,
    d: int,
    runs: int,
    points: int,
    ratios: Sequence[float] = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0),
) -> list[Plot]:
    """Learning curve after a step of order sqrt(n), and both equivalences given the same W.

    ``ratios`` are samples of the readout over d.
    """
    panels = []
    for title, activation in (
        ("ReLU less its mean", centred("relu(z)")),
        (r"$\tanh(z + 0.7)$ less its mean", SHIFTED),
    ):
        setting = Setting(
            **WIDE | {"activation": activation, "readout_n": f"{ratios[-1]:g}d"},
            d=d,
            step_size="1.5*n^0.5",
            noise=0.5,
            runs=runs,
            seed=seed,
        )
        panels.append(replace(_equivalence_panel(setting, ratios, points), title=title))
    return panels


def _equivalence_panel(setting: Setting, ratios: Sequence[float], points: int) -> Plot:
    """Errors of readouts of growing batches, and of both Gaussian models given the same rows."""
    fine = np.geomspace(ratios[0], ratios[-1], points)
    sizes, drawn = ([round(ratio * setting.d) for ratio in part] for part in (ratios, fine))
    errors: list[np.ndarray] = []
    lines: dict[str, list[np.ndarray]] = {
        "Gaussian given the learned coordinate": [],
        "Gaussian of the same mean and covariance": [],
    }
    for step in stepped_runs(setting, range(setting.runs)):
        errors.append(errors_by_size(step, sizes))
        direction = step.spike[None] / np.linalg.norm(step.spike)
        for curve, directions in zip(lines.values(), (direction, direction[:0]), strict=True):
            predicted = learning_curve(setting, step.weights, directions=directions, sizes=drawn)
            curve.append(predicted.test[0])
    return Plot(
        "samples of the readout over the dimension, $n/d$",
        "test error of the readout (mean square)",
        [
            mean_curve("simulation", ratios, list(np.array(errors).T)),
            *(
                Curve(name, fine.tolist(), np.mean(curve, axis=0).tolist(), theory=True)
                for name, curve in lines.items()
            ),
        ],
        x_scale="log",
    )


def errors_by_size(step: SteppedRun, sizes: Sequence[int]) -> Float[np.ndarray, " b"]:
    """Test errors of readouts fitted to the first n samples."""
    test = FeatureTable(step.features(step.test.inputs), step.test.labels)
    features, labels = step.features(step.training.inputs), step.training.labels
    return np.array(
        [
            table_errors(
                step.setting.vary(readout_n=n), FeatureTable(features[:n], labels[:n]), test
            )[1]
            for n in sizes
        ]
    )


def alignment(
    seed: int,
    *,
    d: int,
    runs: int,
    points: int,
    alphas: Sequence[float] = (0.0, 0.06, 0.12, 0.18, 0.24, 0.28, 0.32, 0.36, 0.4),
) -> list[Plot]:
    """Left and right singular vectors k = 1, 2 of the features against (X beta)^k and a^k."""
    setting = Setting(**WIDE, d=d, step_size=1.0, seed=seed)
    cosines = np.empty((2, 2, len(alphas), runs))
    for step in stepped_runs(setting, range(runs)):
        for index, alpha in enumerate(alphas):
            size = setting.vary(step_size=step_size(alpha)).step_size[0]
            cosines[:, :, index, step.run] = spike_overlaps(step.resized(size))
    lines: list[list[tuple[float, float]]] = [[], [], [], []]
    for alpha in np.linspace(alphas[0], alphas[-1], points):
        theory = feature_outliers(setting.vary(step_size=step_size(float(alpha))))
        for k in range(min(2, len(theory.left))):
            lines[k].append((float(alpha), along_power(theory.left[k], k + 1)))
            lines[2 + k].append((float(alpha), float(theory.right[k, k + 1])))
    panels = []
    for side, (name, text) in enumerate(
        (("left", r"$(X\beta)^k$, samples"), ("right", "$a^k$, neurons"))
    ):
        curves = []
        for k in range(2):
            curves.append(mean_curve(f"spike {k + 1}", alphas, list(cosines[side, k])))
            x, y = zip(*lines[2 * side + k], strict=True)
            curves.append(Curve(f"spike {k + 1}", x, y, theory=True))
        panels.append(
            Plot(
                EXPONENT,
                f"|cosine| of singular vector $k$ with {text}",
                curves,
                # Below the axis there is room for points at 0, which a legend must not cover.
                y_range=(-0.06, 1.05),
                marks={"1/4": 0.25},
                title=f"{name} singular vectors",
            )
        )
    return panels


FIGURES = (
    Reproduction(
        "equivalence",
        r"After a step of size $1.5\sqrt{n}$ features are Gaussian only given what was learned",
        "arXiv 2305.18270",
        (11.0, 5.2),
        (
            r"Target $z+\mathrm{{He}}_2(z)/\sqrt{{2}}$, noise 0.5, ridge 0.1, $p=d$ = {d}, a step "
            "on $4d$ samples. Points: means over {runs} runs, where more samples contain fewer "
            "ones; bars are two standard errors. Theory: learning curves given the same weights, "
            "means over the runs."
        ),
        equivalence,
        quick={"d": 100, "runs": 6, "points": 10},
        full={"d": 500, "runs": 8, "points": 17},
    ),
    Reproduction(
        "alignment",
        r"What the spikes of the features point to after one step of size $3n^\alpha$",
        "arXiv 2310.07891",
        (11.0, 5.0),
        (
            r"Target $z+\mathrm{{He}}_2(z)/\sqrt{{2}}$, activation $\tanh(z+0.7)$ minus its mean, "
            r"$p=d$ = {d:,}, $n=4d$. $\beta$ is the direction of the gradient. Points: means over "
            "{runs} runs, steps of all sizes along the same gradient; bars are two standard "
            "errors. Lines begin where a spike leaves the bulk. In the limit the second does so "
            r"at $\alpha=1/4$."
        ),
        alignment,
        quick={"d": 200, "runs": 6, "points": 15},
        full={"d": 1000, "runs": 8, "points": 30},
    ),
)
