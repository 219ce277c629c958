"""Laws of the inputs x: read from a text, checked, with their data sets and spectra."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError


@dataclass(frozen=True)
class InputLaw:
    """A law with mean 0 and (but for ``correlated`` and raw data) covariance the identity."""

    kind: str
    parameter: float = 0.0
    path: str = ""

    @property
    def text(self) -> str:
        """The law as it is typed."""
        if self.kind in ("data", "whitened"):
            return f"{self.kind}({self.path})"
        if self.kind not in PARAMETERS:
            return self.kind
        short = f"{self.parameter:g}"
        return f"{self.kind}({short if float(short) == self.parameter else repr(self.parameter)})"

    @property
    def is_gaussian(self) -> bool:
        """Whether x ~ N(0, I), the law of the deferred engine."""
        return self.kind == "gaussian"

    def check(self, d: int) -> None:
        """Refuse a data set whose rows do not have d entries."""
        if self.path and self.table().shape[1] != d:
            raise InputError(
                f"d must be the {self.table().shape[1]} columns of the data set {self.path!r}, "
                f"got {d}"
            )

    def table(self) -> Float[np.ndarray, "rows d"]:
        """The rows of a data set, centred; whitened, or scaled to mean variance one."""
        return _load(self.path, self.kind == "whitened")

    def spectrum(self, d: int) -> Float[np.ndarray, " d"]:
        """Standard deviations along the axes of ``correlated``: variances i^-exponent, mean 1."""
        variances = np.arange(1.0, d + 1.0) ** -self.parameter
        return np.sqrt(variances / variances.mean())


# Laws with a parameter: name, smallest and largest value (exclusive), what it is.
PARAMETERS = {
    "student": (2.0, math.inf, "degrees of freedom"),
    "correlated": (0.0, 10.0, "exponent of the eigenvalues i^-exponent"),
    "mixture": (0.0, 1.0, "separation of the two Gaussians"),
}
PLAIN = ("gaussian", "rademacher", "uniform")


def make_inputs(value: str | InputLaw) -> InputLaw:
    """An input law from its text: ``gaussian``, ``student(5)``, ``whitened(digits.npy)``."""
    if isinstance(value, InputLaw):
        return value
    if not isinstance(value, str):
        raise InputError(f"inputs must be a text such as 'gaussian', got {value!r}")
    match = re.fullmatch(r"\s*([a-z]+)\s*(?:\((.*)\))?\s*", value)
    kind, argument = (match[1], match[2]) if match else ("", None)
    if kind in PLAIN and argument is None:
        return InputLaw(kind)
    if kind in PARAMETERS:
        low, high, meaning = PARAMETERS[kind]
        try:
            parameter = float(argument or "")
        except ValueError:
            parameter = math.nan
        if not low < parameter < high:
            raise InputError(
                f"inputs {kind} needs its {meaning} between {low:g} and {high:g}, got {value!r}"
            )
        return InputLaw(kind, parameter)
    if kind in ("data", "whitened") and argument:
        return InputLaw(kind, path=argument.strip())
    known = ", ".join([*PLAIN, *(f"{k}(..)" for k in PARAMETERS), "data(FILE)", "whitened(FILE)"])
    raise InputError(f"inputs must be one of {known}, got {value[:60]!r}")


@lru_cache(maxsize=4)
def _load(path: str, whitened: bool) -> Float[np.ndarray, "rows d"]:
    """A matrix from a .npy or a comma-separated file; nothing is ever unpickled."""
    try:
        if Path(path).suffix == ".npy":
            table: Any = np.load(path, allow_pickle=False)
        else:
            table = np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        raise InputError(f"inputs cannot read the data set {path!r}: {error}") from None
    if table.ndim != 2 or not np.issubdtype(table.dtype, np.number) or len(table) < 2:
        raise InputError(f"inputs needs a matrix of numbers, {path!r} has shape {table.shape}")
    table = table.astype(float)
    if not np.all(np.isfinite(table)):
        raise InputError(f"inputs needs finite numbers, {path!r} holds others")
    centred = table - table.mean(axis=0)
    if not whitened:
        return centred / max(float(np.sqrt(np.mean(centred**2))), 1e-300)
    u, values, rows = np.linalg.svd(centred, full_matrices=False)
    if values[-1] <= 1e-10 * values[0] or len(table) <= table.shape[1]:
        raise InputError(f"inputs cannot whiten {path!r}: its covariance is singular")
    return math.sqrt(len(table)) * u @ rows
