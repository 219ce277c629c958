"""What a report says of a table, compared with the truth: intervals and the five sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._report_tables import Planted
from giantstep.reports.columns import Prepared, prepare
from giantstep.reports.comparison import residual_trees
from giantstep.reports.directions import Direction
from giantstep.reports.hardness import giant_steps, target_of
from giantstep.reports.interval import Interval
from giantstep.reports.labels import Labels, make_labels
from giantstep.reports.models import GIANT_STEPS, LINEAR, MODELS, fit_model, predict_scores
from giantstep.reports.record import Report
from giantstep.reports.report import Work
from giantstep.reports.table import Table

Array = np.ndarray

TEST_ROWS = 20_000
"""Fresh rows that the truth is measured on."""


@dataclass(frozen=True)
class Checked:
    """A statement that was compared with the truth; z -> its deviation in standard errors."""

    what: str
    true: bool
    z: float = float("nan")


def checked(what: str, interval: Interval, truth: float, error: float = 0.0) -> Checked:
    """Whether an interval holds the truth, which may have an error of its own."""
    z = (interval.value - truth) / max(float(np.hypot(interval.error, error)), 1e-300)
    up, down = (
        np.hypot(end - interval.value, 1.96 * error) for end in (interval.high, interval.low)
    )
    return Checked(what, bool(-down <= truth - interval.value <= up), float(z))


@dataclass(frozen=True)
class Fresh:
    """Rows that no fit has seen, as a report prepares them."""

    prepared: Prepared
    labels: Labels
    rows: Array

    def losses(self, pipeline: Any) -> Array:
        """Squared errors of the fresh rows."""
        with threadpool_limits(1):
            predicted = predict_scores(pipeline, self.prepared, self.labels, self.rows)
        return np.sum((self.labels.scores - predicted) ** 2, axis=1)


def make_fresh(work: Work, table: Table) -> Fresh:
    """Fresh rows with the columns and the classes of the table of a report."""
    kept = [c for c in table.columns if c.name in work.problem.prepared.sources]
    ours = work.problem.labels
    labels = make_labels(table.label, "classes" if ours.classes else "numbers")
    scores = np.zeros((len(table), ours.scores.shape[1]))
    place = [ours.classes.index(c) for c in labels.classes] if labels.classes else [0]
    scores[:, place] = labels.scores
    given = Labels(ours.name, scores, ours.classes)
    return Fresh(prepare(Table(tuple(kept), table.label)), given, np.arange(len(table)))


def fold_losses(work: Work, fresh: Fresh) -> tuple[dict[str, Array], Array]:
    """Squared errors of fresh rows by the folds' fits of all models, and by the mean label."""
    problem, losses = work.problem, {}
    folds = [problem.train(fold) for fold in range(problem.folds)]
    for model in MODELS:
        pipelines = [
            work.held.pipelines[fold]
            if model.name == GIANT_STEPS
            else fit_model(model.name, problem.prepared, problem.labels, train, problem.plan)
            for fold, train in enumerate(folds)
        ]
        losses[model.name] = np.mean([fresh.losses(p) for p in pipelines], axis=0)
    means = [problem.labels.scores[train].mean(axis=0) for train in folds]
    totals = np.mean([np.sum((fresh.labels.scores - m) ** 2, axis=1) for m in means], axis=0)
    return losses, totals


def model_intervals(
    record: Report, losses: dict[str, Array], totals: Array, known: bool = True
) -> list[Checked]:
    """Scores of all models and what peers gain; known -> the truth has no error to speak of."""
    listed, total, ours = [], float(totals.sum()), losses[GIANT_STEPS]

    def truth(values: Array) -> tuple[float, float]:
        mean = float(values.sum()) / total
        error = float(np.std(values - mean * totals)) * np.sqrt(len(values)) / total
        return mean, 0.0 if known else error

    for model in record.models:
        theirs = losses[model.name]
        share, error = truth(totals - theirs)
        name = "score" if model.name == GIANT_STEPS else "score of a peer"
        listed.append(checked(name, model.score, share, error))
        if model.gain is not None:
            listed.append(checked("gain of a peer", model.gain, *truth(ours - theirs)))
    return listed


def ahead_intervals(work: Work, record: Report, planted: Planted, seed: int) -> list[Checked]:
    """Whether fits on all rows, and on twice as many, explain what was extrapolated."""
    assert record.curve is not None
    now, twice = record.curve.at(1.0), record.curve.at(2.0)
    more = planted.draw(twice.rows, seed + 20_000)
    fresh = make_fresh(work, planted.draw(TEST_ROWS, seed + 30_000))
    with threadpool_limits(1):
        labels, rows = make_labels(more.label), np.arange(len(more))
        larger = fit_model(GIANT_STEPS, prepare(more), labels, rows, work.problem.plan)
    y = fresh.labels.scores
    total = np.sum((y - y.mean(axis=0)) ** 2)
    scores = [1.0 - float(fresh.losses(p).sum() / total) for p in (work.pipeline, larger)]
    return [
        checked("score with all rows", now.score, scores[0]),
        checked("score at twice the rows", twice.score, scores[1]),
    ]


def other_intervals(
    work: Work, record: Report, planted: Planted, fresh: Fresh, totals: Array
) -> list[Checked]:
    """Accuracy, residual test, kurtosis and simulated steps."""
    assert record.gaussianity is not None
    assert record.left is not None
    law, listed = record.gaussianity, []
    if not planted.words:
        listed.append(checked("kurtosis of random directions", law.random.kurtosis, 3.0))
        for along in law.found:
            listed.append(checked("kurtosis along a direction", along.kurtosis, 3.0))
            listed.append(Checked("Gaussian rows are not called far", along.verdict != "far"))
    folds = [
        predict_scores(p, fresh.prepared, fresh.labels, fresh.rows)
        for p in work.held.pipelines.values()
    ]
    if record.accuracy is not None:
        right = [np.mean(each.argmax(axis=1) == fresh.labels.place) for each in folds]
        listed.append(checked("accuracy", record.accuracy, float(np.mean(right))))
    _, front, fitted = residual_trees(work.held)
    x, gains = front.transform(fresh.prepared.rows), []
    corrections = [np.column_stack([t.predict(x) for t in trees]) for trees in fitted]
    for each in folds:
        residual = fresh.labels.scores - each
        for correction in corrections:
            after = residual.copy()
            after[:, : correction.shape[1]] -= correction
            gains.append(float(np.sum(residual**2) - np.sum(after**2)))
    truth = float(np.mean(gains)) / float(totals.sum())
    listed.append(checked("share left in residuals", record.left.share, truth))
    return listed + _steps(work, record)


def _steps(work: Work, record: Report, runs: int = 400) -> list[Checked]:
    """Cosines of simulated steps against those of many more networks."""
    hard, target = record.hardness, target_of(work.pipeline[-1])
    if hard is None or target is None:
        return []
    c = work.pipeline[-1]._inputs.to_white.shape[1]
    many = giant_steps(target, c, hard.rows, record.score, runs, hard.neurons)
    return [
        checked("cosine of simulated steps", few, more.value, more.error)
        for few, more in zip(hard.steps, many, strict=True)
    ]


def direction_intervals(
    work: Work, record: Report, planted: Planted, fresh: Fresh
) -> list[Checked]:
    """Weights of columns, the band of the fitted curve, and what is lost without the direction."""
    if planted.words or not record.certain == len(planted.axes) == len(record.directions) > 0:
        return []
    listed: list[Checked] = []
    basis = planted.basis
    for direction, axis in zip(record.directions, basis, strict=True):
        weights = np.zeros(basis.shape[1])
        for each in direction.weights:
            weights[_column(each.column)] = each.weight.value
        sign = float(np.sign(weights @ axis))
        truth = sign * axis
        listed += [
            checked("weight of a column", each.weight, float(truth[_column(each.column)]))
            for each in direction.weights
        ]
        listed += _correlations(direction, sign, axis, fresh)
        if planted.along is None or len(record.directions) != 1:
            continue
        curve, row = direction.curve, direction.curve.values.shape[0] - 1
        true = _along(work, planted, fresh, curve.at)
        inside = (curve.low[row] <= true) & (true <= curve.high[row])
        listed += [Checked("band of the fit, points", bool(each)) for each in inside]
        listed.append(_loss(work, direction.loss, fresh))
    return listed


def _correlations(direction: Direction, sign: float, axis: Array, fresh: Fresh) -> list[Checked]:
    """Correlations of columns with the true coordinate, on fresh rows."""
    rows = np.asarray(fresh.prepared.rows, dtype=float)
    true = sign * np.corrcoef(rows.T, rows @ axis)[-1, :-1]
    return [
        checked("correlation of a column", each.weight, float(true[_column(each.column)]))
        for each in direction.correlations
    ]


def _along(work: Work, planted: Planted, fresh: Fresh, at: Array) -> Array:
    """E[label | fitted coordinate]: the true one is Gaussian given it, close to a line."""
    assert planted.along is not None
    rows = np.asarray(fresh.prepared.rows, dtype=float)
    found = work.pipeline[-1].transform(work.pipeline[0].transform(fresh.prepared.rows))[:, 0]
    true = rows @ planted.basis[0]
    true /= true.std()
    slope, offset = np.polyfit(found, true, 1)
    spread = float(np.std(true - slope * found - offset))
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    values = planted.along(slope * at[:, None] + offset + spread * nodes)
    return values @ (weights / weights.sum())


def _loss(work: Work, loss: Interval, fresh: Fresh) -> Checked:
    """Without its only direction the network is a constant: it loses what the network explains."""
    shares = []
    for pipeline in work.held.pipelines.values():
        model, x = pipeline[-1], pipeline[0].transform(fresh.prepared.rows)
        if model.n_fitted_:
            y = fresh.labels.scores[:, -1:]
            response = model.response(model.transform(x))
            response = np.clip(response, model._models.low, model._models.high)
            response = model._mean + model._scale * response
            shares.append(1.0 - float(np.mean((y - response[:, -1:]) ** 2) / np.var(y)))
    return checked("loss without the direction", loss, float(np.mean(shares)))


def _column(name: str) -> int:
    return int(name[1:]) - 1


def sentences(
    record: Report, planted: Planted, losses: dict[str, Array], intervals: Sequence[Checked]
) -> list[Checked]:
    """Whether each of the five sentences is true, read from its text."""
    much, many, which, kind, _ = record.answer
    held = {each.what: each.true for each in intervals}
    nothing = planted.name == "nothing"
    told = re.search(r"^(\d+) directions? (?:is|are) certain", many)
    count = int(told[1]) if told else 0
    # Columns that a direction correlates with, or that are shuffled, need not be part of it.
    made_of = re.sub(r"(It correlates most with|Shuffling one column) .*?\)\.", "", which)
    named = set(re.findall(r"\b(x\d+(?: = \w+| is missing)?) \(", made_of))
    true = planted.columns
    few = planted.better is None
    right, seen = count == len(planted.axes) or not few, nothing == much.startswith("Nothing")
    if planted.weak and count == 0:
        # Its direction is missed: nothing is named, or columns tentatively.
        right, seen = (
            re.search("not certain|none of them|no direction", many, re.I) is not None,
            True,
        )
        true = named if not named or "tentatively" in which else true
    peer = re.search(r"(\w[\w ]*) predicts better on this table", many)
    better = peer is None or np.mean(losses[peer[1].lower()]) < np.mean(losses[GIANT_STEPS])
    return [
        Checked("1 how much", held["score"] and seen),
        Checked("2 how many", right and bool(better)),
        Checked("2 what is better", (peer[1].lower() if peer else None) == planted.better),
        Checked("3 which columns", named == true or not few),
        Checked("4 what kind", _shape_is_true(kind, planted) and _line_is_true(kind, losses)),
        Checked("5 more rows", held["score with all rows"] and held["score at twice the rows"]),
    ]


def _shape_is_true(kind: str, planted: Planted) -> bool:
    return planted.shape is None or re.search(planted.shape, kind) is not None


def _line_is_true(kind: str, losses: dict[str, Array], least: float = 0.02) -> bool:
    """What is said of the linear model, on fresh rows: worse, as good up to 2 %, or open."""
    ours, line = (float(np.mean(losses[name])) for name in (GIANT_STEPS, LINEAR))
    if "add the difference" in kind or "does worse" in kind:
        return ours < line
    return "does as well" not in kind or line < ours + 2.0 * least * max(line, ours)
