"""The papers behind the theories, in references.bib, and which of them a setting rests on."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files

from giantstep.errors import NoTheoryError
from giantstep.prediction.theories import choose_theory
from giantstep.problem.catalog import CATALOG
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import choose_engine

PROJECT = """@software{{giantstep,
  author = {{{{The giantstep developers}}}},
  title = {{giantstep: what two-layer networks learn from a few giant gradient steps}},
  version = {{{version}}},
  year = {{2026}}
}}"""


@dataclass(frozen=True)
class Reference:
    """An entry of ``references.bib``: its key, its title, and the entry itself."""

    key: str
    title: str
    bibtex: str


def _references() -> dict[str, Reference]:
    """The entries of ``references.bib`` by their arXiv numbers."""
    text = (files("giantstep.papers") / "references.bib").read_text(encoding="utf-8")
    references = {}
    for entry in text.strip().split("\n\n"):
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, flags=re.MULTILINE))
        key = entry[entry.index("{") + 1 : entry.index(",")]
        references[fields["eprint"]] = Reference(key, fields["title"].strip("{}"), entry)
    return references


REFERENCES = _references()
"""The papers by their arXiv numbers."""

ANALYSIS = ("2305.18270", "2402.03220", "2405.15480")
"""Exponents and staircases, reused batches, weak recovery."""

REQUIREMENTS = (
    *("2003.10409", "2302.11055", "2305.10633", "2403.05529"),
    *("2506.05500", "2603.17896", "2502.06443"),
)
"""Samples that other methods need: one-pass and smoothed descent, generative exponents and leaps,
label noise, shifted inputs."""

LAYER = ("1103.2221",)
"""Outliers of a matrix against its own bulk."""


def _theory(setting: Setting) -> str:
    try:
        return choose_theory(setting).name
    except NoTheoryError:
        return ""


Rule = tuple[Callable[[Setting], bool], tuple[str, ...]]

_RULES: tuple[Rule, ...] = (
    (lambda s: s.seen_again, ("2402.03220",)),
    (
        lambda s: 1 < s.batches.steps_per_set < math.inf or bool(s.lookahead.numbers),
        ("2405.15459",),
    ),
    (lambda s: s.inputs.known_directions > 0, ("2510.01303",)),
    # From d/n = 20 on steps are one-pass steps: their theory is that of small batches.
    (lambda s: 20 * s.n <= s.d, ("2202.00293", "2003.10409")),
    (lambda s: choose_engine(s) == "deferred", ("2101.07464",)),
)
"""What of a setting rests on which papers, beside the giant steps themselves."""

_OF_THEORIES: dict[str, tuple[Rule, ...]] = {
    "linear-width": (
        (lambda s: True, ("2310.07891",)),
        (lambda s: s.steps > 1, ("2605.17767",)),
        (lambda s: s.readout_n > 0, ("2402.04980", "2410.18938")),
    ),
    "quadratic-width": ((lambda s: True, ("2310.07891", "2403.08160")),),
}
"""What rests on which papers beyond them, by the name of the theory that serves."""


def papers_of(setting: Setting) -> list[str]:
    """The arXiv numbers of what a setting uses: its target, its theory, its engine."""
    numbers = ["2305.18270"]
    if setting.target.name in CATALOG:
        numbers += papers_in(CATALOG[setting.target.name].source)
    for applies, papers in (*_RULES, *_OF_THEORIES.get(_theory(setting), ())):
        if applies(setting):
            numbers += papers
    return list(dict.fromkeys(numbers))


def papers_in(text: str) -> list[str]:
    """The arXiv numbers that a text names."""
    return re.findall(r"\b[0-9]{4}\.[0-9]{4,5}\b", text)


def bibliography(papers: Iterable[str], version: str) -> str:
    """BibTeX of the project and of these papers."""
    entries = [PROJECT.format(version=version)]
    entries += [REFERENCES[paper].bibtex for paper in dict.fromkeys(papers)]
    return "\n\n".join(entries)
