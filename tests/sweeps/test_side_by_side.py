"""Settings side by side: names, numbers of the table, differences run by run, the picture."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from rich.console import Console

from giantstep import InputError, Setting, SideBySide, compare_settings, plot
from giantstep.problem.differing import differing_fields, field_text, given_differing
from giantstep.records.observables import expected
from giantstep.records.summary import Value
from giantstep.show.mathtext import formula
from giantstep.show.plots.side_by_side import side_by_side_figure
from giantstep.show.plots.style import PALETTE
from giantstep.show.tables.side_by_side import difference_sentences, side_by_side_report

SMALL = {"p": 2, "steps": 1, "readout_n": 0, "test_n": 0}
GRADIENT = Setting("x1 + x1*x2", d=500, runs=4, **SMALL)
MUON = GRADIENT.vary(update="orthogonal")


def printed(both: SideBySide) -> str:
    console = Console(width=200, record=True, file=None, force_terminal=False)
    with console.capture() as capture:
        console.print(side_by_side_report(both))
    return capture.get()


@pytest.fixture(scope="module")
def both() -> SideBySide:
    return compare_settings(GRADIENT, MUON)


def test_numbers_are_those_of_each_setting(both: SideBySide) -> None:
    assert (both.names, both.differing) == (("gradient", "orthogonal"), ["update"])
    assert both.shown == ("norm", "alignment")
    for number, experiment in enumerate(both.experiments):
        norms = experiment.simulated.norms.mean(axis=2)
        value = both.mean(number, "norm", 1)
        assert value is not None
        assert value.mean == pytest.approx(norms[:, 1].mean())
        assert experiment.predicted is not None
        theory = both.theory(number, "norm", 1)
        assert theory == pytest.approx(expected(experiment.predicted)["norm"][1])


def test_differences_are_run_by_run(both: SideBySide) -> None:
    """The standard error is that of differences of runs, whatever the runs have in common."""
    one, other = (each.simulated.norms[:, -1].mean(axis=1) for each in both.experiments)
    found = both.difference(1, "norm")
    assert found is not None
    assert found.mean == pytest.approx((other - one).mean())
    assert found.standard_error == pytest.approx((other - one).std(ddof=1) / 2)
    assert both.difference(1, "test_error") is None


def test_the_table_has_theory_and_simulation_of_each(both: SideBySide) -> None:
    text = printed(both)
    assert "differing in update: gradient | orthogonal" in text
    for number, name in enumerate(both.names):
        value, theory = both.mean(number, "alignment", 1), both.theory(number, "alignment", 1)
        assert value is not None
        assert theory is not None
        table = text[text.index("Step by step") :].splitlines()
        [row] = [line for line in table if f"{value.mean:.3g} ±" in line]
        assert name in row
        below = table[table.index(row) + 1]
        assert "theory" in below
        assert f"{theory:.3g}" in below
        assert f"{name}: Theory and simulation" in text


def test_the_answer_says_which_is_higher(both: SideBySide, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond two standard errors of the differences; a difference of nothing is not called one."""
    [sentence] = difference_sentences(both)
    gap, means = both.difference(1, "alignment"), [both.mean(k, "alignment", -1) for k in (1, 0)]
    assert gap is not None
    assert gap.standard_error is not None
    text = printed(both)
    assert text.index(sentence[:30]) < text.index("Step by step")
    clear = abs(gap.mean) > 2 * gap.standard_error
    word = ("higher" if gap.mean > 0 else "lower") if clear else "no clear difference in the"
    assert sentence.startswith(
        f"After the last step, orthogonal against gradient: {word} alignment"
    )
    assert [f"{mean.mean:.3g}" in sentence for mean in means if mean is not None] == [True, True]
    for mean, word in ((0.03, "no clear difference in the"), (0.05, "higher"), (-0.05, "lower")):
        monkeypatch.setattr(SideBySide, "difference", lambda *_, mean=mean: Value(mean, 0.02))
        assert f"gradient: {word} alignment" in difference_sentences(both)[0]


def test_one_colour_a_setting_lines_are_theory_points_simulation(both: SideBySide) -> None:
    figure = plot(both)
    assert "update: gradient | orthogonal" in figure.get_suptitle()
    assert formula("x1 + x1*x2") in figure.get_suptitle()
    assert len(figure.axes) == len(both.shown)
    for axes, observable in zip(figure.axes, both.shown, strict=True):
        lines = [line for line in axes.lines if line.get_linestyle() == "-"]
        bars = axes.containers
        for number, colour in enumerate(PALETTE[:2]):
            assert to_hex(lines[number].get_color()) == colour
            assert to_hex(bars[number][0].get_color()) == colour
            theory = [both.theory(number, observable, place) for place in range(2)]
            known = [np.nan if value is None else value for value in theory]
            assert lines[number].get_ydata() == pytest.approx(known, nan_ok=True)
            means = [both.mean(number, observable, place) for place in range(2)]
            assert bars[number][0].get_ydata() == pytest.approx([v.mean for v in means if v])


def test_settings_may_differ_in_sizes_and_steps() -> None:
    other = GRADIENT.vary(d=100, steps=2, readout_n=200, test_n=100, runs=2)
    found = compare_settings(GRADIENT, other)
    assert found.differing == ["d", "steps", "readout_n", "test_n"]
    assert found.names == ("setting 1", "setting 2")
    assert found.shown == ("norm", "alignment", "test_error", "network_error")
    assert found.mean(0, "test_error", 1) is None
    assert "setting 2: " in printed(found)
    assert len(side_by_side_figure(found).axes) == 4
    frame = found.to_pandas()
    assert len(frame) == 4 * 2 + 2 * 3
    record = found.as_dict()
    assert [entry["name"] for entry in record["settings"]] == list(found.names)
    assert record["settings"][1]["differences"]["test_error"] is None


def test_what_no_theory_covers_is_said() -> None:
    found = compare_settings(GRADIENT.vary(runs=2), MUON.vary(inputs="rademacher", runs=2))
    assert found.theory(1, "norm", 1) is None
    assert (
        "no prediction: inputs must be gaussian, spiked, shifted, clusters, blocks or power"
        in printed(found)
    )


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="settings must be 2 to 8, got 1"):
        compare_settings(GRADIENT)
    with pytest.raises(InputError, match="got the same for number 1 and number 2"):
        compare_settings(GRADIENT, GRADIENT.vary(runs=9))
    with pytest.raises(InputError, match="got the same for one and two"):
        compare_settings(GRADIENT, GRADIENT.vary(n=2000), names=["one", "two"])
    with pytest.raises(InputError, match="names must be different, got "):
        compare_settings(GRADIENT, MUON, names=["one", "one"])
    with pytest.raises(InputError, match="names must be one for each of 2 settings"):
        compare_settings(GRADIENT, MUON, names=["one"])
    with pytest.raises(InputError, match=r"show must be one of norm, alignment, .* got 'beauty'"):
        compare_settings(GRADIENT, MUON, show=["beauty"])


def test_fields_that_follow_are_not_named() -> None:
    larger = GRADIENT.vary(d=1000)
    assert differing_fields([GRADIENT, larger]) == ["d", "n"]
    assert given_differing([GRADIENT, larger]) == ["d"]
    assert given_differing([GRADIENT, GRADIENT.vary(n=2000)]) == []
    assert field_text(GRADIENT, "n") == "4d"
    assert (
        field_text(GRADIENT.vary(start="sphere", readout_start=[1.0, -1.0]), "readout_start")
        == "1, -1"
    )
    tanh = GRADIENT.vary(activation=np.tanh)
    assert given_differing([GRADIENT, tanh]) == ["activation"]
    assert field_text(tanh, "activation") == "tanh"
