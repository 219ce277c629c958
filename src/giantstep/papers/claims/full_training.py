"""How far one giant step and its readout are from training all layers to convergence."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import beside
from giantstep.papers.claims.quantity import Quantity, exact, mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time
from giantstep.papers.claims.wide import RELU, WIDE, features_of
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.plot import Plot
from giantstep.simulation.readout import fit_readout
from giantstep.simulation.stepped import SteppedRun, stepped_runs
from giantstep.simulation.table import FeatureTable


@dataclass(frozen=True)
class TrainedNetwork:
    """Both layers after training, and whether it ended before its last iteration."""

    weights: Float[np.ndarray, "p d"]
    readout: Float[np.ndarray, " p"]
    converged: bool


def trained(
    step: SteppedRun, penalty: float, iterations: int, converged: float = 1e-6
) -> TrainedNetwork:
    """Both layers from the start of a run, by L-BFGS on the samples of its step and its readout.

    The loss is mean (y - s_p a . sigma(W x))^2 + penalty (|a|^2 + |W|^2).  Training ends where one
    iteration lowers the loss by less than the share ``converged``.
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
        options={"maxiter": iterations, "maxfun": 10 * iterations, "ftol": converged},
    )
    weights, readout = best.x[: step.start.size].reshape(shape), best.x[step.start.size :]
    return TrainedNetwork(weights, readout, bool(best.success))


def fitted(step: SteppedRun, weights: Float[np.ndarray, "p d"]) -> Float[np.ndarray, " p"]:
    """The ridge readout of a first layer on the run's samples of the readout."""
    table = FeatureTable(features_of(step, weights), step.training.labels)
    fit = fit_readout(table, step.setting)
    return fit.weights[fit.chosen]


def network_error(
    step: SteppedRun, weights: Float[np.ndarray, "p d"], readout: Float[np.ndarray, " p"]
) -> float:
    """Mean squared error of a network on the test samples of a run."""
    features = step.setting.activation(step.test.inputs @ weights.T)
    return float(np.mean((step.test.labels - step.setting.scale * features @ readout) ** 2))


def compared_layers(
    step: SteppedRun, *, taken: float, penalty: float, iterations: int
) -> tuple[list[tuple[Float[np.ndarray, "p d"], Float[np.ndarray, " p"]]], bool]:
    """Rows and readouts of random features, of one step and of training, and if it converged.

    ``taken`` is the share of the step that is taken.
    """
    network = trained(step, penalty, iterations)
    moved = step.start + taken * (step.weights - step.start)
    layers = [(weights, fitted(step, weights)) for weights in (step.start, moved)]
    return [*layers, (network.weights, network.readout)], network.converged


def _errors(setting: Setting, runs: int, **training: Any) -> Float[np.ndarray, "four runs"]:
    """Test errors of random features, of one step and of training, and what converged, by run."""
    rows = []
    for step in stepped_runs(setting, range(runs)):
        layers, converged = compared_layers(step, **training)
        rows.append([network_error(step, *layer) for layer in layers] + [converged])
    return np.array(rows, dtype=float).T


def _gap(errors: Float[np.ndarray, "four runs"]) -> list[Quantity]:
    """The share of the gap between random features and training that one step closes."""
    start, one, full, converged = errors
    share = (start - one) / (start - full)
    return [
        # A part of what training gets, neither nothing nor all of it.
        mean_of("share of the gain of training that one step gets", share, (0.1, 0.8)),
        exact("share of the trainings that converged", float(converged.mean()), (1.0, 1.0)),
    ]


def against_training(
    setting: Fields, *, untold: Fields, d: int, runs: int, **training: Any
) -> Findings:
    """Test errors on Gaussian inputs: random features and one step as predicted, and training.

    The simulation has the fields ``untold``, which theory is not told; ``training`` are the options
    of ``compared_layers``.
    """
    told = Setting(**{**setting, "d": d})
    errors = _errors(told.vary(**untold), runs, **training)
    predicted = predict(told).test_error
    assert predicted is not None
    quantities = [
        mean_of(
            f"test error of {name} over predicted",
            errors[k] / predicted[0, k],
            (0.8, 1.25),
            1.0,
            # Theory is for d to infinity and off by O(1/d).
            allowance=1.0 / d,
        )
        for k, name in enumerate(("random features", "one step"))
    ]
    plot = layers_plot("test error", list(errors[:3]), predicted[0].tolist(), "prediction")
    return Findings([*quantities, *_gap(errors)], plot)


def on_digits(setting: Fields, *, runs: int, **training: Any) -> Findings:
    """Errors on images of digits, whose label is whether the digit is even, as on Gaussian ones."""
    with digits() as path:
        law = {"inputs": f"data({path})", "target": "column(even)"}
        errors = _errors(Setting(**{**setting, **law}), runs, **training)
    plot = layers_plot("test error", list(errors[:3]), [1.0] * 3, "variance of the labels")
    return Findings(_gap(errors), plot)


def layers_plot(
    y_label: str, measured: Sequence[np.ndarray], line: Sequence[float], name: str
) -> Plot:
    """A number of the three networks beside predictions of the first ones."""
    x = [1.0, 2.0, 3.0]
    label = "1 random features, 2 one step, 3 training of both layers"
    curves = beside("simulation", x, measured, line, theory=name, joined=False)
    return Plot(label, y_label, curves)


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


RULE = (
    "One step closes between 10 % and 80 % of the gap in test error between random features "
    "and full training. Every training ends because its loss no longer changes."
)


def claim_on_training(
    name: str,
    *,
    setting: Fields,
    options: Fields | None = None,
    controls: Mapping[str, Changes] | None = None,
    **words: Any,
) -> Claim:
    """A network of 61 inputs and neurons with 600 samples a step, against its full training."""
    network = {"activation": RELU, "n": 600, "p": 61, "readout_n": 600, "step_size": "1.5*n^0.32"}
    nothing = {
        "a step that does nothing": Changes(options={"taken": 0.0}),
        "a training of two iterations": Changes(options={"iterations": 2}),
    }
    return Claim(
        id=name,
        setting={**WIDE, **network, **setting},
        options={"taken": 1.0, "penalty": 0.01, "iterations": 4000, **(options or {})},
        controls=nothing | dict(controls or {}),
        tuned=one_at_a_time(
            setting={"step_size": ("0.75*n^0.32", "3*n^0.32")}, options={"penalty": (0.005, 0.02)}
        ),
        **words,
    )


CLAIMS = (
    claim_on_training(
        "one-step-against-training",
        statement=(
            "On Gaussian inputs, one giant step followed by ridge regression achieves part "
            "of the gain of training both layers to convergence, but not all of it."
        ),
        source=sources.question(
            sources.ONE_STEP, "one step against full training", "Both layers are trained."
        ),
        regime=(
            "There are $d=61$ inputs, $p=61$ neurons, 600 samples for the step and 600 for "
            "the readout, as in the experiment on digits. Training sees all 1200."
        ),
        rule=(
            "The test errors of random features and of one step are within a fifth of "
            f"their predictions and as predicted. {RULE} No theory gives the error of training."
        ),
        experiment=against_training,
        setting={"test_n": 4000},
        options={"untold": {}},
        controls={"noise that theory is not told": Changes(options={"untold": {"noise": 1.0}})},
        quick={"d": 61, "runs": 14},
        full={"d": 61, "runs": 64},
    ),
    claim_on_training(
        "one-step-against-training-on-digits",
        needs="sklearn",
        statement=(
            "On images of digits, one giant step followed by ridge regression achieves part "
            "of the gain of training both layers to convergence, but not all of it."
        ),
        source=sources.question(
            sources.ONE_STEP,
            "one step against full training on real data",
            "Inputs are images of digits, and both layers are trained.",
        ),
        regime=(
            "Inputs are the 61 pixels that vary, standardised, of scikit-learn's 1797 images "
            "of digits. The label says whether the digit is even. There are $p=61$ neurons, "
            "600 samples for the step, 600 for the readout and 597 for the test. Training "
            "sees all 1200."
        ),
        rule=f"{RULE} No theory gives these errors.",
        experiment=on_digits,
        setting={"d": 61, "test_n": 597, "engine": "dense"},
        quick={"runs": 12},
        full={"runs": 64},
    ),
)
