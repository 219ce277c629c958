"""Claims about weight decay and normalised rows (arXiv 2305.18270, arXiv 2003.10409)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import FIRST_LAYER, Fields, Runs, scaling_curve, with_runs
from giantstep.papers.claims.quantity import Region, drift, exponent_of, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

WEAK = 0.5
"""The cosine that counts as weakly recovered: any constant would do."""

RECORDS = 200
"""Steps that are recorded of a long run: times are read off to 1/200 of it."""


def mean_cosine(trajectory: Trajectory) -> Float[np.ndarray, " runs"]:
    """Mean over neurons of |<w_i, w*>|/|w_i| after the last step."""
    return np.mean(np.abs(trajectory.cosine[:, -1, :, 0]), axis=1)


def decayed(fields: Fields, *, decays: Sequence[float], d: int, runs: int) -> Findings:
    """Cosines after a step at each decay over those without, against their prediction.

    The field ``untold`` holds fields of the simulation that the prediction does not know.
    """
    given = FIRST_LAYER | dict(fields) | {"d": d, "runs": runs}
    untold = given.pop("untold")
    settings = {decay: Setting(**given | {"decay": decay}) for decay in (0.0, *decays)}
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
                allowance=ratio * given["p"] / d,
            )
        )
    x = list(settings)
    curves = [
        Curve("theory", x, list(predicted.values()), theory=True),
        mean_curve("simulation", x, list(measured.values())),
    ]
    return Findings(quantities, Plot("weight decay", "cosine with $w^*$", curves))


def recovery_times(
    fields: Fields, *, most: int, d: Sequence[int], runs: Runs, region: Region, exponent: int
) -> Findings:
    """Steps until the cosine of a run is WEAK, against d: their exponent is as predicted.

    Every run starts from the overlap d^(-1/2) of a random row and takes ``most`` d^max(k - 1, 1)
    steps; one that does not arrive counts as its last step.  The field
    ``untold`` is not known to the prediction.
    """
    given = FIRST_LAYER | dict(fields)
    untold = given.pop("untold")
    times, predicted = [], []
    for size, drawn in with_runs(d, runs):
        sizes = {"d": size, "runs": drawn, "steps": most * size ** max(exponent - 1, 1)}
        setting = Setting(**given | sizes | {"start_overlaps": [[size**-0.5]]})
        recorded = {"record": f"every({max(setting.steps // RECORDS, 1)})"}
        times.append(_arrivals(simulate(setting.vary(**recorded, **untold))))
        predicted.append(mean_path_time(exponent, setting.step_size[0], size))
    slope = math.log(predicted[-1] / predicted[0]) / math.log(d[-1] / d[0])
    name = "exponent of the steps to weak recovery"
    curves = [
        Curve("mean path", list(d), predicted, theory=True),
        scaling_curve("simulation", d, times),
    ]
    return Findings(
        [exponent_of(name, d, times, region, slope, allowance=drift(d))],
        Plot("dimension $d$", "steps to weak recovery", curves, "log", "log"),
    )


def mean_path_time(exponent: int, step_size: float, d: int) -> float:
    """Steps of the mean path from m = d^(-1/2) to WEAK, for y = sigma = He_k/sqrt(k!), n = 1.

        dm/dt = eta k m^(k-1) (1 - m^2) - eta^2 d k m/2

    The last term is what normalising takes: E[y^2 sigma'^2] = k where m is small.
    k -> ``exponent``, eta -> ``step_size``.
    """
    from scipy.integrate import quad

    def steps(m: float) -> float:
        gain = step_size * exponent * m ** (exponent - 1) * (1.0 - m**2)
        return 1.0 / (gain - 0.5 * step_size**2 * d * exponent * m)

    return float(quad(steps, d**-0.5, WEAK)[0])


def _arrivals(trajectory: Trajectory) -> Float[np.ndarray, " runs"]:
    """The first recorded step at which the cosine is WEAK, else the last one."""
    there = np.abs(trajectory.cosine[:, :, 0, 0]) >= WEAK
    there[:, -1] = True
    return trajectory.steps[np.argmax(there, axis=1)].astype(float)


def one_pass(
    exponent: int,
    grows: str,
    region: Region,
    *,
    step_size: str,
    controls: Mapping[str, Mapping[str, Any]],
    quick: Mapping[str, Any],
    full: Mapping[str, Any],
) -> Claim:
    """Steps of one sample each, rows normalised, for a target of an information exponent."""
    series = f"He{exponent}{{}}/sqrt({math.factorial(exponent)})"
    return Claim(
        id=f"one-pass-exponent-{exponent}",
        statement=(
            f"One-pass steps on the sphere recover a target of information exponent {exponent} "
            f"weakly after a number of steps that grows as {grows}."
        ),
        source=sources.ONE_PASS,
        regime=(
            f"n = 1, one neuron, rows normalised, step size {step_size}, start at overlap d^(-1/2)"
        ),
        rule=(
            f"exponent in d of the median number of steps to a cosine of {WEAK} in "
            f"({region[0]:g}, {region[1]:g}) and that of the mean path at these d"
        ),
        experiment=partial(recovery_times, region=region, exponent=exponent),
        fields={
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
            "untold": {},
        },
        controls=controls,
        quick=quick,
        full=full,
    )


LINEAR = {"untold": {"target": "x1", "activation": "He1"}}

CLAIMS = (
    Claim(
        id="decay-leaves-the-gradient",
        statement=(
            "Weight decay of one leaves the gradient alone: after one giant step the cosines of "
            "the rows are larger, by a factor that is predicted."
        ),
        source=sources.beyond(sources.FEW_STEPS, "theorem on one step", "weight decay"),
        regime="p fixed, n = 4 d, one giant step; decay 1/2 and 1",
        rule=(
            "mean over neurons of the cosine with w* over that of the same run without decay "
            "above 1 and as predicted"
        ),
        experiment=partial(decayed, decays=(0.5, 1.0)),
        fields={
            "target": "x1 + He2(x1)/2",
            "activation": "relu",
            "n": "4d",
            "p": 8,
            "steps": 1,
            "step_size": "p",
            "untold": {},
        },
        controls={"no decay": {"untold": {"decay": 0.0}}},
        quick={"d": 2000, "runs": 24},
        full={"d": 20_000, "runs": 24},
    ),
    one_pass(
        1,
        "d",
        (0.75, 1.25),
        step_size="0.3/d",
        controls={"steps of order d^(-1/2)": {"untold": {"step_size": "0.05/d^0.5"}}},
        quick={"most": 4, "d": (100, 300, 900), "runs": 16},
        full={"most": 4, "d": (100, 400, 1600, 6400), "runs": 64},
    ),
    one_pass(
        2,
        "d log(d)",
        (1.0, 1.5),
        step_size="0.3/d",
        controls={"a linear target": LINEAR},
        # Four times the mean path's steps: some runs lose their start first.
        quick={"most": 20, "d": (50, 200, 600), "runs": 48},
        full={"most": 20, "d": (50, 200, 800, 3200), "runs": 64},
    ),
    one_pass(
        3,
        "d^2",
        (1.5, 2.5),
        step_size="0.1/d^1.5",
        controls={"a linear target": LINEAR},
        # The mean path takes 2.5 d^2 steps; larger ones scatter more than they save.
        quick={"most": 4, "d": (16, 64), "runs": 96},
        full={"most": 4, "d": (16, 32, 64, 128), "runs": 96},
    ),
)
