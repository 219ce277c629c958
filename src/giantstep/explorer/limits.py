"""What the page may ask for: fields of a Setting that reach no file, at bounded sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from giantstep.errors import InputError, shown
from giantstep.problem.inputs import LAWS
from giantstep.problem.setting import DEFAULTS, Setting
from giantstep.simulation.estimate import estimate

MEMORY = 2**29
"""Bytes the arrays of a run may take: a page is served beside other work."""

MOST = {"p": 4096, "runs": 200, "steps": 1000, "spectra": 4096}
"""Sizes of what is sent to the page: some megabytes at most."""

LONGEST = 6_000
"""Characters of a text, those that the language itself reads."""

# These name files, or hold whole matrices.
REFUSED = frozenset({"start_rows", "start_gram", "start_overlaps", "device"})
FIELDS = tuple(name for name in DEFAULTS if name not in REFUSED)


def read_setting(fields: Mapping[str, Any], *, wide: bool = False) -> Setting:
    """The setting of what the page sent, refused where it is too large or names a file.

    ``wide`` fills what is not given with the conventions of linear width.
    """
    given = check_fields(fields)
    setting = Setting.linear_width(**given) if wide else Setting(**given)
    check_sizes(setting)
    return setting


def check_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are given, refused where the page may not have them."""
    given = {name: value for name, value in fields.items() if value not in (None, "")}
    for name, value in given.items():
        if name not in FIELDS:
            raise InputError(f"{name} is no field of the page, got {shown(value)}")
        if len(str(value)) > LONGEST:
            raise InputError(f"{name} is longer than {LONGEST} characters, got {shown(value)}")
    _check_inputs(str(given.get("inputs", "gaussian")))
    return given


def check_sizes(setting: Setting) -> None:
    """Refuse a setting that is larger than what a page shows."""
    for name, most in MOST.items():
        if getattr(setting, name) > most:
            raise InputError(f"{name} must be at most {most} here, got {getattr(setting, name)}")


def _check_inputs(text: str) -> None:
    """Laws that are drawn; those of a data set read a file."""
    kind = text.split("(")[0].strip()
    if kind in LAWS and LAWS[kind].table is not None:
        raise InputError(f"inputs must be drawn from a law here, got {shown(text)}")


LONGEST_JOB = 900.0
"""Seconds that anybody waits before a page, a quarter of an hour: longer runs are for the command
line, which keeps what it has when it is stopped."""


def expected_seconds(*settings: Setting) -> float:
    """Seconds that the runs of these settings take on a typical machine, one after the other."""
    return sum(estimate(each, memory=MEMORY, calibrate=False).seconds for each in settings)


def check_job(*settings: Setting, most_seconds: float = LONGEST_JOB) -> None:
    """Refuse runs that would take longer than anybody waits before a page."""
    seconds = expected_seconds(*settings)
    if seconds > most_seconds:
        raise InputError(
            f"these runs would take about {seconds / 60:,.0f} minutes, more than the page's "
            f"{most_seconds / 60:.0f}: take fewer samples n or runs, or the command line"
        )
