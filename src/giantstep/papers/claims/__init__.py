"""The papers' claims as executable records; ``CLAIMS`` lists them by identifier."""

from giantstep.papers.claims import (
    emergence_sums,
    expansions,
    feature_steps,
    floors,
    full_training,
    gradients,
    higher_leaps,
    input_spikes,
    limiting_losses,
    linear_width,
    narrow_questions,
    one_step,
    regimes,
    repeated_batches,
    robustness,
    scaling_laws,
    several_steps,
    spike_thresholds,
    spikes,
    step_formulas,
    step_words,
    two_steps,
    weight_outliers,
)
from giantstep.papers.claims.record import Claim

FAMILIES = (
    one_step,
    step_formulas,
    several_steps,
    higher_leaps,
    narrow_questions,
    repeated_batches,
    step_words,
    robustness,
    floors,
    regimes,
    scaling_laws,
    emergence_sums,
    linear_width,
    full_training,
    gradients,
    input_spikes,
    spikes,
    spike_thresholds,
    expansions,
    limiting_losses,
    feature_steps,
    weight_outliers,
    two_steps,
)
"""Narrow networks, what readouts reach, one step at linear width, then two."""

CLAIMS: dict[str, Claim] = {claim.id: claim for family in FAMILIES for claim in family.CLAIMS}
