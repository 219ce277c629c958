"""Whether ``giantstep report`` tells the truth: planted tables, real ones, shuffled labels.

Of planted tables the number of certain directions, their columns and what is said to be better are
compared with the truth; of every kind of interval the share that holds the truth is counted.  Of
real tables a quarter of the rows is kept back, and the score of the report is compared with what
its fits explain of these.  Shuffled labels must give no certain direction.  ``--repeats 4`` draws
of every planted table, ``--rows 300``, ``--shuffles 200``, ``--quick`` for quick reports.
``--part`` planted, real, shuffled or speed chooses some of the four, ``--table`` some tables.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import datasets
from threadpoolctl import threadpool_limits

from giantstep.reports.columns import Prepared, prepare
from giantstep.reports.comparison import best_peer
from giantstep.reports.interval import Interval, explained
from giantstep.reports.labels import Labels, make_labels
from giantstep.reports.models import GIANT_STEPS, LINEAR, fit_model, predict_scores
from giantstep.reports.plan import FULL, QUICK, Plan
from giantstep.reports.record import Report
from giantstep.reports.report import Work, begin, finish
from giantstep.reports.table import Table, table_of

Array = np.ndarray

COLUMNS = 6
"""Columns of planted tables."""

TEST_ROWS = 20_000
"""Fresh rows that the truth is measured on."""


@dataclass(frozen=True)
class Planted:
    """A table with a known truth.

    label -> of inputs and a generator; axes -> the true directions as weights of the columns;
    along -> E[label | direction 1] where the target has one direction; better -> the peer that is
    to be named, where it is one.
    """

    name: str
    label: Callable[[Array, np.random.Generator], Array]
    axes: tuple[tuple[int, ...], ...]
    along: Callable[[Array], Array] | None = None
    better: str | None = None


def _noise(x: Array, key: np.random.Generator, size: float = 0.3) -> Array:
    return size * key.standard_normal(len(x))


def _mixed(x: Array) -> Array:
    return (x[:, 0] - x[:, 1]) / np.sqrt(2.0)


PLANTED = (
    Planted(
        "bent line",
        lambda x, key: np.tanh(2.0 * _mixed(x)) + _noise(x, key),
        ((0, 1),),
        lambda u: np.tanh(2.0 * u),
    ),
    Planted("absolute value", lambda x, key: np.abs(_mixed(x)) + _noise(x, key), ((0, 1),), np.abs),
    Planted("product", lambda x, key: x[:, 0] + x[:, 0] * x[:, 1] + _noise(x, key), ((0,), (1,))),
    Planted(
        "two classes",
        lambda x, key: np.where(
            key.random(len(x)) < 1.0 / (1.0 + np.exp(-4.0 * _mixed(x))), "b", "a"
        ),
        ((0, 1),),
        lambda u: 1.0 / (1.0 + np.exp(-4.0 * u)),
    ),
    Planted("nothing", lambda x, key: key.standard_normal(len(x)), ()),
    Planted(
        "jumps",
        lambda x, key: np.sum(np.sign(np.sin(2.5 * x)), axis=1) + _noise(x, key),
        (),
        better="boosting",
    ),
)


def drawn(planted: Planted, rows: int, seed: int) -> Table:
    """Gaussian inputs and their labels."""
    key = np.random.default_rng(seed)
    x = key.standard_normal((rows, COLUMNS))
    return table_of(x, planted.label(x, key))


def fold_scores(work: Work, fresh: Table, model: str) -> list[float]:
    """What the fits of the folds explain of fresh rows, fold by fold."""
    problem = work.problem
    prepared, labels = _as_before(work, fresh)
    scores = []
    for fold in range(problem.folds):
        train = problem.train(fold)
        pipeline = work.held.pipelines.get(fold) if model == GIANT_STEPS else None
        with threadpool_limits(1):
            if pipeline is None:
                pipeline = fit_model(model, problem.prepared, problem.labels, train)
            predicted = predict_scores(pipeline, prepared, labels, np.arange(len(fresh)))
        mean = problem.labels.scores[train].mean(axis=0)
        total = np.sum((labels.scores - mean) ** 2)
        scores.append(1.0 - float(np.sum((labels.scores - predicted) ** 2) / total))
    return scores


def _as_before(work: Work, fresh: Table) -> tuple[Prepared, Labels]:
    """Fresh rows with the columns and the classes of the table of a report."""
    kept = [c for c in fresh.columns if c.name in work.problem.prepared.sources]
    task = "classes" if work.problem.labels.classes else "numbers"
    return prepare(Table(tuple(kept), fresh.label)), make_labels(fresh.label, task)


def intervals(work: Work, record: Report, planted: Planted, seed: int) -> list[tuple[str, bool]]:
    """Every kind of interval, and whether it holds the truth."""
    fresh = drawn(planted, TEST_ROWS, seed + 10_000)
    score, line = (float(np.mean(fold_scores(work, fresh, m))) for m in (GIANT_STEPS, LINEAR))
    listed = [("score", _holds(record.score, score))]
    straight = next(m for m in record.models if m.name == LINEAR)
    assert straight.gain is not None
    listed.append(("gain of a peer", _holds(straight.gain, line - score)))
    assert record.gaussianity is not None
    listed.append(("kurtosis", _holds(record.gaussianity.random, 3.0)))
    if planted.along is None or len(record.directions) != 1:
        return listed + _ahead(work, record, planted, seed)
    [direction], [axis] = record.directions, planted.axes
    truth = np.zeros(COLUMNS)
    truth[list(axis)] = (1.0, -1.0) / np.sqrt(2.0)
    found = np.zeros(COLUMNS)
    for weight in direction.weights:
        found[int(weight.column[1:]) - 1] = weight.weight.value
    sign = float(np.sign(found @ truth))
    for weight in direction.weights:
        place = int(weight.column[1:]) - 1
        listed.append(("weight of a column", _holds(weight.weight, sign * truth[place])))
    curve = direction.curve
    true = planted.along(sign * curve.at)
    row = curve.values.shape[0] - 1
    inside = (curve.low[row] <= true) & (true <= curve.high[row])
    listed += [("band of the fit", bool(each)) for each in inside]
    return listed + _ahead(work, record, planted, seed)


def _ahead(work: Work, record: Report, planted: Planted, seed: int) -> list[tuple[str, bool]]:
    """Whether a fit on twice as many fresh rows explains what was extrapolated."""
    assert record.curve is not None
    point = record.curve.at(2.0)
    twice, fresh = (
        drawn(planted, rows, seed + more)
        for rows, more in ((point.rows, 20_000), (TEST_ROWS, 30_000))
    )
    labels = make_labels(twice.label)
    with threadpool_limits(1):
        pipeline = fit_model(GIANT_STEPS, prepare(twice), labels, np.arange(len(twice)))
        predicted = predict_scores(
            pipeline, prepare(fresh), make_labels(fresh.label), np.arange(TEST_ROWS)
        )
    y = make_labels(fresh.label).scores
    score = 1.0 - float(np.sum((y - predicted) ** 2) / np.sum((y - y.mean(axis=0)) ** 2))
    return [("score at twice the rows", _holds(point.score, score))]


def _holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def true_sentences(record: Report, planted: Planted) -> dict[str, bool]:
    """Which of the answers agree with the truth."""
    certain = [d for d in record.directions if d.certain]
    peer = best_peer(record.models)
    leading = (
        {int(w.column[1:]) - 1 for d in certain for w in d.weights[: len(planted.axes[0])]}
        if planted.axes
        else set()
    )
    return {
        "predictable": record.predictable == (planted.name != "nothing"),
        "directions": len(certain) == len(planted.axes) if planted.better is None else True,
        "columns": leading == {k for axis in planted.axes for k in axis} if planted.axes else True,
        "better": (peer.name if peer is not None else None) == planted.better,
    }


def run_planted(repeats: int, rows: int, plan: Plan, only: list[str] | None) -> None:
    """Answers against the truth, and coverage of intervals, table by table."""
    for planted in PLANTED:
        if only and planted.name not in only:
            continue
        covered: dict[str, list[bool]] = defaultdict(list)
        right: dict[str, int] = defaultdict(int)
        spent = 0.0
        for seed in range(repeats):
            begun = time.process_time()
            work = begin(drawn(planted, rows, seed), plan=plan)
            record = finish(work)
            spent += time.process_time() - begun
            for name, true in true_sentences(record, planted).items():
                right[name] += true
            for name, inside in intervals(work, record, planted, seed):
                covered[name].append(inside)
        told = ", ".join(f"{name} {count}/{repeats}" for name, count in right.items())
        seconds = spent / repeats
        print(f"planted {planted.name}, n = {rows}: true {told}; {seconds:.1f} s CPU a report")
        held = ", ".join(f"{name} {sum(each)}/{len(each)}" for name, each in covered.items())
        print(f"  95 % intervals that hold the truth: {held}", flush=True)


# -- real tables ----------------------------------------------------------------------------------


def _neuron() -> tuple[Array, Array]:
    """Inputs of a trained network on digits, and the activation of its most active neuron."""
    from sklearn.neural_network import MLPClassifier

    x, y = datasets.load_digits(return_X_y=True)
    network = MLPClassifier((16,), max_iter=60, random_state=0)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sixty passes are enough for a neuron to look at
        network.fit(x / 16.0, y)
    hidden = np.maximum(x / 16.0 @ network.coefs_[0] + network.intercepts_[0], 0.0)
    return x, hidden[:, int(np.argmax(hidden.var(axis=0)))]


REAL: dict[str, Callable[[], tuple[Array, Array]]] = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
    "cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "neuron on digits": _neuron,
}
"""Tables that scikit-learn brings, and a neuron that was trained on one."""


def run_real(plan: Plan, only: list[str] | None, most: int = 400) -> None:
    """The score of a report against what its fits explain of rows that were kept back."""
    for name, load in REAL.items():
        if only and name not in only:
            continue
        x, y = load()
        order = np.random.default_rng(0).permutation(len(y))
        cut = min(len(y) * 3 // 4, most)
        train, test = order[:cut], order[cut:]
        begun = time.process_time()
        work = begin(table_of(x[train], y[train]), plan=plan)
        record = finish(work)
        seconds = time.process_time() - begun
        kept = table_of(x[test], y[test])
        score, error = _kept_back(work, kept)
        peer = best_peer(record.models)
        z = (score - record.score.value) / np.hypot(error, record.score.error)
        print(
            f"real {name}, {cut} rows: {record.score.percent} explained, {score:.1%} of rows kept "
            f"back ({z:+.1f} standard errors); {record.certain} certain directions; better: "
            f"{peer.name if peer is not None else 'none'}; {seconds:.0f} s CPU",
            flush=True,
        )


def _kept_back(work: Work, kept: Table) -> tuple[float, float]:
    """Mean score of the folds' fits on rows kept back, and its standard error over rows."""
    problem = work.problem
    prepared, labels = _as_before(work, kept)
    place = [problem.labels.classes.index(c) for c in labels.classes] if labels.classes else [0]
    scores = np.zeros((len(kept), problem.labels.scores.shape[1]))
    scores[:, place] = labels.scores
    losses, totals = np.zeros(len(kept)), np.zeros(len(kept))
    for fold, pipeline in work.held.pipelines.items():
        predicted = predict_scores(pipeline, prepared, problem.labels, np.arange(len(kept)))
        mean = problem.labels.scores[problem.train(fold)].mean(axis=0)
        losses += np.sum((scores - predicted) ** 2, axis=1)
        totals += np.sum((scores - mean) ** 2, axis=1)
    share = explained(losses, totals, np.arange(len(kept)))
    return share.value, share.error


def run_shuffled(shuffles: int, rows: int) -> None:
    """How often labels that were shuffled give a certain direction, or a score beyond zero."""
    false = 0
    for seed in range(shuffles):
        planted = PLANTED[seed % 2]
        table = drawn(planted, rows, seed)
        y = np.random.default_rng(seed).permutation(table.label.values)
        labels = make_labels(table_of(np.zeros((len(y), 1)), y).label)
        with threadpool_limits(1):
            pipeline = fit_model(GIANT_STEPS, prepare(table), labels, np.arange(rows))
        false += int(pipeline[-1].n_directions_ > 0)
    print(
        f"shuffled labels, n = {rows}: {false} of {shuffles} tables have a certain direction",
        flush=True,
    )


def run_speed(plan: Plan) -> None:
    """Processor time of a report of 1,000 rows and 30 columns."""
    key = np.random.default_rng(0)
    x = key.standard_normal((1_000, 30))
    y = np.tanh(x[:, 0] - x[:, 3]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * key.standard_normal(1_000)
    begun = time.process_time()
    record = finish(begin(table_of(x, y), plan=plan))
    print(
        f"1,000 x 30: {time.process_time() - begun:.1f} s CPU, {record.memory:,.0f} MiB",
        flush=True,
    )


def main() -> None:
    """Run the parts that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=("planted", "real", "shuffled", "speed"))
    parser.add_argument("--table", action="append", help="only this planted or real table")
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--shuffles", type=int, default=200)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(sys.argv[1:])
    plan = QUICK if options.quick else FULL
    parts: dict[str, Callable[[], Any]] = {
        "planted": lambda: run_planted(options.repeats, options.rows, plan, options.table),
        "real": lambda: run_real(plan, options.table),
        "shuffled": lambda: run_shuffled(options.shuffles, options.rows),
        "speed": lambda: run_speed(plan),
    }
    for name in options.part or parts:
        parts[name]()
