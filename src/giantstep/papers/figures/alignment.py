"""The figure of fresh against reused batches (arXiv 2605.17767)."""

from __future__ import annotations

from collections.abc import Sequence

from giantstep.papers.figures.networks import two_steps
from giantstep.papers.figures.record import Reproduction
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.outlier_count import with_exponents
from giantstep.prediction.wide.two_steps import weight_outliers
from giantstep.problem.activation import centred
from giantstep.problem.catalog import CLIPPED_EXPONENTIAL
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate


def reuse(seed: int, *, sizes: Sequence[int], runs: int) -> list[Plot]:
    """Alignment of the second direction with a target of information exponent two."""
    curves = []
    for batches in ("fresh", "reused"):
        found, predicted = [], []
        for p in sizes:
            base = Setting(
                "threshold",
                **two_steps(p) | {"n": "4d"},
                activation=centred(CLIPPED_EXPONENTIAL),
                batches=batches,
                runs=runs,
                seed=seed,
            )
            setting = with_exponents(base, 0.3, 0.3)
            spectrum = simulate(setting).weights
            assert spectrum is not None
            assert spectrum.alignment is not None
            found.append(spectrum.alignment[:, 2, 1])
            if batches == "reused":
                overlap = weight_outliers(setting)[-1].alignment
                if len(overlap) > 1:
                    predicted.append((p, float(overlap[1])))
        curve = mean_curve(f"{batches} batches", sizes, found)
        if batches == "reused":
            line = Curve(
                curve.label, [p for p, _ in predicted], [y for _, y in predicted], theory=True
            )
        else:
            falling = [curve.y[0] * (p / sizes[0]) ** -0.5 for p in sizes]
            line = Curve(r"slope $-1/2$", sizes, falling, theory=True)
        curves += [curve, line]
    return [
        Plot(
            "width and dimension $p = d$, $n = 4d$",
            r"alignment $|\langle v_2, w^*\rangle|$ after two steps",
            curves,
            x_scale="log",
            y_scale="log",
        )
    ]


FIGURES = (
    Reproduction(
        "reuse",
        "Fresh against reused batches, information exponent two",
        "arXiv 2605.17767",
        (5.6, 5.0),
        "Second right singular vector of W, step sizes $p^{{0.3}}$; bars are "
        "two standard errors over {runs} runs.",
        reuse,
        quick={"sizes": (150, 300, 600), "runs": 6},
        full={"sizes": (500, 1000, 2000, 3000), "runs": 6},
    ),
)
