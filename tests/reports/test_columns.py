"""Columns of numbers and words become numbers, and every one of them has a name."""

import numpy as np
import pytest

from giantstep import GiantStepRegressor
from giantstep.errors import InputError
from giantstep.reports import columns
from giantstep.reports.columns import prepare
from giantstep.reports.table import Table, make_column, make_table


def table(rows: int = 30) -> Table:
    """Numbers with a gap, words with a gap and a rare one, two words, a constant, single names."""
    words = ["red", "green", "blue"] * (rows // 3)
    words[0], words[1] = None, "rare"
    numbers = np.arange(rows, dtype=float)
    numbers[4] = np.nan
    listed = {
        "age": numbers,
        "size": np.arange(rows) % 7,
        "colour": np.array(words, dtype=object),
        "<b>": np.array(["yes", "no"] * (rows // 2), dtype=object),
        "constant": np.ones(rows),
        "empty": np.full(rows, np.nan),
        "id": np.array([f"row {k}" for k in range(rows)], dtype=object),
        "y": np.arange(rows),
    }
    return make_table([make_column(*each) for each in listed.items()], "y")


@pytest.mark.parametrize("pandas", [True, False])
def test_names_belong_to_the_columns_of_the_front(
    pandas: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not pandas:
        monkeypatch.setattr(columns, "find_spec", lambda name: None)
    prepared = prepare(table())
    front = prepared.front().fit(prepared.rows)
    x, names = front.transform(prepared.rows), prepared.encoded_names(front)
    assert x.shape == (30, len(names))
    assert np.isfinite(x).all()
    assert names[:3] == ["age", "size", "age is missing"]
    at = dict(zip(names, x.T, strict=True))
    assert at["age is missing"].tolist() == [float(k == 4) for k in range(30)]
    assert at["age"][4] == np.nanmedian(np.delete(np.arange(30.0), 4))
    # Missing and rare words have fewer rows than a category needs.
    assert {"colour = red", "colour = green", "colour = blue", "colour = any other"} <= set(names)
    assert at["colour = any other"].sum() == 2
    assert at["<b> = yes"].tolist() == [1.0, 0.0] * 15
    assert "<b> = no" not in names


def test_what_is_done_to_columns_is_said() -> None:
    said = " ".join(prepare(table()).said)
    assert "'constant' is left out: all of its cells are the same" in said
    assert "'empty' is left out: all of its cells are empty" in said
    assert "'id' is left out: its 30 different words name single rows" in said
    assert "(age; 1 in all) are filled with the median" in said
    assert "(colour, <b>) become columns of 0 and 1" in said


def test_a_fold_may_lack_a_category() -> None:
    prepared = prepare(table())
    front = prepared.front().fit(prepared.take(np.flatnonzero(np.arange(30) % 3 != 2)))
    with pytest.warns(UserWarning, match="unknown categories"):
        x = front.transform(prepared.rows)
    assert x.shape == (30, len(prepared.encoded_names(front)))


def test_a_table_without_a_usable_column_is_refused() -> None:
    only = table().without(["age", "size", "colour", "<b>"])
    with pytest.raises(InputError, match="no column can be used: column 'constant' is left out"):
        prepare(only)
    with pytest.raises(InputError, match="a column beside the label"):
        prepare(only.without(["constant", "empty", "id"]))


def test_columns_whose_tails_are_shortened_are_named() -> None:
    """A column of Student's law with 2 degrees of freedom, and a Gaussian one."""
    key = np.random.default_rng(0)
    numbers = {"calm": key.standard_normal(300), "wild": key.standard_t(2, 300)}
    listed = [make_column(*each) for each in numbers.items()]
    prepared = prepare(make_table([*listed, make_column("y", numbers["calm"])], "y"))
    front = prepared.front().fit(prepared.rows)
    fit = GiantStepRegressor(max_directions=0)
    fit.fit(front.transform(prepared.rows), numbers["calm"])
    [text] = prepared.shortened(front, fit._inputs.scaling.heavy)
    assert text.startswith("Columns with heavy tails (wild) are shortened")
    assert prepared.shortened(front, np.zeros(2, dtype=bool)) == []
