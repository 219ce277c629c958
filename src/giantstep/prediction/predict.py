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
from giantstep.prediction.theories import choose_theory, theory_of_readout
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
) -> Trajectory:
    """Overlaps, Gram matrices, errors and spectra after each step; it names its theory.

    The theory is that of narrow networks where p or d is small, that of linear width (n, d, p in
    proportion) where both are large, that of quadratic width where n or p are of the order of d^2;
    ``theory`` overrides the choice.  Raises NoTheoryError where none covers the setting (``limits``
    lists all conditions); what a theory covers in part has NaN for the rest, and a note.

    Narrow networks start from the typical start (random overlaps of order d^-1/2 set to zero), and
    ``*_deviation`` is how far one run strays from the means, by its start and its batches.  Where
    the start decides, every run has a row predicted from its own start, and deviations are those of
    the batches alone (docs/derivations/fluctuations.md).  Without ``deviations`` they are left out,
    which takes half the time for many neurons.
    Fresh batches: the exact recursion of the means, with weight decay, any loss, transformed labels
    and biases (every run with its own, of the steps or of the readout alone), and up to 1/n with
    normalised rows and updates, up to p/d with orthogonal ones, also along a spike of the inputs;
    batches that are seen again (reused, repeated, drawn from a fixed set): the effective process at
    n/d, with most of these words.
    Where all runs share a row, expectations over at most three coordinates are exact (their
    uncertainty is the change from a coarser rule); else they are randomised quasi-Monte Carlo, the
    uncertainties the spread over independent scrambles, as standard errors of their mean.
    ``log2_points`` are the points a scramble; None takes as many, of all scrambles and rows, as
    half a second allows, and where runs have rows of their own it is no more than that.  Batches
    of at most d/20 samples are covered up to p = d/2.  For more neurons, and where runs differ from
    their mean by more than a tenth of the length of a row, states are drawn from the law of each
    step, every run from its own start (docs/derivations/drawn_runs.md).  More than 100 steps on
    fresh batches are taken in groups (docs/derivations/long_runs.md): where network and target are
    sums of erf units the averages have closed forms, the uncertainty is the change from longer
    groups, and means over runs count what fluctuations shift them by (runs may then differ from
    the mean by a fifth).  The readout's errors
    are means over starts and batches, to order p/d and 1/readout_n, with the penalty chosen as the
    simulator does (docs/derivations/readout.md); their uncertainty counts the next order of
    1/readout_n, not of p/d.  Linear width: rows to
    leading order, spectra where the setting asks for them and the readout's errors; what it leaves
    out is of relative order 1/d and not estimated.  Quadratic width: the same after at most one
    step, without the spectrum of the features.  A readout that differs from run to run is predicted
    for each run with its own.

    The rows of a data set are taken for N(0, I), which a note says how far they are from; where no
    theory is precise at its sizes every run is predicted by a simulated one on Gaussian rows
    (``theory="gaussian-runs"``).

    Papers: arXiv 2305.18270 (narrow, fresh), arXiv 2402.03220 (reused), arXiv 2310.07891 and arXiv
    2605.17767 (linear width), arXiv 2403.08160 (quadratic width).

    >>> from giantstep import Setting, predict
    >>> found = predict(Setting("x1", d=10_000, p=4, steps=1, readout_n=0, test_n=0))
    >>> found.theory
    'narrow'
    """
    if scrambles < 2:
        raise InputError(f"scrambles must be at least 2 for an uncertainty, got {scrambles}")
    chosen = choose_theory(setting, theory)
    begin = time.perf_counter()
    readouts = _readouts(setting)
    accuracy = Accuracy(scrambles, log2_points, deviations)
    found = chosen.predict(setting, readouts, accuracy)
    if setting.readout_n and "test_error" not in found and theory is None:
        found |= _readout_errors(setting, readouts, accuracy, found)
    if not chosen.sparse:
        found = recorded(setting, found)
    seconds = time.perf_counter() - begin
    record: dict[str, Any] = {
        "readout": readouts,
        "many_neurons": chosen.many_neurons,
        "from_runs": chosen.from_runs,
    }
    record |= found
    if setting.data is not None:
        record["notes"] = (*record.get("notes", ()), setting.data.far_from_gaussian)
    return Trajectory(setting, engine="theory", seconds=seconds, theory=chosen.name, **record)


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
    left_out = other.left_out(setting)
    note = f"readout errors are those of the theory {other.name}, to within about {left_out:.0%}"
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
