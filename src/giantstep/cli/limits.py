"""``giantstep limits``: where predictions end, and how far a setting is from there."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from cyclopts import Parameter

from giantstep.cli.fields import Fields, File, given_fields
from giantstep.cli.output import Said, Switch, Typed, as_json
from giantstep.errors import NoTheoryError
from giantstep.prediction.limits import LimitStatus
from giantstep.prediction.theories import THEORIES, choose_theory, limits
from giantstep.problem.setting import Setting
from giantstep.show.tables.limits import limits_report, standing_report
from giantstep.show.tables.parts import show


def limits_command(
    target: Typed | None = None,
    /,
    *,
    fields: Annotated[Fields | None, Parameter(name="*")] = None,  # type: ignore[valid-type]
    file: File = None,
    every: Annotated[Switch, Parameter(name="--all")] = False,
    json: Said = False,
) -> None:
    """List every condition under which a prediction is refused or left open.

    Parameters
    ----------
    target:
        An expression such as "x1 + He2(x1)*x2", or a name of the catalog: with one, how far this
        setting is from each limit.
    file:
        A TOML file with fields of the setting; flags take precedence.
    every:
        Show the limits of all theories, not only of the one that serves the setting.
    json:
        Print the limits as JSON instead of a table.
    """
    typed = given_fields(target, fields, file)
    setting = Setting(**typed) if typed else None
    statuses = limits(setting)
    if json:
        print(as_json([status.as_dict() for status in statuses]))
        return
    if setting is None:
        show(limits_report(statuses))
        return
    served = None
    with suppress(NoTheoryError):
        served = choose_theory(setting).name
    if not every:
        statuses = [status for status in statuses if _concerns(status, served)]
    show(standing_report(setting, statuses, served))


def _concerns(status: LimitStatus, served: str | None) -> bool:
    """Whether a limit is one of the theory that serves; without one, whether it is why."""
    if served is not None:
        return status.theory == served
    names = {"every theory", *(theory.name for theory in THEORIES)}
    return status.theory in names and status.part is None and status.complaint is not None
