"""The papers' figures: computed as data, then drawn, with prediction and simulation on them."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from giantstep import Setting, analyze, predict, simulate
from giantstep.cli import reproduce as command
from giantstep.cli.main import main
from giantstep.papers.figures import REPRODUCTIONS
from giantstep.papers.figures.neurons import from_start
from giantstep.papers.figures.spectra import new_outliers
from giantstep.papers.plot import CountPlot, Curve, NeuronPlot, Panel, Plot, SpectrumPlot
from giantstep.problem.activation import centred
from giantstep.records.spectrum import Spectrum
from giantstep.show.plots.papers import paper_figure


@cache
def small_panels(full: bool, seed: int) -> list[Panel]:
    """One panel of each kind; the neurons simulated and predicted at a small size."""
    narrow = Setting("staircase", d=500, p=4, steps=1, seed=seed, readout_n=0, test_n=0)
    stairs = analyze(narrow.target, narrow.activation).fresh
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
        Plot("x", "y", curves, y_range=(0.0, 3.0), title="curves"),
        NeuronPlot(simulate(narrow), predict(narrow), stairs, "neurons"),
        SpectrumPlot(Spectrum(singular_values=values).detected(rule), rule, 0, "F", "spectrum"),
        CountPlot(np.array([0.0, 0.2]), np.eye(2, dtype=int), [(0.1, 0.1, 0, 1)], "counts"),
    ]


def test_panels_of_every_kind_show_theory_and_simulation() -> None:
    figure = replace(REPRODUCTIONS["spikes"], title="all kinds")
    drawn = paper_figure(figure, small_panels(False, 0))
    curves, neurons, spectrum, counts = drawn.axes
    assert [axes.get_title() for axes in drawn.axes] == ["curves", "neurons", "spectrum", "counts"]
    assert curves.get_ylim() == (0.0, 3.0)
    assert len(curves.containers) == 1
    assert "theory: a" in [line.get_label() for line in curves.lines]
    # Four neurons before and after the step, and as many crosses.
    assert [len(cloud.get_offsets()) for cloud in neurons.collections] == [4, 4, 8]
    labels = {line.get_label() for line in spectrum.lines}
    assert {"theory: bulk", "theory: edge"} <= labels
    found = [line for line in spectrum.lines if line.get_marker() in ("v", "^")]
    assert [line.get_xdata().tolist() for line in found] == [[2.8], [3.0], [2.5]]
    assert [text.get_text() for text in counts.texts] == ["1 (0)"]


def test_command_computes_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two figures to the end: their files, their names, and nothing overwritten silently."""
    figures = {
        "small": replace(REPRODUCTIONS["spikes"], name="small", panels=small_panels),
        "curve": replace(
            REPRODUCTIONS["reuse"],
            name="curve",
            panels=lambda full, seed: small_panels(full, seed)[:1],
        ),
    }
    monkeypatch.setattr(command, "REPRODUCTIONS", figures)
    arguments = ["reproduce", "--out", str(tmp_path)]
    main(arguments)
    files = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert set(files) == {"small.png", "small.pdf", "curve.png", "curve.pdf"}
    assert min(files.values()) > 5000
    assert "small.png" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(arguments)
    assert "already holds" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["one-step", "staircases"])
def test_a_figure_of_the_papers_to_the_end(name: str, tmp_path: Path) -> None:
    main(["reproduce", name, "--quiet", "--out", str(tmp_path)])
    assert (tmp_path / f"{name}.png").stat().st_size > 50_000


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


def test_names_are_those_of_the_records() -> None:
    assert all(name == figure.name for name, figure in REPRODUCTIONS.items())
    assert len(REPRODUCTIONS) == 7
