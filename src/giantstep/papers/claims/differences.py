"""Where the papers and the measurements differ, as a page made from the claims."""

from __future__ import annotations

from collections.abc import Mapping

from giantstep.papers.claims.record import Claim

TITLE = "Where the papers and the measurements differ"

INTRODUCTION = (
    "Claims whose verdict is `fails`: what the paper says, what is measured, and the claim that "
    "holds in its place. `giantstep claims ID` measures any of them again; this page is what "
    "`giantstep claims --differences` prints."
)


def differences(claims: Mapping[str, Claim]) -> str:
    """The page in Markdown."""
    parts = [f"# {TITLE}", INTRODUCTION]
    for claim in claims.values():
        if claim.corrected:
            right = claims[claim.corrected]
            parts.append(
                f"## {claim.id}\n\n"
                f"*{claim.paper}* ({claim.regime}): {claim.statement}\n\n"
                f"Seen: {claim.seen}\n\n"
                f"Holds instead (`{right.id}`): {right.statement}"
            )
    return "\n\n".join(parts) + "\n"
