"""The commands as one application: parse, call, render.  Each command loads when it is called."""

from __future__ import annotations

import signal
import sys
import warnings

from cyclopts import App, CycloptsError, Group, UnusedCliTokensError

from giantstep import __version__
from giantstep.cli.commands import COMMANDS, GO_ON, PAPERS, START
from giantstep.cli.streams import print_no_more, stop
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


def run(arguments: list[str] | None) -> None:
    """Run a command line; what is wrong is one sentence, anything else is a bug."""
    try:
        within_limit()
        with warnings.catch_warnings():
            # Numbers that are not finite end in a sentence about the run or the prediction.
            warnings.simplefilter("ignore", RuntimeWarning)
            app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except UnusedCliTokensError as error:
        words = list(error.unused_tokens or ())
        advice = (
            "the command takes fewer arguments"
            if any(" " in word for word in words)
            else "a target with spaces stands in quotation marks"
        )
        stop(f"unexpected {' '.join(words)!r}: {advice}", 2)
    except (CycloptsError, InputError) as error:
        stop(" ".join(str(error).split()), 2)
    except (DivergenceError, NoTheoryError, NotConvergedError) as error:
        stop(str(error), 1)
    except MemoryError as error:
        stop(f"{memory_words(error)}; smaller sizes or a smaller --memory take less", 1)
    except BrokenPipeError:  # the reader of our output has gone, as ``head`` does
        print_no_more()
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        if error.filename is None:
            print_no_more()
            stop(f"cannot go on: {error.strerror or error}", 2)
        stop(f"cannot use {error.filename!r}: {error.strerror}", 2)
