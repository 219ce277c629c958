"""Simulate a setting: initialise, take giant steps, fit the readout, measure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.problem.randomness import Purpose
from giantstep.problem.setting import Setting
from giantstep.records.spectrum import Spectrum
from giantstep.records.trajectory import (
    GRAM_NUMBERS,
    ROW_NUMBERS,
    SPECTRA,
    Trajectory,
    keeps_gram,
)
from giantstep.simulation.divergence import divergence
from giantstep.simulation.engines import deferred
from giantstep.simulation.engines.blockwise import BlockEngine
from giantstep.simulation.matrices import (
    DIRECTIONS,
    Rows,
    row_spectrum,
    rows_span,
    singular_values,
)
from giantstep.simulation.meter import Meter
from giantstep.simulation.moments import Moment
from giantstep.simulation.readout import (
    LEFT_OUT,
    WELL_SAMPLED,
    Readout,
    TrainingData,
    fit_readout,
    mean_and_error,
    squared_errors,
)
from giantstep.simulation.threads import FEW_NEURONS, single_blas

MEMORY = 2 * 2**30
"""Bytes an engine may take for its arrays unless told otherwise."""


class Engine(Protocol):
    """What simulate needs of an engine: ``group`` runs at a time, moment by moment."""

    name: str
    group: int
    readout: Float[np.ndarray, " p"]

    def context(self) -> AbstractContextManager[Any]: ...
    def moments(self, runs: Sequence[int]) -> Iterator[Moment]: ...
    @property
    def layer(self) -> Rows: ...
    @property
    def columns(self) -> int: ...
    @property
    def last_rows(self) -> Float[np.ndarray, "p q"]: ...
    def training(self, index: int) -> Any: ...
    def plain(self, index: int) -> TrainingData: ...


def choose_engine(setting: Setting, memory: int = MEMORY) -> str:
    """Deferred where it is valid and cheaper (fewer coordinates than inputs), else dense."""
    if setting.engine != "auto":
        return setting.engine
    cheaper = deferred.dimensions_needed(setting) <= setting.d
    return "deferred" if cheaper and deferred.objection(setting, memory) is None else "dense"


def make_engine(
    setting: Setting,
    memory: int,
    meter: Meter,
    directions: Float[np.ndarray, "r d"] | None = None,
) -> Engine:
    """The engine of a setting, or InputError if it cannot run it."""
    if directions is not None and not setting.target.column:
        raise InputError(f"directions are those of the target {setting.target.name!r}, got others")
    if choose_engine(setting, memory) == "deferred":
        engine = BlockEngine if setting.inputs.in_blocks else deferred.DeferredEngine
        return engine(setting, memory, meter)
    from giantstep.simulation.engines.dense import DenseEngine
    from giantstep.simulation.typical import chosen_device

    device = chosen_device(setting)
    placed = setting if device == setting.device else setting.vary(device=device)
    return DenseEngine(placed, memory, meter, directions)


def expected_samples(setting: Setting) -> int:
    """Samples that will be used, repeated passes counted."""
    fits = 1 + (setting.deflate >= 0)
    left_out = 0
    # With fewer samples than neurons the kernel gives the left-out residuals at once.
    if setting.readout_n >= setting.p and len(setting.penalties) != 1:
        left_out = min(setting.readout_n, max(LEFT_OUT, WELL_SAMPLED * setting.p))
    readout = setting.readout_n * fits + left_out + setting.test_n * fits
    ridge = setting.readout_between.kind.fitted
    fitted = setting.steps + 1 if ridge else len(setting.recorded)
    return setting.runs * (setting.steps * setting.n * fits + fitted * readout)


def simulate(
    setting: Setting,
    *,
    memory: int = MEMORY,
    progress: Callable[[float, int], None] | None = None,
    first: int = 0,
    partial: bool = False,
    directions: Float[np.ndarray, "r d"] | None = None,
) -> Trajectory:
    """Run a setting and return what was observed.

    ``first`` is the number of the first run: run k is the same wherever it is run.  ``memory``
    bounds the engine's arrays on the host in bytes; results do not depend on it.  On an accelerator
    they take up to half of its memory.  ``progress`` is called with the share that is done and the
    samples used so far.  An interrupt (Ctrl-C) is passed on; with ``partial`` the runs that were
    finished are returned instead, marked as ``interrupted``.  Labels of a data set have no
    directions of their own: overlaps are with orthonormal ``directions``, where they are given.

    Steps W <- (1 - decay) W + step_size * update and the readout of every recorded step, as
    ``Setting`` has them.  For Gaussian inputs runs have the same statistics as a full d-dimensional
    simulation, without its cost: only what a step reveals is drawn (deferred engine,
    docs/derivations/deferred.md, arXiv 2101.07464).

    >>> from giantstep import Setting, simulate
    >>> setting = Setting("x1", d=10_000, p=4, steps=1, runs=2, readout_n=0, test_n=0)
    >>> simulate(setting).overlap.shape  # runs, steps 0..T, neurons, directions
    (2, 2, 4, 1)
    """
    if not isinstance(setting, Setting):
        raise InputError(f"setting must be a Setting, got {shown(setting)}")
    start = time.perf_counter()
    meter = Meter(expected_samples(setting), progress)
    engine = make_engine(setting, memory, meter, directions)
    finished: list[dict[str, Any]] = []
    interrupted = False
    try:
        # An interrupt leaves in the list what was finished.
        for group in grouped(range(first, first + setting.runs), engine.group):
            finished.extend(_runs(engine, setting, group))
    except KeyboardInterrupt:
        if not (partial and finished):
            raise
        interrupted = True
    arrays = {name: np.stack([r[name] for r in finished]) for name in finished[0]}
    return _trajectory(setting, engine, start, arrays, interrupted=interrupted)


def simulate_runs(
    setting: Setting,
    runs: Sequence[int],
    *,
    memory: int = MEMORY,
    progress: Callable[[float, int], None] | None = None,
    directions: Float[np.ndarray, "r d"] | None = None,
) -> Iterator[tuple[int, Trajectory]]:
    """The runs with these numbers one by one as they are finished, each a Trajectory of its own.

    What run k is does not depend on which others are asked for, nor does what is recorded of it.
    """
    single = setting.vary(runs=1)
    meter = Meter(expected_samples(single) * len(runs), progress)
    engine = make_engine(single, memory, meter, directions)
    # Runs that advance together are recorded together: no more of them than fit the memory.
    most = max(1, GRAM_NUMBERS // (len(single.recorded) * single.p**2))
    for group in grouped(runs, min(engine.group, most)):
        start = time.perf_counter()
        for run, arrays in zip(group, _runs(engine, single, group), strict=True):
            of_run = {name: value[None] for name, value in arrays.items()}
            yield run, _trajectory(single, engine, start, of_run, share=1 / len(group))


def grouped(runs: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """The runs in order, so many at a time."""
    for begin in range(0, len(runs), size):
        yield runs[begin : begin + size]


def _trajectory(
    setting: Setting,
    engine: Engine,
    start: float,
    arrays: dict[str, Any],
    *,
    share: float = 1.0,
    interrupted: bool = False,
) -> Trajectory:
    """The record of arrays that were measured since ``start``; of the time it has a share."""
    for matrix in SPECTRA:
        parts = {
            name.removeprefix(f"{matrix}."): arrays.pop(name)
            for name in list(arrays)
            if name.startswith(f"{matrix}.")
        }
        if parts:
            arrays[matrix] = Spectrum(**parts)
    seconds = share * (time.perf_counter() - start)
    return Trajectory(setting, engine.name, seconds, **arrays, interrupted=interrupted)


def _runs(
    engine: Engine, setting: Setting, runs: Sequence[int]
) -> list[dict[str, Float[np.ndarray, "..."]]]:
    """Everything recorded of some runs, by the names of ``Trajectory.arrays``."""
    records = {run: _Record(setting, run) for run in runs}
    few = setting.p <= FEW_NEURONS
    with np.errstate(all="ignore"), single_blas(when=few), engine.context():
        for moment in engine.moments(runs):
            records[moment.run].observe(engine, moment)
    return [record.finished for record in records.values()]


class _Record:
    """What is recorded of one run, step by step."""

    def __init__(self, setting: Setting, run: int) -> None:
        self.setting, self.run = setting, run
        self.steps = frozenset(setting.recorded)
        self.found: dict[str, list[Any]] = {}
        self.fixed: dict[str, Any] = {}

    def observe(self, engine: Engine, moment: Moment) -> None:
        """Record the run as the engine has it now; a readout that is fitted between is put in."""
        setting, step = self.setting, moment.step
        if step == 0:
            self.fixed["readout"] = engine.readout
            self.fixed["gradient_cosine"] = np.zeros((0, setting.p, setting.target.r))
        try:
            fit = None
            between = setting.readout_between.kind.fitted
            if between or (setting.readout_n and step in self.steps):
                fit = fit_readout(training := engine.training(step), setting)
            if step in self.steps:
                if moment.gradient is not None:
                    self.keep(step, _of_gradient(moment.gradient(), setting))
                self.keep(step, _of_rows(engine.layer, setting))
                if fit is not None:
                    self.keep(step, _errors(engine, setting, step, training, fit))
            if fit is not None and between:
                engine.readout = fit.weights[fit.chosen]
        except np.linalg.LinAlgError:
            raise divergence(setting, self.run, step) from None
        if step == setting.steps:
            if setting.runs * setting.p * engine.columns <= ROW_NUMBERS:
                self.fixed["rows"] = engine.last_rows
            if not setting.readout_between.kind.frozen:
                self.fixed["last_readout"] = engine.readout

    def keep(self, step: int, values: dict[str, Any]) -> None:
        for name, value in values.items():
            if not np.all(np.isfinite(value)):
                what = f"{name.replace('_', ' ').replace('.', ' ')} is"
                raise divergence(self.setting, self.run, step, what)
            self.found.setdefault(name, []).append(np.array(value, dtype=float))

    @property
    def finished(self) -> dict[str, Float[np.ndarray, "..."]]:
        return self.fixed | {name: np.stack(v) for name, v in self.found.items()}


def _of_gradient(gradient: Rows, setting: Setting) -> dict[str, Any]:
    """Cosines with the target of each neuron's gradient, and its singular values."""
    norms, overlap = gradient.norms[:, None], gradient.overlap
    # A neuron without a gradient (a dead ReLU) has no direction: cosine 0.
    observed = {"gradient_cosine": np.divide(overlap, norms, where=norms > 0, out=0 * overlap)}
    if most := min(setting.spectra, setting.d):
        observed["gradients.singular_values"] = singular_values(gradient.fewest.gram, most)
    return observed


def _of_rows(layer: Rows, setting: Setting) -> dict[str, Any]:
    """Overlaps and lengths of the rows, the span they make, and their singular values."""
    observed = {"overlap": layer.overlap, "norms": layer.norms}
    if not np.all(np.isfinite(layer.norms)):
        return observed
    fewest = layer.fewest
    longest = float(np.max(layer.norms)) ** 2
    observed["span"] = rows_span(fewest.overlap, fewest.gram, longest)
    if keeps_gram(setting):
        observed["gram"] = layer.gram
    if most := min(setting.spectra, setting.d):
        count = min(DIRECTIONS, setting.d)
        values, along = row_spectrum(fewest.gram, fewest.overlap, most, count)
        observed |= {"weights.singular_values": values, "weights.overlap": along}
    return observed


def _errors(
    engine: Engine, setting: Setting, step: int, training: Any, fit: Readout
) -> dict[str, Any]:
    """Train and test error of the readout after a step, and the network's own error."""
    n, readout = setting.test_n, engine.readout[None]
    testing = training.like(Purpose.TEST, n)
    # Of the grid of leave-one-out only the chosen penalty is tested.
    listed = not setting.cross_validates
    chosen = fit.chosen if listed else 0
    fitted = fit.weights if listed else fit.weights[fit.chosen][None]
    weights = np.concatenate([fitted, readout])
    totals = testing.reduce(squared_errors, setting.scale * weights)
    sums, squares = (np.asarray(part) for part in totals)
    network = sums[-1]
    # The network itself answers for the labels as they are, with the biases it has.
    if setting.deflate >= 0 or setting.biased_readout_only:
        [network] = np.asarray(
            engine.plain(step).reduce(squared_errors, setting.scale * readout)[0]
        )
    test, error = mean_and_error(sums[:-1], squares[:-1], n)
    values = {
        "train_error": fit.train_errors[fit.chosen],
        "test_error": test[chosen],
        "network_error": network / n,
        "ridge": fit.penalties[fit.chosen],
    }
    if listed:
        values |= {"train_error_by_ridge": fit.train_errors, "test_error_by_ridge": test}
    if n > 1:
        values["test_error_uncertainty"] = error[chosen]
    if setting.spectra:
        most = min(setting.spectra, setting.p, setting.readout_n)
        values["features.singular_values"] = fit.feature_singular_values[:most]
    return values
