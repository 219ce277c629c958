"""Whether ``giantstep report`` tells the truth: planted tables, real ones, shuffled labels.

Of planted tables every interval and each of the five sentences is compared with the truth, which
fresh rows show.  Of real tables a part of the rows is kept back, and what the report says of
scores, gains and better models is compared with these.  Shuffled labels must give no certain
direction.  A table at the end counts how many intervals hold the truth, and prints the root mean
square of their deviations in standard errors: 1 if they are neither too short nor too long.

``--processes 16`` works on so many tables at a time.  ``--repeats`` draws of every planted table
with ``--rows``, ``--splits`` of every real one, ``--shuffles`` tables with shuffled labels.
``--quick`` for quick reports; those of shuffled labels always are.  ``--part`` planted, real,
shuffled or speed chooses some of the four, ``--table`` some tables, ``--seed`` other draws.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._report_tables import NAMES, PLANTED, load
from benchmarks._report_truth import (
    TEST_ROWS,
    Checked,
    ahead_intervals,
    checked,
    direction_intervals,
    fold_losses,
    make_fresh,
    model_intervals,
    other_intervals,
    sentences,
)
from giantstep.reports.comparison import best_peer
from giantstep.reports.models import GIANT_STEPS
from giantstep.reports.plan import FULL, QUICK
from giantstep.reports.report import begin, finish
from giantstep.reports.table import table_of


@dataclass(frozen=True)
class Task:
    """One table: its part of the benchmark, name, seed, rows at most, and how it is reported."""

    part: str
    table: str
    seed: int
    rows: int
    quick: bool = False


@dataclass(frozen=True)
class Done:
    """What was checked of a table, what is printed of it, and the processor time of its report."""

    task: Task
    checks: list[Checked]
    seconds: float
    text: str = ""


def planted(task: Task) -> Done:
    """Intervals and sentences of a planted table against fresh rows."""
    kind = next(each for each in PLANTED if each.name == task.table)
    begun = time.process_time()
    work = begin(kind.draw(task.rows, task.seed), plan=QUICK if task.quick else FULL)
    record = finish(work)
    seconds = time.process_time() - begun
    fresh = make_fresh(work, kind.draw(TEST_ROWS, task.seed + 10_000))
    losses, totals = fold_losses(work, fresh)
    checks = [
        *model_intervals(record, losses, totals),
        *ahead_intervals(work, record, kind, task.seed),
        *other_intervals(work, record, kind, fresh, totals),
        *direction_intervals(work, record, kind, fresh),
    ]
    told = sentences(record, kind, losses, checks)
    wrong = [each.what for each in told if not each.true]
    texts = [f"    {text}" for text in record.answer] if wrong else []
    text = "\n".join([f"not true: {', '.join(wrong)}" if wrong else "all true", *texts])
    return Done(task, [*checks, *told], seconds, text)


def real(task: Task) -> Done:
    """Scores, gains and better models of a report against rows that were kept back."""
    try:
        x, y = load(task.table)
    except ImportError as absent:
        return Done(task, [], 0.0, f"not installed: {absent}")
    order = np.random.default_rng(task.seed).permutation(len(y))
    cut = min(len(y) * 2 // 3, task.rows)
    train, test = order[:cut], order[cut : cut + TEST_ROWS]
    begun = time.process_time()
    work = begin(table_of(x[train], y[train]), plan=QUICK if task.quick else FULL)
    record = finish(work)
    seconds = time.process_time() - begun
    fresh = make_fresh(work, table_of(x[test], y[test]))
    losses, totals = fold_losses(work, fresh)
    checks = model_intervals(record, losses, totals, known=False)
    assert record.curve is not None
    ours, total = fresh.losses(work.pipeline), float(totals.sum())
    share = float(ours.sum()) / total
    error = float(np.std(ours - share * totals)) * len(ours) ** 0.5 / total
    checks.append(checked("score with all rows", record.curve.at(1.0).score, 1.0 - share, error))
    peer, score = best_peer(record.models), 1.0 - losses[GIANT_STEPS].sum() / total
    if peer is not None:
        gain = float(np.sum(losses[GIANT_STEPS] - losses[peer.name]))
        checks.append(Checked("better model is better on rows kept back", gain > 0))
    text = (
        f"{cut} rows, {record.score.percent} explained, {score:.1%} of {len(test):,} kept back "
        f"({checks[0].z:+.1f} standard errors), {record.certain} certain directions, better: "
        f"{peer.name if peer is not None else 'none'}"
    )
    return Done(task, checks, seconds, text)


def shuffled(task: Task) -> Done:
    """What a quick report says of labels that were shuffled."""
    kind = PLANTED[task.seed % 6]
    table = kind.draw(task.rows, task.seed)
    x = np.column_stack([column.values for column in table.columns])
    y = np.random.default_rng(task.seed).permutation(table.label.values)
    begun = time.process_time()
    record = finish(begin(table_of(x, y), plan=QUICK))
    assert record.left is not None
    assert record.drift is not None
    checks = [
        Checked("no direction is certain", record.certain == 0),
        Checked("nothing is said to be predictable", not record.predictable),
        Checked("no peer is said to be better", best_peer(record.models) is None),
        Checked("nothing is said to be left in residuals", not record.left.something),
        Checked("no drift is said to be seen", not record.drift.seen),
    ]
    return Done(task, checks, time.process_time() - begun)


def speed(task: Task) -> Done:
    """Time of a report with two processes, and its memory."""
    rows, columns = map(int, task.table.replace(",", "").split(" x "))
    key = np.random.default_rng(task.seed)
    x = key.standard_normal((rows, columns))
    y = np.tanh(x[:, 0] - x[:, 3]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * key.standard_normal(rows)
    begun, cpu = time.perf_counter(), _processor()
    record = finish(begin(table_of(x, y), plan=QUICK if task.quick else FULL, jobs=2))
    spent, used = time.perf_counter() - begun, _processor() - cpu
    text = f"{spent:.1f} s with two processes, {used:.1f} s of processors, {record.memory:,.0f} MiB"
    return Done(task, [], used, text)


def _processor() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, kinds))


PARTS: dict[str, Callable[[Task], Done]] = {
    "speed": speed,
    "real": real,
    "planted": planted,
    "shuffled": shuffled,
}
"""What is done for a table of each part, the longest first."""


def _run(task: Task) -> Done:
    with threadpool_limits(1):
        return PARTS[task.part](task)


def tasks_of(given: argparse.Namespace) -> list[Task]:
    """All tables, the longest first, so that no process waits for the last of them."""
    sizes = ("100,000 x 100", "1,000 x 30")
    listed = [Task("speed", size, 0, 0, quick) for size in sizes for quick in (False, True)]
    first = given.seed
    for seed in range(first, first + given.splits):
        listed += [Task("real", name, seed, 400, given.quick) for name in NAMES]
    for seed in range(first, first + given.repeats):
        listed += [Task("planted", kind.name, seed, given.rows, given.quick) for kind in PLANTED]
    listed += [
        Task("shuffled", "shuffled labels", seed, given.rows)
        for seed in range(first, first + given.shuffles)
    ]
    parts, tables = given.part or PARTS, given.table
    return [t for t in listed if t.part in parts and (not tables or t.table in tables)]


def counted(done: Iterable[Done]) -> list[str]:
    """A line for every kind of statement: how many are true, and how far intervals are off."""
    kinds: dict[str, list[Checked]] = defaultdict(list)
    for each in done:
        for check in each.checks:
            kinds[check.what].append(check)
    lines = []
    for what, checks in kinds.items():
        true, z = sum(c.true for c in checks), np.array([c.z for c in checks])
        z = z[np.isfinite(z)]
        off = f"{np.sqrt(np.mean(z**2)):.2f}, mean {z.mean():+.2f}" if len(z) else ""
        lines.append(f"| {what} | {true} of {len(checks)} | {true / len(checks):.0%} | {off} |")
    return lines


def main() -> None:
    """Run the parts that are named, or all, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=tuple(PARTS))
    parser.add_argument("--table", action="append", help="only this planted or real table")
    sizes = {"processes": 1, "repeats": 4, "rows": 300, "splits": 2, "shuffles": 200, "seed": 0}
    for name, default in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    # One thread a process, also for what libraries start on their own.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    done = []
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        for future in as_completed([pool.submit(_run, task) for task in tasks_of(given)]):
            each = future.result()
            done.append(each)
            quick = " quick" if each.task.quick else ""
            if each.text:
                print(
                    f"{each.task.part} {each.task.table}{quick}, seed {each.task.seed}: {each.text}"
                )
    for part in PARTS:
        of_part = [each for each in done if each.task.part == part]
        if not of_part:
            continue
        print(f"\n{part}: {np.mean([d.seconds for d in of_part]):.1f} s of a processor a report")
        tables = list(dict.fromkeys(each.task.table for each in of_part))
        for table in tables if part == "planted" else ():
            seen = [c.true for d in of_part if d.task.table == table for c in d.checks]
            print(f"{table}: {sum(seen)} of {len(seen)} statements are true")
        if any(each.checks for each in of_part):
            print("| statement | true | share | rms of deviations, in standard errors |")
            print("|---|---|---|---|")
            print("\n".join(counted(of_part)), flush=True)


if __name__ == "__main__":
    main()
