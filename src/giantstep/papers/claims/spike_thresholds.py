"""A claim about the step sizes at which spikes leave the bulk (arXiv 2310.07891)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import Fields, Runs, with_runs
from giantstep.papers.claims.linear_width import LATER_SPIKES, WIDE
from giantstep.papers.claims.quantity import Quantity, Region, drift, exponent_of, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.claims.spike_experiments import crossing, leaving_sizes, searched_sizes
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.feature_outliers import feature_outliers
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.step import learned_step
from giantstep.problem.setting import Setting
from giantstep.simulation.stepped import stepped_runs

REGIONS: tuple[Region, Region] = ((-0.125, 0.125), (0.125, 7 / 24))
"""(l-1)/(2l), and halfway between those of spikes 1, 2 and 3: 0, 1/4, 1/3."""

BULK_POWER = 2.0 / 3.0
"""The largest singular value of a bulk of n samples is below its edge by a share of n^(-2/3)."""


def predicted_sizes(setting: Setting, clear: float) -> tuple[float, float]:
    """What ``leaving_sizes`` measures, by the closed system: eta |a| |beta| of spikes 1 and 2.

    The same step sizes are searched and the same lines drawn between them.
    """
    level = math.log(clear * feature_outliers(setting.vary(step_size=0.0)).edge)
    sizes = searched_sizes(setting)

    @cache
    def places(index: int) -> Float[np.ndarray, " two"]:
        found = feature_outliers(setting.vary(step_size=math.exp(sizes[index])))
        return np.log([*found.values, found.edge, found.edge][:2])

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


def thresholds(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """Step sizes at which spikes leave: their exponents in n, and themselves at the largest n.

    Theory is told the fields ``told``; ``clear`` is that of ``leaving_sizes``.
    """
    given = dict(fields)
    clear, told = given.pop("clear"), given.pop("told")
    settings = [Setting(**given | {"d": size, "step_size": 1.0}) for size in d]
    n = [float(setting.n) for setting in settings]
    measured = [
        np.array([leaving_sizes(step, clear) for step in stepped_runs(setting, range(drawn))]).T
        for setting, (_, drawn) in zip(settings, with_runs(d, runs), strict=True)
    ]
    ends = (0, -1)
    predicted = np.array([predicted_sizes(settings[k].vary(**told), clear) for k in ends])
    quantities: list[Quantity] = []
    curves: list[Curve] = []
    for spike, region in enumerate(REGIONS):
        values = [both[spike] for both in measured]
        first, last = predicted[:, spike]
        expected = math.log(last / first) / math.log(n[-1] / n[0])
        name = f"step of spike {spike + 1}"
        quantities += [
            exponent_of(
                f"exponent of {name}",
                n,
                values,
                region,
                expected,
                allowance=drift(n, power=BULK_POWER),
            ),
            mean_of(
                f"{name} over the predicted one, d = {d[-1]}",
                values[-1] / last,
                (0.8, 1.25),
                1.0,
                allowance=2.0 * n[-1] ** -BULK_POWER,
            ),
        ]
        curves += [
            mean_curve(f"spike {spike + 1}", n, values),
            Curve(f"spike {spike + 1}", [n[k] for k in ends], [first, last], theory=True),
        ]
    label = "step size at which a spike leaves"
    return Findings(quantities, Plot("samples $n$", label, curves, "log", "log"))


CLAIMS = (
    Claim(
        id="spike-thresholds",
        statement="Spike l leaves the bulk at step sizes of order n^((l-1)/(2l)).",
        source=sources.SPIKES,
        regime="n = 4 d, p = d, relu, step size searched up to n^(1/2)",
        rule=(
            "exponent in n of the step at which spike l is 1.25 times the bulk of the start "
            "nearer to (l-1)/(2l) than to that of another spike, and as the closed system predicts "
            "between these n (0.01 and 0.21; 0.25 for spike 2 in the limit); the step itself as "
            "predicted at the largest n"
        ),
        experiment=thresholds,
        fields=WIDE | {"readout_n": "n", "clear": 1.25, "told": {}},
        controls=LATER_SPIKES
        | {"theory is told of a sixteenth of the samples": {"told": {"readout_n": "d/4"}}},
        quick={"d": (50, 100, 200, 400), "runs": (48, 24, 12, 6)},
        full={"d": (50, 100, 200, 400, 800), "runs": (96, 48, 24, 12, 6)},
        tuned={"clear": (1.15, 1.5)},
    ),
)
