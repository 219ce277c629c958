"""Axes as they are written, and grids that are refused before anything runs."""

from pathlib import Path
from typing import Any

import pytest

from giantstep import Setting
from giantstep.errors import InputError
from giantstep.sweeps.axes import read_axes, read_vary
from giantstep.sweeps.grid import make_grid, read_sweep_file

BASE = {"target": "x1", "p": 2, "steps": 1, "readout_n": 0, "test_n": 0}


@pytest.mark.parametrize(
    ("field", "given", "values", "label", "log"),
    [
        ("d", "1000, 10000", [1000, 10000], "d", False),
        ("d", [50, 60], [50, 60], "d", False),
        ("noise", "0..1:5", [0, 0.25, 0.5, 0.75, 1], "noise", False),
        ("d", "100..10000:5 log", [100, 316, 1000, 3162, 10000], "d", True),
        ("d", "10..12:2, 20", [10, 12, 20], "d", False),
        ("n", "d^1..d^2:3", ["d^1", "d^1.5", "d^2"], "k in n = d^k", False),
        ("n", "3d^-0.5..3d^0.5:3", ["3d^-0.5", "3d^0", "3d^0.5"], "k in n = 3d^k", False),
        ("n", "1d..16d:5 log", ["1d", "2d", "4d", "8d", "16d"], "n/d", True),
        ("n", ["1d", "8d"], ["1d", "8d"], "n/d", False),
        ("seed", "0..40:3", [0, 20, 40], "seed", False),
        ("batches", "fresh, repeat(2)", ["fresh", "repeat(2)"], "batches", False),
        ("inputs", "spiked(1, 0.5), gaussian", ["spiked(1, 0.5)", "gaussian"], "inputs", False),
        ("noise", 0.5, [0.5], "noise", False),
    ],
)
def test_values(field: str, given: Any, values: list[Any], label: str, log: bool) -> None:
    [axis] = read_axes({field: given})
    assert [place[field] for place in axis.places] == values
    assert axis.label == label
    assert axis.log == log
    words = {"batches", "inputs"}
    assert (axis.coordinates is None) == (field in words)


def test_coordinates_are_what_runs() -> None:
    [power] = read_axes({"n": "d^1..d^2:3"})
    [share] = read_axes({"n": "1d..4d:3 log"})
    assert power.coordinates == (1.0, 1.5, 2.0)
    assert share.coordinates == (1.0, 2.0, 4.0)


def test_the_command_line_and_the_file_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(
        '[setting]\ntarget = "x1"\n[[axes]]\nd = [10, 20]\n'
        '[[axes]]\nsteps = "1..2:2"\nstep_size = ["giant", 2]\n'
    )
    setting, axes = read_sweep_file(path)
    assert setting == {"target": "x1"}
    typed = read_axes(read_vary(["d=10,20", "steps=1,2; step-size=giant,2"]))
    assert read_axes(axes) == typed
    assert [dict(place) for place in typed[1].places] == [
        {"steps": 1, "step_size": "giant"},
        {"steps": 2, "step_size": 2},
    ]


def test_cells_are_the_settings_themselves() -> None:
    grid = make_grid(BASE | {"runs": 3}, {"d": [50, 100], "n": "d^1..d^2:3"})
    assert grid.shape == (2, 3)
    assert grid.runs == 18
    assert [cell.setting.n for cell in grid.cells] == [50, 354, 2500, 100, 1000, 10_000]
    cell = grid.cells[4]
    assert cell.place == (1, 1)
    assert cell.text == "d = 100, n = d^1.5"
    assert cell.setting == Setting(**BASE, d=100, n=1000, runs=3, engine="deferred")
    # From a setting the same grid.
    again = make_grid(Setting(**BASE, runs=3, n="7d"), {"d": [50, 100], "n": "d^1..d^2:3"})
    assert [c.setting for c in again.cells] == [c.setting for c in grid.cells]


@pytest.mark.parametrize(
    ("axes", "piece"),
    [
        ({}, "axes must name at least one field, got none"),
        ("d", "axes must be a table of fields and their values, got 'd'"),
        ({"e": [1]}, "axes must be fields of a setting"),
        ({"runs": [1, 2]}, "got 'runs'"),
        ({"d": []}, "axes must have values, got none for d"),
        ({"d": "10,,20"}, "got an empty one for d"),
        ({"d": [10, 10]}, "axes must have a value once"),
        ({"d": "d..d^2:3"}, "d must be a range LOW..HIGH:COUNT whose ends differ in one number"),
        ({"n": "d..10d:3"}, "got 'd..10d:3'"),
        ({"d": "10..20:1"}, "got '10..20:1'"),
        ({"noise": "0..1:3 log"}, "noise must be positive on a log scale"),
        ([{"d": [10, 20], "p": [2]}], "as many values each, got d 2, p 1"),
        ([{"d": [10, 20]}, {"d": [30, 40]}], "axes must name a field once, got 'd' twice"),
        ({"d": [10, 20, 0]}, "d must be at least 1, got 0, in the cell d = 0"),
        ({"d": [10, 20], "noise": [0, -1]}, "got -1, in the cell d = 10, noise = -1"),
        ({"n": ["100", 100]}, "axes must have a value once"),
        ({"n": ["2d", 2000]}, "axes must give different settings, got the same for n = 2d and"),
        ({"d": "1..9999:9999", "n": "1..9999:9999"}, "at most 1,000,000 cells, got 99,980,001"),
    ],
)
def test_refusals_name_the_value(axes: Any, piece: str) -> None:
    with pytest.raises(InputError) as refusal:
        make_grid(BASE, axes)
    assert piece in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("a = ", "file must be TOML"),
        ("[other]\n", "file must have the tables setting and axes, got 'other'"),
        ("setting = 3\n", "setting must be a table of fields, got 3"),
    ],
)
def test_files_that_are_no_sweep(text: str, piece: str, tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    with pytest.raises(InputError, match="must"):
        read_sweep_file(path)
    with pytest.raises(InputError) as refusal:
        read_sweep_file(path)
    assert piece in str(refusal.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"file cannot be read, got 'nowhere.toml'"):
        read_sweep_file(Path("nowhere.toml"))


@pytest.mark.parametrize("text", ["d", "d=", "=3", ""])
def test_vary_is_field_and_values(text: str) -> None:
    with pytest.raises(InputError, match="vary must be FIELD=VALUES"):
        read_vary([text])


def test_steps_follow_d() -> None:
    """Of ``steps`` in terms of d every cell takes as many as its d says: 2 log 50 is 7.8."""
    grid = make_grid(BASE | {"steps": "2*log(d)"}, {"d": "50, 1000"})
    assert [cell.setting.steps for cell in grid.cells] == [8, 14]
    grid = make_grid(BASE | {"d": 1000}, {"steps": "log(d), 2*log(d)", "momentum": "0, 0.5"})
    assert [cell.setting.steps for cell in grid.cells] == [7, 7, 14, 14]
    assert [cell.setting.momentum.share for cell in grid.cells] == [0.0, 0.5, 0.0, 0.5]
