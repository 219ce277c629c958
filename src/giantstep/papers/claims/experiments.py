"""Experiments that several claims share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.papers.claims.quantity import (
    LEARNED,
    NOT_LEARNED,
    Quantity,
    Region,
    drift,
    exponent_of,
    mean_of,
)
from giantstep.papers.claims.record import Findings
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

Fields = Mapping[str, Any]
Statistic = Callable[[Trajectory], Float[np.ndarray, " runs"]]
"""One number a run."""

Runs = int | Sequence[int]
"""The same number of runs at every size, or one a size: small ones cost less and may have more."""

FIRST_LAYER = {"readout_n": 0, "test_n": 0}
"""Fields of a setting whose second layer is not trained."""


def with_runs(sizes: Sequence[int], runs: Runs) -> list[tuple[int, int]]:
    """Each size with its number of runs."""
    return list(zip(sizes, [runs] * len(sizes) if isinstance(runs, int) else runs, strict=True))


def over_sizes(
    fields: Fields, d: Sequence[int], runs: Runs, statistics: Mapping[str, Statistic]
) -> dict[str, list[Float[np.ndarray, " runs"]]]:
    """Each statistic's values at every dimension; the second layer is not trained."""
    found: dict[str, list[Float[np.ndarray, " runs"]]] = {name: [] for name in statistics}
    for size, drawn in with_runs(d, runs):
        trajectory = simulate(Setting(**(FIRST_LAYER | dict(fields) | {"d": size, "runs": drawn})))
        for name, statistic in statistics.items():
            found[name].append(statistic(trajectory))
    return found


def scaling_findings(
    d: Sequence[int],
    values: Mapping[str, Sequence[Float[np.ndarray, " runs"]]],
    regions: Mapping[str, Region],
    expected: Mapping[str, float],
    y_label: str = "median cosine",
    *,
    allowance: float | None = None,
) -> Findings:
    """The exponent in d of every statistic, and the medians against d.

    A cosine is that of the limit and d^(-1/2), the cosine of a random direction: the drift of such
    a correction is the allowance, where none is given.
    """
    allowed = drift(d) if allowance is None else allowance
    quantities = [
        exponent_of(
            f"exponent of {name}", d, runs, regions[name], expected.get(name), allowance=allowed
        )
        for name, runs in values.items()
    ]
    curves = [scaling_curve(name, d, runs) for name, runs in values.items()]
    for quantity, curve in zip(quantities, list(curves), strict=True):
        if quantity.expected is not None:
            line = curve.y[0] * (np.array(d) / d[0]) ** quantity.expected
            label = f"slope {quantity.expected:g}"
            curves.append(Curve(label, list(d), line.tolist(), theory=True, guide=True))
    return Findings(quantities, Plot("dimension $d$", y_label, curves, "log", "log"))


def scaling_curve(name: str, x: Sequence[float], values: Sequence[np.ndarray]) -> Curve:
    """Medians over runs with a standard error of 1.25 times that of the mean."""
    medians = [float(np.median(np.abs(v))) for v in values]
    errors = [float(1.25 * np.std(np.abs(v), ddof=1) / np.sqrt(len(v))) for v in values]
    return Curve(name, [float(size) for size in x], medians, errors)


def neurons(basis: Sequence[Sequence[float]], step: int = -1) -> Statistic:
    """Median over neurons of |P w_i|/|w_i|, P the projection onto a subspace."""
    rows = _orthonormal(basis)
    return lambda trajectory: np.median(
        np.linalg.norm(trajectory.cosine[:, step] @ rows.T, axis=2), axis=1
    )


def weakest(basis: Sequence[Sequence[float]], step: int = -1) -> Statistic:
    """sigma_min/sqrt(p) of the cosines of the neurons with a basis of a subspace.

    The root mean square cosine of the neurons with the direction of the subspace that they know
    least: of order one just if every direction of the subspace is learned.  The principal angles of
    the span of the rows would not do: they are the same whatever the size of the step.
    """
    rows = _orthonormal(basis)
    return lambda trajectory: _root_mean_squares(trajectory, rows, step)[:, -1]


def strongest(basis: Sequence[Sequence[float]], step: int = -1) -> Statistic:
    """sigma_max/sqrt(p): that of the direction of the subspace that the neurons know best."""
    rows = _orthonormal(basis)
    return lambda trajectory: _root_mean_squares(trajectory, rows, step)[:, 0]


def _root_mean_squares(
    trajectory: Trajectory, rows: Float[np.ndarray, "k r"], step: int
) -> Float[np.ndarray, "runs k"]:
    cosines = trajectory.cosine[:, step] @ rows.T
    return np.linalg.svd(cosines, compute_uv=False) / math.sqrt(cosines.shape[1])


def _orthonormal(basis: Sequence[Sequence[float]]) -> Float[np.ndarray, "k r"]:
    return np.linalg.qr(np.array(basis, dtype=float).T)[0].T


def complement(basis: Sequence[Sequence[float]]) -> list[list[float]]:
    """Rows spanning what is orthogonal to a subspace."""
    matrix = np.array(basis, dtype=float)
    _, values, rows = np.linalg.svd(matrix)
    rank = int(np.sum(values > 1e-12))
    return [row.tolist() for row in rows[rank:]]


def staircase(
    fields: Fields,
    *,
    subspaces: Sequence[Sequence[Sequence[float]]],
    d: Sequence[int],
    runs: Runs,
) -> Findings:
    """After step t the rows learn exactly span(subspaces[t-1]), by the exponents in d.

    What the neurons know least of U must tend to a constant, what they know best of the rest fall.
    """
    statistics: dict[str, Statistic] = {}
    regions: dict[str, Region] = {}
    expected: dict[str, float] = {}
    for step, basis in enumerate(subspaces, 1):
        inside, outside = f"step {step}: inside U", f"step {step}: outside U"
        statistics[inside] = weakest(basis, step)
        regions[inside], expected[inside] = LEARNED, 0.0
        left = complement(basis)
        if left:
            statistics[outside] = strongest(left, step)
            regions[outside], expected[outside] = NOT_LEARNED, -0.5
    values = over_sizes(dict(fields) | {"steps": len(subspaces)}, d, runs, statistics)
    return scaling_findings(d, values, regions, expected, "cosine of the neurons")


def all_of(parts: Sequence[Findings]) -> Findings:
    """Findings of several experiments as one, with the plot of the first that has one."""
    quantities: list[Quantity] = [q for part in parts for q in part.quantities]
    plots = [part.plot for part in parts if part.plot is not None]
    return Findings(quantities, plots[0] if plots else None)


def readout_errors(fields: Fields, **changes: Any) -> Float[np.ndarray, "runs t"]:
    """Test errors of the readout after each step, one row a run."""
    errors = simulate(Setting(**(dict(fields) | changes))).test_error
    if errors is None:
        raise InputError("readout_n must be positive for test errors, got 0")
    return errors


def predicted_statistic(fields: Fields, statistic: Statistic, d: int) -> float:
    """A statistic of the narrow theory for Gaussian inputs at one dimension."""
    setting = Setting(**(FIRST_LAYER | dict(fields) | {"d": d, "inputs": "gaussian"}))
    return float(np.mean(statistic(predict(setting, theory="narrow"))))


def as_predicted(
    name: str, values: Float[np.ndarray, " runs"], predicted: float, d: int
) -> Quantity:
    """A cosine and its prediction, beside the d^(-1/2) of any random direction.

    The region is half the prediction and as much above it: what is neither lost nor doubled.
    """
    region = (0.5 * predicted, 1.5 * predicted)
    return mean_of(name, values, region, predicted, allowance=predicted * d**-0.5)


def merged(parts: Sequence[Findings]) -> Findings:
    """Findings of several experiments with all their curves in one plot."""
    found = all_of(parts)
    if found.plot is None:
        return found
    curves = [curve for part in parts if part.plot is not None for curve in part.plot.curves]
    return Findings(found.quantities, replace(found.plot, curves=curves))


def photograph_patches(edge: int, rows: int, seed: int = 0) -> Float[np.ndarray, "rows d"]:
    """Square patches of the photograph that comes with matplotlib, as rows of grey values."""
    from matplotlib import cbook, image

    picture = np.asarray(image.imread(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)))
    grey = picture[..., :3].mean(axis=2)
    windows = np.lib.stride_tricks.sliding_window_view(grey, (edge, edge))
    rng = np.random.default_rng(seed)
    row, column = (rng.integers(0, size, rows) for size in windows.shape[:2])
    return windows[row, column].reshape(rows, edge * edge)
