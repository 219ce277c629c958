"""What can be chosen from: targets of the papers, activations, words of the setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from giantstep.explorer.examples import DEMO, EXAMPLES
from giantstep.explorer.limits import FIELDS, LONGEST_JOB, MOST
from giantstep.explorer.tasks import Emit
from giantstep.explorer.tasks.phase import AXES
from giantstep.explorer.terms import MARKED, definitions
from giantstep.explorer.tour import SCENES
from giantstep.language.functions import FUNCTIONS
from giantstep.problem.batches import BATCHES
from giantstep.problem.catalog import CATALOG
from giantstep.problem.setting import DEFAULTS, LINEAR_WIDTH, Setting
from giantstep.problem.starts import READOUT_STARTS, STARTS
from giantstep.problem.step_size import OutputScale
from giantstep.problem.updates import UPDATES

FIRST_ACTIVATIONS = ("relu", "erf", "tanh", "sigmoid", "softplus", "gelu", "silu", "sin")
"""The usual ones, in front of the other functions of the language."""


def vocabulary(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """Names and words with what they mean; defaults of the narrow setting and of linear width."""
    others = sorted(set(FUNCTIONS) - set(FIRST_ACTIVATIONS) - {"log", "sqrt"})
    return {
        "catalog": [
            {"name": name, "expression": e.expression, "source": e.source, "remark": e.remark}
            for name, e in CATALOG.items()
        ],
        "demo": DEMO,
        "examples": [example.as_dict() for example in EXAMPLES],
        "tour": [scene.as_dict() for scene in SCENES],
        "definitions": definitions(),
        "marked": MARKED,
        "longest_job": LONGEST_JOB,
        "activations": [*FIRST_ACTIVATIONS, *others],
        "functions": sorted(FUNCTIONS),
        "batches": list(BATCHES),
        "updates": [name for name, kind in UPDATES.items() if not kind.numbers],
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
