"""A process that works for a sweep: tasks come in, reports go out, a line of JSON each.

``python -m giantstep.sweeps.worker FOLDER``.  It ends with its standard input: a sweep that is
killed takes its workers along, and what they had not finished is not there.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from pathlib import Path


def main() -> None:
    """Do one task after another until there are no more."""
    # Lines of JSON are all that may leave through standard output.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    tasks: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()

    from giantstep.simulation.threads import share_processors
    from giantstep.store.folder import Store
    from giantstep.sweeps.work import Report, perform

    # As many processes as processors; before JAX is loaded.
    share_processors()
    store = Store(Path(sys.argv[1]))
    while True:
        task = json.loads(tasks.get())
        try:
            report: Report | dict[str, str] = {**perform(task, store.write)}
        except OSError as error:
            report = {"unwritten": error.strerror or str(error)}
        print(json.dumps(report), file=out, flush=True)


def _listen(tasks: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        tasks.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
