"""The directions that a function of x in R^d depends on, such as a trained network.

They are found by the outer product of gradients: E[grad f grad f^T] over x ~ N(0, I_d) has its
range in the span of the directions that f depends on, all of it for a smooth f.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.language.brief import brief
from giantstep.problem.target import Target, make_target

Function = Callable[[Float[np.ndarray, "n d"]], Any]


@dataclass(frozen=True, eq=False)
class FoundDirections:
    """Directions of a function of x, the strongest first, and what decided their number.

    ``directions`` are orthonormal rows.  ``eigenvalues`` are those of E[grad f grad f^T];
    ``left_out`` has, after 0, 1, 2, ... directions, the share of the variance that the others hold,
    and ``left_out_error`` its standard errors.  ``offset`` is what the mean of f gains from the
    other directions.

    left_out[k] = E Var(f | P_k x)/Var f = E (f(x) - f(x'))^2/(2 Var f), where x' agrees with x
    along the first k directions and is independent of it elsewhere.  The directions are those of
    the outer product of gradients (active subspaces, arXiv 1304.2070).
    """

    function: Function
    name: str
    directions: Float[np.ndarray, "r d"]
    eigenvalues: Float[np.ndarray, " d"]
    left_out: Float[np.ndarray, " k"]
    left_out_error: Float[np.ndarray, " k"]
    tolerance: float
    samples: int
    offset: float

    __repr__ = brief

    @property
    def r(self) -> int:
        """Number of directions."""
        return len(self.directions)

    @property
    def target(self) -> Target:
        """The function along these directions, zero along the others, as a target of r variables.

        Along x1 lies the strongest direction.
        """
        directions, offset, function = self.directions, self.offset, self.function

        def along(*columns: Any) -> Float[np.ndarray, "..."]:
            u = np.stack(np.broadcast_arrays(*columns), axis=-1).astype(float)
            x = u.reshape(-1, len(directions)) @ directions
            return _values(function, x).astype(float).reshape(u.shape[:-1]) + offset

        d = self.directions.shape[1]
        note = (
            f"{self.r} of {d} directions were found by gradients at {self.samples:,} Gaussian "
            f"inputs. The others hold {_percent(self.left_out[self.r])} of the variance; the "
            f"tolerance is {_percent(self.tolerance)}."
        )
        return make_target(Target(self.name, self.r, function=along, notes=(note,)))


def find_directions(
    function: Function,
    d: int,
    *,
    gradient: Function | None = None,
    r: int | None = None,
    tolerance: float = 0.01,
    most: int = 8,
    samples: int = 1000,
    seed: int = 0,
) -> FoundDirections:
    """The directions that a function of x in R^d depends on, x Gaussian.

    ``function`` takes an array (n, d) and gives n numbers; ``gradient`` gives an array (n, d), and
    without it central differences serve.  Directions are added, the strongest first, until the
    others hold at most the share ``tolerance`` of the variance; more than ``most`` are refused.
    Half of the ``samples`` find the directions, the other half decide their number.  A given ``r``
    must do the same: leave no more than the tolerance, and hold no direction that is not there.

    E[grad f grad f^T] of arXiv 1304.2070, section 2, over Gaussian inputs.

    >>> from giantstep import analyze, find_directions
    >>> found = find_directions(lambda x: x[:, 0] + x[:, 0] * x[:, 4], d=20)
    >>> found.r, analyze(found.target).fresh.dimensions
    (2, [1, 2])
    """
    if not isinstance(d, int) or d < 1:
        raise InputError(f"d must be a whole number above 0, got {shown(d)}")
    if not 0.0 < tolerance < 1.0:
        raise InputError(f"tolerance must be between 0 and 1, got {shown(tolerance)}")
    rng = np.random.default_rng(seed)
    half = max(samples // 2, 2)
    slopes = _gradients(function, gradient, rng.standard_normal((half, d)))
    _, sizes, basis = np.linalg.svd(slopes / math.sqrt(half), full_matrices=False)
    eigenvalues = np.zeros(d)
    eigenvalues[: len(sizes)] = sizes**2
    most = min(most, len(basis), d)
    x, others = rng.standard_normal((2, half, d))
    left_out, errors = _shares_left(function, x, others, basis[:most])
    _check_gradients(float(np.sum(eigenvalues)), float(np.var(_values(function, x))))
    count = _number(left_out, eigenvalues, tolerance) if r is None else r
    if r is not None:
        _check_number(r, left_out, eigenvalues, tolerance)
    directions = _signed(basis[:count])
    inside = x @ directions.T @ directions
    offset = np.mean(_values(function, x)) - np.mean(_values(function, inside))
    return FoundDirections(
        function=function,
        name=getattr(function, "__name__", type(function).__name__),
        directions=directions,
        eigenvalues=eigenvalues,
        left_out=left_out,
        left_out_error=errors,
        tolerance=tolerance,
        samples=2 * half,
        offset=float(offset),
    )


def _percent(share: float) -> str:
    """A share in percent with two digits; one below a billionth is rounding."""
    return f"{float(f'{100.0 * share:.2g}') if share > 1e-9 else 0.0:g} %"


def _values(function: Function, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
    """What a function gives for rows of x: one finite number each, in its own precision."""
    values = np.asarray(function(x))
    if values.shape not in ((len(x),), (len(x), 1)):
        raise InputError(
            f"function must give one number for each row of x, got shape {values.shape} for "
            f"{len(x)} rows"
        )
    values = values.reshape(len(x))
    if not np.issubdtype(values.dtype, np.number) or not np.all(np.isfinite(values)):
        raise InputError("function must give finite numbers at Gaussian inputs, got others")
    return values


def _gradients(
    function: Function,
    gradient: Function | None,
    x: Float[np.ndarray, "n d"],
    *,
    numbers: int = 2**22,
) -> Float[np.ndarray, "n d"]:
    """Gradients at the rows of x, by central differences unless they are given.

    The difference eps^(1/3) balances truncation and rounding in the precision of the function;
    ``numbers`` bounds the inputs that are held at a time (32 MB).
    """
    n, d = x.shape
    if gradient is not None:
        slopes = np.asarray(gradient(x), dtype=float)
        if slopes.shape != x.shape or not np.all(np.isfinite(slopes)):
            raise InputError(
                f"gradient must give finite numbers of shape {x.shape}, got shape {slopes.shape}"
            )
        return slopes
    kind = _values(function, x[:1]).dtype
    step = float(np.finfo(kind if np.issubdtype(kind, np.floating) else float).eps) ** (1 / 3)
    shifts = step * np.eye(d)
    slopes = np.empty((n, d))
    rows = max(numbers // (2 * d * d), 1)
    for first in range(0, n, rows):
        part = x[first : first + rows, None]
        ends = [
            _values(function, (part + sign * shifts).reshape(-1, d)).astype(float)
            for sign in (1.0, -1.0)
        ]
        slopes[first : first + rows] = ((ends[0] - ends[1]) / (2.0 * step)).reshape(-1, d)
    return slopes


def _shares_left(
    function: Function,
    x: Float[np.ndarray, "n d"],
    others: Float[np.ndarray, "n d"],
    basis: Float[np.ndarray, "k d"],
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """E Var(f | P_k x)/Var f after 0, 1, .. directions, with standard errors over the samples."""
    values = _values(function, x).astype(float)
    variance = float(np.var(values))
    if variance <= 1e-24 * float(np.mean(values**2)):  # rounding of the values themselves
        raise InputError("function is constant on Gaussian inputs")
    shares, errors = [], []
    for k in range(len(basis) + 1):
        kept = basis[:k]
        # x along the first k directions, the others anew.
        again = others + (x - others) @ kept.T @ kept
        squares = (values - _values(function, again)) ** 2 / (2.0 * variance)
        shares.append(float(np.mean(squares)))
        errors.append(float(np.std(squares, ddof=1)) / math.sqrt(len(squares)))
    return np.array(shares), np.array(errors)


def _check_gradients(energy: float, variance: float, *, share: float = 0.5) -> None:
    """Refuse a function that jumps: its gradients do not show the directions of its jumps.

    Var f <= E |grad f|^2 for every function without jumps (Poincare's inequality under N(0, I)).
    Half of the variance leaves room for the error of some hundred samples.
    """
    if energy < share * variance:
        raise InputError(
            f"function jumps: its mean squared gradient {energy:.3g} is below its variance "
            f"{variance:.3g}, so that gradients do not show its directions"
        )


def _number(
    left_out: Float[np.ndarray, " k"], eigenvalues: Float[np.ndarray, " d"], tolerance: float
) -> int:
    """The smallest number of directions whose complement holds no more than the tolerance."""
    enough = np.flatnonzero(left_out <= tolerance)
    if len(enough):
        return max(int(enough[0]), 1)
    most = len(left_out) - 1
    raise InputError(
        f"function depends on more than {most} of {len(eigenvalues)} directions: the {most} of "
        f"the largest gradients leave {_percent(left_out[-1])} of its variance, more than the "
        f"tolerance {_percent(tolerance)}"
    )


def _check_number(
    r: int,
    left_out: Float[np.ndarray, " k"],
    eigenvalues: Float[np.ndarray, " d"],
    tolerance: float,
    *,
    zero: float = 1e-8,
) -> None:
    """Refuse a given number of directions that is too small or too large.

    An eigenvalue below the share ``zero`` of the largest is that of a slope of a ten-thousandth,
    which differences in single precision cannot tell from none.
    """
    if not 1 <= r < len(left_out):
        raise InputError(f"r must be between 1 and {len(left_out) - 1}, got {shown(r)}")
    if left_out[r] > tolerance:
        raise InputError(
            f"r = {r} leaves {_percent(left_out[r])} of the variance to other directions, more "
            f"than the tolerance {_percent(tolerance)}"
        )
    if eigenvalues[r - 1] <= zero * eigenvalues[0]:
        there = int(np.sum(eigenvalues > zero * eigenvalues[0]))
        raise InputError(f"r = {r} is more than the {there} directions that function depends on")


def _signed(basis: Float[np.ndarray, "k d"]) -> Float[np.ndarray, "k d"]:
    """Rows whose largest entry is positive, so that the same function gives the same target."""
    largest = basis[np.arange(len(basis)), np.argmax(np.abs(basis), axis=1)]
    return basis * np.sign(largest)[:, None]
