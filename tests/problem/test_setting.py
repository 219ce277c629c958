"""The record: defaults, sizes that follow, giant step sizes, and every field refused by name."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from giantstep.errors import InputError
from giantstep.problem.network import start_readout
from giantstep.problem.setting import DEFAULTS, Setting

TARGET = "x1 + x1*x2"


def test_defaults() -> None:
    setting = Setting(TARGET)
    assert list(DEFAULTS) == list(Setting.model_fields)
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


def test_frozen() -> None:
    setting = Setting(TARGET)
    with pytest.raises(ValidationError, match="frozen"):
        setting.d = 3
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
    ("given", "expected"),
    [
        (3, (3.0, 3.0)),
        ("3", (3.0, 3.0)),
        (-1, (-1.0, -1.0)),
        (0, (0.0, 0.0)),
        ([1, 2.5], (1.0, 2.5)),
        ((1, "d"), (1.0, 100.0)),
        ("p^0.5,p^0.5", (4.0, 4.0)),
        ("giant, 2p", (16.0, 32.0)),
        (["giant", "n^0.5"], (16.0, 20.0)),
        (["p"], (16.0, 16.0)),
    ],
)
def test_one_size_or_one_a_step(given: object, expected: tuple[float, ...]) -> None:
    setting = Setting(TARGET, d=100, p=16, step_size=given)
    assert setting.step_size == pytest.approx(expected)


def test_no_steps_have_no_sizes() -> None:
    assert Setting(TARGET, steps=0).step_size == ()
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
    ({"step_size": "1e39"}, "step_size", "'1e39'"),
    ({"step_size": 1e39}, "step_size", "1e+39"),
    ({"step_size": "d^13"}, "step_size", "'d^13'"),
    ({"step_size": math.inf}, "step_size", "inf"),
    ({"step_size": [1, 2, 3]}, "step_size", "[1, 2, 3]"),
    ({"step_size": "p,p,p"}, "step_size", "'p,p,p'"),
    ({"step_size": []}, "step_size", "[]"),
    ({"step_size": ""}, "step_size", "''"),
    ({"step_size": "huge"}, "step_size", "'huge'"),
    ({"target": "He5(x1)", "d": 10**20}, "step_size", "giant"),
    ({"output_scale": "p"}, "output_scale", "'p'"),
    ({"start": "zero"}, "start", "'zero'"),
    ({"readout_start": "ones"}, "readout_start", "'ones'"),
    ({"readout_start": ["signs"]}, "readout_start", "['signs']"),
    ({"batches": "old"}, "batches", "'old'"),
    ({"residual": "half"}, "residual", "'half'"),
    ({"deflate": 2}, "deflate", "2"),
    ({"deflate": 0.5}, "deflate", "0.5"),
    ({"deflate": "all"}, "deflate", "'all'"),
    ({"noise": -0.1}, "noise", "-0.1"),
    ({"noise": math.nan}, "noise", "nan"),
    ({"corruption": 1.5}, "corruption", "1.5"),
    ({"corruption": 0.1, "noise": 0.3}, "noise", "0.3"),
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
    ({"runs": 0}, "runs", "0"),
    ({"runs": "4d"}, "runs", "'4d'"),
    ({"seed": -1}, "seed", "-1"),
    ({"seed": 2**63}, "seed", str(2**63)),
    ({"seed": 0.5}, "seed", "0.5"),
    ({"engine": "gpu"}, "engine", "'gpu'"),
    ({"precision": "float16"}, "precision", "'float16'"),
    ({"spectra": -1}, "spectra", "-1"),
    ({"steps_size": 1}, "steps_size", "'steps_size'"),
    ({"p": 4, "start_overlaps": HALF}, "start_overlaps", "'symmetric'"),
    (ORTHOGONAL | {"start_overlaps": HALF[:3]}, "start_overlaps", "(3, 2)"),
    (ORTHOGONAL | {"start_overlaps": [[0.5]] * 4}, "start_overlaps", "(4, 1)"),
    (ORTHOGONAL | {"start_overlaps": [*HALF[:3], [0.5]]}, "start_overlaps", "[0.5]"),
    (ORTHOGONAL | {"start_overlaps": [*HALF[:3], [0.8, 0.8]]}, "start_overlaps", "0.8"),
    (ORTHOGONAL | {"start_overlaps": [*HALF[:3], [math.nan, 0]]}, "start_overlaps", "nan"),
    (ORTHOGONAL | {"start_overlaps": "none"}, "start_overlaps", "'none'"),
]


@pytest.mark.parametrize(("fields", "name", "value"), BAD, ids=lambda value: str(value)[:40])
def test_a_bad_field_is_named_with_its_value_in_one_line(
    fields: dict[str, Any], name: str, value: str
) -> None:
    with pytest.raises(InputError) as refused:
        Setting(**({"target": TARGET} | fields))
    said = str(refused.value)
    assert "\n" not in said
    assert name in said.replace(",", " ").replace(":", " ").replace("'", " ").split()
    assert value in said


def test_a_target_is_needed() -> None:
    with pytest.raises(InputError, match=r"^target is missing$"):
        Setting(d=100)


def test_unknown_keys_are_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"^unknown key 'widht', expected one of target, .*, n, "):
        Setting(TARGET).vary(widht=3)


@pytest.mark.parametrize("seed", [0, 2**53 + 1, 2**63 - 1])
def test_every_seed_is_itself(seed: int) -> None:
    assert Setting(TARGET, seed=seed).seed == seed


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
    assert again.as_dict() == setting.as_dict()
    for name in Setting.model_fields:
        assert getattr(again, name) == getattr(setting, name), name


def test_a_data_set_is_kept_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "table (1).npy"
    np.save(path, np.random.default_rng(0).standard_normal((20, 5)))
    setting = Setting(TARGET, d=5, p=2, inputs=f"data({path})")
    assert Setting(**setting.as_dict()).inputs == setting.inputs
