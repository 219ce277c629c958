"""Claims about steps that see their batch twice (arXiv 2405.15459, arXiv 2510.21020)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    Fields,
    Runs,
    merged,
    over_sizes,
    scaling_findings,
)
from giantstep.papers.claims.quantity import LEARNED, NOT_LEARNED, Region, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory

TWICE = "repeat(2)"

LIMIT_D = 10**7
"""Where predictions stand for d to infinity: d^(-1/2) = .0003."""

LEAST_LIMIT = 0.1
"""Targets and activations are taken whose predicted cosine is above this: the random one is .03 at
the smallest d, and limits of .01 to .09, as relu has, are told from it at no d in reach."""

CLEAR: Region = (0.5 * LEAST_LIMIT, math.inf)


def known(trajectory: Trajectory) -> Float[np.ndarray, " runs"]:
    """Mean over neurons of |P w_i|/|w_i| after the last step, P on the span of the target."""
    return np.mean(trajectory.alignment(np.eye(trajectory.overlap.shape[-1]))[:, -1], axis=1)


def signed(trajectory: Trajectory) -> Float[np.ndarray, " runs"]:
    """Mean over neurons of <w_i, w*_1>/|w_i| after the last step, in which noise averages out."""
    return np.mean(trajectory.cosine[:, -1, :, 0], axis=1)


def limit_of(fields: Fields) -> Trajectory:
    """What the effective process says of d to infinity; step sizes are those of the fields."""
    return predict(Setting(**(FIRST_LAYER | dict(fields) | {"d": LIMIT_D})), theory="narrow")


def limit_error(limit: Trajectory) -> float:
    """Standard error of a predicted mean cosine, of neurons whose errors may be the same."""
    uncertainty = limit.overlap_uncertainty
    if uncertainty is None:
        return 0.0
    lengths = np.linalg.norm(uncertainty[0, -1], axis=-1)
    return float(np.mean(lengths / limit.norms[0, -1]))


def twice_against_once(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """Exponents of the neurons' cosine on batches seen twice and once, and the predicted limit.

    Beside the limit c of a cosine with the r directions of the target stands that of a random row:
    it is (c^2 + r/d)^(1/2), and its exponent is that of its values at the smallest and largest d.
    ``batches`` of the fields is what is simulated; the prediction is for batches seen twice.
    """
    given = dict(fields)
    limit = limit_of(given | {"batches": TWICE})
    expected = float(known(limit)[0])
    r = limit.overlap.shape[-1]
    first, last = (math.hypot(expected, math.sqrt(r / size)) for size in (d[0], d[-1]))
    slope = math.log(last / first) / math.log(d[-1] / d[0])
    again, once = "cosine, batches seen twice", "cosine, fresh batches"
    values = {
        again: over_sizes(given, d, runs, {again: known})[again],
        once: over_sizes(given | {"batches": "fresh"}, d, runs, {once: known})[once],
    }
    found = scaling_findings(
        d,
        values,
        {again: LEARNED, once: NOT_LEARNED},
        {again: slope, once: -0.5},
        "cosine of the neurons",
    )
    largest = mean_of(
        f"cosine at d = {d[-1]}, batches seen twice",
        values[again][-1],
        CLEAR,
        expected,
        expected_error=limit_error(limit),
        # The cosine of any random direction beside the limit.
        allowance=expected * d[-1] ** -0.5,
    )
    return Findings([*found.quantities, largest], found.plot)


def learning_rates(fields: Fields, *, d: Sequence[int], runs: Mapping[float, Runs]) -> Findings:
    """Exponents of the neurons' cosine at steps of p d^-delta on batches seen twice.

    ``runs`` has those of every delta: the nearer its region, the more.
    """
    return merged(
        [_at_one_rate(dict(fields), delta, d, runs=drawn) for delta, drawn in runs.items()]
    )


def _at_one_rate(given: dict[str, Any], delta: float, d: Sequence[int], *, runs: Runs) -> Findings:
    """At finite d the exponent of what is learned is that of the predicted cosines.

    The region goes halfway to the exponents 0 and -1/2 of what is learned and of what is not.
    Steps that are simulated are p d^(-``falling`` delta), of the fields.
    """
    name, falling = f"cosine at delta = {delta:g}", given.pop("falling")
    taken = given | {"step_size": f"p*d^{-falling * delta:g}"}
    values = over_sizes(taken, d, runs, {name: signed})[name]
    if delta >= 0.25:
        return scaling_findings(d, {name: values}, {name: NOT_LEARNED}, {name: -0.5})
    told = given | {"batches": TWICE}
    sizes = [given["p"] * size**-delta for size in (d[0], d[-1])]
    limits = [limit_of(told | {"step_size": size}) for size in sorted(set(sizes), reverse=True)]
    first, last = (float(signed(limit)[0]) for limit in (limits[0], limits[-1]))
    slope = math.log(last / first) / math.log(d[-1] / d[0])
    region = (0.5 * (slope - 0.5), 0.5 * slope if delta else math.inf)
    found = scaling_findings(d, {name: values}, {name: region}, {name: slope})
    largest = mean_of(
        f"{name}, d = {d[-1]}",
        values[-1],
        (0.0, math.inf),
        last,
        expected_error=limit_error(limits[-1]),
        allowance=last * d[-1] ** -0.5,
    )
    return Findings([*found.quantities, largest], found.plot)


# Three times the giant step: what is learned is then above the random cosine at every d.
NETWORK = {
    "n": "2d",
    "p": 4,
    "steps": 4,
    "step_size": "3*p",
    "batches": TWICE,
    "start": "sphere",
    "readout_start": "alternating",
}
BOTH = "He2(x1)/sqrt(2) + He3(x1)/sqrt(6)"


def repeated(name: str, target: str, activation: str, exponent: int) -> Claim:
    """Batches seen twice teach a target that fresh ones of their size do not."""
    return Claim(
        id=f"repeated-batches-{name}",
        statement=(
            f"Steps that see each batch of n = 2 d samples twice learn {target}, of information "
            f"exponent {exponent}; on fresh batches they learn nothing."
        ),
        source=sources.beyond(
            "arXiv 2402.03220",
            "reused batches of order d",
            "batches seen twice, and the limits of the effective process",
        ),
        regime=f"p fixed, n = 2 d, four steps, {activation}, d to infinity",
        rule=(
            "exponent in d of the mean |P w_i|/|w_i| over neurons above -1/4 and that of (c^2 + "
            "r/d)^(1/2), c the limit of the effective process, on batches seen twice, where it "
            "is c at the largest d; below -1/4 and as predicted, -1/2, on fresh ones; targets "
            f"and activations are those whose predicted limit is above {LEAST_LIMIT} (with relu "
            "it is .01 to .09, which no d in reach tells from 0)"
        ),
        experiment=twice_against_once,
        fields=NETWORK | {"target": target, "activation": activation},
        controls={
            "batches seen once": {"batches": "fresh"},
            "He3 with softplus: what is handed on is too small": {
                "target": "He3(x1)/sqrt(6)",
                "activation": "softplus",
            },
            "a linear part is learned from fresh batches": {"target": f"x1 + {target}"},
        },
        quick={"d": (500, 2000, 8000), "runs": (128, 32, 36)},
        full={"d": (500, 4000, 32_000, 128_000), "runs": 24},
        tuned={"step_size": ("2*p", "4*p")},
    )


CLAIMS = (
    repeated("even-and-odd", BOTH, "softplus", 2),
    repeated("odd", "He3(x1)/sqrt(6)", "tanh", 3),
    repeated("pair", "x1*x2 + He2(x1)*x2", "softplus", 2),
    Claim(
        id="learning-rate-decides",
        statement=(
            "Batches seen twice teach more than fresh ones only at a large step size: at p "
            "d^-delta the cosine is of order d^(-2 delta), and from delta = 1/4 on that of a "
            "random direction."
        ),
        source=sources.beyond(
            sources.LEARNING_RATE.paper,
            sources.LEARNING_RATE.place,
            "the exponents -2 delta and the boundary delta = 1/4",
        ),
        regime="p fixed, n = 2 d, two steps on one batch, d to infinity",
        rule=(
            "a first step of relative size eps moves the preactivations of its samples by eps a "
            "y, so that the second one sees E[y^2 x] eps, and its update is of order eps^2: "
            "exponents in d of the mean cosine over neurons -2 delta, and -1/2 from delta = 1/4 "
            "on; for delta < 1/4 it is, with the cosine at the largest d, as the effective "
            "process predicts at these step sizes, and not halfway to 0 or -1/2; from delta = 1/4 "
            "on below -1/4 and as predicted"
        ),
        experiment=learning_rates,
        fields=NETWORK
        | {"target": BOTH, "activation": "softplus", "p": 16, "steps": 2, "falling": 1.0},
        controls={
            "batches seen once": {"batches": "fresh"},
            "steps of size p at every d": {"falling": 0.0},
        },
        quick={
            "d": (300, 1500, 7500),
            "runs": {0.0: (100, 8, 16), 0.125: (800, 32, 128), 0.25: (400, 16, 64)},
        },
        full={
            "d": (1000, 8000, 64_000),
            "runs": dict.fromkeys((0.0, 0.125, 0.25, 0.5), (256, 96, 32)),
        },
    ),
)
