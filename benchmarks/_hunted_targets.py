"""Random targets and numbers for the settings of the hunt."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Key = np.random.Generator


def logarithmic(key: Key, low: float, high: float) -> float:
    return float(np.exp(key.uniform(math.log(low), math.log(high))))


def _number(key: Key) -> str:
    return f"{key.choice([-1.0, 1.0]) * key.uniform(0.3, 1.5):.2f}"


def _sum(terms: list[str]) -> str:
    return " + ".join(terms).replace("+ -", "- ")


def _linear(key: Key) -> str:
    return _sum([f"{_number(key)}*x{k + 1}" for k in range(key.integers(1, 4))])


def _polynomial(key: Key) -> str:
    r = int(key.integers(1, 4))
    terms = [f"{_number(key)}*x{k + 1}" for k in range(r)]
    for _ in range(key.integers(1, 4)):
        j, k = key.integers(1, r + 1, size=2)
        terms.append(f"{_number(key)}*x{j}*x{k}")
    return _sum(terms)


def _hermite_products(key: Key) -> str:
    j, k = key.integers(1, 4, size=2)
    return f"{_number(key)}*x1 + {_number(key)}*He{j}(x1)*He{k}(x2)".replace("+ -", "- ")


def _kink(key: Key) -> str:
    name = key.choice(["relu", "abs", "leaky_relu"])
    return f"{name}({_linear(key)}) + {_number(key)}*x1".replace("+ -", "- ")


def _smooth(key: Key) -> str:
    return f"{key.choice(['tanh', 'sin'])}({_linear(key)} + {_number(key)}*x1^2)".replace(
        "+ -", "- "
    )


def _sign(key: Key) -> str:
    return f"sign({_linear(key)})"


def _leap(key: Key) -> str:
    degree = key.choice([2, 3])
    return _sum([f"{_number(key)}*He{degree}(x{k + 1})" for k in range(key.integers(1, 3))])


def _staircase(key: Key) -> str:
    steps = ["x1", "x1*x2", "x1*x2*x3"][: key.integers(2, 4)]
    return _sum([f"{_number(key)}*{step}" for step in steps])


TARGETS: tuple[Callable[[Key], str], ...] = (
    *(_polynomial, _hermite_products, _kink, _smooth),
    *(_sign, _leap, _staircase, _linear),
)
