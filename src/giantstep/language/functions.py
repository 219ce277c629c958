"""The functions of the language of targets and activations, as data.

A function is its values, written once for NumPy, JAX and plain floats, and its derivative, written
in the language itself.  A new one is a new entry of ``FUNCTIONS``; one with a kink or a jump has an
entry of ``giantstep.gaussian.kinks.KINKS`` as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Namespace = Any
"""The array functions an expression is evaluated with: NUMPY, SCALAR, or JAX's with erf added."""


class NumpyNamespace:
    """NumPy with scipy's erf, imported on first use so that most analyses never load scipy."""

    def __repr__(self) -> str:
        return "numpy"

    def __getattr__(self, name: str) -> Any:
        if name == "erf":
            from scipy.special import erf as function
        else:
            import numpy

            function = getattr(numpy, name)
        # Found at once the next time.
        setattr(self, name, function)
        return function

    @staticmethod
    def step(z: Any) -> Any:
        """1{z > 0} in the precision of z: where(z > 0, 1.0, 0.0) would be double."""
        return (z > 0).astype(z.dtype)


NUMPY: Namespace = NumpyNamespace()


@dataclass(frozen=True)
class Function:
    """A function of the language: its values and its derivative, written in the language."""

    value: Callable[[Namespace, Any], Any]
    derivative: str


def _sigmoid(m: Namespace, z: Any) -> Any:
    # (1 + tanh(z/2))/2 neither overflows nor loses digits at large |z|.
    return 0.5 * (1.0 + m.tanh(0.5 * z))


def _softplus(m: Namespace, z: Any) -> Any:
    return m.maximum(z, 0.0) + m.log1p(m.exp(-m.abs(z)))


def _normal_cdf(m: Namespace, z: Any) -> Any:
    return 0.5 * (1.0 + m.erf(z * math.sqrt(0.5)))


LEAK = 0.01
"""Slope of leaky_relu on the negative axis, PyTorch's and JAX's default."""

# The derivative of a kink is the almost-everywhere one: that is what a gradient step sees.
FUNCTIONS: dict[str, Function] = {
    "relu": Function(lambda m, z: m.maximum(z, 0.0), "step(z)"),
    "leaky_relu": Function(
        lambda m, z: m.where(z > 0, z, LEAK * z), f"{LEAK} + {1 - LEAK}*step(z)"
    ),
    "abs": Function(lambda m, z: m.abs(z), "sign(z)"),
    "sign": Function(lambda m, z: m.sign(z), "0"),
    "step": Function(lambda m, z: m.step(z), "0"),
    "tanh": Function(lambda m, z: m.tanh(z), "1 - tanh(z)^2"),
    "erf": Function(lambda m, z: m.erf(z), "2/sqrt(3.141592653589793)*exp(-z^2)"),
    "sigmoid": Function(_sigmoid, "sigmoid(z)*(1 - sigmoid(z))"),
    "softplus": Function(_softplus, "sigmoid(z)"),
    "gelu": Function(
        lambda m, z: z * _normal_cdf(m, z),
        "(1 + erf(z/sqrt(2)))/2 + z*exp(-z^2/2)/sqrt(2*3.141592653589793)",
    ),
    "silu": Function(lambda m, z: z * _sigmoid(m, z), "sigmoid(z) + z*sigmoid(z)*(1 - sigmoid(z))"),
    "sin": Function(lambda m, z: m.sin(z), "cos(z)"),
    "cos": Function(lambda m, z: m.cos(z), "-sin(z)"),
    "exp": Function(lambda m, z: m.exp(z), "exp(z)"),
    "log": Function(lambda m, z: m.log(z), "1/z"),
    "sqrt": Function(lambda m, z: m.sqrt(z), "0.5/sqrt(z)"),
    "atan": Function(lambda m, z: m.arctan(z), "1/(1 + z^2)"),
}


class _ScalarNamespace:
    """The functions of a Namespace for one float, from the standard library."""

    def __getattr__(self, name: str) -> Any:
        special: Mapping[str, Callable[..., Any]] = {
            "where": lambda condition, x, y: x if condition else y,
            "abs": abs,
            "step": lambda x: float(x > 0),
            "maximum": max,
            "sign": lambda x: (x > 0) - (x < 0),
            "arctan": math.atan,
        }
        return special.get(name) or getattr(math, name)


SCALAR: Namespace = _ScalarNamespace()


_HERMITE = re.compile(r"He([0-9]{1,4})", re.ASCII)


def hermite_degree(function: str) -> int | None:
    """Degree k of the function name ``He<k>``, None for any other name."""
    match = _HERMITE.fullmatch(function)
    return int(match.group(1)) if match else None


def hermite_at(degree: int, value: Any) -> Any:
    """He_k(value) by He_{k+1}(x) = x He_k(x) - k He_{k-1}(x), for numbers and for arrays."""
    previous, current = 0 * value, 0 * value + 1
    for k in range(degree):
        previous, current = current, value * current - k * previous
    return current
