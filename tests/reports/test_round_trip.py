"""Parquet in, skops out: the same numbers as from CSV, and a model that predicts the same."""

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from giantstep import Report
from giantstep.reports import saving
from giantstep.reports.columns import as_words
from giantstep.reports.files import read_table
from giantstep.reports.plan import QUICK
from giantstep.reports.report import begin, finish

pandas = pytest.importorskip("pandas")


def frame(rows: int = 60) -> Any:
    """Numbers with gaps, words with gaps, truth values, and categories."""
    key = np.random.default_rng(5)
    listed = pandas.DataFrame(key.standard_normal((rows, 3)), columns=["a", "b", "c"])
    listed.loc[3, "a"] = np.nan
    listed["city"] = np.array(["Oslo", "Rome", "Bern"], dtype=object)[key.integers(0, 3, rows)]
    listed.loc[5, "city"] = None
    listed["new"] = key.random(rows) < 0.4
    listed["floor"] = pandas.Categorical(np.array(["low", "high"])[key.integers(0, 2, rows)])
    noise = 0.1 * key.standard_normal(rows)
    listed["price"] = np.abs(listed.b - listed.c) + listed.new + noise
    return listed


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Report]:
    """Of the same table, from Parquet and from CSV."""
    pytest.importorskip("pyarrow")
    folder, table = tmp_path_factory.mktemp("tables"), frame()
    table.to_parquet(folder / "t.parquet")
    table.to_csv(folder / "t.csv", index=False)
    read = [read_table(folder / name, "price") for name in ("t.parquet", "t.csv")]
    parquet, text = (finish(begin(each, plan=QUICK)) for each in read)
    return parquet, text


@pytest.mark.slow
def test_parquet_and_csv_give_the_same_numbers(reports: tuple[Report, Report]) -> None:
    parquet, text = (report.as_dict() for report in reports)
    assert {name for name in parquet if parquet[name] != text[name]} <= {"seconds", "memory"}
    assert parquet["score"]["low"] > 0.5


@pytest.mark.slow
def test_skops_gives_back_the_model(reports: tuple[Report, Report], tmp_path: Path) -> None:
    """Frames as they came, with truth values and gaps, are predicted as by the fit."""
    skops = pytest.importorskip("skops.io")
    path = reports[0].save(tmp_path)[2]
    assert path.name == "model.skops"
    types = skops.get_untrusted_types(file=path)
    assert all(name.startswith(("giantstep.", "numpy.")) for name in types)
    with pytest.raises(skops.exceptions.UntrustedTypesFoundException):
        skops.load(path, trusted=[])
    model = skops.load(path, trusted=types)
    given = frame().drop(columns="price")
    fitted = reports[0].estimator.predict(given)
    assert np.array_equal(model.predict(given), fitted)
    # A model of other rows would differ.
    assert not np.array_equal(model.predict(given[::-1]), fitted)


@pytest.mark.slow
def test_without_skops_joblib_is_taken(
    reports: tuple[Report, Report], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "find_spec", lambda name: None)
    path = reports[0].save(tmp_path)[2]
    assert path.name == "model.joblib"
    given = frame().drop(columns="price")
    assert np.array_equal(joblib.load(path).predict(given), reports[0].estimator.predict(given))


def test_cells_are_the_words_that_a_table_has() -> None:
    cells = np.array([[True, " a "], [None, float("nan")], [3, "NA"]], dtype=object)
    assert as_words(cells).tolist() == [["True", "a"], [None, None], ["3", None]]
