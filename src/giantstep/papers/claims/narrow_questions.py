"""Questions of readers about one narrow network: other targets, activations, inputs and labels.

They are asked of arXiv 2305.18270 and arXiv 2310.07891.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.analysis.analyze import analyze
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    FIRST_LAYER,
    LINE,
    Runs,
    at_sizes,
    beside,
    exponents,
    inputs_of,
    learned,
    neurons,
    not_learned,
    over_sizes,
    scaling_curve,
    strongest,
)
from giantstep.papers.claims.quantity import LEARNED, Quantity, drift, exact, exponent_of, mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.records.plot import Curve, Plot
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

# -- targets and activations -----------------------------------------------------------------------


def arrival_times(
    cosines: Float[np.ndarray, "runs t"], noticed: float
) -> Float[np.ndarray, " runs"]:
    """Number of steps until a cosine is ``noticed``, between two steps by interpolation.

    ``cosines`` are those after 0, 1, .. steps; a run that does not get there has one step more than
    it takes.
    """
    times = []
    for row in cosines:
        reached = np.flatnonzero(row >= noticed)
        if len(reached) == 0:
            times.append(float(len(row)))
            continue
        step = max(int(reached[0]), 1)
        before, after = row[step - 1], row[step]
        times.append(step - (after - noticed) / (after - before))
    return np.array(times)


def weaker_links(
    setting: Fields,
    *,
    told: str,
    noticed: float,
    weights: Sequence[float],
    steps: int,
    d: int,
    runs: int,
) -> Findings:
    """Number of steps until w2 is learned for weaker and weaker linear parts, and as predicted.

    ``{weight}`` in the target stands for the weight of the linear part; the prediction is that of
    the target ``told``.  Overlaps of the start are of order d^(-1/2) beside the weight and change
    the time by as much of a step: the allowance.
    """

    def at(target: str, weight: float) -> Setting:
        fields = {"target": target.format(weight=weight), "steps": steps}
        return at_sizes({**FIRST_LAYER, **setting, **fields}, [d], runs)[0]

    def times(trajectory: Trajectory) -> Float[np.ndarray, " runs"]:
        """By the root mean square cosine of the neurons with w2 after every step."""
        return arrival_times(np.sqrt(np.mean(trajectory.cosine[..., 1] ** 2, axis=2)), noticed)

    quantities, measured, predicted = [], [], []
    for weight in weights:
        measured.append(times(simulate(at(setting["target"], weight))))
        theory = predict(at(told, weight), theory="narrow", deviations=False)
        limit = float(times(theory)[0])
        predicted.append(limit)
        quantities.append(
            mean_of(
                f"steps to learn $w_2$, weight {weight:g}",
                measured[-1],
                (limit - 0.5, limit + 0.5),
                limit,
                allowance=d**-0.5 / weight,
            )
        )
    inverse = [1.0 / weight for weight in weights]
    curves = beside("simulation", inverse, measured, predicted, theory="theory")
    return Findings(
        quantities, Plot("1 over the weight of the linear part", "steps", curves, "log")
    )


def effective_leaps(
    setting: Fields, *, targets: Sequence[str], added: str, d: Sequence[int], runs: Runs
) -> Findings:
    """Each of the targets is learned by one step at n of order d just if its leap is one.

    The labels are those of the target and of what ``added`` adds to it.
    """
    measured = []
    for target in targets:
        analysis = analyze(target, label_degree=1)
        kind = learned if analysis.leap_index == 1 else not_learned
        everything = strongest(np.eye(analysis.target.r).tolist(), 1)
        measured.append(kind(target, everything, setting={"target": f"{target}{added}"}))
    return exponents(setting, measured=measured, d=d, runs=runs)


def each_learned(
    setting: Fields,
    *,
    over: str,
    values: Sequence[Any],
    drifts: float,
    d: Sequence[int],
    runs: Runs,
) -> Findings:
    """One step learns w1 whatever the value of the field ``over``.

    ``drifts`` is the factor of the exponents' drift.
    """
    measured = [
        # A single value may be another in a control: its quantity keeps the name.
        learned(
            str(value) if len(values) > 1 else "cosine",
            neurons(LINE, 1),
            setting={over: value},
            factor=drifts,
        )
        for value in values
    ]
    return exponents(setting, measured=measured, d=d, runs=runs, label="cosine with $w_1$")


# -- inputs ----------------------------------------------------------------------------------------


def predicted_cosine(setting: Fields, d: int) -> float:
    """The median cosine of the narrow theory for Gaussian inputs after one step."""
    gaussian = Setting(**{**FIRST_LAYER, **setting, "d": d, "inputs": "gaussian"})
    return float(np.mean(neurons(LINE, 1)(predict(gaussian, theory="narrow"))))


def as_predicted(
    name: str, values: Float[np.ndarray, " runs"], predicted: float, d: int
) -> Quantity:
    """A cosine and its prediction, beside the d^(-1/2) of any random direction.

    The region is half the prediction and as much above it: what is neither lost nor doubled.
    """
    region = (0.5 * predicted, 1.5 * predicted)
    return mean_of(name, values, region, predicted, allowance=predicted * d**-0.5)


def other_laws(
    setting: Fields, *, laws: Sequence[str], untold: Fields, d: Sequence[int], runs: int
) -> Findings:
    """Cosines with v* for other inputs over those predicted for Gaussian ones.

    The simulation has the fields ``untold``, which the prediction does not know.
    """
    predicted = [predicted_cosine(setting, size) for size in d]
    curves = [Curve("theory, gaussian", list(d), predicted, theory=True)]
    quantities = []
    for law in laws:
        taken = {**setting, **untold, "inputs": law}
        values = over_sizes(taken, d, runs, {law: neurons(LINE, 1)})[law]
        quantities.append(as_predicted(f"cosine, {law}", values[-1], predicted[-1], d[-1]))
        curves.append(scaling_curve(law, d, values))
    return Findings(quantities, Plot("dimension $d$", "cosine with $v^*$", curves, "log"))


def photograph(
    setting: Fields,
    *,
    law: str,
    drifts: float,
    edges: Sequence[int],
    rows: int,
    runs: int,
) -> Findings:
    """Cosine with v* on patches of a photograph against their number of pixels d = edge^2.

    ``law`` is whitened({patches}) or data({patches}), ``drifts`` the factor of the drift.
    """
    d = [edge * edge for edge in edges]
    values = []
    for size in d:
        with inputs_of(law, size, rows) as inputs:
            taken = {**setting, "inputs": inputs}
            values += over_sizes(taken, [size], runs, {law: neurons(LINE, 1)})[law]
    # The theory is for p far below d: its limit, the same at every d.
    limit = predicted_cosine(setting, 1000)
    curves = [
        Curve("theory, gaussian", d, [limit] * len(d), theory=True),
        scaling_curve(f"photograph, {law.partition('(')[0]}", d, values),
    ]
    quantity = exponent_of(
        "exponent in the number of pixels", d, values, LEARNED, 0.0, allowance=drift(d, drifts)
    )
    return Findings([quantity], Plot("pixels $d$", "cosine with $v^*$", curves, "log", "log"))


# -- labels ----------------------------------------------------------------------------------------


def spoiled_labels(
    setting: Fields,
    *,
    labels: Sequence[Mapping[str, float]],
    told: bool,
    d: Sequence[int],
    runs: int,
) -> Findings:
    """Noisy and flipped labels: the direction is learned, overlaps and norms as predicted.

    ``labels`` have the fields of each kind.  With ``told`` false the prediction is that of clean
    labels.
    """
    statistic = neurons(LINE, 1)
    quantities, curves = [], []
    for spoiled in labels:
        name = ", ".join(f"{key} {value:g}" for key, value in spoiled.items())
        settings = at_sizes({**FIRST_LAYER, **setting, **spoiled}, d, runs)
        simulated, last = [simulate(each) for each in settings], settings[-1]
        expected = last if told else last.vary(**dict.fromkeys(spoiled, 0.0))
        predicted = replace(predict(expected), setting=last)
        values = [statistic(trajectory) for trajectory in simulated]
        quantities += [
            exponent_of(f"exponent, {name}", d, values, LEARNED, 0.0, allowance=drift(d)),
            exact(f"p-value, {name}", compare(predicted, simulated[-1]).p_value, (1e-3, 1.0)),
        ]
        limit = float(statistic(predicted)[0])
        curves += [
            Curve(f"theory, {name}", list(d), [limit] * len(d), theory=True),
            scaling_curve(name, d, values),
        ]
    return Findings(quantities, Plot("dimension $d$", "cosine with $w_1$", curves, "log"))


REGIME = "The width $p$ is fixed, one step is taken, and $d$ grows"
ONE_STEP = {"target": "x1 + He2(x1)/2", "activation": "relu", "p": 4, "steps": 1}
WEAK_LINKS = "{weight}*x1 + x1*x2"

CLAIMS = (
    Claim(
        id="weaker-links",
        statement=(
            r"The target is $\epsilon\,x_1+x_1x_2$. The weaker its linear part, the more "
            "steps it takes to learn $w_2$, and theory predicts how many."
        ),
        source=sources.question(sources.FEW_STEPS, "how a staircase degrades as its links weaken"),
        regime=("$n=16d$, and one pair of relu neurons takes steps of size $2p$ on fresh batches."),
        rule=(
            "Counted are the steps until the root mean square cosine with $w_2$ is 0.4. At "
            r"every $\epsilon$ their number is as theory predicts, up to the share "
            r"$d^{-1/2}/\epsilon$ that the start adds. It is also within half a step of the "
            "prediction."
        ),
        experiment=weaker_links,
        setting={
            "target": WEAK_LINKS,
            "activation": "relu",
            "n": "16d",
            "p": 2,
            "step_size": "2p",
        },
        options={"told": WEAK_LINKS, "noticed": 0.4},
        controls={
            r"labels with $\mathrm{He}_3(x_2)$ for the product: $w_2$ is never linear": Changes(
                setting={"target": "{weight}*x1 + He3(x2)"}
            ),
            "labels with half the linear part": Changes(
                setting={"target": "{weight}*x1/2 + x1*x2"}
            ),
        },
        quick={"weights": (1.0, 0.3, 0.1), "steps": 7, "d": 30_000, "runs": 8},
        full={"weights": (1.0, 0.3, 0.1, 0.03), "steps": 10, "d": 200_000, "runs": 8},
    ),
    Claim(
        id="effective-leap",
        statement=(
            "A target that is not a polynomial is learned at $n$ of order $d$ exactly if its "
            "leap is one."
        ),
        source=sources.question(sources.FEW_STEPS, "targets that are not polynomials"),
        regime=f"{REGIME}. $n=8d$.",
        rule=(
            "The root mean square cosine of the neurons is taken with the direction of $V^*$ "
            "that they have learned best. Where the expansion has a linear part, its "
            "exponent in $d$ is above $-1/4$ and as predicted, 0. Where it has none, the "
            "exponent is below $-1/4$ and as predicted, $-1/2$."
        ),
        experiment=effective_leaps,
        # The start is a share of order d^-1/2 of the rows, which ten giant steps make small.
        setting=ONE_STEP | {"n": "8d", "step_size": "10*giant"},
        options={
            "targets": (
                "tanh(x1)",
                "sign(x1)",
                "tanh(x1 + He3(x2))",
                "abs(x1)",
                "cos(x1)",
                "sign(x1*x2)",
            ),
            "added": "",
        },
        controls={
            "an even activation cannot pick up a linear part": Changes(
                setting={"activation": "abs(z)"}
            ),
            "labels with a linear part that the expansion does not have": Changes(
                options={"added": " + x1"}
            ),
        },
        quick={"d": (500, 2500, 12_000), "runs": (64, 24, 48)},
        full={"d": (300, 3000, 30_000, 300_000), "runs": 16},
    ),
    Claim(
        id="other-activations",
        statement="One step learns the line of $v^*$ with each of the usual activations.",
        source=sources.question(
            sources.ONE_STEP, "other activations, asked here of a narrow network"
        ),
        regime=f"{REGIME}. $n=8d$.",
        rule=(
            "For every activation, the exponent in $d$ of the median cosine is above $-1/4$. "
            "It is as predicted, 0."
        ),
        experiment=each_learned,
        setting={"target": "x1 + He2(x1)/2", "n": "8d", "p": 8, "steps": 1},
        options={
            "over": "activation",
            "values": (
                *("relu", "leaky_relu", "gelu", "softplus"),
                *("tanh", "erf", "sigmoid", "silu"),
            ),
            "drifts": 1.0,
        },
        controls={
            "without a step the rows have learned nothing": Changes(setting={"step_size": 0.0})
        },
        quick={"d": (200, 1500, 12_000), "runs": 10},
        full={"d": (300, 3000, 30_000, 300_000), "runs": 16},
    ),
    Claim(
        id="other-inputs",
        statement=(
            "From inputs with identity covariance one step learns the direction as it does from "
            "Gaussian ones."
        ),
        source=sources.question(
            sources.FEW_STEPS,
            "inputs that are not Gaussian",
            "Inputs have other laws with identity covariance.",
        ),
        regime=(
            "$n=16d$, and one step is taken. Inputs are random signs, uniform, Student's $t$ "
            "or a mixture of Gaussians."
        ),
        rule=(
            "For every law, the cosine with $v^*$ is as predicted for Gaussian inputs, up to "
            "a share $d^{-1/2}$."
        ),
        experiment=other_laws,
        setting=ONE_STEP | {"n": "16d", "step_size": "4*p"},
        options={"laws": ("rademacher", "uniform", "student(5)", "mixture(0.8)"), "untold": {}},
        controls={
            (
                r"along an axis, $\mathrm{He}_3(x_1)$ has a linear part that depends on the law "
                "of one input"
            ): (Changes(setting={"target": "He3(x1)", "frame": "axes"})),
            "noise in the labels that the prediction does not know": Changes(
                options={"untold": {"noise": 6.0}}
            ),
        },
        quick={"d": (160,), "runs": 10},
        full={"d": (125, 250, 500), "runs": 24},
    ),
    Claim(
        id="correlated-inputs",
        statement="With covariance eigenvalues $i^{-1/2}$ one step still learns $v^*$.",
        source=sources.question(
            sources.FEW_STEPS,
            "inputs that are not Gaussian",
            "The covariance is not the identity.",
        ),
        regime="$n=16d$, one step is taken, and the inputs' covariance has a power-law spectrum.",
        rule=(
            "The exponent in $d$ of the median cosine with $v^*$ is above $-1/4$. It is as "
            "predicted, 0."
        ),
        experiment=each_learned,
        setting=ONE_STEP | {"n": "16d", "step_size": "4*p"},
        options={"over": "inputs", "values": ("correlated(0.5)",), "drifts": 1.0},
        controls={
            (
                r"a few eigenvalues hold all the variance: $\Sigma\,v^*$ lies along them, "
                "whatever $v^*$ is"
            ): Changes(options={"values": ("correlated(3)",)})
        },
        quick={"d": (20, 80, 320), "runs": 32},
        full={"d": (20, 60, 180, 540), "runs": 80},
        tuned=one_at_a_time(options={"drifts": (0.5, 2.0)}),
    ),
    Claim(
        id="photograph-whitened",
        statement=(
            "On whitened patches of a photograph one step learns $v^*$. On raw patches it does not."
        ),
        source=sources.question(
            sources.FEW_STEPS, "real data", "Inputs are patches of a photograph."
        ),
        regime=(
            r"$n=4d$, one step is taken, and inputs are patches of $4\times4$ to $16\times16$ "
            "pixels."
        ),
        rule=(
            "The exponent of the median cosine with $v^*$ in the number of pixels is above "
            "$-1/4$. It is as predicted, 0."
        ),
        experiment=photograph,
        setting=ONE_STEP | {"target": "tanh(x1)", "n": "4d", "step_size": "8*p"},
        options={"law": "whitened({patches})", "drifts": 1.0},
        controls={
            (
                r"raw patches vary mostly in brightness: $\Sigma\,v^*$ is that direction, "
                "whatever $v^*$ is"
            ): (Changes(options={"law": "data({patches})"}))
        },
        quick={"edges": (4, 8, 16), "rows": 5000, "runs": 120},
        full={"edges": (4, 6, 8, 12, 16, 20), "rows": 40_000, "runs": 100},
        tuned=one_at_a_time(options={"drifts": (0.5, 2.0)}),
    ),
    Claim(
        id="spoiled-labels",
        statement=(
            "Label noise and flipped labels weaken the step as predicted, and do not stop it."
        ),
        source=sources.question(
            sources.ONE_STEP, "noise and corruption of labels, asked here of a narrow network"
        ),
        regime=f"{REGIME}. $n=8d$.",
        rule=(
            "The exponent in $d$ of the median cosine is above $-1/4$, and as predicted, 0. "
            "Overlaps and norms at the largest $d$ are as predicted (Bonferroni p-value at "
            "least 0.001)."
        ),
        experiment=spoiled_labels,
        setting=ONE_STEP | {"n": "8d"},
        options={
            "labels": (
                {"noise": 1.0},
                {"noise": 3.0},
                {"corruption": 0.1},
                {"corruption": 0.3},
            ),
            "told": True,
        },
        controls={
            "without a linear part there is nothing to learn": Changes(
                setting={"target": "He2(x1)/2"}
            ),
            "a prediction that takes the labels to be clean": Changes(options={"told": False}),
        },
        quick={"d": (200, 1500, 12_000), "runs": 12},
        full={"d": (300, 3000, 30_000, 300_000), "runs": 16},
    ),
)
