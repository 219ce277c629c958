"""Claims and findings about steps that see a batch twice: held for two steps, or ahead of one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.language.latex import in_latex
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    Runs,
    exponent_findings,
    exponents,
    growth,
    learned,
    not_learned,
    statistics_over_sizes,
)
from giantstep.papers.claims.quantity import mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory

TWICE = "repeat(2)"


@dataclass(frozen=True)
class Way:
    """A field of a setting with which steps see their batch twice, its values and their names."""

    twice: str
    once: str
    seen_twice: str
    seen_once: str


WAYS = {
    "batches": Way(TWICE, "fresh", "batches seen twice", "fresh batches"),
    "lookahead": Way("batch(2p)", "none", "looking ahead", "plain steps"),
}


def mean_alignment(trajectory: Trajectory) -> Float[np.ndarray, " runs"]:
    """Mean over neurons of |P w_i|/|w_i| after the last step, P on the span of the target."""
    return np.mean(trajectory.alignment(np.eye(trajectory.overlap.shape[-1]))[:, -1], axis=1)


def signed_cosine(trajectory: Trajectory) -> Float[np.ndarray, " runs"]:
    """Mean over neurons of <w_i, w*_1>/|w_i| after the last step, in which noise averages out."""
    return np.mean(trajectory.cosine[:, -1, :, 0], axis=1)


def limit_of(setting: Fields, d: int = 10**7) -> Trajectory:
    """What the effective process says of d to infinity; d^(-1/2) is .0003 at this d.

    Step sizes are those of the fields.
    """
    return predict(Setting(**{**FIRST_LAYER, **setting, "d": d}), theory="narrow")


def limit_error(limit: Trajectory) -> float:
    """Standard error of a predicted mean cosine, of neurons whose errors may be the same."""
    uncertainty = limit.overlap_uncertainty
    if uncertainty is None:
        return 0.0
    lengths = np.linalg.norm(uncertainty[0, -1], axis=-1)
    return float(np.mean(lengths / limit.norms[0, -1]))


def twice_against_once(
    setting: Fields, *, least: float, d: Sequence[int], runs: Runs, field: str = "batches"
) -> Findings:
    """Exponents of the neurons' cosine on batches seen twice and once, and the predicted limit.

    Beside the limit c of a cosine with the r directions of the target stands that of a random row:
    it is (c^2 + r/d)^(1/2), and its exponent is that of its values at the smallest and largest d.
    ``field`` of the setting is what is simulated; the prediction is for batches seen twice, and
    the measured cosine at the largest d must be above half of ``least``.
    """
    way = WAYS[field]
    limit = limit_of({**setting, field: way.twice})
    expected, r = float(mean_alignment(limit)[0]), limit.overlap.shape[-1]
    cosines = [math.hypot(expected, math.sqrt(r / size)) for size in d]
    again = learned(f"cosine, {way.seen_twice}", mean_alignment)
    once = not_learned(f"cosine, {way.seen_once}", mean_alignment, setting={field: way.once})
    measured = (replace(again, limit=growth(cosines, d)), once)
    values = statistics_over_sizes(setting, measured, d, runs)
    findings = exponent_findings(measured, values, d)
    largest = mean_of(
        f"cosine at $d={d[-1]}$, {way.seen_twice}",
        values[again.name][-1],
        (0.5 * least, math.inf),
        expected,
        expected_error=limit_error(limit),
        # The cosine of any random direction beside the limit.
        allowance=expected * d[-1] ** -0.5,
    )
    return Findings([*findings.quantities, largest], findings.plot)


def learning_rates(
    setting: Fields, *, falling: float, d: Sequence[int], runs: Mapping[float, Runs]
) -> Findings:
    """Exponents of the neurons' cosine at steps of p d^-delta on batches seen twice.

    Steps that are simulated are p d^(-``falling`` delta).  ``runs`` has those of every delta: the
    nearer its region, the more.  From delta = 1/4 on nothing is learned.  Below, at finite d, the
    exponent is that of the predicted cosines; its region goes halfway to the exponents 0 and -1/2
    of what is learned and of what is not.
    """
    measured, sizes = [], []
    for delta, drawn in runs.items():
        name = rf"cosine at $\delta={delta:g}$"
        fields = {"step_size": f"p*d^{-falling * delta:g}"}
        case = not_learned(name, signed_cosine, setting=fields, d=d, runs=drawn)
        if delta < 0.25:
            told = {**setting, "batches": TWICE}
            taken = [setting["p"] * size**-delta for size in (d[0], d[-1])]
            limits = {size: limit_of({**told, "step_size": size}) for size in taken}
            cosines = [float(signed_cosine(limits[size])[0]) for size in taken]
            slope = growth(cosines, d)
            region = (0.5 * (slope - 0.5), 0.5 * slope if delta > 0 else math.inf)
            case = replace(case, limit=slope, region=region)
            sizes.append((case, cosines[-1], limit_error(limits[taken[-1]])))
        measured.append(case)
    values = statistics_over_sizes(setting, measured, d, 0)
    findings = exponent_findings(measured, values)
    largest = [
        mean_of(
            f"{case.name}, $d={d[-1]}$",
            values[case.name][-1],
            (0.0, math.inf),
            cosine,
            expected_error=error,
            allowance=cosine * d[-1] ** -0.5,
        )
        for case, cosine, error in sizes
    ]
    return Findings([*findings.quantities, *largest], findings.plot)


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
            f"Steps that see each batch of $n=2d$ samples twice learn ${in_latex(target)}$, "
            f"which has information exponent {exponent}. On fresh batches they learn nothing."
        ),
        source=sources.beyond(
            "arXiv 2402.03220",
            "reused batches of order $d$",
            "Batches are seen twice, and the limits of the effective process are computed.",
        ),
        regime=(
            f"The width $p$ is fixed, $n=2d$, four steps are taken with {activation}, and $d$ "
            "grows."
        ),
        rule=(
            "Let $c$ be the limit of the effective process. On batches seen twice, the mean "
            r"over neurons of $\|Pw_i\|/\|w_i\|$ has an exponent in $d$ above $-1/4$. It is "
            "that of $(c^2+r/d)^{1/2}$, and at the largest $d$ the mean is $c$. On fresh "
            "batches the exponent is below $-1/4$ and as predicted, $-1/2$. Targets and "
            "activations are those whose predicted limit is above 0.1. With relu it is 0.01 "
            "to 0.09, which cannot be told from 0 at these $d$."
        ),
        experiment=twice_against_once,
        setting=NETWORK | {"target": target, "activation": activation},
        # The cosine of a random direction is .03 at the smallest d.
        options={"least": 0.1},
        controls={
            "batches seen once": Changes(setting={"batches": "fresh"}),
            (
                r"$\mathrm{He}_3$ with softplus: the signal that the first step hands on is too "
                "small"
            ): Changes(setting={"target": "He3(x1)/sqrt(6)", "activation": "softplus"}),
            "a linear part is learned from fresh batches": Changes(
                setting={"target": f"x1 + {target}"}
            ),
        },
        quick={"d": (500, 2000, 8000), "runs": (128, 32, 36)},
        full={"d": (500, 4000, 32_000, 128_000), "runs": 24},
        tuned=one_at_a_time(setting={"step_size": ("2*p", "4*p")}),
    )


CLAIMS = (
    repeated("even-and-odd", BOTH, "softplus", 2),
    repeated("odd", "He3(x1)/sqrt(6)", "tanh", 3),
    repeated("pair", "x1*x2 + He2(x1)*x2", "softplus", 2),
    Claim(
        id="looking-ahead-odd",
        statement=(
            "Steps that look ahead take their gradient after a step of size $2p$ on the same "
            r"batch. On fresh batches of $n=2d$ samples they learn $\mathrm{He}_3(x_1)/\sqrt{6}$, "
            "which has information exponent 3. Plain steps learn nothing."
        ),
        source=sources.beyond(
            "arXiv 2405.15459",
            "abstract: data seen twice surpasses the information exponent",
            "Giant steps are taken on batches of order $d$, and the limits of the effective "
            "process are computed.",
        ),
        regime="The width $p$ is fixed, $n=2d$, four steps are taken with tanh, and $d$ grows.",
        rule=(
            "Let $c$ be the limit of the effective process. Looking ahead, the mean over neurons "
            r"of $|\cos(w_i,w^*)|$ has an exponent in $d$ above $-1/4$. It is that of "
            "$(c^2+1/d)^{1/2}$, and at the largest $d$ the mean is $c$. With plain steps the "
            "exponent is below $-1/4$ and as predicted, $-1/2$."
        ),
        experiment=twice_against_once,
        setting=NETWORK
        | {"target": "He3(x1)/sqrt(6)", "activation": "tanh"}
        | {"batches": "fresh", "lookahead": WAYS["lookahead"].twice},
        options={"least": 0.2, "field": "lookahead"},
        controls={
            "plain steps": Changes(setting={"lookahead": "none"}),
            "plain steps learn a linear part": Changes(setting={"target": "x1 + He3(x1)/sqrt(6)"}),
        },
        quick={"d": (500, 2000, 8000), "runs": (128, 32, 36)},
        full={"d": (500, 4000, 32_000, 128_000), "runs": 24},
        tuned=one_at_a_time(setting={"step_size": ("2*p", "4*p")}),
    ),
    Claim(
        id="single-samples-seen-twice",
        statement=(
            "Steps on single samples, each of which is seen twice, learn "
            r"$\mathrm{He}_3(x_1)$ in $50d$ steps. It has information exponent 3. Plain steps do "
            "not learn it in that number."
        ),
        source=sources.DATA_SEEN_TWICE,
        regime=(
            "One relu neuron starts orthogonal to the target. Each step is on one new sample, "
            "after a look ahead of size $0.1/d$ on it, as in the authors' code."
        ),
        rule=(
            r"After $50d$ steps $|\cos(w,w^*)|$ has an exponent in $d$ above $-1/4$ and as "
            "predicted, 0. With plain steps the exponent is below $-1/4$ and as predicted, $-1/2$."
        ),
        experiment=exponents,
        setting={
            "target": "He3(x1)",
            "activation": "relu",
            "n": 1,
            "p": 1,
            "steps": "50*d",
            "step_size": "0.01/d",
            "lookahead": "sample(0.1*p/d)",
            "start": "orthogonal",
            "start_overlaps": [[0.0]],
            "readout_start": "ones",
            "record": "log",
        },
        options={
            "measured": (
                learned("cosine, looking ahead", mean_alignment),
                not_learned("cosine, plain steps", mean_alignment, setting={"lookahead": "none"}),
            )
        },
        controls={
            "plain steps": Changes(setting={"lookahead": "none"}),
            "plain steps learn a linear part": Changes(setting={"target": "x1 + He3(x1)"}),
        },
        quick={"d": (128, 512, 2048), "runs": (128, 64, 48)},
        full={"d": (256, 1024, 8192), "runs": (256, 64, 64)},
        tuned=one_at_a_time(setting={"steps": ("25*d", "100*d")}),
    ),
    Claim(
        id="learning-rate-decides",
        statement=(
            "Batches seen twice teach more than fresh ones only at a large step size. At "
            r"step size $pd^{-\delta}$ the cosine is of order $d^{-2\delta}$. From "
            r"$\delta=1/4$ on it is that of a random direction."
        ),
        source=sources.beyond(
            sources.LEARNING_RATE.paper,
            sources.LEARNING_RATE.place,
            r"The exponents $-2\delta$ and the boundary $\delta=1/4$ are ours.",
        ),
        regime="The width $p$ is fixed, $n=2d$, two steps are taken on one batch, and $d$ grows.",
        rule=(
            r"A first step of relative size $\epsilon$ moves the preactivations of its "
            r"samples by $\epsilon\,ay$. The second step therefore sees "
            r"$\epsilon\,\mathbb{E}[y^2x]$, and its update is of order $\epsilon^2$. So the "
            r"exponent in $d$ of the mean cosine over neurons is $-2\delta$, and $-1/2$ from "
            r"$\delta=1/4$ on. For $\delta<1/4$ the exponent and the cosine at the largest "
            "$d$ are as the effective process predicts at these step sizes. The exponent is "
            r"not halfway to 0 or to $-1/2$. From $\delta=1/4$ on it is below $-1/4$ and as "
            "predicted."
        ),
        experiment=learning_rates,
        setting=NETWORK | {"target": BOTH, "activation": "softplus", "p": 16, "steps": 2},
        options={"falling": 1.0},
        controls={
            "batches seen once": Changes(setting={"batches": "fresh"}),
            "steps of size $p$ at every $d$": Changes(options={"falling": 0.0}),
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
