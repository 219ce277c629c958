"""Technical words that the page explains where they stand, with the terms of the glossary."""

from __future__ import annotations

import re
from shlex import quote as quoted
from typing import Any

from giantstep.papers.glossary import look_up

MARKED: dict[str, tuple[str, ...]] = {
    "giant": ("giant step", "giant steps"),
    "fresh": ("fresh batch", "fresh batches"),
    "reused": ("reused batch", "reused batches"),
    "overlap": ("overlap", "overlaps"),
    "cosine": ("cosine", "cosines"),
    "alignment": ("alignment",),
    "chance": ("at chance",),
    "leap index": ("leap index", "leap", "leaps", "information exponent"),
    "generative exponent": ("generative exponent",),
    "He_k": ("Hermite polynomial", "Hermite polynomials"),
    "b_k": ("Hermite coefficient", "Hermite coefficients"),
    "variance": ("variance",),
    "staircase": ("staircase", "staircases"),
    "near-tie": ("near-tie",),
    "floor": ("floor", "floors"),
    "deflated": ("deflated",),
    "blocked": ("blocked",),
    "activation": ("activation", "activations"),
    "readout": ("readout",),
    "network itself": ("network itself",),
    "conditional mean": ("conditional mean",),
    "ridge": ("ridge",),
    "noise": ("label noise",),
    "linear width": ("linear width", "linear-width networks"),
    "narrow": ("narrow networks",),
    "bulk": ("bulk",),
    "outlier": ("outlier", "outliers"),
    "spike": ("spike", "spikes"),
    "singular value": ("singular value", "singular values"),
    "theory": ("theory", "theories"),
    "p-value": ("p-value",),
    "largest deviation": ("largest deviation",),
    "comparisons": ("comparisons",),
    "standard error": ("standard error", "standard errors"),
    "runs": ("runs",),
    "kappa": ("exponent of the samples",),
    "undecided": ("undecided",),
}
"""Terms of the glossary, each with the words that stand for it in the texts of the page."""

ASKED = ("sizes",)
"""Terms that only a question mark beside a control explains."""

PLOTS = {
    "cosine": "alignment",
    "chance": "alignment",
    "conditional mean": "function",
    "floor": "errors",
    "readout": "errors",
    "bulk": "weights",
    "spike": "weights",
}
"""Terms that a plot shows, with the name of the plot: it is outlined beside the definition."""

_ARXIV = re.compile(r"arXiv ([0-9]{4}\.[0-9]{5})")


def definition(name: str, *, sentences: int = 2) -> dict[str, Any]:
    """The first sentences of a term, its formula, its papers, its plot, its command.

    The command prints the whole entry: pages of the documentation are not in the package.
    """
    term = look_up(name)
    text = " ".join(term.text.split("  ")[:sentences])
    papers = [
        {"name": f"arXiv {number}", "address": f"https://arxiv.org/abs/{number}"}
        for number in _ARXIV.findall(term.paper)
    ]
    return {
        "text": text if text.endswith(".") else f"{text}.",
        "formula": term.formula,
        "papers": papers,
        "plot": PLOTS.get(name),
        "command": f"giantstep explain {quoted(term.name)}",
    }


def definitions() -> dict[str, dict[str, Any]]:
    """All terms that the page explains, by name."""
    return {name: definition(name) for name in (*MARKED, *ASKED)}
