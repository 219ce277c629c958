"""Data sets: how they are read, made of variance one and dealt out, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.problem.network import target_frame
from giantstep.problem.randomness import Purpose
from giantstep.problem.setting import Setting
from giantstep.problem.tables import DataSet, Deal, kurtosis
from giantstep.simulation.engines.samples import HostSampler
from giantstep.simulation.simulate import simulate

NAMES = ["age", "bmi", "blood pressure", "price"]


def table(rows: int = 200) -> Float[np.ndarray, "rows 4"]:
    """Correlated columns of different means and sizes."""
    key = np.random.default_rng(0)
    mixed = key.standard_normal((rows, 4)) @ (np.eye(4) + 0.4 * key.standard_normal((4, 4)))
    return mixed * [1.0, 100.0, 1e-3, 5.0] + [3.0, -400.0, 0.0, 1e4]


def written(path: Path, rows: Float[np.ndarray, "rows d"], names: list[str] | None = None) -> str:
    header = "" if names is None else ",".join(names)
    np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.17g")
    return str(path)


def held(setting: Setting) -> DataSet:
    assert setting.data is not None
    return setting.data


def test_a_text_with_names_a_text_without_and_an_array_are_the_same(tmp_path: Path) -> None:
    rows = table()
    np.save(tmp_path / "a.npy", rows)
    paths = [
        str(tmp_path / "a.npy"),
        written(tmp_path / "a.csv", rows),
        written(tmp_path / "b.csv", rows, NAMES),
    ]
    found = [held(Setting("x1", inputs=f"data({path})")) for path in paths]
    assert [data.names for data in found] == [("x1", "x2", "x3", "x4")] * 2 + [tuple(NAMES)]
    np.save(tmp_path / "huge.npy", rows * 1e300)
    found.append(held(Setting("x1", inputs=f"data({tmp_path / 'huge.npy'})")))
    for data in found:
        np.testing.assert_allclose(data.rows, found[0].rows, atol=1e-12)
        np.testing.assert_allclose(data.rows.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(data.rows.var(axis=0), 1.0, atol=1e-12)


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("index", [None, "", "Unnamed: 0"])
def test_other_separators_and_the_index_of_pandas(
    tmp_path: Path, separator: str, index: str | None
) -> None:
    """The same rows and names as of a comma-separated file; an index is no input."""
    rows, names = table(), NAMES
    plain = held(Setting("x1", inputs=f"data({written(tmp_path / 'a.csv', rows, NAMES)})"))
    if index is not None:
        rows, names = np.column_stack([np.arange(len(rows)), rows]), [index, *NAMES]
    np.savetxt(
        tmp_path / "b.csv",
        rows,
        delimiter=separator,
        header=separator.join(names),
        comments="",
        fmt="%.17g",
    )
    data = held(Setting("x1", inputs=f"data({tmp_path / 'b.csv'})"))
    assert data.names == tuple(NAMES)
    np.testing.assert_array_equal(data.rows, plain.rows)


def test_a_cell_of_an_array_is_named(tmp_path: Path) -> None:
    rows = table()
    rows[5, 1] = np.nan
    np.save(tmp_path / "a.npy", rows)
    with pytest.raises(InputError, match=r"holds nan in row 6, column 'x2'"):
        Setting("x1", inputs=f"data({tmp_path / 'a.npy'})")


def test_whitened_rows_have_covariance_one_and_keep_to_their_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", table(), NAMES)
    raw, white = (held(Setting("x1", inputs=f"{law}({path})")).rows for law in ("data", "whitened"))
    np.testing.assert_allclose(white.T @ white / 200, np.eye(4), atol=1e-10)
    correlation = raw.T @ raw / 200
    assert np.max(np.abs(correlation - np.eye(4))) > 0.1
    # No other square root of the covariance has a larger trace of its products with the columns.
    nearest = np.trace(white.T @ raw) / 200
    assert nearest == pytest.approx(np.sum(np.sqrt(np.linalg.eigvalsh(correlation))))
    turned = white @ np.linalg.qr(np.random.default_rng(1).standard_normal((4, 4)))[0]
    assert np.trace(turned.T @ raw) / 200 < nearest


def test_columns_and_rows_are_taken_from_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", table(), NAMES)
    planted = Setting("x1", inputs=f"data({path})", p=2)
    assert (planted.d, planted.n, planted.readout_n, planted.test_n) == (4, 16, 16, 200 - 3 * 16)
    wide = Setting.linear_width("x1", inputs=f"data({path})")
    assert (wide.d, wide.n, wide.test_n) == (4, 8, 200 - 2 * 8)
    assert Setting.linear_width("x1", inputs=f"data({path})", test_n=50).test_n == 50
    labelled = planted.vary(target="column(blood pressure)", n="4d")
    assert (labelled.d, labelled.test_n) == (3, 200 - 3 * 12)
    assert held(labelled).names == ("age", "bmi", "price")
    own = (table()[:, 2] - table()[:, 2].mean()) / table()[:, 2].std()
    np.testing.assert_allclose(held(labelled).labels, own, atol=1e-9)
    assert Setting(**labelled.as_dict()) == labelled
    # The same file written anew is read anew.
    written(tmp_path / "a.csv", table(300), NAMES)
    assert planted.vary(seed=1).test_n == 300 - 3 * 16


@pytest.mark.parametrize(
    ("fields", "sizes"),
    [
        ({}, (50, 50, 50)),
        ({"steps": 1}, (66, 66, 68)),
        ({"batches": "reused"}, (66, 66, 68)),
        ({"readout_batch": "last"}, (66, 66, 68)),
        ({"test_n": 80}, (40, 40, 80)),
        ({"readout_n": 20, "test_n": 60}, (60, 20, 60)),
        ({"readout_n": 0, "test_n": 0}, (100, 0, 0)),
        ({"readout_n": "2n"}, (40, 80, 40)),
        ({"n": "4d"}, (12, 12, 164)),
        ({"batches": "minibatch(100)"}, (12, 12, 88)),
    ],
)
def test_steps_on_labels_take_all_rows_unless_told(
    tmp_path: Path, fields: dict[str, object], sizes: tuple[int, int, int]
) -> None:
    """In equal parts for every batch, the readout and the test; a planted target has n = 4d."""
    path = written(tmp_path / "a.csv", table(), NAMES)
    given: dict[str, Any] = {"inputs": f"data({path})", "p": 2, **fields}
    setting = Setting("column(price)", **given)
    assert (setting.n, setting.readout_n, setting.test_n) == sizes
    assert Setting(**setting.as_dict()) == setting
    assert ("n=" in repr(setting).replace("readout_n=", "").replace("test_n=", "")) == (
        "n" in fields
    )
    assert setting.vary(n=None).n == Setting("column(price)", **(given | {"n": None})).n
    assert setting.vary(target="x1", n=None).n == 16


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"batches": "reused"},
        {"readout_batch": "last"},
        {"readout_batch": "last", "batches": "reused"},
        {"steps": 0},
        {"readout_batch": "last", "steps": 0},
        {"batches": "repeat(2)", "steps": 3},
        {"batches": "repeat(2)", "steps": 3, "readout_batch": "last"},
        {"batches": "minibatch(70)", "steps": 5},
    ],
)
def test_no_row_is_dealt_twice(tmp_path: Path, fields: dict[str, object]) -> None:
    """Test, readout and batches are different rows, whole when nothing is left; runs differ."""
    path = written(tmp_path / "a.csv", table(), NAMES)
    setting = Setting("x1", inputs=f"data({path})", n=30, p=2, **fields)  # type: ignore[arg-type]
    data, last = held(setting), setting.readout_batch == "last"
    deals = [Deal.of(setting, data, run) for run in range(2)]
    batches = {"fresh": setting.steps, "repeat(2)": 2}.get(setting.batches, 1)
    size = 70 if setting.batches == "minibatch(70)" else 30
    parts = [(Purpose.TEST, 0, setting.test_n)]
    if not last or setting.steps == 0:
        parts.append((Purpose.READOUT, 1, setting.readout_n))
    parts += [(Purpose.BATCH, step, size) for step in range(batches if setting.steps else 0)]
    taken = [deals[0].rows(purpose, step, slice(0, n)) for purpose, step, n in parts]
    assert sorted(np.concatenate(taken)) == list(range(200))
    assert not np.array_equal(deals[0].order, deals[1].order)
    if last and setting.steps:  # before any step the first batch is as fresh as any other
        first = deals[0].rows(Purpose.READOUT, 0, slice(0, 30))
        np.testing.assert_array_equal(first, deals[0].rows(Purpose.BATCH, 0, slice(0, 30)))


def test_samples_are_rows_with_their_own_labels(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", table(), NAMES)
    setting = Setting("column(price)", inputs=f"whitened({path})", p=2, precision="float64")
    data = held(setting)
    x, labels = HostSampler(setting, 3).chunk(Purpose.BATCH, 1, 0, 4096, 12)
    place = [int(np.argmin(np.sum((data.rows - row) ** 2, axis=1))) for row in x[:12]]
    np.testing.assert_array_equal(x[:12], data.rows[place])
    assert data.labels is not None
    np.testing.assert_array_equal(labels[:12], data.labels[place])
    assert not x[12:].any()
    assert not labels[12:].any()


def test_directions_are_random_axes_or_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", table(), NAMES)
    setting = Setting("x1*x2", inputs=f"data({path})", p=2)
    named = setting.vary(frame="columns(price, bmi)")
    np.testing.assert_array_equal(target_frame(named, 0), np.eye(4)[[3, 1]])
    np.testing.assert_array_equal(target_frame(setting.vary(frame="axes"), 0), np.eye(2, 4))
    random = target_frame(setting, 0)
    np.testing.assert_allclose(random @ random.T, np.eye(2), atol=1e-12)
    assert not np.allclose(random, target_frame(setting, 1))
    # Gaussian directions are alike, unless the update knows the axes.
    gaussian = Setting("x1*x2", d=4, p=2)
    np.testing.assert_array_equal(target_frame(gaussian, 0), np.eye(2, 4))
    np.testing.assert_array_equal(target_frame(gaussian.vary(update="sign"), 0), random)
    first = simulate(named.vary(precision="float64"))
    assert np.all(np.isfinite(first.overlap))


def test_the_note_tells_light_tails_from_heavy_ones(tmp_path: Path) -> None:
    key = np.random.default_rng(2)
    rows = key.standard_normal((4000, 40))
    rows[:, 5] = key.standard_exponential(4000)
    np.save(tmp_path / "a.npy", rows)
    white = held(Setting("x1", p=2, inputs=f"whitened({tmp_path / 'a.npy'})"))
    assert kurtosis(white.rows)[5] == pytest.approx(9.0, abs=1.5)
    assert "of the columns from 2.8" in white.far_from_gaussian
    assert "random directions 3" in white.far_from_gaussian
    assert "principal" not in white.far_from_gaussian
    rows[:, 7] += rows[:, 8]
    np.save(tmp_path / "b.npy", rows)
    raw = held(Setting("x1", p=2, inputs=f"data({tmp_path / 'b.npy'})"))
    assert "principal variances from 0.2" in raw.far_from_gaussian


def _changed(column: int, row: int, text: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        cells = [[repr(float(cell)) for cell in line] for line in table()]
        cells[row][column] = text
        lines = [",".join(line) for line in [NAMES, *cells]]
        path.write_text("\n".join(lines), encoding="utf-8")

    return write


def _rows(make: Callable[[], np.ndarray], names: list[str] | None = None) -> Callable[[Path], None]:
    return lambda path: written(path, make(), names) and None


def _with_column(values: float | np.ndarray) -> np.ndarray:
    return np.column_stack([table()[:, :3], np.broadcast_to(values, 200)])


BAD: list[tuple[str, Callable[[Path], None], dict[str, object], str]] = [
    # Line 1 has the names: the sixth row of numbers is in line 7, as in a spreadsheet.
    ("nan", _changed(1, 5, "nan"), {}, "line 7, column 'bmi' holds 'nan', which is no finite"),
    ("infinite", _changed(2, 5, "inf"), {}, "line 7, column 'blood pressure' holds 'inf'"),
    ("text", _changed(1, 5, "high"), {}, "cannot read .*: line 7, column 'bmi' holds 'high'"),
    ("missing cell", _changed(1, 5, ""), {}, "cannot read .*: line 7, column 'bmi' is empty$"),
    ("more cells", _changed(1, 5, "1,2"), {}, "line 7 has 5 cells, the first line 4$"),
    ("thousands", _changed(1, 5, '"1,200"'), {}, "'bmi' holds '1,200': .* without commas"),
    (
        "text in a file without names",
        lambda path: path.write_text("1,2\n\n3,x\n"),
        {},
        "line 3, column 2 holds 'x', which is no finite number",
    ),
    (
        "decimal commas",
        lambda path: path.write_text("a;b\n1;2\n3;1,5\n"),
        {},
        r"line 3, column 'b' holds '1,5': the file has decimal commas, .* as sed 's/,/./g' FILE",
    ),
    (
        "decimal commas without names",
        lambda path: path.write_text("1,5;2,5;3,5\n1,5;2,5;3,5\n"),
        {},
        "line 1, column 1 holds '1,5': the file has decimal commas",
    ),
    (
        "decimal commas beside tabs",
        lambda path: path.write_text("a\tb\n1,5\t2\n"),
        {},
        "line 2, column 'a' holds '1,5': the file has decimal commas",
    ),
    ("empty", lambda path: path.write_text(""), {}, "matrix of numbers, .* has shape"),
    ("names only", lambda path: path.write_text("a,b\n"), {}, "matrix of numbers"),
    ("one row", _rows(lambda: table(1)), {}, r"matrix of numbers, .* has shape \(1, 4\)"),
    ("one column", _rows(lambda: table()[:, :1]), {}, "at least 2 columns for x, .* has 1"),
    (
        "one column beside the labels",
        _rows(lambda: table()[:, :2], NAMES[:2]),
        {"target": "column(bmi)"},
        "at least 2 columns for x, .* has 1",
    ),
    ("constant", _rows(lambda: _with_column(3.0), NAMES), {}, "has 3 only in 'price'"),
    (
        "constant labels",
        _rows(lambda: _with_column(3.0), NAMES),
        {"target": "column(price)"},
        "has 3 only in 'price'",
    ),
    (
        "collinear",
        _rows(lambda: _with_column(table()[:, 0] - table()[:, 1]), NAMES),
        {},
        "cannot whiten .* is a sum of the others",
    ),
    ("few rows", _rows(lambda: table(4)), {}, "4 rows are too few for 4 columns"),
    ("names missing", _rows(table, NAMES[:3]), {}, "has 3 names and 4 columns"),
    ("n", _rows(table), {"n": 100}, r"n = 100 \(2 times\), .* are 301 rows, .* has 200"),
    (
        "minibatch",
        _rows(table),
        {"batches": "minibatch(190)"},
        r"^batches must leave rows for the test: batches = minibatch\(190\), .* are 207 rows",
    ),
    ("test_n", _rows(table), {"test_n": 153}, r"test_n = 153 are 201 rows, .* has 200"),
    ("d", _rows(table), {"d": 5}, "^d must be the 4 columns of x .*, got 5"),
    ("no column", _rows(table, NAMES), {"target": "column(cost)"}, r"^target .* got 'cost'"),
    ("no axis", _rows(table, NAMES), {"frame": "columns(cost)"}, r"^frame .* got 'cost'"),
    ("axes", _rows(table, NAMES), {"frame": "columns(age, bmi)"}, "name 1 different columns"),
    ("noise", _rows(table, NAMES), {"target": "column(age)", "noise": 1}, "^noise must be 0 .* 1"),
]


@pytest.mark.parametrize(("write", "fields", "sentence"), [bad[1:] for bad in BAD])
def test_bad_files_are_refused_in_a_sentence(
    tmp_path: Path, write: Callable[[Path], None], fields: dict[str, object], sentence: str
) -> None:
    write(tmp_path / "a.csv")
    given = {"target": "x1", "p": 2, "inputs": f"whitened({tmp_path / 'a.csv'})"} | fields
    with pytest.raises(InputError, match=sentence) as found:
        Setting(**given)  # type: ignore[arg-type]
    assert "\n" not in str(found.value)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([[{"a": 1}]], dtype=object), allow_pickle=True)
    (tmp_path / "b.npy").write_bytes(b"")
    np.save(tmp_path / "c.npy", np.zeros((5, 3), dtype=complex))
    for name, sentence in (("a", "cannot read"), ("b", "cannot read"), ("c", "of numbers")):
        with pytest.raises(InputError, match=sentence):
            Setting("x1", inputs=f"data({tmp_path / name}.npy)")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (",b,c\n.5,1,2\n3,5,4\n", "every column must have a name, got '' for the first one"),
        ("a,,c\n0,1,2\n1,5,4\n", "every column must have a name, got '' after 'a'"),
        ("a,b\x1b,c\n0,1,2\n1,5,4\n", r"no control characters, got 'b\x1b'"),
        ("a,b\n1_2,1\n3,4\n", "line 2, column 'a' holds '1_2', which is no finite number"),
    ],
)
def test_columns_without_names_and_words_are_refused(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        held(Setting("x1", inputs=f"data({path})"))
    assert sentence in str(error.value)
