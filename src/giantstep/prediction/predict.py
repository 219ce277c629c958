"""Predict a setting from theory: the same record the simulator fills, with uncertainties."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.points import SCRAMBLES, Accuracy
from giantstep.prediction.narrow.state import typical_start
from giantstep.prediction.recording import recorded
from giantstep.prediction.theories import Theory, choose_theory, theory_of_readout
from giantstep.problem.network import start_readout
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory


def predict(
    setting: Setting,
    *,
    theory: str | None = None,
    scrambles: int = SCRAMBLES,
    log2_points: int | None = None,
    deviations: bool = True,
    draws: int | None = None,
) -> Trajectory:
    """Predict overlaps, Gram matrices, errors and spectra after each step, with uncertainties.

    The theory that serves is named in the record: that of narrow networks where p or d is small,
    that of linear width (n, d, p in proportion) where both are large, that of quadratic width where
    n or p are of the order of d^2; ``theory`` overrides the choice.  NoTheoryError says why none
    serves (``limits``); what a theory covers in part has NaN for the rest, and a note.

    ``*_uncertainty`` is the error of the numbers themselves: of quadrature, as a standard error
    over ``scrambles`` of 2^``log2_points`` points (None: as many as half a second allows).
    ``*_deviation`` is by how much one run differs from the mean, by its start and its batches;
    without ``deviations`` it is left out, which halves the time for many neurons.  ``draws`` bounds
    the runs that are drawn where theory needs some: four make a draft.  Where the start decides,
    and where the readout differs, every run has a row of its own.

    Narrow: the recursion of the means, exact for one fresh step (docs/derivations/fluctuations.md),
    long runs in groups (long_runs.md), reused batches by the effective process at n/d, runs drawn
    from the law of each step where they differ much (drawn_runs.md), and a readout to order
    1/readout_n and p/d (readout.md).  Linear and quadratic width: leading order, whose next terms
    are of relative order 1/d (closed_system.md, two_step.md, quadratic.md).  The rows of a data set
    are taken for N(0, I), and a note says how far from it they are.

    Papers: arXiv 2305.18270 (narrow, fresh), arXiv 2402.03220 (reused), arXiv 2310.07891 and arXiv
    2605.17767 (linear width), arXiv 2403.08160 (quadratic width).

    >>> from giantstep import Setting, predict
    >>> prediction = predict(Setting("x1", d=10_000, p=4, steps=1, readout_n=0, test_n=0))
    >>> prediction.theory
    'narrow'
    """
    if scrambles < 2:
        raise InputError(f"scrambles must be at least 2 for an uncertainty, got {scrambles}")
    if draws is not None and draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
    chosen = choose_theory(setting, theory)
    begin = time.perf_counter()
    readouts = _readouts(setting)
    accuracy = Accuracy(scrambles, log2_points, deviations, draws)
    fields = chosen.predict(setting, readouts, accuracy)
    if setting.readout_n and "test_error" not in fields and theory is None:
        fields |= _readout_errors(setting, readouts, accuracy, fields)
    return _trajectory(setting, chosen, {"readout": readouts} | fields, begin)


def _trajectory(
    setting: Setting, theory: Theory, fields: dict[str, Any], begin: float
) -> Trajectory:
    """The record of a prediction that began at a time, after the recorded steps."""
    if not theory.sparse:
        fields = recorded(setting, fields)
    if setting.data is not None:
        fields["notes"] = (*fields.get("notes", ()), setting.data.far_from_gaussian)
    return Trajectory(
        setting,
        engine="theory",
        theory=theory.name,
        seconds=time.perf_counter() - begin,
        many_neurons=theory.many_neurons,
        from_runs=theory.from_runs,
        **fields,
    )


def _readout_errors(
    setting: Setting,
    readouts: Float[np.ndarray, "rows p"],
    accuracy: Accuracy,
    fields: dict[str, Any],
) -> dict[str, Any]:
    """Errors of the readout by a theory of wide networks, beside rows of another theory."""
    other = theory_of_readout(setting)
    if other is None:
        return {}
    predicted = other.predict(setting.vary(spectra=0), readouts, accuracy)
    errors = {n: predicted[n] for n in ("train_error", "test_error") if n in predicted}
    rows = len(fields["overlap"])
    left_out = other.left_out_of_errors(setting)
    note = (
        f"The readout errors are predicted by the theory {other.name}. They are uncertain by "
        f"about {left_out:.0%}."
    )
    kept = [text for text in fields["notes"] if "readout errors" not in text]
    others = [text for text in predicted["notes"] if "errors" in text]
    return {name: np.resize(values, (rows, values.shape[1])) for name, values in errors.items()} | {
        "readout_relative_uncertainty": left_out,
        "notes": (*kept, *([note] if errors else []), *others),
    }


def _readouts(setting: Setting) -> Float[np.ndarray, "rows p"]:
    """The readout all runs share up to the order of neurons, or that of every run."""
    balanced = setting.start.kind.paired and setting.readout_law.one_size
    if balanced or setting.readout_law.fixed:
        return typical_start(setting).readout[None]
    return np.stack([start_readout(setting, run) for run in range(setting.runs)])
