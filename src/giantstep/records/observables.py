"""A Trajectory as a few numbers for each run and step: what tables, maps and verdicts are made of.

``observed`` are those of single runs, ``expectations`` what a theory expects of their means: the
same names, so that whatever is shown of a prediction is compared with what is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from giantstep.problem.setting import Setting
from giantstep.records.draws import rows_with_deviations
from giantstep.records.trajectory import Trajectory

SHARES = {
    "cosines of one row": 0.1,
    "cosines of many rows": 0.25,
    "principal cosines of many rows": 1.0,
    "others": 0.5,
}
"""Relative uncertainty of what fluctuations make of a number after a step.  Deviations of one row
are good to a tenth (64 columns or runs), those of many rows to a quarter, and which of lengths,
overlaps and neurons fluctuate together is modelled, not derived: principal cosines of many rows
were off by as much as fluctuations make of them.  At the start all is exact."""

UNKNOWN = 0.3
"""Relative uncertainty from which on a number is not known: theory has its order alone, and a
comparison could hardly fail."""

ERRORS = ("train_error", "test_error", "network_error")

Subspaces = Mapping[str, Float[np.ndarray, "_ r"]]


def directions(setting: Setting) -> Subspaces:
    """The span of the target directions, and each of them: ``alignment`` and ``cosine_k``."""
    each = np.eye(setting.target.r)
    return {"alignment": each} | {f"cosine_{k + 1}": each[k : k + 1] for k in range(len(each))}


def names(setting: Setting) -> list[str]:
    """The observables that runs of a setting have."""
    principal = [f"principal_cosine_{k}" for k in range(1, setting.target.r + 1)]
    errors = ERRORS if setting.readout_n else ()
    matrices = ("weights", "features") if setting.readout_n else ("weights",)
    spectra = [f"{matrix}_singular_value" for matrix in matrices if setting.spectra]
    return ["norm", *directions(setting), *principal, *errors, *spectra]


def observed(
    trajectory: Trajectory, subspaces: Subspaces | None = None
) -> dict[str, Float[np.ndarray, "runs t"]]:
    """Lengths, alignment, errors and leading singular values, a number for each run and step.

    ``norm`` is the mean length of the rows; ``alignment`` the median over neurons of |P w_i|/|w_i|,
    P the projection on the target's directions, ``cosine_k`` the same for w*_k alone (or for the
    ``subspaces`` by their names); ``principal_cosine_k`` those of the span of the rows with the
    span of the target.
    """
    others = {name: getattr(trajectory, name) for name in ERRORS}
    # The start has no gradient.
    for matrix in ("weights", "features"):
        spectrum = getattr(trajectory, matrix)
        if spectrum is not None and spectrum.singular_values is not None:
            others[f"{matrix}_singular_value"] = spectrum.singular_values[..., 0]
    present = {name: values for name, values in others.items() if values is not None}
    return _of_rows(trajectory, subspaces) | present


def _of_rows(
    trajectory: Trajectory, subspaces: Subspaces | None = None
) -> dict[str, Float[np.ndarray, "runs t"]]:
    if subspaces is None:
        subspaces = directions(trajectory.setting)
    values = {"norm": trajectory.norms.mean(axis=2)}
    for name, basis in subspaces.items():
        values[name] = np.median(trajectory.alignment(basis), axis=2)
    if trajectory.span is not None:
        r = trajectory.overlap.shape[-1]
        cosines = trajectory.principal_cosines(np.eye(r))
        values |= {f"principal_cosine_{k + 1}": cosines[..., k] for k in range(r)}
    return values


@dataclass(frozen=True)
class Expectation:
    """What a theory expects of an observable: a row for all runs, or one each for the ``runs``.

    ``uncertainty`` is that of the mean over the rows, without what the theory leaves out of all its
    numbers; NaN stands where nothing is known.  ``deviation`` is the standard deviation of a run
    from its own start, where rows that are drawn show it.
    """

    values: Float[np.ndarray, "rows t"]
    uncertainty: Float[np.ndarray, " t"]
    runs: Int[np.ndarray, " rows"] | None
    deviation: Float[np.ndarray, " t"] | float = 0.0

    @property
    def mean(self) -> Float[np.ndarray, " t"]:
        return self.values.mean(axis=0)


def expectations(
    prediction: Trajectory, subspaces: Subspaces | None = None
) -> dict[str, Expectation]:
    """What theory expects of each observable that it knows.

    What one run shows of a direction it has not learned is its fluctuation, so that magnitudes are
    those of runs drawn around the prediction.  Their uncertainty is that of the drawing, that of
    quadrature, and a share (SHARES) of what fluctuations make of the number.
    """
    if subspaces is None:
        subspaces = directions(prediction.setting)
    rows = rows_with_deviations(prediction)
    many = len(rows) > 1
    drawn = prediction.drawn(_draws(prediction, len(rows)))
    draws = drawn.runs // len(rows)
    at_means = _of_rows(prediction, subspaces)
    expectations = {}
    for name, values in _of_rows(drawn, subspaces).items():
        by_draw = values.reshape(draws, len(rows), -1)
        mean = by_draw.mean(axis=0)
        fluctuation = np.abs(mean.mean(axis=0) - at_means[name][rows].mean(axis=0))
        uncertainty = _shares(prediction, _kind_of(name, subspaces, many=many)) * fluctuation
        if name.startswith("principal") and _spans_are_of_means(prediction):
            mean = np.full_like(mean, np.nan)
        error = _blur(prediction, rows, name, subspaces, mean.mean(axis=0))
        if not many:  # else both are part of the spread over the runs
            error = _quadrature(prediction, name, subspaces, mean[0])
            if draws > 1:
                error = np.hypot(error, by_draw.std(axis=(0, 1), ddof=1) / np.sqrt(draws))
        uncertainty = np.hypot(uncertainty, error)
        expectations[name] = Expectation(mean, uncertainty, rows if many else None)
    expectations |= _errors(prediction)
    if prediction.rows_a_run > 1:
        expectations = {name: _by_run(prediction, each) for name, each in expectations.items()}
    left_out = prediction.relative_uncertainty
    return {name: _where_known(each, left_out) for name, each in expectations.items()}


def _by_run(prediction: Trajectory, theory: Expectation) -> Expectation:
    """The mean over the rows of each run, which is what tables show of them all."""
    values, deviation = prediction.by_run(theory.values), prediction.spread_of_run(theory.values)
    return replace(theory, values=values, runs=np.arange(len(values)), deviation=deviation)


def _spans_are_of_means(prediction: Trajectory) -> bool:
    """Whether spans are those of the mean rows, which hold less of a direction than a run does."""
    return prediction.overlap_deviation is None and prediction.gram_uncertainty is not None


def _where_known(theory: Expectation, left_out: float) -> Expectation:
    """NaN where the uncertainty is too large a share of the number."""
    size = np.abs(theory.mean)
    unknown = np.hypot(theory.uncertainty, left_out * size) > UNKNOWN * size
    return replace(theory, values=np.where(unknown, np.nan, theory.values))


def expected(prediction: Trajectory) -> dict[str, Float[np.ndarray, " t"]]:
    """The observables of a prediction, averaged over its rows; NaN where theory has no number."""
    return {name: theory.mean for name, theory in expectations(prediction).items()}


def _draws(
    prediction: Trajectory,
    rows: int,
    *,
    runs: int = 1024,
    runs_a_row: int = 8,
    most_numbers: int = 2**20,
) -> int:
    """Runs to draw around a prediction, as far as they are quickly drawn.

    The mean of 1024 runs is off by 1/32 of what one run fluctuates by; eight runs around each of
    many rows add a sixteenth to the spread over the rows; 2^20 numbers take a tenth of a second.
    """
    _, steps, p, r = prediction.overlap.shape
    numbers = steps * (p * (r + 4) + (0 if prediction.gram_deviation is None else p**2))
    return min(max(runs, runs_a_row * rows), max(most_numbers // numbers, rows))


def _kind_of(name: str, subspaces: Subspaces, *, many: bool) -> str:
    """The name in SHARES of an observable."""
    if name in subspaces:
        return f"cosines of {'many rows' if many else 'one row'}"
    principal = name.startswith("principal") and many
    return "principal cosines of many rows" if principal else "others"


def _shares(prediction: Trajectory, kind: str) -> Float[np.ndarray, " t"]:
    """What is not known of the effect of fluctuations, step by step: all of it without deviations.

    The start itself is known exactly.
    """
    steps = prediction.overlap.shape[1]
    if prediction.overlap_deviation is None:
        return np.ones(steps)
    return np.where(np.arange(steps) == 0, 0.0, SHARES[kind])


def _quadrature(
    prediction: Trajectory, name: str, subspaces: Subspaces, mean: Float[np.ndarray, " t"]
) -> Float[np.ndarray, " t"]:
    """What quadrature leaves open of the one row of a prediction: root mean squares over neurons.

    Of a principal cosine the relative error of all overlaps.
    """
    norms, overlap = prediction.norms[0], prediction.overlap[0]
    lengths = prediction.norms_uncertainty
    relative = 0.0 * mean if lengths is None else _size(lengths[0] / norms)
    if name == "norm" or prediction.overlap_uncertainty is None:
        return mean * relative
    squares = prediction.overlap_uncertainty[0] ** 2
    if name in subspaces:
        along = np.sqrt(np.sum(squares @ (subspaces[name] ** 2).T, axis=2))
        return np.hypot(mean * relative, _size(along / norms))
    size = np.maximum(np.sum(overlap**2, axis=(1, 2)), np.finfo(float).tiny)
    share = np.sqrt(np.minimum(np.sum(squares, axis=(1, 2)) / size, 1.0))
    return mean * np.hypot(relative, share)


def _blur(
    prediction: Trajectory,
    rows: Int[np.ndarray, " rows"],
    name: str,
    subspaces: Subspaces,
    mean: Float[np.ndarray, " t"],
    *,
    median: float = 0.455,
) -> Float[np.ndarray, " t"]:
    """What errors of quadrature make of the median cosine of many rows, where all have some.

    Errors up to the deviation of a run take its place in drawn runs; the remainder is too much.
    ``median`` is the squared median of |N(0, 1)|.
    """
    error, deviation = prediction.overlap_uncertainty, prediction.overlap_deviation
    if error is None or name not in subspaces:
        return np.zeros_like(mean)
    squares = error[rows] ** 2
    if deviation is not None:
        squares = squares - deviation[rows] ** 2
    along = np.sum(squares @ (subspaces[name] ** 2).T, axis=-1)
    norms = np.maximum(prediction.norms[rows], np.finfo(float).tiny)
    excess = np.maximum(np.mean(along / norms**2, axis=(0, 2)), 0.0)
    return mean - np.sqrt(np.maximum(mean**2 - median * excess, 0.0))


def _size(values: Float[np.ndarray, "t p"]) -> Float[np.ndarray, " t"]:
    """Root mean square over the neurons."""
    return np.sqrt(np.mean(values**2, axis=1))


def _errors(prediction: Trajectory) -> dict[str, Expectation]:
    """What theory expects of the errors of the readout and of the network itself."""
    expectations = {}
    for name in ERRORS:
        values = getattr(prediction, name)
        if values is not None:
            many = len(values) > 1
            uncertainty = np.zeros(values.shape[1])
            of_quadrature = getattr(prediction, f"{name}_uncertainty")
            if of_quadrature is not None and not many:
                uncertainty = of_quadrature[0]
            if name != "network_error":
                left_out = prediction.readout_relative_uncertainty * np.abs(values.mean(axis=0))
                uncertainty = np.hypot(uncertainty, left_out)
            runs = np.arange(len(values)) if many else None
            expectations[name] = Expectation(values, uncertainty, runs)
    return expectations
