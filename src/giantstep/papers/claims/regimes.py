"""Claims about n and p as powers of d: which floor is reached (arXiv 2305.18270)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from giantstep.analysis.analyze import analyze
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import Runs, with_runs
from giantstep.papers.claims.floors import (
    LADDER,
    NOTHING_FITTED,
    OTHER_PENALTIES,
    STEP_TAKEN,
    WIDE,
    Errors,
    error_plot,
    excesses_as_predicted,
    last_errors,
    leak,
    learned_floor,
    predicted_error,
)
from giantstep.papers.claims.quantity import Quantity, floor_from_both_sides, mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time
from giantstep.records.plot import Curve, Plot


def different_rates(
    setting: Fields, *, slow: str, untold: Fields, ratios: Sequence[float], d: int, runs: int
) -> Findings:
    """Errors with one of n, p of order d and the other of order d^2, and || P_{U, > 1} f ||^2.

    The small one is ``ratio`` times ``slow``; the simulation has the fields ``untold``.
    """
    floor = learned_floor(setting["target"], 1, 1)
    leaks = [leak(round(ratio * d), d, 2) for ratio in ratios]
    quantities: list[Quantity] = []
    curves: list[Curve] = []
    for name, small, large in (
        ("few samples", "n", {"p": "d^2"}),
        ("few neurons", "p", {"n": "4*d^2"}),
    ):
        sizes = [{small: f"{ratio}*{slow}", **large, "d": d, "runs": runs} for ratio in ratios]
        errors = [last_errors({**setting, **untold, **size}) for size in sizes]
        quantities += floor_from_both_sides(name, ratios, errors, floor, leaks=leaks)
        curves += error_plot("", ratios, errors, {name: floor}).curves
    return Findings(quantities, Plot("ratio of the smaller to $d$", "test error", curves, "log"))


def random_features(setting: Fields, *, untold: Fields, d: Sequence[int], runs: Runs) -> Findings:
    """Errors of untrained features at n = p = d^1.5 and the power of degree > 1.

    The simulation has the fields ``untold``, which theory does not know.
    """
    floor = learned_floor(setting["target"], 0, 1)
    taken = {**setting, **untold}
    errors = [last_errors(taken, d=size, runs=drawn) for size, drawn in with_runs(d, runs)]
    limit = predicted_error(setting, d=d[-1], runs=len(errors[-1]))
    leaks = [leak(round(size**1.5), size, 2) for size in d]
    # Theory resolves degree two; what it leaves out is degree three.
    share = leak(round(d[-1] ** 1.5), d[-1], 3)
    name = f"excess over the floor, $d={d[-1]}$"
    quantities = [
        *floor_from_both_sides("floor", d, errors, floor, leaks=leaks),
        *excesses_as_predicted([name], errors[-1:], floor, [limit], [share]),
    ]
    line = [None] * (len(d) - 1) + [limit]
    return Findings(quantities, error_plot("dimension $d$", d, errors, {"floor": floor}, line))


Sizes = Mapping[tuple[int, int], Sequence[dict[str, Any]]]
"""Fields of growing sizes by the regime (n exponent, p exponent)."""


def five_regimes(
    setting: Fields, *, promised: tuple[str, str], untold: Fields, sizes: Sizes, runs: int
) -> Findings:
    """Errors in the regimes (n, p) of order (d, 1), (d, d), (d^2, 1), (d^2, d) that have sizes.

    Each against the floor of what one step learns there, from both sides.  The floors are those of
    the ``promised`` target and activation; the simulation has the fields ``untold``.
    """
    quantities, shown, floors = [], [], []
    for regime in analyze(*promised, label_degree=1).regimes:
        exponents = (regime.n_exponent, regime.p_exponent)
        if exponents not in sizes:
            continue
        grown = sizes[exponents]
        labels = {"deflate": regime.n_exponent - 1 if regime.deflated else -1}
        errors = [last_errors({**setting, **size, **labels, **untold}, runs=runs) for size in grown]
        quantities += floor_from_both_sides(
            rf"$n\sim{{d^{regime.n_exponent}}}$, $p\sim{{d^{regime.p_exponent}}}$",
            [size["p"] for size in grown],
            errors,
            regime.floor,
            leaks=[leak(size["p"], size["d"], min(exponents) + 1) for size in grown],
            # Over a floor that is half as large as the right one the error of n, p ~ d has the
            # exponent -0.15.
            falls=(-math.inf, -0.25),
        )
        shown.append(errors[-1])
        floors.append(regime.floor)
    return Findings(quantities, _regime_plot(shown, floors))


def five_regimes_table(setting: Fields, *, sizes: Sizes, runs: int) -> Findings:
    """Errors at n ~ d^2, p ~ 1 and p ~ d against the floors of U = span(w1, w2).

    The step takes the labels as they are, which teach it w1, or deflated ones, which teach it w2.
    The error must be nearer to the floor of both directions than to that of the one direction.
    """
    analysis = analyze(setting["target"], setting["activation"], label_degree=1)
    # Two steps learn w1 and w2.
    both = analysis.floors[2].by_degree
    reached = {
        "labels as they are": (-1, [float(v) for v in analysis.floors[1].by_degree]),
        "deflated labels": (1, [r.floor for r in analysis.regimes if r.n_exponent == 2]),
    }
    quantities, shown, floors = [], [], []
    for labels, (deflate, one) in reached.items():
        for degree in (0, 1):
            size = sizes[2, degree][-1]
            errors = last_errors({**setting, **size, "deflate": deflate}, runs=runs)
            halfway = 0.5 * (both[degree] + one[degree])
            name = rf"error at $p\sim{{d^{degree}}}$, {labels}"
            quantities.append(mean_of(name, errors, (-math.inf, halfway)))
            shown.append(errors)
            floors.append(both[degree])
    return Findings(quantities, _regime_plot(shown, floors))


def quadratic_width(
    setting: Fields,
    *,
    promised: tuple[str, str],
    untold: Fields,
    ratios: Sequence[float],
    d: int,
    runs: int,
) -> Findings:
    """Errors at p = ratio d^2, n = 16 p and || P_{U, > 2} f ||^2, from both sides.

    At the largest ratio the error must be nearer to this floor than to the one of p of order d.
    ``untold`` and ``promised`` are those of five_regimes.
    """
    regimes = analyze(*promised, label_degree=1).regimes
    floors = {(r.n_exponent, r.p_exponent): r.floor for r in regimes}
    floor, linear = floors[2, 2], floors[2, 1]
    p = [2 * round(0.5 * ratio * d * d) for ratio in ratios]
    sizes = [{"d": d, "p": size, "n": 16 * size, "runs": runs} for size in p]
    errors = [last_errors({**setting, **size, **untold}) for size in sizes]
    leaks = [leak(size, d, 3) for size in p]
    quantities = [
        *floor_from_both_sides("floor", p, errors, floor, leaks=leaks),
        mean_of("error at the largest $p$", errors[-1], (-math.inf, 0.5 * (floor + linear))),
    ]
    levels = {"floor": floor, "floor of $p$ of order $d$": linear}
    return Findings(quantities, error_plot("neurons $p$", p, errors, levels))


def _regime_plot(errors: Errors, floors: Sequence[float]) -> Plot:
    x = [float(k) for k in range(1, len(floors) + 1)]
    line = Curve("floor", x, list(floors), theory=True, joined=False)
    points = error_plot("regime", x, errors, {}).curves
    return Plot("regime", "test error", [line, *points])


# The five terms of the slides, the heavy-tailed ones made small.
FIVE = (
    "x1 + He2(x2)/sqrt(2) + He2(x1)*x2/sqrt(2) + He4(x1)*He2(x2)*x3/sqrt(1200) + He2(x2)*He2(x3)/10"
)


def sizes_of(narrow: tuple[int, int], wide: tuple[int, int], *, test_n: tuple[int, int]) -> Sizes:
    """Sizes of the regimes, p growing, at the dimensions of the narrow and of the wide ones.

    At n ~ d^2 it takes a step of order p d^(1/2) to show the second degree; the readout starts
    Gaussian, |a| of order p^(1/2): p^1.5.  At n ~ d a step leaves about (d/n) E y^2 of x1
    unlearned, however many neurons there are: n grows with p, and a large ``test_n`` shows what is
    left of the excess.  At n, p ~ d both stay well below d^2, where more would be learned.
    """
    small = {"step_size": "0.4*p^1.5"}
    linear, quadratic = {"step_size": "2*p^1.5"}, {"step_size": "8*p^1.5*d^0.5"}
    one, other = ({"readout_n": 20_000, "test_n": count} for count in test_n)
    (first, third), (second, fourth) = narrow, wide
    return {
        (1, 0): [small | one | {"d": first, "n": 4 * p * first, "p": p} for p in (2, 8, 32)],
        (1, 1): [linear | {"d": second, "n": 16 * p, "p": p} for p in (second // 4, 2 * second)],
        (2, 0): [quadratic | other | {"d": third, "n": "8*d^2", "p": p} for p in (4, 12, 36)],
        (2, 1): [
            quadratic | {"d": fourth, "n": "16*d^2", "p": p} for p in (fourth // 2, 4 * fourth)
        ],
    }


FIVE_REGIMES = WIDE | {
    "target": FIVE,
    "activation": "softplus",
    "steps": 1,
    "ridge": "1e-6/p^2, 1e-4/p^2, 1e-2/p^2, 1/p^2",
    # The square of He4(x1) He2(x2) x3 is rarely large: most of the scatter is the test's.
    "test_n": 40_000,
}
OUT_OF_REACH = {"labels without the terms that are out of reach": Changes(setting={"target": "x1"})}

CLAIMS = (
    Claim(
        id="different-rates",
        statement=(
            "With $p$ and $n$ of different order, the smaller one sets the degree that can "
            "be fitted."
        ),
        source=sources.FEATURE_FLOOR,
        regime=(
            "One step is taken. Either $n$ is a multiple of $d$ and $p=d^2$, or $n=4d^2$ and $p$ "
            "is a multiple of $d$."
        ),
        rule=(
            r"In both cases the test error is at least $\|P_{U,>1}f\|^2$, less what leaks at "
            "finite $d$. Its excess falls with the ratio of the smaller size to $d$, with an "
            "exponent below $-0.1$."
        ),
        experiment=different_rates,
        setting=WIDE | {"target": LADDER, "steps": 1},
        options={"slow": "d", "untold": {}},
        controls={"both of order $d^2$": Changes(options={"slow": "d^2/4"})},
        quick={"ratios": (1, 4), "d": 32, "runs": 20},
        full={"ratios": (1, 2, 4), "d": 48, "runs": 24},
        tuned=OTHER_PENALTIES,
    ),
    Claim(
        id="random-feature-equality",
        statement=(
            "The test error of untrained features with $n=p=d^{1.5}$ falls to the squared norm of "
            "the target's degrees above 1."
        ),
        source=sources.RANDOM_FEATURES,
        regime="$n=p=d^{1.5}$, and no step is taken.",
        rule=(
            "The test error is at least the squared norm of the target's degrees above 1, "
            "less what leaks at finite $d$. Its excess falls with $d$, with an exponent "
            "below $-0.1$. At the largest $d$ it is as predicted."
        ),
        experiment=random_features,
        setting=WIDE | {"target": "x1 + He2(x1)/2", "steps": 0, "n": "d^1.5", "p": "d^1.5"},
        options={"untold": {}},
        controls={**STEP_TAKEN, **NOTHING_FITTED},
        quick={"d": (16, 36, 100), "runs": (32, 10, 12)},
        full={"d": (36, 64, 100, 144, 196), "runs": 8},
        tuned=OTHER_PENALTIES,
    ),
    Claim(
        id="five-regimes-table",
        statement=(
            r"At $n$ of order $d^2$ the learned directions are $\mathrm{span}(w_1,w_2)$, and "
            "the second layer fits what they allow."
        ),
        source=sources.beyond(
            sources.FEW_STEPS,
            "last example of the slides: learned directions and fitted terms of five regimes",
            (
                "The slide is read as one step, which it does not say. Large terms of the target "
                "are made small."
            ),
        ),
        regime=(
            r"The slide is read as one step at $n=8d^2$ ($p\sim1$) and at $n=16d^2$ "
            r"($p\sim{d}$). Labels are used as they are, or with their linear part removed. "
            r"The activation is $\mathrm{softplus}(z+2)$, which can express "
            r"$\mathrm{He}_2(x_1)x_2$."
        ),
        rule=(
            r"At $p\sim1$ and at $p\sim{d}$ the test error is nearer to the floor of "
            r"$\mathrm{span}(w_1,w_2)$ than to that of the one direction that the step "
            "learns. This is $w_1$ from labels as they are, and $w_2$ from labels without "
            "their linear part."
        ),
        experiment=five_regimes_table,
        setting=FIVE_REGIMES | {"activation": "softplus(z + 2)", "test_n": 10_000},
        controls={},
        quick={
            "sizes": sizes_of((1000, 120), (128, 24), test_n=(240_000, 40_000)),
            "runs": 3,
        },
        full={
            "sizes": sizes_of((2000, 240), (256, 48), test_n=(240_000, 240_000)),
            "runs": 6,
        },
        measured_instead=(
            "From labels as they are, the step learns $w_1$ alone, and the errors are 2.0 "
            r"($p\sim1$) and 1.7 ($p\sim{d}$). From labels without their linear part it "
            "learns $w_2$ alone, and the errors are 1.8 and 1.2. The floors of both "
            r"directions are 0.08 and 0.04. To fit $\mathrm{He}_2(x_1)x_2$ takes both "
            r"directions, or one and $p\sim{d}$ neurons."
        ),
        corrected="five-regimes",
    ),
    Claim(
        id="five-regimes",
        statement=(
            r"In each of four regimes, $n\sim{d}$ or $d^2$ with $p\sim1$ or $d$, the error "
            r"reaches the floor of what one step learns. The step learns $w_1$ at $n\sim{d}$. "
            r"At $n\sim{d^2}$ it learns $w_2$ from labels without their linear part."
        ),
        source=sources.beyond(
            sources.FEW_STEPS,
            "last example of the slides",
            ("$U$ is what one step learns, and the floor counts what the activation cannot fit."),
        ),
        regime=(
            "One step is taken. $p$ grows within its order of $d$, and so does $n$ where "
            r"$n\sim{d}$."
        ),
        rule=(
            "In each regime the test error is at least the floor of softplus, less what "
            "leaks at finite $d$. Its excess falls with $p$, with an exponent below $-0.25$."
        ),
        experiment=five_regimes,
        setting=FIVE_REGIMES,
        options={"promised": (FIVE, "softplus"), "untold": {}},
        controls={
            "floors that softplus cannot reach: those of any activation": Changes(
                options={"promised": (FIVE, "softplus(z + 2)")}
            ),
            **OUT_OF_REACH,
            **NOTHING_FITTED,
        },
        quick={
            "sizes": sizes_of((1000, 120), (128, 24), test_n=(240_000, 40_000)),
            "runs": 10,
        },
        full={
            "sizes": sizes_of((2000, 240), (256, 48), test_n=(240_000, 240_000)),
            "runs": 12,
        },
    ),
    Claim(
        id="quadratic-width",
        statement=(
            "With $n$ and $p$ of order $d^2$, one step and a readout fit "
            r"$\mathrm{He}_2(x_1)x_2$, which has degree 2 outside $w_2$. The fit improves as "
            "$p/d^2$ grows. The activation must have coefficients of all degrees."
        ),
        source=sources.beyond(
            sources.FEW_STEPS,
            "last example of the slides",
            (
                "$U$ is the line of $w_2$, which one step learns from labels without their "
                "linear part."
            ),
        ),
        regime=(
            "One step is taken at $n=16p$, with $p$ of order $d^2$. The mean and the linear "
            "part of the labels are fitted and removed. The activation is "
            r"$\mathrm{softplus}(z+2)$."
        ),
        rule=(
            "The test error is at least the floor, less what leaks at finite $d$. Its excess "
            "falls with $p$, with an exponent below $-0.1$. At the largest $p$ the error is "
            r"nearer to the floor than to that of $p\sim{d}$."
        ),
        experiment=quadratic_width,
        setting=FIVE_REGIMES
        | {"activation": "softplus(z + 2)", "deflate": 1, "step_size": "4*p^1.5*d^0.5"},
        options={"promised": (FIVE, "softplus(z + 2)"), "untold": {}},
        controls={
            "softplus is a line and an even function": Changes(setting={"activation": "softplus"}),
            "without a step no direction is learned": Changes(options={"untold": {"steps": 0}}),
            **OUT_OF_REACH,
            **NOTHING_FITTED,
        },
        # More than 2.4 d^2 neurons would span the monomials of degree three at d = 12.
        quick={"ratios": (0.6, 2.4), "d": 12, "runs": 10},
        full={"ratios": (1.0, 3.0), "d": 20, "runs": 6},
        tuned=one_at_a_time(setting={"step_size": ("2*p^1.5*d^0.5", "8*p^1.5*d^0.5")}),
    ),
)
