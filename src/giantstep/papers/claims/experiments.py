"""Experiments that several claims share: exponents in d, and predictions beside simulations."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims.quantity import (
    LEARNED,
    NOT_LEARNED,
    Quantity,
    Region,
    drift,
    exponent_of,
)
from giantstep.papers.claims.record import Fields, Findings
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

Statistic = Callable[[Trajectory], Float[np.ndarray, " runs"]]
"""One number a run."""

Basis = Sequence[Sequence[float]]
"""Rows that span a subspace of the target directions, in the coordinates of these."""

Runs = int | Sequence[int]
"""The same number of runs at every size, or one a size: small ones cost less and may have more."""

FIRST_LAYER = {"readout_n": 0, "test_n": 0}
"""Fields of a setting whose second layer is not trained."""

LINE = ((1.0,),)
"""The one direction of a target of one direction."""


# -- what the neurons know -------------------------------------------------------------------------


@dataclass(frozen=True)
class Cosines:
    """A statistic of the cosines of the neurons with a subspace of the target after a step.

    ``summary`` makes one number a run of the cosines (runs, p, k) with an orthonormal basis.
    """

    summary: Callable[[Float[np.ndarray, "runs p k"]], Float[np.ndarray, " runs"]]
    basis: Basis
    step: int = -1

    def __call__(self, trajectory: Trajectory) -> Float[np.ndarray, " runs"]:
        """The number of every run."""
        rows = np.linalg.qr(np.array(self.basis, dtype=float).T)[0].T
        return self.summary(trajectory.cosine[:, self.step] @ rows.T)


def _median_length(cosines: Float[np.ndarray, "runs p k"]) -> Float[np.ndarray, " runs"]:
    return np.median(np.linalg.norm(cosines, axis=2), axis=1)


def _smallest(cosines: Float[np.ndarray, "runs p k"]) -> Float[np.ndarray, " runs"]:
    return _root_mean_squares(cosines)[:, -1]


def _largest(cosines: Float[np.ndarray, "runs p k"]) -> Float[np.ndarray, " runs"]:
    return _root_mean_squares(cosines)[:, 0]


def _root_mean_squares(cosines: Float[np.ndarray, "runs p k"]) -> Float[np.ndarray, "runs k"]:
    return np.linalg.svd(cosines, compute_uv=False) / math.sqrt(cosines.shape[1])


def neurons(basis: Basis, step: int = -1) -> Cosines:
    """Median over neurons of |P w_i|/|w_i|, P the projection onto a subspace."""
    return Cosines(_median_length, basis, step)


def weakest(basis: Basis, step: int = -1) -> Cosines:
    """sigma_min/sqrt(p) of the cosines of the neurons with a basis of a subspace.

    The root mean square cosine of the neurons with the direction of the subspace that they know
    least: of order one just if every direction of the subspace is learned.  The principal angles of
    the span of the rows would not do: they are the same whatever the size of the step.
    """
    return Cosines(_smallest, basis, step)


def strongest(basis: Basis, step: int = -1) -> Cosines:
    """sigma_max/sqrt(p): that of the direction of the subspace that the neurons know best."""
    return Cosines(_largest, basis, step)


def complement(basis: Basis) -> list[list[float]]:
    """Rows spanning what is orthogonal to a subspace."""
    _, values, rows = np.linalg.svd(np.array(basis, dtype=float))
    rank = int(np.sum(values > 1e-12))
    return [row.tolist() for row in rows[rank:]]


# -- exponents in d --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exponent:
    """The exponent in d that a claim gives to a statistic of the runs.

    ``limit`` is the predicted exponent, None where there is no prediction, and ``region`` the
    interval of the claim.  ``statistic`` is None where the numbers are not those of a trajectory.
    ``setting`` has fields of the simulation beside those of the claim, ``d`` and ``runs`` sizes in
    place of those of the claim.

    The measured exponent may differ from the limit by the drift of a correction
    1 + ``factor`` d^-``power``; by default it is the d^(-1/2) of the cosine of a random direction.
    A step between small and giant passes, over the range of d, from the cosine d^(-1/2) of the
    start to the cosine (``noise``/d)^(1/2) of the noise of the gradient along w*, where ``noise``
    is E[y^2 z^2]/E[y^2]: the exponent may gain as much.
    """

    name: str
    statistic: Statistic | None
    region: Region
    limit: float | None
    setting: Fields = field(default_factory=dict)
    power: float = 0.5
    factor: float = 1.0
    noise: float = 1.0
    d: Sequence[int] = ()
    runs: Runs = 0

    def quantity(
        self, sizes: Sequence[int], values: Sequence[Float[np.ndarray, " runs"]]
    ) -> Quantity:
        """The exponent of values at these sizes."""
        passing = 0.5 * math.log(self.noise) / math.log(sizes[-1] / sizes[0])
        allowance = drift(sizes, self.factor, self.power) + passing
        name = f"exponent of {self.name}"
        return exponent_of(name, sizes, values, self.region, self.limit, allowance=allowance)


def learned(name: str, statistic: Statistic | None, **others: Any) -> Exponent:
    """A cosine that tends to a constant."""
    return Exponent(name, statistic, LEARNED, 0.0, **others)


def not_learned(name: str, statistic: Statistic | None, **others: Any) -> Exponent:
    """A cosine that falls as that of a random direction."""
    return Exponent(name, statistic, NOT_LEARNED, -0.5, **others)


def exponents(
    setting: Fields,
    *,
    measured: Sequence[Exponent],
    d: Sequence[int] = (),
    runs: Runs = 0,
    label: str = "cosine of the neurons",
) -> Findings:
    """Simulate at growing dimensions, and compare exponents in d with those of a claim."""
    return exponent_findings(
        measured, statistics_over_sizes(setting, measured, d, runs), d, label=label
    )


def statistics_over_sizes(
    setting: Fields, measured: Sequence[Exponent], d: Sequence[int], runs: Runs
) -> dict[str, list[Float[np.ndarray, " runs"]]]:
    """Values of every statistic by its name; neighbours of one setting share their simulations."""
    values: dict[str, list[Float[np.ndarray, " runs"]]] = {}
    for (fields, sizes, drawn), group in groupby(
        measured, key=lambda case: (case.setting, case.d or d, case.runs or runs)
    ):
        statistics = {case.name: case.statistic for case in group if case.statistic is not None}
        values |= over_sizes({**setting, **fields}, sizes, drawn, statistics)
    return values


def exponent_findings(
    measured: Sequence[Exponent],
    values: Mapping[str, Sequence[Float[np.ndarray, " runs"]]],
    d: Sequence[int] = (),
    *,
    label: str = "cosine of the neurons",
    x_label: str = "dimension $d$",
) -> Findings:
    """The exponents of values at growing sizes, and the medians with lines of predicted slopes."""
    quantities: list[Quantity] = []
    points: list[Curve] = []
    lines: list[Curve] = []
    for case in measured:
        sizes = case.d or d
        quantities.append(case.quantity(sizes, values[case.name]))
        points.append(scaling_curve(case.name, sizes, values[case.name]))
        if case.limit is not None:
            lines.append(slope_line(sizes, points[-1].y[0], case.limit))
    return Findings(quantities, Plot(x_label, label, [*points, *lines], "log", "log"))


def over_sizes(
    setting: Fields, d: Sequence[int], runs: Runs, statistics: Mapping[str, Statistic]
) -> dict[str, list[Float[np.ndarray, " runs"]]]:
    """Each statistic's values at every dimension; the second layer is not trained."""
    values: dict[str, list[Float[np.ndarray, " runs"]]] = {name: [] for name in statistics}
    for sized in at_sizes(FIRST_LAYER | dict(setting), d, runs):
        trajectory = simulate(sized)
        for name, statistic in statistics.items():
            values[name].append(statistic(trajectory))
    return values


def at_sizes(setting: Fields, d: Sequence[int], runs: Runs) -> list[Setting]:
    """Settings of growing dimension, each with its number of runs."""
    return [Setting(**{**setting, "d": size, "runs": drawn}) for size, drawn in with_runs(d, runs)]


def with_runs(sizes: Sequence[int], runs: Runs) -> list[tuple[int, int]]:
    """Each size with its number of runs."""
    return list(zip(sizes, [runs] * len(sizes) if isinstance(runs, int) else runs, strict=True))


def growth(values: Sequence[float], sizes: Sequence[float]) -> float:
    """The exponent of a curve between its first and its last size."""
    return math.log(values[-1] / values[0]) / math.log(sizes[-1] / sizes[0])


# -- curves ----------------------------------------------------------------------------------------


def scaling_curve(name: str, x: Sequence[float], values: Sequence[np.ndarray]) -> Curve:
    """Medians over runs with a standard error of 1.25 times that of the mean."""
    medians = [float(np.median(np.abs(v))) for v in values]
    errors = [float(1.25 * np.std(np.abs(v), ddof=1) / np.sqrt(len(v))) for v in values]
    return Curve(name, [float(size) for size in x], medians, errors)


def slope_line(sizes: Sequence[float], first: float, exponent: float) -> Curve:
    """A line of a predicted exponent through the first point of a curve."""
    line = first * (np.array(sizes) / sizes[0]) ** exponent
    return Curve(f"slope {exponent:g}", list(sizes), line.tolist(), theory=True, guide=True)


def beside(
    label: str,
    x: Sequence[float],
    measured: Sequence[np.ndarray],
    predicted: Sequence[float],
    *,
    theory: str = "",
    joined: bool = True,
) -> list[Curve]:
    """Means over runs with their standard errors, and the line of theory over the same x."""
    line = [float(value) for value in predicted]
    return [
        mean_curve(label, x, measured),
        Curve(theory or label, list(x[: len(line)]), line, theory=True, joined=joined),
    ]


def numbered(names: Sequence[str]) -> tuple[list[int], str]:
    """Places 1, 2, .. of kinds on an axis, and the label that says which is which."""
    places = list(range(1, len(names) + 1))
    return places, ", ".join(f"{k} {name}" for k, name in zip(places, names, strict=True))


# -- inputs that are not Gaussian ------------------------------------------------------------------


def photograph_patches(edge: int, rows: int, seed: int = 0) -> Float[np.ndarray, "rows d"]:
    """Square patches of the photograph that comes with matplotlib, as rows of grey values."""
    from matplotlib import cbook, image

    picture = np.asarray(image.imread(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)))
    grey = picture[..., :3].mean(axis=2)
    windows = np.lib.stride_tricks.sliding_window_view(grey, (edge, edge))
    rng = np.random.default_rng(seed)
    row, column = (rng.integers(0, size, rows) for size in windows.shape[:2])
    return windows[row, column].reshape(rows, edge * edge)


@contextmanager
def inputs_of(law: str, d: int, rows: int) -> Iterator[str]:
    """An input law as a setting has it; in ``law``, {patches} is a file of d pixels a patch.

    The file is there for as long as the law is used.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "patches.npy"
        if "{patches}" in law:
            np.save(path, photograph_patches(math.isqrt(d), rows))
        yield law.format(patches=path)
