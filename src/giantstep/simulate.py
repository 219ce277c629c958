"""Simulate a setting: initialise, take giant steps, fit the readout, measure."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float

from giantstep.engines import deferred
from giantstep.engines.streams import Purpose
from giantstep.observables import Trajectory
from giantstep.readout import TrainingData, fit_readout, mean_and_error, squared_errors
from giantstep.setting import Setting

MEMORY = 2 * 2**30
"""Bytes an engine may take for its arrays unless told otherwise."""


class DivergenceError(ArithmeticError):
    """A run left the finite numbers; the message says where."""


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


def make_engine(setting: Setting, memory: int = MEMORY) -> Engine:
    """The engine of a setting, or InputError if it cannot run it."""
    if choose_engine(setting, memory) == "deferred":
        return deferred.DeferredEngine(setting, memory)
    from giantstep.engines.dense import DenseEngine

    return DenseEngine(setting, memory)


def simulate(
    setting: Setting,
    *,
    memory: int = MEMORY,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """Run a setting and return what was observed.

    ``memory`` bounds the engine's arrays in bytes; results do not depend on it.  ``progress`` is
    called with the share that is done.  An interrupt (Ctrl-C) keeps the runs that were finished.
    """
    start = time.perf_counter()
    engine = make_engine(setting, memory)
    finished: list[dict[str, Any]] = []
    interrupted = False
    units = setting.runs * (setting.steps + 1)
    try:
        for run in range(setting.runs):

            def tick(step: int, run: int = run) -> None:
                if progress is not None:
                    progress((run * (setting.steps + 1) + step) / units)

            finished.append(_one_run(engine, setting, run, tick))
    except KeyboardInterrupt:
        if not finished:
            raise
        interrupted = True
    arrays = {name: np.stack([r[name] for r in finished]) for name in finished[0]}
    seconds = time.perf_counter() - start
    return Trajectory(setting, engine.name, seconds, **arrays, interrupted=interrupted)


def _one_run(
    engine: Engine, setting: Setting, run: int, tick: Callable[[int], None]
) -> dict[str, Float[np.ndarray, "..."]]:
    record: dict[str, list[Any]] = {}

    def keep(**values: Any) -> None:
        for name, value in values.items():
            if not np.all(np.isfinite(value)):
                raise DivergenceError(
                    f"run {run} diverged: {name.replace('_', ' ')} is not finite after step "
                    f"{len(record.get('overlap', [])) - (name != 'overlap')}, with step_size "
                    f"{', '.join(f'{s:g}' for s in setting.step_size)}"
                )
            record.setdefault(name, []).append(np.array(value, dtype=float))

    with np.errstate(all="ignore"):
        engine.begin(run)
        for step in range(setting.steps + 1):
            gram = engine.gram
            keep(overlap=engine.overlap, gram=gram)
            if setting.spectra:
                keep(weight_singular_values=_singular(gram, setting))
            if setting.readout_n:
                keep(**_errors(engine, setting, step))
            tick(step + 1)
            if step < setting.steps:
                overlap, gram = engine.step(step)
                norms = np.sqrt(np.diagonal(gram))[:, None]
                # A neuron without a gradient (a dead ReLU) has no direction: cosine 0.
                keep(gradient_cosine=np.divide(overlap, norms, where=norms > 0, out=0 * overlap))
                if setting.spectra:
                    keep(gradient_singular_values=_singular(gram, setting))
    empty = np.zeros((0, setting.p, setting.target.r))
    stacked = {name: np.stack(values) for name, values in record.items()}
    return {"gradient_cosine": empty, **stacked}


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
        values["feature_singular_values"] = fit.eigenvalues[: setting.spectra]
    return values
