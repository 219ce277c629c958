"""What can be chosen from: targets of the papers, activations, words of the setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from giantstep.explorer.examples import DEMO, EXAMPLES
from giantstep.explorer.limits import FIELDS, LONGEST_JOB, MOST
from giantstep.explorer.tasks import Emit
from giantstep.explorer.tasks.phase import AXES
from giantstep.explorer.tour import SCENES
from giantstep.language.functions import FUNCTIONS
from giantstep.papers.glossary import look_up
from giantstep.papers.glossary.term import Term
from giantstep.problem.batches import BATCHES
from giantstep.problem.catalog import CATALOG
from giantstep.problem.setting import DEFAULTS, LINEAR_WIDTH, Setting
from giantstep.problem.starts import READOUT_STARTS, STARTS
from giantstep.problem.step_size import OutputScale
from giantstep.problem.updates import UPDATES

FIRST_ACTIVATIONS = ("relu", "erf", "tanh", "sigmoid", "softplus", "gelu", "silu", "sin")
"""The usual ones, in front of the other functions of the language."""


DEFINED = (
    *("giant", "sizes", "start", "readout", "ridge", "noise", "fresh", "reused", "cosine"),
    *("chance", "floor", "theory", "standard error", "runs", "leap index", "staircase"),
    *("generative exponent", "variance", "He_k", "b_k", "activation", "bulk", "spike"),
)
"""Terms of the glossary that the page explains where it uses them."""


def vocabulary(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """Names and words with what they mean; defaults of the narrow setting and of linear width."""
    words = {name: _definition(look_up(name)) for name in DEFINED}
    others = sorted(set(FUNCTIONS) - set(FIRST_ACTIVATIONS) - {"log", "sqrt"})
    return {
        "catalog": [
            {"name": name, "expression": e.expression, "source": e.source, "remark": e.remark}
            for name, e in CATALOG.items()
        ],
        "demo": DEMO,
        "examples": [example.as_dict() for example in EXAMPLES],
        "tour": [scene.as_dict() for scene in SCENES],
        "definitions": words,
        "longest_job": LONGEST_JOB,
        "activations": [*FIRST_ACTIVATIONS, *others],
        "functions": sorted(FUNCTIONS),
        "batches": list(BATCHES),
        "updates": list(UPDATES),
        "starts": list(STARTS),
        "readout_starts": list(READOUT_STARTS),
        "output_scales": list(get_args(OutputScale)),
        "defaults": {name: DEFAULTS[name] for name in FIELDS},
        "linear_width": LINEAR_WIDTH,
        "descriptions": {name: Setting.fields[name].sentence for name in FIELDS},
        "axes": [
            {"name": name, "words": words, "symbol": symbol, "field": field, "values": values}
            for name, (words, symbol, field, values) in AXES.items()
        ],
        "most": MOST,
    }


def _definition(term: Term, *, sentences: int = 2) -> str:
    """The first sentences of a term: what fits beside the word it explains."""
    text = " ".join(term.text.split("  ")[:sentences])
    return text if text.endswith(".") else f"{text}."
