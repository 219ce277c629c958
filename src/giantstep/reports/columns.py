"""Columns made into numbers by scikit-learn's own preprocessing, which is chosen here and said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from jaxtyping import Bool
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from giantstep.errors import InputError
from giantstep.reports.table import Column, Table, word_of

MOST_CATEGORIES = 20
"""Categories of a column that become a column of their own; rarer ones are one together."""

LEAST_ROWS = 5
"""Rows that a category must have: with fewer its weight is noise."""


@dataclass(frozen=True)
class Encoded:
    """A column of numbers that the front makes, named as a reader would write it.

    source -> the column of the table that it comes from; complete -> whether it is one of the 0/1
    columns of all categories of its source, which sum to one.
    """

    name: str
    source: str
    complete: bool = False


@dataclass(frozen=True)
class Prepared:
    """The rows as scikit-learn takes them, how columns become numbers, and what was done.

    rows -> a frame where pandas is there, else an array of numbers and words; sources -> names of
    the columns in use.  ``said`` has a sentence for everything that was done to a column.
    """

    rows: Any
    sources: list[str]
    numbers: list[int]
    words: list[int]
    said: tuple[str, ...]

    def take(self, index: np.ndarray) -> Any:
        """Some of the rows."""
        return self.rows.iloc[index] if hasattr(self.rows, "iloc") else self.rows[index]

    def front(self) -> ColumnTransformer:
        """Medians for gaps in numbers, with a column that says where; columns for categories."""
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=LEAST_ROWS,
            max_categories=MOST_CATEGORIES,
            drop="if_binary",
            sparse_output=False,
        )
        imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        # Frames may hold categories that are numbers or truth values; here they are words.
        words = FunctionTransformer(as_words, feature_names_out="one-to-one")
        parts = [
            ("numbers", imputer, self.numbers),
            ("words", make_pipeline(words, encoder), self.words),
        ]
        return ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.0)

    def encoded(self, front: ColumnTransformer) -> list[Encoded]:
        """The columns that a fitted front gives."""
        listed: list[Encoded] = []
        for part, fitted, places in front.transformers_:
            given = [self.sources[place] for place in places] if part != "remainder" else []
            if part == "numbers":
                gaps = fitted.indicator_.features_
                listed += [Encoded(name, name) for name in given]
                listed += [Encoded(f"{given[j]} is missing", given[j]) for j in gaps]
            elif part == "words":
                for j, name in enumerate(given):
                    values = _kept(fitted[-1], j)
                    listed += [Encoded(f"{name} = {v}", name, len(values) > 1) for v in values]
        return listed

    def shortened(self, front: ColumnTransformer, heavy: Bool[np.ndarray, " d"]) -> list[str]:
        """What is said of the columns whose tails an estimator draws in."""
        names = np.array(self.encoded_names(front), dtype=object)[heavy]
        if not len(names):
            return []
        return [
            f"Columns with heavy tails ({_listed(names)}) are shortened: extreme values are drawn "
            "towards the middle. Weights, directions and how far these are from Gaussian are those "
            "of the shortened columns. Correlations, kurtosis of columns and random directions are "
            "those of the columns as they are."
        ]

    def encoded_names(self, front: ColumnTransformer) -> list[str]:
        """Names of the columns that a fitted front gives."""
        return [each.name for each in self.encoded(front)]


def as_words(cells: Any) -> np.ndarray:
    """Cells of a frame or an array as words, None for gaps, as a table of a report has them."""
    array = np.asarray(cells, dtype=object)
    words = np.empty(array.size, dtype=object)
    words[:] = [word_of(cell) for cell in array.flat]
    return words.reshape(array.shape)


def _kept(encoder: OneHotEncoder, j: int) -> list[str]:
    """The categories of column j that have a column of their own."""
    rare = encoder.infrequent_categories_[j]
    rare = [] if rare is None else list(rare)
    kept = [value for value in encoder.categories_[j] if value not in rare]
    kept += ["any other"] if rare else []
    if encoder.drop_idx_ is not None and encoder.drop_idx_[j] is not None:
        kept.pop(int(encoder.drop_idx_[j]) if len(kept) > 1 else 0)
    # Frames may hold a gap as None or as NaN, which differs from itself.
    return ["missing" if value is None or value != value else str(value) for value in kept]


def prepare(table: Table) -> Prepared:
    """Which columns are in use and how; refused if none is left."""
    if not table.columns:
        raise InputError("the table must have a column beside the label, got none")
    said, used = [], []
    for column in table.columns:
        reason = _useless(column)
        if reason is None:
            used.append(column)
        else:
            said.append(f"Column {column.name!r} is left out: {reason}.")
    if not used:
        raise InputError(f"no column can be used: {said[0][0].lower()}{said[0][1:].rstrip('.')}")
    numbers = [j for j, column in enumerate(used) if column.numeric]
    words = [j for j, column in enumerate(used) if not column.numeric]
    said += _gaps([used[j] for j in numbers]) + _categories([used[j] for j in words])
    return Prepared(_rows(used, words), [c.name for c in used], numbers, words, tuple(said))


def _useless(column: Column) -> str | None:
    """Why a column cannot be used, None if it can."""
    distinct, present = column.distinct, int(np.sum(~column.missing))
    if present == 0:
        return "all of its cells are empty"
    if distinct == 1 and present == len(column.values):
        return "all of its cells are the same"
    if names_rows(column):
        return f"its {distinct:,} different words name single rows"
    return None


def names_rows(column: Column) -> bool:
    """Whether a column has so many different words that they name single rows."""
    present = int(np.sum(~column.missing))
    return not column.numeric and column.distinct > max(MOST_CATEGORIES, present // 2)


def _gaps(columns: Sequence[Column]) -> list[str]:
    gaps = [column for column in columns if column.missing.any()]
    if not gaps:
        return []
    cells = sum(int(column.missing.sum()) for column in gaps)
    return [
        f"Gaps in columns of numbers ({_listed([c.name for c in gaps])}; {cells:,} in all) are "
        "filled with the median, and a further column says where they are (SimpleImputer)."
    ]


def _categories(columns: Sequence[Column]) -> list[str]:
    if not columns:
        return []
    return [
        f"Columns of words ({_listed([column.name for column in columns])}) become columns of 0 "
        "and 1 (OneHotEncoder).",
        f"Categories with fewer than {LEAST_ROWS} rows, and all beyond {MOST_CATEGORIES} of a "
        "column, are joined into one.",
    ]


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def _rows(columns: Sequence[Column], words: Sequence[int]) -> Any:
    """A frame where pandas is there, so that the fitted model takes frames; else an array."""
    if find_spec("pandas") is None:
        kind = object if words else float
        array = np.empty((len(columns[0].values), len(columns)), dtype=kind)
        for j, column in enumerate(columns):
            array[:, j] = column.values
        return array
    import pandas

    frame = pandas.DataFrame({column.name: column.values for column in columns})
    return frame.astype({columns[j].name: object for j in words})
