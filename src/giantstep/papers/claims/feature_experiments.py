"""Experiments on what a ridge readout learns from the features after one giant step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import feature_moments
from giantstep.papers.claims.experiments import Fields, Runs, scaling_findings, with_runs
from giantstep.papers.claims.quantity import LEARNED, NOT_LEARNED, Region, mean_of
from giantstep.papers.claims.record import Findings
from giantstep.prediction.wide.losses import losses
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot, mean_curve
from giantstep.simulation.feature_models import (
    Model,
    conditional_equivalent,
    gaussian_equivalent,
    real_features,
    tables,
)
from giantstep.simulation.readout import Readout, fit_readout, squared_errors
from giantstep.simulation.stepped import SteppedRun, stepped_runs, table_errors
from giantstep.simulation.table import FeatureTable

SAME = 0.03
"""Relative difference of two errors up to which they are called equal."""

EQUAL: Region = (-SAME, SAME)
UNEQUAL: Region = (SAME, math.inf)
FAR_OFF: Region = (5.0 * SAME, math.inf)

MULTIPLE = 1.5
"""eta = 1.5 n^alpha, as the papers' eta of order n^alpha allows.

With relu the first two spikes leave at eta = 2.4 and 1.3 n^(1/4): in between, at the sizes in
reach, the numbers of spikes at 1.5 n^alpha are those of the limit.
"""

MODELS: Mapping[str, Callable[[SteppedRun], Model]] = {
    "gaussian": gaussian_equivalent,
    "conditional": conditional_equivalent,
}


def step_size(alpha: float, multiple: float = MULTIPLE) -> str:
    """eta = multiple n^alpha as a text; unit output scale and |a| = 1."""
    return f"{multiple}*n^{alpha:g}"


def spikes_in_the_limit(alpha: float) -> int:
    """l with (l-1)/(2l) < alpha < l/(2l+2), for an activation with c_1, .., c_l != 0."""
    # alpha > (l-1)/(2l) is l < 1/(1 - 2 alpha).
    return 0 if alpha <= 0 else math.ceil(1.0 / (1.0 - 2.0 * alpha)) - 1


def singular_values(features: Float[np.ndarray, "n p"], count: int = 4) -> Float[np.ndarray, " k"]:
    """The largest singular values of F/sqrt(n)."""
    from scipy.linalg import eigh

    n, p = features.shape
    gram = features.T @ features if n >= p else features @ features.T
    last = len(gram) - 1
    values = eigh(gram / n, eigvals_only=True, subset_by_index=[last + 1 - count, last])
    return np.sqrt(np.maximum(values[::-1], 0.0))


def training_features(setting: Setting, runs: int) -> Iterator[Float[np.ndarray, "n p"]]:
    """F = sigma(X W^T) of each run on the batch of the readout."""
    for step in stepped_runs(setting, range(runs)):
        yield step.features(step.training.inputs)


def stepped_features(step: SteppedRun, size: float) -> Float[np.ndarray, "n p"]:
    """F on the batch of the readout after a step of another size along the same gradient."""
    weights = step.start + size / step.setting.step_size[0] * (step.weights - step.start)
    return np.asarray(step.setting.activation(step.training.inputs @ weights.T), dtype=float)


# -- which model learns like the features ---------------------------------------------------------


def paired_errors(
    setting: Setting, models: Mapping[str, Callable[[SteppedRun], Model]], runs: int
) -> dict[str, Float[np.ndarray, "runs two"]]:
    """Train and test error of a ridge readout on each model, on the same data run by run."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for step in stepped_runs(setting, range(runs)):
        for name, make in models.items():
            found[name].append(table_errors(setting, *tables(step, make(step))))
    return {name: np.array(values) for name, values in found.items()}


def equivalence(fields: Fields, *, region: Region, d: Sequence[int], runs: Runs) -> Findings:
    """Relative excess of the errors of a model (field ``model``) over those of the features."""
    given = dict(fields)
    name = given.pop("model")
    models = {"features": real_features, name: MODELS[name]}
    errors = [
        paired_errors(Setting(**given | {"d": size}), models, drawn)
        for size, drawn in with_runs(d, runs)
    ]
    real, model = errors[-1]["features"], errors[-1][name]
    excess = (model - real) / real.mean(axis=0)
    quantities = [
        mean_of(f"excess of the {what} error", excess[:, column], region)
        for column, what in enumerate(("train", "test"))
    ]
    curves = []
    for column, what in enumerate(("train", "test")):
        curves.append(
            mean_curve(f"{what}, features", d, [e["features"][:, column] for e in errors])
        )
        means = [float(e[name][:, column].mean()) for e in errors]
        curves.append(Curve(f"{what}, {name} model", list(d), means, theory=True))
    return Findings(quantities, Plot("dimension $d$", "mean squared error", curves))


# -- what the readout learns ----------------------------------------------------------------------


def gains(fields: Fields, *, exponents: Sequence[float], d: int, runs: int) -> Findings:
    """Relative fall of the training objective and of the test error from spike to spike.

    Without a step, then at eta = ``multiple`` n^alpha for exponents of one spike and of two.
    """
    given = dict(fields)
    multiple = given.pop("multiple")
    setting = Setting(**given | {"d": d})
    sizes = [0.0, *(step_size(alpha, multiple) for alpha in exponents)]
    found = np.empty((len(sizes), runs, 2))
    for index, size in enumerate(sizes):
        sized = setting.vary(step_size=size)
        for step in stepped_runs(sized, range(runs)):
            drawn = tables(step, real_features(step))
            found[index, step.run] = objective_and_test_error(*drawn, setting)
    theory = [losses(setting.vary(step_size=size)) for size in sizes]
    predicted = np.array([[point.objective, point.test] for point in theory])
    quantities = []
    for index in range(1, len(sizes)):
        for column, what in enumerate(("objective", "test error")):
            before, after = found[index - 1 : index + 1, :, column]
            expected = 1.0 - predicted[index, column] / predicted[index - 1, column]
            name = f"gain of spike {index}, {what}"
            gain = (before - after) / before.mean()
            quantities.append(mean_of(name, gain, UNEQUAL, float(expected)))
    x = list(range(len(sizes)))
    curves = []
    for column, what in enumerate(("objective", "test error")):
        curves.append(mean_curve(what, x, list(found[:, :, column])))
        curves.append(Curve(what, x, predicted[:, column].tolist(), theory=True))
    return Findings(quantities, Plot("spikes", "training objective, test error", curves))


def objective_and_test_error(
    training: FeatureTable, test: FeatureTable, setting: Setting
) -> tuple[float, float]:
    """The objective at its minimum, and the test error there."""
    fit = fit_readout(training, setting)
    squares, _ = test.reduce(squared_errors, setting.scale * fit.weights)
    return _objective(fit), float(squares[0]) / test.count


def objective(training: FeatureTable, setting: Setting) -> float:
    """min over a of mean (y - s_p phi.a)^2 + ridge |a|^2."""
    return _objective(fit_readout(training, setting))


def _objective(fit: Readout) -> float:
    return float(fit.train_errors[0] + fit.penalties[0] * np.sum(fit.weights[0] ** 2))


def quadratic_share(fields: Fields, *, d: Sequence[int], runs: Runs) -> Findings:
    """E[fhat h_2(z)], h_2 = He2/sqrt 2: the share that is learned of a target's part h_2(z).

    With a step of the size in the field ``one_spike`` it falls with d, with one of ``two_spikes``
    it does not.
    """
    given = dict(fields)
    names = {"one spike": given.pop("one_spike"), "two spikes": given.pop("two_spikes")}
    shares: dict[str, list[Float[np.ndarray, " runs"]]] = {name: [] for name in names}
    for size, drawn in with_runs(d, runs):
        for name, eta in names.items():
            setting = Setting(**given | {"d": size, "step_size": eta})
            steps = stepped_runs(setting, range(drawn))
            shares[name].append(np.array([_share(step) for step in steps]))
    # Halfway between a constant and n^(-1/2), the sampling error of a share that is zero.
    regions = {"one spike": NOT_LEARNED, "two spikes": LEARNED}
    label = r"share learned of $h_2(\langle w^*, x\rangle)$"
    found = scaling_findings(d, shares, regions, {"two spikes": 0.0}, label)
    last = mean_of("share with two spikes", shares["two spikes"][-1], UNEQUAL)
    return Findings([*found.quantities, last], found.plot)


def _share(step: SteppedRun) -> float:
    """Exact given the readout: E[sigma(w.x) He2(x_1)] = E[sigma(|w| z) He2(z)] (w_1/|w|)^2."""
    training, _ = tables(step, real_features(step))
    readout = step.setting.scale * fit_readout(training, step.setting).weights[0]
    norms = np.linalg.norm(step.weights, axis=1)
    curve = feature_moments(step.setting.activation, np.zeros(len(norms)), norms).curve
    return float(readout @ (curve * (step.weights[:, 0] / norms) ** 2)) / math.sqrt(2.0)
