"""Claims at their quick size, and their controls, in which every one of their quantities fails.

The verdicts are those of the 99 % intervals at a fixed seed.
"""

import pytest

from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.quantity import exact
from giantstep.papers.claims.record import Changes, Claim, Findings
from giantstep.papers.claims.source import Source

# Whose controls take long: those are run with the slow claims.
HEAVY = {
    "beyond-one-half",
    "effective-leap",
    "one-step-against-training",
    "one-step-against-training-on-digits",
    "one-step-leap-2",
    "one-step-line",
    "one-step-robustness",
    "other-inputs",
    "photograph-whitened",
    "repeated-batches-pair",
    "spike-thresholds",
    "staircase-example-1",
    "third-step",
}

# Whose quick run itself takes long, or whose experiment another claim runs too.
SLOW = {
    "beta-knows-the-label",
    "beta-knows-the-residual",
    "cleared-steps",
    "conditional-equivalence-after",
    "constant-spike-without-c1",
    "corrupted-labels",
    "different-rates",
    "equal-links-never",
    "feature-learning-floor",
    "features-after-two-steps",
    "features-of-other-inputs",
    "features-of-photograph",
    "five-regimes",
    "five-regimes-table",
    "floor-at-any-penalty",
    "fresh-needs-exponent-one",
    "gaussian-equivalence-before",
    "gradient-of-spiked-inputs",
    "leap-2-over-steps",
    "leap-3-over-steps",
    "learning-rate-decides",
    "limiting-losses",
    "limiting-losses-of-labels",
    "limiting-losses-of-rank-one",
    "limiting-losses-of-three-spikes",
    "linear-batch-necessary",
    "linear-target-loses",
    "longer-rows-complete-the-features",
    "narrow-floor",
    "no-varying-spike-without-c1",
    "nonlinear-from-second-spike",
    "one-pass-exponent-2",
    "one-pass-exponent-3",
    "one-step-below-the-leap",
    "one-step-deflated",
    "one-step-formulas-leap-2",
    "one-step-formulas-leap-3",
    "one-step-leap-3",
    "one-step-needs-exponent-one",
    "one-step-nothing",
    "one-step-only-cubic",
    "one-step-only-product",
    "other-activations",
    "pair-leaves",
    "pair-stays",
    "quadratic-width",
    "random-feature-degree-two",
    "random-feature-equality",
    "random-feature-floor",
    "repeated-batches-even-and-odd",
    "repeated-batches-odd",
    "reuse-needs-large-steps",
    "reused-goes-beyond",
    "reused-goes-beyond-exponent-two",
    "second-step-strengths",
    "single-samples-seen-twice",
    "small-batches-never",
    "spike-alignment",
    "spike-count",
    "spikes-at-different-rates",
    "spikes-make-the-features",
    "spikes-of-other-activations",
    "spikes-of-other-inputs",
    "spikes-of-photograph",
    "spoiled-labels",
    "staircase-example-2",
    "staircase-example-3a",
    "staircase-example-3b",
    "staircase-five-terms",
    "two-step-outlier-grid",
    "two-step-outliers",
    "weaker-links",
}


def never_failing(claim: Claim, found: Findings) -> set[str]:
    """Quantities that fail neither here nor in a control; a control must fail as a whole."""
    left = {quantity.name for quantity in found.quantities if quantity.verdict != "fails"}
    for reason in claim.controls:
        control = claim.run(changes=claim.controls[reason])
        assert control.verdict == "fails", (reason, control.quantities)
        left -= {quantity.name for quantity in control.quantities if quantity.verdict == "fails"}
    return left


def judged(name: str) -> Findings:
    """What a claim finds: it fails just if it names the one that holds in its place."""
    claim = CLAIMS[name]
    found = claim.run()
    assert found.verdict == ("fails" if claim.corrected else "holds"), found.quantities
    assert found.plot is not None
    assert {curve.theory for curve in found.plot.curves} == {True, False}
    return found


@pytest.mark.law(sentinel="one-step-formulas")
@pytest.mark.parametrize("name", [name for name in CLAIMS if name not in SLOW])
def test_claim_holds_and_its_quantities_fail_in_a_control(name: str) -> None:
    found = judged(name)
    if name not in HEAVY:
        assert never_failing(CLAIMS[name], found) == set()


@pytest.mark.claims
@pytest.mark.parametrize("name", sorted(HEAVY | SLOW))
def test_slow_claim_holds_and_its_quantities_fail_in_a_control(name: str) -> None:
    """A claim that fails has shown that it can: those of its quantities that hold need no control.

    The claim that holds in its place has them, with controls.
    """
    claim, found = CLAIMS[name], judged(name)
    left = never_failing(claim, found)
    assert left == set() or claim.corrected


def test_those_left_to_other_tiers_are_claims() -> None:
    assert set(CLAIMS) > HEAVY | SLOW
    assert not HEAVY & SLOW


def test_a_quantity_that_cannot_fail_is_seen() -> None:
    """Of two quantities the controls move one only, then both."""

    def experiment(setting: dict[str, float], **values: float) -> Findings:
        return Findings([exact(name, value, (0.0, 1.0)) for name, value in values.items()])

    one = {"large a": Changes(options={"a": 2.0})}
    both = one | {"small b": Changes(options={"b": -1.0})}
    for controls, left in ((one, {"b"}), (both, set())):
        claim = Claim(
            id="c",
            statement="C.",
            source=Source("theorem", "paper"),
            regime="regime",
            rule="rule",
            experiment=experiment,
            setting={},
            options={"a": 0.5, "b": 0.5},
            controls=controls,
        )
        assert never_failing(claim, claim.run()) == left
