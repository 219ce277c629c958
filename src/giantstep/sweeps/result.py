"""What a sweep found: cells with prediction beside measurement, maps, curves, exponents in d."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.tensors import information_exponent
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare_number, harmonic_p_value
from giantstep.records.drawing import Drawn
from giantstep.records.observables import expected, names, observed
from giantstep.records.scaling import Scaling, scaling_exponent
from giantstep.records.table import Table, Tabled, make_table
from giantstep.records.trajectory import Trajectory
from giantstep.sweeps.axes import Axis
from giantstep.sweeps.grid import Cell, Grid

LEVEL = 1e-3
"""Chance that theory and simulation are called apart although they agree, all cells counted."""

POWER = "k in n = d^k"
"""The label of an axis of batch exponents."""


@dataclass(frozen=True)
class Outcome:
    """A cell after a sweep: its runs and what theory says, or why there is none."""

    cell: Cell
    simulated: Trajectory | None
    predicted: Trajectory | None
    complaint: str | None
    failure: str | None

    @cached_property
    def _observed(self) -> dict[str, Float[np.ndarray, "runs t"]]:
        return {} if self.simulated is None else observed(self.simulated)

    @cached_property
    def _expected(self) -> dict[str, Float[np.ndarray, " t"]]:
        return {} if self.predicted is None else expected(self.predicted)

    def measured(self, observable: str) -> Float[np.ndarray, " runs"]:
        """An observable after the last step, run by run; none of a cell that failed."""
        if self.simulated is None:
            return np.zeros(0)
        return self._observed[check_observable(observable, self.cell.setting)][:, -1]

    def expected(self, observable: str) -> float:
        """What theory says of it; NaN where it says nothing."""
        remembered = observable in self._expected
        return float(self._expected[observable][-1]) if remembered else np.nan

    @property
    def theory(self) -> str | None:
        """The name of the theory that serves the cell."""
        return None if self.predicted is None else self.predicted.theory

    def p_value(self, observable: str) -> float | None:
        """That of the difference of the two after the last step; None where not compared."""
        if self.predicted is None or self.simulated is None or self.simulated.runs < 2:
            return None
        return compare_number(self.predicted, self.simulated, observable)

    def as_dict(self, observable: str) -> dict[str, Any]:
        """An observable after the last step as plain values, measured and predicted."""
        values, theory = self.measured(observable), self.expected(observable)
        many = len(values) > 1
        return {
            "at": dict(self.cell.values),
            "runs": len(values),
            "mean": float(values.mean()) if len(values) else None,
            "standard_error": float(values.std(ddof=1)) / len(values) ** 0.5 if many else None,
            "predicted": None if np.isnan(theory) else theory,
            "theory": self.theory,
            "p_value": self.p_value(observable),
            "no_prediction": self.complaint,
            "failure": self.failure,
        }


@dataclass(frozen=True)
class DimensionExponent:
    """The exponent in d of an observable at a place on the other axes, measured and predicted.

    ``measured`` is that of the median of the runs, which few of them cannot move, ``predicted``
    that of their mean: they differ where a few runs have learned and others not.  ``theories`` are
    those that serve the sizes; nothing is predicted where there are several, whose numbers differ
    by more than the size.
    """

    place: Mapping[str, str]
    measured: Scaling
    predicted: float | None
    theories: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "place": dict(self.place),
            "exponent": self.measured.exponent,
            "interval": [self.measured.low, self.measured.high],
            "level": self.measured.level,
            "verdict": self.measured.verdict,
            "predicted": self.predicted,
            "theories": list(self.theories),
        }


@dataclass(frozen=True)
class TheoryChange:
    """Two neighbours on an axis that different theories serve, at a place on the other axes."""

    axis: str
    texts: tuple[str, str]
    theories: tuple[str, str]
    place: Mapping[str, str]


@dataclass(frozen=True)
class Agreement:
    """Theory and simulation of one observable in all cells that have both.

    P-values of the cells are combined by their harmonic mean; ``apart`` are the cells that are
    unlikely even as the least likely of all.
    """

    p_value: float
    cells: int
    apart: tuple[Outcome, ...]

    @property
    def agrees(self) -> bool:
        return self.p_value >= LEVEL


@dataclass(frozen=True)
class Sweep(Drawn, Tabled):
    """All cells of a grid, in its order; ``skipped`` are files that could not be read.

    ``measured`` and ``predicted`` are arrays over the axes, ``exponents`` fits |cosine| ~
    d^exponent along d (``Scaling``), ``limit`` is the leap index, where one step on n = d^k begins
    to learn (arXiv 2305.18270, theorem on one step).
    """

    grid: Grid
    outcomes: tuple[Outcome, ...]
    skipped: tuple[str, ...] = ()

    def __repr__(self) -> str:
        axes = ", ".join(f"{axis.name} ({len(axis.places)})" for axis in self.axes)
        return f"Sweep(over {axes}: {len(self.finished)} of {len(self.outcomes)} cells finished)"

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.grid.axes

    @property
    def finished(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.simulated is not None]

    @property
    def failed(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.failure is not None]

    @cached_property
    def table(self) -> Table:
        """A row for each run and step of the cells that are finished."""
        done = self.finished
        trajectories = [outcome.simulated for outcome in done if outcome.simulated is not None]
        return make_table(trajectories, [outcome.predicted for outcome in done])

    @property
    def revisions(self) -> list[str]:
        """The revisions of the package that made the runs: one, unless it was changed between."""
        made = (outcome.simulated.origin or {} for outcome in self.finished if outcome.simulated)
        return sorted({str(origin.get("revision")) for origin in made})

    def measured(self, observable: str) -> Float[np.ndarray, "..."]:
        """Mean over runs in every cell after the last step, over the axes; NaN where it failed."""
        values = [outcome.measured(observable) for outcome in self.outcomes]
        return self._shaped([float(v.mean()) if len(v) else np.nan for v in values])

    def standard_error(self, observable: str) -> Float[np.ndarray, "..."]:
        """Standard error of these means; NaN for a single run."""
        values = [outcome.measured(observable) for outcome in self.outcomes]
        return self._shaped(
            [float(v.std(ddof=1)) / np.sqrt(len(v)) if len(v) > 1 else np.nan for v in values]
        )

    def predicted(self, observable: str) -> Float[np.ndarray, "..."]:
        """What theory says in every cell; NaN where it says nothing."""
        return self._shaped([outcome.expected(observable) for outcome in self.outcomes])

    def _shaped(self, values: list[float]) -> Float[np.ndarray, "..."]:
        return np.array(values).reshape(self.grid.shape)

    @property
    def limit(self) -> float | None:
        """Where one step at n = d^k begins to learn as d grows: k = leap of the target.

        None unless k is an axis and every cell takes one plain giant step on one target.  A mean
        or a covariance of the inputs changes the leap and the dimension, and leaves it open.
        """
        settings = [cell.setting for cell in self.grid.cells]
        first = settings[0]
        if POWER not in {axis.label for axis in self.axes} or first.target.column:
            return None
        if any(s.target != first.target or s.steps != 1 or s.deflate >= 0 for s in settings):
            return None
        if any(s.inputs.normal_about_mean and not s.inputs.is_gaussian for s in settings):
            return None
        leap = information_exponent(first.target.series)
        return None if leap is None else float(leap)

    def agreement(self, observable: str) -> Agreement | None:
        """Whether theory and simulation agree in the observable; None where none is compared."""
        values = [(outcome.p_value(observable), outcome) for outcome in self.outcomes]
        # At least so much that their inverses can be summed.
        compared = [(max(p, 1e-300), outcome) for p, outcome in values if p is not None]
        if not compared:
            return None
        count = len(compared)
        mean = count / sum(1.0 / p for p, _ in compared)
        apart = tuple(outcome for p, outcome in compared if p < LEVEL / count)
        return Agreement(harmonic_p_value(mean, math.log(count)), count, apart)

    @property
    def theory_changes(self) -> list[TheoryChange]:
        """Where theories change along an axis."""
        cells = np.arange(len(self.outcomes)).reshape(self.grid.shape)
        changes = []
        for along, axis in enumerate(self.axes):
            others = [other for other in self.axes if other is not axis]
            lines = np.moveaxis(cells, along, -1).reshape(-1, len(axis.places))
            places = itertools.product(*(other.texts for other in others))
            for place, line in zip(places, lines, strict=True):
                at = {other.name: text for other, text in zip(others, place, strict=True)}
                for k, (one, two) in enumerate(itertools.pairwise(line)):
                    names = (self.outcomes[one].theory, self.outcomes[two].theory)
                    if names[0] and names[1] and names[0] != names[1]:
                        texts = (axis.texts[k], axis.texts[k + 1])
                        changes.append(TheoryChange(axis.name, texts, (names[0], names[1]), at))
        return changes

    def exponents(self, observable: str) -> list[DimensionExponent]:
        """The exponent in d at every place on the other axes that has two sizes with two runs."""
        fields = [axis.name for axis in self.axes]
        if "d" not in fields:
            return []
        along = fields.index("d")
        others = [axis for k, axis in enumerate(self.axes) if k != along]
        cells = np.arange(len(self.outcomes)).reshape(self.grid.shape)
        lines = np.moveaxis(cells, along, -1).reshape(-1, self.grid.shape[along])
        places = itertools.product(*(axis.texts for axis in others))
        exponents = []
        for place, line in zip(places, lines, strict=True):
            kept = [self.outcomes[index] for index in line]
            kept = [o for o in kept if len(o.measured(observable)) > 1]
            sizes = [float(outcome.cell.setting.d) for outcome in kept]
            values = [outcome.measured(observable) for outcome in kept]
            if len(sizes) < 2 or any(np.median(np.abs(v)) == 0 for v in values):
                continue
            x = np.log(sizes) - np.mean(np.log(sizes))
            theory = np.array([outcome.expected(observable) for outcome in kept])
            theories = tuple(dict.fromkeys(o.theory for o in kept if o.theory is not None))
            is_predicted = bool(np.all(theory > 0)) and len(theories) == 1
            exponents.append(
                DimensionExponent(
                    {axis.name: text for axis, text in zip(others, place, strict=True)},
                    scaling_exponent(sizes, values),
                    float(np.log(theory) @ x / (x @ x)) if is_predicted else None,
                    theories,
                )
            )
        return exponents

    def as_dict(self, observable: str) -> dict[str, Any]:
        """Everything but the arrays, as plain values."""
        exponents = self.exponents(observable) if observable.startswith(COSINES) else []
        agreement = self.agreement(observable)
        return {
            "axes": [
                {"fields": [dict(place) for place in axis.places], "label": axis.label}
                for axis in self.axes
            ],
            "show": observable,
            "cells": [outcome.as_dict(observable) for outcome in self.outcomes],
            "exponents": [exponent.as_dict() for exponent in exponents],
            "agreement": None
            if agreement is None
            else {
                "agrees": agreement.agrees,
                "p_value": agreement.p_value,
                "cells": agreement.cells,
                "apart": [found.cell.text for found in agreement.apart],
            },
            "limit": self.limit,
            "revisions": self.revisions,
            "skipped": list(self.skipped),
        }


COSINES = ("alignment", "cosine_", "principal_cosine_")
"""Observables whose exponent in d says whether a direction is learned."""

LEARNED = 0.5
"""The cosine at which the boundary of a map is drawn."""


def check_observable(observable: str | None, setting: Setting) -> str:
    """An observable that runs have; unless told the alignment with the target, or the error."""
    if observable is None:
        return "test_error" if setting.target.column else "alignment"
    allowed = names(setting)
    if observable not in allowed:
        raise InputError(f"show must be one of {', '.join(allowed)}, got {observable!r}")
    return observable
