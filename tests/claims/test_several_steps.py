"""Several giant steps: every claim holds, and fails where its assumption is broken."""

import pytest

from giantstep.claims.record import Claim
from giantstep.claims.several_steps import CLAIMS


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_holds_and_shows_theory_beside_simulation(claim: Claim) -> None:
    found = claim.run()
    assert found.verdict == "holds", found.quantities
    assert found.plot is not None
    assert {curve.theory for curve in found.plot.curves} == {True, False}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_its_control_fails(claim: Claim) -> None:
    found = claim.run(control=True)
    assert found.verdict == "fails", found.quantities
