"""The limits of the predictions, for the terminal: all of them, or where a setting stands."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Group, RenderableType

from giantstep.prediction.limits import LimitStatus
from giantstep.prediction.theories import networks_of
from giantstep.problem.setting import Setting
from giantstep.show.tables.parts import counted, make_table, number
from giantstep.show.tables.setting import setting_lines


def bound_words(status: LimitStatus) -> str:
    """The bounds of a limit in words: at most 1, at least 100, between 0.05 and 20.

    A field that must be of some kind has no number: the words are "some values only".
    """
    limit = status.limit
    if limit.most == 0.0:
        return "some values only"
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
    rows = [
        (
            place_words(each),
            each.limit.name,
            bound_words(each),
            each.limit.kind,
            each.limit.evidence,
        )
        for each in statuses
    ]
    columns = ("theory", "quantity", "bound", "kind", "evidence")
    measured = len({each.limit.name for each in statuses if each.limit.kind == "measured"})
    return Group(
        make_table("The limits of the predictions", columns, rows),
        "",
        f"{counted(measured, 'limit')} come from measurements alone: beyond them theory was seen "
        "to be wrong, and the reason is not fully understood.",
    )


def standing_report(
    setting: Setting, statuses: Sequence[LimitStatus], served: str | None
) -> RenderableType:
    """How far a setting is from each limit that applies to it, the nearest ones first.

    ``served`` names the theory that predicts the setting, None where none does.
    """
    numbered = [each for each in statuses if each.value is not None and each.limit.most != 0.0]
    numbered.sort(key=lambda each: -(each.share or 0.0))
    distances = make_table(
        "How far the setting is from each limit",
        ("theory", "quantity", "value", "bound", "used"),
        [
            (
                place_words(each),
                each.limit.name,
                number(each.value),
                bound_words(each),
                f"{each.share:.0%}" if each.share is not None and each.share <= 10 else "beyond",
            )
            for each in numbered
        ],
    )
    reasons = make_table(
        "Limits that the setting exceeds",
        ("theory", "reason"),
        [(place_words(each), each.complaint) for each in statuses if each.complaint is not None],
    )
    verdict = (
        f"The theory {served} ({networks_of(served)}) predicts this setting."
        if served
        else "No theory covers this setting."
    )
    tables = [each for each in (distances, reasons) if each.rows]
    return Group(setting_lines(setting), verdict, *(Group("", each) for each in tables))
