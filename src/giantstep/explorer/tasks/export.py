"""Lines that reproduce what the page shows: a TOML file, a Python script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from giantstep import __version__
from giantstep.errors import InputError
from giantstep.explorer.limits import read_setting
from giantstep.explorer.tasks import Emit
from giantstep.problem.setting import DEFAULTS, LINEAR_WIDTH

COMMANDS = {"learn": DEFAULTS, "spectrum": DEFAULTS | LINEAR_WIDTH, "analyze": DEFAULTS}
"""The commands that take a setting, with what they fill in."""


def given(request: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The command and its fields as they were typed, without those at their defaults."""
    command = str(request.get("command", "learn"))
    if command not in COMMANDS:
        raise InputError(f"command must be one of {', '.join(COMMANDS)}, got {command!r}")
    fields = {name: as_number(value) for name, value in request.get("setting", {}).items()}
    read_setting(fields, wide=command == "spectrum")
    defaults = COMMANDS[command]
    return command, {
        name: value
        for name, value in fields.items()
        if value not in (None, "") and value != defaults[name]
    }


def as_number(value: Any) -> Any:
    """The page sends texts: one that is a plain number as that number, anything else as it is."""
    for read in (int, float) if isinstance(value, str) else ():
        try:
            return read(value)
        except ValueError:
            continue
    return value


def dated(text: str) -> str:
    """Lines to keep, with the version of giantstep that they were written for."""
    return f"# written by giantstep {__version__}\n{text}"


def toml(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """A file for ``giantstep learn --file`` or ``giantstep spectrum --file``."""
    command, fields = given(request)
    lines = [f"# giantstep {command} --file giantstep.toml"]
    lines += [f"{name} = {_literal(value)}" for name, value in fields.items()]
    return {"name": "giantstep.toml", "text": dated("\n".join(lines) + "\n")}


def python(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """A script that runs the experiment and prints how theory and simulation compare."""
    command, fields = given(request)
    if command == "analyze":
        both = DEFAULTS | fields
        named = ", ".join(_literal(both[name]) for name in ("target", "activation"))
        text = f"from giantstep import analyze\n\nanalysis = analyze({named})\n"
        text += "print(analysis.as_dict())\n"
        return {"name": "giantstep_analyze.py", "text": dated(text)}
    make = "Setting.linear_width" if command == "spectrum" else "Setting"
    arguments = "".join(f"    {name}={_literal(value)},\n" for name, value in fields.items())
    text = (
        "from giantstep import Setting, run_experiment\n\n"
        f"setting = {make}(\n{arguments})\n"
        "experiment = run_experiment(setting)\n"
        "for step in experiment.steps:\n"
        "    print(step.as_dict())\n"
        "print(experiment.comparison)\n"
    )
    return {"name": "giantstep_run.py", "text": dated(text)}


def _literal(value: Any) -> str:
    """Texts, numbers and lists of them are written alike in TOML, JSON and Python."""
    if isinstance(value, bool):
        raise InputError(f"a field must be a number or a text, got {value!r}")
    return json.dumps(value)
