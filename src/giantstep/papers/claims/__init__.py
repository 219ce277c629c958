"""The papers' claims as executable records; ``CLAIMS`` lists them by identifier."""

from giantstep.papers.claims import (
    features,
    floors,
    input_spikes,
    limiting_losses,
    linear_width,
    one_step,
    open_features,
    open_inputs,
    open_labels,
    open_targets,
    open_width,
    rank_one,
    regimes,
    repeated_batches,
    several_steps,
    small_batches,
    spike_counts,
    step_words,
    two_steps,
    update_strengths,
)
from giantstep.papers.claims.record import Claim

FAMILIES = (
    small_batches,
    one_step,
    several_steps,
    floors,
    regimes,
    linear_width,
    spike_counts,
    features,
    limiting_losses,
    rank_one,
    two_steps,
    update_strengths,
    open_targets,
    open_inputs,
    open_labels,
    open_width,
    open_features,
    repeated_batches,
    input_spikes,
    step_words,
)

CLAIMS: dict[str, Claim] = {claim.id: claim for family in FAMILIES for claim in family.CLAIMS}
