"""The papers' claims as executable records; ``CLAIMS`` lists them by identifier."""

from giantstep.papers.claims import (
    floors,
    input_spikes,
    linear_width,
    one_step,
    open_features,
    open_inputs,
    open_labels,
    open_targets,
    open_width,
    regimes,
    repeated_batches,
    several_steps,
    small_batches,
    step_words,
    two_steps,
)
from giantstep.papers.claims.record import Claim

FAMILIES = (
    small_batches,
    one_step,
    several_steps,
    floors,
    regimes,
    linear_width,
    two_steps,
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
