"""The papers' claims as executable records; ``CLAIMS`` lists them by identifier."""

from giantstep.papers.claims import (
    features,
    limiting_losses,
    linear_width,
    one_step,
    open_targets,
    open_width,
    rank_one,
    second_layer,
    several_steps,
    spike_counts,
    two_steps,
    update_strengths,
)
from giantstep.papers.claims.record import Claim

FAMILIES = (
    one_step,
    several_steps,
    second_layer,
    linear_width,
    spike_counts,
    features,
    limiting_losses,
    rank_one,
    two_steps,
    update_strengths,
    open_targets,
    open_width,
)

CLAIMS: dict[str, Claim] = {claim.id: claim for family in FAMILIES for claim in family.CLAIMS}
