"""Claims about what the trained readout can and cannot reach (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.analysis.analyze import analyze
from giantstep.errors import InputError, NoTheoryError
from giantstep.papers.claims import sources
from giantstep.papers.claims.quantity import (
    Quantity,
    Region,
    floor_from_both_sides,
    mean_of,
)
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.simulation.simulate import simulate

Errors = Sequence[Float[np.ndarray, " runs"]]
"""Test errors of the runs, at growing sizes."""

ANYWHERE: Region = (-math.inf, math.inf)
"""Of a number that is judged by its prediction alone."""


def last_errors(setting: Fields, **changes: Any) -> Float[np.ndarray, " runs"]:
    """Test error of the readout after the last step, one a run."""
    errors = simulate(Setting(**{**setting, **changes})).test_error
    if errors is None:
        raise InputError("readout_n must be positive for test errors, got 0")
    return errors[:, -1]


def predicted_error(setting: Fields, **changes: Any) -> float | None:
    """The limiting test error after the last step, None where no theory covers the setting."""
    try:
        errors = predict(Setting(**{**setting, **changes})).test_error
    except NoTheoryError:
        return None
    return None if errors is None else float(errors[:, -1].mean())


def learned_floor(target: str, steps: int, degree: int) -> float:
    """|| P_{U, > degree} f ||^2 for U what ``steps`` giant steps at n of order d learn."""
    # Powers of the label matter for reused batches only.
    return analyze(target, label_degree=1).floors[steps].by_degree[degree]


def leak(p: int, d: int, degree: int) -> float:
    """p features span at most that share of the monomials of the degree in d inputs."""
    return p / math.comb(d + degree - 1, degree)


def excess_as_predicted(
    name: str,
    errors: Float[np.ndarray, " runs"],
    floor: float,
    predicted: float,
    *,
    allowance: float,
    region: Region = ANYWHERE,
) -> Quantity:
    """(error - floor)/floor against its prediction."""
    return mean_of(name, errors / floor - 1.0, region, predicted / floor - 1.0, allowance=allowance)


def excesses_as_predicted(
    names: Sequence[str],
    errors: Errors,
    floor: float,
    predicted: Sequence[float | None],
    leaks: Sequence[float],
) -> list[Quantity]:
    """The excess at every size that has a prediction, which may miss the share that leaks."""
    return [
        excess_as_predicted(name, values, floor, limit, allowance=share)
        for name, values, limit, share in zip(names, errors, predicted, leaks, strict=True)
        if limit is not None
    ]


def error_plot(
    x_label: str,
    x: Sequence[float],
    errors: Errors,
    levels: Mapping[str, float],
    predicted: Sequence[float | None] = (),
) -> Plot:
    """Mean test errors against a size, the floors as levels."""
    curves = [Curve(name, list(x), [value] * len(x), theory=True) for name, value in levels.items()]
    line = [(a, b) for a, b in zip(x, predicted, strict=False) if b is not None]
    if line:
        curves.append(Curve("theory", [a for a, _ in line], [b for _, b in line], theory=True))
    curves.append(mean_curve("simulation", x, errors))
    return Plot(x_label, "test error", curves, "log")


def narrow_floor(
    setting: Fields, *, untold: Fields, p: Sequence[int], d: int, runs: int
) -> Findings:
    """Errors of narrow networks and E Var(f | P_U x), U what one step learns, from both sides.

    The rows hold at most p/d of a direction they have not learned, and so does the readout of any
    term that depends on it: the share that may leak at finite d.  The simulation has the fields
    ``untold``, which the prediction does not know.
    """
    floor = learned_floor(setting["target"], 1, 0)
    sizes: list[dict[str, Any]] = [{"p": size, "d": d, "runs": runs} for size in p]
    errors = [last_errors({**setting, **untold}, **size) for size in sizes]
    limits = [predicted_error(setting, **size) for size in sizes]
    leaks = [leak(size, d, 1) for size in p]
    names = [f"excess over the floor, $p={size}$" for size in p]
    quantities = [
        *floor_from_both_sides("floor", p, errors, floor, leaks=leaks),
        *excesses_as_predicted(names, errors, floor, limits, leaks),
    ]
    return Findings(quantities, error_plot("neurons $p$", p, errors, {"floor": floor}, limits))


def wide_floor(
    setting: Fields,
    *,
    samples: float,
    learned: int,
    untold: Fields,
    ratios: Sequence[float],
    d: int,
    runs: int,
) -> Findings:
    """Errors at p = ratio d, n = samples ratio d and || P_{U, > 1} f ||^2, from both sides.

    U is what ``learned`` steps learn.  Theory is that of n, p, d in proportion: it does not know of
    the share of degree two that leaks.  After a step the errors must be below the floor of random
    features at the largest ratio.  ``untold`` is that of narrow_floor.
    """
    target = setting["target"]
    floor = learned_floor(target, learned, 1)
    sizes: list[dict[str, Any]] = [
        {"p": 2 * round(ratio * d / 2), "n": round(samples * ratio * d), "d": d, "runs": runs}
        for ratio in ratios
    ]
    errors = [last_errors({**setting, **untold}, **size) for size in sizes]
    limits = [predicted_error(setting, **size) for size in sizes]
    leaks = [leak(size["p"], d, 2) for size in sizes]
    names = [f"excess over the floor, $p={ratio:g}d$" for ratio in ratios]
    quantities = [
        *floor_from_both_sides("floor", ratios, errors, floor, leaks=leaks),
        *excesses_as_predicted(names, errors, floor, limits, leaks),
    ]
    levels = {"floor": floor}
    if learned:
        levels["floor of random features"] = random = learned_floor(target, 0, 1)
        name = "excess over the floor of random features"
        quantities.append(mean_of(name, errors[-1] / random - 1.0, (-math.inf, 0.0)))
    return Findings(quantities, error_plot("$p/d$", ratios, errors, levels, limits))


def wide_limit(setting: Fields, theory: str) -> tuple[float, float]:
    """Test error of a theory of wide networks, and what it leaves out at these sizes."""
    prediction = predict(Setting(**setting), theory=theory)
    if prediction.test_error is None:
        raise ValueError(f"the theory {theory} gives no test error: {prediction.notes}")
    error = float(prediction.test_error[:, -1].mean())
    return error, prediction.relative_uncertainty * error


def degree_two(
    setting: Fields, *, samples: float, untold: Fields, ratios: Sequence[float], d: int, runs: int
) -> Findings:
    """Errors of untrained features at p = ratio d^2, n = samples p and the power of degree > 2.

    The target has nothing beyond degree 3, and relu no coefficient of degree 3: nothing leaks.  At
    the largest ratio the error must be nearer to this floor than to that of degree 1.  ``untold``
    is that of narrow_floor.
    """
    floor, linear = (learned_floor(setting["target"], 0, degree) for degree in (2, 1))
    widths = [2 * round(ratio * d**2 / 2) for ratio in ratios]
    sizes = [{"p": p, "n": round(samples * p), "d": d, "runs": runs} for p in widths]
    errors = [last_errors({**setting, **untold}, **size) for size in sizes]
    limits = [wide_limit({**setting, **size}, "quadratic-width") for size in sizes]
    quantities = [
        *floor_from_both_sides("floor", ratios, errors, floor, leaks=[0.0] * len(ratios)),
        *(
            excess_as_predicted(
                f"excess over the floor, $p={ratio:g}d^2$",
                values,
                floor,
                limit,
                allowance=left_out / floor,
            )
            for ratio, values, (limit, left_out) in zip(ratios, errors, limits, strict=True)
        ),
        mean_of("error at the largest ratio", errors[-1], (-math.inf, 0.5 * (floor + linear))),
    ]
    levels = {"degrees above 2": floor, "degrees above 1": linear}
    line = [limit for limit, _ in limits]
    return Findings(quantities, error_plot("$p/d^2$", ratios, errors, levels, line))


def every_penalty(
    setting: Fields,
    *,
    ratio: int,
    samples: int,
    untold: Fields,
    penalties: Sequence[float],
    d: int,
    runs: int,
) -> Findings:
    """Errors after one step at p = ratio d, n = samples p, for penalties over many decades.

    A penalty is in units of 1/p^2, the order of the mean eigenvalue of s_p^2 Phi^T Phi/n.  None
    may bring the error below || P_{U, > 1} f ||^2 but for the share that leaks.  ``untold`` is that
    of narrow_floor.
    """
    floor, p = learned_floor(setting["target"], 1, 1), ratio * d
    size = {"p": p, "n": samples * p, "d": d, "runs": runs}
    share = leak(p, d, 2)
    quantities, errors, predicted = [], [], []
    for penalty in penalties:
        told = {**setting, **size, "ridge": f"{penalty:g}/p^2"}
        errors.append(last_errors({**told, **untold}))
        limit, left_out = wide_limit(told, "linear-width")
        name = f"excess over the floor, penalty {penalty:g} in units of $1/p^2$"
        allowance = left_out / floor + share
        region = (-share, math.inf)
        quantities.append(
            excess_as_predicted(name, errors[-1], floor, limit, allowance=allowance, region=region)
        )
        predicted.append(limit)
    plot = error_plot("penalty times $p^2$", penalties, errors, {"floor": floor}, predicted)
    return Findings(quantities, plot)


WIDE = {
    "activation": "relu",
    "readout_start": "gaussian",
    # The mean eigenvalue of s_p^2 Phi^T Phi/n is of order 1/p^2: a moderate penalty.
    "ridge": "0.3/p^2",
    "test_n": 5000,
}
NOTHING_FITTED = {
    "a penalty far above the eigenvalues of the features: nothing is fitted": Changes(
        options={"untold": {"ridge": "1e5/p^2"}}
    )
}
STEP_TAKEN = {
    r"one giant step learns $w_1$ and with it $\mathrm{He}_2(x_1)$": Changes(
        options={"untold": {"steps": 1, "step_size": "3*p^1.5"}}
    )
}
# Degree one outside U = span(w1), then degree two: floors 3 (narrow) and 2 after one step.
LADDER = "x1 + x1*x2 + He2(x2)"
OTHER_PENALTIES = one_at_a_time(setting={"ridge": ("0.1/p^2", "1/p^2")})

CLAIMS = (
    Claim(
        id="narrow-floor",
        statement=(
            "A narrow network fits only what depends on the learned subspace $U$. With more "
            "and more neurons it fits all of that."
        ),
        source=sources.NARROW_FLOOR,
        regime="The width $p$ is fixed and far below $d$. $n=32d$, and one step is taken.",
        rule=(
            r"The test error is at least $\mathbb{E}[\mathrm{Var}(f\mid{P_Ux})]$, less a "
            "share $p/d$ that leaks at finite $d$. Its excess falls with $p$, with an "
            "exponent below $-0.1$. At every $p$ it is as predicted."
        ),
        experiment=narrow_floor,
        setting={
            "target": "staircase",
            "activation": "relu",
            "n": "32d",
            "steps": 1,
            "step_size": "2*p^1.5",
            "readout_start": "gaussian",
            "readout_n": 20_000,
            "test_n": 60_000,
        },
        options={"untold": {}},
        controls={
            "a second step learns more than $U$": Changes(
                options={"untold": {"steps": 2, "step_size": "2*p^1.5, 8*p^1.5"}}
            ),
            **NOTHING_FITTED,
        },
        quick={"p": (4, 12, 36), "d": 1000, "runs": 12},
        full={"p": (4, 8, 16, 32, 64), "d": 4000, "runs": 20},
        tuned=one_at_a_time(setting={"step_size": ("p^1.5", "8*p^1.5")}),
    ),
    Claim(
        id="random-feature-floor",
        statement="Untrained features with $n$ and $p$ of order $d$ fit nothing beyond degree one.",
        source=sources.RANDOM_FEATURES,
        regime="$n=p$ is a multiple of $d$, and no step is taken.",
        rule=(
            "The test error is at least the squared norm of the target's degrees above 1, "
            "less what leaks at finite $d$. Its excess falls with the ratio $p/d$, with an "
            "exponent below $-0.1$. At every ratio it is as predicted."
        ),
        experiment=wide_floor,
        setting=WIDE | {"target": "x1 + He2(x1)/2", "steps": 0},
        options={"samples": 1.0, "learned": 0, "untold": {}},
        controls={
            **STEP_TAKEN,
            "almost no penalty: at $n=p$ the readout fits the noise of the samples": Changes(
                options={"untold": {"ridge": "1e-4/p^2"}}
            ),
            "labels with noise, which neither the floor nor the prediction counts": Changes(
                options={"untold": {"noise": 1.0}}
            ),
            **NOTHING_FITTED,
        },
        quick={"ratios": (1, 4), "d": 72, "runs": 12},
        full={"ratios": (1, 2, 4), "d": 200, "runs": 12},
        tuned=OTHER_PENALTIES,
    ),
    Claim(
        id="feature-learning-floor",
        statement=(
            "After one step with $n$ and $p$ of order $d$, the readout fits degree one "
            "outside the learned subspace $U$, and no more."
        ),
        source=sources.FEATURE_FLOOR,
        regime="$p$ is a multiple of $d$, $n=4p$, and one step is taken.",
        rule=(
            r"The test error is at least $\|P_{U,>1}f\|^2$, less what leaks at finite $d$, "
            "and below the floor of random features. Its excess falls with the ratio $p/d$, "
            "with an exponent below $-0.1$. It is as predicted."
        ),
        experiment=wide_floor,
        setting=WIDE | {"target": LADDER, "steps": 1},
        options={"samples": 4.0, "learned": 1, "untold": {}},
        controls={
            r"more steps learn $w_2$, and with it $\mathrm{He}_2(x_2)$": Changes(
                options={"untold": {"steps": 3}}
            ),
            **NOTHING_FITTED,
        },
        quick={"ratios": (1, 4), "d": 64, "runs": 12},
        full={"ratios": (1, 2, 4), "d": 200, "runs": 12},
        tuned=OTHER_PENALTIES,
    ),
    Claim(
        id="random-feature-degree-two",
        statement=(
            "Untrained features with $n$ and $p$ of order $d^2$ fit the target's degrees 1 "
            r"and 2 and nothing of higher degree. The activation must have $c_1\neq0$ and "
            r"$c_2\neq0$."
        ),
        source=sources.RANDOM_FEATURES,
        regime="$p$ is a multiple of $d^2$, $n=4p$, the activation is relu, and no step is taken.",
        rule=(
            "The test error is at least the squared norm of the target's degrees above 2. "
            "Its excess falls with the ratio $p/d^2$, with an exponent below $-0.1$. It is "
            "as the theory of quadratic width predicts. At the largest ratio the error is "
            "nearer to that squared norm than to that of the degrees above 1."
        ),
        experiment=degree_two,
        setting=WIDE
        | {
            "target": "x1 + x1*x2 + x1*x2*x3/2",
            "steps": 0,
            # Without partners all p features differ.
            "start": "sphere",
            "ridge": "0.03/p^2",
            "test_n": 20_000,
        },
        options={"samples": 4.0, "untold": {}},
        controls={
            "tanh has no coefficient of degree 2": Changes(setting={"activation": "tanh"}),
            r"after a giant step, with $c_3\neq0$, $x_1x_2x_3$ has degree 2 outside $w_1$": Changes(
                options={
                    "untold": {"steps": 1, "step_size": "p^1.5", "activation": "He1 + He2 + He3/3"}
                }
            ),
            **NOTHING_FITTED,
        },
        quick={"ratios": (0.5, 1, 2), "d": 20, "runs": 6},
        full={"ratios": (0.5, 1, 2), "d": 28, "runs": 8},
        tuned=one_at_a_time(setting={"ridge": ("0.003/p^2", "0.3/p^2")}),
    ),
    Claim(
        id="floor-at-any-penalty",
        statement=(
            "After one step with $n$ and $p$ of order $d$, the test error has a lower bound "
            "at every ridge penalty. It is the squared norm of the target's part of degree "
            "above 1 outside $U$."
        ),
        source=sources.FEATURE_FLOOR,
        regime=(
            "$p=3d$, $n=15d$, and one step is taken. Penalties range from $10^{-6}$ to "
            "$10^2$ in units of $1/p^2$."
        ),
        rule=(
            r"At every penalty the test error is at least $\|P_{U,>1}f\|^2$, less what leaks "
            "at finite $d$. It is as the theory of linear width predicts."
        ),
        experiment=every_penalty,
        # One step learns U = span(w1): He3(x2) is out of reach.  Nothing of degree 2 turns the rows
        # towards w2: the theory of linear width leaves that out.
        setting=WIDE | {"target": "x1 + He2(x1)/2 + He3(x2)/2", "steps": 1, "test_n": 20_000},
        options={"ratio": 3, "samples": 5, "untold": {}},
        controls={
            "the part outside $U$ has degree 1 and is fitted": Changes(
                options={"untold": {"target": "x1 + He2(x1)/2 + sqrt(1.5)*x1*x2"}}
            ),
            "the target has no part outside $U$": Changes(
                options={"untold": {"target": "x1 + He2(x1)/2"}}
            ),
        },
        quick={"penalties": (1e-6, 1e-3, 1.0, 1e2), "d": 100, "runs": 10},
        full={
            "penalties": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 1e2),
            "d": 200,
            "runs": 8,
        },
    ),
)
