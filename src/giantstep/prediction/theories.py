"""The theories, as data: each says what it does not cover, and fills the record where it does.

A new theory is a ``Theory`` in ``THEORIES``; the first one without an objection serves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, NoTheoryError
from giantstep.gaussian.points import Accuracy
from giantstep.prediction.narrow import theory as narrow
from giantstep.prediction.wide import quadratic
from giantstep.prediction.wide import theory as wide
from giantstep.problem.plain import beyond_plain
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Theory:
    """A theory: ``objection`` says in one sentence why it does not cover a setting, or None.

    ``predict`` takes the setting, the readouts of the runs (or the one they share) and the accuracy
    of quadrature, and returns fields of a ``Trajectory``, a row for each readout.
    """

    name: str
    objection: Callable[[Setting], str | None]
    predict: Callable[[Setting, Float[np.ndarray, "rows p"], Accuracy], dict[str, Any]]


THEORIES = (
    Theory("narrow", narrow.objection, narrow.predict),
    Theory("linear-width", wide.objection, wide.predict),
    Theory("quadratic-width", quadratic.objection, wide.predict),
)


def choose_theory(setting: Setting, name: str | None = None) -> Theory:
    """The first theory that covers a setting, or the one named; NoTheoryError where none does."""
    names = [theory.name for theory in THEORIES]
    if name is not None and name not in names:
        raise InputError(f"theory must be one of {', '.join(names)}, got {name!r}")
    if not setting.inputs.is_gaussian:
        raise NoTheoryError(
            f"no prediction: inputs must be gaussian for theory, got {setting.inputs.text!r}"
        )
    if setting.deflate == 2:
        raise NoTheoryError("no prediction: deflate must be at most 1 for theory, got 2")
    if (beyond := beyond_plain(setting, "theory")) is not None:
        raise NoTheoryError(f"no prediction: {beyond}")
    complaints = []
    for theory in THEORIES:
        if name is None or name == theory.name:
            complaint = theory.objection(setting)
            if complaint is None:
                return theory
            complaints.append(f"{theory.name}: {complaint}")
    raise NoTheoryError(f"no prediction: {'; '.join(complaints)}")
