"""Runs of one giant step with everything in memory: what models of the features are built from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.problem.network import network_output, residuals
from giantstep.problem.plain import PLAIN
from giantstep.problem.randomness import Purpose
from giantstep.problem.setting import Setting
from giantstep.simulation.meter import Meter
from giantstep.simulation.readout import fit_readout, squared_errors
from giantstep.simulation.simulate import MEMORY
from giantstep.simulation.table import FeatureTable


@dataclass(frozen=True)
class LabelledSamples:
    """Inputs and their labels; Gaussian ones have the target directions for their first axes."""

    inputs: Float[np.ndarray, "n d"]
    labels: Float[np.ndarray, " n"]


@dataclass(frozen=True)
class SteppedRun:
    """One run: the start, the batch of its one giant step, the weights after it, and more samples.

    ``training`` and ``test`` are those of the readout; ``run`` is the number of the run.
    """

    setting: Setting
    run: int
    readout: Float[np.ndarray, " p"]
    start: Float[np.ndarray, "p d"]
    weights: Float[np.ndarray, "p d"]
    batch: LabelledSamples
    training: LabelledSamples
    test: LabelledSamples

    @property
    def residual(self) -> Float[np.ndarray, " n"]:
        """r = y - f0 (or y) on the batch."""
        features = self.setting.activation(self.start @ self.batch.inputs.T)
        output = network_output(self.setting, features, self.readout)
        return np.asarray(residuals(self.setting, self.batch.labels, output), dtype=float)

    @property
    def spike(self) -> Float[np.ndarray, " d"]:
        """beta = X^T r / n."""
        return self.batch.inputs.T @ self.residual / len(self.batch.inputs)

    @property
    def step_size(self) -> float:
        """eta, the step size times s_p."""
        return self.setting.step_size[0] * self.setting.scale

    def resized(self, size: float) -> SteppedRun:
        """The same run after a step of another size along the same gradient."""
        share = size / self.setting.step_size[0]
        return replace(
            self,
            setting=self.setting.vary(step_size=size),
            weights=self.start + share * (self.weights - self.start),
        )

    def features(self, inputs: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n p"]:
        """F = sigma(X W1^T)."""
        return np.asarray(self.setting.activation(inputs @ self.weights.T), dtype=float)


def stepped_runs(setting: Setting, runs: Iterable[int] = (0,)) -> Iterator[SteppedRun]:
    """The runs of these numbers after their first step, by the dense engine in float64."""
    if setting.steps < 1:
        raise InputError(f"steps must be at least 1 for features after a step, got {setting.steps}")
    if setting.deflate >= 0:
        raise InputError(f"deflate must be -1 for features after a step, got {setting.deflate}")
    for field, plain in PLAIN.items():
        if getattr(setting, field) not in plain:
            values, given = " or ".join(map(str, plain)), shown(setting.as_dict()[field])
            raise InputError(f"{field} must be {values} for features after a step, got {given}")
    if setting.readout_n == 0:
        raise InputError("readout_n must be positive for a readout, got 0")
    from giantstep.simulation.engines.dense import DenseEngine

    engine = DenseEngine(setting.vary(precision="float64"), MEMORY, Meter(0, None))
    for run in runs:
        engine.begin(run)
        start, batch = np.asarray(engine.weights), engine.batch(0).inputs_and_labels()
        engine.step(0)
        training = engine.training(1)
        yield SteppedRun(
            setting,
            run,
            engine.readout,
            start=start,
            weights=np.asarray(engine.weights),
            batch=LabelledSamples(*batch),
            training=LabelledSamples(*training.inputs_and_labels()),
            test=LabelledSamples(*training.like(Purpose.TEST, setting.test_n).inputs_and_labels()),
        )


def table_errors(
    setting: Setting, training: FeatureTable, test: FeatureTable
) -> tuple[float, float]:
    """Train and test error of the setting's ridge readout on given features."""
    fit = fit_readout(training, setting)
    sums, _ = test.reduce(squared_errors, setting.scale * fit.weights)
    return float(fit.train_errors[fit.chosen]), float(sums[fit.chosen]) / test.count
