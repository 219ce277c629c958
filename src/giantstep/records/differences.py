"""What is compared of a prediction and a simulation, as differences run by run.

First whatever tables show of the two side by side.  Then finer ones: entry by entry for few
neurons; by sums over many of them at linear width, where single rows are mostly noise.  Neurons are
in canonical order, that of their readout.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.records.observables import Subspaces, expectations, observed
from giantstep.records.spectrum import Spectrum
from giantstep.records.trajectory import Trajectory

ERRORS = {"network_error": "test_n", "train_error": "readout_n", "test_error": "test_n"}
"""The mean squared errors, and the field that counts the samples of each."""

NEURON_AXES = {"overlap": (2,), "gradient_cosine": (2,), "norms": (2,), "gram": (2, 3)}
"""The axes of an observable that count neurons."""


@dataclass(frozen=True)
class Difference:
    """One observable of both: simulated less predicted, run by run, and the size of the latter.

    The first axis beside the runs is the step; NaN stands where nothing is predicted.
    ``deviation`` is a known standard deviation of a run, where few runs may not show it.  ``shown``
    are the numbers that tables have side by side.
    """

    name: str
    differences: Float[np.ndarray, "runs t ..."]
    predicted: Float[np.ndarray, "t ..."]
    uncertainty: Float[np.ndarray, "t ..."] | float = 0.0
    deviation: Float[np.ndarray, "t ..."] | float = 0.0
    shown: bool = False


def canonical_order(trajectory: Trajectory) -> np.ndarray:
    """Neurons of each run sorted by their readout; pairs of the symmetric start stay aligned."""
    if trajectory.readout is None:
        raise InputError("the trajectory does not say the readout of its neurons")
    readout = trajectory.readout
    if not trajectory.setting.start.kind.paired:
        return np.argsort(readout, axis=1, kind="stable")
    half = readout.shape[1] // 2
    first = np.arange(half)[None]
    swapped = readout[:, :half] > 0
    negative = np.where(swapped, first + half, first)
    positive = np.where(swapped, first, first + half)
    return np.concatenate([negative, positive], axis=1)


def ordered(trajectory: Trajectory, name: str, suffix: str = "") -> Float[np.ndarray, "runs ..."]:
    """An observable (or with ``suffix`` its uncertainty), its neurons in canonical order."""
    values = trajectory.arrays()[name + suffix]
    order = canonical_order(trajectory)
    for axis in NEURON_AXES.get(name, ()):
        shape = [1] * values.ndim
        shape[0], shape[axis] = order.shape
        values = np.take_along_axis(values, order.reshape(shape), axis=axis)
    return values


def statistics(
    predicted: Trajectory, simulated: Trajectory, subspaces: Subspaces | None = None
) -> Iterator[Difference]:
    """What is compared: all that is shown, then entries of few neurons, or sums over many."""
    yield from shown_numbers(predicted, simulated, subspaces)
    if predicted.many_neurons:
        yield from _summed(predicted, simulated)
        yield from _principal(predicted, simulated)
    else:
        for name in ("overlap", "gram", "gradient_cosine"):
            yield from _entries(name, predicted, simulated)
        yield from _magnitudes(predicted, simulated)


def shown_numbers(
    predicted: Trajectory, simulated: Trajectory, subspaces: Subspaces | None = None
) -> Iterator[Difference]:
    """The numbers of a table: lengths, median cosines, principal cosines, errors, outliers."""
    measured = observed(simulated, subspaces)
    for name, theory in expectations(predicted, subspaces).items():
        if name not in measured:
            continue
        values = measured[name]
        rows, mean = theory.values, theory.mean
        if theory.runs is not None:
            there = theory.runs < len(values)
            values, rows = values[theory.runs[there]], rows[there]
        deviation = theory.deviation
        if name in ERRORS:
            samples = getattr(simulated.setting, ERRORS[name])
            of_samples = square_spread(simulated.setting) / np.sqrt(samples) * mean
            deviation = np.maximum(deviation, of_samples)
        yield Difference(name, values - rows, mean, theory.uncertainty, deviation, shown=True)
    yield from _spectra(predicted, simulated)


def _rows(
    predicted: Trajectory, simulated: Trajectory, name: str
) -> tuple[Float[np.ndarray, "runs ..."], Float[np.ndarray, "rows ..."]] | None:
    """Simulated and predicted values in canonical order, None where one of them has none.

    Rows of a sample of the neurons have no counterpart.
    """
    if name not in simulated.arrays() or name not in predicted.arrays():
        return None
    if predicted.overlap.shape[2] < simulated.overlap.shape[2]:
        return None
    theory = predicted.by_run(ordered(predicted, name))
    return ordered(simulated, name), theory[: simulated.runs] if len(theory) > 1 else theory


def _entries(name: str, predicted: Trajectory, simulated: Trajectory) -> Iterator[Difference]:
    """Every entry of an observable that is predicted."""
    both = _rows(predicted, simulated, name)
    if both is None:
        return
    values, theory = both
    centre = theory.mean(axis=0)
    if name == "gram":  # the same number on both sides of the diagonal
        centre = np.where(np.tri(centre.shape[-1], dtype=bool), centre, np.nan)
    uncertainty: Float[np.ndarray, "t ..."] | float = 0.0
    # Where every run has a row of its own their uncertainties are part of the spread.
    if len(theory) == 1 and f"{name}_uncertainty" in predicted.arrays():
        uncertainty = ordered(predicted, name, "_uncertainty")[0]
    differences = np.where(np.isfinite(centre), values - theory, np.nan)
    deviation = predicted.spread_of_run(ordered(predicted, name))
    yield Difference(name, differences, centre, uncertainty, deviation)


def square_spread(setting: Setting) -> float:
    """sqrt(E y^4 / (E y^2)^2 - 1), that of a residual too: its tails are those of the label.

    The squares of a polynomial of high degree have a mean that rare samples make: runs without one
    agree with each other, and not with the mean.  0 for other targets, whose tails are light.
    """
    power = setting.target.label_power(2)
    if power is None or setting.label_noise.signs:
        return 0.0
    noise, square = setting.noise**2, setting.target.series.square
    fourth = power.square + 6.0 * square * noise + 3.0 * noise**2
    return math.sqrt(max(fourth / (square + noise) ** 2 - 1.0, 0.0))


def _magnitudes(
    predicted: Trajectory, simulated: Trajectory, variance_error: float = 0.2
) -> Iterator[Difference]:
    """sum_i m_ik^2 over the neurons: the squared overlap with a direction, whatever the signs.

    Its mean is that of the prediction and of its fluctuations, E m^2 = (E m)^2 + Var m; an estimate
    of E m has the square of its own error too much.  A predicted variance has the relative error
    ``variance_error``: linear propagation leaves out a tenth, 64 runs leave a fifth.
    """
    both = _rows(predicted, simulated, "overlap")
    deviation = predicted.overlap_deviation
    if both is None or deviation is None:
        return
    values, theory = both
    if predicted.rows_a_run > 1:  # drawn runs, which fluctuate themselves
        of_rows = np.sum(ordered(predicted, "overlap") ** 2, axis=2)
        squares = predicted.by_run(of_rows)[: simulated.runs]
        centre = squares.mean(axis=0)
        differences = np.sum(values**2, axis=2) - squares
        deviation = predicted.spread_of_run(of_rows)
        yield Difference("squared overlap", differences, centre, deviation=deviation)
        return
    spread = deviation[: len(theory)] ** 2
    error = np.zeros_like(theory)
    if predicted.overlap_uncertainty is not None:
        error = ordered(predicted, "overlap", "_uncertainty")[: len(theory)]
    squares = np.sum(theory**2 - error**2 + spread, axis=2)
    if len(theory) > 1:  # deviations may be there for the first rows only
        there = np.isfinite(squares).all(axis=(1, 2))
        squares, values, spread = squares[there], values[there], spread[there]
    centre = squares.mean(axis=0)
    uncertainty = variance_error * np.sum(spread, axis=2).mean(axis=0)
    if len(theory) == 1:
        off = 2.0 * theory[0] * error[0]
        uncertainty = np.hypot(uncertainty, np.sqrt(np.sum(off**2, axis=1)))
    differences = np.sum(values**2, axis=2) - squares
    yield Difference("squared overlap", differences, centre, uncertainty)


def _summed(predicted: Trajectory, simulated: Trajectory) -> Iterator[Difference]:
    """Sums over many neurons that tell a theory: along the predicted overlaps, mean square length.

    Overlaps are projected on the predicted ones, direction by direction, so that the noise of p
    neurons averages out; on the readout where rows are drawn, whose own overlaps have random signs
    in a direction that is not learned.
    """
    both = _rows(predicted, simulated, "overlap")
    if predicted.rows_a_run > 1:
        of_rows, values = _along_readout(predicted), _along_readout(simulated)
        along = predicted.by_run(of_rows)[: len(values)]
        deviation = predicted.spread_of_run(of_rows)
        yield Difference("overlap", values - along, along.mean(axis=0), deviation=deviation)
    elif both is not None:
        values, theory = both
        size = np.sqrt(np.sum(theory**2, axis=2, keepdims=True))
        unit = np.divide(theory, size, where=size > 0, out=0 * theory)
        differences = np.sum((values - theory) * unit, axis=2)
        centre = size[:, :, 0].mean(axis=0)
        centre = np.where(centre > 0, centre, np.nan)
        differences = np.where(np.isfinite(centre), differences, np.nan)
        yield Difference("overlap", differences, centre)
    both = _rows(predicted, simulated, "norms")
    if both is not None:
        of_rows = np.mean(predicted.norms**2, axis=2)
        squares, values = predicted.by_run(of_rows), np.mean(both[0] ** 2, axis=2)
        centre = squares.mean(axis=0)
        differences = values - (squares[: len(values)] if len(squares) > 1 else squares)
        deviation = predicted.spread_of_run(of_rows)
        yield Difference("square length", differences, centre, deviation=deviation)


def _along_readout(trajectory: Trajectory) -> Float[np.ndarray, "rows t r"]:
    """sum_i a_i m_ik/|a|, the overlaps of each row of a record along its readout."""
    readout = trajectory.readout
    assert readout is not None  # the canonical order has asked for it
    unit = readout / np.linalg.norm(readout, axis=1, keepdims=True)
    return np.asarray(np.sum(unit[:, None, :, None] * trajectory.overlap, axis=2))


def _principal(predicted: Trajectory, simulated: Trajectory) -> Iterator[Difference]:
    """Mean squared cosine of the principal angles between the rows and the target directions.

    Each cosine by itself would be biased: the largest of several random ones is large.
    """
    if predicted.span is None or simulated.span is None:
        return
    theory, values = (np.mean(s**2, axis=(2, 3)) for s in (predicted.span, simulated.span))
    theory = theory[: len(values)] if len(theory) > 1 else theory
    centre = theory.mean(axis=0)
    yield Difference("squared principal cosine", values - theory, centre)


def _spectra(predicted: Trajectory, simulated: Trajectory) -> Iterator[Difference]:
    """The k-th singular value where an outlier is predicted, their number, and alignments."""
    for matrix in ("weights", "features"):
        theory, measured = getattr(predicted, matrix), getattr(simulated, matrix)
        if theory is None or measured is None or measured.singular_values is None:
            continue
        rows = slice(simulated.runs if len(theory.outliers) > 1 else 1)
        most = min(theory.outliers.shape[-1], measured.singular_values.shape[-1])
        outliers = theory.outliers[rows, :, :most]
        differences = measured.singular_values[:, :, :most] - outliers
        centre, uncertainty = (
            _mean(np.where(np.isfinite(outliers), part, np.nan))
            for part in (outliers, theory.place_uncertainty[rows, :, :most])
        )
        yield Difference(f"{matrix} outliers", differences, centre, uncertainty, shown=True)
        yield _count(f"{matrix} count", theory, measured, rows, predicted.relative_uncertainty)
        if theory.alignment is not None and measured.alignment is not None:
            most = min(most, measured.alignment.shape[2])
            aligned = theory.alignment[rows, :, :most] ** 2
            # Of runs with a prediction each, those whose outlier is above their threshold.
            counted = outliers[..., :most] > theory.threshold[rows][..., None]
            aligned = np.where(counted, aligned, np.nan)
            # A random direction has r/d; the noise of a step, larger where labels are, has more.
            random = (1.0 - aligned) * simulated.setting.target.r / simulated.setting.d
            differences = measured.alignment[:, :, :most] ** 2 - (aligned + random)
            name = f"{matrix} squared alignment"
            centre, uncertainty = (_mean(part) for part in (aligned + random, random))
            yield Difference(name, differences, centre, uncertainty, shown=True)


def _mean(values: Float[np.ndarray, "runs ..."]) -> Float[np.ndarray, "..."]:
    """Mean over the runs that have a value; NaN where none has."""
    there = np.isfinite(values)
    count = np.sum(there, axis=0)
    total = np.sum(np.where(there, values, 0.0), axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _count(
    name: str,
    theory: Spectrum,
    measured: Spectrum,
    rows: slice,
    left_out: float,
    *,
    clear: float = 3.0,
    least_deviation: float = 0.2,
) -> Difference:
    """Number of singular values above the predicted threshold, where the theory decides it.

    It does where every predicted outlier is ``clear`` standard deviations of a run off the
    threshold.  The count of a run has the standard deviation ``least_deviation`` at least: noise
    passes the threshold once in a hundred runs, 0.1, and twice that for the long tail of a rare
    event, so that two of ten runs have a p-value of 0.01.
    """
    values, count = measured.singular_values, theory.count
    assert values is not None
    assert theory.outliers is not None
    assert theory.threshold is not None
    assert count is not None
    most = values.shape[-1]
    expected = np.minimum(count[rows], most)
    counted = replace(measured, outliers=None).detected(theory).count
    places = theory.outliers[rows, :, :most]
    gaps = np.nanmin(np.abs(places - theory.threshold[rows][..., None]), axis=0, initial=np.inf)
    leading = values[..., : places.shape[-1]]
    deviation = np.hypot(leading.std(axis=0, ddof=1), left_out * leading.mean(axis=0))
    decided = np.all((gaps > clear * deviation) | ~np.isfinite(gaps), axis=-1)
    centre = np.where(decided, expected.mean(axis=0), np.nan)
    differences = np.where(decided, counted - expected, np.nan)
    return Difference(name, differences, centre, deviation=least_deviation, shown=True)
