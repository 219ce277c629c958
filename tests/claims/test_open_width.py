"""Open questions at linear width: every answer at its quick size, and its control, which must fail.

The verdicts are those of the intervals of level 99 %; they were the same for seeds 0, 1 and 2.
"""

import numpy as np
import pytest

from giantstep import Setting
from giantstep.activation import make_activation
from giantstep.claims.open_width import ACTIVATIONS, CLAIMS, NOISY, _matched
from giantstep.claims.record import Claim


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_claim_holds(claim: Claim) -> None:
    found = claim.run()
    assert found.verdict == "holds"
    assert found.plot is not None
    assert {curve.theory for curve in found.plot.curves} == {True, False}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_control_fails(claim: Claim) -> None:
    assert claim.run(control=True).verdict == "fails"


def test_matched_labels_have_the_moments_of_corrupted_ones() -> None:
    """E[y f] and E y^2 over 10^6 labels within 4 standard errors; those of clean ones are not."""
    fields = {name: value for name, value in NOISY.items() if name != "told"}
    setting = Setting(**fields | {"d": 20, "corruption": 0.2})
    matched = _matched(setting, "corruption", 0.2)
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
    present = [abs(make_activation(name).coefficients(2).values[2]) > 1e-8 for name in ACTIVATIONS]
    assert present == sorted(present, reverse=True)
    assert 0 < sum(present) < len(present)
