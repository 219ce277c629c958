"""What a setting would take with each engine, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType

from giantstep.show.tables.parts import make_table
from giantstep.show.tables.sweep import duration, size
from giantstep.simulation.estimate import Estimate


def estimate_table(found: Mapping[str, Estimate | str]) -> RenderableType:
    """Engine, operations, memory and time; why an engine cannot run it below."""
    table = make_table("", "engine", "operations", "memory", "time")
    for engine, each in found.items():
        if isinstance(each, str):
            table.add_row(engine, "-", "-", "-")
        else:
            name = engine if each.device == "cpu" else f"{engine}, {each.device}"
            table.add_row(name, f"{each.flops:.2g}", size(each.bytes), duration(each.seconds))
    return Group(table, *(each for each in found.values() if isinstance(each, str)))
