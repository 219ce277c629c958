"""Tables that read well: zeros, natural order, theory that does not look like disagreement."""

import re
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from rich.console import Console, RenderableType

from giantstep.analysis.analyze import analyze
from giantstep.analysis.answer import answer
from giantstep.experiment import run_experiment
from giantstep.gaussian.terms import write_sum
from giantstep.language.units import amount
from giantstep.problem.setting import Setting
from giantstep.records.comparison import Comparison
from giantstep.records.summary import Value
from giantstep.show.progress import patience
from giantstep.show.tables.analysis import analysis_report
from giantstep.show.tables.experiment import power
from giantstep.show.tables.learn import CHANCE, learn_report
from giantstep.show.tables.parts import counted, make_table, number, plain, spread
from giantstep.show.tables.spectrum import spectrum_report


def text_of(content: RenderableType) -> str:
    console = Console(width=120, highlight=False)
    with console.capture() as capture:
        console.print(content)
    return capture.get()


def test_numbers_are_short_and_zeros_are_zero() -> None:
    assert [number(v) for v in (5e-34, -1e-16, 0.0, 57.0, 3.97412, None)] == [
        *("0", "0", "0", "57", "3.974", "-"),
    ]
    assert spread(Value(161.3, 104.0)) == "161 ± 100"
    # Lengths of rows that single precision keeps at one; a small error of a small mean is none.
    assert spread(Value(1.0, 2e-9)) == "1 ± 0"
    assert spread(Value(2e-4, 2e-9)) == "0.0002 ± 2e-09"
    assert plain(2e-13, 1, zero=0.0) == "2e-13"
    assert [counted(k, "claim") for k in (0, 1, 2)] == ["0 claims", "1 claim", "2 claims"]


def test_a_title_is_wrapped_where_the_terminal_ends() -> None:
    """It may be wider than its table, and none of it is lost."""
    title = "one title of many words that no line of the terminal can hold"
    table = make_table(title, ("a", "b"), [("1", "2")])
    console = Console(width=30)
    with console.capture() as capture:
        console.print(table)
    title, below = capture.get().split("a  b")
    assert " ".join(title.split()).endswith("no line of the terminal can hold")
    assert all(len(line) <= 30 for line in title.splitlines())
    assert len(title.splitlines()) == 3
    assert below.split() == ["1", "2"]


def test_the_sign_of_rough_numbers_is_explained_where_one_is_shown() -> None:
    """Rows of W are rough at d = 60, but the tables of a spectrum have no number of theirs."""
    sizes = {"d": 60, "p": 40, "n": 120, "steps": 1, "step_size": 3.0, "runs": 2}
    kind = {"start": "sphere", "readout_start": "gaussian", "output_scale": "1", "spectra": 1}
    kind |= {"activation": "tanh"}
    experiment = run_experiment(Setting("x1", **sizes, **kind, readout_n=0, test_n=0))
    assert any(value.rough for value in experiment.predicted_steps[-1].values)
    assert "~" not in text_of(spectrum_report(experiment))
    assert "~ before a number" in text_of(learn_report(experiment))


def test_rows_that_a_step_makes_far_longer_are_told() -> None:
    """A giant step on inputs of few large variances; the same step on normal inputs is silent."""
    sizes = {"d": 2000, "n": "2d", "p": 2, "steps": 1, "readout_n": 0, "test_n": 0, "runs": 2}
    uneven = Setting("x1 + x1*x2", **sizes, inputs="power(1)", step_size="3*giant")
    said = "times as long. A giant step is meant"
    assert said in text_of(learn_report(run_experiment(uneven)))
    assert said not in text_of(learn_report(run_experiment(uneven.vary(inputs="gaussian"))))


def test_the_floor_of_a_run_is_told_from_that_of_an_analysis() -> None:
    """Eight neurons of R^50 fit 8/50 of the quadratic part that is left after one step."""
    setting = Setting("x1 + x2 + x1^2 - x2^2", d=50, p=8, steps=1, readout_n=100, test_n=100)
    text = text_of(learn_report(run_experiment(setting)))
    assert "3.36" in text
    text = " ".join(text.split())
    assert "a lower bound of the test error for large d, given the directions learned" in text
    assert "it leaves out that p neurons also fit a share p/d of the next degree" in text


def test_shares_are_plain_numbers() -> None:
    noticed = {"test_error": 0.996}
    compared = cast(Comparison, SimpleNamespace(agrees=True, runs=8, resolution=noticed))
    cosines = {"x1 (step 1)": "cosine with x1", "x2 (step 2)": "cosine with x2"}
    assert power(compared, cosines) == (
        " With 8 runs an error of theory of 100 % in the test error would be noticed."
    )
    noticed |= {"x1 (step 1)": 0.35, "x2 (step 2)": 0.2, "weights outliers": 0.1, "overlap": 0.01}
    assert power(compared, cosines) == (
        " With 8 runs an error of theory of 35 % in the cosine with x1, 20 % in the cosine with x2 "
        "or 100 % in the test error would be noticed."
    )
    noticed.clear()
    told = power(compared, cosines)
    assert "only errors of theory above 100 % would be noticed. Use more runs." in told


def test_sums_are_in_natural_order_and_end_in_dots() -> None:
    tensor = analyze("x3*x1 + 3*x2 - x1").deciding_tensor
    assert write_sum(tensor) == "-x1 + 3*x2"
    assert write_sum({"x1": 1.0, "x2": 3.0, "x3": 2.0}, most=2) == "3*x2 + 2*x3 + ..."
    assert write_sum({}) == "0"
    eight = text_of(analysis_report(analyze("+".join(f"x{k}" for k in range(1, 9)))))
    assert re.search(r"target: x1 \+ x2 \+ x3 \+ x4 \+ x5 \+ x6 \+ \.\.\. *\n", eight)
    mixed = text_of(analysis_report(analyze("x3*x1 + 3*x2 - x1^2 + exp(x1)/3"), everything=True))
    assert re.search(r"target: 0\.5496\*x1 \+ 3\*x2 *\n", mixed)
    assert not re.search(r"e-1[0-9]", mixed.split("note:")[0])


def test_theory_that_is_zero_to_leading_order_does_not_read_as_disagreement() -> None:
    """Without deviations a theory knows d^-1/2 at most: the cell says so, and a note."""
    sizes = {"d": 400, "n": "4d", "p": 600, "steps": 2, "readout_n": 0, "test_n": 0}
    found = run_experiment(Setting("x1", **sizes))
    assert CHANCE not in text_of(learn_report(found))
    assert found.predicted is not None
    limit = replace(found.predicted, overlap_deviation=None, overlap_shared_deviation=None)
    text = text_of(learn_report(replace(found, predicted=limit)))
    rows = [line for line in text.split("\n") if line.startswith("theory ")]
    assert CHANCE in rows[0]
    assert CHANCE not in rows[1]
    assert "theory knows only the order of magnitude" in " ".join(text.split())


def test_an_orthogonal_start_is_zero_and_said_so() -> None:
    sizes = {"d": 500, "p": 2, "steps": 1, "readout_n": 0, "test_n": 0, "start": "orthogonal"}
    text = text_of(learn_report(run_experiment(Setting("x1", **sizes))))
    assert CHANCE not in text


@pytest.mark.slow
def test_of_many_steps_some_are_shown() -> None:
    setting = Setting("x1", d=200, p=2, steps=20, readout_n=50, test_n=50)
    text = text_of(learn_report(run_experiment(setting)))
    steps = [int(line.split()[0]) for line in text.split("\n") if re.match(r"[0-9]+ +[0-9.]", line)]
    half = steps[: len(steps) // 2]
    assert half == steps[len(steps) // 2 :]
    assert half[:3] == [0, 1, 2]
    assert half[-1] == 20
    assert len(half) <= 16
    assert f"{21 - len(half)} of 21 steps are not shown; --json has all." in text


@pytest.mark.parametrize("record", ["log", "every(4)"])
def test_floors_stand_beside_the_steps_that_are_recorded(record: str) -> None:
    setting = Setting("x1", d=200, p=2, steps=8, record=record, readout_n=50, test_n=50)
    found = run_experiment(setting)
    assert len(found.floors) == len(found.steps) < 9
    assert "\n8 " in text_of(learn_report(found))


def test_two_floors_are_told_apart() -> None:
    """tanh has no even part of exp(x1); a readout of it reaches all of x1."""
    sizes = {"activation": "tanh", "d": 50, "p": 8, "steps": 1, "readout_n": 50, "test_n": 50}
    said = "floor of any: the lower bound for any activation."
    assert said in text_of(learn_report(run_experiment(Setting("exp(x1)", **sizes))))
    assert "floor of any" not in text_of(learn_report(run_experiment(Setting("x1", **sizes))))


def test_spectra_stand_beside_the_steps_that_are_recorded() -> None:
    sizes = {"d": 30, "step_size": "1,1", "record": "every(2)", "test_n": 50}
    text = text_of(spectrum_report(run_experiment(Setting.linear_width("x1", **sizes))))
    assert "theory: linear-width" in text


def test_long_work_is_announced_and_short_work_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    with patience("at work", quiet=False, after=60.0):
        pass
    with patience("at work", quiet=True, after=0.0):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
    said, end = "", time.monotonic() + 180.0
    with patience("at work", quiet=False, after=0.0):
        while not said and time.monotonic() < end:
            time.sleep(0.01)
            said += capsys.readouterr().err
    assert said + capsys.readouterr().err == "at work\n"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (640.0, "640"),
        (12_345.0, "12,000"),
        (7.1e7, "71 million"),
        (1.23e10, "12 billion"),
        (6.5e14, "650 trillion"),
        (2.04e15, "2.0 x 10^15"),
    ],
)
def test_large_numbers_are_said_in_words(count: float, text: str) -> None:
    assert amount(count) == text


ASKED = [
    *("x1", "x1*x2*x3", "He3(x1)", "sign(x1*x2)", "x1 + He2(x2)", "tanh(x1 + x2*x3)", "exp(x1)"),
    *("x1 + x1*x2 + x1*x2*x3", "x1*x2 + x3*x4 + x5*x6", "x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8"),
    *("abs(x1) + x1", "sin(5*x1) + x2^2", "five-regimes", "threshold"),
]


@pytest.mark.parametrize("target", ASKED)
def test_the_first_screen_holds_the_answer(target: str) -> None:
    """At 80 columns the whole report has at most 26 lines, and none of it is cut."""
    console = Console(width=80, highlight=False)
    analysis = analyze(target)
    with console.capture() as capture:
        console.print(analysis_report(analysis))
    text = capture.get()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 26
    assert answer(analysis)[0] in " ".join(text.split())
