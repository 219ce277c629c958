"""The page of a report: one file of HTML, without scripts and without network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from giantstep.reports.answer import correlated, in_a_row
from giantstep.reports.directions import FOUND, Direction
from giantstep.reports.gaussianity import FAR
from giantstep.reports.hardness import Hardness
from giantstep.reports.models import which_models
from giantstep.reports.pictures import (
    colour_ends,
    curve_picture,
    label_picture,
    models_picture,
    plane_picture,
    shown_outputs,
    shown_rows,
    weights_picture,
)
from giantstep.reports.record import Report
from giantstep.reports.saving import WARNING, loading_words, model_name

STYLE = """
:root { color-scheme: light dark; --ground: #fdfdfb; --ink: #1c1c1a; --soft: #63635e;
  --line: #d9d8d2; --panel: #f3f2ec; --warn: #8a3b00; --warn-ground: #fff1e3;
  --s0: #1f5fa8; --s1: #c2570c; --s2: #2e7d4f; --s3: #8546a8; --s4: #a8842a; --s5: #b03060; }
@media (prefers-color-scheme: dark) { :root { --ground: #171816; --ink: #ecebe6; --soft: #a5a49c;
  --line: #3a3b37; --panel: #22231f; --warn: #ffb77a; --warn-ground: #3a2613;
  --s0: #7db4f0; --s1: #f29a55; --s2: #79c99a; --s3: #c79be6; --s4: #dcc071; --s5: #f08fb0; } }
body { font: 17px/1.55 Georgia, serif; background: var(--ground); color: var(--ink);
  max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0; } h2 { margin-top: 2.6rem;
  border-bottom: 1px solid var(--line); } h3 { margin: 1.8rem 0 0.4rem; }
.answer { background: var(--panel); border-radius: 10px; padding: 0.8rem 1.2rem 0.8rem 2.4rem; }
.answer li { margin: 0.5rem 0; }
.warn { color: var(--warn); background: var(--warn-ground); padding: 0.6rem 1rem;
  border-radius: 10px; }
.small, figcaption, .table { font-size: 0.88rem; } .small, figcaption { color: var(--soft); }
.strips { display: grid; grid-template-columns: minmax(6rem, 13rem) 1fr; gap: 0 0.8rem;
  align-items: center; font: 0.85rem/1.3 system-ui, sans-serif; } .strips span {
  text-align: right; } .strips svg { overflow: visible; }
figure { margin: 1rem 0; } svg { width: 100%; height: auto; display: block; }
svg text { font: 12px system-ui, sans-serif; fill: var(--soft); } svg .name { fill: var(--ink); }
.axis { stroke: var(--soft); fill: none; } .grid { stroke: var(--line); stroke-width: 0.7; }
.line { fill: none; stroke-width: 2; } .band { opacity: 0.2; } .bar { stroke-width: 2; }
.point { opacity: 0.9; } .point.soft { fill: var(--soft); opacity: 0.35; }
.line.s0, .bar.s0 { stroke: var(--s0); } .band.s0, .point.s0 { fill: var(--s0); }
.line.s1, .bar.s1 { stroke: var(--s1); } .band.s1, .point.s1 { fill: var(--s1); }
.line.s2, .bar.s2 { stroke: var(--s2); } .band.s2, .point.s2 { fill: var(--s2); }
.line.s3, .bar.s3 { stroke: var(--s3); } .band.s3, .point.s3 { fill: var(--s3); }
.line.s4, .bar.s4 { stroke: var(--s4); } .band.s4, .point.s4 { fill: var(--s4); }
.line.s5, .bar.s5 { stroke: var(--s5); } .band.s5, .point.s5 { fill: var(--s5); }
.key span { margin-right: 1rem; white-space: nowrap; } .key i { display: inline-block;
  width: 0.8rem; height: 0.8rem; border-radius: 50%; margin-right: 0.3rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.25rem 0.8rem 0.25rem 0; vertical-align: top;
  border-bottom: 1px solid var(--line); overflow-wrap: normal; }
code { font-size: 0.85em; } .badge { font-size: 0.8rem; border: 1px solid currentColor;
  border-radius: 1rem; padding: 0.1rem 0.6rem; vertical-align: middle; white-space: nowrap; }
@media (max-width: 540px) { .strips { grid-template-columns: 42% 1fr; }
  svg text { font-size: 19px; } body { font-size: 16px; }
  .strips .point { r: 7px; } .strips .bar { stroke-width: 4; } }
@media print { body { max-width: none; font-size: 11pt; } figure, tr { break-inside: avoid; } }
"""


def page(report: Report) -> str:
    """The whole page."""
    classes = f", {len(report.classes)} classes" if report.classes else ""
    title = f"What can be learned about {report.label}"
    body = "".join(
        [
            f"<h1>{escape(title)}</h1>",
            f'<p class="small">{escape(report.title)}: {report.rows:,} rows, {report.columns} '
            f"columns{classes}. Every score is measured on rows that the fit has not seen; "
            "brackets hold 95 % intervals.</p>",
            _answer(report),
            _directions(report),
            _hardness(report),
            _gaussianity(report),
            _more(report),
            _rows(report),
            _made(report),
        ]
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        "'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


def _text(text: str) -> str:
    """Text of the page: no line ends between a number and its unit."""
    return escape(text).replace(" %", "&nbsp;%")


def _paragraph(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{_text(text)}</p>' if kind else f"<p>{_text(text)}</p>"


def _figure(picture: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption>{_text(caption)}</figcaption></figure>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f'<div class="scroll table"><table><tr>{top}</tr>{lines}</table></div>'


def _answer(report: Report) -> str:
    warned = "".join(_paragraph(text, "warn") for text in report.warnings)
    items = "".join(f"<li>{_text(text)}</li>" for text in report.answer)
    return f'{warned}<section id="answer"><ol class="answer">{items}</ol></section>'


def _directions(report: Report) -> str:
    head = '<section id="directions"><h2>Directions</h2>'
    if not report.directions:
        return (
            f"{head}{_paragraph('No direction was fitted: none predicts rows held out.')}</section>"
        )
    intro = (
        "A direction is a weighted sum of columns. It is certain if held-out rows are predicted "
        f"worse without it, at level {report.level:g} for all directions together, and if the fit "
        "predicts such rows at all. Each refit leaves out another part of the rows. It has found a "
        "direction if a combination of its own directions has a squared correlation of at least "
        f"{FOUND:g} with it."
    )
    parts = [_direction(report, d, number) for number, d in enumerate(report.directions, 1)]
    plane = ""
    if len(report.directions) > 1:
        plane = "<h3>The plane of the first two</h3>" + _key(report, many_only=True)
        plane += _figure(plane_picture(report), _plane_caption(report))
    return f"{head}{_paragraph(intro)}{''.join(parts)}{plane}</section>"


def _plane_caption(report: Report) -> str:
    """What the discs are, and what their colours and those behind them mean."""
    rows = f"Discs: {shown_rows(report, *report.directions[:2])[1]}"
    if len(report.classes) > 2:
        return f"{rows}, by class."
    low, high = colour_ends(report)
    if report.classes:
        blue, orange = (f"class {name!r}" for name in report.classes)
    else:
        blue, orange = (
            f"{report.label} of {end}" for end in (f"{low:.3g} or less", f"{high:.3g} or more")
        )
    return f"{rows}. Blue: {blue}. Orange: {orange}. Behind them is the fit in the same colours."


def _key(report: Report, many_only: bool = False) -> str:
    """Colours of the classes."""
    outputs = shown_outputs(report)
    if not report.classes or (many_only and len(outputs) == 1):
        return ""
    spans = "".join(
        f'<span><i style="background: var(--s{place})"></i>{escape(report.classes[k])}</span>'
        for place, k in enumerate(outputs)
    )
    return f'<p class="key small">Share of the class: {spans}</p>'


def _direction(report: Report, direction: Direction, number: int) -> str:
    refits = len(direction.stability)
    badge = "certain" if direction.certain else "not certain"
    if direction.certain and not direction.often:
        badge = f"certain on all rows, found in {direction.found} of {refits} refits"
    small = 1e-4
    p_value = f"{direction.p_value:.2g}" if direction.p_value >= small else f"below {small:.4f}"
    bound = f"the level {direction.level:.2g}" if direction.level else "no level, after one above"
    test = (
        f"Without it the error of held-out rows grows by {direction.loss.percent} of the variance; "
        f"p-value {p_value} against {bound}."
    )
    test += _refits(direction)
    if direction.turns:
        test += (
            " That is for the best combination: single directions of refits turn towards each "
            "other."
        )
    # Rows and bands of several classes would hide each other.
    one = len(shown_outputs(report)) == 1
    rows = f"Small discs: {shown_rows(report, direction)[1]}. " if one else ""
    means = "Large discs: means of held-out rows with 95 % intervals. " if direction.found else ""
    band = (
        f", with a 95 % band over {_over(direction)}"
        if one and np.isfinite(direction.curve.low).all()
        else ""
    )
    line = "Line: the fit" if len(report.directions) == 1 else "Line: the fit, averaged over rows"
    return (
        f'<h3>Direction {number} <span class="badge">{badge}</span></h3>{_paragraph(test)}'
        + _figure(
            weights_picture(direction.weights, number),
            _weights_caption(direction),
        )
        + _key(report)
        + _figure(
            label_picture(report, direction, number),
            f"{rows}{means}{line}{band}.",
        )
    )


def _refits(direction: Direction) -> str:
    """How often fits without a part of the rows find a direction, and how closely."""
    if not direction.stability:
        return ""
    refits, found = len(direction.stability), direction.found
    text = (
        f" Found in {found} of {refits} refits. The squared correlation is {direction.steady:.2f} "
        f"in the mean over all refits and {min(direction.stability):.2f} at least."
    )
    if found < refits and direction.certain:
        text += (
            " The test is one of the fit on all rows. Fits on fewer rows may miss the direction, "
            "so that its weights are less sure than that it is there."
        )
    return text


def _over(direction: Direction) -> str:
    """The refits that intervals are taken over."""
    all_found = direction.found == len(direction.stability)
    return "refits" if all_found else "the refits that found it"


def _weights_caption(direction: Direction) -> str:
    """What the weights are, and what else is known of the columns."""
    intervals = f", with 95 % intervals over {_over(direction)}" if direction.found > 1 else ""
    text = f"Weights of standardised columns, the largest first{intervals}. "
    if direction.references:
        text += (
            "Of a column of words the weights are differences from "
            f"{in_a_row(direction.references)}. "
        )
    return text + correlated(direction, "The direction")


def _hardness(report: Report) -> str:
    hard = report.hardness
    head = '<section id="hardness"><h2>How hard it is</h2>'
    if hard is None:
        cut = "how hard it is" in report.missing
        text = "This part was cut off." if cut else "There is no fitted function to analyze."
        return f"{head}{_paragraph(text)}</section>"
    if not hard.agreed:
        return f"{head}{''.join(map(_paragraph, hard.sentences))}</section>"
    intro = (
        "With Gaussian columns, and in standard deviations of the label, the fitted function is "
        "close to a sum of Hermite polynomials He2(u) = u^2 - 1, He3(u) = u^3 - 3u, ... of the "
        "directions u1, u2, ... These are its largest terms."
    )
    terms = _table(
        ["term", "coefficient"], [[term.name, term.coefficient.plain] for term in hard.terms]
    )
    words = "".join(map(_paragraph, hard.sentences))
    return f"{head}{_paragraph(intro)}{terms}{words}{_steps(hard, report.rows)}</section>"


def _steps(hard: Hardness, rows: int) -> str:
    if not hard.steps:
        return ""
    lines = [[str(step), cosine.plain] for step, cosine in enumerate(hard.steps, 1)]
    words = (
        f"Simulated: a network of {hard.neurons} relu neurons takes giant steps on this function, "
        f"each on {rows:,} fresh Gaussian rows with the noise of the table. "
        "A cosine of 1 means that all directions are found."
    )
    return _paragraph(words) + _table(["steps", "cosine with the directions"], lines)


def _gaussianity(report: Report) -> str:
    law = report.gaussianity
    if law is None:
        return ""
    rows = [
        [each.name, each.kurtosis.plain, f"{each.distance:.3f} (noise: up to {each.noise:.3f})"]
        for each in (*law.found, law.random)
        if math.isfinite(each.distance)
    ]
    words = "".join(map(_paragraph, law.sentences))
    table = _table(["along", "kurtosis (3 for a Gaussian)", "distance from Gaussian"], rows)
    table += _paragraph(
        "The distance is the largest difference between the share of rows below a value and that "
        "of a Gaussian with the same mean and standard deviation. It is called far if it exceeds "
        f"{FAR:g} and the noise of as many Gaussian rows. A uniform law has 0.057.",
        "small",
    )
    return f'<section id="gaussian"><h2>How far from Gaussian</h2>{words}{table}</section>'


def _more(report: Report) -> str:
    parts = ['<section id="more"><h2>Is there more?</h2>']
    if report.curve is not None:
        parts.append(
            _figure(
                curve_picture(report.curve),
                "Share of the label explained against the rows fitted. Discs: measured on held-out "
                "rows. Band: extrapolated, 95 %. A direction that only more rows show is left out.",
            )
        )
    if report.left is not None:
        parts.append(_paragraph(report.left.sentence))
    if report.models:
        rows = [
            [m.name, m.explains, "" if m.gain is None else m.gain.percent] for m in report.models
        ]
        parts.append("<h3>Other models on the same rows</h3>")
        parts.append(_figure(models_picture(report.models), "Share of the variance explained."))
        parts.append(_table(["model", "explains", "more than giant steps"], rows))
        parts.append(_paragraph(which_models(bool(report.classes)), "small"))
    return "".join(parts) + "</section>"


def _rows(report: Report) -> str:
    """Drift, duplicates, leaks, and what was done to columns."""
    lines = list(report.drift.sentences) if report.drift is not None else []
    if not report.leaks:
        lines.append("No column alone gives the label away.")
    lines += [number.sentence for number in report.row_numbers]
    lines += [leak.sentence for leak in report.leaks] + list(report.said)
    return '<section id="rows"><h2>The rows</h2>' + "".join(map(_paragraph, lines)) + "</section>"


def _made(report: Report) -> str:
    name = model_name()
    quick = " This is a quick report: intervals are wider than need be." if report.quick else ""
    text = (
        f"Each of {report.folds} parts of the rows was predicted by fits that did not see it. It "
        f"took {report.seconds:.0f} s and {report.memory:,.0f} MiB.{quick}"
    )
    model = f"The estimator, fitted on all rows, is read with {loading_words(name)}. {WARNING}"
    return (
        f'<section id="made"><h2>How this was made</h2>{_paragraph(text, "small")}'
        f"{_paragraph(model, 'small')}</section>"
    )
