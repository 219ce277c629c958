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
from giantstep.records.draws import known_rows
from giantstep.records.trajectory import SPECTRA, Trajectory

DRAWN = 1024
"""Runs drawn around a prediction: their mean is off by 1/32 of what one run fluctuates by."""

DRAWN_A_ROW = 8
"""Runs drawn around each of many rows: they add a sixteenth to the spread over the runs."""

WORK = 2**20
"""Numbers of all drawn runs, p^2 and some a step: a tenth of a second."""

SHARES = {"cosines of one row": 0.1, "cosines of many rows": 0.25, "others": 0.5}
"""What is not known of the effect of fluctuations after a step, relative: deviations of one row are
good to a tenth (64 columns or runs), those of many to a quarter, and which of lengths, overlaps and
neurons fluctuate together is modelled, not derived.  At the start all of it is exact."""

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
    found = ["norm", *directions(setting)]
    found += [f"principal_cosine_{k}" for k in range(1, setting.target.r + 1)]
    found += ERRORS if setting.readout_n else ()
    spectra = ("weights", "features") if setting.readout_n else ("weights",)
    return found + [f"{matrix}_singular_value" for matrix in spectra if setting.spectra]


def observed(
    trajectory: Trajectory, subspaces: Subspaces | None = None
) -> dict[str, Float[np.ndarray, "runs t"]]:
    """Lengths, alignment, errors and leading singular values, a number for each run and step.

    ``norm`` is the mean length of the rows; ``alignment`` the median over neurons of |P w_i|/|w_i|,
    P the projection on the target's directions, ``cosine_k`` the same for w*_k alone (or for the
    ``subspaces`` by their names); ``principal_cosine_k`` those of the span of the rows with the
    span of the target.
    """
    named = {name: getattr(trajectory, name) for name in ERRORS}
    for matrix in SPECTRA:
        spectrum = getattr(trajectory, matrix)
        # The start has no gradient.
        if matrix != "gradients" and spectrum is not None and spectrum.singular_values is not None:
            named[f"{matrix}_singular_value"] = spectrum.singular_values[..., 0]
    errors = {name: values for name, values in named.items() if values is not None}
    return _of_rows(trajectory, subspaces) | errors


def _of_rows(
    trajectory: Trajectory, subspaces: Subspaces | None = None
) -> dict[str, Float[np.ndarray, "runs t"]]:
    if subspaces is None:
        subspaces = directions(trajectory.setting)
    r = trajectory.overlap.shape[-1]
    found = {"norm": trajectory.norms.mean(axis=2)}
    found |= {
        name: np.median(trajectory.alignment(basis), axis=2) for name, basis in subspaces.items()
    }
    if trajectory.span is not None:
        principal = trajectory.principal_cosines(np.eye(r))
        found |= {f"principal_cosine_{k + 1}": principal[..., k] for k in range(r)}
    return found


@dataclass(frozen=True)
class Expectation:
    """What a theory expects of an observable: a row for all runs, or one each for the ``runs``.

    ``uncertainty`` is that of the mean over the rows, without what the theory leaves out of all its
    numbers; NaN stands where nothing is known.
    """

    values: Float[np.ndarray, "rows t"]
    uncertainty: Float[np.ndarray, " t"]
    runs: Int[np.ndarray, " rows"] | None

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
    known = known_rows(prediction)
    many = len(known) > 1
    runs = known if many else None
    drawn = prediction.drawn(_draws(prediction, len(known)))
    each = drawn.runs // len(known)
    at_means = _of_rows(prediction, subspaces)
    found = {}
    for name, values in _of_rows(drawn, subspaces).items():
        rows = values.reshape(each, len(known), -1)
        mean = rows.mean(axis=0)
        fluctuation = np.abs(mean.mean(axis=0) - at_means[name][known].mean(axis=0))
        uncertainty = _shares(prediction, cosine=name in subspaces, many=many) * fluctuation
        if name.startswith("principal") and _spans_are_of_means(prediction):
            mean = np.full_like(mean, np.nan)
        if not many:  # else both are part of the spread over the runs
            error = _quadrature(prediction, name, subspaces, mean[0])
            if each > 1:
                error = np.hypot(error, rows.std(axis=(0, 1), ddof=1) / np.sqrt(each))
            uncertainty = np.hypot(uncertainty, error)
        found[name] = Expectation(mean, uncertainty, runs)
    found |= _errors(prediction)
    if prediction.rows_a_run > 1:
        found = {name: _by_run(prediction, theory) for name, theory in found.items()}
    left_out = prediction.relative_uncertainty
    return {name: _where_known(theory, left_out) for name, theory in found.items()}


def _by_run(prediction: Trajectory, theory: Expectation) -> Expectation:
    """The mean over the rows of each run, which is what tables show of them all."""
    values = prediction.by_run(theory.values)
    return replace(theory, values=values, runs=np.arange(len(values)))


def _spans_are_of_means(prediction: Trajectory) -> bool:
    """Whether spans are those of the mean rows, which hold less of a direction than a run does."""
    return prediction.overlap_deviation is None and prediction.gram_uncertainty is not None


def _where_known(theory: Expectation, left_out: float) -> Expectation:
    """NaN where the uncertainty is too large a share of the number."""
    size = np.abs(theory.mean)
    unknown = np.hypot(theory.uncertainty, left_out * size) > UNKNOWN * size
    return replace(theory, values=np.where(unknown, np.nan, theory.values))


def expected(prediction: Trajectory) -> dict[str, Float[np.ndarray, " t"]]:
    """The same numbers of a prediction, averaged over its rows; NaN where it has none."""
    return {name: found.mean for name, found in expectations(prediction).items()}


def _draws(prediction: Trajectory, rows: int) -> int:
    """Runs to draw: enough for their mean, as far as they are quickly drawn."""
    _, steps, p, r = prediction.overlap.shape
    numbers = steps * (p * (r + 4) + (0 if prediction.gram_deviation is None else p**2))
    return min(max(DRAWN, DRAWN_A_ROW * rows), max(WORK // numbers, rows))


def _shares(prediction: Trajectory, *, cosine: bool, many: bool) -> Float[np.ndarray, " t"]:
    """What is not known of the effect of fluctuations, step by step: all of it without deviations.

    The start itself is known exactly.
    """
    steps = prediction.overlap.shape[1]
    if prediction.overlap_deviation is None:
        return np.ones(steps)
    kind = f"cosines of {'many rows' if many else 'one row'}" if cosine else "others"
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


def _size(values: Float[np.ndarray, "t p"]) -> Float[np.ndarray, " t"]:
    """Root mean square over the neurons."""
    return np.sqrt(np.mean(values**2, axis=1))


def _errors(prediction: Trajectory) -> dict[str, Expectation]:
    found = {}
    for name in ERRORS:
        values = getattr(prediction, name)
        if values is not None:
            many = len(values) > 1
            own = getattr(prediction, f"{name}_uncertainty")
            uncertainty = np.zeros(values.shape[1]) if many or own is None else own[0]
            if name != "network_error":
                left_out = prediction.readout_relative_uncertainty * np.abs(values.mean(axis=0))
                uncertainty = np.hypot(uncertainty, left_out)
            found[name] = Expectation(values, uncertainty, np.arange(len(values)) if many else None)
    return found
