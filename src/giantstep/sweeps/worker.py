"""A process that works for a sweep: tasks come in, reports go out, a line of JSON each.

``python -m giantstep.sweeps.worker FOLDER``.  It ends with its standard input or with the sweep: a
sweep that is killed takes its workers along, and what they had not finished is not there.
"""

from __future__ import annotations

import json
import os
import queue
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from giantstep.errors import memory_words
from giantstep.simulation.processes import end_with_parent


def main() -> None:
    """Do one task after another until there are no more."""
    # Lines of JSON are all that may leave through standard output.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    tasks: queue.SimpleQueue[str] = queue.SimpleQueue()
    end_with_parent(partial(_listen, tasks))

    perform = _prepared()
    while True:
        try:
            report = perform(json.loads(tasks.get()))
        except OSError as error:
            report = {"unwritten": error.strerror or str(error)}
        print(json.dumps(report), file=out, flush=True)


def _prepared() -> Callable[[Any], Mapping[str, Any]]:
    """What does a task; it only says so where there is too little memory for any."""
    from giantstep.simulation.threads import share_processors

    try:
        # As many processes as processors; before JAX is loaded.
        share_processors()
        from giantstep.store.folder import Store
        from giantstep.sweeps.work import perform
    except MemoryError as error:
        refusal = {"failure": memory_words(error), "traceback": None}
        return lambda task: refusal
    return partial(perform, write=Store(Path(sys.argv[1])).write)


def _listen(tasks: queue.SimpleQueue[str]) -> None:
    """Take up tasks until there can be no more."""
    for line in sys.stdin:
        tasks.put(line)


if __name__ == "__main__":
    main()
