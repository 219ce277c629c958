"""Claims about the step sizes at which spikes leave the bulk (arXiv 2310.07891)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    Exponent,
    Runs,
    at_sizes,
    beside,
    exponent_findings,
    growth,
)
from giantstep.papers.claims.quantity import Quantity, drift, exponent_of, mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time
from giantstep.papers.claims.wide import (
    EVEN,
    WIDE,
    predicted_places,
    singular_values,
    update_unit,
)
from giantstep.prediction.wide.feature_outliers import feature_outliers
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.step import learned_step
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot
from giantstep.simulation.stepped import SteppedRun, stepped_runs

SPIKES = {"step of spike 1": (-0.125, 0.125), "step of spike 2": (0.125, 7 / 24)}
"""Regions of the exponents: (l-1)/(2l) is 0, 1/4, 1/3, and a region ends halfway to the next."""


def searched_sizes(setting: Setting, count: int = 11) -> Float[np.ndarray, " k"]:
    """Logarithms of the step sizes at which spikes are looked for, from 1 to n^(1/2).

    At n = 10^4 each is 1.6 times the one before.
    """
    return np.linspace(0.0, 0.5 * math.log(setting.n), count)


def leaving_sizes(step: SteppedRun, clear: float) -> tuple[float, float]:
    """eta |a| |beta| at which spikes 1 and 2 are ``clear`` times the top of the bulk at eta = 0.

    |a| and |beta| tend to constants; with them the scatter of the runs is gone.  Between the
    searched step sizes log-log straight lines are drawn; the search ends at eta = n^(1/2), where
    the theory of spikes does, and that is the answer for a spike that has not left.  The step of
    the run may be of any size but zero.
    """
    activation, inputs = step.setting.activation, step.training.inputs
    update = (step.weights - step.start) / step.step_size
    start, moved = inputs @ step.start.T, inputs @ update.T

    def values(eta: float) -> Float[np.ndarray, " two"]:
        return singular_values(np.asarray(activation(start + eta * moved), dtype=float), 2)

    level = math.log(clear * values(0.0)[0])
    sizes = searched_sizes(step.setting)
    tops = np.log(np.array([values(math.exp(size)) for size in sizes]))
    first, second = (crossing(sizes, column, level) for column in tops.T)
    unit = update_unit(step)
    return unit * math.exp(first), unit * math.exp(second)


def crossing(x: Float[np.ndarray, " k"], y: Float[np.ndarray, " k"], level: float) -> float:
    """Where y first passes the level, the last x if it does not."""
    above = np.flatnonzero(y > level)
    if len(above) == 0 or above[0] == 0:
        return float(x[-1] if len(above) == 0 else x[0])
    j = above[0]
    return float(np.interp(level, y[j - 1 : j + 1], x[j - 1 : j + 1]))


def measured_sizes(setting: Setting, clear: float) -> Float[np.ndarray, "two runs"]:
    """``leaving_sizes`` of both spikes in all runs of a setting."""
    steps = stepped_runs(setting, range(setting.runs))
    return np.array([leaving_sizes(step, clear) for step in steps]).T


def predicted_sizes(setting: Setting, clear: float) -> tuple[float, float]:
    """What ``leaving_sizes`` measures, by the closed system: eta |a| |beta| of spikes 1 and 2.

    The same step sizes are searched and the same lines drawn between them.
    """
    level = math.log(clear * feature_outliers(setting.vary(step_size=0.0)).edge)
    sizes = searched_sizes(setting)

    @cache
    def places(index: int) -> Float[np.ndarray, " two"]:
        theory = feature_outliers(setting.vary(step_size=math.exp(sizes[index])))
        return np.log(predicted_places(theory, 2))

    def leaving(spike: int) -> float:
        """By halving: the spike is below the level at ``low`` and above it at ``high``."""
        low, high = 0, len(sizes) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if places(middle)[spike] > level else (middle, high)
        ends = [low, high]
        return crossing(sizes[ends], np.array([places(k)[spike] for k in ends]), level)

    unit = beta_length(setting)
    return unit * math.exp(leaving(0)), unit * math.exp(leaving(1))


def beta_length(setting: Setting) -> float:
    """|beta| = (|E[y x]|^2 + s^2 c_1^2 + (d/n) E r^2)^(1/2) for |a| = 1."""
    linear = float(np.sum(setting.target.series.tensor(1) ** 2))
    output = (Network(setting).start_feedback * setting.activation.moments.linear) ** 2
    noise = setting.d / setting.n * learned_step(setting, 1.0).residual_square
    return math.sqrt(linear + output + noise)


def thresholds(
    setting: Fields, *, clear: float, told: Fields, d: Sequence[int], runs: Runs
) -> Findings:
    """Step sizes at which spikes leave: their exponents in n, and themselves at the largest n.

    Theory is told the fields ``told``; ``clear`` is that of ``leaving_sizes``.
    """
    settings = at_sizes({**setting, "step_size": 1.0}, d, runs)
    n = [float(each.n) for each in settings]
    measured = [measured_sizes(each, clear) for each in settings]
    ends = (settings[0], settings[-1])
    predicted = np.array([predicted_sizes(each.vary(**told), clear) for each in ends])
    # The largest singular value of a bulk of n samples is below its edge by a share of n^(-2/3).
    power = 2.0 / 3.0
    quantities: list[Quantity] = []
    curves: list[Curve] = []
    for spike, (name, region) in enumerate(SPIKES.items()):
        values, line = [both[spike] for both in measured], predicted[:, spike].tolist()
        allowance = drift(n, power=power)
        quantities += [
            exponent_of(
                f"exponent of {name}", n, values, region, growth(line, n), allowance=allowance
            ),
            mean_of(
                f"{name} over the predicted one, $d={d[-1]}$",
                values[-1] / line[-1],
                (0.8, 1.25),
                1.0,
                allowance=2.0 * n[-1] ** -power,
            ),
        ]
        label = f"spike {spike + 1}"
        points, _ = beside(label, n, values, line)
        curves += [points, Curve(label, [n[0], n[-1]], line, theory=True)]
    label = "step size at which a spike leaves"
    return Findings(quantities, Plot("samples $n$", label, curves, "log", "log"))


def leaving_exponents(
    setting: Fields, *, clear: float, drifts: float, d: Sequence[int], runs: Runs
) -> Findings:
    """Exponents in p of the step sizes at which spikes leave the bulk: those of the limit.

    The features are expanded in eta a_i, of order p^(-1/2) where spike 1 leaves and p^(-1/4) where
    spike 2 does: the corrections that the exponents may have, times ``drifts``.
    """
    settings = at_sizes({**setting, "step_size": 1.0}, d, runs)
    sizes = [measured_sizes(each, clear) for each in settings]
    values = {name: [both[spike] for both in sizes] for spike, name in enumerate(SPIKES)}
    measured = [
        Exponent(name, None, region, limit, power=power, factor=drifts)
        for (name, region), limit, power in zip(
            SPIKES.items(), (0.0, 0.25), (0.5, 0.25), strict=True
        )
    ]
    label, p = "step size at which a spike leaves", [each.p for each in settings]
    return exponent_findings(measured, values, p, label=label, x_label="neurons $p$")


LATER_SPIKES = {
    "tanh is odd: the second spike is of degree 3": Changes(setting={"activation": "tanh"}),
    "the cosine is even: the first spike is of degree 2": Changes(setting={"activation": EVEN}),
}
"""Activations with a zero among c_1, c_2, whose spikes leave the bulk at larger steps."""

CLAIMS = (
    Claim(
        id="spike-thresholds",
        statement=r"Spike $\ell$ leaves the bulk at step sizes of order $n^{(\ell-1)/(2\ell)}$.",
        source=sources.SPIKES,
        regime=(
            "$n=4d$, $p=d$, the activation is relu, and the step size is searched up to $n^{1/2}$."
        ),
        rule=(
            r"Measured is the step size at which spike $\ell$ is 1.25 times the largest "
            "singular value at the start. Its exponent in $n$ is nearer to "
            r"$(\ell-1)/(2\ell)$ than to that of another spike. It is as the closed system "
            "predicts between these $n$: 0.01 and 0.21, where the limits are 0 and 0.25. At "
            "the largest $n$ the step size itself is as predicted."
        ),
        experiment=thresholds,
        setting=WIDE | {"readout_n": "n"},
        options={"clear": 1.25, "told": {}},
        controls=LATER_SPIKES
        | {
            "theory is told of a sixteenth of the samples": Changes(
                options={"told": {"readout_n": "d/4"}}
            )
        },
        quick={"d": (50, 100, 200, 400), "runs": (48, 24, 12, 6)},
        full={"d": (50, 100, 200, 400, 800), "runs": (96, 48, 24, 12, 6)},
        tuned=one_at_a_time(options={"clear": (1.15, 1.5)}),
    ),
    Claim(
        id="spikes-at-different-rates",
        statement=(
            r"With $n$ and $p$ at different rates, spike $\ell$ leaves the bulk at step sizes "
            r"of order $p^{(\ell-1)/(2\ell)}$. The number of neurons counts, not that of "
            "samples."
        ),
        source=sources.beyond(
            sources.ONE_STEP,
            "Theorem 3.3",
            "$n=d^{1.5}$, where the theorem has $n$, $d$ and $p$ in proportion.",
        ),
        regime="$p=d$, $n=d^{1.5}$, and the step size is searched up to $n^{1/2}$.",
        rule=(
            r"Measured is the step size at which spike $\ell$ is 1.25 times the largest "
            "singular value at the start. Its exponent in $p$ is nearer to "
            r"$(\ell-1)/(2\ell)$ than to that of another spike. It is as predicted, up to the "
            r"drift of a factor $1+p^{-1/(2\ell)}$."
        ),
        experiment=leaving_exponents,
        setting=WIDE | {"n": "d^1.5", "readout_n": "n"},
        options={"clear": 1.25, "drifts": 1.0},
        controls=LATER_SPIKES,
        quick={"d": (25, 50, 100, 200), "runs": (120, 32, 32, 16)},
        full={"d": (25, 50, 100, 200, 400), "runs": (128, 64, 32, 16, 8)},
        tuned=one_at_a_time(options={"clear": (1.15, 1.4), "drifts": (0.5, 2.0)}),
    ),
)
