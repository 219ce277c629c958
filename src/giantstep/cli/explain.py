"""``giantstep explain``: the words of tables and messages."""

from __future__ import annotations

from dataclasses import asdict

from giantstep.cli.output import Json, present
from giantstep.papers.glossary import TERMS, look_up


def explain(*term: str, json: Json = False) -> None:
    """Say what a word of the tables means: leap, T_k, giant, floor, ...

    Parameters
    ----------
    term:
        A word, or several that belong together (kept and dropped); without one, the list of all.
    """
    from giantstep.show.tables.glossary import term_report, terms_table

    chosen = [look_up(" ".join(term))] if term else TERMS
    present(
        lambda: {each.name: asdict(each) for each in chosen},
        lambda: term_report(chosen[0]) if term else terms_table(chosen),
        json=json,
    )
