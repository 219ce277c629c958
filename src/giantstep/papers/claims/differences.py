"""Where the papers and the measurements differ, as a page made from the claims."""

from __future__ import annotations

from collections.abc import Mapping

from giantstep.papers.claims.record import Claim

TITLE = "Where the papers and the measurements differ"

INTRODUCTION = (
    "Statements of the papers whose verdict is `fails`: what the source says and under which "
    "assumptions, what is measured inside them, and what holds instead. `giantstep claims ID` "
    "measures any of them again; this page is what `giantstep claims --differences` prints."
)


def differences(claims: Mapping[str, Claim]) -> str:
    """The page in Markdown."""
    parts = [f"# {TITLE}", INTRODUCTION]
    for claim in claims.values():
        if claim.corrected and not claim.source.is_finding:
            right = claims[claim.corrected]
            parts.append(
                f"## {claim.id}\n\n"
                f"{claim.statement}\n\n"
                f"*Source*: {claim.source.citation} ({claim.source.kind}). *Assumptions*: "
                f"{claim.source.assumptions}\n\n"
                f"*Tested at*: {claim.regime}\n\n"
                f"*Measured*: {claim.measured_instead}\n\n"
                f"*Holds instead* (`{right.id}`): {right.statement}"
            )
    return "\n\n".join(parts) + "\n"
