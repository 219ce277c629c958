"""Whatever a table shows of theory beside a measurement is compared, and can be found wrong."""

import math
import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from rich.console import Console, RenderableType
from scipy.special import stdtrit

from giantstep.experiment import Experiment, run_experiment
from giantstep.problem.setting import Setting
from giantstep.records import differences
from giantstep.records.comparison import compare, student_test
from giantstep.records.observables import Expectation, expectations
from giantstep.records.summary import StepSummary
from giantstep.show.tables.learn import learn_report
from giantstep.show.tables.spectrum import spectrum_report

FIRST: dict[str, Any] = {"readout_n": 0, "test_n": 0}
SETTINGS: dict[str, tuple[str, Setting]] = {
    "fresh": (
        "narrow",
        Setting("x1 + x1*x2", d=2000, n="4d", p=4, steps=2, runs=12, readout_n=500, test_n=500),
    ),
    "each run from its own start": (
        "narrow",
        Setting("x1 + He2(x1)", d=500, n="8d", p=2, steps=2, runs=12, start="sphere", **FIRST),
    ),
    "readouts that differ": (
        "narrow",
        Setting("x1", d=2000, n="4d", p=3, steps=1, start="sphere", runs=12, **FIRST).vary(
            readout_start="gaussian", output_scale="1/sqrt(p)"
        ),
    ),
    "reused": (
        "narrow",
        Setting("x1 + x1*x2", d=1000, n="2d", p=2, steps=2, batches="reused", runs=12, **FIRST),
    ),
    "small steps": (
        "narrow",
        Setting("erf(x1)", activation="erf", d=1000, n=100, p=2, steps=150, runs=12).vary(
            step_size="0.1", record="log", **FIRST
        ),
    ),
    "linear width": (
        "linear-width",
        Setting.linear_width(
            "x1 + He2(x1)/1.4", d=200, activation="tanh", step_size="n^0.4", runs=12, test_n=500
        ),
    ),
    "two steps at linear width": (
        "linear-width",
        Setting("x1", d=200, n="4d", p=100, steps=2, runs=6, **FIRST),
    ),
    "quadratic width": (
        "quadratic-width",
        Setting("x1", d=50, n="25d", p="25d", steps=1, activation="erf", runs=12, **FIRST),
    ),
}
"""A setting of every kind of theory."""


def text_of(content: RenderableType) -> str:
    console = Console(width=200, highlight=False)
    with console.capture() as capture:
        console.print(content)
    return capture.get()


@cache
def experiment_of(name: str) -> Experiment:
    return run_experiment(SETTINGS[name][1])


def numbers(step: StepSummary, titles: list[str], left_out: set[str]) -> dict[str, float]:
    """The numbers of a step that theory knows, by the names of observables, but for some errors."""
    values = {"norm": step.norm, **dict(zip(titles, step.cosines, strict=True)), **step.errors}
    values = {name: value for name, value in values.items() if name not in left_out}
    for k, value in enumerate(step.principal_cosines or ()):
        values[f"principal_cosine_{k + 1}"] = value
    return {name: value.mean for name, value in values.items() if value.known}


@pytest.mark.slow(sentinel="fresh")
@pytest.mark.parametrize("name", SETTINGS)
def test_every_number_of_theory_in_a_table_is_compared(name: str) -> None:
    """Rows, errors and outliers, step by step: a number that is shown has a deviation."""
    found = experiment_of(name)
    compared, predicted = found.comparison, found.predicted
    assert compared is not None
    assert predicted is not None
    assert predicted.theory == SETTINGS[name][0]
    titles = [title for title, _ in found.subspaces]
    shown = 0
    for place, step in enumerate(found.predicted_steps or ()):
        unmeasured = set(step.errors) - set(found.steps[place].errors)
        for observable in numbers(step, titles, unmeasured):
            assert observable in compared.shown
            assert math.isfinite(compared.deviations[observable][place]), observable
            shown += 1
        for matrix in ("weights", "features"):
            spectrum = getattr(step, matrix)
            for k in range(len(spectrum.outliers or ()) if spectrum is not None else 0):
                assert math.isfinite(compared.deviations[f"{matrix} outliers"][place, k])
    assert shown > len(found.steps)
    report = spectrum_report if found.setting.spectra else learn_report
    assert f"theory: {predicted.theory} (" in text_of(report(found))
    assert not re.search(r"\bnan\b", text_of(report(found)))


@pytest.mark.slow(sentinel="fresh")
@pytest.mark.parametrize("name", SETTINGS)
def test_a_wrong_number_in_any_column_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number 12 % below the measured one, or half as far again as these runs could tell.

    In each column after the last step by itself: theory and simulation then disagree, as they do
    not before.
    """
    found = experiment_of(name)
    predicted, simulated, compared = found.predicted, found.simulated, found.comparison
    assert predicted is not None
    assert compared is not None
    assert compared.agrees
    subspaces = dict(found.subspaces)
    theory = expectations(predicted, subspaces)
    known = [k for k in theory if k in compared.shown and np.isfinite(theory[k].mean[-1])]
    assert known
    parts = {p.name: p for p in differences.shown_numbers(predicted, simulated, subspaces)}
    shown = [np.sum(np.isfinite(compared.deviations[name])) for name in compared.shown]
    weight = 0.5 / float(np.sum(shown))
    for observable in known:
        size = float(theory[observable].mean[-1])
        test = student_test(parts[observable], predicted)
        seen = stdtrit(test.freedom[-1], 1.0 - 0.5 * compared.level * weight) * test.joint[-1]
        values = theory[observable].values.copy()
        values[:, -1] += test.deviations[-1] * test.joint[-1]
        values[:, -1] -= max(0.12 * size, 1.5 * float(seen))
        wrong: dict[str, Expectation] = {**theory}
        wrong[observable] = replace(theory[observable], values=values)
        monkeypatch.setattr(differences, "expectations", lambda *_, found=wrong: found)
        assert not compare(predicted, simulated, subspaces=subspaces).agrees, observable


def test_few_neurons_at_a_theory_of_many_are_not_said_to_agree() -> None:
    """A theory that leaves out as much as it knows prints no number, and gives no verdict."""
    setting = Setting("x1", d=400, n="4d", p=40, steps=1, runs=4, **FIRST)
    found = run_experiment(setting, theory="linear-width")
    assert found.predicted is not None
    rough = replace(found.predicted, relative_uncertainty=1.0)
    compared = compare(rough, found.simulated)
    assert compared.count == 0
    text = text_of(learn_report(replace(found, predicted=rough, comparison=compared)))
    assert "are not compared: at these sizes theory is uncertain by 100%" in text
    rows = [line for line in text.split("\n") if line.startswith("theory")]
    assert not re.search(r"\d\.\d", " ".join(rows))
