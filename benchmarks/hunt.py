"""Random settings over the whole record: does the theory ever disagree with exact runs?

``python -m benchmarks.hunt --seed 7 --narrow 20 --wide 6 --small 40``.  Every setting is predicted,
simulated and judged by ``compare`` at its own level, 1e-3: of a thousand settings one disagrees by
chance.  Beside that verdict every number that a table prints is looked at by itself: one that is
off by more than SILENT_SIGMAS standard errors and by more than SILENT_SHARE of itself while the
verdict says "agrees" is looked at again, with SECOND_RUNS runs of another seed: it is counted as
silent if it is off in these too.  One line each, then for each kind the counts, the reasons of
refusals and of parts left open, the seconds of the predictions, and every flagged setting as a
line of Python.  ``--index 3`` takes that one alone, ``--runs 200`` with so many runs,
``--processes 16`` shares the settings out, ``--brief 1`` prints the summary alone.

Six kinds of settings: narrow networks at d of some thousands, networks of linear width after one
or two steps (wide) and after three or four on fresh batches (many), and the sizes of a first try
(small): d = 20 to 150, p = 1 to 2 d, n = d to d^3, one to four steps, with
every field that a first try may change (benchmarks/_hunted.py).  The fifth (words) has narrow
networks at d of 300 to 3000 with any words of the record, the sixth (inputs) shifted, spiked and
blocked inputs, clusters and power laws with random numbers and frames, a fifth of them at linear
width after one step.  The summary says which share of a kind has a prediction.
"""

from __future__ import annotations

import argparse
import math
import re
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np

from benchmarks._hunted import KINDS, draw
from giantstep.errors import DivergenceError, NotConvergedError, NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import Comparison, compare
from giantstep.records.differences import shown_numbers
from giantstep.records.observables import expectations, observed
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

SECONDS = 2.0
"""What a prediction may take of a core, whatever else runs on it."""

SILENT_SIGMAS, SILENT_SHARE = 4.5, 0.12
"""How far a printed number must be off, in its standard errors and as a share of itself, to count
as wrong: of normal numbers with many runs one of 1e5 is so by chance."""

SECOND_RUNS = 60
"""Runs of the second look.  The standard error of 6 runs is 4.5 times too small for one number in
150, and where labels have heavy tails for more: five such numbers of 560 settings, in 60 to 200
runs of another seed, were none of them off."""

ROUNDING = 1e-6
"""What is exactly 0 in a prediction may be this in a run of single precision."""

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
    broken: bool = False

    @property
    def word(self) -> str:
        if self.compared is None:
            return "BROKEN" if self.broken else "refused"
        if not self.compared.agrees:
            return "DISAGREES"
        return "SILENT" if self.off else "agrees"

    @property
    def flagged(self) -> bool:
        """Whether something is wrong: a disagreement, a silent one, or an exception."""
        return self.word not in ("agrees", "refused")


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
        simulated = finite_runs(setting)
        compared = compare(predicted, simulated)
    except DivergenceError as refusal:
        reason = f"simulation: {str(refusal).split(':', maxsplit=1)[0]}"
        return Verdict(theory, None, (reason,), middle - begin)
    end = time.process_time()
    return Verdict(
        theory,
        compared,
        tuple(note for note in predicted.notes if note.startswith("no prediction")),
        middle - begin,
        end - middle,
        printed_numbers_off(predicted, simulated),
    )


def finite_runs(setting: Setting) -> Trajectory:
    """The runs, in double precision where single precision (up to 1e38) does not hold them."""
    try:
        return simulate(setting)
    except DivergenceError:
        return simulate(setting.vary(precision="float64"))


def printed_numbers_off(predicted: Trajectory, simulated: Trajectory) -> tuple[str, ...]:
    """Names of the numbers of a table that are clearly off, with what was measured and predicted.

    Their standard error is that of the runs, which few runs of heavy tails do not show (then the
    comparison knows it), and that of the mean over the runs of a prediction that draws them.
    """
    found = []
    theory, known = expectations(predicted), observed(simulated)
    tails = {part.name: part.deviation for part in shown_numbers(predicted, simulated)}
    for name in theory.keys() & known.keys():
        values, rows, expected = known[name], theory[name].values, theory[name].mean
        mean = values.mean(axis=0)
        error = np.maximum(values.std(axis=0, ddof=1), tails.get(name, 0.0))
        error = error / math.sqrt(len(values))
        if len(rows) > 1:
            error = np.hypot(error, rows.std(axis=0, ddof=1) / math.sqrt(len(rows)))
        gap = np.abs(mean - expected)
        off = (gap > SILENT_SIGMAS * error + ROUNDING) & (gap > SILENT_SHARE * np.abs(mean))
        found += [
            f"{name} after step {step}: {mean[step]:.3g} +- {error[step]:.1g}, "
            f"predicted {expected[step]:.3g}"
            for step in np.flatnonzero(off)
        ]
    return tuple(found)


def words(setting: Setting) -> str:
    """The fields that are not the record's own defaults, as they are written in Python."""
    plain, usual = setting.as_dict(), Setting("x1").as_dict()
    given = {k: v for k, v in plain.items() if v != usual.get(k) or k in ("d", "n", "p", "steps")}
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


@dataclass(frozen=True)
class Hunted:
    """One setting of the hunt: its kind and number, its line, and what came of it."""

    kind: str
    index: int
    text: str
    verdict: Verdict


def _hunted(case: tuple[str, int], seed: int, runs: int) -> Hunted:
    """One setting and its line."""
    kind, index = case
    setting = draw(seed, index, kind)
    if runs:
        setting = setting.vary(runs=runs)
    try:
        verdict = judge(setting)
        if verdict.word == "SILENT":
            again = max(setting.runs, SECOND_RUNS)
            setting = setting.vary(runs=again, seed=setting.seed + 1)
            verdict = judge(setting)
    except Exception:  # a defect: the hunt goes on and shows where it is
        [*_, last] = traceback.format_exc(limit=-1).splitlines()
        verdict = Verdict("-", None, (last,), broken=True)
    return Hunted(kind, index, line(setting, verdict), verdict)


def summary(kind: str, hunted: list[Hunted]) -> str:
    """Counts, seconds, reasons and the flagged settings of one kind."""
    verdicts = [each.verdict for each in hunted]
    tally = Counter(verdict.word for verdict in verdicts)
    partly = sum(verdict.compared is not None and bool(verdict.reasons) for verdict in verdicts)
    share = np.mean([verdict.theory != "-" for verdict in verdicts])
    lines = [
        f"hunt {kind}: {len(hunted)} settings, {dict(tally)}, {share:.0%} with a prediction, "
        f"{partly} with parts left open"
    ]
    times = np.array([(v.predict_seconds, v.simulate_seconds) for v in verdicts if v.compared])
    if len(times):
        predicted, ratio = times[:, 0], times[:, 0] / np.maximum(times[:, 1], 1e-3)
        half, most, worst = np.quantile(predicted, (0.5, 0.95, 1.0))
        lines.append(
            f"hunt {kind} seconds of a prediction: median {half:.2f}, 95 % {most:.2f}, worst "
            f"{worst:.1f}, {np.mean(predicted < SECONDS):.0%} below {SECONDS:g}; over the "
            f"simulation's: median {np.median(ratio):.2f}"
        )
    reasons = Counter(_kind(reason) for verdict in verdicts for reason in verdict.reasons)
    lines += [f"hunt {kind} {count} x {reason}" for reason, count in reasons.most_common()]
    flagged = [each for each in hunted if each.verdict.flagged]
    return "\n".join(lines + [f"hunt {kind} {each.index} {each.text}" for each in flagged])


def main() -> None:
    """Hunt: one line a setting, then a summary of each kind."""
    parser = argparse.ArgumentParser()
    defaults = {
        "seed": 1,
        "narrow": 4,
        "wide": 2,
        "small": 4,
        "many": 0,
        "words": 0,
        "inputs": 0,
        "runs": 0,
        "index": -1,
        "brief": 0,
    }
    for name, default in (defaults | {"processes": 1}).items():
        parser.add_argument(f"--{name}", type=int, default=default)
    given, _ = parser.parse_known_args()
    cases = [
        (kind, index)
        for kind in KINDS
        for index in range(getattr(given, kind))
        if given.index in (-1, index)
    ]
    hunted = []
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        for each in pool.map(partial(_hunted, seed=given.seed, runs=given.runs), cases):
            hunted.append(each)
            if not given.brief:
                print(f"hunt {each.kind} {each.index} {each.text}", flush=True)
    print(f"hunt seed {given.seed}")
    for kind in KINDS:
        of_kind = [each for each in hunted if each.kind == kind]
        if of_kind:
            print(summary(kind, of_kind), flush=True)


if __name__ == "__main__":
    main()
