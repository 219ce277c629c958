"""Evaluation of expressions."""

import gc
import weakref

import numpy as np

from giantstep.language.expression import evaluate
from giantstep.language.parser import parse


def test_an_evaluation_lets_go_of_its_arrays() -> None:
    """Without a collection of cycles: large arrays must not wait for one."""
    x = np.linspace(0.0, 1.0, 3)
    alive, node = weakref.ref(x), parse("tanh(x1)^2 + x1*He2(x1)")
    gc.disable()
    try:
        found = evaluate(node, [x])
        np.testing.assert_allclose(found, np.tanh(x) ** 2 + x * (x**2 - 1))
        del x
        assert alive() is None
    finally:
        gc.enable()
