"""Experiments on what a ridge readout learns from the features after one giant step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import feature_moments
from giantstep.papers.claims.experiments import Fields, scaling_findings
from giantstep.papers.claims.record import LEARNED, NOT_LEARNED, Findings, Quantity, Region, mean_of
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.losses import losses
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.simulation.feature_models import (
    Model,
    OneStep,
    conditional_equivalent,
    expansion,
    gaussian_equivalent,
    labelled,
    real_features,
    ridge_errors,
    take_step,
)

SAME = 0.03
"""Relative difference of two errors up to which they are called equal."""

EQUAL: Region = (-SAME, SAME)
UNEQUAL: Region = (SAME, math.inf)

MULTIPLE = 1.5
"""eta = 1.5 n^alpha, as the papers' eta of order n^alpha allows.

With relu the first two spikes leave at eta = 2.4 and 1.3 n^(1/4): in between, at the sizes in
reach, the numbers of spikes at 1.5 n^alpha are those of the limit.
"""

MODELS: Mapping[str, Callable[[OneStep], Model]] = {
    "gaussian": gaussian_equivalent,
    "conditional": conditional_equivalent,
}


def step_size(alpha: float) -> str:
    """eta = 1.5 n^alpha as a text; unit output scale and |a| = 1."""
    return f"{MULTIPLE}*n^{alpha:g}"


def spikes_in_the_limit(alpha: float) -> int:
    """l with (l-1)/(2l) < alpha < l/(2l+2), for an activation with c_1, .., c_l != 0."""
    # alpha > (l-1)/(2l) is l < 1/(1 - 2 alpha).
    return 0 if alpha <= 0 else math.ceil(1.0 / (1.0 - 2.0 * alpha)) - 1


# -- one run --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """The readout's batch of one run, and its features after the step."""

    step: OneStep
    inputs: Float[np.ndarray, "n d"]
    labels: Float[np.ndarray, " n"]
    features: Float[np.ndarray, "n p"]

    @property
    def along(self) -> Float[np.ndarray, " n"]:
        """kappa = <beta/|beta|, x>."""
        spike = self.step.spike
        return self.inputs @ (spike / np.linalg.norm(spike))


def sample(setting: Setting, run: int, purpose: Purpose = Purpose.READOUT) -> Sample:
    """Inputs, labels and F = sigma(X W^T) of a run, on the batch of the readout or of the test."""
    step = take_step(setting, run)
    count = setting.test_n if purpose is Purpose.TEST else setting.readout_n
    inputs, labels = labelled(setting, count, run, purpose)
    features = real_features(step)(inputs, generator(setting.seed, run, Purpose.HIDDEN))
    return Sample(step, inputs, labels, features)


def singular_values(features: Float[np.ndarray, "n p"], count: int = 4) -> Float[np.ndarray, " k"]:
    """The largest singular values of F/sqrt(n)."""
    from scipy.linalg import eigh

    n, p = features.shape
    gram = features.T @ features if n >= p else features @ features.T
    last = len(gram) - 1
    values = eigh(gram / n, eigvals_only=True, subset_by_index=[last + 1 - count, last])
    return np.sqrt(np.maximum(values[::-1], 0.0))


def ridge_readout(
    features: Float[np.ndarray, "n p"], labels: Float[np.ndarray, " n"], ridge: float
) -> Float[np.ndarray, " p"]:
    """argmin over a of mean (y - phi.a)^2 + ridge |a|^2."""
    n, p = features.shape
    return np.linalg.solve(features.T @ features / n + ridge * np.eye(p), features.T @ labels / n)


# -- which model learns like the features ---------------------------------------------------------


def paired_errors(
    setting: Setting, models: Mapping[str, Callable[[OneStep], Model]], runs: int
) -> dict[str, Float[np.ndarray, "runs two"]]:
    """Train and test error of a ridge readout on each model, on the same data run by run."""
    assert setting.ridge != "cv"
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for run in range(runs):
        step = take_step(setting, run)
        inputs, labels = labelled(setting, setting.readout_n, run, Purpose.READOUT)
        others, answers = labelled(setting, setting.test_n, run, Purpose.TEST)
        for name, make in models.items():
            model, key = make(step), generator(setting.seed, run, Purpose.HIDDEN)
            phi, psi = model(inputs, key), model(others, key)
            found[name].append(ridge_errors(phi, labels, psi, answers, setting.ridge[0]))
    return {name: np.array(values) for name, values in found.items()}


def equivalence(fields: Fields, *, region: Region, d: Sequence[int], runs: int) -> Findings:
    """Relative excess of the errors of a model (field ``model``) over those of the features."""
    given = dict(fields)
    name = given.pop("model")
    models = {"features": real_features, name: MODELS[name]}
    errors = [paired_errors(Setting(**given | {"d": size}), models, runs) for size in d]
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


def expansions(fields: Fields, *, exponents: Sequence[float], d: int, runs: int) -> Findings:
    """Excess of the errors with F_l over those with F, as a share of the excess with F_(l-1).

    l is that of the limit at each exponent, less the field ``missing``.  0 is equivalence, 1 is no
    better than one spike fewer.
    """
    given = dict(fields)
    missing = given.pop("missing")
    quantities: list[Quantity] = []
    curves: dict[str, list[np.ndarray]] = {}
    for alpha in exponents:
        setting = Setting(**given | {"d": d, "step_size": step_size(alpha)})
        order = spikes_in_the_limit(alpha)
        models: dict[str, Callable[[OneStep], Model]] = {"features": real_features}
        for k in {order - missing, order - 1}:
            models[f"F{k}"] = lambda step, k=k: expansion(step, k)  # type: ignore[misc]
        errors = paired_errors(setting, models, runs)
        for column, what in enumerate(("train", "test")):
            real = errors["features"][:, column]
            fewer = errors[f"F{order - 1}"][:, column] - real
            excess = errors[f"F{order - missing}"][:, column] - real
            share = excess / fewer.mean()
            name = f"l = {order}, {what}"
            # Halfway between equivalence and one spike fewer.
            quantities.append(mean_of(f"{name}: share of the excess", share, (-0.5, 0.5), 0.0))
            curves.setdefault(f"{what}, F", []).append(real)
            curves.setdefault(f"{what}, F_l", []).append(excess + real)
    drawn = [mean_curve(name, exponents, v) for name, v in curves.items()]
    lines = [Curve(c.label, c.x, c.y, theory=True) if c.label.endswith("F_l") else c for c in drawn]
    return Findings(quantities, Plot(r"step size exponent $\alpha$", "mean squared error", lines))


# -- what the readout learns ----------------------------------------------------------------------


def gains(fields: Fields, *, exponents: Sequence[float], d: int, runs: int) -> Findings:
    """Relative fall of the training objective and of the test error from spike to spike.

    Without a step, then at eta = 1.5 n^alpha for exponents of one spike and of two.
    """
    setting = Setting(**dict(fields) | {"d": d})
    assert setting.ridge != "cv"
    ridge, sizes = setting.ridge[0], [0.0, *(step_size(alpha) for alpha in exponents)]
    found = np.empty((len(sizes), runs, 2))
    for index, size in enumerate(sizes):
        sized = setting.vary(step_size=size)
        for run in range(runs):
            train, test = sample(sized, run), sample(sized, run, Purpose.TEST)
            readout = ridge_readout(train.features, train.labels, ridge)
            # The minimum of mean (y - phi.a)^2 + ridge |a|^2 is mean y (y - phi.a).
            found[index, run, 0] = np.mean(train.labels * (train.labels - train.features @ readout))
            found[index, run, 1] = np.mean((test.labels - test.features @ readout) ** 2)
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


def quadratic_share(fields: Fields, *, d: Sequence[int], runs: int) -> Findings:
    """E[fhat h_2(z)], h_2 = He2/sqrt 2: the share that is learned of a target's part h_2(z).

    With a step of the size in the field ``one_spike`` it falls with d, with one of ``two_spikes``
    it does not.  ``runs`` are those of the largest d; smaller ones have more.
    """
    given = dict(fields)
    names = {"one spike": given.pop("one_spike"), "two spikes": given.pop("two_spikes")}
    shares: dict[str, list[Float[np.ndarray, " runs"]]] = {name: [] for name in names}
    for size in d:
        for name, eta in names.items():
            setting = Setting(**given | {"d": size, "step_size": eta})
            drawn = range(runs * d[-1] // size)
            shares[name].append(np.array([_share(setting, run) for run in drawn]))
    # Halfway between a constant and n^(-1/2), the sampling error of a share that is zero.
    regions = {"one spike": NOT_LEARNED, "two spikes": LEARNED}
    label = r"share learned of $h_2(\langle w^*, x\rangle)$"
    found = scaling_findings(d, shares, regions, {"two spikes": 0.0}, label)
    last = mean_of("share with two spikes", shares["two spikes"][-1], UNEQUAL)
    return Findings([*found.quantities, last], found.plot)


def _share(setting: Setting, run: int) -> float:
    """Exact given the readout: E[sigma(w.x) He2(x_1)] = E[sigma(|w| z) He2(z)] (w_1/|w|)^2."""
    assert setting.ridge != "cv"
    drawn = sample(setting, run)
    readout = ridge_readout(drawn.features, drawn.labels, setting.ridge[0])
    weights = drawn.step.weights
    norms = np.linalg.norm(weights, axis=1)
    curve = feature_moments(setting.activation, np.zeros(len(norms)), norms).curve
    return float(readout @ (curve * (weights[:, 0] / norms) ** 2)) / math.sqrt(2.0)
