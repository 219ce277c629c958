"""The figure of what one step learns from n = d^kappa samples (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from giantstep.analysis.phase import phase_curve
from giantstep.papers.figures.record import Reproduction
from giantstep.prediction.narrow.one_step import cosine_quantiles
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot
from giantstep.records.scaling import scaling_exponent
from giantstep.simulation.simulate import simulate

TWO_DEVIATIONS = math.erf(math.sqrt(2.0))
"""Probability within two standard deviations: a bootstrap interval is four of them long."""


def phase(
    seed: int,
    *,
    first_d: Sequence[int],
    second_d: Sequence[int],
    runs: int,
    samples: float,
    draws: int,
) -> list[Plot]:
    """Exponents in d of a neuron's cosine with the target at leaps one and two."""
    one = _exponents(1, 0.25, first_d, seed, runs=runs, samples=samples, draws=draws)
    two = _exponents(2, 1.0, second_d, seed, runs=runs, samples=samples, draws=draws)
    return [
        replace(one, title="leap one: $x_1$ needs $n = d$"),
        replace(two, title=r"leap two: $\mathrm{He}_2(x_1)$ needs $n = d^2$"),
    ]


def _exponents(
    leap: int,
    first: float,
    sizes: Sequence[int],
    seed: int,
    *,
    runs: int,
    samples: float,
    draws: int,
) -> Plot:
    """Slopes of log median |cos| in log d: measured, predicted at these sizes, and the limit.

    At six exponents kappa of the batch size, from the ``first`` on in steps of 1/4.
    """
    slopes, deviations, finite = [], [], []
    kappas = first + 0.25 * np.arange(6)
    for kappa in kappas.tolist():
        cosines, medians = [], []
        for d in sizes:
            setting = Setting(
                f"He{leap}(x1)",
                activation="tanh(z + 0.5)",
                d=d,
                n=f"d^{kappa}",
                # 8 have a start of their own; beside each stands one with the opposite readout.
                p=16,
                steps=1,
                step_size=f"10*p*d^{(leap - 1) / 2}",
                # Many runs where they are cheap.
                runs=round(float(np.clip(samples / d**kappa, runs, 20 * runs))),
                seed=seed,
                readout_n=0,
                test_n=0,
            )
            cosines.append(np.median(np.abs(simulate(setting).cosine[:, 1, :, 0]), axis=-1))
            medians.append(cosine_quantiles(setting, np.array([0.5]), draws=draws)[0, 0])
        scaling = scaling_exponent(sizes, cosines, level=TWO_DEVIATIONS)
        slopes.append(scaling.exponent)
        deviations.append((scaling.high - scaling.low) / 4.0)
        finite.append(float(np.polyfit(np.log(sizes), np.log(medians), 1)[0]))
    fine = np.linspace(kappas[0], kappas[-1], 61)
    return Plot(
        r"exponent of the batch size $\kappa$ in $n = d^\kappa$",
        "exponent in $d$ of a neuron's cosine with $w_1$",
        [
            Curve("measured", kappas.tolist(), slopes, deviations),
            Curve("limit", fine.tolist(), phase_curve(leap, fine).tolist(), theory=True),
            Curve("at these sizes", kappas.tolist(), finite, theory=True),
        ],
        y_range=(-0.65, 0.15),
    )


FIGURES = (
    Reproduction(
        "phase",
        "What one giant step learns, over the exponent of its batch size",
        "arXiv 2305.18270",
        (11.5, 4.8),
        (
            r"Shown are slopes of the logarithm of a neuron's median $|\cos|$ over $\log\,d$. The "
            "sizes are $d$ = {first_d} (left) and {second_d} (right), with at least {runs} runs "
            "each; bars are two standard errors (bootstrap). 0 is learned, $-1/2$ is as good as "
            "a random direction. The limit is approached slowly: the second line is the "
            "prediction at the sizes of the points."
        ),
        phase,
        quick={
            "first_d": (300, 1000, 3000),
            "second_d": (40, 110, 300),
            "runs": 16,
            "samples": 1e6,
            "draws": 150,
        },
        full={
            "first_d": (300, 2000, 12_000),
            "second_d": (60, 200, 600),
            "runs": 48,
            "samples": 1e7,
            "draws": 500,
        },
    ),
)
