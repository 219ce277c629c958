"""Claims about the formulas of one step: overlaps and lengths of rows (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.rules import gauss_hermite
from giantstep.language.latex import in_latex
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import FIRST_LAYER, Runs, at_sizes, beside
from giantstep.papers.claims.quantity import exact, mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time
from giantstep.prediction.narrow.one_step import mean_update
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.records.plot import Curve, Plot
from giantstep.simulation.simulate import simulate


def formulas(setting: Fields, *, d: int, runs: int) -> Findings:
    """Overlaps and norms after one step against the closed forms, all neurons at once."""
    [taken] = at_sizes(FIRST_LAYER | dict(setting), [d], runs)
    simulated = simulate(taken)
    # Other inputs, as in a control, are held against the prediction for Gaussian ones.
    predicted = replace(predict(taken.vary(inputs="gaussian")), setting=taken)
    p_value = compare(predicted, simulated).p_value
    neurons = list(range(taken.p))
    overlaps = np.abs(simulated.overlap[:, 1, :, 0])
    errors = np.std(overlaps, axis=0, ddof=1) / math.sqrt(runs)
    line = np.abs(predicted.overlap[0, 1, :, 0])
    curves = [
        Curve("theory", neurons, line.tolist(), theory=True),
        Curve("simulation", neurons, np.median(overlaps, axis=0).tolist(), errors.tolist()),
    ]
    return Findings(
        [exact("p-value of all deviations together", p_value, (1e-3, 1.0))],
        Plot("neuron $i$", r"overlap $|\langle w_i, w^*_1\rangle|$", curves),
    )


@dataclass(frozen=True)
class StepForm:
    """Overlap with w* and squared length of every row after one step, of a target of one direction.

    Leading orders are (eta a_i/p) b_l T_l m_i^(l-1)/(l-1)! and 1 + (d eta^2/(n p^2)) E[y^2]
    E[sigma'^2] + overlap^2; m_i is the overlap of the start.
    """

    overlap: Float[np.ndarray, "runs p"]
    square: Float[np.ndarray, "runs p"]


def leading_form(
    setting: Setting,
    leap: int,
    start: Float[np.ndarray, "runs p"],
    readout: Float[np.ndarray, "runs p"],
) -> StepForm:
    """The leading order in d; ``start`` holds the overlaps m_i."""
    size = setting.step_size[0] * setting.scale
    b = float(setting.activation.derivative_coefficients(leap).values[leap])
    tensor = float(np.ravel(setting.target.series.tensor(leap))[0])
    overlap = size * readout * b * tensor * start ** (leap - 1) / math.factorial(leap - 1)
    energy = setting.target.series.square * setting.activation.moments.slope_square
    square = 1.0 + size**2 * readout**2 * setting.d / setting.n * energy + overlap**2
    return StepForm(overlap, square)


def closed_form(
    setting: Setting, start: Float[np.ndarray, "runs p"], readout: Float[np.ndarray, "runs p"]
) -> StepForm:
    """Means over batches at finite n and d, given the start of every row.

    With G = E[y sigma'(<w, x>) x] = t w* + k w, q = 2, s = eta a_i/p, A = E[y^2 sigma'^2] and
    B = E[y^2 sigma'^2 |x_par|^2], x_par the part of x in the span of w* and w,

        E <w', w*> = m + s (t + k m),
        E |w'|^2 = 1 + 2 s <G, w> + s^2 [(1 - 1/n) |G|^2 + (B + (d - q) A)/n].

    A and B are taken at the typical overlap d^(-1/2): over starts they are even in m to the order
    1/d, and what that leaves out is of order 1/d^2.
    """
    size = setting.step_size[0] * setting.scale * readout
    update = mean_update(setting.target.series, setting.activation, start[..., None])
    along_target, along_row = update.along_target[..., 0], update.along_row
    overlap = start + size * (along_target + along_row * start)
    product = along_target * start + along_row
    gradient_square = along_target**2 + 2.0 * along_row * along_target * start + along_row**2
    energy, inside = _energies(setting)
    noise = (inside + (setting.d - 2) * energy) / setting.n
    square = 1.0 + 2.0 * size * product
    square += size**2 * ((1.0 - 1.0 / setting.n) * gradient_square + noise)
    return StepForm(overlap, square)


def _energies(setting: Setting, nodes: int = 64) -> tuple[float, float]:
    """A = E[y^2 sigma'^2] and B = E[y^2 sigma'^2 |x_par|^2] of a row of overlap d^(-1/2).

    64 Gauss-Hermite ``nodes`` a coordinate are exact for polynomials, to rounding for the sine.
    """
    x, weights = gauss_hermite(nodes)
    z, other = np.meshgrid(x, x, indexing="ij")
    overlap = setting.d**-0.5
    inputs = overlap * z + math.sqrt(1.0 - overlap**2) * other
    slopes = np.asarray(setting.activation.derivative(inputs), dtype=float)
    squares = np.outer(weights, weights) * (np.asarray(setting.target([z])) * slopes) ** 2
    return float(np.sum(squares)), float(np.sum(squares * (z**2 + other**2)))


def ratio_values(
    numerators: Float[np.ndarray, " runs"], denominators: Float[np.ndarray, " runs"]
) -> Float[np.ndarray, " runs"]:
    """One number a run whose mean is mean(numerators)/mean(denominators).

    Their spread is that of the ratio of means to first order: runs in which the denominator is
    small count little, as in a regression.
    """
    scale = float(np.mean(denominators))
    ratio = float(np.mean(numerators)) / scale
    return ratio + (numerators - ratio * denominators) / scale


def step_forms(
    setting: Fields, *, leap: int, untold: Fields, d: Sequence[int], runs: Runs
) -> Findings:
    """Overlaps and squared lengths over their leading order, against the closed forms at each d.

    The simulation has the fields ``untold``, which theory does not know.
    """
    quantities, curves = [], []
    ratios: dict[str, list[Float[np.ndarray, " runs"]]] = {}
    predicted: dict[str, list[float]] = {}
    for sized in at_sizes(FIRST_LAYER | dict(setting), d, runs):
        # At the largest d near one.  At smaller ones halfway, on a logarithmic scale, to a leading
        # order without a factorial, with c_l in place of l! c_l, or without a moment of the
        # activation, which is off by a factor of two or more.
        region = (0.9, 1.1) if sized.d == max(d) else (1 / math.sqrt(2), math.sqrt(2))
        for name, (values, expected) in _over_leading_order(sized, leap, untold).items():
            label = f"{name} over its leading order, $d={sized.d}$"
            quantities.append(mean_of(label, values, region, expected))
            ratios.setdefault(name, []).append(values)
            predicted.setdefault(name, []).append(expected)
    for name, line in predicted.items():
        curves += beside(name, d, ratios[name], line, theory=f"{name}: closed form")
    return Findings(quantities, Plot("dimension $d$", "over the leading order", curves, "log"))


def _over_leading_order(
    setting: Setting, leap: int, untold: Fields
) -> dict[str, tuple[Float[np.ndarray, " runs"], float]]:
    """Measured and predicted ratios to the leading order, over neurons and runs.

    The overlaps M_i are regressed on their leading order L_i: the slope sum M_i L_i/sum L_i^2.
    """
    run = simulate(setting.vary(**untold))
    start, readout = run.overlap[:, 0, :, 0], run.readout
    assert readout is not None
    leading = leading_form(setting, leap, start, readout)
    closed = closed_form(setting, start, readout)
    squares = np.sum(leading.overlap**2, axis=1)
    lengths = np.sum(leading.square, axis=1)
    return {
        "overlap": (
            ratio_values(np.sum(run.overlap[:, 1, :, 0] * leading.overlap, axis=1), squares),
            float(np.sum(closed.overlap * leading.overlap) / np.sum(squares)),
        ),
        "squared length": (
            ratio_values(np.sum(run.norms[:, 1] ** 2, axis=1), lengths),
            float(np.sum(closed.square) / np.sum(lengths)),
        ),
    }


def at_leap(
    leap: int,
    setting: dict[str, Any],
    *,
    multiples: tuple[str, str],
    quick: dict[str, Any],
    full: dict[str, Any],
) -> Claim:
    """The formulas of the slide for a target of one direction and of this leap."""
    size = f"p*d^{(leap - 1) / 2:g}"
    power = in_latex(f"m_i^{leap - 1}")
    return Claim(
        id=f"one-step-formulas-leap-{leap}",
        statement=(
            f"At leap {leap}, the overlap of row $i$ with $w^*$ after one step is "
            rf"$\frac{{\eta\,a_i}}{{p}}\mu_{leap}{power}$, where $m_i$ is its overlap before. "
            rf"Its squared length is $1+\mathrm{{const}}\cdot{{d}}\eta^2/(np^2)$ plus the "
            "square of that overlap."
        ),
        source=sources.ONE_STEP_FORMULAS,
        regime=(
            f"$p={setting['p']}$, $n={in_latex(setting['n'])}$, and the step size is "
            f"${in_latex(setting['step_size'])}$. The batch is fresh and the start is "
            "symmetric. The slide writes the length where its square has this order."
        ),
        rule=(
            "Two ratios are taken: the slope of the overlaps on their leading order, and the "
            "mean squared length over its leading order. They are within 10 % of 1 at the "
            "largest $d$, and between 0.71 and 1.41 at smaller ones. At every $d$ they are "
            "as the closed forms at finite $n$ and $d$ predict."
        ),
        experiment=step_forms,
        setting=setting | {"steps": 1},
        options={"leap": leap, "untold": {}},
        controls={
            "half of the labels have a random sign, so the signal is half as large": Changes(
                options={"untold": {"corruption": 0.25}}
            ),
            "label noise that theory does not know": Changes(options={"untold": {"noise": 4.0}}),
        },
        quick=quick,
        full=full,
        tuned=one_at_a_time(
            setting={
                "n": [multiple.format(n=f"d^{leap}") for multiple in multiples],
                "step_size": (f"{size}/4", f"8*{size}"),
            }
        ),
    )


CLAIMS = (
    Claim(
        id="one-step-formulas",
        statement="After one step, overlaps and lengths of the rows are given by closed formulas.",
        source=sources.ONE_STEP_FORMULAS,
        regime=(
            "There are $p=4$ neurons, $n=2d$, and the target has a linear part. The batch is "
            "fresh and the start is symmetric."
        ),
        rule=(
            "All deviations of overlaps and norms from the prediction together have a "
            "p-value of at least 0.001."
        ),
        experiment=formulas,
        setting={
            "target": "staircase",
            "activation": "relu",
            "n": "2d",
            "p": 4,
            "frame": "axes",
            "steps": 1,
        },
        controls={
            r"for inputs $\pm1$ along the target's axes $x^2$ is constant": Changes(
                setting={"inputs": "rademacher"}
            )
        },
        quick={"d": 600, "runs": 60},
        full={"d": 2000, "runs": 120},
    ),
    at_leap(
        2,
        # All of the sine's derivatives have means of the same size: no degree is favoured.
        {
            "target": "He2(x1) + He4(x1)/3",
            "activation": "sin(z + 0.8)",
            "n": "4*d^2",
            "p": 8,
            "step_size": "2*p*d^0.5",
        },
        multiples=("2*{n}", "16*{n}"),
        quick={"d": (25, 100, 400), "runs": (600, 120, 40)},
        full={"d": (25, 100, 400, 1000), "runs": (1200, 240, 60, 30)},
    ),
    at_leap(
        3,
        {
            "target": "He3(x1)",
            "activation": "sin(z)",
            "n": "2*d^3",
            "p": 4,
            "step_size": "p*d",
        },
        multiples=("{n}", "8*{n}"),
        quick={"d": (16, 32, 64), "runs": (1000, 300, 160)},
        full={"d": (16, 32, 64, 128), "runs": (2000, 1000, 400, 100)},
    ),
)
