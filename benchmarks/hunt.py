"""Random settings over the whole record: does the theory ever disagree with exact runs?

``python -m benchmarks.hunt --seed 7 --narrow 20 --wide 6``.  Every setting is predicted, simulated
and judged by ``compare`` at its own level, 1e-3: of a thousand settings one disagrees by chance.
One line each, then the counts, the reasons of refusals and notes, and the share of predictions that
take less than SECONDS.  ``--index 3`` takes that one alone, ``--runs 200`` with so many runs.
"""

from __future__ import annotations

import argparse
import math
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.errors import DivergenceError, NotConvergedError, NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.problem.starts import READOUT_STARTS, STARTS
from giantstep.records.comparison import Comparison, compare
from giantstep.simulation.simulate import simulate

SECONDS = 2.0
"""What a prediction may take of a core, whatever else runs on it."""

WORK = 1.5e9
"""Products of samples and weights in the runs of a setting: some seconds on one core."""

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


def draw(seed: int, index: int, *, wide: bool) -> Setting:
    """The setting of a seed and a number: redrawn until its runs are done in some seconds."""
    key = np.random.default_rng([seed, index, wide])
    while True:
        fields = _fields(key, wide=wide)
        giant = Setting(**fields)
        sizes = [giant.step_size[0] * _logarithmic(key, 0.3, 3.0) for _ in range(giant.steps)]
        if _work(giant) <= WORK:
            return giant.vary(step_size=[float(f"{size:.3g}") for size in sizes])


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

    @property
    def word(self) -> str:
        if self.compared is None:
            return "refused"
        return "agrees" if self.compared.agrees else "DISAGREES"


def judge(setting: Setting) -> Verdict:
    """Predict, simulate and compare a setting."""
    begin = time.process_time()
    try:
        predicted = predict(setting)
    except (NoTheoryError, NotConvergedError) as refusal:
        return Verdict("-", None, (str(refusal),))
    middle = time.process_time()
    try:
        compared = compare(predicted, simulate(setting))
    except DivergenceError as refusal:
        return Verdict(predicted.theory or "-", None, (f"simulation: {refusal}",), middle - begin)
    end = time.process_time()
    return Verdict(predicted.theory or "-", compared, predicted.notes, middle - begin, end - middle)


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
    found = verdict.compared
    worst = max(
        found.deviations, key=lambda name: np.nanmax(np.abs(found.deviations[name]), initial=0.0)
    )
    return (
        f"{verdict.word} {verdict.theory}: p-value {found.p_value:.2g} of {found.count}, "
        f"{found.sigmas:.1f} sigmas ({worst}), predict {verdict.predict_seconds:.1f} s, "
        f"simulate {verdict.simulate_seconds:.1f} s | Setting({words(setting)})"
    )


def _kind(reason: str) -> str:
    """A reason without its values."""
    return re.sub(r"(, got [^;]*|[-+]?\d[\d.e+-]*)", "", reason)


def main() -> None:
    """Hunt: one line a setting, then the counts."""
    parser = argparse.ArgumentParser()
    for name, default in (("seed", 1), ("narrow", 4), ("wide", 2), ("runs", 0), ("index", -1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given, _ = parser.parse_known_args()
    tally: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    seconds = []
    for wide, count in ((False, given.narrow), (True, given.wide)):
        for index in range(count) if given.index < 0 else [given.index] * (count > 0):
            setting = draw(given.seed, index, wide=wide)
            if given.runs:
                setting = setting.vary(runs=given.runs)
            verdict = judge(setting)
            print(
                f"hunt {'wide' if wide else 'narrow'} {index}", line(setting, verdict), flush=True
            )
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
