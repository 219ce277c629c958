"""Claims about the training objective as spikes grow without bound (arXiv 2310.07891).

The paper's L_l are those of a step W0 + eta c_1 a beta^T with beta = X^T y/n.  The step of a
network with an output of order one has another beta, and the rest of its gradient lengthens the
rows.  Each of these causes is measured by itself: the objective of the actual step against that of
a step without the cause, on the same samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.language.latex import in_latex
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import Runs, at_sizes, beside
from giantstep.papers.claims.quantity import Quantity, exact, mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time
from giantstep.papers.claims.wide import WIDE, objective
from giantstep.prediction.wide.losses import losses
from giantstep.prediction.wide.strong_spikes import limiting_losses
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.simulation.stepped import SteppedRun, stepped_runs

# -- the limits -----------------------------------------------------------------------------------


def step_sizes(windows: Sequence[float], multiple: float) -> list[str | float]:
    """No step, then eta = multiple n^alpha for the alpha of every window."""
    return [0.0, *(f"{multiple}*n^{alpha:g}" for alpha in windows)]


def limits(
    setting: Fields,
    *,
    windows: Sequence[float],
    residuals: Sequence[str],
    multiple: float,
    told: Fields,
    swapped: bool,
    lengthened: bool,
    drawn: Sequence[int],
    d: Sequence[int],
    runs: int,
) -> Findings:
    """Objectives without a step and with a step in each of the ``windows``, by ``residuals``.

    Window l has l spikes.  Measured at the largest d the objectives are those of the closed
    system, and the closed system at the last of the dimensions ``drawn`` is at its limit L_l.  The
    closed system is told the setting with the changes ``told``; L_l is that of the same residual,
    or where ``swapped`` of the other, with or without ``lengthened`` rows.
    """
    quantities: list[Quantity] = []
    curves: list[Curve] = []
    levels: dict[str, float] = {}
    sizes = step_sizes(windows, multiple)
    for residual in residuals:
        settings = at_sizes({**setting, "residual": residual}, d, runs)
        measured = [measured_objectives(each, sizes) for each in settings]
        theory = settings[-1].vary(**told)
        dimensions = (d[-1], *drawn)
        closed = np.array([[_closed(theory, x, size) for x in dimensions] for size in sizes])
        other = {"labels": "full", "full": "labels"}[residual] if swapped else residual
        limit = limiting_losses(
            theory.vary(residual=other), count=len(windows), lengthened=lengthened
        ).objectives
        quantities += _over_the_one_before(theory, residual, measured[-1], closed[:, 0])
        quantities += _at_the_limit(residual, drawn[-1], closed[:, -1], limit)
        for order, line in enumerate(closed):
            label, values = f"{order} spikes, {residual}", [each[:, order] for each in measured]
            curves.append(Curve(label, [4.0 * x for x in dimensions], line.tolist(), theory=True))
            curves.append(mean_curve(label, [4 * x for x in d], values))
            levels[f"$L_{order}$, {residual}"] = limit[order]
    plot = Plot("samples $n$", "training objective", curves, "log", levels=levels)
    return Findings(quantities, plot)


def _over_the_one_before(
    theory: Setting,
    residual: str,
    measured: Float[np.ndarray, "runs k"],
    closed: Float[np.ndarray, " k"],
) -> Iterator[Quantity]:
    """Each objective over the one before it, the first over the labels' mean square.

    The labels of a run move all of them alike, by n^-1/2; their ratios hardly.
    """
    before = np.column_stack([measured[:, -1], measured[:, :-2]])
    power = theory.target.series.square + theory.noise**2
    for order in range(len(closed)):
        expected = float(closed[order] / (power if order == 0 else closed[order - 1]))
        half = 0.5 * (1.0 - expected)
        yield mean_of(
            f"{residual}: objective with {order} spikes over that before",
            measured[:, order] / before[:, order],
            (expected - half, expected + half),
            expected,
            # What the theory of a limit leaves out, and the mean of a ratio.
            allowance=2.0 / theory.d,
        )


def _at_the_limit(
    residual: str, d: int, closed: Float[np.ndarray, " k"], limit: Sequence[float]
) -> Iterator[Quantity]:
    """The closed system at a large d against L_1, L_2, ..

    It is there within 1/20 of a spike's gain.  The formulas that are told apart differ by a fifth:
    2/3 or 2/(2 + (1 + Delta)^2) for the second spike, Delta = 0.27, and cos^2 = 2/3 or 0.55 for the
    first.
    """
    for order in range(1, len(closed)):
        reach = 0.05 * (limit[order - 1] - limit[order])
        name = f"{residual}: closed system with {order} spikes, $n={in_latex(f'{4 * d:.0e}')}$"
        region = (limit[order] - reach, limit[order] + reach)
        yield exact(name, float(closed[order]), region, limit[order], allowance=reach)


def _closed(setting: Setting, d: int, size: str | float) -> float:
    """The objective of the closed system at another d with its proportions, and another step."""
    grown = {name: getattr(setting, name) // setting.d * d for name in ("n", "p", "readout_n")}
    return losses(setting.vary(d=d, **grown, step_size=size)).objective


def measured_objectives(
    setting: Setting, sizes: Sequence[str | float]
) -> Float[np.ndarray, "runs k"]:
    """Objectives after steps of these sizes, and last the mean square of the labels.

    One gradient a run, steps of all sizes along it.
    """
    numbers = [setting.vary(step_size=size).step_size[0] for size in sizes]
    rows = []
    for step in stepped_runs(setting.vary(step_size=1.0), range(setting.runs)):
        values = [objective(step, step.resized(size).weights) for size in numbers]
        rows.append([*values, float(np.mean(step.training.labels**2))])
    return np.array(rows)


# -- what the limits leave out --------------------------------------------------------------------

Weights = Callable[[float], Float[np.ndarray, "p d"]]
"""The rows after a step of a given size."""

Pair = tuple[SteppedRun, Weights, Weights]
"""A run, its rows after the actual step, and after a step without a cause."""


def without_output(setting: Setting) -> Iterator[Pair]:
    """Each run with its step, and with that of the labels alone on the same batch."""
    labels, runs = setting.vary(residual="labels"), range(setting.runs)
    for step, other in zip(stepped_runs(setting, runs), stepped_runs(labels, runs), strict=True):
        yield step, _along(step), _along(other)


def rank_one(setting: Setting) -> Iterator[Pair]:
    """Each run with its step, and with eta c_1 a beta^T alone; beta is that of the step."""
    slope = setting.activation.moments.slope
    for step in stepped_runs(setting, range(setting.runs)):
        spike = setting.scale * slope * np.outer(step.readout, step.spike)
        yield step, _along(step), lambda size, s=step, g=spike: s.start + size * g  # type: ignore[misc]


def _along(step: SteppedRun) -> Weights:
    return lambda size: step.resized(size).weights


def without_output_predicted(
    setting: Setting, sizes: Sequence[float]
) -> Iterator[Float[np.ndarray, " k"]]:
    """Objectives of both steps by the closed system at this n."""
    for residual in ("full", "labels"):
        varied = setting.vary(residual=residual)
        yield np.array([losses(varied.vary(step_size=size)).objective for size in sizes])


def rank_one_predicted(
    setting: Setting, sizes: Sequence[float]
) -> Iterator[Float[np.ndarray, " k"]]:
    """Objectives of both steps in the limit, with longer rows and without."""
    for lengthened in (True, False):
        yield np.array(limiting_losses(setting, lengthened=lengthened).objectives)


CAUSES: Mapping[str, tuple[Callable[..., Iterator[Pair]], Callable[..., Iterator[Any]]]] = {
    "own output": (without_output, without_output_predicted),
    "longer rows": (rank_one, rank_one_predicted),
}
"""Runs and predictions with each cause and without it."""


def left_out(
    setting: Fields,
    *,
    cause: str,
    scales: Sequence[str],
    multiple: float,
    windows: Sequence[float],
    d: Sequence[int],
    runs: Runs,
) -> Findings:
    """Objective of the step less that of one without the ``cause``, in the gain of the last spike.

    The gain is that of the step without the cause.  For each of the output ``scales``; the step
    size and the penalty are those of output scale 1 in the same units.
    """
    quantities: list[Quantity] = []
    curves: list[Curve] = []
    for scale in scales:
        settings = at_scale(setting, scale, d, runs)
        sizes = [
            [0.0, *(multiple * each.n**alpha / each.scale for alpha in windows)]
            for each in settings
        ]
        pairs = list(zip(settings, sizes, strict=True))
        measured = [measured_shares(each, cause, size) for each, size in pairs]
        predicted = np.array([_shares(*CAUSES[cause][1](each, size)) for each, size in pairs])
        for order, _ in enumerate(windows, 1):
            label, column = f"{order} spikes, output scale ${in_latex(scale)}$", order - 1
            name = f"{cause}, {label}: share of the gain"
            last, region = measured[-1][:, column], (-0.05, 0.05)
            # An output of order p^-1/2 moves the objective by as much.
            quantities.append(mean_of(name, last, region, 0.0, allowance=d[-1] ** -0.5))
            n, values = [float(each.n) for each in settings], [each[:, column] for each in measured]
            curves += beside(label, n, values, predicted[:, column].tolist())
    return Findings(quantities, Plot("samples $n$", "share of the gain", curves, "log"))


def at_scale(setting: Fields, scale: str, d: Sequence[int], runs: Runs) -> list[Setting]:
    """Settings of another output scale, with a penalty in the same units."""
    fields = {**setting, "output_scale": scale, "step_size": 1.0}
    sized = at_sizes(fields, d, runs)
    return [each.vary(ridge=setting["ridge"] * each.scale**2) for each in sized]


def measured_shares(
    setting: Setting, cause: str, sizes: Sequence[float]
) -> Float[np.ndarray, "runs k"]:
    """Objective with a cause less that without it, over the mean gains of the spikes."""
    objectives = np.array(
        [
            [[objective(step, weights(size)) for size in sizes] for weights in both]
            for step, *both in CAUSES[cause][0](setting)
        ]
    )
    return _shares(objectives[:, 0], objectives[:, 1])


def _shares(
    actual: Float[np.ndarray, "... k"], other: Float[np.ndarray, "... k"]
) -> Float[np.ndarray, "... m"]:
    mean = other.reshape(-1, other.shape[-1]).mean(axis=0)
    return (actual - other)[..., 1:] / -np.diff(mean)


POLYNOMIAL, SMOOTH = "He1 + He2/2", centred("gelu(z)")
# No test error is asked for; a stepped run draws test samples all the same.
STEPPED = WIDE | {"readout_n": "n", "test_n": 10}


def cause_claim(
    name: str, cause: str, setting: Fields, *, multiple: float, scales: Sequence[str], **words: Any
) -> Claim:
    """What a cause adds to the objective at 1/8 and 5/16, in the windows of one and two spikes."""
    return Claim(
        id=name,
        source=sources.LIMITING_LOSSES,
        rule=(
            "The cause is removed from a second step on the same samples. The difference of "
            "the two objectives is within $1/20$ of the gain of the last spike."
        ),
        experiment=left_out,
        setting={**STEPPED, **setting},
        options={
            "cause": cause,
            "scales": scales,
            "multiple": multiple,
            "windows": (0.125, 0.3125),
        },
        controls={},
        corrected="limiting-losses",
        **words,
    )


def limit_claim(
    name: str, setting: Fields, *, windows: Sequence[float], residuals: Sequence[str], **words: Any
) -> Claim:
    """The limits of the objectives of n^alpha for the alpha of every window."""
    return Claim(
        id=name,
        rule=(
            "The ratio of each measured objective to the one with one spike fewer is that of "
            r"the closed system. The limit is tested by theory alone. At $n=4\cdot10^{15}$ "
            r"the closed system gives $L_\ell$ within $1/20$ of the gain of the last spike."
        ),
        experiment=limits,
        setting={**STEPPED, **setting},
        options={
            "windows": windows,
            "residuals": residuals,
            "multiple": 1.0,
            "told": {},
            "swapped": False,
            "lengthened": True,
            # At the last one, held against the limit, 1 % of n^-1/8 is left.
            "drawn": (10**4, 10**7, 10**11, 10**15),
        },
        controls={
            "noise that theory is not told of": Changes(
                setting={"noise": 1.0}, options={"told": {"noise": 0.0}}
            ),
            "rows that keep their length in the formula": Changes(options={"lengthened": False}),
            "the formula of the other residual": Changes(options={"swapped": True}),
            "a penalty that theory is not told of": Changes(
                setting={"ridge": 1.0}, options={"told": {"ridge": 0.1}}
            ),
        },
        full={"d": (125, 350, 1000), "runs": 8},
        tuned=one_at_a_time(options={"multiple": (0.5, 2.0)}),
        **words,
    )


REGIME = r"$n$, $d$ and $p$ grow in proportion, and $\eta=n^\alpha$"

CLAIMS = (
    cause_claim(
        "limiting-losses-of-labels",
        "own output",
        {"activation": POLYNOMIAL, "residual": "full"},
        multiple=1.5,
        scales=("1", "1/sqrt(p)"),
        statement=(
            "With one spike and with two, the training objective tends to $L_1$ and $L_2$. "
            r"These are the limits for a step along $\beta=X^{\top}y/n$."
        ),
        regime=(
            r"$n=4d$, $p=d$, $\eta=1.5n^{1/8}$ and $1.5n^{5/16}$, and the activation is "
            r"$z+\mathrm{He}_2(z)/2$. With output scale 1 the network has an output of order "
            r"one at its start. With output scale $1/\sqrt{p}$ it is small."
        ),
        quick={"d": (60, 240), "runs": (24, 24)},
        full={"d": (80, 240, 640), "runs": (48, 32, 16)},
        tuned=one_at_a_time(setting={"activation": (SMOOTH,)}, options={"multiple": (0.75, 3.0)}),
        measured_instead=(
            r"With output scale $1/\sqrt{p}$ it does. With output scale 1 the objective at "
            "$n=960$ is higher. The difference is 0.28 of the gain of the first spike, and "
            "1.3 of the gain of the second. The closed system predicts 0.31 and 1.26 there, "
            r"and 0.48 and 1.45 in the limit. The output of the network turns $\beta$ away "
            "from the target."
        ),
    ),
    cause_claim(
        "limiting-losses-of-rank-one",
        "longer rows",
        {"activation": SMOOTH, "residual": "labels"},
        multiple=3.0,
        scales=("1",),
        statement=(
            "With one spike and with two, the training objective tends to $L_1$ and $L_2$. "
            "These are the limits for a step that is exactly of rank one, "
            r"$\eta\,c_1a\beta^{\top}$. The second spike then fits $2/3$ of the degree-2 part "
            r"that $\beta$ sees."
        ),
        regime=(
            r"$n=4d$, $p=d$, $\eta=3n^{1/8}$ and $3n^{5/16}$, and the activation is gelu. The "
            "step uses the labels alone, so the output of the network plays no part in it."
        ),
        quick={"d": (60, 240), "runs": (16, 64)},
        full={"d": (80, 240, 640), "runs": (64, 48, 24)},
        tuned=one_at_a_time(
            setting={"activation": (POLYNOMIAL,)}, options={"multiple": (1.5, 6.0)}
        ),
        measured_instead=(
            "With one spike it does. With two spikes the objective at $n=960$ is higher by "
            "0.16 of the gain of the second spike. In the limit that theory gives it is "
            "higher by 0.17. The rest of the gradient lengthens the rows. The second spike "
            r"is therefore $\kappa^2+\Delta$ instead of $\kappa^2$, with $\Delta=0.27$."
        ),
    ),
    limit_claim(
        "limiting-losses",
        {"activation": SMOOTH},
        # gelu(z) - z/2 is even, so that c_3 = 0: two spikes from 1/4 up to the fourth at 3/8.
        windows=(0.125, 0.3125),
        residuals=("labels", "full"),
        statement=(
            r"With $\ell=1$ or 2 spikes the training objective tends to $L_\ell$. In this "
            r"limit $\beta=X^{\top}r/n$ uses the actual residual, and the second spike is "
            r"$\kappa^2+\Delta$. Here $\Delta$ is the squared length that rows gain from the "
            r"rest of the gradient, divided by what they gain along $\beta$."
        ),
        source=sources.beyond(
            sources.ONE_STEP,
            "Theorems 4.4 and 4.5",
            (
                "The gradient is that of the network with its own output, and the step lengthens "
                "the rows."
            ),
        ),
        regime=(
            f"{REGIME}. The residual is $y$, or $y$ minus the network's output. The "
            r"activation is gelu, which has $c_3=0$, and $\alpha=1/8$ and $5/16$."
        ),
        quick={"d": (60, 200), "runs": 20},
    ),
    limit_claim(
        "limiting-losses-of-three-spikes",
        {
            "target": "x1 + He2(x1)/sqrt(2) + He3(x1)/sqrt(6)",
            "activation": "He1 + He2/2 + He3/6",
        },
        windows=(0.125, 0.275, 0.354),
        residuals=("labels",),
        statement=(
            "With three spikes the training objective tends to "
            r"$L_3=L_2-\lambda\,m_1f_3^2\cos^6\theta$. Here $f_3^2$ is the squared norm of "
            r"the target's part of degree 3, and $\theta$ is the angle between $\beta$ and "
            "the target. The third spike fits a cubic part, whatever the length of the rows."
        ),
        source=sources.beyond(
            sources.ONE_STEP,
            "Theorems 4.4 and 4.5, which are for one spike and for two",
            "There are three spikes.",
        ),
        regime=(
            rf"{REGIME}. The residual is $y$ and $\alpha=0.125$, 0.275 and 0.354. The "
            rf"activation is $\mathrm{{He}}_1+\mathrm{{He}}_2/2+\mathrm{{He}}_3/6$. The target "
            rf"is $z+\mathrm{{He}}_2(z)/\sqrt{{2}}+\mathrm{{He}}_3(z)/\sqrt{{6}}$."
        ),
        quick={"d": (60, 200), "runs": 40},
    ),
)
