"""Every claim at its quick size, and its control, which must fail.

The verdicts are those of the 99 % intervals at a fixed seed.  Over seven other seeds no claim
failed and no control held; the claims named below are undecided on some of them.
"""

import pytest

from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.record import Claim

UNSTEADY = {
    # A single sample with a large label can take the place of a spike.
    "reused-goes-beyond",
    # What separates neighbouring regimes is as small as the scatter of a few runs.
    "five-regimes-order",
}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_claim_holds_and_shows_theory_beside_simulation(claim: Claim) -> None:
    found = claim.run()
    allowed = {"holds", "undecided"} if claim.id in UNSTEADY else {"holds"}
    assert found.verdict in allowed, found.quantities
    assert found.plot is not None
    assert {curve.theory for curve in found.plot.curves} == {True, False}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_its_control_fails(claim: Claim) -> None:
    found = claim.run(control=True)
    assert found.verdict == "fails", found.quantities
