"""Two settings or a few, each predicted and simulated, in one table and one picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.experiment import Experiment, run_experiment
from giantstep.prediction.predict import predict
from giantstep.problem.differing import field_text, given_differing
from giantstep.problem.setting import Setting
from giantstep.records.drawing import Drawn
from giantstep.records.observables import expected, observed
from giantstep.records.observables import names as observable_names
from giantstep.records.summary import Value, measured
from giantstep.records.table import Table, Tabled, make_table
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import MEMORY, simulate

SHOWN = ("norm", "alignment", "test_error", "network_error")
"""Observables of the table unless others are asked for, where there are runs that have them."""


@dataclass(frozen=True)
class SideBySide(Drawn, Tabled):
    """Experiments of two settings or a few, with a name each, to be looked at together.

    ``differing`` are the fields that were given differently, ``shown`` the observables of tables
    and pictures (those of ``to_pandas``).  ``mean``, ``theory`` and ``difference`` are the numbers
    of the table: the mean over runs with its standard error, what theory says, and by how much the
    last step of a setting differs from that of the first one.
    """

    experiments: tuple[Experiment, ...]
    names: tuple[str, ...]
    shown: tuple[str, ...]

    def __repr__(self) -> str:
        return f"SideBySide({' against '.join(self.names)}: {', '.join(self.shown)})"

    @property
    def settings(self) -> tuple[Setting, ...]:
        return tuple(experiment.setting for experiment in self.experiments)

    @property
    def differing(self) -> list[str]:
        """The fields in which the settings differ, as they were given."""
        return given_differing(self.settings)

    @cached_property
    def _observed(self) -> list[dict[str, Float[np.ndarray, "runs t"]]]:
        return [observed(experiment.simulated) for experiment in self.experiments]

    @cached_property
    def _expected(self) -> list[dict[str, Float[np.ndarray, " t"]]]:
        theory = (experiment.predicted for experiment in self.experiments)
        return [{} if trajectory is None else expected(trajectory) for trajectory in theory]

    def mean(self, number: int, observable: str, place: int) -> Value | None:
        """Mean over the runs of setting ``number`` at a place of its recorded steps."""
        values = self._observed[number].get(observable)
        return None if values is None else measured(values[:, place])

    def theory(self, number: int, observable: str, place: int) -> float | None:
        """What theory says there; None where it says nothing."""
        values = self._expected[number].get(observable)
        value = math.nan if values is None else float(values[place])
        return None if math.isnan(value) else value

    def difference(self, number: int, observable: str) -> Value | None:
        """How far setting ``number`` is from the first after the last step, run by run.

        Run k of two settings shares random numbers where it can: the standard error is that of the
        differences of runs with the same number.
        """
        one, other = (self._observed[k].get(observable) for k in (0, number))
        if one is None or other is None:
            return None
        runs = min(len(one), len(other))
        return measured(other[:runs, -1] - one[:runs, -1])

    @cached_property
    def table(self) -> Table:
        """A row for each setting, run and step."""
        return make_table(
            [experiment.simulated for experiment in self.experiments],
            [experiment.predicted for experiment in self.experiments],
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything but the arrays, as plain values; differences are those from the first."""
        return {
            "differing": self.differing,
            "settings": [
                {"name": name, "differences": self._differences(number), **experiment.as_dict()}
                for number, (name, experiment) in enumerate(
                    zip(self.names, self.experiments, strict=True)
                )
            ],
        }

    def _differences(self, number: int) -> dict[str, Any]:
        differences = {observable: self.difference(number, observable) for observable in self.shown}
        return {
            name: None if value is None else value.as_dict() for name, value in differences.items()
        }


def compare_settings(
    *settings: Setting,
    names: Sequence[str] | None = None,
    show: Sequence[str] = (),
    memory: int = MEMORY,
    progress: Callable[[float, int], None] | None = None,
    simulator: Callable[..., Trajectory] = simulate,
    predictor: Callable[..., Trajectory] = predict,
) -> SideBySide:
    """Predict and simulate two settings or a few, and return them side by side.

    ``names`` are what tables and pictures call the settings, unless told otherwise the values of
    the fields in which they differ; ``show`` names observables, the columns of ``to_pandas``.  The
    settings may differ in any field, sizes and steps included.  ``memory``, ``progress``,
    ``simulator`` and ``predictor`` are those of ``run_experiment``.

    >>> from giantstep import Setting, compare_settings
    >>> gradient = Setting("x1", d=1000, p=2, steps=1, runs=3, readout_n=100, test_n=100)
    >>> both = compare_settings(gradient, gradient.vary(update="orthogonal"))
    >>> both.names, both.differing
    (('gradient', 'orthogonal'), ['update'])
    >>> both.difference(1, "alignment").mean > 0
    True
    """
    called = setting_names(settings, names)
    shown = _shown(settings, show)
    experiments = []
    for setting in settings:
        experiment = run_experiment(
            setting,
            memory=memory,
            progress=progress,
            simulator=simulator,
            predictor=predictor,
        )
        if experiment.simulated.interrupted:
            raise KeyboardInterrupt
        experiments.append(experiment)
    return SideBySide(tuple(experiments), called, shown)


def setting_names(
    settings: Sequence[Setting], names: Sequence[str] | None = None, *, most: int = 8
) -> tuple[str, ...]:
    """The names of the settings, ``most`` of them, a colour each; one given twice is refused."""
    if not 2 <= len(settings) <= most:
        raise InputError(f"settings must be 2 to {most}, got {len(settings)}")
    if names is not None and len(names) != len(settings):
        raise InputError(f"names must be one for each of {len(settings)} settings, got {names}")
    seen: dict[Setting, int] = {}
    for number, setting in enumerate(settings):
        first = seen.setdefault(setting.vary(runs=1), number)
        if first != number:
            one, other = (names[k] if names else f"number {k + 1}" for k in (first, number))
            raise InputError(
                f"settings must differ in more than their runs, got the same for {one} and {other}"
            )
    called = _values(settings) if names is None else tuple(names)
    if len(set(called)) == len(settings):
        return called
    if names is not None:
        raise InputError(f"names must be different, got {list(names)}")
    return tuple(f"setting {number + 1}" for number in range(len(settings)))


def _values(settings: Sequence[Setting]) -> tuple[str, ...]:
    """What tells the settings apart; the same for all where more than two fields would do it."""
    fields = given_differing(settings)
    if len(fields) > 2:
        return ("",) * len(settings)
    texts = [[field_text(setting, field) for field in fields] for setting in settings]
    if len(fields) == 1 and all(not _is_number(text) for [text] in texts):
        return tuple(text for [text] in texts)
    return tuple(
        ", ".join(f"{field} = {value}" for field, value in zip(fields, text, strict=True))
        for text in texts
    )


def _is_number(text: str) -> bool:
    """Whether a value says nothing without the name of its field: 10000, 4d, 1e-3."""
    return text[:1].isdigit() or text[:1] in "-.d"


def _shown(settings: Sequence[Setting], show: Sequence[str]) -> tuple[str, ...]:
    """The observables that are asked for, which at least one setting must have."""
    available = list(
        dict.fromkeys(name for setting in settings for name in observable_names(setting))
    )
    for name in show:
        if name not in available:
            raise InputError(f"show must be one of {', '.join(available)}, got {name!r}")
    if show:
        return tuple(dict.fromkeys(show))
    directions = any(setting.target.r for setting in settings)
    return tuple(
        name for name in SHOWN if name in available and (directions or name != "alignment")
    )
