"""Samples that a level needs: closed curves, curves with gaps and bumps, and simulations."""

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.figure import Figure

from giantstep import InputError, NoTheoryError, SamplesNeeded, Setting, samples_needed, simulate
from giantstep.cli.main import main
from giantstep.records.observables import observed
from giantstep.show.plots.needed import needed_figure
from giantstep.show.tables.needed import needed_report
from giantstep.show.tables.parts import show
from giantstep.sweeps import needed as module
from giantstep.sweeps.needed import PredictedPoint

PLAIN = Setting("x1", d=1000, p=2)


def theory_says(
    monkeypatch: pytest.MonkeyPatch, curve: Callable[[int], float], uncertainty: float = 0.0
) -> None:
    """Put a curve in the place of the predictions; NaN is a refusal."""

    def at(self: module._Curve, n: int) -> PredictedPoint | None:
        value = curve(n)
        if math.isnan(value):
            self.refusals[n] = "too few samples"
        else:
            self.known[n] = PredictedPoint(n, value, uncertainty, "narrow")
        return self.known.get(n)

    monkeypatch.setattr(module._Curve, "at", at)


def of_curve(
    monkeypatch: pytest.MonkeyPatch,
    curve: Callable[[int], float],
    uncertainty: float = 0.0,
    **asked: object,
) -> SamplesNeeded:
    """The answer where theory says a given curve."""
    theory_says(monkeypatch, curve, uncertainty)
    return samples_needed(PLAIN, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [0.9, 0.31, 0.1, 0.063])
def test_a_power_law_is_inverted(monkeypatch: pytest.MonkeyPatch, level: float) -> None:
    """E = sqrt(250/n) is the level at n = 250/level^2, here to half a percent."""
    found = of_curve(monkeypatch, lambda n: math.sqrt(250 / n), error=level)
    assert found.n == pytest.approx(250 / level**2, rel=0.005, abs=1.0)
    [answer] = found.answers
    assert answer.until is None
    assert answer.earlier == ()
    assert not answer.from_start


def test_the_uncertainty_of_theory_becomes_one_of_n(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where E + u and E - u reach the level, up to a straight line over log n between points."""
    found = of_curve(monkeypatch, lambda n: math.sqrt(250 / n), 0.01, error=0.2, points=60)
    [answer] = found.answers
    assert answer.low == pytest.approx(250 / 0.21**2, rel=0.02)
    assert answer.high == pytest.approx(250 / 0.19**2, rel=0.02)


def test_a_cosine_has_to_rise(monkeypatch: pytest.MonkeyPatch) -> None:
    found = of_curve(monkeypatch, lambda n: n / (n + 4000), cosine=0.5)
    assert found.n == pytest.approx(4000, rel=0.005)
    assert not found.falls


def test_several_levels_share_a_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    found = of_curve(monkeypatch, lambda n: 0.05 + 100 / n, error=[0.5, 0.1, 0.01])
    numbers = [answer.n for answer in found.answers]
    assert numbers[0] == pytest.approx(100 / 0.45, rel=0.01)
    assert numbers[1] == pytest.approx(100 / 0.05, rel=0.01)
    assert numbers[2] is None
    assert found.best.value == pytest.approx(0.05 + 100 / 256_000)


def test_a_level_below_the_start_is_an_upper_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    found = of_curve(monkeypatch, lambda n: math.sqrt(250 / n), error=2.0)
    [answer] = found.answers
    assert (answer.n, answer.low, answer.from_start) == (125, None, True)


def test_a_bump_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error with a peak at n = 8000 (double descent): the answer lies beyond the peak."""

    def bump(n: int) -> float:
        return 300 / n + 0.3 * math.exp(-2.0 * math.log(n / 8000) ** 2)

    found = of_curve(monkeypatch, bump, error=0.2, points=25)
    [answer] = found.answers
    assert answer.n is not None
    assert 8000 < answer.n < 16_000
    assert bump(answer.n) == pytest.approx(0.2, rel=0.02)
    [(start, end)] = answer.earlier
    assert 1000 < start < end < 8000
    assert answer.until is None


def test_a_level_that_is_lost_again_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = of_curve(monkeypatch, lambda n: abs(math.log(n / 5000)), error=0.7, points=25)
    [answer] = found.answers
    assert answer.n == pytest.approx(5000 * math.exp(-0.7), rel=0.01)
    assert answer.until is not None
    assert 5000 < answer.until < 5000 * math.exp(0.7)


def test_refusals_on_the_way_widen_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The level is between two n that theory covers, and nothing between them is known."""

    def gap(n: int) -> float:
        return math.nan if 2000 < n < 9000 else math.sqrt(250 / n)

    found = of_curve(monkeypatch, gap, error=0.25)  # reached at 4000, inside the gap
    [answer] = found.answers
    known = [point.n for point in found.curve]
    assert answer.low == max(n for n in known if n <= 2000)
    assert answer.high == min(n for n in known if n >= 9000)
    assert found.refusals
    beside = of_curve(monkeypatch, gap, error=0.1)
    assert beside.n == pytest.approx(25_000, rel=0.005)


def test_theory_that_covers_nothing_refuses() -> None:
    with pytest.raises(NoTheoryError):
        samples_needed(PLAIN.vary(inputs="student(5)", d=50), error=0.5, points=3)


@pytest.mark.parametrize(
    ("asked", "piece"),
    [
        ({}, "one of the two"),
        ({"error": 0.1, "cosine": 0.1}, "one of the two"),
        ({"error": -1.0}, "error must be positive, got -1"),
        ({"error": []}, "at least one level"),
        ({"cosine": 1.0}, "cosine must be between 0 and 1, got 1"),
        ({"cosine": 0.5, "direction": 2}, "direction must be in 1..1, got 2"),
        ({"error": 0.5, "direction": 1}, "direction belongs to a cosine, got 1"),
        ({"error": 0.5, "smallest": "9d", "largest": "2d"}, "smallest must be below largest"),
        ({"error": 0.5, "largest": "4q"}, "largest must be a whole number"),
    ],
)
def test_bad_levels_are_refused(asked: dict[str, object], piece: str) -> None:
    with pytest.raises(InputError, match=piece.replace(".", r"\.")):
        samples_needed(PLAIN, **asked)  # type: ignore[arg-type]


def test_settings_without_what_is_asked_are_refused() -> None:
    with pytest.raises(InputError, match="readout_n must be at least 1"):
        samples_needed(PLAIN.vary(readout_n=0, test_n=0), error=0.1)
    with pytest.raises(InputError, match="steps must be at least 1"):
        samples_needed(PLAIN.vary(steps=0), error=0.1)


def test_the_floor_is_why_a_level_is_out_of_reach(capsys: pytest.CaptureFixture[str]) -> None:
    """One step on x1 + x1 x2 learns x1: half of the variance stays."""
    setting = Setting("x1 + x1*x2", d=2000, p=4, steps=1)
    found = samples_needed(setting, error=0.5, smallest="16d", largest="64d", points=2)
    assert found.n is None
    assert found.floor == pytest.approx(1.0, abs=0.01)  # p = 4 neurons span a share of degree 1
    show(needed_report(found))
    said = " ".join(capsys.readouterr().out.split())
    assert "No n up to 128,000 brings the test error of the readout to 0.5." in said
    assert "No readout of relu gets below the floor 0.998," in said


def test_the_command_answers_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    theory_says(monkeypatch, lambda n: math.sqrt(1000 / n), 0.01)
    flags = ["--d", "2000", "--smallest", "d", "--largest", "64d"]
    main(["needed", "x1", "--error", "0.5,0.2,0.01", *flags])
    said = " ".join(capsys.readouterr().out.split())
    assert "The test error of the readout falls to 0.5 at n = " in said
    assert "by the uncertainty of theory" in said
    assert "The 2 steps take" in said
    theory_says(monkeypatch, lambda n: n / (n + 4000), 0.01)
    main(["needed", "x1", "--cosine", "0.6", "--json", *flags])
    record = json.loads(capsys.readouterr().out)
    assert record["quantity"] == "alignment"
    assert record["answers"][0]["n"] == pytest.approx(6000, rel=0.01)
    assert "n" not in record["setting"]
    with pytest.raises(SystemExit) as stopped:
        main(["needed", "x1", "--error", "0.5", "--n", "4d"])
    assert stopped.value.code == 2
    assert "n is what needed looks for, got '4d'" in capsys.readouterr().err


def test_the_picture_has_curve_levels_and_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    found = of_curve(monkeypatch, lambda n: math.sqrt(250 / n), 0.01, error=[0.5, 0.001])
    figure = needed_figure(found)
    assert isinstance(figure, Figure)
    [axes] = figure.axes
    texts = {text.get_text() for text in axes.texts}
    assert {"0.5", "0.001", f"$n$ = {found.n:,}"} <= texts
    assert "n = 4,000" not in str(figure.get_suptitle()).replace("$", "")


def test_samples_in_all_count_what_is_drawn() -> None:
    """Fresh: every step and the readout; reused: one batch; the last batch again: no more."""
    for changes, expected in (
        ({}, (300, 100)),
        ({"batches": "reused"}, (100, 100)),
        ({"batches": "repeat(2)"}, (200, 100)),
        ({"readout_batch": "last"}, (300, 0)),
    ):
        setting = PLAIN.vary(steps=3, **changes)
        record = SamplesNeeded(setting, "test_error", (), (), (), None)
        assert record.samples_in_all(100) == expected


CASES = {
    "one step": ({"target": "x1 + x2 + x1^2 - x2^2", "steps": 1}, {"error": 5.0}),
    "two steps": ({"target": "x1 + x2 + x1^2 - x2^2", "steps": 2}, {"error": 4.0}),
    "reused": (
        {"target": "x1 + x1*x2", "steps": 2, "batches": "reused", "residual": "labels"},
        {"error": 1.2},
    ),
    "cosine": ({"target": "x1 + x2 + x1^2 - x2^2", "steps": 1}, {"cosine": 0.4}),
    "linear width": ({"target": "x1 + He2(x1)/2", "d": 300, "p": 300, "steps": 1}, {"error": 0.6}),
}
"""Settings and levels whose answer is simulated."""


def deviation(setting: Setting, found: SamplesNeeded, n: int, runs: int = 40) -> float:
    """How far the simulated mean is from the level at n, in standard deviations.

    They are the standard error over the runs, and the uncertainty of theory where the level is.
    """
    runs_at_n = observed(simulate(setting.vary(n=n, runs=runs, seed=32)))[found.quantity][:, -1]
    at_level = min(found.curve, key=lambda point: abs(point.n - (found.n or 0)))
    error = math.hypot(float(np.std(runs_at_n, ddof=1)) / math.sqrt(runs), at_level.uncertainty)
    return float(abs(runs_at_n.mean() - found.answers[0].level) / error)


@pytest.mark.law(sentinel="one step")
@pytest.mark.parametrize("case", list(CASES))
def test_at_the_found_n_simulations_have_the_level(case: str) -> None:
    """40 runs; within 4 standard deviations, five comparisons: a false alarm in 3,000.

    Wrong variant: two thirds of the samples are rejected by the same rule.
    """
    changes, asked = CASES[case]
    setting = Setting(**({"d": 1000, "p": 8} | changes))  # type: ignore[arg-type]
    found = samples_needed(setting, smallest="d", largest="32d", points=5, **asked)  # type: ignore[arg-type]
    assert found.n is not None
    assert deviation(setting, found, found.n) < 4.0
    assert deviation(setting, found, 2 * found.n // 3) > 4.0
