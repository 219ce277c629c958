"""How far one giant step and its readout are from training all layers to convergence."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import Fields
from giantstep.papers.claims.linear_width import RELU, WIDE
from giantstep.papers.claims.quantity import Quantity, Region, exact, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.simulation.readout import fit_readout
from giantstep.simulation.stepped import SteppedRun, stepped_runs
from giantstep.simulation.table import FeatureTable

CONVERGED = 1e-6
"""Training ends where one iteration lowers the loss by less than this share."""

SHARE: Region = (0.1, 0.8)
"""One step gets a part of what training gets, neither nothing nor all of it."""


@dataclass(frozen=True)
class TrainedNetwork:
    """Both layers after training, and whether it ended before its last iteration."""

    weights: Float[np.ndarray, "p d"]
    readout: Float[np.ndarray, " p"]
    converged: bool


def trained(step: SteppedRun, penalty: float, iterations: int) -> TrainedNetwork:
    """Both layers from the start of a run, by L-BFGS on the samples of its step and its readout.

    The loss is mean (y - s_p a . sigma(W x))^2 + penalty (|a|^2 + |W|^2).
    """
    from scipy.optimize import minimize

    setting, shape = step.setting, step.start.shape
    samples = np.concatenate([step.batch.inputs, step.training.inputs])
    labels = np.concatenate([step.batch.labels, step.training.labels])

    def loss(flat: Float[np.ndarray, " m"]) -> tuple[float, Float[np.ndarray, " m"]]:
        weights, readout = flat[: step.start.size].reshape(shape), flat[step.start.size :]
        preactivations = samples @ weights.T
        features = setting.scale * setting.activation(preactivations)
        residual = features @ readout - labels
        slopes = setting.scale * setting.activation.derivative(preactivations) * readout
        rows = (residual[:, None] * slopes).T @ samples
        gradient = np.concatenate([rows.ravel(), features.T @ residual]) / len(labels)
        value = float(residual @ residual) / len(labels) + penalty * float(flat @ flat)
        return value, 2.0 * (gradient + penalty * flat)

    best = minimize(
        loss,
        np.concatenate([step.start.ravel(), step.readout]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations, "maxfun": 10 * iterations, "ftol": CONVERGED},
    )
    weights, readout = best.x[: step.start.size].reshape(shape), best.x[step.start.size :]
    return TrainedNetwork(weights, readout, bool(best.success))


def fitted(step: SteppedRun, weights: Float[np.ndarray, "p d"]) -> Float[np.ndarray, " p"]:
    """The ridge readout of a first layer on the run's samples of the readout."""
    features = np.asarray(step.setting.activation(step.training.inputs @ weights.T), dtype=float)
    fit = fit_readout(FeatureTable(features, step.training.labels), step.setting)
    return fit.weights[fit.chosen]


def network_error(
    step: SteppedRun, weights: Float[np.ndarray, "p d"], readout: Float[np.ndarray, " p"]
) -> float:
    """Mean squared error of a network on the test samples of a run."""
    features = step.setting.activation(step.test.inputs @ weights.T)
    return float(np.mean((step.test.labels - step.setting.scale * features @ readout) ** 2))


def _errors(setting: Setting, given: Fields, runs: int) -> Float[np.ndarray, "four runs"]:
    """Test errors of random features, of one step and of training, and what converged, by run."""
    found = []
    for step in stepped_runs(setting, range(runs)):
        network = trained(step, given["penalty"], given["iterations"])
        taken = step.start + given["taken"] * (step.weights - step.start)
        layers = [(weights, fitted(step, weights)) for weights in (step.start, taken)]
        layers.append((network.weights, network.readout))
        found.append([network_error(step, *layer) for layer in layers] + [network.converged])
    return np.array(found, dtype=float).T


def _gap(errors: Float[np.ndarray, "four runs"]) -> list[Quantity]:
    """The share of the gap between random features and training that one step closes."""
    start, one, full, converged = errors
    share = (start - one) / (start - full)
    return [
        mean_of("share of the gain of training that one step gets", share, SHARE),
        exact("share of the trainings that converged", float(converged.mean()), (1.0, 1.0)),
    ]


def _split(fields: Fields) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of a setting, and those of the experiment alone."""
    names = ("taken", "penalty", "iterations", "untold")
    return (
        {name: value for name, value in fields.items() if name not in names},
        {name: fields[name] for name in names if name in fields},
    )


def against_training(fields: Fields, *, d: int, runs: int) -> Findings:
    """Test errors on Gaussian inputs: random features and one step as predicted, and training.

    ``taken`` is the share of the step that is taken, ``untold`` holds fields of the simulation that
    theory is not told.
    """
    given, training = _split(fields)
    told = Setting(**given | {"d": d})
    simulated = told.vary(**training["untold"])
    errors = _errors(simulated, training, runs)
    predicted = predict(told).test_error
    assert predicted is not None
    names = ("random features", "one step")
    quantities = [
        mean_of(
            f"test error of {name} over predicted",
            errors[k] / predicted[0, k],
            (0.8, 1.25),
            1.0,
            # Theory is for d to infinity and off by O(1/d).
            allowance=1.0 / d,
        )
        for k, name in enumerate(names)
    ]
    return Findings(
        [*quantities, *_gap(errors)], _plot(errors, "prediction", predicted[0].tolist())
    )


def on_digits(fields: Fields, *, runs: int) -> Findings:
    """The same errors on images of digits, whose label is whether the digit is even."""
    given, training = _split(fields)
    with digits() as path:
        law = {"inputs": f"data({path})", "target": "column(even)"}
        errors = _errors(Setting(**given | law), training, runs)
    return Findings(_gap(errors), _plot(errors, "variance of the labels", [1.0] * 3))


def _plot(errors: Float[np.ndarray, "four runs"], name: str, line: list[float]) -> Plot:
    x = [1.0, 2.0, 3.0]
    curves = [
        mean_curve("simulation", x, list(errors[:3])),
        Curve(name, x[: len(line)], line, theory=True, joined=False),
    ]
    label = "1 random features, 2 one step, 3 training of both layers"
    return Plot(label, "test error", curves)


@contextmanager
def digits() -> Iterator[Path]:
    """A table of the images of digits that come with scikit-learn, for as long as it is used."""
    if find_spec("sklearn") is None:
        raise InputError(
            "the claim on digits needs scikit-learn, which has them: "
            "pip install 'giantstep[sklearn]'"
        )
    from sklearn.datasets import load_digits

    images = load_digits()
    pixels = images.data[:, images.data.std(axis=0) > 0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.csv"
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow([*(f"pixel{k}" for k in range(pixels.shape[1])), "even"])
            for row, digit in zip(pixels.tolist(), images.target.tolist(), strict=True):
                table.writerow([*row, 1 - digit % 2])
        yield path


NETWORK = WIDE | {
    "activation": RELU,
    "n": 600,
    "p": 61,
    "readout_n": 600,
    "step_size": "1.5*n^0.32",
    "taken": 1.0,
    "penalty": 0.01,
    "iterations": 4000,
}
NOTHING: dict[str, dict[str, Any]] = {
    "a step that does nothing": {"taken": 0.0},
    "a training of two iterations": {"iterations": 2},
}
RULE = (
    "One step closes between 10 % and 80 % of the gap in test error between random features and "
    "full training, and every training ends because its loss stands still."
)

CLAIMS = (
    Claim(
        id="one-step-against-training",
        statement=(
            "On Gaussian inputs one giant step and a ridge readout get a part of what training "
            "both layers to convergence gets, and not all of it."
        ),
        source=sources.question(
            sources.ONE_STEP, "one step against full training", "training of both layers"
        ),
        regime=(
            "d = 61 inputs, p = 61 neurons, 600 samples for the step and 600 for the readout, as "
            "many as there are digits; training sees all 1200"
        ),
        rule=(
            "The test errors of random features and of one step are within a fifth of "
            f"their predictions and as predicted. {RULE} No theory gives the error of training."
        ),
        experiment=against_training,
        fields=NETWORK | {"untold": {}, "test_n": 4000},
        controls=NOTHING | {"noise that theory is not told": {"untold": {"noise": 1.0}}},
        quick={"d": 61, "runs": 14},
        full={"d": 61, "runs": 64},
        tuned={"penalty": (0.005, 0.02), "step_size": ("0.75*n^0.32", "3*n^0.32")},
    ),
    Claim(
        id="one-step-against-training-on-digits",
        needs="sklearn",
        statement=(
            "On images of digits one giant step and a ridge readout get a part of what training "
            "both layers to convergence gets, and not all of it."
        ),
        source=sources.question(
            sources.ONE_STEP,
            "one step against full training on real data",
            "images of digits as inputs, training of both layers",
        ),
        regime=(
            "61 pixels that vary, standardised, of scikit-learn's 1797 images of digits; the label "
            "is whether the digit is even; p = 61 neurons, 600 samples for the step, 600 for the "
            "readout and 597 to test; training sees all 1200"
        ),
        rule=f"{RULE} No theory gives these errors.",
        experiment=on_digits,
        fields=NETWORK | {"d": 61, "test_n": 597, "engine": "dense"},
        controls=NOTHING,
        quick={"runs": 12},
        full={"runs": 64},
        tuned={"penalty": (0.005, 0.02), "step_size": ("0.75*n^0.32", "3*n^0.32")},
    ),
)
