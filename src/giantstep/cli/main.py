"""The command line: parse, call, render.  Each command loads only when it is called."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

from cyclopts import App, CycloptsError

from giantstep import __version__
from giantstep.errors import DivergenceError, InputError, NotConvergedError, NoTheoryError

app = App(
    name="giantstep",
    help="What does a two-layer neural network learn from a few giant gradient steps?",
    version=__version__,
    result_action="return_value",
    # Ours is the sentence about an interrupt.
    suppress_keyboard_interrupt=False,
)
app.command(
    "giantstep.cli.analyze:analyze",
    help="Say what can be learned, before any simulation: exponents, staircase, floors.",
)
app.command(
    "giantstep.cli.activation:activation",
    help="Say what an activation can pick up: coefficients, slopes, response to the label.",
)
app.command(
    "giantstep.cli.learn:learn",
    help="Predict and simulate giant steps, side by side, step by step.",
)
app.command(
    "giantstep.cli.spectrum:spectrum",
    help="Spectra, outliers and losses at linear width: theory over the histogram.",
)
app.command(
    "giantstep.cli.sweep:sweep",
    help="Simulate and predict a grid of settings; stop and go on at any moment.",
)
app.command(
    "giantstep.cli.estimate:estimate_command",
    name="estimate",
    help="Predict what a setting would take: operations, memory, time.",
)
app.command(
    "giantstep.cli.claims:claims",
    help="Measure the claims of the papers and judge them.",
)
app.command("giantstep.cli.reproduce:reproduce", help="Draw the figures of the papers.")
app.command(
    "giantstep.cli.explore:explore",
    help="Open the explorer, a page on this machine: theory at once, runs landing on it.",
)
app.command("giantstep.cli.catalog:catalog", help="List the papers' targets by name.")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: bad input is one sentence on standard error and exit code 2.

    Exit 1 says that a run diverged or that an iteration did not converge, 130 that it was
    interrupted.  Anything else is a bug, and shows its traceback.
    """
    try:
        app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except (CycloptsError, InputError) as error:
        _stop(" ".join(str(error).split()), 2)
    except (DivergenceError, NoTheoryError, NotConvergedError) as error:
        _stop(str(error), 1)
    except KeyboardInterrupt as interrupt:
        _stop(str(interrupt) or "interrupted before anything was finished", 130)
    except BrokenPipeError:  # the reader of our output has gone, as ``head`` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        _stop(f"cannot use {error.filename!r}: {error.strerror}", 2)


def _stop(message: str, code: int) -> NoReturn:
    print(f"giantstep: {message}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
