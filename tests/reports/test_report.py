"""Reports of planted tables: what they say is true, and nothing is said of noise."""

import json
import queue
import re
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from giantstep import Report, report
from giantstep.errors import InputError
from giantstep.estimator.regressor import GiantStepRegressor
from giantstep.reports import report as made
from giantstep.reports import resamples
from giantstep.reports.columns import prepare
from giantstep.reports.comparison import Compared, best_peer
from giantstep.reports.interval import interval
from giantstep.reports.labels import make_labels
from giantstep.reports.models import GIANT_STEPS, LINEAR
from giantstep.reports.plan import QUICK
from giantstep.reports.resamples import Job, make_problem, run_jobs
from giantstep.reports.saving import model_name
from giantstep.reports.table import table_of

HOSTILE = ('<img src=x onerror="alert(1)">', "quotes \"'&", "wave 🌊", "{braces}")


def planted(rows: int = 150) -> tuple[Any, np.ndarray]:
    """|x1 - x2| of columns with hostile names."""
    pandas = pytest.importorskip("pandas")
    key = np.random.default_rng(2)
    x = key.standard_normal((rows, 4))
    y = np.abs(x[:, 0] - x[:, 1]) + 0.1 * key.standard_normal(rows)
    return pandas.DataFrame(x, columns=list(HOSTILE)), y


@pytest.fixture(scope="module")
def found() -> Report:
    return report(*planted(), quick=True, label="<b>yield</b>", title="t<i>.csv")


@pytest.mark.slow
def test_the_answer_is_true(found: Report) -> None:
    """A straight line sees nothing of the absolute value, and both columns have equal weights."""
    assert found.certain == 1
    assert 0.8 < found.score.low < found.score.high < 1.0
    [direction] = found.directions
    weights = {w.column: w.weight.value for w in direction.weights[:2]}
    assert set(weights) == set(HOSTILE[:2])
    assert np.abs(list(weights.values())) == pytest.approx([2**-0.5] * 2, abs=0.1)
    assert weights[HOSTILE[0]] * weights[HOSTILE[1]] < 0
    how_much, how_many, which, kind, ahead = found.answer
    assert how_much.startswith("On rows held out the fit explains 9")
    assert how_many.startswith("1 direction is certain at level 0.02.")
    assert HOSTILE[0] in which
    assert HOSTILE[2] not in which
    assert "has a valley" in kind
    assert "bends and products add the difference" in kind
    assert "With twice as many rows" in ahead
    assert direction.steady > 0.9
    assert best_peer(found.models) is None


@pytest.mark.slow
def test_a_weak_direction_is_named_tentatively() -> None:
    """100 rows of |x1 - x2| and a noise that hides half of it: its columns are the true ones."""
    key = np.random.default_rng(11)
    x = key.standard_normal((100, 6))
    record = report(x, np.abs(x[:, 0] - x[:, 1]) + 0.8 * key.standard_normal(100), quick=True)
    assert record.predictable
    assert record.certain == 0
    assert record.answer[1].startswith(
        "1 direction was fitted, and it is not certain at level 0.02."
    )
    named = re.findall(r"(x\d) \(([+-])", record.answer[2])
    assert sorted(column for column, _ in named[:2]) == ["x1", "x2"]
    assert {sign for _, sign in named[:2]} == {"+", "-"}


@pytest.mark.slow
def test_words_and_gaps_go_through_all_five_sentences() -> None:
    """A valley of two columns and a step of one word; gaps in columns that do not matter.

    Of the 0/1 columns of four words, which sum to one, only that of the word is named.
    """
    pandas = pytest.importorskip("pandas")
    key = np.random.default_rng(4)
    frame = pandas.DataFrame(key.standard_normal((300, 4)), columns=["a", "b", "c", "d"])
    frame["colour"] = np.array(["red", "green", "blue", "grey"], dtype=object)[
        key.integers(0, 4, 300)
    ]
    y = 1.4 * np.abs(frame.a - frame.b) + 1.5 * (frame.colour == "red")
    frame.loc[key.random(300) < 0.1, "c"] = np.nan
    frame.loc[(key.random(300) < 0.1) & (frame.colour != "red"), "colour"] = None
    record = report(frame, y + 0.3 * key.standard_normal(300), quick=True)
    how_much, how_many, which, kind, ahead = record.answer
    assert how_much.startswith("On rows held out the fit explains 9")
    assert how_many.startswith("2 directions are certain at level 0.02.")
    made_of = re.sub(r"(It correlates most with|Shuffling one column) .*?\)\.", "", which)
    assert "Weights of categories are offsets from one of them." in which
    assert {each.column for each in record.lost} == {"a", "b", "colour"}
    named = re.findall(r"(?:of|mostly|and) ([\w =]+) \(", made_of)
    assert sorted(named) == ["a", "b", "colour = red"]
    assert "colour = green" not in which
    assert "Along direction 1 the label has a valley." in kind
    assert "With twice as many rows the fit would explain about" in ahead
    said = " ".join(record.said)
    assert "Gaps in columns of numbers (c;" in said
    assert "Columns of words (colour) become columns of 0 and 1" in said
    assert "Of a column of words the weights are differences from colour = " in record.html()


@pytest.mark.slow
def test_copies_of_noise_behind_a_row_number_predict_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """60 rows of noise, each four times.  Taken for rows of their own they predict each other."""
    key = np.random.default_rng(1)
    x, y = np.tile(key.standard_normal((60, 4)), (4, 1)), np.tile(key.standard_normal(60), 4)
    numbered = np.column_stack([x, np.arange(240)])
    record = report(numbered, y, quick=True)
    assert record.warnings[0].startswith("Column 'x5' looks like a row number")
    assert not record.predictable
    assert record.certain == 0
    monkeypatch.setattr(made, "row_groups", lambda table: np.arange(len(table)))
    assert report(numbered, y, quick=True).score.low > 0.3


@pytest.mark.slow
def test_directions_of_one_strength_are_said_to_turn(found: Report) -> None:
    """The slopes of x1*x2 are as large along x1 as along x2: any two axes of the plane will do."""
    # A draw whose refits turn by 27 degrees; other draws break the tie by chance.
    key = np.random.default_rng(1)
    x = key.standard_normal((200, 4))
    record = report(x, 2.0 * x[:, 0] * x[:, 1] + 0.2 * key.standard_normal(200), quick=True)
    assert [direction.turns for direction in record.directions] == [True, True]
    assert min(direction.steady for direction in record.directions) > 0.95
    assert "Refits mix directions 1 and 2" in record.answer[2]
    assert not any(direction.turns for direction in found.directions)


@pytest.mark.slow
def test_every_number_of_the_record_is_plain(found: Report) -> None:
    record = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert record["format"] == 1
    assert record["answer"] == list(found.answer)
    assert record["missing"] == []
    assert record["models"][0]["name"] == GIANT_STEPS
    assert {"value", "error", "low", "high"} == set(record["score"])
    assert "coordinate" not in record["directions"][0]
    assert record["hardness"]["leap"]["value"] == 2


@pytest.mark.slow
def test_names_are_escaped_and_nothing_is_loaded(found: Report) -> None:
    page = found.html()
    assert "<img" not in page
    assert "<script" not in page
    assert "<b>yield" not in page
    assert "t<i>" not in page
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "default-src 'none'" in page
    assert found._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')


@pytest.mark.slow
def test_the_model_that_is_saved_predicts_as_the_one_that_was_fitted(
    found: Report, tmp_path: Path
) -> None:
    joblib = pytest.importorskip("joblib")
    paths = found.save(tmp_path / "new")
    assert [path.name for path in paths] == ["report.html", "report.json", model_name()]
    x, _ = planted()
    if paths[2].suffix == ".joblib":
        assert np.array_equal(joblib.load(paths[2]).predict(x), found.estimator.predict(x))
    with pytest.raises(InputError, match=r"already holds report\.html"):
        found.save(tmp_path / "new")
    assert found.save(tmp_path / "new", overwrite=True) == paths


@pytest.mark.slow
def test_classes_have_an_accuracy_and_three_of_them_a_page() -> None:
    key = np.random.default_rng(0)
    x = key.standard_normal((120, 3))
    y = np.array(["low", "middle", "high"])[np.digitize(x[:, 0], [-0.5, 0.5])]
    record = report(x, y, quick=True)
    assert record.classes == ("high", "low", "middle")
    assert record.accuracy is not None
    assert record.accuracy.low > 0.7
    assert record.most_frequent is not None
    share = np.max(np.unique(y, return_counts=True)[1]) / 120
    assert record.most_frequent.value == pytest.approx(share)
    assert record.most_frequent.error == pytest.approx((share * (1 - share) / 119) ** 0.5)
    assert "names the class of" in record.answer[0]
    assert "Share of the class" in record.html()


@pytest.mark.slow
@pytest.mark.sentinel
def test_an_interrupt_keeps_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(work: made.Work) -> dict[str, Any]:
        raise KeyboardInterrupt

    parts = [*made.PARTS[:2], replace(made.PARTS[2], make=interrupt), *made.PARTS[3:]]
    monkeypatch.setattr(made, "PARTS", tuple(parts))
    key = np.random.default_rng(0)
    x = key.standard_normal((60, 2))
    record = report(x, x[:, 0] + 0.1 * key.standard_normal(60), quick=True)
    assert record.missing == tuple(part.name for part in parts[2:])
    assert record.models
    assert record.drift is None
    assert "interrupted, and lacks: residual tests" in record.html()


def certain_of_noise(seeds: range, fit: Callable[[np.ndarray, np.ndarray], int]) -> int:
    """How many tables with shuffled labels give a certain direction."""
    count = 0
    for seed in seeds:
        key = np.random.default_rng(seed)
        x = key.standard_normal((100, 5))
        y = key.permutation(np.tanh(2.0 * x[:, 0]) + 0.3 * key.standard_normal(100))
        count += fit(x, y) > 0
    return count


@pytest.mark.law
def test_shuffled_labels_give_no_direction() -> None:
    """20 tables at level .02: at most 3 with probability .9993."""
    allowed = int(binom.ppf(0.999, 20, 0.02))
    assert allowed == 3
    quiet = certain_of_noise(range(20), lambda x, y: GiantStepRegressor().fit(x, y).n_directions_)
    assert quiet <= allowed


@pytest.mark.law
@pytest.mark.sentinel
def test_a_test_that_correlates_columns_with_labels_is_seen() -> None:
    """Calling the best of five columns certain at level .3 each fails the same bound."""

    def hasty(x: np.ndarray, y: np.ndarray) -> int:
        return int(np.max(np.abs(np.corrcoef(x.T, y)[-1, :-1])) * 10.0 > 1.04)

    assert certain_of_noise(range(20), hasty) > 3


def test_a_peer_must_be_better_beyond_doubt() -> None:
    here = Compared(GIANT_STEPS, interval(0.5, 0.02), None)
    near = Compared("boosting", interval(0.53, 0.02), interval(0.03, 0.015))
    far = Compared("linear", interval(0.56, 0.02), interval(0.06, 0.015))
    assert best_peer((here, near)) is None
    assert best_peer((here, near, far)) == far


@pytest.mark.slow
def test_an_interrupt_of_the_fits_keeps_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that comes after the fits of the folds, while peers are fitted."""
    fitted = resamples.fit_model

    def interrupted(name: str, *arguments: Any) -> Any:
        if name == "boosting":
            raise KeyboardInterrupt
        return fitted(name, *arguments)

    monkeypatch.setattr(resamples, "fit_model", interrupted)
    key = np.random.default_rng(0)
    x = key.standard_normal((60, 2))
    record = report(x, x[:, 0] + 0.1 * key.standard_normal(60), quick=True)
    assert record.missing[0] == "some fits"
    assert [model.name for model in record.models] == [GIANT_STEPS, "linear"]
    assert record.curve is not None
    assert all(point.measured for point in record.curve.points)
    assert record.answer[4] == "What more rows would bring has not been computed."
    assert "lacks: some fits" in record.html()


@pytest.mark.slow
def test_two_processes_fit_what_one_does() -> None:
    """Every job comes once; another seed of the folds predicts other rows."""
    key = np.random.default_rng(0)
    x = key.standard_normal((60, 2))
    table = table_of(x, x[:, 0] + 0.1 * key.standard_normal(60))
    labels, prepared = make_labels(table.label), prepare(table)
    jobs = [Job(name, fold) for name in (LINEAR, "kernel ridge") for fold in (None, 0, 1, 2)]

    def predicted(processes: int, seed: int = 0) -> dict[Job, np.ndarray]:
        problem = make_problem(prepared, labels, np.arange(60), QUICK, seed)
        results = list(run_jobs(jobs, problem, processes))
        assert len(results) == len(jobs)
        return {job: values for job, values, _ in results}

    alone, together, other = predicted(1), predicted(2), predicted(1, seed=1)
    assert set(together) == set(jobs)
    assert all(np.array_equal(together[job], alone[job]) for job in jobs)
    assert not all(np.array_equal(other[job], alone[job]) for job in jobs)


class Lost:
    """A process that makes one fit and is lost with the next one, as when memory runs out."""

    def __init__(self) -> None:
        self.calls = 0

    def outcome(self, function: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
        self.calls += 1
        if self.calls > 2:
            raise EOFError
        return "result", function(*arguments)


def test_a_process_that_is_lost_leaves_its_fit_to_the_others() -> None:
    key = np.random.default_rng(0)
    x = key.standard_normal((60, 2))
    table = table_of(x, x[:, 0] + 0.1 * key.standard_normal(60))
    problem = make_problem(prepare(table), make_labels(table.label), np.arange(60), QUICK)
    jobs = [Job(LINEAR, fold) for fold in (None, 0, 1, 2)]
    waiting, done = deque(jobs), queue.SimpleQueue[resamples.Done]()
    resamples._attend(Lost(), problem, waiting, done)  # type: ignore[arg-type]
    assert len(waiting) == 3
    results = [resamples._next_result(problem, waiting, done)[0] for _ in jobs]
    assert set(results) == set(jobs)
    done.put(ValueError("of a fit"))
    with pytest.raises(ValueError, match="of a fit"):
        resamples._next_result(problem, waiting, done)
