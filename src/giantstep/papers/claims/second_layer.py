"""Claims about what the trained readout can and cannot reach (arXiv 2305.18270, section 5)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.analysis.analyze import analyze
from giantstep.errors import NoTheoryError
from giantstep.papers.claims.experiments import Fields, readout_errors
from giantstep.papers.claims.quantity import FALLS, Quantity, Region, exponent_of, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.plot import Curve, Plot
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting

PAPER = "arXiv 2305.18270"

BELOW: Region = (-math.inf, 0.0)
ABOVE: Region = (0.0, math.inf)


def last_errors(fields: Fields, **changes: Any) -> Float[np.ndarray, " runs"]:
    """Test error of the readout after the last step, one a run."""
    return readout_errors(fields, **changes)[:, -1]


def predicted_error(fields: Fields, **changes: Any) -> float | None:
    """The limiting test error after the last step, None where no theory covers the setting."""
    try:
        errors = predict(Setting(**(dict(fields) | changes))).test_error
    except NoTheoryError:
        return None
    return None if errors is None else float(errors[:, -1].mean())


def learned_floor(target: str, steps: int, degree: int) -> float:
    """|| P_{U, > degree} f ||^2 for U what ``steps`` giant steps at n of order d learn."""
    # Powers of the label matter for reused batches only.
    return analyze(target, label_degree=1).floors[steps].by_degree[degree]


def excess_of(
    name: str,
    errors: Float[np.ndarray, " runs"],
    floor: float,
    leak: float,
    predicted: float | None = None,
) -> Quantity:
    """(error - floor)/floor, which must not be below minus the share that leaks at finite d."""
    expected = None if predicted is None else predicted / floor - 1.0
    return mean_of(name, errors / floor - 1.0, (-leak, math.inf), expected)


def error_plot(
    x_label: str,
    x: Sequence[float],
    errors: Sequence[Float[np.ndarray, " runs"]],
    levels: Mapping[str, float],
    predicted: Sequence[float | None] = (),
) -> Plot:
    """Mean test errors against a size, the floors as levels."""
    means = [float(e.mean()) for e in errors]
    bars = [float(e.std(ddof=1) / math.sqrt(len(e))) for e in errors]
    curves = [Curve(name, list(x), [value] * len(x), theory=True) for name, value in levels.items()]
    known = [(a, b) for a, b in zip(x, predicted, strict=False) if b is not None]
    if known:
        curves.append(Curve("theory", [a for a, _ in known], [b for _, b in known], theory=True))
    curves.append(Curve("simulation", list(x), means, bars))
    return Plot(x_label, "test error", curves, "log")


def narrow_floor(
    fields: Fields, *, p: Sequence[int], d: int, runs: int, steps: int = 1
) -> Findings:
    """Errors of narrow networks against E Var(f | P_U x), U what ``steps`` steps learn.

    The rows hold at most p/d of a direction they have not learned, and so does the readout of any
    term that depends on it: the share that may leak at finite d.
    """
    floor = learned_floor(fields["target"], steps, 0)
    errors = [last_errors(fields, p=size, d=d, runs=runs) for size in p]
    limits = [predicted_error(fields, p=size, d=d, runs=runs) for size in p]
    quantities = [
        excess_of(f"excess over the floor, p = {size}", e, floor, size / d, limit)
        for size, e, limit in zip(p, errors, limits, strict=True)
    ]
    return Findings(quantities, error_plot("neurons $p$", p, errors, {"floor": floor}, limits))


def floor_reached(
    fields: Fields, *, p: Sequence[int], d: int, runs: int, steps: int = 1
) -> Findings:
    """The excess over E Var(f | P_U x) falls with the number of neurons."""
    floor = learned_floor(fields["target"], steps, 0)
    errors = [last_errors(fields, p=size, d=d, runs=runs) for size in p]
    limits = [predicted_error(fields, p=size, d=d, runs=runs) for size in p]
    excess = [e - floor for e in errors]
    # What there is to learn beside the floor; half of it must be gone at the largest p.
    reachable = learned_floor(fields["target"], 0, 0) - floor
    quantities = [
        exponent_of("exponent of the excess in p", p, excess, FALLS),
        mean_of("share of the excess left at the largest p", excess[-1] / reachable, (0.0, 0.5)),
    ]
    return Findings(quantities, error_plot("neurons $p$", p, errors, {"floor": floor}, limits))


def wide_floor(
    fields: Fields,
    *,
    ratios: Sequence[float],
    samples: float,
    d: int,
    runs: int,
    learned: int,
    beats_random_features: bool,
) -> Findings:
    """Errors at p = ratio d, n = samples ratio d against || P_{U, > 1} f ||^2.

    p features span at most p of the d (d + 1)/2 monomials of degree two: the share that may leak.
    """
    target = fields["target"]
    floor = learned_floor(target, learned, 1)
    sizes: list[dict[str, Any]] = [
        {"p": 2 * round(ratio * d / 2), "n": round(samples * ratio * d), "d": d, "runs": runs}
        for ratio in ratios
    ]
    errors = [last_errors(fields, **size) for size in sizes]
    limits = [predicted_error(fields, **size) for size in sizes]
    excess = [e - floor for e in errors]
    # Small ratios are far above the floor, whatever the features: only the largest can fail.
    leak, name = 2 * ratios[-1] / (d + 1), f"excess over the floor, p = {ratios[-1]:g} d"
    quantities = [
        excess_of(name, errors[-1], floor, leak, limits[-1]),
        exponent_of("exponent of the excess in the ratio", ratios, excess, FALLS),
    ]
    levels = {"floor": floor}
    if beats_random_features:
        levels["floor of random features"] = random = learned_floor(target, 0, 1)
        name = "excess over the floor of random features"
        quantities.append(mean_of(name, errors[-1] / random - 1.0, BELOW))
    return Findings(quantities, error_plot("$p/d$", ratios, errors, levels, limits))


def different_rates(fields: Fields, *, d: int, runs: int) -> Findings:
    """Errors with p and n of different order, both ways round, against || P_{U, > 1} f ||^2.

    ``slow`` and ``fast`` of the fields are the two sizes; 4 d of either hold at most 8/(d + 1) of
    the monomials of degree two.
    """
    setting = dict(fields)
    slow, fast = setting.pop("slow"), setting.pop("fast")
    floor = learned_floor(setting["target"], 1, 1)
    errors = [
        last_errors(setting, n=n, p=p, d=d, runs=runs) for n, p in ((slow, fast), (fast, slow))
    ]
    names = ("few samples", "few neurons")
    quantities = [
        excess_of(f"excess over the floor, {name}", e, floor, 8 / (d + 1))
        for name, e in zip(names, errors, strict=True)
    ]
    plot = error_plot("1: few samples, 2: few neurons", (1.0, 2.0), errors, {"floor": floor})
    return Findings(quantities, plot)


EXTENDS = {1: 0, 2: 0, 3: 2, 4: 3}
"""The regime that each of the five extends, by more neurons or by more samples."""


def five_regimes(
    fields: Fields, *, sizes: Sequence[tuple[str, str]], d: int, runs: int
) -> Findings:
    """Errors in the regimes (n, p) of order (d, 1), (d, d), (d^2, 1), (d^2, d), (d^2, d^2).

    Each against that of the regime it extends.  The field ``regimes`` says which sizes are taken
    for the first, the second, ... regime.
    """
    setting = dict(fields)
    taken = [sizes[index] for index in setting.pop("regimes")]
    table = analyze(setting["target"], label_degree=1).regimes
    errors = [last_errors(setting, n=n, p=p, d=d, runs=runs) for n, p in taken]
    names = [f"n ~ d^{r.n_exponent}, p ~ d^{r.p_exponent}" for r in table]
    quantities = [
        mean_of(f"{names[k]} below {names[j]}", errors[j] - errors[k], ABOVE)
        for k, j in EXTENDS.items()
    ]
    x = [float(k) for k in range(1, len(sizes) + 1)]
    plot = error_plot("regime", x, errors, {})
    floors = Curve("floor", x, [regime.floor for regime in table], theory=True)
    return Findings(quantities, Plot("regime", "test error", [floors, *plot.curves]))


NARROW = {"n": "32d", "readout_start": "gaussian", "readout_n": 20_000, "test_n": 60_000}
# The mean eigenvalue of s_p^2 Phi^T Phi/n is of order 1/p^2: a moderate penalty.
WIDE = {
    "activation": "relu",
    "readout_start": "gaussian",
    "ridge": "0.3/p^2",
    "test_n": 5000,
}
NOTHING_FITTED = "a penalty far above the eigenvalues of the features: nothing is fitted"
# Degree one outside U = span(w1), then degree two: floors 3 (narrow) and 2 after one step.
LADDER = "x1 + x1*x2 + He2(x2)"
# The five terms of the slides, the heavy-tailed ones made small: floors 2.08 1.08 0.08 0.04 0.
FIVE = (
    "x1 + He2(x2)/sqrt(2) + He2(x1)*x2/sqrt(2) + He4(x1)*He2(x2)*x3/sqrt(1200) + He2(x2)*He2(x3)/10"
)


# (n, p) of the five regimes; four neurons cannot fit even what they could, 16 can.
FIVE_SIZES = (
    ("16d", "16"),
    ("16d", "4d"),
    ("4*d^2", "16"),
    ("4*d^2", "4d"),
    ("4*d^2", "d^2/4"),
)

CLAIMS = (
    Claim(
        "narrow-floor",
        "A narrow network cannot fit more than what depends on the learned subspace U.",
        f"{PAPER}, section 5",
        "p fixed, n = 32 d, one step",
        "test error at least E Var(f | P_U x) within the share p/d that leaks at finite d",
        narrow_floor,
        NARROW | {"target": "staircase", "activation": "relu", "steps": 1, "step_size": "2*p^1.5"},
        {"a second step learns more than U": {"steps": 2, "step_size": "2*p^1.5, 8*p^1.5"}},
        {"p": (4, 12), "d": 1000, "runs": 8},
        {"p": (4, 8, 16, 32), "d": 4000, "runs": 20},
    ),
    Claim(
        "narrow-floor-reached",
        "With more and more neurons the error tends to the floor of the learned subspace.",
        f"{PAPER}, section 5",
        "n = 256 d, one step, p growing, p far below d",
        "exponent in p of the excess over the floor below -0.1, and the excess at the largest p "
        "at most half of what there is to learn",
        floor_reached,
        NARROW
        | {
            "target": "x1 + He2(x1)/2 + He2(x2)/2",
            "activation": "softplus",
            "n": "256d",
            "steps": 1,
            "step_size": "8*p^1.5",
        },
        {"without a step no direction is learned": {"steps": 0}},
        {"p": (2, 6, 20), "d": 500, "runs": 6},
        {"p": (2, 6, 20, 60), "d": 2000, "runs": 12},
    ),
    Claim(
        "random-feature-floor",
        "Untrained features with n and p of order d fit nothing beyond degree one.",
        f"{PAPER}, section 5",
        "n = p = ratio d, no step",
        "test error at least the power of degree > 1 at the largest ratio, the excess over it "
        "falling with the ratio",
        partial(wide_floor, samples=1.0, learned=0, beats_random_features=False),
        WIDE | {"target": "x1 + He2(x1)/2", "steps": 0},
        {
            "one giant step learns w1 and with it He2(x1)": {"steps": 1, "step_size": "3*p^1.5"},
            NOTHING_FITTED: {"ridge": "1e5/p^2"},
        },
        {"ratios": (1, 4), "d": 72, "runs": 8},
        {"ratios": (1, 2, 4), "d": 200, "runs": 12},
    ),
    Claim(
        "feature-learning-floor",
        "After one step with n and p of order d the readout fits degree one outside U, no more.",
        f"{PAPER}, Conjecture 3",
        "p = ratio d, n = 4 ratio d, one step",
        "test error at least || P_{U, > 1} f ||^2 at the largest ratio and below the floor of "
        "random features, the excess over the former falling with the ratio",
        partial(wide_floor, samples=4.0, learned=1, beats_random_features=True),
        WIDE | {"target": LADDER, "steps": 1},
        {
            "more steps learn w2, and with it He2(x2)": {"steps": 3},
            NOTHING_FITTED: {"ridge": "1e5/p^2"},
        },
        {"ratios": (1, 4), "d": 64, "runs": 8},
        {"ratios": (1, 2, 4), "d": 200, "runs": 12},
    ),
    Claim(
        "different-rates",
        "With p and n of different order the smaller one sets the degree that can be fitted.",
        f"{PAPER}, Conjecture 3 with kappa1 != kappa2 (open question)",
        "one step; n = 4 d with p = 2 d^1.5, and n = 2 d^1.5 with p = 4 d",
        "test error at least || P_{U, > 1} f ||^2 both ways round",
        different_rates,
        WIDE | {"target": LADDER, "steps": 1, "slow": "4d", "fast": "2*d^1.5"},
        {
            "more steps learn w2, and with it He2(x2), from enough samples": {
                "steps": 3,
                "slow": "d^1.5",
            }
        },
        {"d": 64, "runs": 10},
        {"d": 144, "runs": 12},
    ),
    Claim(
        "five-regimes-order",
        "From regime to regime, with more samples or more neurons, more of the target is fitted.",
        f"{PAPER}, section 5, table of five regimes",
        "one step, n of order d or d^2, p of order 1, d or d^2",
        "every test error below that of the regime with fewer samples or fewer neurons",
        five_regimes,
        WIDE
        | {
            "target": FIVE,
            "activation": "softplus",
            "steps": 1,
            "step_size": "p^1.5",
            "ridge": "1e-6/p^2, 1e-4/p^2, 1e-2/p^2, 1/p^2",
            "test_n": 10_000,
            "regimes": (0, 1, 2, 3, 4),
        },
        {"the sizes of a rich regime for a poor one": {"regimes": (4, 2, 3, 1, 0)}},
        {"sizes": FIVE_SIZES, "d": 24, "runs": 9},
        {"sizes": FIVE_SIZES, "d": 48, "runs": 24},
    ),
)
