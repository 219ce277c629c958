"""A claim of the papers as a record: what it says, how it is measured, what decides it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from giantstep.errors import InputError, shown
from giantstep.papers.claims.quantity import Quantity, Verdict
from giantstep.papers.plot import Plot


@dataclass(frozen=True)
class Findings:
    """What the experiment of a claim measured: its quantities, and a plot of them if there is one.

    The verdict of the claim follows from those of the quantities (``mean_of``, ``exponent_of``):
    it fails if one of them does, it holds if all do, else it is undecided.

    >>> from giantstep import Findings, mean_of
    >>> cosines = mean_of("cosine", [0.70, 0.71, 0.72], (0.6, 0.8))
    >>> Findings([cosines]).verdict
    'holds'
    """

    quantities: Sequence[Quantity]
    plot: Plot | None = None

    @property
    def verdict(self) -> Verdict:
        """Fails if a quantity does, holds if all do, undecided otherwise."""
        verdicts = {quantity.verdict for quantity in self.quantities}
        if "fails" in verdicts:
            return "fails"
        return "holds" if verdicts == {"holds"} else "undecided"


Measurement = Callable[..., Findings]
"""Called with the fields of a setting and, as keywords, the sizes; returns Findings."""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, the experiment that judges it, and controls that must fail.

    A control changes fields of the setting so that an assumption of the claim is violated;
    ``controls`` has these changes by the reason why the same experiment with the same regions must
    then come out "fails".  Every quantity of the claim must fail in at least one of them: one that
    holds whatever is done to the setting says nothing.

    ``tuned`` names the fields that were chosen so that the claim is seen at the sizes in reach,
    each with a range of other values over which the verdict is repeated.  A claim that the
    measurement contradicts says in ``seen`` what is measured instead, and in ``corrected`` the
    identifier of the claim that holds in its place.

    The papers are arXiv 2305.18270, 2310.07891, 2605.17767 and those that ``paper`` names;
    docs/claims.md has the verdicts.
    """

    id: str
    statement: str
    paper: str
    regime: str
    rule: str
    experiment: Measurement
    fields: Mapping[str, Any]
    controls: Mapping[str, Mapping[str, Any]]
    quick: Mapping[str, Any] = field(default_factory=dict)
    full: Mapping[str, Any] = field(default_factory=dict)
    tuned: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seen: str = ""
    corrected: str = ""

    def __post_init__(self) -> None:
        # The identifier is the name of files.
        if not re.fullmatch(r"\w[\w.-]*", self.id):
            raise InputError(
                f"id of a claim must be letters, digits and hyphens, got {shown(self.id)}"
            )

    def __repr__(self) -> str:
        return f"Claim({self.id!r}: {self.statement} {self.paper})"

    def run(
        self, full: bool = False, seed: int = 0, changes: Mapping[str, Any] | None = None
    ) -> Findings:
        """Measure the claim, with changed fields where given, at the quick or the full size."""
        fields = {"seed": seed} | dict(self.fields) | dict(changes or {})
        found = self.experiment(fields, **(self.full if full else self.quick))
        if not isinstance(found, Findings) or not found.quantities:
            got = shown(found) if isinstance(found, Findings) else type(found).__name__
            raise InputError(
                f"the experiment of the claim {self.id!r} must return Findings with at least one "
                f"quantity, got {got}"
            )
        return found
