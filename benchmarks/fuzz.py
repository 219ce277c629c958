"""Random settings and command lines, good, odd and hostile: nothing but an answer or a sentence.

``python -m benchmarks fuzz --cases 100000 --seed 1``.  Case k of a seed is the same whenever it is
drawn; ``--kind simulate --index 17`` shows one alone.  Each kind runs in a process of its own, that
is ended and begun anew after a case that takes longer than LIMIT.  Counted are tracebacks (an
exception that is none of ``errors.py``, an exit code other than 0, 1 and 2, a complaint that is not
one line), hangs, NaN that no note leaves open, and negative errors; each is printed with its case.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks._fuzz_values import FIELDS, HOSTILE, chosen, fields, target, value
from giantstep.analysis.analyze import analyze
from giantstep.cli.commands import COMMANDS
from giantstep.errors import DivergenceError, InputError, NotConvergedError, NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.cost import flops, peak_bytes
from giantstep.simulation.simulate import simulate

LIMIT = 120.0
"""Seconds after which a case hangs: what is run here takes some seconds at most."""

MOST_WORK, MOST_BYTES = 3e8, 2**28
"""Operations and bytes of a setting that is run; larger ones are only built."""

SENTENCES = (InputError, NoTheoryError, NotConvergedError, DivergenceError)

Key = np.random.Generator


class Defect(Exception):  # noqa: N818 - what the fuzzer looks for
    """Something that must not happen."""


# -- what is tried --------------------------------------------------------------------------------


def built(key: Key) -> Setting:
    """A setting; what it says of itself gives it back."""
    setting = Setting(**fields(key))
    repr(setting)
    if setting.unstorable is None and Setting(**setting.as_dict()) != setting:
        raise Defect("as_dict gives another setting")
    return setting


def small(key: Key) -> Setting | None:
    """A setting that is run in little time, None for another."""
    setting = built(key)
    if flops(setting) * setting.runs > MOST_WORK or peak_bytes(setting) > MOST_BYTES:
        return None
    return setting if setting.steps <= 50 and setting.runs <= 20 else None


def try_setting(key: Key) -> None:
    """Build a setting, and one of it with another field."""
    setting = built(key)
    name = chosen(key, FIELDS)
    setting.vary(**{name: value(key, name)})


def try_analyze(key: Key) -> None:
    """Analyze a target; the record is plain JSON."""
    text = target(key)
    activation = value(key, "activation")
    record = analyze(text, activation, label_degree=chosen(key, (1, 2, 3)))
    json.dumps(record.as_dict(), allow_nan=False)


def try_simulate(key: Key) -> None:
    """Simulate a small setting."""
    setting = small(key)
    if setting is not None:
        _check(simulate(setting), open_nan=False)


def try_predict(key: Key) -> None:
    """Predict a small setting; a theory may leave something open, with a note."""
    setting = small(key)
    if setting is not None:
        found = predict(setting)
        _check(found, open_nan=bool(found.notes))


def _check(found: Trajectory, *, open_nan: bool) -> None:
    """No NaN, no infinity, and no error, norm or uncertainty below 0."""
    for name, values in found.arrays().items():
        if values.dtype.kind != "f":
            continue
        padded = "." in name  # spectra hold NaN where there are fewer outliers than columns
        if np.any(np.isinf(values)) or (np.any(np.isnan(values)) and not (open_nan or padded)):
            raise Defect(f"{name} is not finite, theory {found.theory}, notes {found.notes}")
        signed = name.endswith(("_error", "_uncertainty", "norms"))
        if signed and np.any(values < -1e-9):
            raise Defect(f"{name} has {np.nanmin(values):g}, theory {found.theory}")


# -- command lines --------------------------------------------------------------------------------

FLAGS = ("--json", "--quiet", "--bogus", "--help", "-x", "--out", "--overwrite", "--memory")
QUICK = ("analyze", "activation", "explain", "catalog", "cite", "claims --list", "reproduce --list")


def arguments(key: Key) -> list[str]:
    """A command line that does little: words of commands, flags of fields, anything."""
    kind = int(key.integers(8))
    typed = [word for pair in _typed(key).items() for word in pair]
    if kind == 0:
        words = [str(chosen(key, HOSTILE)) for _ in range(key.integers(4))]
        return [chosen(key, COMMANDS).name, *words, "--help"]
    if kind == 1:
        return ["cite", chosen(key, ("learn", "spectrum", "sweep")), *typed]
    if kind == 2:
        vary = f"{chosen(key, FIELDS)}={value(key, chosen(key, FIELDS))}"
        return ["sweep", "--target", str(target(key)), *typed, "--vary", vary, "--dry-run"]
    if kind == 3:
        words = [*chosen(key, QUICK).split(), str(target(key))]
        return [*words, *(chosen(key, FLAGS) for _ in range(key.integers(2)))]
    if kind == 4:
        return ["analyze", str(target(key)), "--activation", str(value(key, "activation"))]
    if kind == 5:
        return ["explain", str(chosen(key, (*FIELDS, *HOSTILE)))]
    return ["learn", str(target(key)), *typed, *(chosen(key, FLAGS[:3]),) * int(key.integers(2))]


def _typed(key: Key) -> dict[str, str]:
    """Flags of a setting, over those of a tiny one."""
    drawn = {name: text for name, text in fields(key).items() if name != "target"}
    return {
        f"--{name.replace('_', '-')}": str(text) for name, text in drawn.items() if text is not None
    }


def _takes_long(words: Sequence[str]) -> bool:
    """Whether a command would run a setting that is large."""
    if words[0] != "learn":
        return False
    names = [name.replace("_", "-") for name in FIELDS]
    flags = dict(pairwise(words))
    given: dict[str, Any] = {
        name.replace("-", "_"): flags[f"--{name}"] for name in names if f"--{name}" in flags
    }
    try:
        setting = Setting(words[1], **given)
    except InputError:
        return False
    work = flops(setting) * setting.runs
    return work > MOST_WORK or peak_bytes(setting) > MOST_BYTES or setting.steps > 50


def try_command(key: Key) -> None:
    """Call the command line in this process."""
    from giantstep.cli.main import main

    words = arguments(key)
    if _takes_long(words):
        return
    out, err, code = io.StringIO(), io.StringIO(), 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main(words)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 99
    _judge(words, code, out.getvalue(), err.getvalue())


def try_process(key: Key) -> None:
    """Call the command line as a shell does."""
    words = [word.replace("\0", "") for word in arguments(key)]
    if _takes_long(words):
        return
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "giantstep.cli.main", *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
    _judge(words, done.returncode, done.stdout, done.stderr)


def _judge(words: Sequence[str], code: int, out: str, err: str) -> None:
    if "Traceback" in err or code not in (0, 1, 2):
        raise Defect(f"exit code {code} of {words}: {err[-2000:]}")
    if code == 2 and (out or not err.startswith("giantstep: ") or err.count("\n") != 1):
        raise Defect(f"not one sentence on standard error of {words}: {err[-500:]} {out[-200:]}")
    for text in ("nan", "NaN"):
        if "--json" in words and f": {text}" in out:
            raise Defect(f"NaN in the JSON of {words}")


KINDS: dict[str, tuple[Callable[[Key], None], float]] = {
    "setting": (try_setting, 0.8),
    "command": (try_command, 0.09),
    "analyze": (try_analyze, 0.06),
    "simulate": (try_simulate, 0.04),
    "predict": (try_predict, 0.008),
    "process": (try_process, 0.002),
}
"""What is tried, and the share of the cases."""


# -- cases in a process that may be ended ---------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What became of a case: fine, refused, defect or hang, in how many seconds."""

    index: int
    word: str
    text: str
    seconds: float


def attempt(kind: str, seed: int, index: int) -> Outcome:
    """Try one case in this process."""
    key = np.random.default_rng([seed, list(KINDS).index(kind), index])
    begin, word, text = time.perf_counter(), "fine", ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            KINDS[kind][0](key)
    except SENTENCES as error:
        word, text = "refused", str(error)
        if not text or "\n" in text:
            word, text = "defect", f"not one sentence: {text!r}"
    except Defect as error:
        word, text = "defect", str(error)
    except Exception:
        word, text = "defect", traceback.format_exc()
    return Outcome(index, word, text, time.perf_counter() - begin)


def worked(kind: str, seed: int, first: int, last: int) -> None:
    """Try cases one after another, a line of JSON each."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for index in range(first, last):
        print(json.dumps(vars(attempt(kind, seed, index))), file=out, flush=True)


def outcomes(kind: str, seed: int, count: int, limit: float) -> Iterator[Outcome]:
    """The outcomes of all cases of a kind; one that takes too long is a hang."""
    first = 0
    while first < count:
        words = ["--work", kind, str(seed), str(first), str(count)]
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.fuzz", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=_pass_on, args=(process, lines), daemon=True).start()
        try:
            while first < count:
                line = lines.get(timeout=limit)
                if not line:
                    yield Outcome(first, "defect", "the process died", math.nan)
                    first += 1
                    break
                yield Outcome(**json.loads(line))
                first += 1
        except queue.Empty:
            yield Outcome(first, "hang", f"more than {limit:g} s", limit)
            first += 1
        finally:
            process.kill()
            process.wait()


def _pass_on(process: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")


def main() -> None:
    """Try so many cases, and print the defects and the counts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=list(KINDS))
    parser.add_argument("--index", type=int)
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--work", nargs=4)
    given, _ = parser.parse_known_args()
    if given.work:
        kind, *numbers = given.work
        worked(kind, *map(int, numbers))
        return
    if given.index is not None:
        print(attempt(given.kind or "setting", given.seed, given.index))
        return
    for kind, (_, share) in KINDS.items():
        if given.kind not in (None, kind):
            continue
        count = given.cases if given.kind else math.ceil(given.cases * share)
        tally: Counter[str] = Counter()
        begin, slowest = time.perf_counter(), 0.0
        for found in outcomes(kind, given.seed, count, given.limit):
            tally[found.word] += 1
            slowest = max(slowest, found.seconds)
            if found.word in ("defect", "hang"):
                print(f"fuzz {kind} {found.index} {found.word}: {found.text}", flush=True)
        passed = time.perf_counter() - begin
        words = ", ".join(f"{many} {word}" for word, many in sorted(tally.items()))
        print(f"fuzz {kind}, {count} cases in {passed:.0f} s: {words}; slowest {slowest:.1f} s")


if __name__ == "__main__":
    main()
