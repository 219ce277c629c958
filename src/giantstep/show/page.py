"""The claims as one page of HTML, to be read in a browser; figures lie beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

from giantstep.papers.claims.source import FINDINGS
from giantstep.show.tex import plain_words

STYLE = """
body { font: 16px/1.5 Georgia, serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; display: block;
  overflow-x: auto; }
th, td { text-align: left; padding: 0.2rem 0.6rem 0.2rem 0; border-bottom: 1px solid #ccc;
  vertical-align: top; }
section { margin-top: 2.5rem; }
img { max-width: 100%; }
.holds::before { content: "\\2713 "; } .fails::before { content: "\\2717 "; }
.seen::before { content: "\\2713 "; } .not-seen::before { content: "\\2013 "; }
.undecided::before { content: "? "; }
.holds, .seen { color: #14532d; } .not-seen { color: #5b21b6; }
.fails { color: #7f1d1d; } .undecided { color: #555; }
.small { font-size: 0.85rem; color: #555; }
"""


def claims_page(records: Sequence[dict[str, Any]]) -> str:
    """A table of all verdicts, then every claim with its numbers, controls and figure."""
    tables = "".join(
        _overview(title, [r for r in records if (r["kind"] in FINDINGS) == findings])
        for title, findings in (("Statements of the papers", False), ("Findings", True))
    )
    sections = "".join(_section(record) for record in records)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Claims, measured</title><style>{STYLE}</style>"
        "<h1>Claims, measured</h1>"
        "<p>Statements of the papers hold or fail inside the assumptions of their source. Findings "
        "are made by no paper: they are seen or not seen. Every interval has level 99 %. "
        "A quantity holds if its whole interval lies in the region where the claim puts it, and it "
        "is within four standard errors of the predicted number. A stated allowance for the finite "
        "size is added. It fails if the interval lies outside or the number is further off. "
        "Otherwise it is undecided.</p>"
        f"{tables}{_differences(records)}{sections}</html>\n"
    )


def _overview(title: str, records: Sequence[dict[str, Any]]) -> str:
    """A table of claims of one sort with their verdicts, and how many there are of each."""
    counts = Counter(record["verdict"] for record in records)
    numbers = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    rows = "".join(
        f"<tr><td>{_link(r['id'])}</td><td>{_words(r['statement'])}</td>"
        f"<td>{escape(r['kind'])}</td><td>{_badge(r['verdict'])}</td></tr>"
        for r in records
    )
    head = "<tr><th>claim</th><th>statement</th><th>kind</th><th>verdict</th></tr>"
    return rows and f"<h2>{title}</h2><p>{numbers}</p><table>{head}{rows}</table>"


def _differences(records: Sequence[dict[str, Any]]) -> str:
    """Where the papers and the measurements differ: what is measured, and what holds instead."""
    parts = "".join(
        f"<p>{_link(record['id'])} ({_words(record['paper'])}): {_words(record['statement'])} "
        f"{_badge(record['verdict'])}<br>Measured: {_words(record['measured_instead'])}<br>"
        f"Holds instead: {_link(record['corrected'])}</p>"
        for record in records
        if record["corrected"] and record["kind"] not in FINDINGS
    )
    return parts and f"<h2>Where the papers and the measurements differ</h2>{parts}"


def _words(text: str) -> str:
    """A text of a record, its formulas in plain characters, as HTML."""
    return escape(plain_words(text))


def _link(name: str) -> str:
    return f'<a href="#{escape(name)}">{escape(name)}</a>'


def _section(record: dict[str, Any]) -> str:
    name = escape(record["id"])
    fields = record["setting"] | record["options"]
    setting = ", ".join(f"{k} = {v}" for k, v in fields.items())
    figure = "" if record["plot"] is None else f'<p><img src="{name}.png" alt="{name}"></p>'
    controls = "".join(_control(control) for control in record["controls"])
    return (
        f'<section id="{name}"><h2>{name} {_badge(record["verdict"])}</h2>'
        f"<p>{_words(record['statement'])}</p>"
        f'<p class="small">Source: {_words(record["paper"])} ({escape(record["kind"])}). '
        f"Assumptions: {_words(record['assumptions'].rstrip('.') or 'none stated')}. "
        f"Tested at: {_words(record['regime'].rstrip('.'))}. "
        f"Rule: {_words(record['rule'].rstrip('.'))}. "
        f"Setting: {escape(setting)}; size {record['size']}, "
        f"seed {record['seed']}, {record['seconds']:.1f} s.</p>"
        f"{_table(record)}{figure}{controls}{_tuned(record)}</section>"
    )


def _tuned(record: dict[str, Any]) -> str:
    """The verdicts over the range of each field that was tuned."""
    rows = "".join(
        f"<li>{escape(changes_text(repeated))}: {_badge(repeated['verdict'])}</li>"
        for repeated in record["tuned"]
    )
    return rows and f"<p>Tuned, and repeated with:</p><ul>{rows}</ul>"


def changes_text(record: dict[str, Any]) -> str:
    """The fields of a control or of a repetition, as they are changed."""
    return ", ".join(f"{name} = {value}" for name, value in record["changes"].items())


def _control(control: dict[str, Any]) -> str:
    return (
        f"<p>Control ({_words(control['reason'])}; {escape(changes_text(control))}): "
        f"{_badge(control['verdict'])}</p>{_table(control)}"
    )


def _table(record: dict[str, Any]) -> str:
    rows = []
    for name, measured in record["measured"].items():
        predicted = record["predicted"][name]
        deviation = measured["deviation_in_standard_errors"]
        rows.append(
            f"<tr><td>{_words(name)}</td><td>{region_text(predicted)}</td>"
            f"<td>{measured_text(measured, 4)}</td>"
            f"<td>{'' if deviation is None else f'{deviation:+.1f}'}</td>"
            f"<td>{_badge(measured['verdict'])}</td></tr>"
        )
    head = "<tr><th>quantity</th><th>predicted</th><th>measured</th><th>off by (s.e.)</th>"
    return f"<table>{head}<th></th></tr>{''.join(rows)}</table>"


def measured_text(measured: dict[str, Any], digits: int) -> str:
    """A measured number with its interval, where it has one."""
    low, high = measured["interval"]
    interval = "" if low == high else f" [{low:.{digits}g}, {high:.{digits}g}]"
    return f"{measured['value']:.{digits}g}{interval}"


def region_text(predicted: dict[str, Any]) -> str:
    """Theory's number with what the finite size may add, and the region, in words."""
    low, high = predicted["region"]
    if low is None and high is None:
        region = ""
    elif low is None:
        region = f"at most {high:.4g}"
    elif high is None:
        region = f"at least {low:.4g}"
    elif low == high:
        return f"{low:.4g}"
    else:
        region = f"{low:.4g} to {high:.4g}"
    if predicted["value"] is None:
        return region
    allowed = f" ± {predicted['allowance']:.2g}" if predicted["allowance"] else ""
    number = f"{predicted['value']:.4g}{allowed}"
    return f"{number} ({region})" if region else number


def _badge(verdict: str) -> str:
    return f'<span class="{verdict.replace(" ", "-")}">{verdict}</span>'
