"""A claim as a record: what it says, how it is measured, what decides it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from giantstep.errors import InputError, shown
from giantstep.papers.claims.quantity import Quantity, Verdict
from giantstep.papers.claims.source import Source
from giantstep.records.drawing import Shown
from giantstep.records.plot import Plot


@dataclass(frozen=True)
class Findings(Shown):
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


FINDING_WORDS = {"holds": "seen", "fails": "not seen"}
"""Verdicts of a statement that no paper makes: nobody fails if it is not seen."""

Fields = Mapping[str, Any]
"""Fields of a setting by their names."""

Experiment = Callable[..., Findings]
"""Called with the fields of the setting and, as keywords, the options and the sizes of a claim."""


@dataclass(frozen=True)
class Changes:
    """What a control or another tuned value changes of a claim.

    ``setting`` holds fields of the simulated setting, ``options`` keywords of the experiment.

    >>> from giantstep import Changes
    >>> Changes(setting={"p": 4}).options
    {}
    """

    setting: Fields = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def one_at_a_time(
    *,
    setting: Mapping[str, Sequence[Any]] | None = None,
    options: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[Changes, ...]:
    """Changes of one field or one option at a time, to each of the values that are given for it."""
    fields = [(name, value) for name, values in (setting or {}).items() for value in values]
    keywords = [(name, value) for name, values in (options or {}).items() for value in values]
    return (
        *(Changes(setting={name: value}) for name, value in fields),
        *(Changes(options={name: value}) for name, value in keywords),
    )


@dataclass(frozen=True)
class Claim:
    """A statement with its source, the experiment that judges it, and controls that must fail.

    ``setting`` holds the fields of the setting that is simulated, ``options`` the keywords of the
    experiment; ``quick`` and ``full`` are further keywords, the sizes of seconds and of minutes.

    ``source`` says which paper makes the statement, as a theorem, a conjecture, a slide or
    otherwise, and under which assumptions.  "fails" is said only of what a source states, inside
    its assumptions; the verdict of a finding, which no paper states, is "seen" or "not seen".

    A control changes fields or options so that an assumption of the claim is violated;
    ``controls`` has these changes by the reason why the same experiment with the same regions must
    then come out "fails".  Every quantity of the claim must fail in at least one of them: one that
    holds whatever is done to the setting says nothing.

    ``tuned`` has other values of what was chosen so that the claim is seen at the sizes in reach;
    the verdict is repeated with each of them.  A claim that the measurement contradicts says in
    ``measured_instead`` what is measured, and in ``corrected`` the identifier of the claim that
    holds in its place.  ``needs`` names an optional library that the experiment imports.

    Texts are whole sentences; formulas are LaTeX between dollar signs, without spaces inside.

    Most statements are those of arXiv 2305.18270, 2310.07891 and 2605.17767.  docs/claims.md has
    their verdicts, docs/findings.md those of findings.
    """

    id: str
    statement: str
    regime: str
    rule: str
    experiment: Experiment
    setting: Fields
    controls: Mapping[str, Changes]
    options: Mapping[str, Any] = field(default_factory=dict)
    source: Source = field(default_factory=Source)
    quick: Mapping[str, Any] = field(default_factory=dict)
    full: Mapping[str, Any] = field(default_factory=dict)
    tuned: Sequence[Changes] = ()
    measured_instead: str = ""
    corrected: str = ""
    needs: str = ""

    def __post_init__(self) -> None:
        # The identifier is the name of files.
        if not re.fullmatch(r"\w[\w.-]*", self.id):
            raise InputError(
                f"id of a claim must be letters, digits and hyphens, got {shown(self.id)}"
            )
        for changes in (*self.controls.values(), *self.tuned):
            if not isinstance(changes, Changes):
                raise InputError(
                    f"controls and tuned values of the claim {self.id!r} must be "
                    f"Changes(setting=.., options=..), got {shown(changes)}"
                )

    def __repr__(self) -> str:
        return f"Claim({self.id!r}: {self.statement} {self.source.citation})"

    def judged(self, findings: Findings) -> str:
        """The verdict in the words of its kind: a finding is "seen" or "not seen"."""
        verdict = findings.verdict
        return FINDING_WORDS.get(verdict, verdict) if self.source.is_finding else verdict

    def run(self, full: bool = False, seed: int = 0, changes: Changes | None = None) -> Findings:
        """Measure the claim, with changes where given, at the quick or the full size."""
        changed = changes or Changes()
        setting = {"seed": seed} | dict(self.setting) | dict(changed.setting)
        sizes = self.full if full else self.quick
        findings = self.experiment(setting, **{**self.options, **sizes, **changed.options})
        if not isinstance(findings, Findings) or not findings.quantities:
            got = shown(findings) if isinstance(findings, Findings) else type(findings).__name__
            raise InputError(
                f"the experiment of the claim {self.id!r} must return Findings with at least one "
                f"quantity, got {got}"
            )
        return findings
