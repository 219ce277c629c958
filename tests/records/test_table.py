"""Tidy tables of single records, and data sets of xarray without places that nothing fills."""

import sys
from collections.abc import Sequence

import numpy as np
import pytest

from giantstep import InputError, Setting, Trajectory, predict, simulate
from giantstep.records.observables import expected
from giantstep.records.table import make_table

pytest.importorskip("pandas")
xarray = pytest.importorskip("xarray")

BASE = Setting("x1 + x1*x2", d=50, n="4d", p=2, steps=1, readout_n=0, test_n=0, runs=3)


def runs(settings: Sequence[Setting]) -> list[Trajectory]:
    return [simulate(setting) for setting in settings]


def test_a_simulation_has_a_row_for_each_run_and_step() -> None:
    found = simulate(BASE)
    frame = found.to_pandas()
    assert list(frame.columns[:5]) == ["d", "n", "p", "run", "step"]
    assert frame.step.tolist() == [0, 1, 0, 1, 0, 1]
    cosines = np.median(np.abs(found.cosine[..., 0]), axis=2)
    assert frame.cosine_1.to_numpy().reshape(3, 2) == pytest.approx(cosines)
    assert not any(name.startswith("predicted_") for name in frame.columns)


def test_a_prediction_has_a_row_for_each_step_and_its_theory() -> None:
    found = predict(BASE.vary(d=10_000))
    frame = found.to_pandas()
    assert frame.step.tolist() == [0, 1]
    assert set(frame.theory) == {found.theory}
    assert "run" not in frame
    assert frame.norm.tolist() == pytest.approx(expected(found)["norm"].tolist())
    assert found.to_xarray().norm.dims == ("step",)


def test_without_pandas_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    found = simulate(BASE)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"to_pandas needs pandas.*: pip install pandas$"):
        found.to_pandas()
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(InputError, match=r"to_xarray needs xarray.*: pip install xarray$"):
        found.to_xarray()


def test_fields_that_follow_others_are_no_dimensions() -> None:
    """n = 4d follows d: over both, half of a cube of two sizes would be empty."""
    settings = [BASE.vary(d=d, noise=s) for d in (60, 40) for s in (0.0, 0.5, 1.0)]
    found = runs(settings)
    data = make_table(found, [None] * 6).to_xarray()
    assert data.norm.dims == ("d", "noise", "run", "step")
    assert data.norm.shape == (2, 3, 3, 2)
    assert data.d.values.tolist() == [40, 60]
    assert (data.n.dims, data.n.values.tolist()) == (("d",), [160, 240])
    assert int(data.p) == 2
    assert not np.any(np.isnan(data.norm))
    chosen = data.norm.sel(d=60, noise=0.5, run=1, step=1)
    assert float(chosen) == pytest.approx(float(found[1].norms[1, 1].mean()))


def test_settings_that_are_no_grid_lie_along_one_dimension() -> None:
    found = runs([BASE.vary(d=d, n=n) for d, n in ((40, 80), (60, 80), (60, 160))])
    data = make_table(found, [None] * 3).to_xarray()
    assert data.norm.dims == ("setting", "run", "step")
    assert data.d.values.tolist() == [40, 60, 60]
    assert data.n.values.tolist() == [80, 80, 160]
    assert not np.any(np.isnan(data.norm))


def test_words_are_coordinates_and_predictions_have_no_run() -> None:
    settings = [BASE.vary(d=4000, update=update) for update in ("gradient", "orthogonal")]
    table = make_table(runs(settings), [predict(settings[0]), None])
    data = table.to_xarray()
    assert data["update"].values.tolist() == ["gradient", "orthogonal"]
    assert data.predicted_norm.dims == ("update", "step")
    assert np.isnan(data.predicted_norm.sel(update="orthogonal")).all()


def test_fewer_runs_are_missing_and_the_same_run_twice_is_refused() -> None:
    few = simulate(BASE.vary(noise=0.5, runs=2))
    data = make_table([simulate(BASE), few], [None, None]).to_xarray()
    assert np.isnan(data.norm.sel(noise=0.5, run=2)).all()
    assert not np.isnan(data.norm.sel(noise=0.0)).any()
    with pytest.raises(InputError, match="one row for each run and step of a setting, got several"):
        make_table([few, few], [None, None]).to_xarray()
