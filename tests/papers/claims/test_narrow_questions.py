"""What the claims on open questions of narrow networks are made of."""

import numpy as np
import pytest

from giantstep.papers.claims.experiments import photograph_patches
from giantstep.papers.claims.narrow_questions import arrival_times, as_predicted


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


@pytest.mark.parametrize(
    ("measured", "d", "verdict"),
    [(0.504, 10_000, "holds"), (0.52, 10_000, "fails"), (0.52, 100, "holds")],
)
def test_a_cosine_is_as_predicted_but_for_the_finite_size(
    measured: float, d: int, verdict: str
) -> None:
    values = measured + 1e-4 * np.arange(-5, 6)
    # Allowed: 0.5/sqrt(d), and four standard errors of 1e-4.
    assert as_predicted("cosine", values, 0.5, d).verdict == verdict


def test_the_time_of_a_crossing_lies_between_two_steps() -> None:
    """At 0.4: halfway between steps 1 and 2; at step 1 itself; never, which is one step more."""
    cosines = np.array([[0.0, 0.3, 0.5], [0.1, 0.4, 0.6], [0.0, 0.1, 0.2]])
    np.testing.assert_allclose(arrival_times(cosines, 0.4), [1.5, 1.0, 3.0])
