"""The moments of a run that an engine shows: after its start and after its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from giantstep.problem.setting import Setting
from giantstep.simulation.divergence import divergence
from giantstep.simulation.matrices import Rows


@dataclass(frozen=True)
class Moment:
    """The engine holds run ``run`` as it is after step ``step``, 0 being the start.

    ``gradient`` gives the gradient of the step, where it is recorded.
    """

    run: int
    step: int
    gradient: Callable[[], Rows] | None = None


class Stepping(Protocol):
    """What takes the steps of one run."""

    setting: Setting

    def begin(self, run: int) -> None: ...
    def step(self, index: int) -> Callable[[], Rows]: ...


def run_by_run(engine: Stepping, runs: Sequence[int]) -> Iterator[Moment]:
    """All moments of a run, then those of the next."""
    for run in runs:
        engine.begin(run)
        yield Moment(run, 0)
        for step in range(1, engine.setting.steps + 1):
            try:
                gradient = engine.step(step - 1)
            except np.linalg.LinAlgError:
                raise divergence(engine.setting, run, step) from None
            yield Moment(run, step, gradient)
