"""Tables of a report: what is read, and what is refused in one sentence."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from giantstep.errors import InputError
from giantstep.reports.files import read_table
from giantstep.reports.table import table_of


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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,when,y\n1,2024-01-05,1\n2,2024-02-06,2\n", "column 'when' holds dates, such as"),
        ("a,when,y\n1,5/1/24,1\n2,6/2/24 10:00,2\n", "days since the first row"),
        ("a,a,y\n1,2,3\n", "got 'a' twice"),
        ("a,b\n1,2\n", "label must be a column (a, b), got 'y'"),
        ("1,2\n3,4\n", "names of the columns"),
        ("a,y\n1,2\n3\n", "line 3 has 1 cells, the first line 2"),
        ("a,y\n1,2\ninf,3\n", "column 'a' must be finite, got inf in row 2"),
        ("a,y\n0,2\n-2e-31,2\n", "column 'a' must reach 1e-30 in size, got at most 2e-31"),
        ("a,y\n1,2\n1,-2e31\n", "column 'y' must be at most 1e+30 in size, got -2e+31 in row 2"),
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
