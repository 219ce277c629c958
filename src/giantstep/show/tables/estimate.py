"""What a setting would take with each engine, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType

from giantstep.language.units import amount, duration, in_bytes
from giantstep.problem.setting import Setting
from giantstep.show.tables.parts import MISSING, counted, make_table, notes
from giantstep.show.tables.setting import setting_lines
from giantstep.simulation.estimate import Estimate

PREDICTION = (
    "The time is that of the simulation. The prediction of giantstep learn is not included; it "
    "takes from seconds to minutes."
)


def estimate_report(setting: Setting, estimates: Mapping[str, Estimate | str]) -> RenderableType:
    """The setting; engine, operations, memory and time; why an engine cannot run it below."""
    head = setting_lines(setting).append(f"{counted(setting.runs, 'run')}\n", style="not bold")
    table = make_table(
        "",
        ("engine", "operations", "memory", "time"),
        (_row(engine, estimate) for engine, estimate in estimates.items()),
    )
    refusals = [reason for reason in estimates.values() if isinstance(reason, str)]
    return Group(head, table, *refusals, *notes([PREDICTION]))


def _row(engine: str, estimate: Estimate | str) -> tuple[str, str, str, str]:
    if isinstance(estimate, str):
        return engine, MISSING, MISSING, MISSING
    name = engine if estimate.device == "cpu" else f"{engine}, {estimate.device}"
    cost = amount(estimate.flops), in_bytes(estimate.bytes), duration(estimate.seconds)
    return name, *cost
