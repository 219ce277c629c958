"""The theories, as data: each says what it does not cover, and fills the record where it does.

A new theory is a ``Theory`` in ``THEORIES``; the first one without an objection serves.  For the
rows of a data set theory is that of Gaussian inputs, and where none is precise at their sizes,
simulated Gaussian runs serve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, NoTheoryError
from giantstep.gaussian.points import Accuracy
from giantstep.prediction import sampled
from giantstep.prediction.narrow import coverage
from giantstep.prediction.narrow import theory as narrow
from giantstep.prediction.wide import quadratic
from giantstep.prediction.wide import theory as wide
from giantstep.problem.plain import beyond_plain
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Theory:
    """A theory: ``objection`` says in one sentence why it does not cover a setting, or None.

    ``predict`` takes the setting, the readouts of the runs (or the one they share) and the accuracy
    of quadrature, and returns fields of a ``Trajectory``, a row for each readout.  ``left_out`` is
    what it leaves out at the sizes of a setting, relative.  Fields are after every step, those of
    a theory that is ``sparse`` after the recorded ones.  ``wide``: its neurons are many.
    ``from_runs``: it simulates other runs, on Gaussian rows.
    """

    name: str
    objection: Callable[[Setting], str | None]
    predict: Callable[[Setting, Float[np.ndarray, "rows p"], Accuracy], dict[str, Any]]
    left_out: Callable[[Setting], float] = lambda setting: 0.0
    sparse: bool = False
    wide: bool = False
    from_runs: bool = False


THEORIES = (
    Theory("narrow", coverage.objection, narrow.predict, sparse=True),
    Theory("linear-width", wide.objection, wide.predict, wide.left_out, wide=True),
    Theory("quadratic-width", quadratic.objection, wide.predict, wide.left_out, wide=True),
)

PRECISE = 0.02
"""What a theory of wide networks may leave out where that of narrow ones serves too, but takes
longer for many neurons: d = 200 and p = 100."""

ROUGH_ERRORS = 0.2
"""What it may leave out of the readout's errors beside rows of another theory: d = 20, p = 10."""

ROUGH = 0.05
"""What a theory may leave out of the rows of a data set: some tens of runs see as much.  Whitening
counts too: a linear part has no noise in all N rows, and the share n/N less in n of them."""

GAUSSIAN_RUNS = Theory(
    "gaussian-runs", sampled.objection, sampled.predict, sparse=True, from_runs=True
)


def beyond_theory(setting: Setting) -> str | None:
    """What no theory covers but Gaussian runs do, in one sentence; None if there is nothing."""
    if setting.deflate == 2:
        return "deflate must be at most 1 for theory, got 2"
    # Theory takes the first coordinates of given rows for those along the target.
    if setting.data is not None and setting.start_rows is not None and setting.frame != "axes":
        return f"frame must be axes for theory of start_rows, got {setting.frame!r}"
    # At the start its fit is made of overlaps of order d^-1/2 and of the noise of its samples.
    if setting.readout_between == "ridge":
        return "readout_between must be frozen or gradient(size) for theory, got 'ridge'"
    return beyond_plain(setting, "theory", coverage.WORDS)


def whitened_share(setting: Setting) -> float:
    """n/N where all N rows of a data set were whitened together, else 0."""
    data = setting.data
    white = setting.inputs.kind == "whitened"
    return setting.n / len(data.rows) if data is not None and white else 0.0


def theory_of_rows(setting: Setting) -> Theory:
    """For rows that are taken for Gaussian: a theory precise at their sizes, or Gaussian runs."""
    if beyond_theory(setting) is not None:
        return GAUSSIAN_RUNS
    share = whitened_share(setting)
    for theory in THEORIES:
        if theory.objection(setting) is None and max(theory.left_out(setting), share) <= ROUGH:
            return theory
    return GAUSSIAN_RUNS


def choose_theory(setting: Setting, name: str | None = None) -> Theory:
    """The first theory that covers a setting, or the one named; NoTheoryError where none does."""
    names = [theory.name for theory in (*THEORIES, GAUSSIAN_RUNS)]
    if name is not None and name not in names:
        raise InputError(f"theory must be one of {', '.join(names)}, got {name!r}")
    if not (setting.inputs.taken_for_gaussian or setting.inputs.deferrable):
        what = "inputs must be gaussian or spiked for theory"
        raise NoTheoryError(f"no prediction: {what}, got {setting.inputs.text!r}")
    if setting.target.column:
        raise NoTheoryError(
            f"no prediction: target must be a function for theory, got {setting.target.name!r}"
        )
    if name == GAUSSIAN_RUNS.name:
        return GAUSSIAN_RUNS
    # Spectra are predicted by theories alone.
    if name is None and setting.data is not None and not setting.spectra:
        return theory_of_rows(setting)
    if (beyond := beyond_theory(setting)) is not None:
        raise NoTheoryError(f"no prediction: {beyond}")
    asked = [theory for theory in THEORIES if name in (None, theory.name)]
    complaints = {theory.name: theory.objection(setting) for theory in asked}
    serving = [theory for theory in asked if complaints[theory.name] is None]
    if not serving:
        reasons = "; ".join(f"{name}: {complaint}" for name, complaint in complaints.items())
        raise NoTheoryError(f"no prediction: {reasons}")
    return min(serving, key=lambda theory: _preference(theory, setting))


def theory_of_readout(setting: Setting) -> Theory | None:
    """A theory of wide networks that predicts the errors of the readout, to ROUGH_ERRORS."""
    for theory in THEORIES:
        if not theory.wide or theory.objection(setting) is not None:
            continue
        if theory.left_out(setting) <= ROUGH_ERRORS and quadratic.turn_objection(setting) is None:
            return theory
    return None


def _preference(theory: Theory, setting: Setting) -> int:
    """The smaller the better: what is fast and precise, what is exact, what is asked for.

    Only theories of wide networks predict spectra.
    """
    if theory.wide and (setting.spectra or theory.left_out(setting) <= PRECISE):
        return 0
    return 2 if theory.wide else 1
