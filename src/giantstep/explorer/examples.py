"""Whole settings of the pane of few neurons, each chosen for one thing that it shows.

Fields are texts, as the page sends them.  Nothing here loads the mathematics.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DEMO: dict[str, str] = {
    "target": "x1 + x2 + x1^2 - x2^2",
    "activation": "relu",
    "d": "10000",
    "n": "64d",
    "p": "64",
    "steps": "2",
    "step_size": "3p^1.5",
    "batches": "fresh",
    "update": "gradient",
    "readout_start": "gaussian",
    "bias": "6",
    "bias_at": "readout",
    "readout_n": "4d",
    "test_n": "10d",
    "noise": "0",
    "runs": "4",
    "seed": "0",
}
"""The setting on which the page opens: the error falls with each of two steps.

Biases at the readout let relu fit curved functions of the directions that it has learned."""


@dataclass(frozen=True)
class Example:
    """A setting and what it shows: ``changes`` are the fields in which it differs from ``DEMO``."""

    name: str
    shows: str
    changes: dict[str, str] = field(default_factory=dict)

    @property
    def setting(self) -> dict[str, str]:
        """All fields of the setting."""
        return DEMO | self.changes

    def as_dict(self) -> dict[str, Any]:
        """Name, sentence and fields, for JSON."""
        return {"name": self.name, "shows": self.shows, "setting": self.setting}


ODD = {
    "target": "He3(x1)",
    "activation": "tanh",
    "d": "4000",
    "n": "16d",
    "steps": "4",
    "step_size": "3p, 20p, 20p, 20p",
    "readout_start": "signs",
    "bias": "20",
    "test_n": "20d",
}
"""A target without parts of degree 1 and 2: n ~ d fresh samples do not show its direction.

The first step is short: it stores the labels in the neurons, and longer ones would hide them."""

EXAMPLES = (
    Example("Two steps, two directions", "Step 1 learns x1 + x2, step 2 learns x1 - x2."),
    Example(
        "One sign flipped",
        "x1 + x2 is learned, x1 - x2 never is.",
        {"target": "x1 + x2 + x1^2 + x2^2 - 2", "steps": "3"},
    ),
    Example(
        "Two directions as a sum",
        "Step 2 learns x2 + x3 and not x2 - x3.",
        {"target": "x1 + x1*x2 + x1*x3"},
    ),
    Example(
        "Two directions at once",
        "Step 2 learns both x2 and x3.",
        {"target": "x1 + x1*x2 + He3(x1)*x3"},
    ),
    Example("tanh blocks step 2", "tanh learns x1 + x2 and never x1 - x2.", {"activation": "tanh"}),
    Example("Too few samples", "With n = d/4 the first step is mostly noise.", {"n": "0.25d"}),
    Example(
        "A leap of 2",
        "One step on n = d^2 samples learns x1 and x2.",
        {
            "target": "He2(x1) + He2(x2)",
            "d": "500",
            "n": "d^2",
            "p": "32",
            "steps": "1",
            "step_size": "giant",
            "readout_start": "uniform",
            "bias": "0",
            "bias_at": "start",
        },
    ),
    Example("A hidden direction, fresh batches", "x1 stays close to chance.", ODD),
    Example(
        "A hidden direction, reused batches",
        "Steps on the same samples learn x1, and the error falls.",
        ODD | {"batches": "reused"},
    ),
)
