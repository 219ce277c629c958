"""Claims about weight decay and normalised rows (arXiv 2305.18270, arXiv 2003.10409)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.language.latex import in_latex
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    Runs,
    at_sizes,
    beside,
    growth,
    scaling_curve,
)
from giantstep.papers.claims.quantity import Region, drift, exponent_of, mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings
from giantstep.prediction.predict import predict
from giantstep.records.plot import Curve, Plot
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate


def mean_cosine(trajectory: Trajectory) -> Float[np.ndarray, " runs"]:
    """Mean over neurons of |<w_i, w*>|/|w_i| after the last step."""
    return np.mean(np.abs(trajectory.cosine[:, -1, :, 0]), axis=1)


def decayed(
    setting: Fields, *, untold: Fields, decays: Sequence[float], d: int, runs: int
) -> Findings:
    """Cosines after a step at each decay over those without, against their prediction.

    The simulation has the fields ``untold``, which the prediction does not know.
    """
    [base] = at_sizes(FIRST_LAYER | dict(setting), [d], runs)
    settings = {decay: base.vary(decay=decay) for decay in (0.0, *decays)}
    measured = {x: mean_cosine(simulate(s.vary(**untold))) for x, s in settings.items()}
    predicted = {x: float(mean_cosine(predict(s))[0]) for x, s in settings.items()}
    quantities = []
    for decay in decays:
        ratio = predicted[decay] / predicted[0.0]
        quantities.append(
            mean_of(
                f"gain of decay {decay:g}",
                measured[decay] / measured[0.0],
                (1.0, math.inf),
                ratio,
                # Means of ratios of single runs: their squared relative deviation, of order p/d.
                allowance=ratio * base.p / d,
            )
        )
    curves = beside(
        "simulation",
        list(settings),
        list(measured.values()),
        list(predicted.values()),
        theory="theory",
    )
    return Findings(quantities, Plot("weight decay", "cosine with $w^*$", curves))


def recovery_times(
    setting: Fields,
    *,
    exponent: int,
    region: Region,
    weak: float,
    untold: Fields,
    most: int,
    d: Sequence[int],
    runs: Runs,
) -> Findings:
    """Steps until the cosine of a run is ``weak``, against d: their exponent is as predicted.

    Every run starts from the overlap d^(-1/2) of a random row and takes ``most`` d^max(k - 1, 1)
    steps, of which 200 are recorded; one that does not arrive counts as its last step.  The
    simulation has the fields ``untold``, which the prediction does not know.
    """
    times, predicted = [], []
    for base in at_sizes(FIRST_LAYER | dict(setting), d, runs):
        steps = most * base.d ** max(exponent - 1, 1)
        sized = base.vary(steps=steps, start_overlaps=[[base.d**-0.5]])
        recorded = {"record": f"every({max(steps // 200, 1)})"}
        times.append(_arrivals(simulate(sized.vary(**recorded, **untold)), weak))
        predicted.append(mean_path_time(exponent, sized.step_size[0], sized.d, weak))
    quantity = exponent_of(
        "exponent of the steps to weak recovery",
        d,
        times,
        region,
        growth(predicted, d),
        allowance=drift(d),
    )
    curves = [
        Curve("mean path", list(d), predicted, theory=True),
        scaling_curve("simulation", d, times),
    ]
    return Findings(
        [quantity], Plot("dimension $d$", "steps to weak recovery", curves, "log", "log")
    )


def mean_path_time(exponent: int, step_size: float, d: int, weak: float) -> float:
    """Steps of the mean path from m = d^(-1/2) to ``weak``, for y = sigma = He_k/sqrt(k!), n = 1.

        dm/dt = eta k m^(k-1) (1 - m^2) - eta^2 d k m/2

    The last term is what normalising takes: E[y^2 sigma'^2] = k where m is small.
    k -> ``exponent``, eta -> ``step_size``.
    """
    from scipy.integrate import quad

    def steps(m: float) -> float:
        gain = step_size * exponent * m ** (exponent - 1) * (1.0 - m**2)
        return 1.0 / (gain - 0.5 * step_size**2 * d * exponent * m)

    return float(quad(steps, d**-0.5, weak)[0])


def _arrivals(trajectory: Trajectory, weak: float) -> Float[np.ndarray, " runs"]:
    """The first recorded step at which the cosine is ``weak``, else the last one."""
    there = np.abs(trajectory.cosine[:, :, 0, 0]) >= weak
    there[:, -1] = True
    return trajectory.steps[np.argmax(there, axis=1)].astype(float)


def one_pass(
    exponent: int,
    grows: str,
    region: Region,
    *,
    step_size: str,
    controls: Mapping[str, Fields],
    quick: Mapping[str, Any],
    full: Mapping[str, Any],
) -> Claim:
    """Steps of one sample each, rows normalised, for a target of an information exponent."""
    series = f"He{exponent}{{}}/sqrt({math.factorial(exponent)})"
    return Claim(
        id=f"one-pass-exponent-{exponent}",
        statement=(
            "One-pass steps on the sphere recover a target of information exponent "
            f"{exponent} weakly after a number of steps that grows as ${grows}$."
        ),
        source=sources.ONE_PASS,
        regime=(
            "$n=1$, and the row of the one neuron is normalised after each step. The step "
            f"size is ${in_latex(step_size)}$, and the start has overlap $d^{{-1/2}}$."
        ),
        rule=(
            "Measured is the median number of steps until the cosine is 0.5. Its exponent in "
            f"$d$ is between {region[0]:g} and {region[1]:g}, and agrees with that of the "
            "mean path at these $d$."
        ),
        experiment=recovery_times,
        setting={
            "target": series.format("(x1)"),
            "activation": series.format(""),
            "n": 1,
            "p": 1,
            "step_size": step_size,
            "residual": "labels",
            "output_scale": "1",
            "start": "orthogonal",
            "readout_start": "ones",
            "rows": "normalised",
        },
        # The cosine that counts as weakly recovered: any constant would do.
        options={"exponent": exponent, "region": region, "weak": 0.5, "untold": {}},
        controls={
            reason: Changes(options={"untold": untold}) for reason, untold in controls.items()
        },
        quick=quick,
        full=full,
    )


LINEAR = {"a linear target": {"target": "x1", "activation": "He1"}}

CLAIMS = (
    Claim(
        id="decay-leaves-the-gradient",
        statement=(
            "A weight decay of one keeps only the gradient. After one giant step the cosines "
            "of the rows are then larger, by a factor that is predicted."
        ),
        source=sources.beyond(
            sources.FEW_STEPS, "theorem on one step", "The step has weight decay."
        ),
        regime="The width $p$ is fixed, $n=4d$, and one giant step has decay $1/2$ or 1.",
        rule=(
            "The mean over neurons of the cosine with $w^*$ is divided by that of the same "
            "run without decay. The ratio is above 1 and as predicted."
        ),
        experiment=decayed,
        setting={
            "target": "x1 + He2(x1)/2",
            "activation": "relu",
            "n": "4d",
            "p": 8,
            "steps": 1,
            "step_size": "p",
        },
        options={"decays": (0.5, 1.0), "untold": {}},
        controls={"no decay": Changes(options={"untold": {"decay": 0.0}})},
        quick={"d": 2000, "runs": 24},
        full={"d": 20_000, "runs": 24},
    ),
    one_pass(
        1,
        "d",
        (0.75, 1.25),
        step_size="0.3/d",
        controls={"steps of order $d^{-1/2}$": {"step_size": "0.05/d^0.5"}},
        quick={"most": 4, "d": (100, 300, 900), "runs": 16},
        full={"most": 4, "d": (100, 400, 1600, 6400), "runs": 64},
    ),
    one_pass(
        2,
        r"d\log{d}",
        (1.0, 1.5),
        step_size="0.3/d",
        controls=LINEAR,
        # Four times the mean path's steps: some runs lose their start first.
        quick={"most": 20, "d": (50, 200, 600), "runs": 48},
        full={"most": 20, "d": (50, 200, 800, 3200), "runs": 64},
    ),
    one_pass(
        3,
        "d^2",
        (1.5, 2.5),
        step_size="0.1/d^1.5",
        controls=LINEAR,
        # The mean path takes 2.5 d^2 steps; larger ones scatter more than they save.
        quick={"most": 4, "d": (16, 64), "runs": 96},
        full={"most": 4, "d": (16, 32, 64, 128), "runs": 96},
    ),
)
