"""The papers' claims as executable records; ``CLAIMS`` lists them by identifier."""

from giantstep.claims import one_step, several_steps
from giantstep.claims.record import Claim

CLAIMS: dict[str, Claim] = {
    claim.id: claim for family in (one_step, several_steps) for claim in family.CLAIMS
}
