"""Random settings for the hunt: narrow networks, wide ones, and the sizes of a first try.

A setting follows from a seed, its number and its kind, so that each can be drawn again by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.problem.starts import READOUT_STARTS, STARTS

WORK = {"narrow": 1.5e9, "wide": 1.5e9, "small": 1e10, "many": 5e9, "words": 1.5e9}
"""Products of samples and weights in the runs of a setting: some seconds on one core."""

ACTIVATIONS = (
    *("relu", "erf", "tanh", "sigmoid", "softplus", "gelu", "silu", "sin"),
    "He1 + He2/2",
)

Fields = dict[str, Any]
Key = np.random.Generator


# -- targets --------------------------------------------------------------------------------------


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


# -- settings -------------------------------------------------------------------------------------


def _logarithmic(key: Key, low: float, high: float) -> float:
    return float(np.exp(key.uniform(math.log(low), math.log(high))))


KINDS = ("narrow", "wide", "small", "many", "words")


def draw(seed: int, index: int, kind: str) -> Setting:
    """The setting of a seed and a number: redrawn until its runs are done in some seconds."""
    key = np.random.default_rng([seed, index, KINDS.index(kind)])
    while True:
        fields = DRAWN[kind](key)
        try:
            giant = Setting(**fields)
        except InputError:  # words that do not go together
            continue
        sizes = [giant.step_size[0] * _logarithmic(key, 0.3, 3.0) for _ in range(giant.steps)]
        if _work(giant) <= WORK[kind]:
            return giant.vary(step_size=[float(f"{size:.3g}") for size in sizes])


SMALL_TARGETS = (
    *("x1", "He2(x1)", "x1*x2", "He3(x1)", "x1*x2*x3"),
    *("tanh(2*x1)", "x1 + x2 + x1^2 - x2^2", "relu(x1) + x2*x3"),
)
SMALL_ACTIVATIONS = (*ACTIVATIONS, "tanh(z+0.5)")

SELDOM: dict[str, tuple[Any, ...]] = {
    "readout_between": ("gradient(0.1)", "gradient(0.5)", "ridge"),
    "bias_at": ("start", "readout"),
    "update": ("normalised", "orthogonal", "sign", "clipped(0.2)", "clippedwhole(0.4)"),
    "loss": ("huber(1)", "absolute", "logistic"),
    "label_transform": ("tanh(y)", "sign(y)", "y^2", "relu(y)"),
    "deflate": (0, 1),
    "decay": (0.1, 0.5),
    "rows": ("normalised",),
    "gradient": ("tangent",),
    "momentum": (0.5, 0.9, "nesterov(0.7)"),
    "readout_batch": ("last",),
}
"""Fields that one small setting in eight has other than by default, and what they may be."""


def _small_fields(key: Key) -> Fields:
    """The sizes of a first try, with every field that a first try may change."""
    d = int(_logarithmic(key, 20, 151))
    start = str(key.choice(["symmetric", "symmetric", "sphere", "gaussian", "orthogonal"]))
    p = int(_logarithmic(key, 1, 2 * d + 1))
    p = min(p, d - 3) if STARTS[start].framed else p
    p += STARTS[start].paired * (p % 2)
    drawn = key.choice(np.array(TARGETS))(key)
    fields: Fields = {
        "target": str(key.choice(SMALL_TARGETS)) if key.integers(2) else drawn,
        "activation": str(key.choice(SMALL_ACTIVATIONS)),
        "d": d,
        "n": int(d ** key.uniform(1.0, 3.0)),
        "p": p,
        "steps": int(key.integers(1, 5)),
        "batches": str(key.choice(["fresh", "fresh", "reused", "repeat(2)"])),
        "start": start,
        "runs": 30,
        "seed": int(key.integers(10_000)),
        "readout_n": 0,
        "test_n": 0,
    }
    if key.integers(2):
        fields["readout_start"] = str(key.choice(list(READOUT_STARTS)))
        fields["output_scale"] = str(key.choice(["1/p", "1/sqrt(p)", "1"]))
        fields["residual"] = str(key.choice(["full", "labels"]))
    noise = key.integers(6)
    if noise == 0:
        fields["noise"] = float(f"{key.uniform(0.1, 1.0):.2f}")
    elif noise == 1:
        fields["corruption"] = float(f"{key.uniform(0.05, 0.4):.2f}")
    for name, values in SELDOM.items():
        if key.integers(8) == 0:
            fields[name] = values[key.integers(len(values))]
    if "bias_at" in fields:
        fields["bias"] = float(f"{key.uniform(0.1, 1.0):.2f}")
    return fields | _small_readout(key, fields)


def _small_readout(key: Key, fields: Fields) -> Fields:
    """The fields of a readout, for half of the settings and where another field asks for one."""
    fitted = fields.get("readout_between") == "ridge" or fields.get("readout_batch") == "last"
    if not fitted and key.integers(2):
        return {}
    default = key.integers(2) or fields.get("readout_batch") == "last"
    count = fields["n"] if default else int(fields["d"] * _logarithmic(key, 0.5, 30.0))
    ridges = ("cv", float(f"{_logarithmic(key, 1e-4, 1.0):.2g}"), [0.01, 0.1, 1.0])
    return {"readout_n": count, "test_n": 1000, "ridge": ridges[key.integers(3)]}


def _fields(key: Key, *, wide: bool) -> Fields:
    target = key.choice(np.array(TARGETS))(key)
    # The theory of linear width refuses the last start and deflated labels: seldom is enough.
    seldom = 16 if wide else 4
    start = str(key.choice([name for name in STARTS if not STARTS[name].framed]))
    if key.integers(seldom) == 0:
        start = "orthogonal"
    if wide:
        d = int(_logarithmic(key, 100, 600))
        p = int(d * _logarithmic(key, 0.2, 3.0))
        if STARTS[start].framed:
            p = min(p, d - 3)
    else:
        d, p = int(_logarithmic(key, 500, 20_000)), int(_logarithmic(key, 2, 33))
    p += STARTS[start].paired * (p % 2)
    fields: Fields = {
        "target": target,
        "activation": str(key.choice(ACTIVATIONS)),
        "d": d,
        "n": int(d * _logarithmic(key, 0.5, 12.0)),
        "p": p,
        "steps": int(key.integers(1, 3 if wide else 4)),
        "output_scale": str(key.choice(["1/p", "1/sqrt(p)", "1"])),
        "start": start,
        "readout_start": str(key.choice(list(READOUT_STARTS))),
        "batches": str(key.choice(["fresh", "reused"])),
        "residual": str(key.choice(["full", "labels"])),
        "runs": int(key.integers(6, 21)),
        "seed": int(key.integers(1000)),
        "readout_n": 0,
        "test_n": 0,
    }
    kind = key.integers(4)
    if kind == 0:
        fields["noise"] = float(f"{key.uniform(0.1, 1.0):.2f}")
    elif kind == 1:
        fields["corruption"] = float(f"{key.uniform(0.05, 0.4):.2f}")
    if key.integers(seldom) == 0:
        fields["deflate"] = int(key.integers(2))
    if key.integers(2):
        n = int((d if wide else 12 * p) * _logarithmic(key, 1.0, 4.0))
        fields |= {"readout_n": n, "test_n": 1000, "ridge": "cv"}
        if key.integers(2):
            fields["ridge"] = float(f"{_logarithmic(key, 1e-3, 1.0):.2g}")
    if wide and key.integers(2):
        fields["spectra"] = 6
    if not wide and STARTS[start].framed and key.integers(2):
        fields["start_overlaps"] = np.round(key.uniform(-0.4, 0.4, size=(p, 3)), 2).tolist()
    return _fitting(fields)


def _fitting(fields: Fields) -> Fields:
    """Given overlaps with as many columns as the target has directions."""
    overlaps = fields.pop("start_overlaps", None)
    if overlaps is not None:
        r = Setting(**fields).target.r
        fields["start_overlaps"] = [row[:r] for row in overlaps]
    return fields


WORDS: dict[str, tuple[Any, ...]] = SELDOM | {
    "update": (*SELDOM["update"], "adam(0.9, 0.99)", "adam(0.5, 0.9)"),
    "lookahead": ("sample(p/d)", "sample(-p/d)", "batch(p)", "batch(-p)"),
    "residual": ("labels",),
    "readout_start": tuple(READOUT_STARTS),
    "output_scale": ("1/sqrt(p)", "1"),
    "batches": ("reused", "repeat(2)", "minibatch(2n)", "minibatch(8n)"),
    "inputs": (
        *("spiked(3, 0.5)", "shifted(1.5, 0.3)", "clusters(3, 0.4)"),
        *("blocks(0.5, 1.5, 0.5, 0.5)", "power(0.5)"),
    ),
}
"""Fields that one setting in five of the kind ``words`` has other than by default."""


def _words_fields(key: Key) -> Fields:
    """A narrow network at d of some hundreds to thousands, with any words of the record."""
    d, p = int(_logarithmic(key, 300, 3000)), int(_logarithmic(key, 2, 13))
    start = str(key.choice(["symmetric", "sphere", "gaussian", "orthogonal"]))
    fields: Fields = {
        "target": str(key.choice(np.array(TARGETS))(key)),
        "activation": str(key.choice(SMALL_ACTIVATIONS)),
        "d": d,
        "n": int(d * _logarithmic(key, 0.5, 8.0)),
        "p": p + STARTS[start].paired * (p % 2),
        "steps": int(key.integers(1, 5)),
        "start": start,
        "runs": int(key.integers(20, 41)),
        "seed": int(key.integers(10_000)),
        "readout_n": 0,
        "test_n": 0,
    }
    for name, values in WORDS.items():
        if key.integers(5) == 0:
            fields[name] = values[key.integers(len(values))]
    if "bias_at" in fields:
        fields["bias"] = float(f"{key.uniform(0.1, 1.0):.2f}")
    noise = key.integers(6)
    fields |= {0: {"noise": 0.5}, 1: {"corruption": 0.2}}.get(int(noise), {})
    return fields | _small_readout(key, fields)


def _many_fields(key: Key) -> Fields:
    return _fields(key, wide=True) | {"steps": int(key.integers(3, 5)), "batches": "fresh"}


DRAWN: dict[str, Callable[[Key], Fields]] = {
    "narrow": partial(_fields, wide=False),
    "wide": partial(_fields, wide=True),
    "small": _small_fields,
    "many": _many_fields,
    "words": _words_fields,
}
"""How the fields of every kind are drawn."""


def _work(setting: Setting) -> float:
    """Samples times weights over the runs: R^d at linear width, a few coordinates otherwise."""
    narrow = setting.target.r + setting.p * (1 + setting.steps)
    samples = setting.steps * setting.n + (setting.steps + 1) * setting.readout_n
    return setting.runs * samples * setting.p * min(setting.d, narrow)
