"""The limits of the predictions, for the terminal: all of them, or where a setting stands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType

from giantstep.prediction.limits import LimitStatus
from giantstep.problem.setting import Setting
from giantstep.show.tables.parts import counted, make_table, number
from giantstep.show.tables.setting import setting_lines


def bound_words(status: LimitStatus) -> str:
    """The bounds of a limit in words: at most 1, at least 100, between 0.05 and 20.

    A field that must be of some kind has no number: the words are "as derived".
    """
    limit = status.limit
    if limit.most == 0.0:
        return "as derived"
    if math.isinf(limit.least):
        return f"at most {number(limit.most)}"
    if math.isinf(limit.most):
        return f"at least {number(limit.least)}"
    return f"between {number(limit.least)} and {number(limit.most)}"


def place_words(status: LimitStatus) -> str:
    """The theory, and the part of its prediction that is left open beyond the limit."""
    return status.theory if status.part is None else f"{status.theory}: {status.part}"


def limits_report(statuses: Sequence[LimitStatus]) -> RenderableType:
    """Every limit: where it applies, its bound, and whether that is derived, measured or chosen."""
    table = make_table(
        "The limits of the predictions", "theory", "quantity", "bound", "kind", "evidence"
    )
    for status in statuses:
        limit = status.limit
        table.add_row(
            place_words(status), limit.name, bound_words(status), limit.kind, limit.evidence
        )
    measured = len({status.limit.name for status in statuses if status.limit.kind == "measured"})
    return Group(
        table,
        "",
        f"{counted(measured, 'limit')} come from measurements alone: beyond them theory was seen "
        "to be off, and why is not fully understood.",
    )


def standing_report(
    setting: Setting, statuses: Iterable[LimitStatus], served: str | None
) -> RenderableType:
    """How far a setting is from each limit that applies to it, the nearest ones first.

    ``served`` names the theory that predicts the setting, None where none does.
    """
    listed = list(statuses)
    numbered = [each for each in listed if each.value is not None and each.limit.most != 0.0]
    broken = [each for each in listed if each.complaint is not None]
    numbered.sort(key=lambda each: -(each.share or 0.0))
    table = make_table(
        "How far the setting is from each limit", "theory", "quantity", "value", "bound", "used"
    )
    for status in numbered:
        share = status.share or 0.0
        used = f"{share:.0%}" if share <= 10 else "beyond"
        table.add_row(
            place_words(status), status.limit.name, number(status.value), bound_words(status), used
        )
    verdict = f"The theory that serves is {served}." if served else "No theory serves."
    reasons = make_table("What the setting is beyond", "theory", "reason")
    for status in broken:
        reasons.add_row(place_words(status), str(status.complaint))
    tables = [each for each in (table, reasons) if each.rows]
    return Group(setting_lines(setting), verdict, *(Group("", each) for each in tables))
