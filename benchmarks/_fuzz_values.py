"""Values for the fuzzer: of every kind of field good ones, odd ones and hostile ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from giantstep.language.functions import FUNCTIONS
from giantstep.problem.catalog import CATALOG
from giantstep.problem.inputs import LAWS
from giantstep.problem.losses import LOSSES
from giantstep.problem.setting import GROUPS, Setting
from giantstep.problem.starts import READOUT_STARTS, STARTS
from giantstep.problem.updates import UPDATES

Key = np.random.Generator

FIELDS = [name for names in GROUPS.values() for name in names]

HOSTILE: tuple[Any, ...] = (
    *("", " ", "\n", "\0", "nan", "inf", "-inf", "1e999", "-1", "0x10", "1_000", "1/0", "²", "é"),
    *("__import__('os').system('true')", "().__class__", "lambda: 0", "{}", "[]", "[[1,2]", "d;d"),
    *("9" * 500, "x" * 3000, "(" * 300, "((((((((((1))))))))))", "--", "-", "=", "%s", "${HOME}"),
    *(float("nan"), float("inf"), -1, -(10**30), 10**30, 1e308, 5e-324, None, True, [], {}, ()),
    *([1, "a"], {"a": 1}, b"1", 1 + 2j, [[1.0], [1.0, 2.0]], ["nan"], "1,2,,3", "1..2:3"),
)

ODD_SIZES: tuple[Any, ...] = (
    *(0, 1, 2, 3, "1", "0", "2.0", 2.0, "d", "n", "p", "0.5d", "d/3", "d^0", "1e1", "7*log(d)"),
    *("d^1.5", "3d", "d/2 + 1", " 12 ", "+12", "12.", "d*d", "p*d", "sqrt(d)", "d^-1", "giant"),
)

WORDS: dict[str, Sequence[Any]] = {
    "batches": ("fresh", "reused", "repeat(2)", "minibatch(64)", "repeat(0)", "minibatch(1)"),
    "output_scale": ("1/p", "1/sqrt(p)", "1", "1/d", 0.5, "2"),
    "start": (*STARTS, "zeros"),
    "readout_start": (*READOUT_STARTS, [1.0, -1.0], [1.0] * 4, "1,-1", "0,0"),
    "readout_between": ("frozen", "ridge", "gradient(0.1)", "gradient(-1)", "gradient"),
    "bias_at": ("start", "readout"),
    "update": (*UPDATES, "clipped(1)", "clipped(0)", "clippedwhole(2/p)", "sign(1)"),
    "gradient": ("full", "tangent", "normal"),
    "lookahead": ("none", "sample(p/d)", "batch(-2)", "sample", "batch(x)", "sample(1/0)"),
    "label_kind": ("number", "sign", "signs", "x"),
    "momentum": (0.0, 0.9, "nesterov(0.9)", "nesterov", "nesterov(1)", "polyak(0.5)"),
    "loss": (*LOSSES, "huber(1)", "huber(0)", "huber(nan)"),
    "residual": ("full", "labels"),
    "rows": ("free", "normalised"),
    "inputs": (
        *(name for name in LAWS if name not in ("data", "whitened")),
        *("student(5)", "student(2)", "correlated(1)", "correlated(0.5)", "spiked(2, 0.5)"),
        *("shifted(1, 0.5)", "shifted(1e3, 1)", "shifted(1)", "blocks(0.5, 2, 0.5, 0.1)"),
        *("blocks(0.5, 2)", "blocks(1, 0)", "blocks(1e-9, 1, 1, 1)", "power(1)", "power(0)"),
        *("spiked(0, 0)", "spiked(1, 2)", "mixture(1)", "data(/no/such)", "data()", "whitened(.)"),
    ),
    "frame": ("random", "axes", "columns(a)", "columns()"),
    "readout_batch": ("fresh", "last"),
    "record": ("all", "log", "every(2)", "every(0)", "last"),
    "engine": ("auto", "deferred", "dense"),
    "device": ("auto", "cpu", "gpu"),
    "precision": ("float32", "float64", "tf32", "bf16"),
}

GOOD: dict[str, Sequence[Any]] = {
    "SIZE": (4, 8, 20, 40, "2d", "4d", "d/2", "40"),
    "INTEGER": (0, 1, 2, 3, "2"),
    "NUMBER": (0, 0.0, 0.1, 0.5, 1, "0.3", 1.0),
    "MATRIX": (None, [[0.1, 0.2], [0.3, 0.1]], [[1.0, 0.0], [0.0, 1.0]], "0.1,0.2;0.3,0.4"),
    "SIZES": (1.0, "giant", "2*giant", "p", "n^0.3", [1.0, 2.0], "1,2", "10p", "0.1"),
    "NUMBERS": (0.1, [0.1, 1.0], "cv", 1e-3, "0.1,1", 0.0),
    "FILE": (None, [[1.0, 0.0], [0.0, 1.0]], "/no/such.npy"),
}

TINY: dict[str, Any] = {
    "d": 24,
    "n": 60,
    "p": 2,
    "steps": 1,
    "readout_n": 40,
    "test_n": 40,
    "runs": 2,
}
"""A setting that is simulated in milliseconds, for the fields that are not drawn."""


def chosen(key: Key, values: Sequence[Any]) -> Any:
    """One of the values, as it is: NumPy would make arrays and texts of them."""
    return values[int(key.integers(len(values)))]


def expression(key: Key, variables: Sequence[str], depth: int = 3) -> str:
    """A random text of the language, seldom one that is not."""
    kind = int(key.integers(10)) if depth else 9
    if kind < 3:
        sign = chosen(key, ("+", "-", "*", "*", "/"))
        left, right = (expression(key, variables, depth - 1) for _ in range(2))
        return f"{left} {sign} {right}" if sign in "+-" else f"({left}){sign}({right})"
    if kind < 5:
        return f"{chosen(key, list(FUNCTIONS))}({expression(key, variables, depth - 1)})"
    if kind == 5:
        return f"He{key.integers(7)}({expression(key, variables, depth - 1)})"
    if kind == 6:
        power = chosen(key, (0, 1, 2, 2, 3, 4, 0.5, -1))
        return f"({expression(key, variables, depth - 1)})^{power}"
    return chosen(key, (*variables, *variables, f"{key.normal():.3g}", f"{key.integers(5)}"))


def target(key: Key) -> Any:
    """A name, an expression, a text with a letter changed, or something hostile."""
    kind = int(key.integers(12))
    if kind < 2:
        return chosen(key, list(CATALOG))
    if kind == 2:
        return chosen(key, HOSTILE)
    text = expression(key, ("x1", "x1", "x2", "x3"), int(key.integers(1, 4)))
    return mutated(key, text) if kind == 3 else text


def mutated(key: Key, text: str) -> str:
    """A text with a letter taken out, put in or doubled."""
    place = int(key.integers(len(text) + 1))
    return text[:place] + chosen(key, ("", "(", ")", "x", "9", "^", ".", " ")) + text[place + 1 :]


def value(key: Key, field: str) -> Any:
    """A value of a field: mostly a good one, else an odd or a hostile one."""
    kind = int(key.integers(12))
    if kind == 0:
        return chosen(key, HOSTILE)
    if field in ("activation", "label_transform"):
        variable = "z" if field == "activation" else "y"
        names = [*FUNCTIONS, "He1 + He2/2", "plain"]
        return chosen(key, names) if kind < 7 else expression(key, (variable,), 2)
    if field in WORDS:
        return chosen(key, WORDS[field])
    if kind < 3:
        return chosen(key, ODD_SIZES)
    return chosen(key, GOOD[Setting.fields[field].takes])


def fields(key: Key) -> dict[str, Any]:
    """Some fields of a setting, over those of a tiny one."""
    count = int(key.geometric(0.45))
    names = key.choice(FIELDS, size=min(count, len(FIELDS)), replace=False)
    return {"target": target(key), **TINY, **{str(name): value(key, str(name)) for name in names}}
