"""The prediction over the number of samples, with the levels that are asked for."""

from __future__ import annotations

from matplotlib.figure import Figure

from giantstep.show.plots.panels import level, mark
from giantstep.show.plots.style import THEORY, row_of_panels
from giantstep.show.tables.needed import quantity_words
from giantstep.show.tables.setting import setting_title
from giantstep.sweeps.needed import SamplesNeeded


def needed_figure(record: SamplesNeeded) -> Figure:
    """A line for the prediction, a band for its uncertainty, the levels and the n they need."""
    setting = record.setting
    # What settings of another n share is everything but n.
    figure, [axes] = row_of_panels(
        1, 7.0, 4.8, setting_title(setting, setting.vary(n=2 * setting.n))
    )
    sizes = [point.n for point in record.curve]
    values = [point.value for point in record.curve]
    low = [point.value - point.uncertainty for point in record.curve]
    high = [point.value + point.uncertainty for point in record.curve]
    axes.fill_between(sizes, low, high, color=THEORY, alpha=0.25, linewidth=0.0)
    axes.plot(sizes, values, "o-", color=THEORY, markersize=3.5, label="theory and its uncertainty")
    axes.set_xscale("log")
    for answer in record.answers:
        level(axes, answer.level, f"{answer.level:g}")
        if answer.n is not None:
            mark(axes, answer.n, f"$n$ = {answer.n:,}")
            if answer.low is not None and answer.high is not None:
                axes.axvspan(answer.low, answer.high, color="0.5", alpha=0.2, linewidth=0.0)
    if record.floor:
        label = f"floor of readouts of {setting.activation.name}, large $d$"
        axes.axhline(record.floor, color="black", linewidth=1.2, linestyle=":", label=label)
    axes.set_xlabel("samples of a step, $n$")
    axes.set_ylabel(quantity_words(record))
    axes.legend(fontsize="small", framealpha=0.9, edgecolor="none")
    return figure
