"""The record: defaults, sizes that follow, giant step sizes, and every field refused by name."""

import inspect
import json
import math
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from giantstep.errors import InputError, shown
from giantstep.problem.activation import Activation, make_activation
from giantstep.problem.batches import BATCHES
from giantstep.problem.between import BETWEEN
from giantstep.problem.fields import Field
from giantstep.problem.inputs import LAWS, InputLaw
from giantstep.problem.losses import LOSSES
from giantstep.problem.network import start_readout
from giantstep.problem.recording import RECORDINGS
from giantstep.problem.setting import DEFAULTS, LINEAR_WIDTH, Setting
from giantstep.problem.starts import READOUT_STARTS, STARTS
from giantstep.problem.target import make_target, separable
from giantstep.problem.updates import UPDATES

TARGET = "x1 + x1*x2"


def test_the_signature_tells_every_field_and_its_default() -> None:
    parameters = inspect.signature(Setting).parameters
    assert list(parameters) == list(Setting.fields)
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    assert defaults | {"n": "4d"} == DEFAULTS  # which labels of a data set may change
    assert (DEFAULTS["target"], DEFAULTS["n"], DEFAULTS["ridge"]) == (None, "4d", "cv")
    # What editors and type checkers read: annotated fields of a class that transforms them.
    assert list(Setting.__annotations__) == list(Setting.fields)
    assert Setting.__dataclass_transform__["field_specifiers"] == (Field,)
    positional = [name for name, each in parameters.items() if each.kind is not each.KEYWORD_ONLY]
    assert positional == ["target"]
    with pytest.raises(TypeError, match="by position"):
        Setting(TARGET, "relu")  # type: ignore[misc]


def test_defaults() -> None:
    setting = Setting(TARGET)
    assert (setting.d, setting.n, setting.p, setting.steps) == (1000, 4000, 8, 2)
    assert setting.step_size == (8.0, 8.0)
    assert setting.activation.name == "relu"
    assert setting.inputs.is_gaussian
    assert (setting.readout_n, setting.test_n, setting.ridge) == (4000, 20_000, "cv")
    assert setting.scale == 1 / 8
    for name in ("start", "readout_start", "batches", "residual", "engine", "seed", "spectra"):
        assert getattr(setting, name) == DEFAULTS[name]


def test_none_means_the_default() -> None:
    assert Setting(TARGET, d=None, ridge=None).as_dict() == Setting(TARGET).as_dict()


def test_sizes_in_terms_of_each_other() -> None:
    setting = Setting(TARGET, d=400, p="d^0.5", n="p*d", readout_n="n/2", test_n="10d")
    assert (setting.p, setting.n, setting.readout_n, setting.test_n) == (20, 8000, 4000, 4000)


def test_what_was_given_in_terms_of_d_follows_it() -> None:
    base = Setting(TARGET, d=100, n="d^1.5", p="d/5", step_size="p*d^0.5", ridge="d^-1")
    small, large = base.vary(seed=3), base.vary(d=400)
    assert (small.n, small.p, small.step_size, small.ridge) == (1000, 20, (200.0,) * 2, (0.01,))
    assert (large.n, large.p, large.step_size) == (8000, 80, (1600.0,) * 2)
    assert large.ridge == (1 / 400,)
    assert large.readout_n == 8000
    assert base.vary(n=50).vary(d=400).n == 50
    assert base.vary(steps=3).step_size == (200.0,) * 3
    assert base.vary(target="He3(x1)", step_size="giant").step_size == (2000.0, 2000.0)


def test_linear_width_has_its_own_defaults() -> None:
    setting = Setting.linear_width(TARGET, d=200)
    assert (setting.d, setting.n, setting.p, setting.steps) == (200, 400, 300, 1)
    assert setting.step_size == pytest.approx((400**0.3,))
    assert (setting.output_scale, setting.start, setting.readout_start) == (
        "1",
        "sphere",
        "gaussian",
    )
    assert (setting.ridge, setting.test_n, setting.spectra) == ((0.1,), 4000, 300)
    assert setting.vary(d=400).spectra == 600
    assert setting == Setting(TARGET, **LINEAR_WIDTH, steps=1, d=200)


@pytest.mark.parametrize(
    ("fields", "steps"),
    [
        ({"step_size": "p^0.5,n^0.3"}, 2),
        ({"step_size": [1, 2, "d"]}, 3),
        ({"step_size": "2", "steps": "4"}, 4),
        ({"step_size": None, "steps": None}, 1),
    ],
)
def test_linear_width_takes_as_many_steps_as_sizes(fields: dict[str, Any], steps: int) -> None:
    setting = Setting.linear_width(target=TARGET, d="200", p="100", **fields)
    assert (setting.p, setting.steps, len(setting.step_size)) == (100, steps, steps)


def test_linear_width_refuses_in_the_same_words() -> None:
    with pytest.raises(InputError, match=r"^target is missing$"):
        Setting.linear_width(d=100)
    with pytest.raises(InputError, match=r"^unknown key 'widht'"):
        Setting.linear_width(TARGET, widht=3)


def test_frozen() -> None:
    setting = Setting(TARGET)
    with pytest.raises(FrozenInstanceError, match="frozen"):
        setting.d = 3
    with pytest.raises(FrozenInstanceError, match="frozen"):
        del setting.d
    assert setting.d == 1000


@pytest.mark.parametrize(("target", "leap"), [(TARGET, 1), ("x1*x2", 2), ("He3(x1)", 3)])
@pytest.mark.parametrize(("output_scale", "scale"), [("1/p", 16), ("1/sqrt(p)", 4), ("1", 1)])
@pytest.mark.parametrize(
    ("readout_start", "size"),
    [("signs", 1.0), ("alternating", 1.0), ("gaussian", 4.0), ("uniform", math.sqrt(3))],
)
def test_giant_is_the_size_of_an_update_of_order_one(
    target: str, leap: int, output_scale: str, scale: float, readout_start: str, size: float
) -> None:
    """d^((l-1)/2) / (s_p |a|), with |a| = 1, p^(-1/2) or 3^(-1/2)."""
    setting = Setting(
        target, d=900, p=16, output_scale=output_scale, readout_start=readout_start, steps=1
    )
    assert setting.step_size == pytest.approx((scale * size * 30 ** (leap - 1),))


@pytest.mark.parametrize(
    ("changes", "size"),
    [
        ({}, 900.0),
        ({"label_transform": "y^2"}, 30.0),
        ({"label_transform": "y^2", "deflate": 2}, 900.0 * 30.0),
        ({"loss": "absolute"}, 1.0),
        ({"loss": "absolute", "residual": "labels"}, 900.0),
        ({"loss": "huber(1)"}, 1.0),
        ({"loss": "logistic"}, 900.0),
        ({"update": "normalised"}, 1 / 16),
        ({"update": "orthogonal"}, 1 / 16),
        ({"update": "sign"}, 1 / 16 / 30),
        ({"start": "given", "start_gram": 4 * np.eye(16)}, 1800.0),
        ({"start": "given", "start_rows": 3 * np.eye(16, 900)}, 2700.0),
        ({"update": "normalised", "start": "given", "start_gram": 4 * np.eye(16)}, 2 / 16),
        ({"decay": 0.5, "bias": 1.0, "rows": "normalised"}, 900.0),
    ],
)
def test_giant_knows_the_words(changes: dict[str, Any], size: float) -> None:
    """In units of p: He3^2 begins with He2, beyond it He4; its sign has a linear part."""
    setting = Setting(**({"target": "He3(x1)", "d": 900, "p": 16, "steps": 1} | changes))
    assert setting.step_size == pytest.approx((16 * size,))
    assert setting.giant_shares == pytest.approx((1.0,))
    third = setting.vary(steps=2, step_size=16 * size / 3)
    assert third.giant_shares == pytest.approx((1 / 3, 1 / 3))


@pytest.mark.parametrize(
    ("text", "share"), [("0.5giant", 0.5), ("2 giant", 2.0), ("3*giant", 3.0), ("p*giant", 8.0)]
)
def test_a_share_of_the_giant_size_is_written_as_one_of_d(text: str, share: float) -> None:
    setting = Setting("x1", d=100, p=8, step_size=text)
    assert setting.giant_shares == pytest.approx((share, share))
    assert setting.vary(target="He2(x1)").giant_shares == pytest.approx((share, share))


@pytest.mark.parametrize("text", ["giants", "xgiant", "giant2"])
def test_other_words_with_giant_are_refused(text: str) -> None:
    with pytest.raises(
        InputError, match="step_size must be a number or a product of powers of d, n, p, giant"
    ):
        Setting("x1", d=100, step_size=text)


def test_giant_of_a_callable_sees_through_a_loss() -> None:
    setting = Setting(lambda x: x**3 - 3 * x, d=900, p=16, steps=1, loss="absolute")
    assert setting.step_size == pytest.approx((16.0,))


@pytest.mark.parametrize("readout_start", ["signs", "alternating", "gaussian", "uniform"])
def test_giant_knows_the_size_of_the_entries_of_a(readout_start: str) -> None:
    """For leap 1, eta s_p |a| = 1: mean square of 10^5 entries within 5 standard errors.

    4 comparisons; entries twice as large are rejected.
    """
    setting = Setting("x1", p=100_000, start="sphere", readout_start=readout_start)
    sizes = (setting.step_size[0] * setting.scale * start_readout(setting, 0)) ** 2
    # 1e-9 for signs, whose square does not fluctuate at all.
    error = sizes.std() / math.sqrt(len(sizes)) + 1e-9
    assert abs(sizes.mean() - 1) < 5 * error
    assert not abs(4 * sizes.mean() - 1) < 5 * 4 * error


@pytest.mark.parametrize(
    ("target", "deflate", "leap"),
    [
        ("x1 + He2(x1)", -1, 1),
        ("x1 + He2(x1)", 0, 1),
        ("x1 + He2(x1)", 1, 2),
        ("x1 + He3(x1)", 1, 3),
        ("He3(x1) + 5", 0, 3),
        ("x1", 1, 1),
    ],
)
def test_giant_counts_from_the_first_degree_that_is_left(
    target: str, deflate: int, leap: int
) -> None:
    setting = Setting(target, d=100, p=2, steps=1, deflate=deflate)
    assert setting.step_size == pytest.approx((2 * 10 ** (leap - 1),))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (3, (3.0, 3.0)),
        ("3", (3.0, 3.0)),
        (-1, (-1.0, -1.0)),
        (0, (0.0, 0.0)),
        ([1, 2.5], (1.0, 2.5)),
        ((1, "d"), (1.0, 100.0)),
        ("p^0.5,p^0.5", (4.0, 4.0)),
        ("giant, 2p", (16.0, 32.0)),
        ("3*giant, giant/2", (48.0, 8.0)),
        ("3giant, giant*d^-0.5", (48.0, 1.6)),
        (["giant", "n^0.5"], (16.0, 20.0)),
        (["p"], (16.0, 16.0)),
    ],
)
def test_one_size_or_one_a_step(sizes: object, expected: tuple[float, ...]) -> None:
    setting = Setting(TARGET, d=100, p=16, step_size=sizes)
    assert setting.step_size == pytest.approx(expected)


def test_no_steps_have_no_sizes() -> None:
    assert Setting(TARGET, steps=0).step_size == ()
    logarithmic = Setting(TARGET, d=1000, steps="2*log(d)", step_size=0.5)
    assert logarithmic.step_size == (0.5,) * 14
    assert logarithmic.vary(d=100).steps == 9
    assert Setting(TARGET, steps=0, step_size=[]).step_size == ()


HALF = [[0.5, 0.0]] * 4
ORTHOGONAL = {"start": "orthogonal", "p": 4, "d": 50}

# Fields, the one that is at fault, and what must be quoted.
BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"target": "x1 +"}, "target", "position 5"),
    ({"target": 7}, "target", "7"),
    ({"activation": "foo"}, "activation", "'foo'"),
    ({"activation": 3}, "activation", "3"),
    ({"d": 1}, "d", "1"),
    ({"d": 0}, "d", "0"),
    ({"d": 2.5}, "d", "2.5"),
    ({"d": "d"}, "d", "'d'"),
    ({"d": True}, "d", "True"),
    ({"d": 10**400}, "d", "got"),
    ({"d": "1000.5"}, "d", "'1000.5'"),
    ({"d": "1e18"}, "d", "'1e18'"),
    ({"d": "1e30"}, "d", "'1e30'"),
    ({"d": "1e999"}, "d", "'1e999'"),
    ({"d": ""}, "d", "''"),
    ({"d": 2**53, "n": "2d"}, "n", "'2d'"),
    ({"n": 0}, "n", "0"),
    ({"n": -4}, "n", "-4"),
    ({"n": "d/9999"}, "n", "'d/9999'"),
    ({"n": "4q"}, "n", "'4q'"),
    ({"n": math.nan}, "n", "nan"),
    ({"p": 7}, "p", "7"),
    ({"p": 0}, "p", "0"),
    ({"p": "n"}, "p", "'n'"),
    ({"start": "orthogonal", "d": 9}, "p", "8"),
    ({"steps": -1}, "steps", "-1"),
    ({"steps": 1.5}, "steps", "1.5"),
    ({"steps": "1.9"}, "steps", "'1.9'"),
    ({"steps": "log(n)"}, "steps", "'log(n)'"),
    ({"steps": "-log(d)"}, "steps", "'-log(d)'"),
    ({"steps": "d^3"}, "steps", "'d^3'"),
    ({"steps": 10**6 + 1}, "steps", "1000001"),
    ({"step_size": "1e39"}, "step_size", "'1e39'"),
    ({"step_size": 1e39}, "step_size", "1e+39"),
    ({"step_size": "d^13"}, "step_size", "'d^13'"),
    ({"step_size": math.inf}, "step_size", "inf"),
    ({"step_size": [1, 2, 3]}, "step_size", "[1, 2, 3]"),
    ({"step_size": "p,p,p"}, "step_size", "'p,p,p'"),
    ({"step_size": []}, "step_size", "[]"),
    ({"step_size": ""}, "step_size", "''"),
    ({"step_size": "huge"}, "step_size", "'huge'"),
    ({"target": "He8(x1)", "d": 10**15, "n": 10}, "step_size", "giant"),
    ({"target": "He32(x1)", "d": 10**15, "n": 10}, "step_size", "giant"),
    ({"output_scale": "p"}, "output_scale", "'p'"),
    ({"start": "zero"}, "start", "'zero'"),
    ({"start": np.eye(9)}, "start", "array("),
    ({"target": np.eye(9)}, "target", "array("),
    ({"activation": np.eye(9)}, "activation", "array("),
    ({"readout_start": "zeros"}, "readout_start", "'zeros'"),
    ({"readout_start": "one"}, "readout_start", "8 numbers, got 'one'"),
    ({"start_rows": "no/such.npy"}, "start_rows", "got 'no/such.npy': No such file"),
    ({"readout_start": ["signs"]}, "readout_start", "'signs'"),
    ({"readout_start": [1.0, 2.0]}, "readout_start", "[1.0, 2.0]"),
    ({"readout_start": [1.0] * 8}, "readout_start", "1.0"),
    ({"start": "sphere", "p": 2, "readout_start": "0, 0"}, "readout_start", "'0, 0'"),
    ({"bias": -1}, "bias", "-1"),
    ({"bias_at": "end"}, "bias_at", "'end'"),
    ({"decay": 1.5}, "decay", "1.5"),
    ({"gradient": "normal"}, "gradient", "'normal'"),
    ({"momentum": 1.0}, "momentum", "1.0"),
    ({"momentum": -0.1}, "momentum", "-0.1"),
    ({"momentum": "polyak(0.9)"}, "momentum", "'polyak(0.9)'"),
    ({"momentum": "nesterov"}, "momentum", "'nesterov'"),
    ({"momentum": "nesterov(2)"}, "momentum", "'nesterov(2)'"),
    ({"momentum": ["0.9"]}, "momentum", "['0.9']"),
    ({"rows": "unit"}, "rows", "'unit'"),
    ({"update": "adam"}, "update", "'adam'"),
    ({"update": ["adam"]}, "update", "['adam']"),
    ({"update": "clipped"}, "update", "'clipped'"),
    ({"update": "clipped(0)"}, "update", "'0'"),
    ({"update": "sign(2)"}, "update", "'sign(2)'"),
    ({"loss": "hinge"}, "loss", "'hinge'"),
    ({"loss": "huber"}, "loss", "'huber'"),
    ({"loss": "huber(0)"}, "loss", "'huber(0)'"),
    ({"loss": 3}, "loss", "3"),
    ({"batches": "repeat(0)"}, "batches", "'0'"),
    ({"batches": "repeat(1.5)"}, "batches", "'1.5'"),
    ({"batches": "minibatch(d)"}, "batches", "'d'"),
    ({"batches": "minibatch(5n)", "deflate": 0}, "deflate", "0"),
    ({"record": "every(1.5)"}, "record", "'1.5'"),
    ({"record": "every(0)"}, "record", "'0'"),
    ({"readout_between": "gradient"}, "readout_between", "'gradient'"),
    ({"readout_between": "ridge", "readout_n": 0, "test_n": 0}, "readout_n", "0"),
    ({"label_transform": "x1"}, "label_transform", "'x1'"),
    ({"label_transform": "2"}, "label_transform", "'2'"),
    ({"label_transform": "y +"}, "label_transform", "position 4"),
    ({"label_transform": "log(y)"}, "label_transform", "'log(y)'"),
    ({"target": "log(x1)", "label_transform": "y^2"}, "target", "log(-1)"),
    ({"label_transform": "__import__(y)"}, "label_transform", "'__import__'"),
    ({"start": "given"}, "start_gram", "given"),
    ({"start": "given", "p": 2, "start_gram": [[1, 2], [2, 1]]}, "start_gram", "-1"),
    ({"start": "given", "p": 2, "start_gram": [[1, 0], [1, 1]]}, "start_gram", "1.0"),
    ({"p": 2, "start_gram": [[1, 0], [0, 1]]}, "start_gram", "'symmetric'"),
    ({"batches": "old"}, "batches", "'old'"),
    ({"residual": "half"}, "residual", "'half'"),
    ({"deflate": 3}, "deflate", "3"),
    ({"deflate": 0.5}, "deflate", "0.5"),
    ({"deflate": "all"}, "deflate", "'all'"),
    ({"deflate": True}, "deflate", "True"),
    ({"noise": -0.1}, "noise", "-0.1"),
    ({"noise": math.nan}, "noise", "nan"),
    ({"noise": 1e300}, "noise", "1e+300"),
    ({"corruption": 1.5}, "corruption", "1.5"),
    ({"corruption": 0.1, "noise": 0.3}, "noise", "0.3"),
    ({"label_kind": "sign", "noise": 0.3, "target": "tanh(x1)"}, "noise", "0.3"),
    ({"label_kind": "sign", "target": "x1"}, "target", "'x1'"),
    ({"ridge": 0}, "ridge", "0"),
    ({"ridge": -1e-3}, "ridge", "-0.001"),
    ({"ridge": (1e-3, 0)}, "ridge", "0"),
    ({"ridge": []}, "ridge", "[]"),
    ({"ridge": "loo"}, "ridge", "'loo'"),
    ({"readout_batch": "first"}, "readout_batch", "'first'"),
    ({"readout_batch": "last", "readout_n": 5}, "readout_n", "5"),
    ({"readout_n": 0}, "readout_n", "0"),
    ({"test_n": 0}, "test_n", "0"),
    ({"readout_n": -1}, "readout_n", "-1"),
    ({"test_n": -1}, "test_n", "-1"),
    ({"inputs": "normal"}, "inputs", "'normal'"),
    ({"inputs": "student"}, "inputs", "'student'"),
    ({"inputs": "student(2)"}, "inputs", "'student(2)'"),
    ({"inputs": "student(nan)"}, "inputs", "'student(nan)'"),
    ({"inputs": "correlated(-1)"}, "inputs", "'correlated(-1)'"),
    ({"inputs": "mixture(1)"}, "inputs", "'mixture(1)'"),
    ({"inputs": "gaussian(2)"}, "inputs", "'gaussian(2)'"),
    ({"inputs": "data()"}, "inputs", "'data()'"),
    ({"inputs": "data(/no/such.csv)"}, "inputs", "'/no/such.csv'"),
    ({"inputs": 3}, "inputs", "3"),
    ({"frame": "fixed"}, "frame", "'fixed'"),
    ({"frame": "columns(a, b)"}, "frame", "'columns(a, b)'"),
    ({"target": "column(price)"}, "inputs", "'gaussian'"),
    ({"runs": 0}, "runs", "0"),
    ({"runs": "4d"}, "runs", "'4d'"),
    ({"runs": "2.9"}, "runs", "'2.9'"),
    ({"runs": 2**32 + 1}, "runs", "4294967297"),
    ({"seed": -1}, "seed", "-1"),
    ({"seed": 2**63}, "seed", str(2**63)),
    ({"seed": 0.5}, "seed", "0.5"),
    ({"seed": "0.5"}, "seed", "'0.5'"),
    ({"seed": "1e18"}, "seed", "'1e18'"),
    ({"engine": "gpu"}, "engine", "'gpu'"),
    ({"precision": "float16"}, "precision", "'float16'"),
    ({"spectra": -1}, "spectra", "-1"),
    ({"spectra": "1.5"}, "spectra", "'1.5'"),
    ({"spectra": "q"}, "spectra", "'q'"),
    ({"steps_size": 1}, "steps_size", "'steps_size'"),
    ({"p": 4, "start_overlaps": HALF}, "start_overlaps", "'symmetric'"),
    (ORTHOGONAL | {"start_overlaps": HALF[:3]}, "start_overlaps", "3"),
    (ORTHOGONAL | {"start_overlaps": [[0.5]] * 4}, "start_overlaps", "[0.5]"),
    (ORTHOGONAL | {"start_overlaps": [*HALF[:3], [0.5]]}, "start_overlaps", "[0.5]"),
    (ORTHOGONAL | {"start_overlaps": [*HALF[:3], [0.8, 0.8]]}, "start_overlaps", "0.8"),
    (ORTHOGONAL | {"start_overlaps": [*HALF[:3], [math.nan, 0]]}, "start_overlaps", "nan"),
    (ORTHOGONAL | {"start_overlaps": "none"}, "start_overlaps", "'none'"),
    *(
        ({name: 10**5000}, name, "a value too long to print")
        for name in ("batches", "output_scale", "readout_between", "update", "lookahead", "loss")
    ),
    ({"inputs": 10**5000}, "inputs", "a value too long to print"),
    ({"record": 10**5000}, "record", "a value too long to print"),
    ({"start": "given", "start_rows": 10**400}, "start_rows", "1000"),
    ({"start": "given", "start_gram": []}, "start_gram", "[]"),
    ({"start": "given", "start_gram": np.zeros((0, 0))}, "start_gram", "[]"),
]


@pytest.mark.parametrize(("fields", "name", "value"), BAD, ids=lambda value: shown(value, 40))
def test_a_bad_field_is_named_with_its_value_in_one_line(
    fields: dict[str, Any], name: str, value: str
) -> None:
    with pytest.raises(InputError) as refused:
        Setting(**({"target": TARGET} | fields))
    said = str(refused.value)
    assert "\n" not in said
    assert len(said) < 400  # all the known keys
    assert name in said.replace(",", " ").replace(":", " ").replace("'", " ").split()
    assert value in said


@pytest.mark.parametrize(
    ("fields", "form", "value"),
    [
        ({"momentum": "nesterov(inf)"}, "nesterov(m)", "'nesterov(inf)'"),
        ({"update": "clippedwhole()"}, "clippedwhole(c)", "'clippedwhole()'"),
        ({"update": "adam(nan,.9)"}, "from 0 to less than 1", "'nan'"),
        ({"lookahead": "sample()"}, "sample(rho)", "'sample()'"),
        ({"inputs": "clusters(1)"}, "write clusters(distance, overlap)", "'clusters(1)'"),
        ({"steps": "log(d"}, "or 'log(d)'", "'log(d'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_the_form_of_a_field_is_said(fields: dict[str, Any], form: str, value: str) -> None:
    with pytest.raises(InputError) as refused:
        Setting(TARGET, **fields)
    assert form in str(refused.value)
    assert f"got {value}" in str(refused.value)


def test_a_target_is_needed() -> None:
    with pytest.raises(InputError, match=r"^target is missing$"):
        Setting(d=100)


def test_unknown_keys_are_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"^unknown key 'nois', did you mean noise; help\("):
        Setting(TARGET).vary(nois=3)


WORDS: dict[str, tuple[object, ...]] = {
    "output_scale": ("1/p", "1/sqrt(p)", "1"),
    "start": tuple(STARTS),
    "bias_at": ("start", "readout"),
    "residual": ("full", "labels"),
    "rows": ("free", "normalised"),
    "deflate": (-1, 0, 1, 2),
    "readout_batch": ("fresh", "last"),
    "engine": ("auto", "deferred", "dense"),
    "device": ("auto", "cpu", "gpu"),
    "precision": ("float32", "float64", "tf32", "bf16", "bf16x3"),
}
FORMS: dict[str, tuple[object, ...]] = {
    "readout_start": tuple(READOUT_STARTS),
    "readout_between": tuple(BETWEEN),
    "batches": tuple(BATCHES),
    "loss": tuple(LOSSES),
    "update": tuple(UPDATES),
    "record": tuple(RECORDINGS),
    "inputs": tuple(LAWS),
    "frame": ("random", "axes", "columns(NAME, ...)"),
}


@pytest.mark.parametrize("name", [*WORDS, *FORMS])
def test_a_wrong_word_is_answered_with_the_right_ones(name: str) -> None:
    with pytest.raises(InputError) as refused:
        Setting(**{"target": TARGET, name: "wrong"})
    said = str(refused.value)
    assert said.startswith(f"{name} must be ")
    assert said.endswith(", got 'wrong'")
    assert all(str(word) in said for word in (WORDS | FORMS)[name])


@pytest.mark.parametrize("seed", [0, 2**53 + 1, 2**63 - 1])
def test_every_seed_is_itself(seed: int) -> None:
    assert Setting(TARGET, seed=seed).seed == seed
    assert Setting(TARGET, seed=str(seed)).seed == seed


SIZES = ("d", "n", "p", "steps", "deflate", "readout_n", "test_n", "runs", "seed", "spectra")
NUMERIC = (*SIZES, "step_size", "noise", "corruption", "ridge")
NUMBERS = st.one_of(
    st.text(max_size=20),
    st.text("0123456789.eE+-*/^ dnp,", max_size=12),
    st.from_regex(r"-?[0-9]{1,3}(\.[0-9]{1,2})?(e[0-9]{1,3})?", fullmatch=True),
    st.integers(),
    st.floats(),
    st.sampled_from([10**5000, -(10**5000), "9" * 120, None, b"4", 1j, [], [[1]], {}, object]),
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(NUMERIC), NUMBERS, min_size=1, max_size=2))
def test_anything_for_a_number_gives_a_setting_or_one_line(fields: dict[str, Any]) -> None:
    try:
        setting = Setting("x1", **fields)
    except InputError as refused:
        said = str(refused)
        assert len(said.splitlines()) == 1
        assert any(name in said for name in NUMERIC)
        assert len(said) < 250
    else:
        assert all(isinstance(getattr(setting, name), int) for name in SIZES)
        assert max(setting.d, setting.n, setting.p, setting.readout_n, setting.test_n) <= 2**53


def test_sizes_from_numpy() -> None:
    sizes = np.logspace(2, 3, 3).astype(int)
    assert [Setting(TARGET, d=d).d for d in sizes] == [100, 316, 1000]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("gaussian", "gaussian"),
        (" uniform ", "uniform"),
        ("student( 5 )", "student(5)"),
        ("correlated(0.5)", "correlated(0.5)"),
    ],
)
def test_input_laws_are_kept_as_they_are_typed(text: str, kept: str) -> None:
    assert Setting(TARGET, inputs=text).inputs.text == kept


PLAIN: list[dict[str, Any]] = [
    {},
    {"steps": 0},
    {"steps": 3, "step_size": "p^0.3,p,giant"},
    {"activation": "tanh", "n": "d^1.5", "p": "d/10", "noise": 0.3},
    {"activation": "He1 + He2/2", "ridge": "1e-4,1e-2", "deflate": 1},
    {"ridge": 1e-3, "readout_n": 0, "test_n": 0, "seed": 12, "runs": 5},
    {"inputs": "student(5.123456789)", "frame": "axes", "precision": "float64"},
    {"batches": "reused", "readout_batch": "last", "output_scale": "1", "spectra": 3},
    ORTHOGONAL | {"start_overlaps": HALF},
]


@pytest.mark.parametrize("fields", PLAIN, ids=lambda value: str(value)[:40])
def test_a_plain_record_can_be_written_and_read_back(fields: dict[str, Any]) -> None:
    setting = Setting(TARGET, **fields)
    again = Setting(**json.loads(json.dumps(setting.as_dict(), allow_nan=False)))
    assert setting.unstorable is None
    assert again.as_dict() == setting.as_dict()
    assert again == setting
    assert hash(again) == hash(setting)


DIRECTIONS = {"x1": 1, " x1*x2 - 0.1 ": 2, "staircase": 2, "relu(x1) + x2/3": 2}


@st.composite
def storable(draw: st.DrawFn) -> dict[str, Any]:
    """Fields of any kind that texts and numbers give."""
    positive = st.floats(1e-300, 1e300)
    shares = st.floats(0, 1, exclude_max=True)
    steps = draw(st.integers(0, 4))
    fields: dict[str, Any] = {name: draw(st.sampled_from(words)) for name, words in WORDS.items()}
    p = 2 * draw(st.integers(1, 4))
    fields |= {
        "target": draw(st.sampled_from(list(DIRECTIONS))),
        "activation": draw(
            st.sampled_from(["relu", "erf", "He1 + He2/3", "tanh(2*z)^2 - 0.1", "-z"])
        ),
        "d": draw(st.integers(20, 2**53)),
        "n": draw(st.integers(1, 2**53)),
        "p": p,
        "steps": steps,
        "step_size": draw(st.lists(st.floats(-1e38, 1e38), min_size=steps, max_size=steps)),
        "ridge": draw(st.one_of(st.just("cv"), positive, st.lists(positive, min_size=1))),
        "test_n": draw(st.integers(1, 2**53)),
        "inputs": draw(
            st.one_of(
                st.sampled_from(["gaussian", "rademacher", "uniform"]),
                st.floats(2, 1e300, exclude_min=True).map(lambda df: f"student({df!r})"),
                st.floats(0, 10, exclude_min=True, exclude_max=True).map("correlated({!r})".format),
            )
        ),
        "runs": draw(st.integers(1, 2**32)),
        "seed": draw(st.integers(0, 2**63 - 1)),
        "spectra": draw(st.one_of(st.integers(0, 2**53), st.just("p"))),
    }
    fields |= {draw(st.sampled_from(["noise", "corruption"])): draw(st.floats(0, 1))}
    fields |= {
        "bias": draw(st.floats(0, 9)),
        "decay": draw(st.floats(0, 1)),
        "loss": draw(st.one_of(st.just("square"), positive.map("huber({!r})".format))),
        "momentum": draw(shares | shares.map("nesterov({!r})".format)),
        "batches": draw(st.sampled_from(["fresh", "reused", "repeat(3)"])),
        "record": draw(st.sampled_from(["all", "log", "every(7)"])),
        "update": draw(
            st.one_of(
                st.sampled_from([name for name, kind in UPDATES.items() if not kind.numbers]),
                positive.map("clipped({!r})".format),
                positive.map("clippedwhole({!r})".format),
            )
        ),
        "label_transform": draw(st.sampled_from(["y", "tanh(y)", "step(y - 1)", " y^2"])),
    }
    if fields["start"] == "given":
        fields["start_gram"] = np.diag(draw(st.lists(st.floats(0, 9), min_size=p, max_size=p)))
    if fields["start"] == "orthogonal" and draw(st.booleans()):
        r = DIRECTIONS[fields["target"]]
        row = st.lists(st.floats(-0.5, 0.5), min_size=r, max_size=r)
        fields["start_overlaps"] = draw(st.lists(row, min_size=p, max_size=p))
    return fields


@settings(deadline=None)
@given(storable())
def test_whatever_texts_and_numbers_give_can_be_read_back(fields: dict[str, Any]) -> None:
    setting = Setting(**fields)
    assert setting.unstorable is None
    again = Setting(**json.loads(json.dumps(setting.as_dict(), allow_nan=False)))
    assert again == setting
    assert hash(again) == hash(setting)


def cubic(z: Any) -> Any:
    return z**3


class Scaled:
    """A callable that says it equals any other of its kind and cannot be hashed."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, z: Any) -> Any:
        return self.factor * z

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scaled)


@pytest.mark.parametrize("field", ["target", "activation"])
@pytest.mark.parametrize(
    ("first", "second"), [(lambda z: z, lambda z: z**2 + z), (Scaled(1.0), Scaled(2.0))]
)
def test_settings_with_different_callables_differ(field: str, first: Any, second: Any) -> None:
    one, same, other = (
        Setting(**({"target": TARGET} | {field: function})) for function in (first, first, second)
    )
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert hash(one) != hash(other)


@pytest.mark.parametrize("field", ["target", "activation"])
def test_a_setting_with_a_callable_says_that_it_cannot_be_stored(field: str) -> None:
    setting = Setting(**({"target": TARGET} | {field: cubic}))
    sentence = f"{field} cannot be stored as a text, got the callable 'cubic'"
    record = json.loads(json.dumps(setting.as_dict()))
    assert setting.unstorable == record["unstorable"] == sentence
    assert record[field] == "cubic"
    with pytest.raises(InputError, match=f"^{sentence}$"):
        Setting(**record)


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("target", make_target("x1", [[2.0, 0.0]]), "x1"),
        ("target", separable(["He2", "z"]), "(He2)(x1) + (z)(x2)"),
        ("activation", Activation("relu", make_activation("tanh").expression), "relu"),
        ("inputs", InputLaw("data", path=" table.npy"), "data( table.npy)"),
    ],
)
def test_an_object_that_its_text_does_not_give_cannot_be_stored(
    field: str, value: object, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InputLaw, "data_set", lambda law, label: None)
    setting = Setting(**({"target": TARGET} | {field: value}))
    assert setting.unstorable == (
        f"{field} cannot be stored as a text, got what {text!r} does not give back"
    )


def test_overlaps_from_numpy() -> None:
    setting = Setting(TARGET, **ORTHOGONAL, start_overlaps=np.full((4, 2), 0.5))
    assert setting == Setting(TARGET, **ORTHOGONAL, start_overlaps=[[0.5, 0.5]] * 4)


def test_a_data_set_is_kept_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "table (1).npy"
    np.save(path, np.random.default_rng(0).standard_normal((80, 5)))
    setting = Setting(TARGET, d=5, p=2, inputs=f"data({path})")
    assert Setting(**setting.as_dict()).inputs == setting.inputs


def test_a_spike_needs_the_axes_where_the_update_knows_them() -> None:
    """Its overlap is with the first axis, along which random directions do not lie."""
    fields = {"d": 50, "inputs": "spiked(2, 0.5)"}
    with pytest.raises(InputError, match=r"^frame must be axes for spiked\(2, 0.5\) inputs and"):
        Setting("x1", update="sign", **fields)  # type: ignore[arg-type]
    for more in ({"update": "sign", "frame": "axes"}, {"update": "normalised"}):
        assert Setting("x1", **fields, **more).known == 2  # type: ignore[arg-type]


def test_a_file_without_an_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.npy"
    path.touch()
    with pytest.raises(InputError, match=r"^start_rows must be a \.npy file, got '.*empty\.npy'"):
        Setting(TARGET, start="given", start_rows=str(path))
