"""Records as notebooks show them: a compact report, its formulas set, with the picture below."""

from __future__ import annotations

from base64 import b64encode
from functools import singledispatch
from html import escape
from io import BytesIO
from typing import Any

from matplotlib.figure import Figure
from rich.console import Group, RenderableType
from rich.text import Text

from giantstep.analysis.analyze import Analysis
from giantstep.errors import InputError
from giantstep.experiment import Experiment
from giantstep.language.expression import format_expression
from giantstep.language.latex import latex
from giantstep.papers.claims.record import Findings
from giantstep.problem.target import Target
from giantstep.records.comparison import Comparison
from giantstep.records.trajectory import Trajectory
from giantstep.show.html import STYLE, Html
from giantstep.show.plots.record import is_wide, plot
from giantstep.show.tables.analysis import analysis_report
from giantstep.show.tables.claims import findings_report
from giantstep.show.tables.layer import layer_report
from giantstep.show.tables.learn import learn_report
from giantstep.show.tables.side_by_side import side_by_side_report
from giantstep.show.tables.spectrum import spectrum_report
from giantstep.show.tables.sweep import sweep_report
from giantstep.show.tables.trajectory import comparison_report, trajectory_report
from giantstep.spectra.layer import LayerOutliers
from giantstep.sweeps.result import Sweep, check_observable
from giantstep.sweeps.side_by_side import SideBySide

LONGEST_FORMULA = 400
"""Characters of a target up to which its name is set as a formula; a longer one stays text."""


def as_html(record: object) -> str:
    """A record as HTML, as notebooks show it: tables, formulas as MathML, and its picture.

    The part stands by itself, without scripts or other files, on light and on dark pages.

    >>> from giantstep import analyze, as_html
    >>> "<table>" in as_html(analyze("x1 + x1*x2"))
    True
    """
    setter = Html(_formulas(record), dollars=isinstance(record, Findings))
    body = setter.report(report(record))
    return f'{STYLE}<div class="giantstep-record">{body}{_picture(record)}</div>'


def _formulas(record: object) -> dict[str, str]:
    """The lines of a report that name the target, as LaTeX."""
    setting = getattr(record, "setting", None)
    target = getattr(record, "target", None) or getattr(setting, "target", None)
    if not isinstance(target, Target) or target.expression is None:
        return {}
    formula = latex(target.expression)
    if len(formula) > LONGEST_FORMULA:
        return {}
    return {target.name: formula, f"= {format_expression(target.expression)}": f"= {formula}"}


def _picture(record: object, *, dots_per_inch: int = 80) -> str:
    """The picture as an image inside the page; empty for a record without one."""
    try:
        figure: Figure = plot(record)
    except InputError:
        return ""
    file = BytesIO()
    figure.savefig(file, format="png", dpi=dots_per_inch, facecolor="white")
    data = b64encode(file.getvalue()).decode()
    words = escape(repr(record)[:300], quote=True)
    return f'<img src="data:image/png;base64,{data}" alt="{words}">'


@singledispatch
def report(record: Any) -> RenderableType:
    """The report of a record; of other records the line that Python prints."""
    return Text(repr(record))


@report.register
def _analysis(record: Analysis) -> RenderableType:
    return analysis_report(record, hint=False)


@report.register
def _experiment(record: Experiment) -> RenderableType:
    return spectrum_report(record) if is_wide(record) else learn_report(record)


@report.register
def _sweep(record: Sweep) -> RenderableType:
    if not record.finished:
        return Text(repr(record))
    observable = check_observable(None, record.finished[0].cell.setting)
    return Group(Text(repr(record)), sweep_report(record, observable))


@report.register
def _layer(record: LayerOutliers) -> RenderableType:
    return layer_report(record, "weights")


report.register(Trajectory, trajectory_report)
report.register(Comparison, comparison_report)
report.register(SideBySide, side_by_side_report)
report.register(Findings, findings_report)
