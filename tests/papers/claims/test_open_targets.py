"""What the claims on open questions of narrow networks are made of."""

import numpy as np
import pytest

from giantstep.papers.claims.experiments import as_predicted, photograph_patches


def test_patches_are_windows_of_a_photograph() -> None:
    patches = photograph_patches(6, 500)
    assert patches.shape == (500, 36)
    np.testing.assert_array_equal(patches, photograph_patches(6, 500))
    # Neighbouring pixels agree, those of another patch do not: what makes it a picture.
    horizontal = np.corrcoef(patches[:, 0], patches[:, 1])[0, 1]
    shuffled = np.corrcoef(patches[:, 0], np.roll(patches[:, 1], 1))[0, 1]
    # 500 pairs: a correlation has a standard error of at most 0.045.
    assert horizontal > 0.9
    assert abs(shuffled) < 0.2


@pytest.mark.parametrize(("measured", "verdict"), [(0.55, "holds"), (0.65, "fails")])
def test_a_cosine_is_as_predicted_within_a_tenth_and_a_random_direction(
    measured: float, verdict: str
) -> None:
    values = measured + 1e-3 * np.arange(-5, 6)
    # Allowed: 0.1 * 0.5 and 1/sqrt(10000).
    assert as_predicted("cosine", values, 0.5, 10_000).verdict == verdict
