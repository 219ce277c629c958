"""Where the command line begins.  Everything else loads in ``main``, where interrupts are heard."""

from __future__ import annotations

from giantstep.cli.interrupts import interrupts_heard
from giantstep.cli.streams import open_streams, stop


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: bad input is one sentence on standard error and exit code 2.

    Exit 1 says that a run diverged or that an iteration did not converge, 130 that it was
    interrupted.  Anything else is a bug, and shows its traceback.
    """
    open_streams()
    try:
        with interrupts_heard():
            from giantstep.cli.app import run

            run(arguments)
    except KeyboardInterrupt as interrupt:
        stop(str(interrupt) or "interrupted before anything was finished", 130)


if __name__ == "__main__":
    main()
