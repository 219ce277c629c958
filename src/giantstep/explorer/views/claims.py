"""The record of a claim as the page shows it: rows of a table, a plot, words without TeX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from giantstep.show.page import region_text
from giantstep.show.tex import plain_words


def claim_view(record: Mapping[str, Any]) -> dict[str, Any]:
    """Verdict, quantities beside what was predicted, and the plot as data."""
    return {
        "verdict": record["verdict"],
        "size": record["size"],
        "seed": record["seed"],
        "seconds": record["seconds"],
        "setting": record["setting"],
        "quantities": [
            {
                "name": name,
                "predicted": region_text(record["predicted"][name]),
                **measured,
            }
            for name, measured in record["measured"].items()
        ],
        "plot": None if record["plot"] is None else _plot(record["plot"]),
    }


def _plot(plot: Mapping[str, Any]) -> dict[str, Any]:
    words = {name: plain_words(plot[name]) for name in ("x_label", "y_label", "title")}
    curves = [dict(curve) | {"label": plain_words(curve["label"])} for curve in plot["curves"]]
    named = {
        name: [{"label": plain_words(label), "at": at} for label, at in plot[name].items()]
        for name in ("levels", "marks")
    }
    return dict(plot) | words | named | {"curves": curves}
