"""``giantstep estimate``: what a setting would take, before it is run."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

from giantstep.cli.fields import Fields, File, Memory, given_fields, memory_bytes
from giantstep.cli.output import Json, Quiet, Typed, present
from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.show.tables.estimate import estimate_report
from giantstep.simulation.estimate import Estimate, estimate

ENGINES = ("deferred", "dense")


def estimate_command(
    target: Typed | None = None,
    /,
    *,
    fields: Annotated[Fields | None, Parameter(name="*")] = None,  # type: ignore[valid-type]
    file: File = None,
    memory: Memory = "2 GiB",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate the operations, memory and time that a setting takes with each engine.

    Parameters
    ----------
    target:
        An expression such as "x1 + He2(x1)*x2", or a name of the catalog.
    file:
        A TOML file with fields of the setting; flags take precedence.
    memory:
        Bound on the arrays in memory, such as "512 MiB".
    """
    setting, bound = Setting(**given_fields(target, fields, file)), memory_bytes(memory)
    engines = ENGINES if setting.engine == "auto" else (setting.engine,)
    estimates: dict[str, Estimate | str] = {}
    for engine in engines:
        chosen = setting.vary(engine=engine)
        try:
            if not quiet:
                print(f"pilot runs of the {engine} engine on this machine", file=sys.stderr)
            estimates[engine] = estimate(chosen, memory=bound)
        except InputError as error:
            estimates[engine] = str(error)
    record = {
        engine: {"refused": each} if isinstance(each, str) else each.as_dict()
        for engine, each in estimates.items()
    }
    present(lambda: record, lambda: estimate_report(setting, estimates), json=json)
