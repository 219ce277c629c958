"""Tables of a report: what is read, and what is refused in one sentence."""

import io
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep.errors import InputError
from giantstep.problem.given_rows import load_array
from giantstep.reports.files import read_table
from giantstep.reports.table import Column, make_column, make_table, table_of


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_numbers_words_and_gaps_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, ',a,"b, c",colour,y\n0,1.5,NA,red,1\n1,2,4,,2\n2,,5,"blue, dark",3\n')
    table = read_table(path, "y")
    assert table.names == ["a", "b, c", "colour"]
    a, b, colour = table.columns
    assert np.array_equal(a.values, [1.5, 2.0, np.nan], equal_nan=True)
    assert np.array_equal(b.values, [np.nan, 4.0, 5.0], equal_nan=True)
    assert colour.values.tolist() == ["red", None, "blue, dark"]
    assert table.label.values.tolist() == [1.0, 2.0, 3.0]


def test_semicolons_tabs_and_dropped_columns(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "a;b;y\n1;2;3\n4;5;6\n"), "y", ["b"]).names == ["a"]
    assert read_table(write(tmp_path, "a\tb\ty\n1\t2\t3\n"), "y").names == ["a", "b"]


def test_archives_are_read_and_nothing_is_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=np.arange(3))
    assert read_table(tmp_path / "t.npz", "y").names == ["X1", "X2", "X3"]
    np.savez(tmp_path / "bad.npz", X=np.array([{}], dtype=object), y=np.arange(1))
    with pytest.raises(InputError, match="'X' is an array of Python objects, which are not read"):
        read_table(tmp_path / "bad.npz", "y")
    np.savez(tmp_path / "uneven.npz", X=np.eye(3), y=np.arange(2))
    with pytest.raises(InputError, match="as many rows"):
        read_table(tmp_path / "uneven.npz", "y")


def test_parquet_is_read_or_says_what_it_needs(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "t.parquet"
    try:
        pandas.DataFrame({"a": [1.0, 2.0], "y": ["u", "v"]}).to_parquet(path)
    except ImportError:
        path.write_bytes(b"PAR1")
        with pytest.raises(InputError, match="Parquet needs pandas and pyarrow"):
            read_table(path, "y")
        return
    assert read_table(path, "y").names == ["a"]


def test_decimal_commas_are_read_between_semicolons(tmp_path: Path) -> None:
    path = write(tmp_path, "a;b;c;y\n0,5;1;x,y;-1,5e-1\nNA;2,25;1,5;3\n;3;z;2,0\n")
    a, b, c = read_table(path, "y").columns
    assert np.array_equal(a.values, [0.5, np.nan, np.nan], equal_nan=True)
    assert b.values.tolist() == [1.0, 2.25, 3.0]
    assert c.values.tolist() == ["x,y", "1,5", "z"]
    assert read_table(path, "y").label.values.tolist() == [-0.15, 3.0, 2.0]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("t.csv", "it is not a text file in UTF-8"),
        ("t.npz", "it is not an npz archive"),
        ("t.parquet", "it is not a Parquet file|Parquet needs pandas and pyarrow"),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_random_bytes_are_refused_by_what_they_are_not(
    tmp_path: Path, name: str, sentence: str, seed: int
) -> None:
    (tmp_path / name).write_bytes(np.random.default_rng(seed).bytes(2_000))
    with pytest.raises(InputError, match=sentence) as error:
        read_table(tmp_path / name, "y")
    assert "pickle" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_damaged_or_foreign_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    np.savez_compressed(path, X=np.random.default_rng(0).random((50, 3)), y=np.arange(50))
    content = bytearray(path.read_bytes())
    content[200:400] = b"\0" * 200
    path.write_bytes(content)
    with pytest.raises(InputError, match="it is a damaged npz archive"):
        read_table(path, "y")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("note.txt", "hello")
    with pytest.raises(InputError, match=r"'note.txt' is not an array"):
        read_table(path, "y")


@pytest.mark.parametrize("rows", [2**70, -5])
def test_an_array_that_claims_impossible_rows_is_damaged(tmp_path: Path, rows: int) -> None:
    path, plain = tmp_path / "t.npz", io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (rows,)}
    np.lib.format.write_array_header_1_0(plain, header)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", plain.getvalue())
    with pytest.raises(InputError, match="the array 'a' is damaged"):
        read_table(path, "y")
    (tmp_path / "rows.npy").write_bytes(plain.getvalue())
    with pytest.raises(InputError, match=r"weights must be a .npy file"):
        load_array(str(tmp_path / "rows.npy"), "weights")


@pytest.mark.parametrize("cell", [[1, 2], np.ones(2), {"a": 1}])
def test_cells_that_hold_several_things_are_refused(cell: object) -> None:
    cells = np.empty(30, dtype=object)
    cells[:] = "word"
    cells[3] = cell
    with pytest.raises(InputError, match=r"column 'a' must hold numbers or words, got .* in row 4"):
        make_column("a", cells)


def test_a_line_of_names_may_be_long(tmp_path: Path) -> None:
    """A line of more than 131072 characters is refused for no separator that it does not have."""
    names = [f"a_column_of_a_wide_table_{k}" for k in range(6000)]
    path = write(tmp_path, "\n".join(map(",".join, ([*names, "y"], *[["1"] * 6001] * 3))))
    assert len(read_table(path, "y").columns) == 6000


@pytest.mark.parametrize("label", [3, b"y", ["y"]])
def test_the_name_of_the_label_is_a_text(label: Any) -> None:
    with pytest.raises(InputError, match="label must be the name of y as a text, got"):
        table_of(np.ones((30, 2)), np.arange(30), label)


def test_names_of_many_columns_are_compared_once() -> None:
    """100,000 names took minutes where each was compared with every other."""
    values = np.arange(2.0)
    columns = [Column(f"c{k}", values) for k in range(30_000)]
    start = time.process_time()
    assert len(make_table(columns, "c7").columns) == 29_999
    assert time.process_time() - start < 3.0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,when,y\n1,2024-01-05,1\n2,2024-02-06,2\n", "column 'when' holds dates, such as"),
        ("a,when,y\n1,5/1/24,1\n2,6/2/24 10:00,2\n", "days since the first row"),
        ("a,a,y\n1,2,3\n", "got 'a' twice"),
        ("a,b\n1,2\n", "label must be a column (a, b), got 'y'"),
        ("1,2\n3,4\n", "names of the columns"),
        ("a,y\n1,2\n3\n", "line 3 has 1 cells, the first line 2"),
        ("a,y\n1,2\ninf,3\n", "column 'a' must be finite, got inf in line 3"),
        ("a,y\n0,2\n-2e-31,2\n", "column 'a' must reach 1e-30 in size, got at most 2e-31"),
        ("a,y\n1,2\n1,-2e31\n", "column 'y' must be at most 1e+30 in size, got -2e+31 in line 3"),
        (",a,y\n.5,1,2\n", "every column must have a name, got '' for the first one"),
        ("a,,y\n1,1,2\n2,2,2\n", "every column must have a name, got '' after 'a'"),
        (",,y\n0,1,2\n", "every column must have a name, got '' for the first one"),
        ("a,b\x1b[2J,y\n1,2,3\n", r"no control characters, got 'b\x1b[2J'"),
        ("a,b\u202ec,y\n1,2,3\n", r"no control characters, got 'b\u202ec'"),
        (
            "a,y\nu,1\nv\x07,2\n",
            r"column 'a' must hold no control characters, got 'v\x07' in line 3",
        ),
        ("a\n1\n", "label must be a column (a), got 'y'"),
        (f"{'a' * 500}\n1\n", "unknown label 'y'; the first line of the file lists all"),
        (f"a,y\n1,2\n{'1' * 200_000},3\n", "a cell has more than 131072 characters"),
        ("", "names of the columns"),
        ("0,1;0,2\n0,3;0,4\n", "names of the columns"),
        ("a;y\n1;1.234,5\n2;0,5\n", "column 'y' has decimal commas, such as '0,5'"),
        ('a,y\n1,"2,5"\n2,"0,5"\n', "they are read only between semicolons"),
    ],
)
def test_a_bad_text_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        read_table(write(tmp_path, text), "y")
    assert sentence in str(error.value)


def test_a_column_to_drop_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="drop must name a column"):
        read_table(write(tmp_path, "a,y\n1,2\n"), "y", ["b"])
    with pytest.raises(InputError, match="drop must leave the label in the table, got 'y'"):
        read_table(write(tmp_path, "a,y\n1,2\n"), "y", ["y"])
    assert read_table(write(tmp_path, ",a,y\n.5,1,2\n"), "y", [""]).names == ["a"]


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_only_a_column_that_counts_the_rows_is_an_index(tmp_path: Path, name: str) -> None:
    for first in (0, 1):
        table = read_table(write(tmp_path, f"{name},a,y\n{first},5,1\n{first + 1},7,2\n"), "y")
        assert table.names == ["a"]
        assert "counts the rows" in table.without([]).take(np.arange(1)).said[0]
    path = write(tmp_path, f"{name},a,y\n0,5,1\n2,7,2\n")
    if name:
        assert read_table(path, "y").names == [name, "a"]
        assert read_table(path, "y").said == ()
    else:
        with pytest.raises(InputError, match="every column must have a name"):
            read_table(path, "y")


def column_text(cells: list[str]) -> str:
    return "\n".join(["a,b", *(f'"{cell}",{k}.5' for k, cell in enumerate(cells))])


NUMBERS = [f"{k % 6}.5" for k in range(19)]


@pytest.mark.parametrize(
    ("cells", "got"),
    [
        ([*NUMBERS, "2O"], "'2O' in line 21"),
        (["n/k", *NUMBERS], "'n/k' in line 2"),
        ([f"{number}%" for number in NUMBERS], "'0.5%' in line 2"),
        (["1,234.50", "foo", *NUMBERS], "'foo' in line 3"),
        (["1,234.50", *NUMBERS], "'1,234.50' in line 2"),
        (["1_2", *NUMBERS], "'1_2' in line 2"),
    ],
)
def test_a_word_among_numbers_is_refused(tmp_path: Path, cells: list[str], got: str) -> None:
    """It would make a category of every number."""
    path = write(tmp_path, column_text(cells))
    with pytest.raises(InputError) as error:
        read_table(path, "b")
    assert f"column 'a' holds numbers, but {got}; leave the column out (--drop)" in str(error.value)
    with pytest.raises(InputError) as error:
        read_table(path, "a")
    assert "--drop" not in str(error.value)


@pytest.mark.parametrize(
    "cells",
    [
        # Too few numbers, one number alone, and what is a number for Python alone.
        [*NUMBERS, "u", "v", "w"],
        [*["0"] * 30, "holiday"],
        [f"1_{k}" for k in range(20)],
    ],
)
def test_words_beside_numbers_are_words(tmp_path: Path, cells: list[str]) -> None:
    [column] = read_table(write(tmp_path, column_text(cells)), "b").columns
    assert not column.numeric


def test_files_without_columns_of_numbers_or_words_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "empty.npz")
    with pytest.raises(InputError, match=r"file must hold columns, .*empty.npz' has none"):
        read_table(tmp_path / "empty.npz", "y")
    np.savez(tmp_path / "record.npz", a=np.zeros(3, dtype=[("p", "f8")]), y=np.arange(3))
    with pytest.raises(InputError, match="column 'a' must hold numbers or words, got"):
        read_table(tmp_path / "record.npz", "y")
    np.save(tmp_path / "t.npy", np.eye(3))
    with pytest.raises(InputError, match="npz archives are read"):
        read_table(tmp_path / "t.npy", "y")


def test_dates_in_the_label_are_not_to_be_dropped(tmp_path: Path) -> None:
    path = write(tmp_path, "a,y\n1,2024-01-05\n2,2024-02-06\n")
    with pytest.raises(InputError, match="column 'y' holds dates") as error:
        read_table(path, "y")
    assert "--drop" not in str(error.value)


def test_frames_keep_names_and_categories_are_words() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": pandas.Categorical([3, 4])})
    table = table_of(frame, pandas.Series([True, False], name="bought"))
    assert [column.numeric for column in table.columns] == [True, False]
    assert table.label.name == "bought"
    assert table.label.values.tolist() == ["True", "False"]
    with pytest.raises(InputError, match="holds dates"):
        table_of(pandas.DataFrame({"t": pandas.to_datetime(["2024-01-01"])}), [1])


@pytest.mark.parametrize(
    ("x", "y", "sentence"),
    [
        (np.zeros(3), np.zeros(3), "X must be a table"),
        (np.zeros((3, 2)), np.zeros((3, 2)), "y must be one column"),
        (np.zeros((3, 2)), np.zeros(4), "each of the 3 rows of X, got 4"),
        (np.zeros((3, 2), dtype=complex), np.zeros(3), "numbers or words"),
    ],
)
def test_bad_arrays_are_refused(x: np.ndarray, y: np.ndarray, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        table_of(x, y)
    assert sentence in str(error.value)
