"""Sweeps of settings with Python functions: run here, kept in memory, and said so."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep import InputError, Setting, predict, simulate, sweep
from giantstep.records.observables import expected
from giantstep.sweeps.sweep import Progress

BASE = Setting("x1", d=60, p=2, steps=1, readout_n=0, test_n=0, runs=3)


def cube(x: Any) -> Any:
    return x**3 / np.sqrt(15)


def test_a_target_that_is_a_function_is_swept() -> None:
    """It gives what the same function as a text gives."""
    found = sweep(BASE.vary(target=cube), {"d": [60, 120]}, theory=False)
    text = [simulate(BASE.vary(target="x1^3/sqrt(15)", d=d)) for d in (60, 120)]
    assert found.measured("norm") == pytest.approx([t.norms[:, -1].mean() for t in text], rel=1e-5)


def test_functions_are_predicted_too() -> None:
    found = sweep(BASE, {"activation": [np.tanh]})
    [value] = found.predicted("norm")
    assert value == pytest.approx(expected(predict(BASE.vary(activation="tanh")))["norm"][-1], 1e-3)


@pytest.mark.slow
def test_functions_are_values_of_an_axis_beside_texts() -> None:
    axes = {"activation": ["relu", np.tanh, lambda z: z, lambda z: z**2], "noise": [0.0, 1.0]}
    seen: list[Progress] = []
    found = sweep(BASE, axes, workers=1, theory=False, progress=seen.append)
    assert found.measured("alignment").shape == (4, 2)
    names = ["relu", "tanh", "<lambda> (1)", "<lambda> (2)"]
    assert list(found.axes[0].texts) == names
    frame = found.to_pandas()
    assert list(dict.fromkeys(frame.activation)) == names
    data = found.to_xarray()
    assert data.alignment.dims == ("activation", "noise", "run", "step")
    chosen = found.outcomes[4].simulated
    assert chosen is not None
    assert float(data.norm.sel(activation="<lambda> (1)", noise=0.0, step=1).mean()) == (
        pytest.approx(chosen.norms[:, 1].mean())
    )
    json.dumps(found.as_dict("alignment"))
    assert "activation = tanh, noise = 0" in {outcome.cell.text for outcome in found.outcomes}
    assert (seen[-1].done, seen[-1].total) == (6, 6)
    assert len(found.revisions) == 1
    assert found.plot().axes


def test_a_folder_does_not_have_them_and_that_is_said(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="2 cells of the sweep are not kept in the folder, only"):
        found = sweep(BASE, {"activation": ["relu", cube, np.tanh]}, out=tmp_path, theory=False)
    assert len(found.finished) == 3
    assert len(list(tmp_path.glob("*.npz"))) == BASE.runs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sweep(BASE, {"activation": [cube]}, theory=False)


def test_what_fails_has_its_reason_and_the_others_go_on() -> None:
    base = BASE.vary(target=cube, steps=3)
    found = sweep(base, {"step_size": [0.1, 1e30]}, theory=False)
    assert [outcome.failure is None for outcome in found.outcomes] == [True, False]
    assert "diverged" in str(found.outcomes[1].failure)


def test_a_cluster_cannot_be_handed_a_function() -> None:
    with pytest.raises(InputError, match="callable 'cube'; a cluster cannot be handed it, got"):
        sweep(BASE.vary(activation=cube), {"d": [60, 120]}, cluster="local")
    with pytest.raises(InputError, match="axes must have a value once"):
        sweep(BASE, {"activation": [cube, cube]})
