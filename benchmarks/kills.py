"""Commands that are killed at random moments: what is left behind, and what going on gives.

``python -m benchmarks kills --kills 50 --seed 1``.  Each trial starts a command (``sweep``, ``learn
--out`` and ``claims`` in turn) in a folder of its own, kills it (SIGKILL) at a moment uniform over
the time an undisturbed one takes, waits for its other processes, and runs the same command again;
one that had ended before is no kill.  Counted are results that differ from the undisturbed ones,
stored runs that a second command has changed, drafts that are left, and processes that live longer
than GONE.  Linux alone: processes are found in /proc by a word in their environment.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from giantstep.store.folder import load

GONE = 5.0
"""Seconds after which no process of a killed command may be there."""

MARK = "GIANTSTEP_KILLS"
"""The variable by which the processes of a trial are known: all of them inherit it."""

SMALL = ["--readout-n", "500", "--test-n", "500", "--quiet"]


def without_times(record: Any) -> Any:
    """A record without what differs between two runs of it: seconds, and when it was made."""
    if isinstance(record, dict):
        left_out = {"seconds", "processor_seconds", "origin"}
        return {key: without_times(value) for key, value in record.items() if key not in left_out}
    return [without_times(value) for value in record] if isinstance(record, list) else record


def _records(folder: Path, pattern: str) -> bytes:
    """JSON files without their times."""
    found = {
        path.name: without_times(json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(folder.glob(pattern))
    }
    return json.dumps(found).encode()


def _sweep_table(folder: Path) -> bytes:
    return (folder / "table.csv").read_bytes()


def _learn_table(folder: Path) -> bytes:
    return load(folder).table.as_csv().encode() + _records(folder, "learn.json")


def _claims_table(folder: Path) -> bytes:
    page = (folder / "quick" / "claims.md").read_text(encoding="utf-8")
    verdicts = re.sub(r"\d+ processor seconds", "", page)
    return _records(folder, "quick/*.json") + verdicts.encode()


@dataclass(frozen=True)
class Subject:
    """A command without its folder, and the bytes of what it gives."""

    arguments: list[str]
    result: Callable[[Path], bytes]


SUBJECTS = {
    "sweep": Subject(
        [
            *("sweep", "--target", "x1 + x1*x2", "--vary", "d=100,200,400", "--n", "2000d"),
            *("--p", "8", "--steps", "2", "--runs", "8", *SMALL),
        ],
        _sweep_table,
    ),
    "learn": Subject(
        ["learn", "x1 + x1*x2", "--d", "2000", "--n", "300d", "--p", "8", "--runs", "8", *SMALL],
        _learn_table,
    ),
    "claims": Subject(
        ["claims", "one-step-line", "one-step-formulas", "--quiet"],
        _claims_table,
    ),
}


def started(subject: Subject, folder: Path, mark: str) -> subprocess.Popen[bytes]:
    """The command at work in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "giantstep.cli.main", *subject.arguments, "--out", str(folder)],
        env=os.environ | {MARK: mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def finished(subject: Subject, folder: Path) -> bytes:
    """What the command gives when it is left alone."""
    process = started(subject, folder, "")
    _, said = process.communicate()
    if process.returncode:
        raise SystemExit(f"kills: {subject.arguments[0]} failed: {said.decode()}")
    return subject.result(folder)


def alive(mark: str) -> list[int]:
    """Processes with a word in their environment, those counted out that have ended."""
    word = f"{MARK}={mark}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if word in (path / "environ").read_bytes().split(b"\0"):
                state = (path / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
                found += [int(path.name)] * (state != "Z")
        except OSError:
            continue
    return found


def digests(folder: Path) -> dict[Path, str]:
    """The stored runs of a folder and what they hold."""
    return {
        path: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*.npz")
        if not path.name.startswith(".")
    }


def trial(subject: Subject, expected: bytes, moment: float) -> dict[str, float]:
    """Kill a command once, go on, and count what is wrong."""
    with TemporaryDirectory(prefix="giantstep-kills-") as place:
        folder, mark = Path(place) / "out", secrets.token_hex(8)
        process = started(subject, folder, mark)
        time.sleep(moment)
        early = process.poll() is None
        process.kill()
        begin = time.perf_counter()
        process.communicate()
        while (left := alive(mark)) and time.perf_counter() - begin < GONE:
            time.sleep(0.01)
        seconds = time.perf_counter() - begin
        kept = digests(folder)
        drafts = len(list(folder.rglob(".*.part")))
        same = finished(subject, folder) == expected
        now = digests(folder)
        return {
            "kills": early,
            "results that differ": not same,
            "stored runs kept": len(kept),
            "stored runs changed": sum(now.get(path) != digest for path, digest in kept.items()),
            "drafts before going on": drafts,
            "drafts left": len(list(folder.rglob(".*.part"))),
            f"processes after {GONE:g} s": len(left),
            "slowest end, s": seconds,
        }


def main() -> None:
    """Print the counts of every command and of all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    given, _ = parser.parse_known_args()
    key = np.random.default_rng(given.seed)
    expected, seconds = {}, {}
    for name, subject in SUBJECTS.items():
        with TemporaryDirectory(prefix="giantstep-kills-") as place:
            begin = time.perf_counter()
            expected[name] = finished(subject, Path(place) / "out")
            seconds[name] = time.perf_counter() - begin
    counts: dict[str, Counter[str]] = {name: Counter() for name in SUBJECTS}
    slowest = 0.0
    while sum(count["kills"] for count in counts.values()) < given.kills:
        name = min(counts, key=lambda each: counts[each]["kills"])
        found = trial(SUBJECTS[name], expected[name], key.uniform(0.0, seconds[name]))
        slowest = max(slowest, found.pop("slowest end, s"))
        counts[name].update({what: int(many) for what, many in found.items()})
    for name, count in counts.items():
        words = ", ".join(f"{what} {many}" for what, many in count.items())
        print(f"kills {name} ({seconds[name]:.0f} s undisturbed): {words}")
    print(f"kills: the last process was gone {slowest:.2f} s after the kill, at the latest")


if __name__ == "__main__":
    main()
