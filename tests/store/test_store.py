"""Files that are whole or not there, folders that are read whatever lies in them."""

import errno
import io
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep import Setting, Trajectory, load, predict, simulate
from giantstep.errors import InputError, NoTheoryError
from giantstep.records import origin as origin_module
from giantstep.records.drafts import draft_of
from giantstep.records.file import FORMAT, packed, write_whole
from giantstep.records.observables import names, observed
from giantstep.simulation.simulate import simulate_runs
from giantstep.store import folder as folder_module
from giantstep.store import identity as identity_module
from giantstep.store import prediction as prediction_module
from giantstep.store import simulation as simulation_module
from giantstep.store.folder import Store, prediction_bytes, run_bytes
from giantstep.store.identity import prediction_name, resolved, run_name
from giantstep.store.prediction import predict_stored
from giantstep.store.simulation import simulate_stored

SETTING = resolved(
    Setting("x1 + x1*x2", d=60, n="2d", p=4, steps=2, readout_n=100, test_n=100, runs=3)
)


def filled(path: Path, setting: Setting = SETTING) -> Store:
    """A store with all runs of a setting."""
    store = Store(path)
    store.prepare()
    for run, found in simulate_runs(setting, store.missing(setting)):
        store.write(run_name(setting, run), run_bytes(found, run))
    return store


@cache
def prediction() -> Trajectory:
    return predict(SETTING)


def same(one: Trajectory, other: Trajectory) -> bool:
    """Whether two records hold the same bits."""
    arrays, others = one.arrays(), other.arrays()
    return arrays.keys() == others.keys() and all(
        np.array_equal(arrays[name], others[name], equal_nan=True) for name in arrays
    )


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"engine": "dense", "spectra": 3, "ridge": (0.1, 1.0)},
        {"batches": "reused", "readout_between": "gradient(0.1)", "start": "sphere"},
    ],
)
def test_a_saved_record_reads_back(fields: dict[str, Any], tmp_path: Path) -> None:
    found = simulate(SETTING.vary(**({"engine": "deferred"} | fields)))
    found.save(tmp_path / "own.npz")
    read = Trajectory.read(tmp_path / "own.npz")
    assert same(read, found)
    assert (read.setting, read.engine, read.seconds) == (found.setting, found.engine, found.seconds)
    assert np.array_equal(read.rows, found.rows)
    assert read.origin is not None
    assert {"versions", "device", "dtype", "revision", "time"} <= read.origin.keys()
    read.save(tmp_path / "again.npz")  # with the origin it had
    assert Trajectory.read(tmp_path / "again.npz").origin == read.origin


def test_a_prediction_reads_back(tmp_path: Path) -> None:
    predicted = prediction()
    predicted.save(tmp_path / "theory.npz")
    read = Trajectory.read(tmp_path / "theory.npz")
    assert same(read, predicted)
    assert (read.theory, read.notes) == (predicted.theory, predicted.notes)


@pytest.mark.parametrize(
    "fields",
    [{}, {"readout_n": 0, "test_n": 0, "spectra": 2}, {"spectra": 2}, {"target": "x1"}],
)
def test_observables_have_the_names_that_are_told(fields: dict[str, Any]) -> None:
    setting = SETTING.vary(**({"runs": 1} | fields))
    assert list(observed(simulate(setting))) == names(setting)


def test_a_callable_cannot_be_stored(tmp_path: Path) -> None:
    setting = Setting(lambda x: x**3, d=60, n="2d", p=4, runs=1, readout_n=0, test_n=0)
    with pytest.raises(InputError, match="target cannot be stored"):
        simulate(setting).save(tmp_path / "own.npz")
    assert not list(tmp_path.iterdir())


def test_a_run_is_the_same_alone_and_among_others(tmp_path: Path) -> None:
    """More runs keep the files of fewer; what is read is what was simulated at once."""
    store = filled(tmp_path, SETTING.vary(runs=2))
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert store.missing(SETTING) == [2]
    filled(tmp_path)
    assert all((tmp_path / name).stat().st_mtime_ns == when for name, when in before.items())
    assert same(store.runs(SETTING), simulate(SETTING))


def test_every_field_has_a_name_of_its_own() -> None:
    names = {run_name(SETTING, 0), run_name(SETTING, 1)}
    changes: list[dict[str, Any]] = [
        {"seed": 1},
        {"noise": 0.1},
        {"n": 121},
        {"precision": "float64"},
        {"engine": "dense"},
        {"batches": "reused"},
    ]
    names |= {run_name(resolved(SETTING.vary(**change)), 0) for change in changes}
    assert len(names) == 2 + len(changes)
    assert run_name(SETTING.vary(runs=9), 0) in names
    assert run_name(resolved(SETTING.vary(n="2d", engine="auto")), 0) in names


def test_a_file_of_inputs_is_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "table.npy"
    names = set()
    for seed in range(2):
        np.save(path, np.random.default_rng(seed).standard_normal((400, 5)))
        setting = Setting("x1", inputs=f"data({path})", n=50, readout_n=50, p=2, steps=1)
        names.add(run_name(resolved(setting), 0))
    assert len(names) == 2


def test_truncated_and_foreign_files_are_named_and_skipped(tmp_path: Path) -> None:
    store = filled(tmp_path)
    auto = replace(prediction(), setting=SETTING.vary(engine="auto"))
    store.write(prediction_name(SETTING), prediction_bytes(SETTING, auto, None))
    store.write("complaint.npz", prediction_bytes(SETTING, None, "no theory"))
    whole = next(tmp_path.glob("*.npz")).read_bytes()
    buffer = io.BytesIO()
    np.savez(buffer, a=np.array([{"code": 1}], dtype=object))
    bad = {
        "truncated.npz": whole[: len(whole) // 2],
        "empty.npz": b"",
        "flipped.npz": _flipped(whole),
        "text.npz": b"d,n\n1,2\n",
        "pickle.npz": buffer.getvalue(),
        "strange.npz": packed({"overlap": np.zeros((1, 1))}, {"setting": 5}),
        "other_format.npz": packed({}, {}).replace(
            f'"format": {FORMAT}'.encode(), f'"format": {FORMAT + 1}'.encode()
        ),
    }
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
    os.mkfifo(tmp_path / "pipe.npz")  # nobody writes to it
    bad["pipe.npz"] = b""
    (tmp_path / ".half.npz.1.ab.part").write_bytes(whole[:100])
    found = load(tmp_path)
    assert {name for name, _ in found.skipped} == set(bad)
    assert all(name in reason for name, reason in found.skipped)
    [trajectory] = found.trajectories
    assert same(trajectory, simulate(SETTING))
    [predicted] = found.predictions
    assert predicted is not None
    assert same(predicted, prediction())


def test_the_arrays_of_a_foreign_archive_are_not_read(tmp_path: Path) -> None:
    """Each is found to be none of ours by its record alone: an archive may hold gigabytes."""
    foreign, header = io.BytesIO(), {"descr": "<f8", "fortran_order": False, "shape": (2**44,)}
    np.lib.format.write_array_header_1_0(foreign, header)
    for record in (None, {"format": FORMAT - 1}):
        with zipfile.ZipFile(tmp_path / "foreign.npz", "w") as archive:
            archive.writestr("a.npy", foreign.getvalue())
            if record is not None:
                text = io.BytesIO()
                np.save(text, np.frombuffer(json.dumps(record).encode(), np.uint8))
                archive.writestr("record.npy", text.getvalue())
        [(_, reason)] = load(tmp_path).skipped
        assert ("it has no 'record'" if record is None else f"is not {FORMAT}") in reason


def _truncated(content: bytes) -> bytes:
    return content[:-30]


def _flipped(content: bytes) -> bytes:
    # Within an array: names and dates between arrays are not checked, and change no number.
    middle = content.index(b"\x93NUMPY", len(content) // 3) + 64
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


@pytest.mark.parametrize("damage", [_truncated, _flipped, lambda content: b""])
def test_a_damaged_run_is_refused_by_name_and_kept(
    damage: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it is damaged, before anything is computed, and without a byte of it changed."""
    store = filled(tmp_path, SETTING.vary(runs=2))
    path = tmp_path / run_name(SETTING, 1)
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)
    with monkeypatch.context() as patch:
        patch.setattr(simulation_module, "simulate_runs", _not_called)
        with pytest.raises(InputError, match=f"a whole result, got '{path}': .*; once it is remov"):
            simulate_stored(SETTING, store)
    assert path.read_bytes() == damaged
    path.unlink()
    assert same(simulate_stored(SETTING, store), simulate(SETTING))


def _not_called(*arguments: object, **options: object) -> Any:
    raise AssertionError("this was not to be computed")


def test_a_prediction_is_taken_from_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With or without a theory; another revision of the package makes one of its own."""
    store, silent = Store(tmp_path), SETTING.vary(inputs="rademacher", engine="auto")
    first = predict_stored(SETTING, store)
    with pytest.raises(NoTheoryError) as reason:
        predict_stored(silent, store)
    assert len(list(tmp_path.iterdir())) == 2
    with monkeypatch.context() as patch:
        patch.setattr(prediction_module, "predict", _not_called)
        again = predict_stored(SETTING, store)
        with pytest.raises(NoTheoryError, match=re.escape(str(reason.value))):
            predict_stored(silent, store)
    assert same(again, first)
    assert same(again, prediction())
    assert again.setting == SETTING
    old = (tmp_path / prediction_name(SETTING)).read_bytes()
    for module in (identity_module, origin_module):
        monkeypatch.setattr(module, "package_source", lambda: "another")
    assert same(predict_stored(SETTING, store), first)
    assert len(list(tmp_path.iterdir())) == 3
    (tmp_path / prediction_name(SETTING)).write_bytes(old)
    with pytest.raises(InputError, match=r"revision = 'another', got '.*' of revision = '"):
        predict_stored(SETTING, store)


def test_a_prediction_of_something_else_is_refused(tmp_path: Path) -> None:
    """Of other fields or of other runs, under the name of the one that is asked for."""
    store, path = Store(tmp_path), tmp_path / prediction_name(SETTING)
    for field, value in {"d": 600, "runs": 4, "noise": 0.5}.items():
        content = prediction_bytes(SETTING.vary(n=120, **{field: value}), None, "no theory")
        path.write_bytes(content)
        held = re.escape(f"got '{path}' of {field} = {value}; once it is removed")
        with pytest.raises(InputError, match=held):
            predict_stored(SETTING, store)
        assert path.read_bytes() == content


def test_the_newest_prediction_is_loaded(tmp_path: Path) -> None:
    """Whatever the names of the files are; revisions of the package leave one each."""
    filled(tmp_path)
    for name, time_made, scale in (("b", "2020-01-01", 2.0), ("a", "2030-01-01", 3.0)):
        made = replace(prediction(), norms=scale * prediction().norms, origin={"time": time_made})
        (tmp_path / f"{name}.npz").write_bytes(prediction_bytes(SETTING, made, None))
    [predicted] = load(tmp_path).predictions
    assert predicted is not None
    assert np.array_equal(predicted.norms, 3.0 * prediction().norms)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_write_that_fails_leaves_nothing(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space left") as failure:
        write_whole(tmp_path / "own.npz", b"content")
    assert failure.value.filename == str(tmp_path / "own.npz")
    assert not list(tmp_path.iterdir())


KILLED = """
import os, sys
from pathlib import Path
from giantstep.records import file
os.replace = lambda draft, path: os.kill(os.getpid(), 9)
file.write_whole(Path(sys.argv[1]), b"half")
"""


def test_what_killed_writers_left_is_swept_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once where the writer was of this machine, after an hour where it was of another."""
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a.npz")], check=False)
    assert len(list(tmp_path.glob(".a.npz.*.part"))) == 1
    other = tmp_path / ".b.npz.elsewhere.1.00.part"
    other.write_bytes(b"half")
    drafts: list[Path] = []

    def writing(draft: Path, path: Path) -> None:
        Store(tmp_path).prepare()
        drafts.extend(tmp_path.glob(".*.part"))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", writing)
        write_whole(tmp_path / "c.npz", b"whole")
    names = sorted(draft.name.split(".")[1] for draft in drafts)
    assert names == ["b", "c"]  # those who may still write
    long_ago = time.time() - 3660
    os.utime(other, (long_ago, long_ago))
    Store(tmp_path).prepare()
    assert not other.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_numbers_of_processes_may_be_given_again(tmp_path: Path) -> None:
    """A writer that was killed and not yet noticed, or whose number another process has now."""
    killed = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "a.npz")])
    os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
    reused, writing = draft_of(tmp_path / "b.npz"), draft_of(tmp_path / "c.npz")
    for draft in (reused, writing):
        draft.write_bytes(b"half")
    started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    before = time.time() - age - 60
    os.utime(reused, (before, before))
    assert len(list(tmp_path.iterdir())) == 3
    Store(tmp_path).prepare()
    assert list(tmp_path.iterdir()) == [writing]
    killed.wait()


def test_a_file_is_what_it_holds_and_not_what_it_is_called(tmp_path: Path) -> None:
    """A copy under the name of another run or setting is refused, by the name of the file."""
    store, large = filled(tmp_path), resolved(SETTING.vary(d=600, n=120))
    filled(tmp_path, large)
    paths = [tmp_path / run_name(SETTING, run) for run in range(3)]
    kept = paths[0].read_bytes()
    paths[0].write_bytes((tmp_path / run_name(large, 0)).read_bytes())
    with pytest.raises(InputError, match=f"the result of d = 60, got '{paths[0]}' of d = 600"):
        store.runs(SETTING)
    paths[0].write_bytes(paths[1].read_bytes())
    with pytest.raises(InputError, match=f"the result of run = 0, got '{paths[0]}' of run = 1"):
        store.runs(SETTING)
    paths[0].write_bytes(kept)
    assert same(store.runs(SETTING), simulate(SETTING))
    theory = tmp_path / prediction_name(SETTING)
    theory.write_bytes(kept)
    with pytest.raises(InputError, match=f"kind = 'prediction', got '{theory}' of kind = 'run'"):
        store.prediction(SETTING)
    theory.write_bytes(prediction_bytes(large, None, "no theory"))
    with pytest.raises(InputError, match="of d = 600"):
        store.prediction(SETTING)


def test_large_matrices_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(folder_module.run_bytes.__kwdefaults__, "most_numbers", 10)
    read = filled(tmp_path).runs(SETTING)
    assert read.gram is None
    assert read.rows is None
    assert np.array_equal(read.overlap, simulate(SETTING).overlap)


def test_the_table_is_tidy(tmp_path: Path) -> None:
    other = resolved(SETTING.vary(noise=0.5, runs=2))
    store = filled(tmp_path)
    store.write(prediction_name(SETTING), prediction_bytes(SETTING, prediction(), None))
    filled(tmp_path, other)
    found = load(tmp_path)
    frame = found.to_pandas()
    assert len(frame) == (SETTING.runs + other.runs) * (SETTING.steps + 1)
    assert {"d", "n", "p", "noise", "run", "step"} == set(found.table.index)
    plain = simulate(SETTING)
    assert plain.test_error is not None
    chosen = frame[(frame.noise == 0) & (frame.run == 1)].sort_values("step")
    assert chosen.test_error.tolist() == plain.test_error[1].tolist()
    assert chosen.norm.tolist() == plain.norms[1].mean(axis=1).tolist()
    predicted = prediction().norms.mean(axis=(0, 2))
    assert chosen.predicted_norm.tolist() == pytest.approx(predicted.tolist())
    # A text of numbers that read back exactly.
    lines = found.table.as_csv().splitlines()
    column = lines[0].split(",").index("test_error")
    read = [float(line.split(",")[column]) for line in lines[1:]]
    assert read == frame.test_error.tolist()


def test_xarray_or_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    table = load(tmp_path).table
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(InputError, match="to_xarray needs xarray"):
        table.to_xarray()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="to_pandas needs pandas"):
        table.to_pandas()
    monkeypatch.undo()
    pytest.importorskip("xarray", reason="xarray is not installed")
    data = table.to_xarray()
    assert (data.test_error.sel(run=1, step=2).size, int(data.d)) == (1, 60)


def test_a_folder_that_is_none() -> None:
    with pytest.raises(InputError, match="folder must be one of results, got 'nowhere'"):
        load("nowhere")


def test_the_record_is_plain_json(tmp_path: Path) -> None:
    filled(tmp_path)
    with np.load(tmp_path / run_name(SETTING, 2), allow_pickle=False) as file:
        record = json.loads(file["record"].tobytes())
    assert record["run"] == 2
    assert record["seed"] == SETTING.seed
    assert record["setting"]["n"] == 120
    assert record["setting"]["engine"] == "deferred"
