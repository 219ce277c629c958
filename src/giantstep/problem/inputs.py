"""Laws of the inputs x, each a record: how it is typed, checked and drawn.  A new one is one entry.

Every law fills a block row by row, so that fewer samples are a prefix of more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.language.word import Word
from giantstep.problem.input_blocks import (
    InputBlocks,
    blocks_by_power,
    blocks_by_share,
    complaint_about_shares,
)
from giantstep.problem.one_direction import (
    along_clusters,
    along_shift,
    along_spike,
    filled,
    known_direction,
    stretched_columns,
)
from giantstep.problem.tables import DataSet, data_set, standardised, whitened


@dataclass(frozen=True)
class InputLaw:
    """A law with mean 0 and covariance the identity, unless its name says otherwise.

    Correlated, spiked, blocks and raw data have another covariance, shifted inputs another mean.
    """

    kind: str
    numbers: tuple[float, ...] = ()
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
        return str(Word(self.kind, *self.numbers))

    @property
    def is_gaussian(self) -> bool:
        """Whether x ~ N(0, I)."""
        return self.law.is_gaussian

    @property
    def taken_for_gaussian(self) -> bool:
        """Whether theory takes x for N(0, I): it may be off for the rows of a data set."""
        return self.is_gaussian or self.law.table is not None

    @property
    def isotropic(self) -> bool:
        """Whether the law looks the same along all directions but those that are known."""
        return self.is_gaussian or self.law.stretch is not None

    @property
    def in_blocks(self) -> bool:
        """Whether the law looks the same along all directions of each of some blocks."""
        return self.law.blocks is not None

    @property
    def deferrable(self) -> bool:
        """Whether a run needs only inner products, of vectors or of their parts in blocks."""
        return self.isotropic or self.in_blocks

    @property
    def spike(self) -> tuple[float, float] | None:
        """Variance along the one direction of a normal law, and its overlap with the target."""
        return None if self.law.spike is None else self.law.spike(self.numbers)

    @property
    def normal(self) -> bool:
        """Whether x is normal of mean 0 with a covariance that the law knows."""
        return self.is_gaussian or self.in_blocks or self.spike is not None

    @property
    def normal_about_mean(self) -> bool:
        """Whether x less its mean is normal, and the law knows its mean and its covariance."""
        return self.normal or self.law.mean is not None

    def blocks(self, d: int) -> InputBlocks:
        """The blocks of a law that has them."""
        assert self.law.blocks is not None
        return self.law.blocks(self.numbers, d)

    @property
    def known_directions(self) -> int:
        """Directions beyond those of the target that the law knows."""
        return int(self.law.stretch is not None)

    @property
    def mean_along_target(self) -> float:
        """E <w*_1, x>, the mean of the inputs along the first target direction."""
        return 0.0 if self.law.mean is None else self.law.mean(self)

    @property
    def largest_square(self) -> float:
        """The largest mean square E <u, x>^2 along any unit vector u that the law knows, or one."""
        return max(1.0, self.law.square(self))

    def stretched(self, data: Any, r: int) -> Any:
        """Samples by their known coordinates: normals, along the law's directions made into x.

        The first r are along the target, then come the ``known_directions``.
        """
        return data if self.law.stretch is None else self.law.stretch(self, data, r)

    def check(self, d: int, r: int) -> None:
        """Refuse a spike, a shift or a block without room for it."""
        if self.in_blocks and not np.all(self.blocks(d).sizes > 0):
            raise InputError(
                f"d must be so large that every block of inputs {self.text} has a direction, "
                f"got {d}"
            )
        if r + self.known_directions > d:
            raise InputError(
                f"d must be at least {r + self.known_directions} for inputs {self.text}, got {d}"
            )

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
    """A law's parameter: its letters, its smallest and largest value, what it is.

    ``closed``: the smallest and the largest value are themselves allowed.
    """

    letters: str
    low: float
    high: float
    meaning: str
    closed: bool = False

    def allows(self, number: float) -> bool:
        """Whether a number is in the range."""
        ends = self.closed and number in (self.low, self.high)
        return math.isfinite(number) and (ends or self.low < number < self.high)

    @property
    def text(self) -> str:
        """The range in words."""
        if self.closed:
            return f"from {self.low:g} to {self.high:g}"
        below = "" if math.isinf(self.high) else f" and below {self.high:g}"
        return f"above {self.low:g}{below}"


def _nothing(law: InputLaw, d: int, key: np.random.Generator) -> Float[np.ndarray, " k"]:
    return np.zeros(0)


@dataclass(frozen=True)
class Law:
    """One kind of law.

    ``fill`` draws a block of rows, ``prepare`` what a run keeps, from d and a key; ``table`` makes
    inputs of the columns of a data set, whose rows are dealt out and not drawn.
    ``stretch(law, data, r)`` makes samples of normal ones in known coordinates, where these tell
    all there is to tell, and ``square(law)`` is the mean square E <u, x>^2 along the law's own
    direction u, ``mean(law)`` the mean along the first target direction, where x is normal
    about a mean.
    ``spike(numbers)`` is the variance along that direction and its overlap with the first target
    direction, where x is normal.  ``blocks(numbers, d)`` are blocks of axes.  ``repeated``: the
    parameters may be given several times; ``complaint(numbers)`` says what is wrong with all of
    them together.  ``white``: all rows of the data set together have the identity for their
    covariance.
    """

    name: str
    fill: Callable[[InputLaw, Block], None] | None = None
    prepare: Callable[[InputLaw, int, np.random.Generator], Float[np.ndarray, " k"]] = _nothing
    ranges: tuple[Range, ...] = ()
    table: Callable[[DataSet], DataSet] | None = None
    stretch: Callable[[InputLaw, Any, int], Any] | None = None
    square: Callable[[InputLaw], float] = lambda law: 1.0
    mean: Callable[[InputLaw], float] | None = None
    spike: Callable[[tuple[float, ...]], tuple[float, float]] | None = None
    blocks: Callable[[tuple[float, ...], int], InputBlocks] | None = None
    repeated: bool = False
    complaint: Callable[[tuple[float, ...]], str | None] = lambda numbers: None
    is_gaussian: bool = False
    white: bool = False

    def form(self, letters: str | None = None) -> str:
        """How the law is typed, its parameters shown by their own letters or by those given."""
        if self.table:
            return f"{self.name}(FILE)"
        parameters = ", ".join(expected.letters for expected in self.ranges)
        parameters += ", .." if self.repeated else ""
        return f"{self.name}({letters or parameters})" if self.ranges else self.name


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
    [df] = law.numbers
    block.out[...] = block.key.standard_t(df, block.out.shape) * math.sqrt((df - 2.0) / df)


def _spectrum(law: InputLaw, d: int, key: np.random.Generator) -> Float[np.ndarray, " d"]:
    """Standard deviations along the axes: variances i^-exponent, mean 1."""
    variances = np.arange(1.0, d + 1.0) ** -law.numbers[0]
    return np.sqrt(variances / variances.mean())


def _correlated(law: InputLaw, block: Block) -> None:
    block.normals()
    np.multiply(block.out, block.prepared, out=block.out)


def _deviations(law: InputLaw, d: int, key: np.random.Generator) -> Float[np.ndarray, " d"]:
    return law.blocks(d).along_axes


def _direction(law: InputLaw, d: int, key: np.random.Generator) -> Float[np.ndarray, " d"]:
    """The direction u along which the two Gaussians are apart."""
    normal = key.standard_normal(d)
    return normal / np.linalg.norm(normal)


def _mixture(law: InputLaw, block: Block) -> None:
    """X = s m u + (I - (1 - sqrt(1 - m^2)) u u^T) g, s a sign: covariance the identity."""
    block.normals()
    [m], out, direction = law.numbers, block.out, block.prepared
    signs = np.where(block.signs.random(len(out)) < 0.5, -1.0, 1.0)
    # Row by row: a matrix product would round a sample by the company it is in.
    along = np.sum(out * direction, axis=1)
    shift = m * signs - (1.0 - math.sqrt(1.0 - m**2)) * along
    np.add(out, np.outer(shift, direction).astype(out.dtype), out=out)


FARTHEST = 1e6
"""Largest mean and standard deviation of inputs: sixth powers of labels of degree 8, which the
analysis takes, stay below 10^308."""

LAWS = {
    law.name: law
    for law in (
        Law("gaussian", lambda law, block: block.normals(), is_gaussian=True),
        Law("rademacher", _rademacher),
        Law("uniform", _uniform),
        Law("student", _student, ranges=(Range("df", 2.0, math.inf, "degrees of freedom"),)),
        Law(
            "correlated",
            _correlated,
            _spectrum,
            (Range("exponent", 0.0, 10.0, "exponent of the eigenvalues i^-exponent"),),
        ),
        Law(
            "mixture",
            _mixture,
            _direction,
            (Range("separation", 0.0, 1.0, "separation of the two Gaussians"),),
        ),
        Law(
            "spiked",
            filled(along_spike),
            known_direction,
            (
                Range("strength", -1.0, FARTHEST**2, "strength of the spike"),
                Range("overlap", -1.0, 1.0, "overlap of the spike with the target"),
            ),
            stretch=stretched_columns(along_spike),
            square=lambda law: 1.0 + law.numbers[0],
            spike=lambda numbers: (1.0 + numbers[0], numbers[1]),
        ),
        Law(
            "shifted",
            filled(along_shift),
            known_direction,
            (
                Range("length", 0.0, FARTHEST, "length of the mean", closed=True),
                Range("overlap", -1.0, 1.0, "overlap of the mean with the target", closed=True),
            ),
            stretch=stretched_columns(along_shift),
            square=lambda law: 1.0 + law.numbers[0] ** 2,
            mean=lambda law: law.numbers[0] * law.numbers[1],
        ),
        Law(
            "clusters",
            filled(along_clusters),
            known_direction,
            (
                Range("distance", 0.0, 20.0, "distance of the two centres", closed=True),
                Range("overlap", -1.0, 1.0, "overlap of their line with the target", closed=True),
            ),
            stretch=stretched_columns(along_clusters),
            square=lambda law: 1.0 + 0.25 * law.numbers[0] ** 2,
        ),
        Law(
            "blocks",
            _correlated,
            _deviations,
            (
                Range("share", 0.0, 1.0, "share of a block", closed=True),
                Range("variance", 0.0, FARTHEST**2, "variance of a block"),
            ),
            blocks=blocks_by_share,
            repeated=True,
            complaint=complaint_about_shares,
        ),
        Law(
            "power",
            _correlated,
            _deviations,
            (Range("exponent", 0.0, 10.0, "exponent of the variances k^-exponent"),),
            blocks=blocks_by_power,
        ),
        Law("data", table=standardised),
        Law("whitened", table=whitened, white=True),
    )
}


_deferrable = [name for name in LAWS if InputLaw(name).deferrable]
DEFERRABLE = f"{', '.join(_deferrable[:-1])} or {_deferrable[-1]}"
"""The laws of which a run needs only inner products, in words."""


# -- reading --------------------------------------------------------------------------------------


def make_inputs(value: str | InputLaw) -> InputLaw:
    """An input law from its text: ``gaussian``, ``student(5)``, ``whitened(table.csv)``."""
    if isinstance(value, InputLaw):
        return value
    if not isinstance(value, str):
        raise InputError(f"inputs must be a text such as 'gaussian', got {shown(value)}")
    if re.search(r"\)\s*\+\s*[a-z]+\s*\(", value):
        raise InputError(
            "inputs must be one law, blocks or one direction with a spike, a shift or clusters, "
            f"and not a sum of two, got {value[:60]!r}"
        )
    match = re.fullmatch(r"\s*([a-z]+)\s*(?:\((.*)\))?\s*", value)
    kind, argument = (match[1], match[2]) if match else ("", None)
    law = LAWS.get(kind)
    if law and law.ranges:
        return InputLaw(kind, _numbers(law, argument, value))
    if law and law.table and argument:
        return InputLaw(kind, path=argument.strip())
    if law and not law.table and argument is None:
        return InputLaw(kind)
    forms = ", ".join(law.form("..") for law in LAWS.values())
    raise InputError(f"inputs must be one of {forms}, got {value[:60]!r}")


def _numbers(law: Law, argument: str | None, value: str) -> tuple[float, ...]:
    if not (argument or "").strip():
        raise InputError(f"inputs must be of the form {law.form()}, got {value!r}")
    texts = (argument or "").split(",")
    numbers: list[float] = []
    times = max(1, len(texts) // len(law.ranges)) if law.repeated else 1
    for expected, text in zip_longest(law.ranges * times, texts, fillvalue=None):
        if expected is None:
            raise InputError(f"inputs must be of the form {law.form()}, got {value!r}")
        try:
            number = float(text or "")
        except ValueError:
            number = math.nan
        if not expected.allows(number):
            where = f"inputs {law.name}: {expected.meaning}"
            form = "" if text and text.strip() else f"; write {law.form()}"
            raise InputError(f"{where} must be {expected.text}, got {value!r}{form}")
        numbers.append(number)
    complaint = law.complaint(tuple(numbers))
    if complaint is not None:
        raise InputError(f"inputs {law.name}: {complaint}, got {value!r}")
    return tuple(numbers)
