"""Exit times: after which step a run has left the plateau of its start."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.records.trajectory import Trajectory


@dataclass(frozen=True)
class ExitTimes:
    """The step at which each run first passes a level, NaN for runs that never do.

    Runs are simulated ones (``exit_times``), or paths that are drawn from the law of the steps
    (``exit_law``, docs/derivations/exit_times.md).

    >>> import numpy as np
    >>> from giantstep import ExitTimes
    >>> found = ExitTimes(np.array([10.0, 30.0, np.nan]))
    >>> round(found.reached, 3), found.mean
    (0.667, 20.0)
    >>> found
    ExitTimes(2 of 3 pass the level, mean 20 ± 10, deviation 14.1)
    """

    steps: Float[np.ndarray, " runs"]

    def __repr__(self) -> str:
        return (
            f"ExitTimes({len(self.finite)} of {len(self.steps)} pass the level, "
            f"mean {self.mean:.4g} ± {self.standard_error:.2g}, deviation {self.deviation:.3g})"
        )

    @property
    def reached(self) -> float:
        """The share of the runs that pass the level."""
        return float(np.mean(np.isfinite(self.steps)))

    @property
    def finite(self) -> Float[np.ndarray, " k"]:
        """The exit times of the runs that pass the level."""
        return self.steps[np.isfinite(self.steps)]

    @property
    def mean(self) -> float:
        """Mean over the runs that pass the level; NaN where none does."""
        return float(self.finite.mean()) if len(self.finite) else math.nan

    @property
    def deviation(self) -> float:
        """Standard deviation over the runs that pass the level; NaN for fewer than two."""
        return float(self.finite.std(ddof=1)) if len(self.finite) > 1 else math.nan

    @property
    def standard_error(self) -> float:
        """Standard error of the mean."""
        return self.deviation / math.sqrt(max(len(self.finite), 1))


def check_level(cosine: float | None, error: float | None) -> None:
    """Refuse two levels or none, a cosine that nothing or all pass, and what is no number."""
    if (cosine is None) == (error is None):
        raise InputError(
            f"give one of cosine and error, got cosine={shown(cosine)} and error={shown(error)}"
        )
    if cosine is not None and not (isinstance(cosine, Real) and 0.0 < cosine < 1.0):
        raise InputError(f"cosine must be between 0 and 1, got {shown(cosine)}")
    if error is not None and not (isinstance(error, Real) and math.isfinite(error)):
        raise InputError(f"error must be a finite number, got {shown(error)}")


def exit_times(
    trajectory: Trajectory, *, cosine: float | None = None, error: float | None = None
) -> ExitTimes:
    """The step at which each run first passes a level, between recorded steps by a straight line.

    ``cosine`` -> the level that |P w_i|/|w_i| of the best neuron rises to, P the projection on the
    target directions; ``error`` -> the level that the network's own error falls to, the
    ``network_error`` of the trajectory.  Of both one is given.  The law of these times for one
    neuron is in docs/derivations/exit_times.md.

    >>> from giantstep import Setting, exit_times, simulate
    >>> setting = Setting("x1", d=1000, n="4d", p=4, steps=2, runs=3, readout_n=0, test_n=0)
    >>> bool(exit_times(simulate(setting), cosine=0.3).mean < 1)
    True
    """
    check_level(cosine, error)
    if not isinstance(trajectory, Trajectory):
        raise InputError(f"trajectory must be one of simulate or predict, got {shown(trajectory)}")
    if cosine is not None:
        r = trajectory.overlap.shape[-1]
        values = trajectory.alignment(np.eye(r)).max(axis=2) - cosine
    else:
        if trajectory.network_error is None:
            raise InputError("error needs the network's own error: readout_n and test_n above 0")
        assert error is not None
        values = error - trajectory.network_error
    return ExitTimes(np.array([_first(trajectory.steps, row) for row in values]))


def _first(steps: np.ndarray, values: Float[np.ndarray, " t"]) -> float:
    """Where values first reach zero from below."""
    above = np.flatnonzero(values >= 0.0)
    if not len(above):
        return math.nan
    k = int(above[0])
    if k == 0:
        return float(steps[0])
    share = -values[k - 1] / (values[k] - values[k - 1])
    return float(steps[k - 1] + share * (steps[k] - steps[k - 1]))
