"""Tables and texts of the terminal as HTML, their formulas as MathML.

The same reports serve the terminal and notebooks.  Everything that a record holds is escaped, so
that a name of a target or of a column is never read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from giantstep.language.latex import in_latex
from giantstep.show.mathml import mathml
from giantstep.show.tables.parts import TitledTable

_FACTOR = r"(?:He\d+\(x\d+\)|x\d+)(?:\^\d+)?"
_TERM = rf"(?:\d[\d.]*\*)?{_FACTOR}(?:\*{_FACTOR})*"
_FORMULA = rf"(?<![\w.]){_TERM}(?: [-+] {_TERM})*(?![\w^(])|\b[dnp]\^[\d.]*\d"
_MATHS = re.compile(_FORMULA)
_DOLLARS = re.compile(r"\$([^$]*)\$")

STYLE = """<style>
.giantstep-record { font-size: 0.9em; line-height: 1.45; max-width: 62em; }
.giantstep-record p { margin: 0.25em 0; white-space: pre-line; }
.giantstep-record table { border-collapse: collapse; margin: 0.6em 0; font-size: inherit; }
.giantstep-record caption { caption-side: top; text-align: left; font-weight: bold; color: inherit;
  padding: 0.2em 0; }
.giantstep-record th, .giantstep-record td { text-align: left; vertical-align: baseline;
  color: inherit;
  background: none; padding: 0.15em 1em 0.15em 0; border: 0;
  border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
.giantstep-record .dim { opacity: 0.7; }
.giantstep-record .green { color: color-mix(in srgb, currentColor 35%, #1a9850); }
.giantstep-record .red { color: color-mix(in srgb, currentColor 35%, #e0332c); }
.giantstep-record .yellow { color: color-mix(in srgb, currentColor 35%, #c98a00); }
.giantstep-record .magenta { color: color-mix(in srgb, currentColor 35%, #a040c0); }
.giantstep-record img { max-width: 100%; background: white; border-radius: 4px; }
</style>"""
"""Colours are mixed with that of the text: legible on a light and on a dark page."""

COLOURS = ("green", "red", "yellow", "magenta")


@dataclass(frozen=True)
class Html:
    """Turns reports into HTML.

    ``known`` has the LaTeX of whole lines that are formulas, such as the name of a target;
    ``dollars`` says that texts carry LaTeX between dollar signs.
    """

    known: Mapping[str, str] = field(default_factory=dict)
    dollars: bool = False

    def report(self, content: RenderableType) -> str:
        """The parts of a report one after the other."""
        if isinstance(content, Group):
            return "".join(self.report(part) for part in content.renderables)
        if isinstance(content, Table):
            return self._table(content)
        text = content if isinstance(content, Text) else Text(str(content))
        lines = [self._text(line) for line in text.split("\n", allow_blank=True)]
        return f"<p>{chr(10).join(lines).strip()}</p>" if text.plain.strip() else ""

    def _table(self, table: Table) -> str:
        heading = table.heading if isinstance(table, TitledTable) else ""
        caption = f"<caption>{self.words(heading)}</caption>" if heading else ""
        head = "".join(f"<th>{self._cell(column.header)}</th>" for column in table.columns)
        columns = [[self._cell(cell) for cell in column.cells] for column in table.columns]
        rows = "".join(
            f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
            for row in zip(*columns, strict=True)
        )
        head = f"<thead><tr>{head}</tr></thead>" if table.show_header else ""
        return f"<table>{caption}{head}<tbody>{rows}</tbody></table>"

    def _cell(self, cell: RenderableType) -> str:
        return self._text(cell if isinstance(cell, Text) else Text(str(cell)))

    def _text(self, text: Text) -> str:
        """A line with the styles that reports use."""
        if text.plain in self.known:
            return f"<b>{mathml(self.known[text.plain])}</b>"
        console = Console(file=StringIO())
        base = console.get_style(text.style)
        return "".join(
            self._styled(segment.text, base + (segment.style or Style()))
            for segment in text.render(console, end="")
        )

    def _styled(self, text: str, style: Style) -> str:
        words = self.words(text)
        classes = ["dim"] * bool(style.dim)
        if style.color is not None and style.color.name in COLOURS:
            classes.append(style.color.name)
        if classes:
            words = f'<span class="{" ".join(classes)}">{words}</span>'
        return f"<b>{words}</b>" if style.bold else words

    def words(self, text: str) -> str:
        """A text, escaped, with its formulas as MathML."""
        if self.dollars:
            return "".join(_set(_DOLLARS, text, lambda found: mathml(found[1]), escape))
        return "".join(_set(_MATHS, text, lambda found: mathml(in_latex(found[0])), escape))


def _set(
    pattern: re.Pattern[str],
    text: str,
    formula: Callable[[re.Match[str]], str],
    words: Callable[[str], str],
) -> Iterator[str]:
    """The formulas that a pattern finds in a text, and the words between them."""
    place = 0
    for found in pattern.finditer(text):
        yield words(text[place : found.start()])
        yield formula(found)
        place = found.end()
    yield words(text[place:])
