"""Peers of the estimator at sensible settings: a fit gives its predictions and, if any, a span."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from giantstep.estimator.regressor import GiantStepRegressor

Array = np.ndarray

KERNEL_ROWS = 3_000
"""Rows that a kernel method sees at most: its cost is their cube."""

ANCHORS = 400
"""Rows at which gradients are estimated for their outer product."""


@dataclass(frozen=True)
class Task:
    """Training and test rows, and the span that a told peer is given."""

    x: Float[Array, "n d"]
    y: Float[Array, " n"]
    x_test: Float[Array, "m d"]
    span: Float[Array, "d k"] | None


@dataclass(frozen=True)
class Answer:
    """Predictions of the test rows, a span and how many directions were found."""

    predicted: Float[Array, " m"]
    span: Float[Array, "d k"] | None = None
    k: int | None = None


def giantstep(task: Task) -> Answer:
    """The estimator at its defaults."""
    fit = GiantStepRegressor().fit(task.x, task.y)
    span = np.nan_to_num(fit.directions_.T)
    return Answer(fit.predict(task.x_test), span, fit.n_directions_)


def giantstep_soft(task: Task) -> Answer:
    """The estimator without its span."""
    return Answer(GiantStepRegressor(max_directions=0).fit(task.x, task.y).predict(task.x_test))


def _kernel_ridge(x: Array, y: Array, x_test: Array) -> Array:

    x, y, d = x[:KERNEL_ROWS], y[:KERNEL_ROWS], x.shape[1]
    grid = {
        "kernelridge__alpha": [1e-3, 1e-2, 1e-1, 1.0, 10.0],
        "kernelridge__gamma": [g / d for g in (0.05, 0.2, 0.7, 2.0)],
    }
    model = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    mean = y.mean()
    return mean + GridSearchCV(model, grid, cv=3).fit(x, y - mean).predict(x_test)


def oracle(task: Task) -> Answer:
    """Kernel ridge on the true projection."""
    assert task.span is not None
    return Answer(_kernel_ridge(task.x @ task.span, task.y, task.x_test @ task.span), task.span)


def kernel_ridge(task: Task) -> Answer:
    """Kernel ridge on all columns."""
    return Answer(_kernel_ridge(task.x, task.y, task.x_test))


def boosting(task: Task) -> Answer:
    """Histogram gradient boosting at its defaults."""
    model = HistGradientBoostingRegressor(random_state=0)
    return Answer(model.fit(task.x, task.y).predict(task.x_test))


def mlp(task: Task) -> Answer:
    """A network of one hidden layer, early stopping, its decay cross-validated."""
    network = MLPRegressor(
        hidden_layer_sizes=(100,), early_stopping=True, max_iter=500, random_state=0
    )
    scaled = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), network), transformer=StandardScaler()
    )
    grid = {"regressor__mlpregressor__alpha": [1e-4, 1e-1, 1.0]}
    model = GridSearchCV(scaled, grid, cv=3) if len(task.y) <= 2_000 else scaled
    return Answer(np.asarray(model.fit(task.x, task.y).predict(task.x_test)).ravel())


def random_features(task: Task) -> Answer:
    """Ridge on 1,000 random relu neurons, the penalty by leave-one-out."""
    key, scaler = np.random.default_rng(0), StandardScaler().fit(task.x)
    rows = key.standard_normal((task.x.shape[1], 1_000)) / np.sqrt(task.x.shape[1])
    bias = key.standard_normal(1_000)
    phi, phi_test = (
        np.maximum(scaler.transform(x) @ rows + bias, 0.0) for x in (task.x, task.x_test)
    )
    return Answer(RidgeCV(np.logspace(-3, 5, 17)).fit(phi, task.y).predict(phi_test))


def linear(task: Task) -> Answer:
    """Ridge regression."""
    model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 5, 17)))
    return Answer(model.fit(task.x, task.y).predict(task.x_test))


def _on(task: Task, directions: Array) -> Answer:
    """Kernel ridge on as many leading directions as the true span has."""
    assert task.span is not None
    span = np.linalg.qr(np.asarray(directions)[:, : task.span.shape[1]])[0]
    return Answer(_kernel_ridge(task.x @ span, task.y, task.x_test @ span), span)


def _dimension_reduction(name: str) -> Callable[[Task], Answer]:
    def fit(task: Task) -> Answer:
        from statsmodels.regression import dimred

        model = getattr(dimred, name)(task.y, task.x)
        return _on(task, model.fit().params)

    return fit


def gradients(task: Task) -> Answer:
    """Outer product of gradients of local linear fits (OPG), twice: the second on its own span."""
    assert task.span is not None
    x = (task.x - task.x.mean(axis=0)) / task.x.std(axis=0)
    n, d = x.shape
    k, metric = task.span.shape[1], np.eye(d)
    for size in (d, k):
        seen = x @ metric
        total = np.zeros((d, d))
        for anchor in range(min(n, ANCHORS)):
            distance = np.sum((seen - seen[anchor]) ** 2, axis=1)
            # Bandwidth: the rows that a local fit needs, and a rate in the dimension.
            reach = np.sort(distance)[min(n - 1, max(2 * d, int(n ** (4 / (4 + size)))))]
            weight = np.exp(-0.5 * distance / reach)
            local = np.column_stack([np.ones(n), x - x[anchor]])
            gram = (local * weight[:, None]).T @ local + 1e-3 * weight.sum() * np.eye(d + 1)
            slope = np.linalg.solve(gram, local.T @ (weight * task.y))[1:]
            total += np.outer(slope, slope)
        metric = np.linalg.eigh(total)[1][:, ::-1][:, :k]
    return _on(task, metric / task.x.std(axis=0)[:, None])


def xrfm(task: Task) -> Answer:
    """xRFM at its defaults, a fifth of the rows for validation."""
    import torch
    from xrfm import xRFM

    torch.set_num_threads(1)
    cut = len(task.y) * 4 // 5
    mean, scale = task.x.mean(axis=0), task.x.std(axis=0) + 1e-12
    x, x_test = ((part - mean) / scale for part in (task.x, task.x_test))
    centre, spread = task.y.mean(), task.y.std() or 1.0
    y = ((task.y - centre) / spread)[:, None]
    parts = [torch.tensor(a, dtype=torch.float32) for a in (x[:cut], y[:cut], x[cut:], y[cut:])]
    model: Any = xRFM(device=torch.device("cpu"), tuning_metric="mse")
    model.fit(*parts)
    found = np.asarray(model.predict(torch.tensor(x_test, dtype=torch.float32))).ravel()
    return Answer(centre + spread * found)


PEERS: dict[str, Callable[[Task], Answer]] = {
    "giantstep": giantstep,
    "giantstep-soft": giantstep_soft,
    "boosting": boosting,
    "mlp": mlp,
    "kernel-ridge": kernel_ridge,
    "random-features": random_features,
    "linear": linear,
    "xrfm": xrfm,
}

TOLD: dict[str, Callable[[Task], Answer]] = {
    "oracle": oracle,
    "sir": _dimension_reduction("SlicedInverseReg"),
    "save": _dimension_reduction("SlicedAverageVarianceEstimation"),
    "phd": _dimension_reduction("PrincipalHessianDirections"),
    "opg": gradients,
}
"""Peers that are told the true number of directions, or the directions themselves."""
