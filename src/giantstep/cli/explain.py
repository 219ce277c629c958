"""``giantstep explain``: the words of tables and messages."""

from __future__ import annotations

from dataclasses import asdict

from giantstep.cli.output import Said, as_json
from giantstep.papers.glossary import TERMS, look_up


def explain(*term: str, json: Said = False) -> None:
    """Say what a word of the tables means: leap, T_k, giant, floor, ...

    Parameters
    ----------
    term:
        A word, or several that belong together (kept and dropped); without one, the list of all.
    json:
        Print the term, or all of them, as JSON.
    """
    from giantstep.show.tables.glossary import term_report, terms_table
    from giantstep.show.tables.parts import show

    chosen = [look_up(" ".join(term))] if term else TERMS
    if json:
        print(as_json({each.name: asdict(each) for each in chosen}))
    else:
        show(term_report(chosen[0]) if term else terms_table(chosen))
