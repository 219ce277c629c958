"""Random settings for the hunt: narrow and wide networks, first tries, words, and input laws.

A setting follows from a seed, its number and its kind, so that each can be drawn again by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks._hunted_targets import TARGETS, Key, logarithmic
from giantstep.errors import InputError
from giantstep.problem.inputs import make_inputs
from giantstep.problem.setting import Setting
from giantstep.problem.starts import READOUT_STARTS, STARTS
from giantstep.simulation.simulate import choose_engine

WORK = {
    "narrow": 1.5e9,
    "wide": 1.5e9,
    "small": 1e10,
    "many": 5e9,
    "words": 1.5e9,
    "inputs": 1.5e9,
}
"""Products of samples and weights in the runs of a setting: some seconds on one core."""

ACTIVATIONS = (
    *("relu", "erf", "tanh", "sigmoid", "softplus", "gelu", "silu", "sin"),
    "He1 + He2/2",
)

Fields = dict[str, Any]


# -- settings -------------------------------------------------------------------------------------


KINDS = ("narrow", "wide", "small", "many", "words", "inputs")


def draw(seed: int, index: int, kind: str) -> Setting:
    """The setting of a seed and a number: redrawn until its runs are done in some seconds."""
    key = np.random.default_rng([seed, index, KINDS.index(kind)])
    while True:
        fields = DRAWN[kind](key)
        try:
            giant = Setting(**fields)
        except InputError:  # words that do not go together
            continue
        largest = 3.0 / max(1.0, giant.steps / 4)
        sizes = [giant.step_size[0] * logarithmic(key, 0.3, largest) for _ in range(giant.steps)]
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
    d = int(logarithmic(key, 20, 151))
    start = str(key.choice(["symmetric", "symmetric", "sphere", "gaussian", "orthogonal"]))
    p = int(logarithmic(key, 1, 2 * d + 1))
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
    count = fields["n"] if default else int(fields["d"] * logarithmic(key, 0.5, 30.0))
    ridges = ("cv", float(f"{logarithmic(key, 1e-4, 1.0):.2g}"), [0.01, 0.1, 1.0])
    return {"readout_n": count, "test_n": 1000, "ridge": ridges[key.integers(3)]}


def _fields(key: Key, *, wide: bool) -> Fields:
    target = key.choice(np.array(TARGETS))(key)
    # The theory of linear width refuses the last start and deflated labels: seldom is enough.
    seldom = 16 if wide else 4
    start = str(key.choice([name for name in STARTS if not STARTS[name].framed]))
    if key.integers(seldom) == 0:
        start = "orthogonal"
    if wide:
        d = int(logarithmic(key, 100, 600))
        p = int(d * logarithmic(key, 0.2, 3.0))
        if STARTS[start].framed:
            p = min(p, d - 3)
    else:
        d, p = int(logarithmic(key, 500, 20_000)), int(logarithmic(key, 2, 33))
    p += STARTS[start].paired * (p % 2)
    fields: Fields = {
        "target": target,
        "activation": str(key.choice(ACTIVATIONS)),
        "d": d,
        "n": int(d * logarithmic(key, 0.5, 12.0)),
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
        n = int((d if wide else 12 * p) * logarithmic(key, 1.0, 4.0))
        fields |= {"readout_n": n, "test_n": 1000, "ridge": "cv"}
        if key.integers(2):
            fields["ridge"] = float(f"{logarithmic(key, 1e-3, 1.0):.2g}")
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


# -- words and inputs with structure --------------------------------------------------------------

WORDS: dict[str, tuple[Any, ...]] = SELDOM | {
    "update": (*SELDOM["update"], "adam(0.9, 0.99)", "adam(0.5, 0.9)"),
    "deflate": (0, 1, 2),
    "lookahead": ("sample(p/d)", "sample(-p/d)", "batch(p)", "batch(-p)"),
    "residual": ("labels",),
    "readout_start": tuple(READOUT_STARTS),
    "output_scale": ("1/sqrt(p)", "1"),
    "batches": ("reused", "repeat(2)", "minibatch(2n)", "minibatch(8n)"),
    "steps": ("log(d)/2", "log(d)", "2*log(d)"),
    "record": ("log", "every(2)"),
    "precision": ("float64",),
    "engine": ("dense",),
    "label_kind": ("sign",),
    "target": ("separable(He2, 6, 1)", "separable(He1 + He3, 5, 0.5)", "staircase", "joint-step"),
}
"""Fields that one setting in five of the kind ``words`` has other than by default.

Inputs and starts are drawn beside them.  Left out are inputs that no theory covers, and devices;
random signs go with bounded targets alone.
"""


def _words_fields(key: Key) -> Fields:
    """A narrow network at d of some hundreds to thousands, with any words of the record."""
    fields = _narrow_network(key) | _words(key, one_in=5)
    if key.integers(5) == 0:
        fields |= structured(key, fields, LAWS_DRAWN)
    return _with_readout(key, fields)


def _narrow_network(key: Key) -> Fields:
    d, p = int(logarithmic(key, 300, 3000)), int(logarithmic(key, 2, 13))
    return {
        "target": str(key.choice(np.array(TARGETS))(key)),
        "activation": str(key.choice(SMALL_ACTIVATIONS)),
        "d": d,
        "n": int(d * logarithmic(key, 0.5, 8.0)),
        "p": p + p % 2,
        "steps": int(key.integers(1, 5)),
        "runs": int(key.integers(20, 41)),
        "seed": int(key.integers(10_000)),
        "readout_n": 0,
        "test_n": 0,
    }


def _words(key: Key, one_in: int) -> Fields:
    """Words beyond the default ones, each in so many settings once."""
    fields: Fields = {}
    for name, values in WORDS.items():
        if key.integers(one_in) == 0:
            fields[name] = values[key.integers(len(values))]
    if "bias_at" in fields:
        fields["bias"] = float(f"{key.uniform(0.1, 1.0):.2f}")
    noise = key.integers(6)
    fields |= {0: {"noise": 0.5}, 1: {"corruption": 0.2}}.get(int(noise), {})
    return fields


def _with_readout(key: Key, fields: Fields) -> Fields:
    """The fields with a start and a readout, and sizes at which its words can be afforded."""
    if fields.get("deflate") == 2:  # a fit of d^2/2 numbers
        fields["d"] = int(logarithmic(key, 20, 81))
        fields["n"] = int(fields["d"] ** 2 * key.uniform(0.7, 3.0))
    fields |= _start(key, fields)
    return fields | _small_readout(key, fields)


def _start(key: Key, fields: Fields) -> Fields:
    """A start of any kind, its numbers where it takes some, and sometimes the entries of a."""
    start, p = STARTS[str(key.choice(list(STARTS)))], fields["p"]
    found: Fields = {"start": start.name}
    r = Setting(fields["target"]).target.r
    overlaps = np.round(key.uniform(-0.4, 0.4, size=(p, r)) / math.sqrt(r), 2)
    if start.takes_gram and key.integers(2):
        others = key.standard_normal((p, p + 2)) / math.sqrt(p + 2)
        found["start_rows"] = np.concatenate([overlaps, others], axis=1)
    elif start.takes_gram:
        others = key.standard_normal((p, p)) / math.sqrt(p)
        gram = overlaps @ overlaps.T + others @ others.T
        found |= {"start_overlaps": overlaps.tolist(), "start_gram": gram.tolist()}
    elif start.framed and key.integers(2):
        found["start_overlaps"] = overlaps.tolist()
    if not start.paired and key.integers(8) == 0:
        found["readout_start"] = np.round(key.uniform(-1.5, 1.5, size=p), 2).tolist()
    return found


def _overlap(key: Key) -> str:
    """An overlap of a known direction with the target, sometimes none."""
    return f"{key.uniform(-0.95, 0.95) * (key.integers(5) > 0):.2f}"


def _spiked(key: Key) -> str:
    rare = key.integers(4) == 0
    strength = -key.uniform(0.1, 0.9) if rare else logarithmic(key, 0.2, 20.0)
    return f"spiked({strength:.2f}, {_overlap(key)})"


def _shifted(key: Key) -> str:
    return f"shifted({logarithmic(key, 0.1, 4.0):.2f}, {_overlap(key)})"


def _clusters(key: Key) -> str:
    return f"clusters({logarithmic(key, 0.3, 8.0):.2f}, {_overlap(key)})"


def _hundredths(key: Key, count: int) -> list[float]:
    """Shares that sum to one, in hundredths."""
    return [int(each) / 100 for each in key.multinomial(100, key.dirichlet(np.ones(count)))]


def _blocks(key: Key) -> str:
    shares = _hundredths(key, int(key.integers(2, 6)))
    numbers = [f"{share:g}, {logarithmic(key, 0.05, 10.0):.2f}" for share in shares]
    return f"blocks({', '.join(numbers)})"


def _power(key: Key) -> str:
    return f"power({key.uniform(0.1, 2.0):.2f})"


LAWS_DRAWN = (_spiked, _shifted, _clusters, _blocks, _power)
LAWS_OF_WIDE = (_spiked, _blocks, _power)
"""Laws of inputs that are predicted, for narrow networks and at linear width."""


def structured(key: Key, fields: Fields, laws: tuple[Callable[[Key], str], ...]) -> Fields:
    """Inputs of one of some laws, and target directions placed among their axes."""
    text = key.choice(np.array(laws))(key)
    frames = ["random", "axes"]
    try:
        law = make_inputs(text)
    except InputError:  # a block without a direction, which the record refuses again
        return {"inputs": text}
    if law.in_blocks:
        count = len(law.blocks(fields["d"]).sizes)
        chosen, shares = key.permutation(count)[:3], np.zeros(count)
        shares[chosen] = _hundredths(key, len(chosen))
        frames += [f"block({chosen[0] + 1})", f"shares({', '.join(map(str, shares))})"]
    return {"inputs": text, "frame": str(key.choice(frames))}


def _inputs_fields(key: Key) -> Fields:
    """Inputs with structure: narrow networks with some words, and wide ones after a step."""
    if key.integers(5):
        fields = _narrow_network(key) | _words(key, one_in=12)
        fields["batches"] = str(key.choice(["fresh", "reused"]))
        return _with_readout(key, fields | structured(key, fields, LAWS_DRAWN))
    fields = _fields(key, wide=True) | {"steps": 1}
    return fields | structured(key, fields, LAWS_OF_WIDE)


def _many_fields(key: Key) -> Fields:
    return _fields(key, wide=True) | {"steps": int(key.integers(3, 5)), "batches": "fresh"}


DRAWN: dict[str, Callable[[Key], Fields]] = {
    "narrow": partial(_fields, wide=False),
    "wide": partial(_fields, wide=True),
    "small": _small_fields,
    "many": _many_fields,
    "words": _words_fields,
    "inputs": _inputs_fields,
}
"""How the fields of every kind are drawn."""


def _work(setting: Setting) -> float:
    """Samples times weights over the runs: R^d at linear width, a few coordinates otherwise."""
    narrow = setting.target.r + setting.p * (1 + setting.steps)
    samples = setting.steps * setting.n + (setting.steps + 1) * setting.readout_n
    columns = setting.d if choose_engine(setting) == "dense" else min(setting.d, narrow)
    return setting.runs * samples * setting.p * columns
