"""An order of rows and columns that depends on neither their units nor the order they came in.

With v a column in robust deviations from its median and w(v) = 1/(1 + (v - .7)^2):

columns   sorted by c_j = sum_i w(v_ij) r_i, r_i = t_i + sum_j s(b_j) w(v_ij), where t_i are the
          labels and b_j = sum_i w(v_ij) t_i, and s is the fractional part of 1,000 times a number:
          the labels tell columns apart, and what these have in common with others does where the
          labels cannot;
rows      sorted by s(t_i + sum_j a_j w(v_ij)), a_j random numbers for the columns in their order:
          as good as shuffled.

All of these are smooth in v but at the ends of s, so that the rounding of a unit's conversion moves
no row.  Columns that are exact mirror images of each other keep the order they came in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from jaxtyping import Float, Int

from giantstep.estimator.blocks import blocks

Waves = Callable[[slice], Float[np.ndarray, "b d"]]
Read = Callable[[slice, slice], Float[np.ndarray, "b c"]]


def canonical_order(
    read: Read, d: int, y: Float[np.ndarray, "n m"]
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " d"]]:
    """The order of rows, ties as they came, and that of columns; read -> a block of the table."""
    n = len(y)
    waves = _waves(read, n, d)
    labels = _waves(lambda rows, columns: y[rows, columns], n, y.shape[1])
    t = np.concatenate([labels(block).sum(axis=1) for block in blocks(n, y.shape[1])])
    salts = np.zeros(d)
    for block in blocks(n, d):
        salts += waves(block).T @ t[block] / n
    salts = _scrambled(salts)
    marks = np.zeros(d)
    for block in blocks(n, d):
        part = waves(block)
        marks += part.T @ (t[block] + part @ salts) / n
    columns = np.argsort(marks, kind="stable")
    draws = np.empty(d)
    draws[columns] = np.random.default_rng(0).random(d)
    keys = np.concatenate([t[block] + waves(block) @ draws for block in blocks(n, d)])
    return np.argsort(_scrambled(keys), kind="stable"), columns


def _scrambled(values: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
    """A key runs a thousand times through its range: neighbours in the order are strangers."""
    return 1_000.0 * values % 1.0


def _waves(read: Read, n: int, d: int, shift: float = 0.7) -> Waves:
    """w of some rows; those of a table of one block are kept.

    shift -> makes w differ between the two sides of the median.
    """
    units = [_unit(read(slice(0, n), columns)) for columns in blocks(d, n)]
    centre, scale = (np.concatenate(part) for part in zip(*units, strict=True))

    def waves(rows: slice) -> Float[np.ndarray, "b d"]:
        # In halves the difference of the largest numbers is a number; what overflows has w = 0.
        with np.errstate(over="ignore"):
            v = (read(rows, slice(None)) / 2 - centre / 2) / scale - shift
            return 1.0 / (1.0 + v * v)

    if len(list(blocks(n, d))) > 1:
        return waves
    held = cache(lambda: waves(slice(0, n)))
    return lambda rows: held()[rows]


def _unit(
    x: Float[np.ndarray, "n c"],
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, " c"]]:
    """Median of every column, and half the distance of its quartiles; of its range without one."""
    lower, centre, upper = np.quantile(x / 2, [0.25, 0.5, 0.75], axis=0)
    scale, span = upper - lower, x.max(axis=0) / 2 - x.min(axis=0) / 2
    scale = np.where(scale > 1e-9 * span, scale, span)
    return 2 * centre, np.where(scale > 0, scale, 1.0)
