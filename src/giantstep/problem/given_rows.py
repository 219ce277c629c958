"""Rows of W that a run starts from, given as an array or as a file of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.problem.files import check_file


@dataclass(frozen=True, eq=False)
class GivenRows:
    """W itself, rows of d numbers, or its rows by fewer coordinates.

    Coordinates are along orthonormal directions: the r of the target, then those that the law of
    the inputs knows, then any others.  Two are equal where their numbers are.
    """

    values: Float[np.ndarray, "p q"]
    path: str = ""

    @property
    def text(self) -> str:
        """The file they are from, or what they are."""
        return self.path or f"array of {' x '.join(map(str, self.values.shape))}"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self.values.tobytes())


def make_rows(value: object) -> GivenRows | None:
    """Rows from an array, from the name of a .npy file, or from rows of numbers."""
    if value is None or isinstance(value, GivenRows):
        return value
    if isinstance(value, str):
        return GivenRows(_matrix(load_array(value, "start_rows"), value), value)
    return GivenRows(_matrix(value, value))


def load_array(path: str, field: str) -> np.ndarray:
    """The array of a .npy file that a field names; nothing in it is executed."""
    check_file(path, f"{field} cannot be read, got")
    try:
        with open(path, "rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{field} cannot be read, got {path!r}: {error.strerror}") from None
    except MemoryError:
        raise InputError(f"{field} must fit into memory, got {path!r}") from None
    except (ValueError, OverflowError) as error:  # a header may claim more than 2^63 rows
        raise InputError(f"{field} must be a .npy file, got {path!r}: {error}") from None


def _matrix(value: object, given: object) -> Float[np.ndarray, "p q"]:
    try:
        matrix = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        matrix = np.zeros(0)
    if matrix.ndim != 2 or not np.all(np.isfinite(matrix)):
        raise InputError(f"start_rows must be a matrix of finite numbers, got {shown(given)}")
    matrix.flags.writeable = False
    return matrix
