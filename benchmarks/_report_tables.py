"""Tables for the benchmark of reports: planted ones with a known truth, and real ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn import datasets

from benchmarks import _tables
from giantstep.reports.table import Column, Table, make_column, make_table, table_of

Array = np.ndarray

COLUMNS = 6
"""Columns of planted tables."""

BENT = "(rises|falls) all the way"
STRAIGHT = "straight (line|within)"


@dataclass(frozen=True)
class Planted:
    """A table with a known truth.

    label -> of inputs and a generator; axes -> columns and their weights in the true directions,
    the strongest first; along -> E[label | direction 1] where the target has one direction; shape
    -> what is to be said of direction 1; better -> the peer that is to be named, where it is one;
    chain -> correlation of a column with the one before; weak -> whether rows as few as those of
    the benchmark may miss its directions, which are then to be called uncertain or not be named;
    words -> whether the last column holds words, and it and x3 have gaps; named -> the columns that
    are to be named, where they are not those of ``axes``.
    """

    name: str
    label: Callable[[Array, np.random.Generator], Array]
    axes: tuple[dict[int, float], ...]
    along: Callable[[Array], Array] | None = None
    shape: str | None = None
    better: str | None = None
    chain: float = 0.0
    weak: bool = False
    words: bool = False
    named: tuple[str, ...] = ()

    @property
    def columns(self) -> set[str]:
        """The columns that make the directions."""
        return set(self.named) or {f"x{column + 1}" for axis in self.axes for column in axis}

    @property
    def basis(self) -> Array:
        """Orthonormal rows that span the true directions, as weights of columns."""
        rows = np.zeros((len(self.axes), COLUMNS))
        for row, axis in zip(rows, self.axes, strict=True):
            row[list(axis)] = list(axis.values())
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def draw(self, rows: int, seed: int) -> Table:
        """Gaussian inputs and their labels."""
        # Other inputs for every kind of table, so that kinds can be counted together.
        key = np.random.default_rng([seed, *self.name.encode()])
        x = key.standard_normal((rows, COLUMNS))
        for j in range(1, COLUMNS):
            x[:, j] = self.chain * x[:, j - 1] + np.sqrt(1.0 - self.chain**2) * x[:, j]
        if not self.words:
            return table_of(x, self.label(x, key))
        label, cells = self.label(x, key), x.astype(object)
        cells[:, -1] = WORDS[_place(x)]
        gaps = key.random((rows, COLUMNS)) < GAPS
        # A gap that hides a red row would make a missing word one that matters.
        gaps[:, -1] &= _place(x) != 0
        cells[gaps] = None
        named = [(f"x{j + 1}", cells[:, j]) for j in range(COLUMNS)]
        return make_table(
            [*(make_column(*each) for each in named), Column("label", label)], "label"
        )


WORDS = np.array(["red", "green", "blue", "grey"], dtype=object)
"""Words of the last column of a table of words."""

GAPS = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.1])
"""Share of empty cells in its columns: those that matter have none, and missing is a word."""


def _place(x: Array) -> Array:
    """The word of each row: four that are about as frequent."""
    return np.digitize(x[:, -1], [-0.67, 0.0, 0.67])


def _noise(x: Array, key: np.random.Generator, size: float = 0.3) -> Array:
    return size * key.standard_normal(len(x))


def _mixed(x: Array) -> Array:
    return (x[:, 0] - x[:, 1]) / np.sqrt(2.0)


def _chained(x: Array) -> Array:
    """x1 - x3 with variance one: their correlation is .6^2."""
    return (x[:, 0] - x[:, 2]) / np.sqrt(2.0 * (1.0 - 0.36))


def _chance(u: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-4.0 * u))


DIFFERENCE = ({0: 1.0, 1: -1.0},)

PLANTED = (
    Planted(
        "bent line",
        lambda x, key: np.tanh(2.0 * _mixed(x)) + _noise(x, key),
        DIFFERENCE,
        lambda u: np.tanh(2.0 * u),
        BENT,
    ),
    Planted(
        "absolute value",
        lambda x, key: np.abs(_mixed(x)) + _noise(x, key),
        DIFFERENCE,
        np.abs,
        "has a valley",
    ),
    Planted(
        "weak",
        lambda x, key: np.abs(_mixed(x)) + _noise(x, key, 1.2),
        DIFFERENCE,
        np.abs,
        weak=True,
    ),
    Planted(
        "product",
        lambda x, key: x[:, 0] + x[:, 0] * x[:, 1] + _noise(x, key),
        ({0: 1.0}, {1: 1.0}),
        # A direction that errs a little towards x2 bends the line.
        shape=f"{STRAIGHT}|{BENT}",
    ),
    Planted(
        "two classes",
        lambda x, key: np.where(key.random(len(x)) < _chance(_mixed(x)), "b", "a"),
        DIFFERENCE,
        _chance,
        BENT,
    ),
    Planted(
        "correlated columns",
        lambda x, key: _chained(x) + _noise(x, key, 0.7),
        ({0: 1.0, 2: -1.0},),
        lambda u: u,
        STRAIGHT,
        chain=0.6,
    ),
    Planted(
        "heavy noise",
        lambda x, key: np.tanh(2.0 * _mixed(x)) + 0.3 * key.standard_t(5.0, len(x)),
        DIFFERENCE,
        lambda u: np.tanh(2.0 * u),
        BENT,
    ),
    Planted(
        "words and gaps",
        lambda x, key: 2.0 * np.abs(_mixed(x)) + 1.5 * (_place(x) == 0) + _noise(x, key),
        ({0: 1.0, 1: -1.0}, {5: 1.0}),
        shape="has a valley",
        words=True,
        named=("x1", "x2", "x6 = red"),
    ),
    Planted("nothing", lambda x, key: key.standard_normal(len(x)), ()),
    Planted(
        "jumps",
        lambda x, key: np.sum(np.sign(np.sin(2.5 * x)), axis=1) + _noise(x, key),
        (),
        better="boosting",
    ),
)


def _neuron() -> tuple[Array, Array]:
    """Inputs of a trained network on digits, and the activation of its most active neuron."""
    from sklearn.neural_network import MLPClassifier

    x, y = datasets.load_digits(return_X_y=True)
    network = MLPClassifier((16,), max_iter=60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sixty passes are enough for a neuron to look at
        network.fit(x / 16.0, y)
    hidden = np.maximum(x / 16.0 @ network.coefs_[0] + network.intercepts_[0], 0.0)
    return x, hidden[:, int(np.argmax(hidden.var(axis=0)))]


REAL: dict[str, Callable[[], tuple[Array, Array]]] = {
    "neuron on digits": _neuron,
    "iris": lambda: datasets.load_iris(return_X_y=True),
}
"""Tables beside those of ``_tables``: another small one, and a neuron that was trained."""

NAMES = (*_tables.NAMES, *REAL)


def load(name: str) -> tuple[Array, Array]:
    """Columns and labels of a real table; ImportError where its package is not installed."""
    return REAL[name]() if name in REAL else _tables.load(name)
