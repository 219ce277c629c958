"""A Trajectory as a few numbers for each run and step: the columns of a tidy table."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from giantstep.problem.setting import Setting
from giantstep.records.trajectory import SPECTRA, Trajectory

DRAWN = 128
"""Runs drawn around a prediction: their mean is off by 1/11 of what one run fluctuates by."""

ERRORS = ("train_error", "test_error", "network_error")


def names(setting: Setting) -> list[str]:
    """The observables that runs of a setting have."""
    each = range(1, setting.target.r + 1)
    found = ["norm", "alignment", *(f"cosine_{k}" for k in each)]
    found += [f"principal_cosine_{k}" for k in each]
    found += ERRORS if setting.readout_n else ()
    spectra = ("weights", "features") if setting.readout_n else ("weights",)
    return found + [f"{matrix}_singular_value" for matrix in spectra if setting.spectra]


def observed(trajectory: Trajectory) -> dict[str, Float[np.ndarray, "runs t"]]:
    """Lengths, alignment, errors and leading singular values, a number for each run and step.

    ``norm`` is the mean length of the rows; ``alignment`` the median over neurons of |P w_i|/|w_i|,
    P the projection on the target's directions, ``cosine_k`` the same for w*_k alone;
    ``principal_cosine_k`` those of the span of the rows with the span of the target.
    """
    return _of_rows(trajectory) | _others(trajectory)


def expected(prediction: Trajectory) -> dict[str, Float[np.ndarray, " t"]]:
    """The same numbers of a prediction, averaged over its rows; NaN where it has none.

    What one run shows of a direction it has not learned is its fluctuation, so that magnitudes are
    those of runs drawn around the prediction.  Without ``overlap_deviation`` those below d^(-1/2),
    a random row's, are not known.
    """
    found = _of_rows(prediction.drawn(DRAWN)) | _others(prediction)
    means = {name: values.mean(axis=0) for name, values in found.items()}
    if prediction.overlap_deviation is None:
        random = prediction.setting.d**-0.5
        for name in ("alignment", *(name for name in means if name.startswith("cosine_"))):
            means[name] = np.where(means[name] < random, np.nan, means[name])
    return means


def _of_rows(trajectory: Trajectory) -> dict[str, Float[np.ndarray, "runs t"]]:
    r = trajectory.overlap.shape[-1]
    cosines = np.median(np.abs(trajectory.cosine), axis=2)
    found = {
        "norm": trajectory.norms.mean(axis=2),
        "alignment": np.median(trajectory.alignment(np.eye(r)), axis=2),
    }
    found |= {f"cosine_{k + 1}": cosines[..., k] for k in range(r)}
    if trajectory.span is not None:
        principal = trajectory.principal_cosines(np.eye(r))
        found |= {f"principal_cosine_{k + 1}": principal[..., k] for k in range(r)}
    return found


def _others(trajectory: Trajectory) -> dict[str, Float[np.ndarray, "runs t"]]:
    named = {name: getattr(trajectory, name) for name in ERRORS}
    for matrix in SPECTRA:
        spectrum = getattr(trajectory, matrix)
        # The start has no gradient.
        if matrix != "gradients" and spectrum is not None and spectrum.singular_values is not None:
            named[f"{matrix}_singular_value"] = spectrum.singular_values[..., 0]
    return {name: values for name, values in named.items() if values is not None}
