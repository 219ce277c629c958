"""``giantstep limits``: where predictions end, and how far a setting is from there."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from cyclopts import Parameter
from rich.console import RenderableType

from giantstep.cli.fields import Fields, File, given_fields
from giantstep.cli.output import Json, Switch, Typed, present
from giantstep.errors import NoTheoryError
from giantstep.prediction.limits import LimitStatus
from giantstep.prediction.theories import THEORIES, choose_theory, limits
from giantstep.problem.setting import Setting
from giantstep.show.tables.limits import limits_report, standing_report


def limits_command(
    target: Typed | None = None,
    /,
    *,
    fields: Annotated[Fields | None, Parameter(name="*")] = None,  # type: ignore[valid-type]
    file: File = None,
    every: Annotated[Switch, Parameter(name="--all")] = False,
    json: Json = False,
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
    """
    typed = given_fields(target, fields, file)
    setting = Setting(**typed) if typed else None
    statuses = limits(setting)
    present(
        lambda: {"limits": [status.as_dict() for status in statuses]},
        lambda: limits_report(statuses) if setting is None else _standing(setting, statuses, every),
        json=json,
    )


def _standing(setting: Setting, statuses: list[LimitStatus], every: bool) -> RenderableType:
    """Where a setting stands at the limits of the theory that serves, or of ``every`` one."""
    served = None
    with suppress(NoTheoryError):
        served = choose_theory(setting).name
    shown = [status for status in statuses if every or _concerns(status, served)]
    return standing_report(setting, shown, served)


def _concerns(status: LimitStatus, served: str | None) -> bool:
    """Whether a limit is one of the theory that serves; without one, whether it is why."""
    if served is not None:
        return status.theory == served
    names = {"every theory", *(theory.name for theory in THEORIES)}
    return status.theory in names and status.part is None and status.complaint is not None
