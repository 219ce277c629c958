"""The classifier against its peers: a line for each cell and method.

``python -m benchmarks classification --cells 'planted/*' --methods all --seeds 5``.  A line
holds cell, seed, method, accuracy, log loss and calibration error on fresh rows (mean over fifteen
bins of equal size of |confidence - accuracy|), directions found, processor seconds of the fit and
its predictions.  ``bayes`` is what the true probabilities would have scored.

planted/TARGET/D/N   Gaussian inputs: sign (1 in 10 labels flipped), product and steep (logistic of
                     2 and 6 times x1 + x1 x2), linear, rare (about 6 in 100), plane (three classes)
noise/CLASSES/N/D    classes that depend on nothing
table/NAME           400 rows of a real table, scored on others
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fnmatch import fnmatch
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks import _tables
from giantstep import GiantStepClassifier

Array = np.ndarray

TARGETS: dict[str, Callable[[Array], Array]] = {
    "sign": lambda u: np.where(u[0] * u[1] > 0, 0.9, 0.1),
    "product": lambda u: expit(2.0 * (u[0] + u[0] * u[1])),
    "steep": lambda u: expit(6.0 * (u[0] + u[0] * u[1])),
    "linear": lambda u: expit(3.0 * u[0]),
    "rare": lambda u: expit(-4.6 + 2.0 * (u[0] + u[0] * u[1])),
    "plane": lambda u: softmax(
        3.0 * u.T @ [[1.0, -0.5, -0.5], [0.0, 0.75**0.5, -(0.75**0.5)]], axis=1
    ),
}
"""Probability of the second class, or of each class, given two coordinates."""

BINS = 15

Sample = tuple[Array, Array, Array, Array, Array | None]
"""Training rows and classes, test rows and classes, and their true probabilities where known."""


def planted(target: str, d: int, n: int, key: np.random.Generator) -> Sample:
    """Classes drawn with the probabilities of the list."""
    x = key.standard_normal((n + _tables.TEST_ROWS, d))
    chance = TARGETS[target]((x @ np.linalg.qr(key.standard_normal((d, 2)))[0]).T)
    if chance.ndim == 1:
        chance = np.column_stack([1.0 - chance, chance])
    y = np.sum(key.uniform(size=(len(x), 1)) > np.cumsum(chance, axis=1)[:, :-1], axis=1)
    return x[:n], y[:n], x[n:], y[n:], chance[n:]


def pure_noise(classes: int, n: int, d: int, key: np.random.Generator) -> Sample:
    """Classes of unequal frequency that know nothing of the inputs."""
    rows = n + _tables.TEST_ROWS
    frequency = np.arange(1.0, classes + 1.0) / np.arange(1.0, classes + 1.0).sum()
    x, y = key.standard_t(3, (rows, d)), key.choice(classes, rows, p=frequency)
    return x[:n], y[:n], x[n:], y[n:], np.broadcast_to(frequency, (rows - n, classes))


def table(name: str, key: np.random.Generator) -> Sample:
    """Rows of a real table."""
    x, y, x_test, y_test = _tables.split(name, key)
    return x, y.astype(int), x_test, y_test.astype(int), None


def boosting() -> Any:
    """Histogram gradient boosting at its defaults."""
    return HistGradientBoostingClassifier(random_state=0)


def logistic() -> Any:
    """Logistic regression, its penalty cross-validated."""
    return make_pipeline(
        StandardScaler(),
        LogisticRegressionCV(
            Cs=np.logspace(-3, 2, 6),
            l1_ratios=(0.0,),
            use_legacy_attributes=False,
            cv=3,
            scoring="neg_log_loss",
            max_iter=10_000,
        ),
    )


def mlp() -> Any:
    """A network of one hidden layer, its decay cross-validated."""
    network = MLPClassifier((100,), max_iter=500, random_state=0, early_stopping=False)
    grid = {"mlpclassifier__alpha": [1e-2, 1.0, 10.0]}
    return GridSearchCV(
        make_pipeline(StandardScaler(), network), grid, cv=3, scoring="neg_log_loss"
    )


METHODS: dict[str, Callable[[], Any]] = {
    "giantstep": GiantStepClassifier,
    "boosting": boosting,
    "logistic": logistic,
    "mlp": mlp,
}


def scores(
    chance: Float[Array, "n k"], y: Int[Array, " n"], classes: Int[Array, " k"]
) -> tuple[float, float, float]:
    """Accuracy, log loss and calibration error."""
    place = np.searchsorted(classes, y)
    right, confidence = chance.argmax(axis=1) == place, chance.max(axis=1)
    loss = -np.mean(np.log(np.maximum(chance[np.arange(len(y)), place], 1e-12)))
    bins = np.array_split(np.argsort(confidence, kind="stable"), BINS)
    gaps = [abs(confidence[part].mean() - right[part].mean()) for part in bins]
    return float(right.mean()), float(loss), float(np.mean(gaps))


def cells() -> dict[str, Callable[[np.random.Generator], Sample]]:
    """Every cell by its name."""
    found: dict[str, Callable[[np.random.Generator], Sample]] = {}
    sizes = {"product": (20, 1000), "linear": (20, 200), "rare": (10, 1000)}
    for target in TARGETS:
        d, n = sizes.get(target, (10, 400))
        found[f"planted/{target}/{d}/{n}"] = _cell(planted, target, d, n)
    for classes, n, d in [(2, 100, 10), (2, 400, 40), (3, 200, 20)]:
        found[f"noise/{classes}/{n}/{d}"] = _cell(pure_noise, classes, n, d)
    for name in _tables.CLASSES:
        found[f"table/{name}"] = _cell(table, name)
    return found


def _cell(
    draw: Callable[..., Sample], *arguments: object
) -> Callable[[np.random.Generator], Sample]:
    return lambda key: draw(*arguments, key)


def main() -> None:
    """Run the chosen cells, seeds and methods."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", default="*", help="names or patterns, by commas")
    parser.add_argument("--methods", default="giantstep,logistic", help="by commas, or all")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds")
    options = parser.parse_args()
    patterns = options.cells.split(",")
    methods = list(METHODS) if options.methods == "all" else options.methods.split(",")
    for name, draw in cells().items():
        if not any(fnmatch(name, pattern) for pattern in patterns):
            continue
        for seed in range(options.seed, options.seed + options.seeds):
            # A cell has its own stream: a seed gives the same rows whatever else is run.
            x, y, x_test, y_test, truth = draw(np.random.default_rng([seed, *name.encode()]))
            found = {}
            for method in methods:
                start = time.process_time()
                with threadpool_limits(limits=1):
                    fit = METHODS[method]().fit(x, y)
                    chance = fit.predict_proba(x_test)
                seconds = time.process_time() - start
                k = str(getattr(fit, "n_directions_", "-"))
                found[method] = scores(chance, y_test, fit.classes_), k, seconds
            if truth is not None:
                found["bayes"] = scores(truth, y_test, np.arange(truth.shape[1])), "-", 0.0
            for method, ((accuracy, loss, gap), k, seconds) in found.items():
                print(
                    f"classification  {name}  seed {seed}  {method}  accuracy {accuracy:.4f}  "
                    f"log loss {loss:.4f}  calibration {gap:.4f}  k {k}  {seconds:.2f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
