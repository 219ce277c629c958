"""Figures take axes and return them, with prediction and simulation both on them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep import Experiment, Setting, predict, run_experiment, simulate
from giantstep.analysis.staircase import target_plane
from giantstep.records.plot import Curve, Plot
from giantstep.show.plots.curves import curves
from giantstep.show.plots.errors import errors
from giantstep.show.plots.learn import learn_figure
from giantstep.show.plots.neurons import neurons
from giantstep.show.plots.spectrum import spectrum
from giantstep.show.plots.style import save, source_of


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    setting = Setting("staircase", d=1000, p=4, runs=3, readout_n=500, test_n=500, noise=0.5)
    return run_experiment(setting)


def _labels(axes: Axes) -> list[str]:
    """The names in the legend."""
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.fixture
def axes() -> Axes:
    return Figure().subplots()


def test_neurons_show_every_step(experiment: Experiment, axes: Axes) -> None:
    simulated, predicted = experiment.simulated, experiment.predicted
    plane, names = target_plane(experiment.stairs, 2)
    assert names == ("x1 + x2", "x1 - x2")
    assert predicted is not None
    crosses = (predicted.cosine @ plane.T).reshape(-1, 2)
    assert neurons(axes, simulated.cosine[0] @ plane.T, names, crosses) is axes
    assert _labels(axes) == [
        *("start, two neurons at each point", "after step 1", "after step 2"),
        *("from a neuron to its prediction", "theory"),
    ]
    *clouds, joins, crosses_drawn = axes.collections
    assert [len(cloud.get_offsets()) for cloud in [*clouds, crosses_drawn]] == [4, 4, 4, 12]
    # Each neuron is joined with its own prediction.
    np.testing.assert_allclose(np.array(joins.get_segments())[:, 1], crosses)
    np.testing.assert_allclose(clouds[1].get_offsets(), simulated.cosine[0, 1] @ plane.T)
    assert axes.get_xlabel() == "cosine with $x_{1}$ $+\\;x_{2}$"


def test_errors_stand_over_their_floors(experiment: Experiment, axes: Axes) -> None:
    simulated, predicted = experiment.simulated, experiment.predicted
    assert errors(axes, simulated, experiment.floors, predicted) is axes
    floors = [s.get_segments()[0][0, 1] for s in axes.collections if len(s.get_segments()) == 1]
    # 6, 4, 0 and the noise of variance 1/4
    # Four random rows in 1000 dimensions reach the share 4/1000 of the linear part, 2.
    assert sorted(floors)[-1] == pytest.approx(6.25 - 0.004 * 2.0)
    assert min(floors) == pytest.approx(0.25)
    assert axes.get_ylim()[0] < 0
    assert "theory" in _labels(axes)
    crosses = [line.get_ydata() for line in axes.lines if line.get_marker() == "+"]
    assert predicted is not None
    for values in (predicted.test_error, predicted.train_error, predicted.network_error):
        if values is not None:
            assert any(np.allclose(cross, values.mean(axis=0)) for cross in crosses)


@pytest.mark.parametrize("target", ["staircase", "linear", "x1 + x2*x3"])
def test_picture_of_learn(target: str, tmp_path: Path) -> None:
    setting = Setting(target, d=300, p=2, steps=1, readout_n=200, test_n=200)
    figure = learn_figure(run_experiment(setting))
    assert len(figure.axes) == 2
    save(figure, tmp_path / "learn.png")
    assert (tmp_path / "learn.png").stat().st_size > 10_000
    alone = run_experiment(setting.vary(readout_n=0, test_n=0))
    assert len(learn_figure(alone).axes) == 1


def test_neurons_are_joined_with_the_prediction_of_their_own_readout(
    experiment: Experiment,
) -> None:
    """The signs of a run have an order of their own; the other sign would be 0.8 and more off."""
    *_, joins, _ = learn_figure(experiment).axes[0].collections
    segments = np.array(joins.get_segments())
    assert np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1).max() < 0.2


def test_crosses_are_those_of_the_run_that_is_shown() -> None:
    """Every run has predictions of its own here, whose means are the crosses of the first run.

    Four neurons after 0, 1, 2 steps have them.
    """
    setting = Setting("x1 + He2(x1)*x2", d=200, p=4, runs=3, readout_n=0, test_n=0)
    found = run_experiment(setting)
    assert found.predicted is not None
    assert found.predicted.rows_a_run == len(found.predicted.overlap) // 3 > 1
    *clouds, _, crosses = learn_figure(found).axes[0].collections
    assert [len(cloud.get_offsets()) for cloud in [*clouds, crosses]] == [4, 4, 4, 12]
    first = found.predicted.cosine[::3].mean(axis=0).reshape(-1, 2)
    lengths = np.linalg.norm(crosses.get_offsets(), axis=1)
    np.testing.assert_allclose(lengths, np.linalg.norm(first, axis=1))


def test_the_picture_has_the_floors_of_the_table() -> None:
    """Reused batches learn He3 in the second step: table and picture say so alike.

    relu does not fit it, whatever is learned: its floor is solid, that of any activation dotted.
    """
    sizes: dict[str, Any] = {"d": 300, "p": 4, "batches": "reused", "readout_n": 100, "test_n": 100}
    setting = Setting("He3(x1)", activation="tanh", **sizes)
    found = run_experiment(setting)
    axes = learn_figure(found).axes[1]
    drawn = [s.get_segments()[0][0, 1] for s in axes.collections if len(s.get_segments()) == 1]
    assert drawn[-3:] == pytest.approx(found.floors)
    assert found.floors == pytest.approx([6.0, 6.0, 0.0])
    blind = run_experiment(Setting("He3(x1)", **sizes))
    assert blind.floors == pytest.approx([6.0, 6.0, 6.0])
    labels = learn_figure(blind).axes[1].get_legend_handles_labels()[1]
    assert "floor of relu: lower bound, large $d$" in labels
    assert "floor of any activation" in labels


def test_errors_need_a_readout(axes: Axes) -> None:
    bare = simulate(Setting("x1", d=100, p=2, steps=1, readout_n=0, test_n=0))
    with pytest.raises(ValueError, match="no readout errors"):
        errors(axes, bare, [1.0, 0.0])


def test_places_below_the_threshold_are_hollow() -> None:
    values, grid = np.linspace(0.1, 1.0, 50)[None], np.linspace(0.1, 1.0, 9)
    axes = Figure().subplots()
    density = (grid, np.ones(9))
    spectrum(axes, values, 1.0, density, predicted=[3.0, 2.0, 1.2], threshold=1.5, constant=3.0)
    faces = {
        str(line.get_label()): (line.get_markerfacecolor(), list(line.get_xdata()))
        for line in axes.lines
        if line.get_marker() == "v"
    }
    assert faces == {
        "theory: outliers": ("firebrick", [2.0]),
        "theory: places below the threshold": ("none", [1.2]),
    }
    [constant] = [line for line in axes.lines if line.get_marker() == "d"]
    assert list(constant.get_xdata()) == [3.0]
    named = _labels(axes)
    assert constant.get_label() == "theory: constant, not learned"
    assert "threshold: noise exceeds it in 1 % of runs" in named
    # Every mark and line that is drawn has a name below the axes, where it covers nothing.
    assert {str(line.get_label()) for line in axes.lines} <= set(named)
    assert axes.get_legend().get_bbox_to_anchor().y0 < axes.bbox.y0


def test_line_and_points_of_a_series_have_one_colour() -> None:
    drawn = [
        Curve("p = 2", [1.0, 2.0], [0.1, 0.2], [0.01, 0.01]),
        Curve("p = 4", [1.0, 2.0], [0.2, 0.3], [0.01, 0.01]),
        Curve("theory (narrow): p = 2", [1.0, 2.0], [0.1, 0.2], theory=True, series="p = 2"),
        Curve("theory (narrow): p = 4", [1.0, 2.0], [0.2, 0.3], theory=True, series="p = 4"),
    ]
    axes = curves(Figure().subplots(), Plot("n", "alignment", drawn))
    lines = {str(line.get_label()): line.get_color() for line in axes.lines}
    points = {str(bars.get_label()): bars.lines[0].get_color() for bars in axes.containers}
    assert lines["theory (narrow): p = 2"] == points["p = 2"]
    assert lines["theory (narrow): p = 4"] == points["p = 4"]
    assert len(set(points.values())) == 2


def test_runs_on_gaussian_rows_are_not_called_a_theory() -> None:
    setting = Setting("x1", d=50, n=100, p=2, steps=1, runs=2, readout_n=0, test_n=0)
    predicted = predict(setting, theory="gaussian-runs")
    assert source_of(predicted) == "other runs, on Gaussian rows"
    assert source_of(predict(setting, theory="narrow")) == "theory"


def test_the_picture_says_which_run_it_shows_and_what_it_leaves_out() -> None:
    sizes: dict[str, Any] = {"d": 40, "n": 80, "p": 4, "steps": 1, "readout_n": 0, "test_n": 0}
    single = run_experiment(Setting("He2(x1)", runs=3, **sizes))
    [axes] = learn_figure(single).axes
    assert single.predicted is not None
    drawn = single.predicted.rows_a_run
    assert drawn > 1
    assert _labels(axes) == [
        "simulation: the neurons",
        f"theory: mean of {drawn} random runs from this start",
    ]
    assert axes.get_title().startswith("Points: run 1 of 3. Crosses: mean of theory")
    three = run_experiment(Setting("x1*x2*x3", **sizes))
    assert "that are not drawn: $x_{3}$." in learn_figure(three).axes[0].get_title()
    pair = run_experiment(Setting("x1 + x1*x2", **sizes))
    assert "not drawn" not in learn_figure(pair).axes[0].get_title()


@pytest.mark.parametrize(("floor", "scale"), [(0.5, "log"), (0.0, "symlog")])
def test_errors_far_above_the_readout_have_a_logarithmic_axis(
    experiment: Experiment, axes: Axes, floor: float, scale: str
) -> None:
    simulated = experiment.simulated
    assert simulated.network_error is not None
    errors(axes, simulated, [floor] * 3)
    assert axes.get_yscale() == "linear"
    far = replace(simulated, network_error=1e15 * simulated.network_error)
    axes = errors(Figure().subplots(), far, [floor] * 3)
    assert axes.get_yscale() == scale
    # The readout's errors keep a visible part of the height.
    assert simulated.test_error is not None
    height = axes.transAxes.inverted().transform(
        axes.transData.transform([(0.0, simulated.test_error.mean()), (0.0, 1e-9)])
    )[:, 1]
    assert height[0] > 0.02
