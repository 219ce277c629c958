"""The command line: parse, call, render.  Each command loads only when it is called."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

from cyclopts import App, CycloptsError, Group, UnusedCliTokensError

from giantstep import __version__
from giantstep.cli.commands import COMMANDS, GO_ON, PAPERS, START
from giantstep.errors import (
    DivergenceError,
    InputError,
    NotConvergedError,
    NoTheoryError,
    memory_words,
)
from giantstep.simulation.limits import within_limit

GROUPS = {name: Group(name, sort_key=place) for place, name in enumerate((START, GO_ON, PAPERS))}
REST = Group("This program", sort_key=len(GROUPS))

app = App(
    name="giantstep",
    help="What does a two-layer neural network learn from a few giant gradient steps?",
    help_epilogue="Begin with: giantstep analyze staircase, then giantstep learn staircase.",
    version=__version__,
    version_flags=(),  # the command --version below is ours
    group_commands=REST,
    result_action="return_value",
    # Ours is the sentence about an interrupt.
    suppress_keyboard_interrupt=False,
)
for place, command in enumerate(COMMANDS):
    app.command(
        command.path,
        name=command.name,
        help=command.help,
        help_epilogue="Examples:\n\n" + "\n".join(f"    {line}" for line in command.examples),
        group=GROUPS[command.group],
        sort_key=place,
        version_flags="--version",
    )
app.command(
    "giantstep.cli.version:version",
    name="--version",
    help="Print the version; with --verbose, what a report of a problem needs.",
    group=REST,
)
app.register_install_completion_command(
    help="Let the shell complete commands and options (bash, zsh, fish).", group=REST
)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: bad input is one sentence on standard error and exit code 2.

    Exit 1 says that a run diverged or that an iteration did not converge, 130 that it was
    interrupted.  Anything else is a bug, and shows its traceback.
    """
    _open_streams()
    try:
        within_limit()
        app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except UnusedCliTokensError as error:
        words = " ".join(error.unused_tokens or ())
        _stop(f"unexpected {words!r}: a target with spaces stands in quotation marks", 2)
    except (CycloptsError, InputError) as error:
        _stop(" ".join(str(error).split()), 2)
    except (DivergenceError, NoTheoryError, NotConvergedError) as error:
        _stop(str(error), 1)
    except KeyboardInterrupt as interrupt:
        _stop(str(interrupt) or "interrupted before anything was finished", 130)
    except MemoryError as error:
        _stop(f"{memory_words(error)}; smaller sizes or a smaller --memory take less", 1)
    except BrokenPipeError:  # the reader of our output has gone, as ``head`` does
        _print_no_more()
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        if error.filename is None:
            _print_no_more()
            _stop(f"cannot go on: {error.strerror or error}", 2)
        _stop(f"cannot use {error.filename!r}: {error.strerror}", 2)


def _open_streams() -> None:
    """See to it that standard output and standard error can be written to.

    A file that is opened later would take the number of one that is closed.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open as long as the process lives
    if sys.stdout is None:
        _stop("standard output is closed; >/dev/null throws away what is printed", 2)


def _print_no_more() -> None:
    """Let what waits to be printed go nowhere: Python would complain when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop(message: str, code: int) -> NoReturn:
    print(f"giantstep: {message}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
