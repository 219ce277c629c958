"""Simulate a setting: initialise, take giant steps, fit the readout, measure."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float

from giantstep.errors import DivergenceError
from giantstep.problem.randomness import Purpose
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.engines import deferred
from giantstep.simulation.meter import Meter
from giantstep.simulation.readout import (
    LEFT_OUT,
    WELL_SAMPLED,
    TrainingData,
    fit_readout,
    mean_and_error,
    squared_errors,
)
from giantstep.simulation.threads import FEW_NEURONS, single_blas

MEMORY = 2 * 2**30
"""Bytes an engine may take for its arrays unless told otherwise."""


class Engine(Protocol):
    """What simulate needs of an engine: one run at a time, step by step."""

    name: str
    readout: Float[np.ndarray, " p"]

    def begin(self, run: int) -> None: ...
    @property
    def overlap(self) -> Float[np.ndarray, "p r"]: ...
    @property
    def gram(self) -> Float[np.ndarray, "p p"]: ...
    def step(self, index: int) -> tuple[Float[np.ndarray, "p r"], Float[np.ndarray, "p p"]]: ...
    def training(self, index: int) -> Any: ...
    def plain(self, index: int) -> TrainingData: ...


def choose_engine(setting: Setting, memory: int = MEMORY) -> str:
    """Deferred where it is valid and cheaper (fewer coordinates than inputs), else dense."""
    if setting.engine != "auto":
        return setting.engine
    valid = deferred.objection(setting, memory) is None
    return "deferred" if valid else "dense"


def make_engine(setting: Setting, memory: int, meter: Meter) -> Engine:
    """The engine of a setting, or InputError if it cannot run it."""
    if choose_engine(setting, memory) == "deferred":
        return deferred.DeferredEngine(setting, memory, meter)
    from giantstep.simulation.engines.dense import DenseEngine

    return DenseEngine(setting, memory, meter)


def expected_samples(setting: Setting) -> int:
    """Samples that will be used, repeated passes counted."""
    fits = 1 + (setting.deflate >= 0)
    left_out = 0
    # With fewer samples than neurons the kernel gives the left-out residuals at once.
    if setting.readout_n >= setting.p and (setting.ridge == "cv" or len(setting.ridge) > 1):
        left_out = min(setting.readout_n, max(LEFT_OUT, WELL_SAMPLED * setting.p))
    readout = setting.readout_n * fits + left_out + setting.test_n * fits
    return setting.runs * (setting.steps * setting.n * fits + (setting.steps + 1) * readout)


def simulate(
    setting: Setting,
    *,
    memory: int = MEMORY,
    progress: Callable[[float, int], None] | None = None,
    first: int = 0,
) -> Trajectory:
    """Run a setting and return what was observed.

    ``first`` is the number of the first run: run k is the same wherever it is run.  ``memory``
    bounds the engine's arrays in bytes; results do not depend on it.  ``progress`` is called with
    the share that is done and the samples used so far.  An interrupt (Ctrl-C) keeps the runs that
    were finished.
    """
    start = time.perf_counter()
    engine = make_engine(setting, memory, Meter(expected_samples(setting), progress))
    finished: list[dict[str, Any]] = []
    interrupted = False
    try:
        finished.extend(
            _one_run(engine, setting, run) for run in range(first, first + setting.runs)
        )
    except KeyboardInterrupt:
        if not finished:
            raise
        interrupted = True
    arrays: dict[str, Any] = {name: np.stack([r[name] for r in finished]) for name in finished[0]}
    seconds = time.perf_counter() - start
    return Trajectory(setting, engine.name, seconds, **arrays, interrupted=interrupted)


def _one_run(engine: Engine, setting: Setting, run: int) -> dict[str, Float[np.ndarray, "..."]]:
    record: dict[str, list[Any]] = {}
    sizes = ", ".join(f"{size:g}" for size in setting.step_size)

    def keep(step: int, **values: Any) -> None:
        for name, value in values.items():
            if not np.all(np.isfinite(value)):
                raise DivergenceError(
                    f"run {run} diverged: {name.replace('_', ' ')} is not finite after step "
                    f"{step}, with step_size {sizes}"
                )
            record.setdefault(name, []).append(np.array(value, dtype=float))

    step = 0
    try:
        with np.errstate(all="ignore"), single_blas(when=setting.p <= FEW_NEURONS):
            engine.begin(run)
            for step in range(setting.steps + 1):
                if step > 0:
                    overlap, gram = engine.step(step - 1)
                    norms = np.sqrt(np.diagonal(gram))[:, None]
                    # A neuron without a gradient (a dead ReLU) has no direction: cosine 0.
                    cosine = np.divide(overlap, norms, where=norms > 0, out=0 * overlap)
                    keep(step, gradient_cosine=cosine)
                    if setting.spectra:
                        keep(step, gradient_singular_values=_singular(gram, setting))
                gram = engine.gram
                keep(step, overlap=engine.overlap, gram=gram)
                if setting.spectra:
                    keep(step, weight_singular_values=_singular(gram, setting))
                if setting.readout_n:
                    keep(step, **_errors(engine, setting, step))
    except np.linalg.LinAlgError:
        raise DivergenceError(
            f"run {run} diverged: its numbers are not finite after step {step}, "
            f"with step_size {sizes}"
        ) from None
    fixed = {
        "gradient_cosine": np.zeros((0, setting.p, setting.target.r)),
        "readout": engine.readout,
    }
    return fixed | {name: np.stack(v) for name, v in record.items()}


def _singular(gram: Float[np.ndarray, "p p"], setting: Setting) -> Float[np.ndarray, " m"]:
    values = np.linalg.eigvalsh(gram)[::-1]
    return np.sqrt(np.maximum(values[: setting.spectra], 0.0))


def _errors(engine: Engine, setting: Setting, step: int) -> dict[str, Any]:
    """Train and test error of the readout after a step, and the network's own error."""
    training = engine.training(step)
    fit = fit_readout(training, setting)
    n, own = setting.test_n, engine.readout[None]
    testing = training.like(Purpose.TEST, n)
    weights = np.concatenate([fit.weights, own])
    sums, squares = testing.reduce(squared_errors, setting.scale * weights)
    network = sums[-1]
    if setting.deflate >= 0:  # the network itself answers for the labels as they are
        [network], _ = engine.plain(step).reduce(squared_errors, setting.scale * own)
    test, error = mean_and_error(sums[:-1], squares[:-1], n)
    values = {
        "train_error": fit.train_errors[fit.chosen],
        "test_error": test[fit.chosen],
        "network_error": network / n,
        "ridge": fit.penalties[fit.chosen],
        "train_error_by_ridge": fit.train_errors,
        "test_error_by_ridge": test,
    }
    if n > 1:
        values["test_error_error"] = error[fit.chosen]
    if setting.spectra:
        values["feature_singular_values"] = fit.feature_singular_values[: setting.spectra]
    return values
