"""Emergence curves: how much of each target direction the rows span, and what is left in sum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.gaussian.series import HermiteSeries
from giantstep.records.trajectory import Trajectory


def variances_by_direction(series: HermiteSeries) -> Float[np.ndarray, " r"]:
    """Variance of the terms that depend on one direction alone, for each of them."""
    alone = (series.exponents > 0).sum(axis=1) == 1
    return (series.coefficients[alone] ** 2) @ (series.exponents[alone] > 0)


@dataclass(frozen=True)
class Emergence:
    """The share |P w*_k|^2 of each target direction in the span of the rows, over the samples seen.

    ``share`` are means over runs with standard ``error``; ``variance`` is what each direction holds
    of the target on its own.  ``left`` is sum_k variance_k (1 - share_k) of each run, as a share of
    all variance: what is not learned yet, an array of the runs for each number of samples.
    ``remaining`` is its mean over runs with its standard error.  ``theory`` names the theory, None
    for a simulation.

    docs/derivations/scaling.md, section 1.
    """

    samples: Float[np.ndarray, " t"]
    share: Float[np.ndarray, "t r"]
    error: Float[np.ndarray, "t r"]
    variance: Float[np.ndarray, " r"]
    left: tuple[Float[np.ndarray, " runs"], ...]
    theory: str | None = None

    def __repr__(self) -> str:
        kind = "simulated" if self.theory is None else f"theory {self.theory}"
        return (
            f"Emergence({kind}: {self.share.shape[1]} directions, "
            f"samples {self.samples[0]:g} -> {self.samples[-1]:g}, "
            f"remaining {self.remaining[0]:.3g} -> {self.remaining[-1]:.3g})"
        )

    @property
    def remaining(self) -> Float[np.ndarray, " t"]:
        """The share of the variance that is not learned, mean over runs."""
        return np.array([values.mean() for values in self.left])

    @property
    def remaining_error(self) -> Float[np.ndarray, " t"]:
        """Standard error of that mean; NaN of one run."""
        return np.array([_standard_error(values) for values in self.left])

    def exponents(
        self, window: tuple[float, float] = (0.0, math.inf)
    ) -> Float[np.ndarray, " runs"]:
        """Exponent of what remains in the samples, of each run, by least squares in logarithms.

        The ``window`` holds the smallest and the largest number of samples that count.
        """
        seen = (self.samples > 0.0) & (window[0] <= self.samples) & (self.samples <= window[1])
        if np.sum(seen) < 2:
            raise InputError(
                "window must hold at least two numbers of samples, "
                f"got {int(np.sum(seen))} from {window[0]:g} to {window[1]:g}"
            )
        # Predictions may have drawn more runs at some sizes than at others.
        runs = min(map(len, self.left))
        left = np.array([values[:runs] for values in self.left])[seen]
        if not np.all(left > 0.0):
            raise InputError("window must end before everything is learned, it does not")
        return np.polyfit(np.log(self.samples[seen]), np.log(left), 1)[0]

    def exponent(self, window: tuple[float, float] = (0.0, math.inf)) -> tuple[float, float]:
        """Mean over runs of that exponent, and its standard error (NaN of one run).

        For b > 1/2 it tends to -(1 - 1/(2b)) for one giant step where many directions are learned
        and many are left; docs/derivations/scaling.md, section 2.
        """
        values = self.exponents(window)
        return float(values.mean()), float(_standard_error(values))

    def needed(self, level: float = 0.5) -> Float[np.ndarray, " r"]:
        """Samples at which the share of each direction first exceeds ``level``, else NaN.

        Between two points the share is a line in the logarithm of the samples, from the start on in
        the samples themselves.
        """
        if not 0.0 < level < 1.0:
            raise InputError(f"level must be between 0 and 1, got {level}")
        samples, needed = self.samples, np.full(self.share.shape[1], np.nan)
        for k, curve in enumerate(self.share.T):
            above = np.flatnonzero(curve >= level)
            if len(above) and above[0] > 0:
                j = int(above[0])
                part = (level - curve[j - 1]) / (curve[j] - curve[j - 1])
                first, last = samples[j - 1 : j + 1]
                needed[k] = first * (last / first) ** part if first > 0.0 else part * last
        return needed


def _record(given: object) -> Trajectory:
    if not isinstance(given, Trajectory):
        raise InputError(f"trajectories must be those of simulate or predict, got {shown(given)}")
    return given


def emergence(trajectories: Trajectory | Sequence[Trajectory]) -> Emergence:
    """Emergence curves of one trajectory along its steps, or of several at their last steps.

    Several are of one target at growing batches.  Of a prediction the shares are those of runs
    drawn around it.  docs/derivations/scaling.md, section 1.

    >>> from giantstep import Setting, emergence, simulate
    >>> base = Setting("separable(He2, 20, 1)", d=500, p=40, steps=1, readout_n=0, test_n=0, runs=2)
    >>> curves = emergence([simulate(base.vary(n=n)) for n in (1000, 100_000)])
    >>> bool(curves.share[1, 0] > 0.5 > curves.share[1, -1])
    True
    """
    if not isinstance(trajectories, Trajectory | Iterable):
        raise InputError(f"trajectories must be one or several, got {shown(trajectories)}")
    if isinstance(trajectories, Trajectory):
        drawn = trajectories.drawn()
        points = [(drawn, t) for t in range(len(drawn.steps))]
    else:
        points = [(_record(each).drawn(), -1) for each in trajectories]
    if not points:
        raise InputError("trajectories must be at least one, got none")
    first = points[0][0]
    target = first.setting.target
    if any(each.setting.target != target for each, _ in points):
        raise InputError("trajectories must be of one target")
    variance = variances_by_direction(target.series)
    if not np.sum(variance) > 0.0:
        raise InputError(
            f"target must have terms of one direction alone for emergence, got {target.name!r}"
        )
    weights = variance / np.sum(variance)
    shares = [_shares(each, t) for each, t in points]
    return Emergence(
        samples=np.array([each.setting.n * float(each.steps[t]) for each, t in points]),
        share=np.array([share.mean(axis=0) for share in shares]),
        error=np.array([_standard_error(share) for share in shares]),
        variance=variance,
        left=tuple((1.0 - share) @ weights for share in shares),
        theory=first.theory,
    )


def _shares(trajectory: Trajectory, step: int) -> Float[np.ndarray, "runs r"]:
    """|P w*_k|^2 of every run: the squared lengths of the columns of the span's factor."""
    if trajectory.span is None:
        raise InputError(f"the {trajectory.engine} record does not hold the span of the rows")
    return np.sum(trajectory.span[:, step] ** 2, axis=1)


def _standard_error(values: Float[np.ndarray, "runs ..."]) -> Float[np.ndarray, "..."]:
    """Standard error of the mean over runs; NaN of one run."""
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(len(values)))
