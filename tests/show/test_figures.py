"""Figures take axes and return them, with prediction and simulation both on them."""

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
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["start", "after step 1", "after step 2", "theory"]
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
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "theory" in labels


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
    assert "floor: lower bound for readouts of relu, large $d$" in labels
    assert "floor of any activation" in labels


def test_errors_need_a_readout(axes: Axes) -> None:
    bare = simulate(Setting("x1", d=100, p=2, steps=1, readout_n=0, test_n=0))
    with pytest.raises(ValueError, match="no readout errors"):
        errors(axes, bare, [1.0, 0.0])


def test_places_below_the_threshold_are_hollow() -> None:
    values, grid = np.linspace(0.1, 1.0, 50)[None], np.linspace(0.1, 1.0, 9)
    axes = Figure().subplots()
    density = (grid, np.ones(9))
    spectrum(axes, values, 1.0, density, predicted=[2.0, 1.2], threshold=1.5, constant=2.0)
    faces = {
        str(line.get_label()): (line.get_markerfacecolor(), list(line.get_xdata()))
        for line in axes.lines
        if line.get_marker() == "v"
    }
    assert faces == {
        "theory: outliers": ("firebrick", [2.0]),
        "theory: places below the threshold": ("none", [1.2]),
    }
    assert [text.get_text() for text in axes.texts] == ["constant"]


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
