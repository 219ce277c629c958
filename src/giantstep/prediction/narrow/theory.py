"""The theory of narrow networks, p fixed as d grows: fresh batches exactly, reused in the limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import NoTheoryError
from giantstep.gaussian.points import Accuracy, normal_points
from giantstep.prediction.narrow import finite_runs, readout, reused
from giantstep.prediction.narrow.draws import drawn_errors
from giantstep.prediction.narrow.fluctuations import covers, deviations, start_columns
from giantstep.prediction.narrow.fresh import Evolution, state_evolution
from giantstep.prediction.narrow.points import Quadrature, exact_quadrature, sobol_quadrature
from giantstep.prediction.narrow.start import Start, start_of_run, typical_start
from giantstep.problem.network import start_rows
from giantstep.problem.setting import Setting
from giantstep.problem.starts import STARTS, known_span
from giantstep.records.trajectory import span_factor

LARGEST_SHARE = 0.05
"""Beyond this share of d the p(p+1)/2 fluctuating inner products are no longer small."""

LOG2_POINTS_OF_ROWS = 20
"""Points of all rows together, as a power of two, where runs have rows of their own."""

FEWEST_LOG2_POINTS = 10
"""Points a scramble, however many the rows."""

SMALL = 0.05
"""Share of a row's length up to which what the random start does to its overlaps is small: what
is left out of the mean is of the order of its square, 1/400."""

PROBES = 8
"""Starts drawn to see what the random start does."""

LOG2_POINTS_A_PROBE = 12
"""Points of a probe: all share them with the typical start, so that their error cancels."""

LOG2_POINTS_A_DRAW = 13
"""Points of a drawn run, whose own fluctuations are larger than the error of its quadrature."""

FINITE_RUNS, FEWEST_RUNS = 64, 8
"""Runs that tell standard deviations where there is no recursion for them, to 9 %, and where every
run has a row of its own, to 27 % each."""

EXACT_ORDERS = (12, 18)
"""Orders of the exact rules: the second one is taken, the first tells its error."""

EXACT = 1e-6
"""Relative change between the two above which the rows are too steep for them: Sobol serves."""


@dataclass(frozen=True)
class Row:
    """Observables and their uncertainties from one start; ``exact``: by a rule, not by a sample."""

    observed: dict[str, tuple[np.ndarray, np.ndarray]]
    exact: bool


def objection(setting: Setting) -> str | None:
    """Why the theory does not cover a setting, None if it does."""
    if setting.p > LARGEST_SHARE * setting.d:
        return f"p must be small against d, got p = {setting.p} and d = {setting.d}"
    if setting.readout_batch == "last":
        return "readout_batch must be fresh, got 'last'"
    return None


def predict(
    setting: Setting, readouts: Float[np.ndarray, "rows p"], accuracy: Accuracy
) -> dict[str, Any]:
    """Fields of the record: a row for each readout, or for each run where its start decides."""
    try:
        with np.errstate(all="ignore"):
            return _predict(setting, readouts, accuracy)
    except np.linalg.LinAlgError:
        raise NoTheoryError("no prediction: the recursion leaves the finite numbers") from None


def _predict(
    setting: Setting, readouts: Float[np.ndarray, "rows p"], accuracy: Accuracy
) -> dict[str, Any]:
    starts = [typical_start(setting, entries) for entries in readouts]
    own = not STARTS[setting.start].framed and start_share(setting, starts[0]) > SMALL
    if own:
        starts = [start_of_run(setting, run) for run in range(setting.runs)]
    if len(starts) > 1:
        # The many rows share the work: their uncertainties average out.
        most = LOG2_POINTS_OF_ROWS - math.ceil(math.log2(2 * len(starts)))
        accuracy = Accuracy(2, min(accuracy.log2_points, max(most, FEWEST_LOG2_POINTS)))
    found = [
        _exact(setting, start) or _sampled(setting, start, row, accuracy)
        for row, start in enumerate(starts)
    ]
    complaint = readout.objection(setting) if setting.readout_n else None
    fitted = setting.readout_n > 0 and complaint is None
    if fitted:
        for row, start in enumerate(starts):
            found[row].observed.update(_fitted(setting, start, row, accuracy, own=own))
    arrays: dict[str, Any] = {"readout": np.stack([start.readout for start in starts])}
    for name in found[0].observed:
        values = np.stack([row.observed[name][0] for row in found])
        if not np.all(np.isfinite(values)):
            raise NoTheoryError(f"no prediction: {name.replace('_', ' ')} is not finite")
        spread = np.stack([row.observed[name][1] for row in found])
        if name.endswith("_error"):  # a mean square is not negative: what is below 0 is uncertain
            spread, values = np.maximum(spread, -values), np.maximum(values, 0.0)
        arrays |= {name: values, f"{name}_uncertainty": spread}
    # A change between two rules is a bound, not an estimate from a sample.
    exact = all(row.exact for row in found) and not fitted
    freedom = None if exact else accuracy.scrambles - 1
    notes = () if complaint is None else (f"no prediction of readout errors: {complaint}",)
    arrays |= _of_gram(arrays) | {"uncertainty_freedom": freedom, "notes": notes}
    arrays["own_runs"] = own or len(starts) > 1
    return arrays | _deviations(setting, starts, arrays, own=own)


def start_share(setting: Setting, typical: Start) -> float:
    """How far a random start moves an overlap, in lengths of its row: the largest of any step.

    Root mean square over neurons and a few starts, direction by direction.
    """
    r, d = setting.target.r, setting.d
    spaces = [known_span(np.random.default_rng(probe), r, d) for probe in range(PROBES)]
    starts = [Start(start_rows(setting, space), typical.readout) for space in spaces]
    run = _recursion(setting, 0, LOG2_POINTS_A_PROBE)
    paths = [run(start) for start in (typical, *starts)]
    lengths = np.sqrt(np.diagonal(paths[0].gram, axis1=1, axis2=2))[..., None]
    moved = np.stack([(path.overlap - paths[0].overlap) / lengths for path in paths[1:]])
    return float(np.max(np.sqrt(np.mean(moved**2, axis=(0, 2)))))


def _deviations(
    setting: Setting, starts: list[Start], arrays: dict[str, Any], *, own: bool
) -> dict[str, np.ndarray]:
    """Standard deviations of one run around its row, from the batch and, unless ``own``, the start.

    Nothing where they are not estimated, or leave the finite numbers.
    """
    rows = []
    runs = max(FINITE_RUNS // len(starts), FEWEST_RUNS)
    for row, start in enumerate(starts):
        if setting.batches == "reused" or setting.deflate >= 0:
            if finite_runs.covers(setting):
                given = start.rows if own else None
                rows.append(
                    finite_runs.deviations(setting, start.readout, given, runs=runs, seed=row)
                )
        elif covers(setting):
            columns = start_columns(setting)
            rows.append(
                deviations(
                    setting,
                    arrays["overlap"][row],
                    arrays["gram"][row],
                    readout=start.readout,
                    start=columns[:0] if own else columns,
                    rows=len(starts),
                    seed=row,
                )
            )
    found = {
        f"{name}_deviation": np.stack([getattr(row, name) for row in rows])
        for name in ("overlap", "norms", "gram")
        if rows
    }
    return found if all(np.all(np.isfinite(values)) for values in found.values()) else {}


def _of_gram(arrays: dict[str, Any]) -> dict[str, Any]:
    """What follows from overlaps and Gram matrices: lengths, and the span of the rows."""
    gram, overlap = arrays["gram"], arrays["overlap"]
    norms = np.sqrt(np.diagonal(gram, axis1=-2, axis2=-1))
    squares = np.diagonal(arrays["gram_uncertainty"], axis1=-2, axis2=-1)
    span = [
        [span_factor(m, q) for m, q in zip(*run, strict=True)]
        for run in zip(overlap, gram, strict=True)
    ]
    return {
        "norms": norms,
        "norms_uncertainty": squares / (2.0 * np.maximum(norms, np.finfo(float).tiny)),
        "span": np.array(span),
    }


def _exact(setting: Setting, start: Start) -> Row | None:
    """Each observable by quadrature without sampling, None where that does not settle."""
    rules = [exact_quadrature(setting, order) for order in EXACT_ORDERS]
    if setting.batches == "reused" or None in rules:
        return None
    coarse, fine = (_observed(state_evolution(setting, start, rule)) for rule in rules if rule)
    changes = {name: np.abs(fine[name] - coarse[name]) for name in fine}
    settled = all(
        np.all(change <= EXACT * (1 + np.abs(fine[name]))) for name, change in changes.items()
    )
    return Row({name: (fine[name], changes[name]) for name in fine}, True) if settled else None


def _sampled(setting: Setting, start: Start, row: int, accuracy: Accuracy) -> Row:
    """Each observable as the mean over independent scrambles, with its standard error."""
    scrambles = accuracy.scrambles
    found = [
        _observed(_recursion(setting, seed, accuracy.log2_points)(start))
        for seed in range(row * scrambles, (row + 1) * scrambles)
    ]
    stacked = {name: np.stack([values[name] for values in found]) for name in found[0]}
    return Row(
        {
            name: (values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(scrambles))
            for name, values in stacked.items()
        },
        False,
    )


def _recursion(setting: Setting, seed: int, log2_points: int) -> Callable[[Start], Evolution]:
    """The recursion from any start, on one scramble of low-discrepancy points."""
    source = _source(setting, seed, log2_points)
    if isinstance(source, np.ndarray):
        return lambda start: reused.reused_evolution(setting, start, source)
    return lambda start: state_evolution(setting, start, source)


def _source(setting: Setting, seed: int, log2_points: int) -> Quadrature | Float[np.ndarray, "n q"]:
    """One scramble: points for any rows on fresh batches, the normals of paths on a reused one."""
    if setting.batches == "reused":
        return normal_points(reused.dimensions(setting), seed, log2_points)
    return sobol_quadrature(setting.target.r + setting.p, seed, log2_points)


def _fitted(
    setting: Setting, start: Start, row: int, accuracy: Accuracy, *, own: bool
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Errors of the ridge readout: the mean over pairs of drawn runs, one a scramble.

    Their uncertainty is the standard error of that mean and what order 1/readout_n leaves out.
    """
    scrambles, log2_points = accuracy.scrambles, min(accuracy.log2_points, LOG2_POINTS_A_DRAW)
    given = start.rows if own else None
    found = [
        drawn_errors(
            setting,
            start.readout,
            _source(setting, seed, log2_points),
            seed=seed,
            given=given,
        )
        for seed in range(row * scrambles, (row + 1) * scrambles)
    ]
    train, test, left_out = np.mean(found, axis=0).T
    spread = np.std(found, axis=0, ddof=1).T / np.sqrt(scrambles)
    return {
        "train_error": (train, np.hypot(spread[0], left_out)),
        "test_error": (test, np.hypot(spread[1], left_out)),
    }


def _observed(evolution: Evolution) -> dict[str, np.ndarray]:
    """The arrays of a Trajectory that an evolution fills."""
    return {
        "overlap": evolution.overlap,
        "gram": evolution.gram,
        "gradient_cosine": evolution.gradient_cosine,
        "network_error": evolution.network_error,
    }
