"""Laws of the inputs x, each a record: how it is typed, checked and drawn.  A new one is one entry.

Every law fills a block row by row, so that fewer samples are a prefix of more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.problem.tables import DataSet, data_set, standardised, whitened


@dataclass(frozen=True)
class InputLaw:
    """A law with mean 0 and (but for ``correlated`` and raw data) covariance the identity."""

    kind: str
    parameter: float = 0.0
    path: str = ""

    @property
    def law(self) -> Law:
        """What there is to know about this kind of law."""
        return LAWS[self.kind]

    @property
    def text(self) -> str:
        """The law as it is typed."""
        if self.law.table:
            return f"{self.kind}({self.path})"
        if self.law.parameter is None:
            return self.kind
        short = f"{self.parameter:g}"
        return f"{self.kind}({short if float(short) == self.parameter else repr(self.parameter)})"

    @property
    def is_gaussian(self) -> bool:
        """Whether x ~ N(0, I), the law of the deferred engine."""
        return self.law.is_gaussian

    @property
    def taken_for_gaussian(self) -> bool:
        """Whether theory takes x for N(0, I): it may be off for the rows of a data set."""
        return self.is_gaussian or self.law.table is not None

    def data_set(self, label: str = "") -> DataSet | None:
        """The data set whose rows are the inputs, with the column of labels that is named."""
        make = self.law.table
        return None if make is None else data_set(self.path, make, label)


@dataclass(frozen=True)
class Block:
    """Rows to be filled, and what they are drawn from.

    ``key`` draws them, ``signs`` one number a row if the law needs another stream; ``prepared`` is
    what the law keeps for a run.
    """

    out: Any
    key: np.random.Generator
    signs: np.random.Generator
    prepared: Float[np.ndarray, " k"]

    def normals(self) -> None:
        """Fill the rows with N(0, I)."""
        self.key.standard_normal(out=self.out, dtype=self.out.dtype.type)


@dataclass(frozen=True)
class Range:
    """A law's parameter: its letters, its smallest and largest value (exclusive), what it is."""

    letters: str
    low: float
    high: float
    meaning: str


def _nothing(law: InputLaw, d: int, key: np.random.Generator) -> Float[np.ndarray, " k"]:
    return np.zeros(0)


@dataclass(frozen=True)
class Law:
    """One kind of law.

    ``fill`` draws a block of rows, ``prepare`` what a run keeps, from d and a key; ``table`` makes
    inputs of the columns of a data set, whose rows are dealt out and not drawn.
    """

    name: str
    fill: Callable[[InputLaw, Block], None] | None = None
    prepare: Callable[[InputLaw, int, np.random.Generator], Float[np.ndarray, " k"]] = _nothing
    parameter: Range | None = None
    table: Callable[[DataSet], DataSet] | None = None
    is_gaussian: bool = False

    def form(self, letters: str | None = None) -> str:
        """How the law is typed, its parameter shown by its own letters or by those given."""
        if self.table:
            return f"{self.name}(FILE)"
        return f"{self.name}({letters or self.parameter.letters})" if self.parameter else self.name


# -- how each is drawn ----------------------------------------------------------------------------


def _rademacher(law: InputLaw, block: Block) -> None:
    bits = block.key.integers(0, 2, block.out.shape, dtype=np.int8)
    np.multiply(bits, 2.0, out=block.out, casting="unsafe")
    np.subtract(block.out, 1.0, out=block.out)


def _uniform(law: InputLaw, block: Block) -> None:
    """On [-sqrt 3, sqrt 3]: variance one."""
    block.key.random(out=block.out, dtype=block.out.dtype.type)
    np.multiply(block.out, 2.0 * math.sqrt(3.0), out=block.out)
    np.subtract(block.out, math.sqrt(3.0), out=block.out)


def _student(law: InputLaw, block: Block) -> None:
    """Over its standard deviation sqrt(df/(df - 2))."""
    df = law.parameter
    block.out[...] = block.key.standard_t(df, block.out.shape) * math.sqrt((df - 2.0) / df)


def _spectrum(law: InputLaw, d: int, key: np.random.Generator) -> Float[np.ndarray, " d"]:
    """Standard deviations along the axes: variances i^-exponent, mean 1."""
    variances = np.arange(1.0, d + 1.0) ** -law.parameter
    return np.sqrt(variances / variances.mean())


def _correlated(law: InputLaw, block: Block) -> None:
    block.normals()
    np.multiply(block.out, block.prepared, out=block.out)


def _direction(law: InputLaw, d: int, key: np.random.Generator) -> Float[np.ndarray, " d"]:
    """The direction u along which the two Gaussians are apart."""
    normal = key.standard_normal(d)
    return normal / np.linalg.norm(normal)


def _mixture(law: InputLaw, block: Block) -> None:
    """X = s m u + (I - (1 - sqrt(1 - m^2)) u u^T) g, s a sign: covariance the identity."""
    block.normals()
    m, out, direction = law.parameter, block.out, block.prepared
    signs = np.where(block.signs.random(len(out)) < 0.5, -1.0, 1.0)
    # Row by row: a matrix product would round a sample by the company it is in.
    along = np.sum(out * direction, axis=1)
    shift = m * signs - (1.0 - math.sqrt(1.0 - m**2)) * along
    np.add(out, np.outer(shift, direction).astype(out.dtype), out=out)


LAWS = {
    law.name: law
    for law in (
        Law("gaussian", lambda law, block: block.normals(), is_gaussian=True),
        Law("rademacher", _rademacher),
        Law("uniform", _uniform),
        Law("student", _student, parameter=Range("df", 2.0, math.inf, "degrees of freedom")),
        Law(
            "correlated",
            _correlated,
            _spectrum,
            Range("exponent", 0.0, 10.0, "exponent of the eigenvalues i^-exponent"),
        ),
        Law(
            "mixture",
            _mixture,
            _direction,
            Range("separation", 0.0, 1.0, "separation of the two Gaussians"),
        ),
        Law("data", table=standardised),
        Law("whitened", table=whitened),
    )
}


# -- reading --------------------------------------------------------------------------------------


def make_inputs(value: str | InputLaw) -> InputLaw:
    """An input law from its text: ``gaussian``, ``student(5)``, ``whitened(table.csv)``."""
    if isinstance(value, InputLaw):
        return value
    if not isinstance(value, str):
        raise InputError(f"inputs must be a text such as 'gaussian', got {value!r}")
    match = re.fullmatch(r"\s*([a-z]+)\s*(?:\((.*)\))?\s*", value)
    kind, argument = (match[1], match[2]) if match else ("", None)
    law = LAWS.get(kind)
    if law and law.parameter:
        return InputLaw(kind, _parameter(law.name, law.parameter, argument, value))
    if law and law.table and argument:
        return InputLaw(kind, path=argument.strip())
    if law and not law.table and argument is None:
        return InputLaw(kind)
    known = ", ".join(law.form("..") for law in LAWS.values())
    raise InputError(f"inputs must be one of {known}, got {value[:60]!r}")


def _parameter(kind: str, expected: Range, argument: str | None, value: str) -> float:
    low, high = expected.low, expected.high
    try:
        parameter = float(argument or "")
    except ValueError:
        parameter = math.nan
    if not low < parameter < high:
        raise InputError(
            f"inputs {kind} needs its {expected.meaning} between {low:g} and {high:g}, "
            f"got {value!r}"
        )
    return parameter
