"""The heading of an experiment: how large a step is against a giant one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep.experiment import run_experiment
from giantstep.problem.setting import Setting
from giantstep.show.tables.experiment import heading
from giantstep.show.tables.setting import setting_lines, setting_title


@pytest.mark.parametrize(
    ("step_size", "said"),
    [
        ("giant", "2 steps of size 8 (giant)\n"),
        (0.24, "2 steps of size 0.24 (0.03 * giant)\n"),
        ("3*giant", "2 steps of size 24 (3 * giant)\n"),
        ((0.24, 8), "2 steps of size 0.24, 8 (0.03, 1 * giant)\n"),
    ],
)
def test_the_heading_says_how_large_a_step_is(step_size: object, said: str) -> None:
    setting = Setting("x1", d=100, n=100, step_size=step_size, readout_n=0, test_n=0)
    assert said in heading(run_experiment(setting)).plain


@pytest.mark.slow
def test_of_many_steps_one_size_is_said() -> None:
    setting = Setting("x1", d=100, n=1, steps=50, step_size=0.24, readout_n=0, test_n=0)
    said = heading(run_experiment(setting.vary(record="log"))).plain
    assert "50 steps of size 0.24 (0.03 * giant)\n" in said


def test_without_a_step_no_row_is_asked_for_one(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.random.default_rng(0).standard_normal((20, 4)))
    inputs, sizes = f"data({tmp_path / 'a.npy'})", {"n": 16, "readout_n": 10, "test_n": 10}
    setting = Setting("x1", inputs=inputs, p=2, steps=0, step_size=1.0, **sizes)
    assert "no step\n" in heading(run_experiment(setting)).plain


def test_heading_and_title_say_every_field_that_is_not_the_default() -> None:
    changed: dict[str, Any] = {
        "update": "orthogonal",
        "loss": "huber(1)",
        "decay": 0.1,
        "bias": 0.5,
        "rows": "normalised",
        "label_transform": "tanh(y)",
        "residual": "labels",
        "readout_start": "gaussian",
        "output_scale": "1",
        "ridge": 0.25,
        "readout_n": 50,
        "precision": "float64",
    }
    setting = Setting("x1", d=100, n=200, **changed)
    words = [f"{name} {value}" for name, value in changed.items()]
    for text in (setting_lines(setting).plain, setting_title(setting).replace("\n", " ")):
        assert [word for word in words if word not in text] == []
    usual = Setting("x1", d=100, n=200)
    assert not any(name in setting_title(usual) for name in changed)
    deflated = Setting("x1", d=100, n=200, deflate=1)
    assert "deflate 1" in setting_title(deflated)
