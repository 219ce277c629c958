"""The papers' figures: computed as data, then drawn, with prediction and simulation on them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from giantstep import Setting, simulate
from giantstep.cli import reproduce as command
from giantstep.cli.main import main
from giantstep.papers.figures import REPRODUCTIONS
from giantstep.papers.figures.counts import new_outliers
from giantstep.papers.figures.gradients import gradient_cosines
from giantstep.papers.figures.learning import floors
from giantstep.papers.figures.neurons import from_start
from giantstep.papers.figures.record import Reproduction
from giantstep.papers.figures.stored import computed, read, stored
from giantstep.problem.activation import centred
from giantstep.records.plot import (
    CountPlot,
    Curve,
    MapPlot,
    NeuronPlot,
    Panel,
    Plot,
    SpectrumPlot,
    mean_curve,
    rms_curve,
)
from giantstep.records.spectrum import Spectrum
from giantstep.show.plots.curves import CROWDED
from giantstep.show.plots.papers import draw, paper_figure
from giantstep.show.plots.style import save

TINY = {
    "one-step": {"line_d": 400, "plane_d": 40},
    "staircases": {"d": 400},
    "floors": {"d": 12, "runs": 2, "exponents": (1.5,), "points": 1},
    "spikes": {"d": 60, "runs": 1},
    "weights": {"p": 60, "runs": 1},
    "losses": {"d": 40, "runs": 2, "points": 2},
    "equivalence": {"d": 30, "runs": 2, "points": 2},
    "alignment": {"d": 40, "runs": 2, "points": 2},
    "outliers": {"measured": (100, 150), "runs": (2, 1), "exponents": (0.4,), "points": 1},
    "strengths": {"measured": (40, 60), "runs": (2, 2)},
    "reuse": {"sizes": (60,), "runs": (2,)},
    "reuse-map": {"d": 300, "runs": 2, "ratios": (1.0,), "steps": 2},
    "gradient-cosines": {"d": 100, "p": 8, "line_p": 4, "runs": 2},
    "phase": {"first_d": (16, 32), "second_d": (16, 32), "runs": 2, "samples": 1.0, "draws": 4},
    "leaps-over-steps": {"samples": 2e3, "runs": (2, 2, 2), "steps": 3},
    "learning-curves": {
        "small_d": 700,
        "large_d": 700,
        "runs": 2,
        "exponents": (1.1,),
        "steps": 4,
    },
    "preprocessed": {"d": 700, "runs": 2, "exponents": (1.1,)},
    "example-3": {"d": 800},
    "five-regimes": {"narrow": (60, 20), "wide": (16, 12), "square": 4, "runs": 2},
}
"""Sizes at which a figure says nothing but has its panels, in about a second."""


def small_panels(seed: int, *, d: int) -> list[Panel]:
    """One panel of each kind."""
    values = np.array([[3.0, 0.9, 0.8, 0.5], [2.5, 0.95, 0.7, 0.4]])[:, None]
    rule = Spectrum(
        edge=np.array([[1.0]]),
        threshold=np.array([[1.1]]),
        outliers=np.array([[[2.8]]]),
        grid=np.array([[0.1, 0.5, 1.0]]),
        density=np.array([[0.5, 1.0, 0.0]]),
    )
    curves = [
        Curve("a", [1.0, 2.0], [1.0, 2.0], [0.1, 0.1]),
        Curve("a", [1.0, 2.0], [1.5, 1.8], theory=True),
    ]
    return [
        Plot("x", "y", curves, y_range=(0.0, 3.0), title="curves", marks={"here": 1.5}),
        NeuronPlot(
            [[(0.0, 0.1), (0.1, 0.0)], [(0.8, 0.1), (-0.7, 0.0)]],
            [(0.0, 0.0), (0.8, 0.0)],
            ("x1", "x2"),
            "neurons",
        ),
        SpectrumPlot.of(
            Spectrum(singular_values=values), rule, 0, symbol="F", title=f"spectrum, seed {seed}"
        ),
        CountPlot([0.0, 0.2], [[1, 0], [0, 1]], [(0.1, 0.1, 0, 1)], "counts"),
        MapPlot(
            x=[0.5, 4.0, 8.0],
            y=[1.0, 2.0],
            predicted=[[0.0, 0.1], [0.2, 0.3], [0.4, 0.5]],
            measured=[[0.01, 0.11], [0.21, 0.31], [0.41, 0.51]],
            error=[[0.01] * 2, [0.02] * 2, [0.03] * 2],
            top=0.6,
            x_label="x",
            y_label="y",
            value_label="value",
            title="map",
            boundary=[8.0, 4.0],
        ),
    ]


SMALL = Reproduction(
    "small",
    "all kinds",
    "no paper",
    (8.0, 7.0),
    "d = {d:,}",
    small_panels,
    quick={"d": 1000},
    full={"d": 2000},
    columns=3,
)


def test_panels_of_every_kind_show_theory_and_simulation() -> None:
    drawn = paper_figure(SMALL, computed(SMALL, full=False, seed=0))
    curves, neurons, spectrum, counts, values = drawn.axes[:5]
    assert [axes.axison for axes in drawn.axes[:6]] == [True] * 5 + [False]
    titles = [axes.get_title() for axes in drawn.axes[:5]]
    assert titles == ["curves", "neurons", "spectrum, seed 0", "counts", "map"]
    # The caption stands beside the picture, not in it.
    assert drawn.get_supxlabel() == ""
    assert computed(SMALL, full=False, seed=0).caption == "d = 1,000"
    assert curves.get_ylim() == (0.0, 3.0)
    assert len(curves.containers) == 1
    assert [text.get_text() for text in curves.texts] == ["here"]
    assert "theory: a" in [line.get_label() for line in curves.lines]
    assert [len(cloud.get_offsets()) for cloud in neurons.collections] == [2, 2, 2]
    labels = {line.get_label() for line in spectrum.lines}
    assert {"theory: bulk", "theory: edge"} <= labels
    found = [line for line in spectrum.lines if line.get_marker() in ("v", "^")]
    assert [line.get_xdata().tolist() for line in found] == [[2.8], [3.0], [2.5]]
    # Columns are x, rows are y.
    cells = {text.get_position(): text.get_text() for text in values.texts}
    assert cells[2, 1] == "0.510\n$\\pm$ 0.060"
    shades = values.images[0].get_array()
    np.testing.assert_array_equal(shades, [[0.0, 0.2, 0.4], [0.1, 0.3, 0.5]])
    assert [label.get_text() for label in values.get_xticklabels()] == ["0.5", "4", "8"]
    # The line is left of the cell at 8 in the first row, of that at 4 in the second.
    [line] = values.patches
    np.testing.assert_array_equal(line.get_data().values, [1.5, 0.5])
    # The four predicted counts, and what was measured.
    assert [text.get_text() for text in counts.texts] == ["1", "0", "0", "1", "1\n(0)"]
    assert counts.texts[-1].get_position() == (0.1, 0.1)


def test_numbers_survive_being_written() -> None:
    """Panels of every kind, digits but for rounding, and what made them."""
    data = computed(SMALL, full=True, seed=3)
    again = read(data.as_json())
    assert again.panels == data.panels
    assert (again.sizes, again.seed) == ({"d": 2000}, 3)
    assert again.command == "giantstep reproduce small --run --full --seed 3"
    assert set(again.versions) == {"giantstep", "numpy", "scipy", "jax"}
    third = replace(data, panels=[Plot("x", "y", [Curve("a", [1 / 3], [2e-7 / 3])])])
    assert read(third.as_json()).panels[0].curves[0] == Curve("a", [0.333333], [6.66667e-08])
    with pytest.raises(ValueError, match="not JSON compliant"):
        replace(data, panels=[Plot("x", "y", [Curve("a", [1.0], [np.nan])])]).as_json()
    with pytest.raises(ValueError, match="validation error"):
        read(data.as_json().replace('"kind": "counts"', '"kind": "other"'))


@pytest.mark.slow
def test_command_draws_what_is_stored_and_computes_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files, where the numbers come from, and nothing overwritten silently."""
    kept = replace(computed(SMALL, full=True, seed=7), name="kept")
    figures = {"small": SMALL, "kept": replace(SMALL, name="kept")}
    monkeypatch.setattr(command, "REPRODUCTIONS", figures)
    monkeypatch.setattr(command, "stored", {"kept": kept}.get)
    arguments = ["reproduce", "--out", str(tmp_path)]
    main(arguments)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    kinds = ("png", "pdf", "json")
    assert set(sizes) == {f"{name}.{kind}" for name in figures for kind in kinds}
    assert min(sizes[f"{name}.{kind}"] for name in figures for kind in ("png", "pdf")) > 5000
    said = capsys.readouterr().out
    assert "computed, giantstep reproduce small --run --seed 0" in said
    assert "stored, giantstep reproduce small --run --full --seed 7" in said
    assert read((tmp_path / "kept.json").read_text()).panels == kept.panels
    with pytest.raises(SystemExit):
        main(arguments)
    assert "already holds" in capsys.readouterr().err
    main([*arguments, "kept", "--run", "--seed", "5", "--overwrite"])
    assert "computed, giantstep reproduce kept --run --seed 5" in capsys.readouterr().out
    assert read((tmp_path / "kept.json").read_text()).panels[2].title == "spectrum, seed 5"


def test_list_has_names_titles_and_papers(capsys: pytest.CaptureFixture[str]) -> None:
    main(["reproduce", "--list"])
    said = " ".join(capsys.readouterr().out.split())
    for figure in REPRODUCTIONS.values():
        assert figure.name in said
        assert figure.paper in said


@pytest.mark.parametrize("given", [["--full"], ["--seed", "3"]])
def test_stored_figures_have_one_size_and_one_seed(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["reproduce", "spikes", "--out", str(tmp_path), *given])
    assert "needs --run" in capsys.readouterr().err


@pytest.mark.slow(sentinel="preprocessed")
@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_stored_figures_are_drawn_without_simulating(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **keywords: object) -> None:
        raise AssertionError("a stored figure was simulated")

    def picture(figure: Figure, path: Path) -> None:
        """What is drawn on one canvas is drawn on another: the test of the command does both."""
        if path.suffix == ".png":
            save(figure, path)

    monkeypatch.setattr(command, "save", picture)
    monkeypatch.setitem(REPRODUCTIONS, name, replace(REPRODUCTIONS[name], panels=refuse))
    main(["reproduce", name, "--quiet", "--out", str(tmp_path)])
    assert (tmp_path / f"{name}.png").stat().st_size > 30_000


@pytest.mark.slow(sentinel="gradient-cosines")
@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_stored_numbers_are_those_of_the_present_figure(name: str) -> None:
    """Their panels have the names that the code gives at a tiny size; stale ones do not."""
    figure, data = REPRODUCTIONS[name], stored(name)
    assert data is not None
    assert data.name == name
    assert set(data.sizes) == set(figure.quick) == set(figure.full)
    assert len(data.as_json()) < 60_000
    fresh = figure.panels(1, **figure.quick | TINY[name])
    assert words(data.panels) == words(fresh)
    assert words(data.panels[1:]) != words(fresh)


def words(panels: Sequence[Panel]) -> list[list[str]]:
    """What a reader sees written on the panels, but for numbers."""
    found = []
    for panel in panels:
        # Numbers of two digits and more are sizes.
        texts = [panel.kind, re.sub(r"\d[\d,]+", "#", panel.title)]
        match panel:
            case Plot():
                texts += [panel.x_label, panel.y_label, *panel.levels, *panel.marks]
                texts += [f"{curve.label} {curve.theory}" for curve in panel.curves]
            case NeuronPlot():
                texts += panel.names
            case SpectrumPlot():
                texts.append(panel.symbol)
            case MapPlot():
                texts += [panel.x_label, panel.y_label, panel.value_label]
        found.append(texts)
    return found


def test_prediction_from_the_start_is_close_and_not_that_of_another_neuron() -> None:
    """Rms distance of 8 neurons' cosines from their own prediction, and from a neighbour's."""
    setting = Setting(
        "He2(x1) - He2(x2)",
        activation="relu",
        d=60,
        n="16*d^2",
        p=8,
        steps=1,
        step_size="6*p*d^0.5",
        readout_start="gaussian",
        readout_n=0,
        test_n=0,
    )
    found = simulate(setting)
    own, cosine = from_start(found).cosine[0, 1], found.cosine[0, 1]
    near = np.sqrt(np.mean((own - cosine) ** 2))
    far = np.sqrt(np.mean((np.roll(own, 1, axis=0) - cosine) ** 2))
    # Sampling moves a cosine by about sqrt(d/n) times a few, 0.1; neurons differ by as much as 1.
    assert near < 0.15
    assert far > 2 * near


def test_densities_are_shares_on_either_axis() -> None:
    """The area under bins and line is one on a linear and, per log unit, on a logarithmic axis."""
    values = np.random.default_rng(0).uniform(0.5, 1.0, 4000)
    grid = np.linspace(0.5, 1.0, 200)
    for outlier, label in ((2.0, "density (per unit)"), (50.0, "density (per log unit)")):
        panel = SpectrumPlot(
            [*values, outlier],
            edge=1.0,
            grid=grid.tolist(),
            density=[2.0] * 200,
            predicted=[outlier],
            outliers=[[outlier]],
            symbol="F",
            title="",
        )
        axes = draw(Figure().subplots(), panel)
        assert axes.get_ylabel() == label
        turned = np.log if axes.get_xscale() == "log" else np.asarray
        heights, edges, _ = axes.patches[0].get_data()
        assert heights @ np.diff(turned(edges)) == pytest.approx(1.0, abs=0.001)
        line = axes.lines[0]
        assert np.trapezoid(line.get_ydata(), turned(line.get_xdata())) == pytest.approx(
            1.0, abs=0.001
        )


@pytest.mark.slow
def test_new_outliers_are_those_beside_the_first() -> None:
    """Predicted and measured: a large second step adds one where c_2 != 0, a small one none."""
    fields = {
        "d": 200,
        "n": "4d",
        "p": 200,
        "activation": centred("relu(z)"),
        "output_scale": "1/sqrt(p)",
        "start": "gaussian",
        "readout_start": "gaussian",
        "readout_n": 0,
        "test_n": 0,
        "spectra": 6,
    }
    assert new_outliers(Setting("two-step", **fields, steps=2, step_size="3*p^0.8")) == (1, 1)
    assert new_outliers(Setting("two-step", **fields, steps=2, step_size="p^0.5")) == (0, 0)


def test_root_mean_squares_have_the_standard_errors_of_many_samples() -> None:
    """Of 500 samples of 400 normals: the error of rms = 1 is 1/sqrt(800), here to 3 %."""
    draws = np.random.default_rng(0).standard_normal((500, 400))
    curves = rms_curve("rms", range(500), list(draws))
    errors = np.array(curves.error)
    assert np.std(curves.y) == pytest.approx(1 / np.sqrt(800), rel=0.1)
    assert errors.mean() == pytest.approx(1 / np.sqrt(800), rel=0.03)
    # That of the mean is another.
    assert mean_curve("mean", [0.0], [draws[0]]).error[0] > 1.2 * errors.mean()


def test_floors_of_the_ladder_fall_by_what_each_direction_opens() -> None:
    assert list(floors().values()) == pytest.approx([3.0, 2.0, 0.0])


@pytest.mark.slow
def test_few_neurons_predict_the_gradients_of_many() -> None:
    """Five means over 8 runs, each within 6 standard errors: together at the level 0.3 %.

    A cosine of chance, d^-1/2, adds its square to that of a mean cosine: 2 % of the smallest here.
    """
    staircase, equal, _ = gradient_cosines(3, d=2000, p=64, line_p=16, runs=8)
    first, line, second, other, _ = staircase.curves

    def distances(curve: Curve, theory: Curve, steps: slice) -> np.ndarray:
        assert curve.error is not None
        return np.abs(np.subtract(curve.y, theory.y) / curve.error)[steps]

    assert distances(first, line, slice(0, 3)).max() < 6
    assert distances(second, other, slice(1, 3)).max() < 6
    # The line of equal links, where the second direction is never learned, is rejected.
    assert distances(second, equal.curves[3], slice(1, 3)).min() > 6


def test_a_crowded_legend_stands_beside_the_last_panel() -> None:
    few, many = (
        Plot("x", "y", [Curve(f"{k}", [1.0, 2.0], [1.0, k], [0.1, 0.1]) for k in range(count)])
        for count in (CROWDED, CROWDED + 1)
    )
    data = computed(SMALL, full=False, seed=0)
    panels = [paper_figure(SMALL, replace(data, panels=[p, p])).axes for p in (few, many)]
    beside = [
        [axes.get_legend() and axes.get_legend().get_bbox_to_anchor().x0 >= axes.bbox.x1]
        for drawn in panels
        for axes in drawn
    ]
    assert beside == [[False], [False], [None], [True]]


def test_names_are_those_of_the_records() -> None:
    assert all(name == figure.name for name, figure in REPRODUCTIONS.items())
    assert set(TINY) == set(REPRODUCTIONS)


def test_the_widest_networks_are_as_strong_as_predicted() -> None:
    """Stored numbers at p = 16,000 within 5 %; one order is not the other."""
    data = stored("strengths")
    assert data is not None
    for panel in data.panels:
        assert isinstance(panel, Plot)
        lines = [curve for curve in panel.curves if curve.theory]
        points = [curve for curve in panel.curves if not curve.theory]
        place = lines[0].x.index(16_000.0)
        for line, seen in zip(lines, points, strict=True):
            assert seen.x[-1] == 16_000.0
            assert abs(seen.y[-1] / line.y[place] - 1.0) < 0.05
        assert points[0].y[-1] > 2.0 * lines[1].y[place]
