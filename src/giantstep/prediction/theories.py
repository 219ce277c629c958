"""The theories, as data: each has its limits, and fills the record of a setting within them.

A new theory is a ``Theory`` in ``THEORIES``; the first one whose limits hold serves.  For the rows
of a data set theory is that of Gaussian inputs, and where none is precise at their sizes, simulated
Gaussian runs serve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, NoTheoryError
from giantstep.gaussian.points import Accuracy
from giantstep.prediction import emergence, emergence_steps, exit_law, sampled
from giantstep.prediction.limits import (
    DENSE_START,
    EVERYWHERE,
    LEARNING_CURVE,
    PREDICTED_INPUTS,
    THEORY,
    WHITENED,
    Limit,
    LimitStatus,
    first_complaint,
    refuse_beyond,
)
from giantstep.prediction.mean_field import limits as mean_field_limits
from giantstep.prediction.mean_field import theory as mean_field
from giantstep.prediction.narrow import limits as narrow_limits
from giantstep.prediction.narrow import part_limits as narrow_parts
from giantstep.prediction.narrow import theory as narrow
from giantstep.prediction.wide import limits as wide_limits
from giantstep.prediction.wide import part_limits
from giantstep.prediction.wide import theory as wide
from giantstep.prediction.wide.quantities import left_out_of_errors
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Theory:
    """A theory: it serves where a setting is within its ``limits``; ``networks`` says for which.

    ``predict`` takes the setting, the readouts of the runs (or the one they share) and the accuracy
    of quadrature, and returns fields of a ``Trajectory``, a row for each readout; ``parts`` are the
    limits of fields that may be left open, by name.  ``of_data`` are the limits beyond which the
    rows of a data set are better predicted by Gaussian runs, ``instead`` those within which it is
    preferred to theories that serve too, and ``beside``, if not None, those within which it gives
    the errors of a readout beside the rows of another.  ``left_out_of_errors`` is what it leaves
    out of these errors, relative.  Fields are after every step, those of a theory that is
    ``sparse`` after the recorded ones.  ``many_neurons``: its networks are wide, and it predicts
    spectra; ``from_runs``: it simulates other runs, on Gaussian rows.
    """

    name: str
    limits: tuple[Limit, ...]
    predict: Callable[[Setting, Float[np.ndarray, "rows p"], Accuracy], dict[str, Any]]
    parts: Mapping[str, tuple[Limit, ...]] = field(default_factory=dict)
    of_data: tuple[Limit, ...] = (WHITENED,)
    instead: tuple[Limit, ...] | None = None
    beside: tuple[Limit, ...] | None = None
    left_out_of_errors: Callable[[Setting], float] = lambda setting: 0.0
    sparse: bool = False
    many_neurons: bool = False
    from_runs: bool = False
    networks: str = ""


def _wide(
    name: str, networks: str, limits: tuple[Limit, ...], parts: Mapping[str, tuple[Limit, ...]]
) -> Theory:
    return Theory(
        name,
        limits,
        wide.predict,
        networks=networks,
        parts=parts,
        of_data=wide_limits.OF_DATA,
        instead=wide_limits.INSTEAD_OF_NARROW,
        beside=wide_limits.BESIDE_OTHER_ROWS,
        left_out_of_errors=left_out_of_errors,
        many_neurons=True,
    )


THEORIES = (
    Theory(
        "narrow",
        narrow_limits.NARROW,
        narrow.predict,
        networks="p stays fixed as d grows",
        parts={"runs with their own start": (DENSE_START,)} | narrow_parts.PARTS,
        sparse=True,
    ),
    _wide(
        "linear-width",
        "n and p grow in proportion to d",
        wide_limits.LINEAR_WIDTH,
        part_limits.PARTS | part_limits.PARTS_OF_MORE_STEPS,
    ),
    _wide("quadratic-width", "n or p grow as d^2", wide_limits.QUADRATIC_WIDTH, part_limits.PARTS),
    Theory(
        "mean-field",
        mean_field_limits.LIMITS,
        mean_field.predict,
        networks="p grows at fixed d, and steps are small",
        parts={
            "all of it": (mean_field_limits.NOISE,),
            "readout errors": (mean_field_limits.READOUT,),
        },
        sparse=True,
    ),
)

GAUSSIAN_RUNS = Theory(
    "gaussian-runs",
    (PREDICTED_INPUTS,),
    sampled.predict,
    networks="simulations on Gaussian inputs, in place of a theory",
    sparse=True,
    from_runs=True,
)

FUNCTIONS = {
    "emergence_law": emergence.LIMITS,
    "emergence_steps": emergence_steps.LIMITS,
    "exit_law": exit_law.LIMITS,
    "learning_curve": LEARNING_CURVE,
    "loss_curve": wide_limits.LOSSES,
    "one_step_law": narrow_limits.ONE_STEP_LAW,
    "second_alignment": wide_limits.ALIGNMENT,
    "weight_outliers": wide_limits.ONE_TO_FOUR,
}
"""Functions with limits of their own, which are no part of a record."""


def networks_of(name: str | None) -> str:
    """For which networks the theory of a name is, empty for a name that is none."""
    return {theory.name: theory.networks for theory in (*THEORIES, GAUSSIAN_RUNS)}.get(
        name or "", ""
    )


def theory_of_rows(setting: Setting) -> Theory:
    """For rows that are taken for Gaussian: a theory precise at their sizes, or Gaussian runs."""
    if first_complaint(THEORY, setting) is not None:
        return GAUSSIAN_RUNS
    for theory in THEORIES:
        if first_complaint((*theory.limits, *theory.of_data), setting) is None:
            return theory
    return GAUSSIAN_RUNS


def choose_theory(setting: Setting, name: str | None = None) -> Theory:
    """The first theory that covers a setting, or the one named; NoTheoryError where none does."""
    names = [theory.name for theory in (*THEORIES, GAUSSIAN_RUNS)]
    if name is not None and name not in names:
        raise InputError(f"theory must be one of {', '.join(names)}, got {name!r}")
    refuse_beyond(EVERYWHERE, setting)
    if name == GAUSSIAN_RUNS.name:
        refuse_beyond(GAUSSIAN_RUNS.limits, setting)
        return GAUSSIAN_RUNS
    # Spectra are predicted by theories alone.
    if name is None and setting.data is not None and not setting.spectra:
        return theory_of_rows(setting)
    refuse_beyond(THEORY, setting)
    asked = [theory for theory in THEORIES if name in (None, theory.name)]
    complaints = {theory.name: first_complaint(theory.limits, setting) for theory in asked}
    serving = [theory for theory in asked if complaints[theory.name] is None]
    if not serving:
        reasons = [f"theory {name}: {complaint}" for name, complaint in complaints.items()]
        if len(reasons) > 1 and len(set(complaints.values())) == 1:  # all say the same
            reasons = [str(complaint) for complaint in complaints.values()][:1]
        raise NoTheoryError(f"no prediction: {'; '.join(reasons)}")
    return min(serving, key=lambda theory: _preference(theory, setting))


def theory_of_readout(setting: Setting) -> Theory | None:
    """A theory that predicts the errors of the readout beside the rows of another."""
    for theory in THEORIES:
        if theory.beside is None:
            continue
        if first_complaint((*theory.limits, *theory.beside), setting) is None:
            return theory
    return None


def _preference(theory: Theory, setting: Setting) -> int:
    """The smaller the better: what is fast and precise, what is exact, what is asked for."""
    if theory.many_neurons and setting.spectra:
        return 0
    if theory.instead is None:
        return 1
    return 0 if first_complaint(theory.instead, setting) is None else 2


def limits(setting: Setting | None = None) -> list[LimitStatus]:
    """Every limit of every theory and of the parts it may leave open, and where a setting stands.

    ``theory`` is "every theory" for the limits that all share, and the name of a function for
    those of ``learning_curve``, ``loss_curve``, ``weight_outliers`` and others.

    >>> from giantstep import Setting, limits
    >>> setting = Setting("x1", d=1000, p=4, n=50, steps=1)
    >>> cosines = [each for each in limits(setting) if each.part == "gradient cosines"]
    >>> [(each.limit.name, each.value, each.share) for each in cosines]
    [("samples of a gradient's length", 50.0, 2.0)]
    """
    listed: list[tuple[str, str | None, tuple[Limit, ...]]] = [
        ("every theory", None, (*EVERYWHERE, *THEORY))
    ]
    for theory in THEORIES:
        parts = dict(theory.parts) | {
            "rows of a data set": theory.of_data,
            "preferred to other theories": theory.instead or (),
            "readout errors beside other rows": theory.beside or (),
        }
        listed.append((theory.name, None, theory.limits))
        listed += [(theory.name, part, limits) for part, limits in parts.items()]
    listed.append((GAUSSIAN_RUNS.name, None, GAUSSIAN_RUNS.limits))
    listed += [(name, None, limits) for name, limits in FUNCTIONS.items()]
    return [
        LimitStatus.of(limit, setting, theory=theory, part=part)
        for theory, part, group in listed
        for limit in group
    ]
