"""Records as they are met: a line at the prompt, and a picture."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from rich.console import Console

import giantstep
from giantstep import InputError, Setting, Spectrum
from giantstep.records.plot import Curve, Plot
from giantstep.show.plots.curves import curves
from giantstep.show.plots.sweep import curves_figure, map_figure
from giantstep.show.tables.sweep import sweep_report

SMALL = {"d": 200, "p": 2, "steps": 1, "readout_n": 50, "test_n": 50, "runs": 2}
SETTING = Setting("x1 + x1*x2", **SMALL)


@pytest.fixture(scope="module")
def records() -> dict[str, object]:
    experiment = giantstep.run_experiment(SETTING)
    wide = giantstep.simulate(Setting.linear_width("x1", d=40, test_n=50, runs=2))
    weights = np.random.default_rng(0).standard_normal((40, 30))
    curve = Setting("x1", d=30, p=40, steps=0, ridge=[0.1, 1.0], readout_n=60, test_n=10)
    return {
        "setting": SETTING,
        "target": SETTING.target,
        "activation": SETTING.activation,
        "analysis": experiment.analysis,
        "series": SETTING.target.series,
        "simulated": experiment.simulated,
        "predicted": experiment.predicted,
        "comparison": experiment.comparison,
        "experiment": experiment,
        "estimate": giantstep.estimate(SETTING, calibrate=False),
        "claim": giantstep.CLAIMS["one-step-line"],
        "spectrum": wide.weights,
        "wide": wide,
        "bulk": giantstep.weight_bulk(60, 40),
        "layer": giantstep.layer_outliers(weights),
        "curve": giantstep.learning_curve(curve, weights[:, :30], sizes=[60, 120]),
        "outliers": giantstep.weight_outliers(Setting.linear_width("x1", d=40))[-1],
        "scaling": giantstep.scaling_exponent([10, 100], [np.ones(3), np.ones(3)]),
    }


def test_a_record_is_one_short_line(records: dict[str, object]) -> None:
    for name, record in records.items():
        text = repr(record)
        assert len(text) < 400, name
        assert "\n" not in text, name
        assert "array(" not in text, name


def test_a_setting_can_be_typed_again() -> None:
    assert repr(SETTING) == (
        "Setting('x1 + x1*x2', d=200, p=2, steps=1, runs=2, readout_n=50, test_n=50)"
    )
    assert eval(repr(SETTING)) == SETTING
    assert repr(Setting("x1", n="d*log(d)")) == "Setting('x1', n='d*log(d)')"


def test_records_say_what_matters(records: dict[str, object]) -> None:
    assert "leap index 1" in repr(records["analysis"])
    assert repr(records["series"]) == "HermiteSeries(x1 + x1*x2; variance 2, tail 0)"
    assert "overlap 2 x 2 x 2 x 2 (runs, steps, p, r)" in repr(records["simulated"])
    assert "theory narrow" in repr(records["predicted"])
    assert repr(records["comparison"]).startswith("Comparison(agrees: p-value")


@pytest.mark.parametrize(
    ("name", "panels"),
    [
        ("analysis", 2),
        ("simulated", 2),
        ("predicted", 2),
        ("experiment", 2),
        ("spectrum", 1),
        ("wide", 5),
        ("layer", 1),
        ("curve", 1),
    ],
)
def test_records_have_a_picture(records: dict[str, object], name: str, panels: int) -> None:
    record = records[name]
    figure = record.plot()  # type: ignore[attr-defined]
    assert isinstance(figure, Figure)
    assert len(figure.axes) == panels
    for axes in figure.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        assert len(axes.get_xticks())


def test_a_sweep_has_a_picture(tmp_path: object) -> None:
    base = {"target": "x1", **SMALL, "readout_n": 0, "test_n": 0}
    found = giantstep.sweep(base, {"d": [50, 100]}, out=tmp_path, workers=1)
    assert "over d (2): 2 of 2 cells finished" in repr(found)
    assert len(found.plot().axes) == 1


def test_what_has_no_picture_is_refused() -> None:
    with pytest.raises(InputError, match="record must be one that has a picture, got int"):
        giantstep.plot(3)


def test_a_spectrum_without_theory_shows_no_edge() -> None:
    """What lies beyond the bins is marked, and no line says theory."""
    values = np.concatenate([np.linspace(2.0, 1.0, 199), [9.0]])[::-1]
    figure = Spectrum(singular_values=np.sort(values)[None, None, ::-1].copy()).plot()
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["measured", "measured, beyond the bins"]


def test_a_guide_is_no_prediction_and_counts_are_not_joined() -> None:
    drawn = [
        Curve("runs", [1.0, 2.0], [1.0, 2.0], [0.1, 0.1]),
        Curve("slope 1", [1.0, 2.0], [1.0, 2.0], theory=True, guide=True),
        Curve("spikes", [1.0, 2.0], [1.0, 3.0], theory=True, joined=False),
        Curve("limit", [1.0, 2.0], [1.0, 3.0], theory=True),
    ]
    axes = curves(Figure().subplots(), Plot("x", "y", drawn))
    legend = axes.get_legend()
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels[0].startswith("guide: slope 1")
    assert legend.get_title().get_text() == "bars: 2 standard errors"
    lines = {line.get_label(): line.get_linestyle() for line in axes.get_lines()}
    assert lines["theory: spikes"] == "None"
    assert lines["theory: limit"] != "None"


def test_steps_are_whole_numbers_on_the_axis() -> None:
    setting = Setting("x1", d=100, p=2, steps=2, readout_n=0, test_n=0)
    for record in (giantstep.predict(setting), giantstep.simulate(setting)):
        [axes] = record.plot().axes
        assert all(float(place).is_integer() for place in axes.get_xticks())
        assert ("bars" in axes.get_ylabel()) == (record.theory is None)


@pytest.mark.slow
def test_a_picture_of_curves_says_what_is_shared_and_what_is_left_out(tmp_path: object) -> None:
    base = Setting("x1", d=50, n=50, p=2, steps=1, update="normalised", readout_n=0, test_n=0)
    axes = {"n": [50, 100], "noise": [0.1 * k for k in range(8)]}
    found = giantstep.sweep(base, axes, out=tmp_path, workers=1)
    drawn = curves_figure(found, "alignment")
    assert drawn.get_suptitle().split("\n") == [
        "$x_{1}$, relu, $d$ = 50, $p$ = 2, 1 step of size 1 (giant), symmetric start, fresh "
        "batches, update",
        "normalised",
    ]
    fewer = curves_figure(found, "alignment", most=1).get_suptitle().split("\n")
    assert fewer[2:] == ["1 series is not drawn; table.csv has all of them"]
    # The axis with more numbers lies below; each series has one name.
    assert drawn.axes[0].get_xlabel() == "noise"
    names = [text.get_text() for text in drawn.axes[0].get_legend().get_texts()]
    assert names == ["$n$ = 50", "$n$ = 100"]
    first, second = (bars.lines[0].get_xdata() for bars in drawn.axes[0].containers)
    assert np.all(first < second), "bars of two series would cover each other"
    assert drawn.axes[0].get_ylabel() == "alignment, mean over runs"
    assert drawn.axes[0].get_ylim()[0] == 0.0


@pytest.mark.slow
def test_a_map_without_a_boundary_says_so(tmp_path: object) -> None:
    base = Setting("He2(x1)", d=30, n=30, p=2, steps=1, readout_n=0, test_n=0, runs=2)
    found = giantstep.sweep(base, {"d": [30, 60], "n": ["1d", "2d"]}, out=tmp_path, workers=1)
    largest = found.measured("alignment").max()
    assert largest < 0.5
    said = f"No boundary is measured at 0.5: the largest alignment is {largest:.3g}."
    title = map_figure(found, "alignment").get_suptitle()
    assert title.split("\n")[-1] == said
    assert "1 step of giant size" in title
    assert "readout_n" not in title

    def report(boundary: float | None) -> str:
        with (console := Console(width=200)).capture() as capture:
            console.print(sweep_report(found, "alignment", boundary=boundary))
        return capture.get()

    assert f"{said} Take larger steps, or set another level with --boundary." in report(None)
    assert "No boundary" not in report(float(np.median(found.measured("alignment"))))
    assert "the least alignment is" in report(0.0)
    assert "larger steps" not in report(0.0)
