"""What the claims on outliers of the weights and on other activations are made of."""

import numpy as np

from giantstep import Setting
from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.weight_outliers import with_matching_noise
from giantstep.problem.activation import make_activation


def test_matched_labels_have_the_moments_of_corrupted_ones() -> None:
    """E[y f] and E y^2 over 10^6 labels within 4 standard errors; those of clean ones are not."""
    setting = Setting(**CLAIMS["corrupted-labels"].setting, d=20, corruption=0.2)
    matched = with_matching_noise(setting, 0.2)
    rng = np.random.default_rng(0)
    x, normals = rng.standard_normal((2, 10**6))
    clean = np.asarray(setting.target([x]))
    corrupted = setting.labels(clean, normals)
    other = matched.labels(np.asarray(matched.target([x])), normals)

    def gap(labels: np.ndarray) -> float:
        worst = 0.0
        for a, b in ((corrupted * clean, labels * clean), (corrupted**2, labels**2)):
            error = np.sqrt((a.var() + b.var()) / len(a))
            worst = max(worst, abs(a.mean() - b.mean()) / error)
        return worst

    assert gap(other) < 4
    assert gap(clean) > 10


def test_activations_are_sorted_by_their_second_coefficient() -> None:
    activations = CLAIMS["spikes-of-other-activations"].options["activations"]
    present = [abs(make_activation(name).coefficients(2).values[2]) > 1e-8 for name in activations]
    assert present == sorted(present, reverse=True)
    assert 0 < sum(present) < len(present)
