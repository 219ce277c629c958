"""What the steps take for the label: an expression in y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from giantstep.errors import InputError, shown
from giantstep.language.expression import Expression, Number, Variable
from giantstep.language.functions import NUMPY, Namespace
from giantstep.language.parser import parse
from giantstep.language.program import evaluate


@dataclass(frozen=True)
class LabelTransform:
    """T(y), an expression in y that the steps take for the label; the readout fits y itself."""

    text: str
    expression: Expression

    def __str__(self) -> str:
        return self.text

    def __call__(self, labels: Any, namespace: Namespace = NUMPY) -> Any:
        if isinstance(self.expression, Variable):
            return labels
        return evaluate(self.expression, (labels,), namespace)

    @property
    def is_plain(self) -> bool:
        """Whether the steps see the labels as they are."""
        return isinstance(self.expression, Variable)


def make_transform(value: object) -> LabelTransform:
    """A transform from an expression in y: ``tanh(y)``, ``y^2``, ``step(y - 1)``."""
    if isinstance(value, LabelTransform):
        return value
    if not isinstance(value, str):
        raise InputError(f"label_transform must be an expression in y, got {shown(value)}")
    expression = parse(value, "label_transform", variable="y")
    if isinstance(expression, Number):
        raise InputError(f"label_transform is constant, got {value!r}")
    return LabelTransform(value.strip(), expression)
