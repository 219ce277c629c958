"""Weights, copies and the order of rows."""

import numpy as np

from giantstep.estimator.blocks import blocks
from giantstep.estimator.rows import distinct_rows

KEY = np.random.default_rng(5)
X, Y = KEY.standard_normal((30, 3)), KEY.standard_normal((30, 1))


def test_a_weight_is_so_many_copies_in_any_order() -> None:
    weight = KEY.integers(0, 4, 30).astype(float)
    copies = KEY.permutation(np.repeat(np.arange(30), weight.astype(int)))
    weighted = distinct_rows(X, Y, weight)
    copied = distinct_rows(X[copies], Y[copies], np.ones(len(copies)))
    assert len(weighted) == np.sum(weight > 0)
    np.testing.assert_array_equal(weighted.inputs(slice(None)), copied.inputs(slice(None)))
    np.testing.assert_array_equal(weighted.y, copied.y)
    np.testing.assert_allclose(weighted.weight, copied.weight, rtol=1e-14)


def test_rows_that_differ_in_the_label_alone_stay_apart() -> None:
    rows = distinct_rows(np.zeros((2, 1)), np.array([[0.0], [1.0]]), np.ones(2))
    assert len(rows) == 2
    # The two zeros are one value.
    assert len(distinct_rows(np.array([[0.0], [-0.0]]), np.zeros((2, 1)), np.ones(2))) == 1


def test_blocks_cover_every_row_once() -> None:
    parts = list(blocks(10_000, 2**12))
    assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
    assert (parts[0].start, parts[-1].stop, len(parts)) == (0, 10_000, 10)
