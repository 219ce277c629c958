"""Figures of spectra: features after one step, weights after two (arXiv 2310.07891, 2605.17767)."""

from __future__ import annotations

from giantstep.papers.figures.networks import WIDE, step_size, two_steps
from giantstep.papers.figures.record import Reproduction
from giantstep.prediction.predict import predict
from giantstep.prediction.wide.outlier_count import with_exponents
from giantstep.prediction.wide.strong_spikes import spike_count
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.records.plot import SpectrumPlot
from giantstep.simulation.simulate import simulate

NUMBERS = ("no spike", "one spike", "two spikes", "three spikes")


def spikes(seed: int, *, d: int, runs: int) -> list[SpectrumPlot]:
    """Singular values of the features at four step sizes 3 n^alpha, with l = 0, 1, 2, 3 spikes."""
    panels = []
    for alpha in (-0.2, 0.1, 0.29, 0.36):
        setting = Setting(**WIDE, d=d, step_size=step_size(alpha), runs=runs, seed=seed)
        setting = setting.vary(spectra=setting.p)
        measured, predicted = simulate(setting).features, predict(setting).features
        assert measured is not None
        assert predicted is not None
        count = spike_count(alpha, setting.activation)
        panels.append(
            SpectrumPlot.of(
                measured,
                predicted,
                step=1,
                symbol=r"the features $\sigma(XW^\top)/\sqrt{n}$",
                title=rf"step size $3n^{{{alpha:g}}}$: $\ell = {count}$, {NUMBERS[count]}",
                reach=25.0,
            )
        )
    return panels


def weights(seed: int, *, p: int, runs: int) -> list[SpectrumPlot]:
    """Singular values of W after each of two steps, exponents (0.44, 0.44)."""
    base = Setting(
        "two-step",
        **two_steps(p) | {"spectra": p},
        activation=centred("tanh(z + 0.5)"),
        runs=runs,
        seed=seed,
    )
    setting = with_exponents(base, 0.44, 0.44)
    measured, predicted = simulate(setting).weights, predict(setting).weights
    assert measured is not None
    assert predicted is not None
    return [
        SpectrumPlot.of(
            measured, predicted, step, symbol="the weights $W$", title=f"after step {step}"
        )
        for step in (1, 2)
    ]


FIGURES = (
    Reproduction(
        "spikes",
        r"Features after one step of size $3n^\alpha$: from no spike to three",
        "arXiv 2310.07891",
        (10.0, 8.0),
        (
            r"Target $z+\mathrm{{He}}_2(z)/\sqrt{{2}}$, activation $\tanh(z+0.7)$ minus its mean, "
            "$p=d$ = {d:,}, $n=4d$ samples for the step and for the features. Grey: the bulk of "
            "one run. Open triangles: values a tenth above the edge in {runs} runs. Red: "
            r"prediction, means over the runs' readouts. $\ell$ is the number of spikes that grow "
            "without bound as $n$ does."
        ),
        spikes,
        quick={"d": 300, "runs": 2},
        full={"d": 1000, "runs": 8},
        columns=2,
    ),
    Reproduction(
        "weights",
        r"Weights after one and after two steps of size $p^{0.44}$",
        "arXiv 2605.17767",
        (10.0, 4.8),
        (
            r"Target $z+\mathrm{{He}}_2(z)/\sqrt{{2}}$, activation $\tanh(z+0.5)$ minus its mean, "
            r"$p=d$ = {p:,}, $n=2d$ fresh samples a step, output scale $1/\sqrt{{p}}$. Grey: the "
            "bulk of one run. Open triangles: values a tenth above the edge in {runs} runs. Red: "
            "prediction, means over the runs' readouts. As $p$ grows the second step adds up to "
            r"$\lfloor0.44/(1/2-0.44)\rfloor=7$ outliers; at this $p$ theory predicts one. The "
            "value near 2.5 after step 1 is seen in one of the runs and is not predicted."
        ),
        weights,
        quick={"p": 400, "runs": 2},
        full={"p": 2000, "runs": 8},
    ),
)
