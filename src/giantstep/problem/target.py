"""Multi-index targets f(z_1 .. z_r), and the catalog of the papers' examples."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, SupportsFloat

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.gaussian.accuracy import RANK
from giantstep.gaussian.expansion import coupled_series, expand
from giantstep.gaussian.independent_sums import is_separable, power_of_sum
from giantstep.gaussian.polynomials import polynomial_series
from giantstep.gaussian.rules import gauss_hermite
from giantstep.gaussian.sampling import finite
from giantstep.gaussian.series import (
    MAX_SERIES_TERMS,
    HermiteSeries,
    degree_cap,
    series_from_grid,
    series_on_grid,
)
from giantstep.gaussian.symmetry import WITNESS, Symmetry, find_symmetries
from giantstep.language.algebra import Terms, multiplied_out, to_power
from giantstep.language.expression import (
    Expression,
    Number,
    Variable,
    add,
    multiply,
    substitute,
    variables,
)
from giantstep.language.functions import NUMPY, Namespace
from giantstep.language.parser import parse
from giantstep.language.program import Program, evaluate
from giantstep.language.symbols import as_sympy, real_symbols
from giantstep.problem.alignment import natural_frame, realign
from giantstep.problem.catalog import CATALOG
from giantstep.problem.power_sum import check_links, power_sum, read_power_sum


@dataclass(frozen=True, eq=False)
class Target:
    """f of r orthonormal projections: an expression, or a callable of r arrays.

    ``notes`` says what was done to the input, such as directions made orthonormal.  Two targets
    with callables are equal where the callable is the same object.  Of the labels in a ``column``
    of a data set no function is known, and no direction: r = 0.

    y = f(<w*_1, x>, ..., <w*_r, x>) with orthonormal w*: a multi-index model (arXiv 2305.18270,
    section 1).  ``series`` is its Hermite expansion, with bounds on what that leaves out.
    """

    name: str
    r: int
    expression: Expression | None = None
    function: Callable[..., Any] | None = None
    notes: tuple[str, ...] = ()
    column: str = ""

    def __repr__(self) -> str:
        return f"Target({self.name!r}, r={self.r})"

    @property
    def text(self) -> str:
        """The target as it is typed."""
        return self.name

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self.name, self.r, self.expression, id(self.function), self.notes)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __call__(self, columns: Sequence[Any], namespace: Namespace = NUMPY) -> Any:
        """Values of f, ``columns[k]`` being the array of projections on direction k."""
        if self.column:
            return 0.0  # the labels are all there is
        if self.expression is None:
            assert self.function is not None
            return self.function(*columns)
        [values] = self._program(columns, namespace)
        return values + 0 * columns[0]

    @cached_property
    def _program(self) -> Program:
        assert self.expression is not None
        return Program(self.expression)

    def to_sympy(self) -> Any:
        """f as a sympy expression in the real symbols x1, x2, ...; sympy is an optional library.

        >>> from giantstep import make_target
        >>> make_target("He2(x1)*x2 + relu(x1)").to_sympy()
        x2*(x1**2 - 1) + Max(0, x1)
        """
        if self.expression is None:
            raise InputError(f"target must be an expression for sympy, got {self.name!r}")
        names = [f"x{k + 1}" for k in range(self.r)]
        return as_sympy(self.expression, real_symbols(*names))

    @cached_property
    def terms(self) -> Terms:
        assert self.expression is not None
        return multiplied_out(self.expression, self.r)

    @property
    def is_polynomial(self) -> bool:
        return self.expression is not None and not any(key[1] for key in self.terms)

    @cached_property
    def aligned(self) -> tuple[Target, Float[np.ndarray, "k r"]]:
        """The target in its natural coordinates u = frame x, and that frame.

        Directions that f does not depend on are left out; a callable keeps its coordinates.
        """
        if self.expression is None:
            return self, np.eye(self.r)
        frame = natural_frame(self.expression, self.r)
        if np.array_equal(frame, np.eye(self.r)):
            return self, frame
        return replace(self, r=len(frame), expression=realign(self.expression, frame)), frame

    @cached_property
    def series(self) -> HermiteSeries:
        """The Hermite series of f: exact for polynomials, else with its tail and error."""
        if self.column:
            raise InputError(f"target must be a function to be analyzed, got {self.name!r}")
        if self.is_polynomial:
            return polynomial_series(self.terms, self.r)
        natural, frame = self.aligned
        if natural is not self:
            return in_coordinates(natural.series, frame)
        if self.expression is not None:
            return expand(self.terms, self.r, self)

        def values(columns: Sequence[Float[np.ndarray, "..."]]) -> Float[np.ndarray, "..."]:
            # A user's function gets plain vectors, whatever grid they come from.
            full = np.broadcast_arrays(*columns)
            flat = finite(self([column.ravel() for column in full]))
            return np.broadcast_to(flat, full[0].size).reshape(full[0].shape)

        with np.errstate(all="ignore"):
            return coupled_series(
                values,
                self.r,
                degree_cap(self.r),
                smooth=True,
                symmetries=lambda: self.symmetries,
            )

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """Signed permutations of the coordinates that keep f up to its sign."""
        if self.expression is None:
            return find_symmetries(self, self.r, repeats=32)
        return find_symmetries(lambda columns: self(columns, WITNESS), self.r)

    def label_power(
        self, power: int, *, most_products: int = 2_000, most_points: int = 2_000_000
    ) -> HermiteSeries | None:
        """Series of f^power for a polynomial, exact; None where it is too large, and for others.

        Up to ``most_products`` products are multiplied out; beyond, a grid of points serves, or for
        a sum of functions of one variable each the terms in one variable alone.
        """
        if not self.is_polynomial:
            return None
        count = len(self.terms)
        if math.comb(count + power - 1, power) <= most_products:
            series = polynomial_series(to_power(self.terms, power, self.r), self.r)
            return (
                series
                if series.degree <= degree_cap(self.r)
                else series.truncate(max(degree_cap(self.r), self.series.degree))
            )
        cap = max(degree_cap(self.r), self.series.degree)
        # Exact for f^power times any h_alpha of degree <= cap.
        nodes = (power * self.series.degree + cap) // 2 + 1
        if nodes**self.r > most_points:
            return power_of_sum(self.series, power) if is_separable(self.series) else None
        rule = gauss_hermite(nodes)
        return series_from_grid(series_on_grid(self.series, rule[0]) ** power, rule, cap)

    def rotate(self, basis: Float[np.ndarray, "r r"]) -> Target:
        """The target g(u) = f(basis^T u): the same function with directions basis^T."""
        return self.compose(np.asarray(basis, dtype=float).T)

    def compose(
        self, matrix: Float[np.ndarray, "r s"], offset: Float[np.ndarray, " r"] | None = None
    ) -> Target:
        """The target g(u) = f(matrix u + offset) of s variables."""
        s = matrix.shape[1]
        means = np.zeros(self.r) if offset is None else offset
        if self.expression is None:
            inner = self.function
            assert inner is not None

            def function(*columns: Any) -> Any:
                return inner(
                    *(
                        sum((matrix[k, j] * columns[j] for j in range(s)), start=means[k])
                        for k in range(self.r)
                    )
                )

            return replace(self, r=s, function=function)
        forms = [
            add(
                *(multiply(Number(Fraction(float(c))), Variable(j)) for j, c in enumerate(row)),
                Number(Fraction(float(mean))),
            )
            for row, mean in zip(matrix, means, strict=True)
        ]
        return replace(self, r=s, expression=substitute(self.expression, forms))


# One target for all settings with this text: to expand it takes milliseconds.
@lru_cache(maxsize=2**8)
def _read(text: str) -> Target:
    """The target of an expression, a catalog name or a column of labels, not yet expanded."""
    name = text.strip()
    if match := re.fullmatch(r"column\(\s*(\S.*?)\s*\)", name):
        return Target(f"column({match[1]})", 0, column=match[1])
    if (many := read_power_sum(name)) is not None:
        return Target(*many)
    expression = parse(CATALOG[name].expression if name in CATALOG else text)
    used = variables(expression)
    if not used:
        raise InputError(f"target is constant, got {text!r}")
    return Target(name, max(used) + 1, expression)


def in_coordinates(series: HermiteSeries, frame: Float[np.ndarray, "k r"]) -> HermiteSeries:
    """A series in u = frame x as one in x.

    A rotation fills the series: where a full one would be too long, or is not exact anyway, only
    as many degrees are kept as one of moderate length has.
    """
    k, r = frame.shape
    if not np.array_equal(np.abs(frame), np.abs(frame).astype(bool)):
        full = math.comb(r + series.degree, r)
        if series.tail > 0 or full > MAX_SERIES_TERMS:
            series = series.truncate(degree_cap(r))
    padded = np.zeros((len(series.exponents), r), dtype=int)
    padded[:, :k] = series.exponents
    wide = replace(series, exponents=padded)
    if k == r and np.array_equal(frame, np.eye(r)):
        return wide
    complement = np.linalg.svd(frame, full_matrices=True)[2][k:]
    return wide.rotate(np.concatenate([frame, complement]).T)


def make_target(
    value: str | Callable[..., Any] | Target,
    directions: Sequence[Sequence[SupportsFloat]] | Float[np.ndarray, "r m"] | None = None,
) -> Target:
    """A target from an expression, a catalog name, a callable of r arrays, or ``column(NAME)``.

    ``directions`` (one row for each of x1, x2, ...) need not be orthonormal: they are replaced by
    an orthonormal set spanning the same space, and the target's notes say so.

    >>> from giantstep import make_target
    >>> make_target("x1 + He2(x1)*x2").series
    HermiteSeries(x1 + He2(x1)*x2; variance 3, tail 0)
    >>> make_target(lambda u, v: u * v).r
    2
    """
    if isinstance(value, Target):
        target = value
    elif isinstance(value, str):
        target = _read(value)
    elif callable(value):
        r = _arity(value)
        if directions is not None and r is None:
            r = len(directions)
        if r is None:
            raise InputError("target is a callable with *args: give directions to fix their number")
        target = Target(getattr(value, "__name__", "callable"), r, function=value)
    else:
        raise InputError(f"target must be an expression, a name or a callable, got {shown(value)}")
    if target.column:
        return target
    if directions is not None:
        target = _orient(target, np.asarray(directions, dtype=float))
    series = target.aligned[0].series
    # Rounding of the coefficients themselves; nothing of the literature is that flat.
    if series.variance + series.tail <= 1e-24 * series.square:
        raise InputError(f"target is constant, got {target.name!r}")
    return target


def separable(
    links: str | Sequence[str | Callable[[Any], Any]],
    directions: int | Sequence[Sequence[SupportsFloat]] | Float[np.ndarray, "r m"] | None = None,
    exponent: float = 0.0,
) -> Target:
    """The separable target sum_k link_k(x_k), links being expressions in z or callables.

    f(x) = sum_k link_k(<w*_k, x>): the committee of arXiv 2305.18270.  One link, a number of
    ``directions`` and an ``exponent`` make sum_k k^-exponent link(x_k), which is also the text
    ``separable(LINK, r, exponent)``.

    >>> from giantstep import separable
    >>> separable(["z", "He2(z)"]).r
    2
    >>> separable("He2", 100, exponent=1.0).text
    'separable(He2, 100, 1)'
    """
    if isinstance(links, str):
        return make_target(Target(*power_sum(links, directions, exponent)))
    if isinstance(directions, int) or exponent:
        raise InputError(
            "links must be one text where directions is a number or an exponent is given, "
            f"got {shown(links)}"
        )
    check_links(links)
    name = " + ".join(
        f"link{k + 1}(x{k + 1})" if callable(link) else f"({link})(x{k + 1})"
        for k, link in enumerate(links)
    )
    texts = [link for link in links if isinstance(link, str)]
    if len(texts) == len(links):
        parsed = [parse(text, f"link {k + 1}", variable="z") for k, text in enumerate(texts)]
        expression = add(*(substitute(link, (Variable(k),)) for k, link in enumerate(parsed)))
        return make_target(Target(name, len(links), expression), directions)
    functions = [link if callable(link) else _univariate(link, k) for k, link in enumerate(links)]

    def function(*columns: Any) -> Any:
        values = [f(column) for f, column in zip(functions, columns, strict=True)]
        for k, value in enumerate(values):
            if isinstance(value, str) or value is None:
                raise InputError(f"link {k + 1} must give numbers, got {shown(value)}")
        return sum(values)

    return make_target(Target(name, len(links), function=function), directions)


def _univariate(text: str, k: int) -> Callable[[Any], Any]:
    expression = parse(text, f"link {k + 1}", variable="z")
    return lambda z: evaluate(expression, (z,))


def _arity(function: Callable[..., Any]) -> int | None:
    """Number of positional arguments, None if it takes any number."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some of Python's own
        raise InputError(
            "target must be a callable whose arguments Python can count, such as lambda x1: "
            f"x1**2, got {shown(function)}"
        ) from None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.kind in positional and p.default is p.empty]
    if not required:
        raise InputError("target is a callable without arguments, it needs one for each direction")
    return len(required)


def _orient(target: Target, directions: Float[np.ndarray, "r m"]) -> Target:
    """Replace given directions v_k by an orthonormal set: v_k = sum_j lower[k, j] q_j."""
    if directions.ndim != 2 or not np.all(np.isfinite(directions)):
        raise InputError(f"directions must be a finite matrix, got shape {directions.shape}")
    if len(directions) < target.r:
        raise InputError(f"directions has {len(directions)} rows, target uses {target.r}")
    if len(directions) > target.r and target.expression is None:
        raise InputError(f"directions has {len(directions)} rows, the callable takes {target.r}")
    gram = directions @ directions.T
    if np.max(np.abs(gram - np.eye(len(directions)))) <= RANK:
        return replace(target, r=len(directions))
    basis: list[Float[np.ndarray, " m"]] = []
    lower = np.zeros((len(directions), len(directions)))
    for k, vector in enumerate(directions):
        remaining = vector
        for j, q in enumerate(basis):
            lower[k, j] = vector @ q
            remaining = remaining - (remaining @ q) * q
        norm = float(np.linalg.norm(remaining))
        if norm > RANK * max(1.0, float(np.linalg.norm(vector))):
            lower[k, len(basis)] = norm
            basis.append(remaining / norm)
    if not basis:
        raise InputError("directions are all zero")
    note = (
        f"The directions were not orthonormal and were replaced by {len(basis)} orthonormal ones "
        "(Gram-Schmidt). x1, x2, ... are now the coordinates along these."
    )
    matrix = lower[: target.r, : len(basis)]
    return replace(target.compose(matrix), notes=(*target.notes, note))
