"""A part of benchmarks/analyze_hunt.py: random targets against its Monte Carlo oracle.

12 targets of a seed of their own, some 300 comparisons each at 5.5 standard errors (4e-8): a false
alarm in 12 targets with probability 1.5e-4.  Analyses made wrong on purpose must be rejected.
"""

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from giantstep import Analysis, analyze

SEED, CASES, SAMPLES = 7001, 12, 60_000


@cache
def hunt() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "analyze_hunt.py"
    spec = importlib.util.spec_from_file_location("analyze_hunt", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["analyze_hunt"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@cache
def case(index: int) -> tuple[object, Analysis | None]:
    example = hunt().example(SEED, index)
    if np.ptp(example.values(np.random.default_rng(0).standard_normal((99, example.r)))) == 0:
        return example, None  # terms that cancel
    return example, analyze(example.text, directions=np.eye(example.r))


@pytest.mark.parametrize("index", range(CASES))
def test_random_targets_are_analysed_rightly(index: int) -> None:
    example, found = case(index)
    if found is not None:
        assert not hunt().judge(example, found, SAMPLES, seed=index).wrong


def one_leap_more(found: Analysis) -> Analysis | None:
    """The leap index one too high."""
    if found.leap_index is None or found.leap_index > 3:
        return None
    # Only a tensor that the oracle can see makes this a wrong statement to it.
    part = found.series.select(found.series.degrees == found.leap_index)
    if np.max(np.abs(part.coefficients)) < 0.2 * found.as_dict()["variance"] ** 0.5:
        return None
    return replace(found, information_exponent=found.leap_index + 1)


def no_direction(found: Analysis) -> Analysis | None:
    """A first step that learns nothing although it should."""
    first = found.fresh.decisions[0]
    if first.smallest_kept is None or first.smallest_kept < 0.2:
        return None
    empty = tuple(basis[:0] for basis in found.fresh.bases)
    return replace(found, fresh=replace(found.fresh, bases=empty))


def floors_of_zero(found: Analysis) -> Analysis | None:
    """Floors that claim everything is learned at once."""
    floors = tuple(replace(f, narrow=0.0, narrow_uncertainty=0.0) for f in found.floors_any)
    return replace(found, floors_any=floors)


@pytest.mark.parametrize("wrong", [one_leap_more, no_direction, floors_of_zero])
def test_wrong_analyses_are_rejected(wrong: Callable[[Analysis], Analysis | None]) -> None:
    tried = 0
    for index in range(CASES):
        example, found = case(index)
        spoiled = None if found is None else wrong(found)
        if spoiled is not None:
            tried += 1
            assert hunt().judge(example, spoiled, SAMPLES, seed=index).wrong
    assert tried >= 5
