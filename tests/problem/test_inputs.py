"""Laws of the inputs: how they are read, refused and drawn."""

import re

import numpy as np
import pytest

from giantstep.errors import InputError
from giantstep.problem.inputs import LAWS, Block, make_inputs


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("shifted", "length of the mean must be between -inf and inf, got 'shifted'"),
        ("shifted(inf, 0)", "length of the mean must be between -inf and inf, got"),
        ("shifted(1)", "overlap of the mean with the target must be between -1 and 1, got"),
        ("shifted(1, 1.01)", "overlap of the mean with the target must be between -1 and 1, got"),
        ("shifted(1, nan)", "overlap of the mean with the target must be between -1 and 1, got"),
        ("shifted(1, 0, 2)", "inputs must be of the form shifted(length, overlap), got"),
        ("spiked(1, 1)", "overlap of the spike with the target must be between -1 and 1, got"),
    ],
)
def test_a_law_is_refused_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        make_inputs(text)


@pytest.mark.parametrize("overlap", [-1.0, 0.6, 1.0])
def test_a_shift_adds_its_mean_in_both_engines(overlap: float) -> None:
    """The same normals with and without the mean: along the target, along u, and nowhere else."""
    law = make_inputs(f"shifted(2, {overlap})")
    outside = np.sqrt(1.0 - overlap**2)
    prepared = law.law.prepare(law, 5, np.random.default_rng(0))
    x = {}
    for name in ("gaussian", "shifted"):
        keys = [np.random.default_rng(seed) for seed in (1, 2)]
        x[name] = np.zeros((3, 5))
        fill = LAWS[name].fill
        assert fill is not None
        fill(law, Block(x[name], *keys, prepared))
    expected = np.tile([2.0 * overlap, 0.0, 0.0, 0.0, 2.0 * outside], (3, 1))
    assert x["shifted"] - x["gaussian"] == pytest.approx(expected)
    # Two target directions, the direction of the law, and one more.
    known = law.stretched(x["gaussian"][:, :4], 2)
    expected = np.tile([2.0 * overlap, 0.0, 2.0 * outside, 0.0], (3, 1))
    assert known - x["gaussian"][:, :4] == pytest.approx(expected)
    assert law.mean_along_target == 2.0 * overlap
    assert law.largest_square == 5.0
