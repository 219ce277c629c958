"""Random settings over the whole record: does the theory ever disagree with exact runs?

``python -m benchmarks.hunt --seed 7 --narrow 20 --wide 6 --small 40``.  Every setting is predicted,
simulated and judged by ``compare`` at its own level, 1e-3: of a thousand settings one disagrees by
chance.  Beside that verdict every number that a table prints is looked at by itself: one that is
off by more than SILENT_SIGMAS standard errors and by more than SILENT_SHARE of itself while the
verdict says "agrees" is counted as silent.  One line each, then the counts, the reasons of refusals
and notes, and the share of predictions that take less than SECONDS.  ``--index 3`` takes that one
alone, ``--runs 200`` with so many runs, ``--processes 16`` shares the settings out.

Three kinds of settings: narrow networks at d of some thousands, networks of linear width, and the
sizes of a first try (small): d = 20 to 150, p = 1 to 2 d, n = d^0.8 to d^3.3, one or two steps.
"""

from __future__ import annotations

import argparse
import math
import re
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from giantstep.errors import DivergenceError, NotConvergedError, NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.problem.starts import READOUT_STARTS, STARTS
from giantstep.records.comparison import Comparison, compare
from giantstep.records.observables import expected, observed
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

SECONDS = 2.0
"""What a prediction may take of a core, whatever else runs on it."""

WORK = {"narrow": 1.5e9, "wide": 1.5e9, "small": 1e10}
"""Products of samples and weights in the runs of a setting: some seconds on one core."""

SILENT_SIGMAS, SILENT_SHARE = 4.5, 0.12
"""How far a printed number must be off, in its standard errors and as a share of itself, to count
as wrong: one of 1e5 is so by chance."""

ROUNDING = 1e-9
"""What is exactly 0 in a run may be this in a prediction."""

ACTIVATIONS = (
    *("relu", "erf", "tanh", "sigmoid", "softplus", "gelu", "silu", "sin"),
    "He1 + He2/2",
)

Fields = dict[str, Any]
Key = np.random.Generator


# -- targets --------------------------------------------------------------------------------------


def _number(key: Key) -> str:
    return f"{key.choice([-1.0, 1.0]) * key.uniform(0.3, 1.5):.2f}"


def _sum(terms: list[str]) -> str:
    return " + ".join(terms).replace("+ -", "- ")


def _linear(key: Key) -> str:
    return _sum([f"{_number(key)}*x{k + 1}" for k in range(key.integers(1, 4))])


def _polynomial(key: Key) -> str:
    r = int(key.integers(1, 4))
    terms = [f"{_number(key)}*x{k + 1}" for k in range(r)]
    for _ in range(key.integers(1, 4)):
        j, k = key.integers(1, r + 1, size=2)
        terms.append(f"{_number(key)}*x{j}*x{k}")
    return _sum(terms)


def _hermite_products(key: Key) -> str:
    j, k = key.integers(1, 4, size=2)
    return f"{_number(key)}*x1 + {_number(key)}*He{j}(x1)*He{k}(x2)".replace("+ -", "- ")


def _kink(key: Key) -> str:
    name = key.choice(["relu", "abs", "leaky_relu"])
    return f"{name}({_linear(key)}) + {_number(key)}*x1".replace("+ -", "- ")


def _smooth(key: Key) -> str:
    return f"{key.choice(['tanh', 'sin'])}({_linear(key)} + {_number(key)}*x1^2)".replace(
        "+ -", "- "
    )


def _sign(key: Key) -> str:
    return f"sign({_linear(key)})"


def _leap(key: Key) -> str:
    degree = key.choice([2, 3])
    return _sum([f"{_number(key)}*He{degree}(x{k + 1})" for k in range(key.integers(1, 3))])


def _staircase(key: Key) -> str:
    steps = ["x1", "x1*x2", "x1*x2*x3"][: key.integers(2, 4)]
    return _sum([f"{_number(key)}*{step}" for step in steps])


TARGETS: tuple[Callable[[Key], str], ...] = (
    *(_polynomial, _hermite_products, _kink, _smooth),
    *(_sign, _leap, _staircase, _linear),
)


# -- settings -------------------------------------------------------------------------------------


def _logarithmic(key: Key, low: float, high: float) -> float:
    return float(np.exp(key.uniform(math.log(low), math.log(high))))


KINDS = ("narrow", "wide", "small")


def draw(seed: int, index: int, kind: str) -> Setting:
    """The setting of a seed and a number: redrawn until its runs are done in some seconds."""
    key = np.random.default_rng([seed, index, KINDS.index(kind)])
    while True:
        fields = _small_fields(key) if kind == "small" else _fields(key, wide=kind == "wide")
        giant = Setting(**fields)
        sizes = [giant.step_size[0] * _logarithmic(key, 0.3, 3.0) for _ in range(giant.steps)]
        if _work(giant) <= WORK[kind]:
            return giant.vary(step_size=[float(f"{size:.3g}") for size in sizes])


SMALL_TARGETS = (
    *("x1", "He2(x1)", "x1*x2", "He3(x1)", "x1*x2*x3"),
    *("tanh(2*x1)", "x1 + x2 + x1^2 - x2^2", "relu(x1) + x2*x3"),
)
SMALL_ACTIVATIONS = ("relu", "tanh", "gelu", "tanh(z+0.5)", "softplus")


def _small_fields(key: Key) -> Fields:
    """The sizes of a first try, mostly with the fields that nobody changes there."""
    d = int(_logarithmic(key, 20, 151))
    start = str(key.choice(["symmetric", "symmetric", "sphere", "gaussian"]))
    p = int(_logarithmic(key, 1, 2 * d + 1))
    p += STARTS[start].paired * (p % 2)
    fields: Fields = {
        "target": str(key.choice(SMALL_TARGETS)),
        "activation": str(key.choice(SMALL_ACTIVATIONS)),
        "d": d,
        "n": int(d ** key.uniform(0.8, 3.3)),
        "p": p,
        "steps": int(key.integers(1, 3)),
        "start": start,
        "runs": 30,
        "seed": int(key.integers(10_000)),
        "readout_n": 0,
        "test_n": 0,
    }
    if key.integers(3) == 0:
        fields["readout_start"] = str(key.choice(list(READOUT_STARTS)))
        fields["output_scale"] = str(key.choice(["1/p", "1/sqrt(p)", "1"]))
        fields["residual"] = str(key.choice(["full", "labels"]))
    if key.integers(4) == 0:
        fields["noise"] = float(f"{key.uniform(0.1, 1.0):.2f}")
    if key.integers(2):
        fields |= {"readout_n": min(fields["n"], 20_000), "test_n": 1000}
    return fields


def _fields(key: Key, *, wide: bool) -> Fields:
    target = key.choice(np.array(TARGETS))(key)
    # The theory of linear width refuses the last start and deflated labels: seldom is enough.
    seldom = 16 if wide else 4
    start = str(key.choice([name for name in STARTS if not STARTS[name].framed]))
    if key.integers(seldom) == 0:
        start = "orthogonal"
    if wide:
        d = int(_logarithmic(key, 100, 600))
        p = int(d * _logarithmic(key, 0.2, 3.0))
        if STARTS[start].framed:
            p = min(p, d - 3)
    else:
        d, p = int(_logarithmic(key, 500, 20_000)), int(_logarithmic(key, 2, 33))
    p += STARTS[start].paired * (p % 2)
    fields: Fields = {
        "target": target,
        "activation": str(key.choice(ACTIVATIONS)),
        "d": d,
        "n": int(d * _logarithmic(key, 0.5, 12.0)),
        "p": p,
        "steps": int(key.integers(1, 3 if wide else 4)),
        "output_scale": str(key.choice(["1/p", "1/sqrt(p)", "1"])),
        "start": start,
        "readout_start": str(key.choice(list(READOUT_STARTS))),
        "batches": str(key.choice(["fresh", "reused"])),
        "residual": str(key.choice(["full", "labels"])),
        "runs": int(key.integers(6, 21)),
        "seed": int(key.integers(1000)),
        "readout_n": 0,
        "test_n": 0,
    }
    kind = key.integers(4)
    if kind == 0:
        fields["noise"] = float(f"{key.uniform(0.1, 1.0):.2f}")
    elif kind == 1:
        fields["corruption"] = float(f"{key.uniform(0.05, 0.4):.2f}")
    if key.integers(seldom) == 0:
        fields["deflate"] = int(key.integers(2))
    if key.integers(2):
        n = int((d if wide else 12 * p) * _logarithmic(key, 1.0, 4.0))
        fields |= {"readout_n": n, "test_n": 1000, "ridge": "cv"}
        if key.integers(2):
            fields["ridge"] = float(f"{_logarithmic(key, 1e-3, 1.0):.2g}")
    if wide and key.integers(2):
        fields["spectra"] = 6
    if not wide and STARTS[start].framed and key.integers(2):
        fields["start_overlaps"] = np.round(key.uniform(-0.4, 0.4, size=(p, 3)), 2).tolist()
    return _fitting(fields)


def _fitting(fields: Fields) -> Fields:
    """Given overlaps with as many columns as the target has directions."""
    overlaps = fields.pop("start_overlaps", None)
    if overlaps is not None:
        r = Setting(**fields).target.r
        fields["start_overlaps"] = [row[:r] for row in overlaps]
    return fields


def _work(setting: Setting) -> float:
    """Samples times weights over the runs: R^d at linear width, a few coordinates otherwise."""
    narrow = setting.target.r + setting.p * (1 + setting.steps)
    return setting.runs * setting.steps * setting.n * setting.p * min(setting.d, narrow)


# -- verdicts -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What came of a setting; ``compared`` is None where it is refused, for the ``reasons``."""

    theory: str
    compared: Comparison | None
    reasons: tuple[str, ...]
    predict_seconds: float = math.nan
    simulate_seconds: float = math.nan
    off: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        if self.compared is None:
            return "refused"
        if not self.compared.agrees:
            return "DISAGREES"
        return "SILENT" if self.off else "agrees"


def judge(setting: Setting) -> Verdict:
    """Predict, simulate and compare a setting."""
    begin = time.process_time()
    try:
        predicted = predict(setting)
    except (NoTheoryError, NotConvergedError) as refusal:
        return Verdict("-", None, (str(refusal),))
    middle = time.process_time()
    theory = predicted.theory or "-"
    try:
        simulated = simulate(setting)
        compared = compare(predicted, simulated)
    except DivergenceError as refusal:
        return Verdict(theory, None, (f"simulation: {refusal}",), middle - begin)
    end = time.process_time()
    return Verdict(
        theory,
        compared,
        predicted.notes,
        middle - begin,
        end - middle,
        printed_numbers_off(predicted, simulated),
    )


def printed_numbers_off(predicted: Trajectory, simulated: Trajectory) -> tuple[str, ...]:
    """Names of the numbers of a table that are clearly off, with what was measured and predicted.

    Cosines that are 0 to leading order are left out where theory does not say their size.
    """
    found = []
    theory = expected(predicted)
    for name, values in observed(simulated).items():
        if name not in theory:
            continue
        mean = values.mean(axis=0)
        error = values.std(axis=0, ddof=1) / math.sqrt(len(values))
        gap = np.abs(mean - theory[name])
        off = (gap > SILENT_SIGMAS * error + ROUNDING) & (gap > SILENT_SHARE * np.abs(mean))
        found += [
            f"{name} after step {step}: {mean[step]:.3g} +- {error[step]:.1g}, "
            f"predicted {theory[name][step]:.3g}"
            for step in np.flatnonzero(off)
        ]
    return tuple(found)


def words(setting: Setting) -> str:
    """The fields that are not the record's own defaults, as they are written in Python."""
    plain, usual = setting.as_dict(), Setting("x1").as_dict()
    given = {k: v for k, v in plain.items() if v != usual[k] or k in ("d", "n", "p", "steps")}
    target = given.pop("target", "x1")
    return f"{target!r}, " + ", ".join(f"{name}={value!r}" for name, value in given.items())


def line(setting: Setting, verdict: Verdict) -> str:
    """One line: verdict, theory, p-value, sigmas, seconds; the setting, whole where it matters."""
    if verdict.compared is None:
        return f"{verdict.word}: {verdict.reasons[0]} | Setting({words(setting)})"
    compared = verdict.compared
    worst = max(
        compared.deviations,
        key=lambda name: np.nanmax(np.abs(compared.deviations[name]), initial=0.0),
        default="nothing compared",
    )
    return (
        f"{verdict.word} {verdict.theory}: p-value {compared.p_value:.2g} of {compared.count}, "
        f"{compared.sigmas:.1f} sigmas ({worst}), predict {verdict.predict_seconds:.1f} s, "
        f"simulate {verdict.simulate_seconds:.1f} s | {'; '.join(verdict.off)} "
        f"| Setting({words(setting)})"
    )


def _kind(reason: str) -> str:
    """A reason without its values."""
    return re.sub(r"(, got [^;]*|[-+]?\d[\d.e+-]*)", "", reason)


def _hunted(case: tuple[str, int], seed: int, runs: int) -> tuple[str, Verdict]:
    """One setting and its line."""
    kind, index = case
    setting = draw(seed, index, kind)
    if runs:
        setting = setting.vary(runs=runs)
    verdict = judge(setting)
    return f"hunt {kind} {index} {line(setting, verdict)}", verdict


def main() -> None:
    """Hunt: one line a setting, then the counts."""
    parser = argparse.ArgumentParser()
    defaults = {"seed": 1, "narrow": 4, "wide": 2, "small": 4, "runs": 0, "index": -1}
    for name, default in (defaults | {"processes": 1}).items():
        parser.add_argument(f"--{name}", type=int, default=default)
    given, _ = parser.parse_known_args()
    cases = [
        (kind, index)
        for kind in KINDS
        for index in range(getattr(given, kind))
        if given.index in (-1, index)
    ]
    tally: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    seconds = []
    hunted = partial(_hunted, seed=given.seed, runs=given.runs)
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        for text, verdict in pool.map(hunted, cases):
            print(text, flush=True)
            tally[verdict.word] += 1
            reasons.update(_kind(reason) for reason in verdict.reasons)
            if not math.isnan(verdict.predict_seconds):
                seconds.append(verdict.predict_seconds)
    for reason, count in reasons.most_common():
        print(f"hunt {count} x {reason}")
    print(
        f"hunt seed {given.seed}: {dict(tally)}, "
        f"{np.mean(np.array(seconds) < SECONDS):.0%} of {len(seconds)} predictions below "
        f"{SECONDS:g} s"
    )


if __name__ == "__main__":
    main()
