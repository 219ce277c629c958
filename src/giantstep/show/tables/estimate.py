"""What a setting would take with each engine, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType

from giantstep.language.units import amount, duration, in_bytes
from giantstep.problem.setting import Setting
from giantstep.show.tables.parts import counted, make_table
from giantstep.show.tables.setting import setting_lines
from giantstep.simulation.estimate import Estimate


def estimate_report(setting: Setting, found: Mapping[str, Estimate | str]) -> RenderableType:
    """The setting; engine, operations, memory and time; why an engine cannot run it below."""
    head = setting_lines(setting).append(f"{counted(setting.runs, 'run')}\n", style="not bold")
    table = make_table("", "engine", "operations", "memory", "time")
    for engine, each in found.items():
        if isinstance(each, str):
            table.add_row(engine, "-", "-", "-")
        else:
            name = engine if each.device == "cpu" else f"{engine}, {each.device}"
            table.add_row(name, amount(each.flops), in_bytes(each.bytes), duration(each.seconds))
    return Group(head, table, *(each for each in found.values() if isinstance(each, str)))
