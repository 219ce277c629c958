"""Laws of the inputs: how they are read, refused and drawn."""

import re

import numpy as np
import pytest
from scipy.stats import norm

from giantstep.errors import InputError
from giantstep.problem.inputs import LAWS, Block, make_inputs
from giantstep.problem.setting import Setting
from giantstep.problem.two_clusters import mixed


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("shifted", "inputs must be of the form shifted(length, overlap), got 'shifted'"),
        ("shifted(inf, 0)", "length of the mean must be from 0 to 1e+06, got"),
        ("shifted(-1, 0)", "length of the mean must be from 0 to 1e+06, got"),
        ("shifted(1)", "overlap of the mean with the target must be from -1 to 1, got"),
        ("shifted(1, 1.01)", "overlap of the mean with the target must be from -1 to 1, got"),
        ("shifted(1, nan)", "overlap of the mean with the target must be from -1 to 1, got"),
        ("shifted(1, 0, 2)", "inputs must be of the form shifted(length, overlap), got"),
        ("clusters(-1, 0)", "distance of the two centres must be from 0 to 20, got"),
        ("clusters(1, 2)", "overlap of their line with the target must be from -1 to 1, got"),
        ("blocks", "inputs must be of the form blocks(share, variance, ..), got 'blocks'"),
        ("blocks()", "inputs must be of the form blocks(share, variance, ..), got 'blocks()'"),
        ("blocks(.5, 2, .5, 1)+shifted(1, 0)", "inputs must be one law, blocks or one direction"),
        ("spiked(1, 0) + shifted(1, 0)", "and not a sum of two, got 'spiked(1, 0) + shifted("),
        ("blocks(0.5, 2, 0.4, 1)", "inputs blocks: the shares must sum to 1, they sum to 0.9, got"),
        ("blocks(0.5, 2, 0.5)", "inputs must be of the form blocks(share, variance, ..), got"),
        ("blocks(0.5, 2, 0.5, 0)", "variance of a block must be above 0 and below 1e+12, got"),
        ("blocks(0.5, 2, 0.5, -1)", "variance of a block must be above 0 and below 1e+12, got"),
        ("blocks(1.5, 2, -0.5, 1)", "share of a block must be from 0 to 1, got"),
        ("spiked(1, 1)", "overlap of the spike with the target must be above -1 and below 1, got"),
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


def test_blocks_share_the_axes() -> None:
    """Shares are rounded to axes, all axes are shared out, and thirds may be typed with digits."""
    blocks = make_inputs("blocks(0.333333, 9, 0.333333, 1, 0.333334, 0.25)").blocks(10)
    assert blocks.sizes.tolist() == [3, 4, 3]
    assert blocks.along_axes.tolist() == [3.0] * 3 + [1.0] * 4 + [0.5] * 3
    assert blocks.at(np.array([0, 2, 3, 6, 7, 9])).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("distance", [0.0, 1.0, 4.0, 10.0, 20.0])
def test_two_clusters_are_a_mixture(distance: float) -> None:
    """The map of a normal has the tails of the mixture to 1e-6, on both sides."""
    normals = np.concatenate([np.linspace(-7.0, 7.0, 1001), [1e-3, -1e-3]])
    found, half = np.abs(mixed(normals, distance)), 0.5 * distance
    tails = 0.5 * (norm.sf(found - half) + norm.sf(found + half))
    assert tails == pytest.approx(norm.sf(np.abs(normals)), rel=1e-6)
    assert np.all(np.sign(mixed(normals, distance)) == np.sign(normals))
    assert mixed(normals.astype(np.float32), distance).dtype == np.float32


@pytest.mark.parametrize("exponent", [0.3, 1.0, 2.5])
def test_a_power_law_comes_in_blocks(exponent: float) -> None:
    """Every block has the sum of its variances k^-exponent, 20,000 of them, and a narrow range."""
    d = 20_000
    variances = np.arange(1.0, d + 1.0) ** -exponent
    variances /= variances.mean()
    blocks = make_inputs(f"power({exponent})").blocks(d)
    ends = np.cumsum(blocks.sizes)
    assert ends[-1] == d
    sums = [part.sum() for part in np.split(variances, ends[:-1])]
    assert blocks.sizes * blocks.variances == pytest.approx(sums, rel=1e-12)
    wide = [part[0] / part[-1] for part in np.split(variances, ends[:-1]) if len(part) > 2]
    assert max(wide) <= 1.25
    assert len(wide) > 10


def test_a_power_law_has_any_dimension() -> None:
    blocks = make_inputs("power(1)").blocks(10**9)
    assert int(np.sum(blocks.sizes)) == 10**9
    assert float(blocks.sizes @ blocks.variances) == pytest.approx(1e9)
    # The first variance is d over the harmonic number ln d + gamma.
    assert blocks.variances[0] == pytest.approx(1e9 / (np.log(1e9) + np.euler_gamma), rel=1e-8)


def test_a_block_needs_a_direction() -> None:
    text = "blocks(0.01, 4, 0.99, 1)"
    sentence = f"d must be so large that every block of inputs {text} has a direction, got 40"
    assert Setting("x1", d=60, inputs=text).d == 60
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        Setting("x1", d=40, inputs=text)
