"""The command line: parse, call, render."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Parameter

from giantstep import __version__
from giantstep.errors import InputError

app = App(
    name="giantstep",
    help="What does a two-layer neural network learn from a few giant gradient steps?",
    version=__version__,
    result_action="return_value",
)

# A target may begin with a minus sign: -x1 + x2 is no option.
TargetText = Annotated[str, Parameter(allow_leading_hyphen=True)]


@app.command
def analyze(
    target: TargetText,
    /,
    *,
    activation: Annotated[str, Parameter(allow_leading_hyphen=True)] = "relu",
    label_degree: int = 3,
    json: bool = False,
    out: Path | None = None,
    quiet: bool = False,
) -> None:
    """Say what can be learned, before any simulation: exponents, staircase, floors.

    Parameters
    ----------
    target:
        An expression such as "x1 + He2(x1)*x2", or a name of the catalog (giantstep catalog).
    activation:
        relu, erf, tanh, sigmoid, softplus, gelu, silu, sin, ... or an expression in z such as
        "He1 + He2/2".
    label_degree:
        Highest power of the label that reused batches are given.
    json:
        Print the record as JSON instead of tables.
    out:
        Folder to write analysis.json into; an existing file is never overwritten.
    quiet:
        Print nothing but what --json asks for.
    """
    from giantstep.analysis import analyze as run

    path = _reserve(out, "analysis.json")
    record = run(target, activation, label_degree=label_degree)
    _emit(record.as_dict(), json, path)
    if not json and not quiet:
        from giantstep.report import analysis_report, show

        show(analysis_report(record))


@app.command
def catalog(*, json: bool = False) -> None:
    """List the papers' targets by name.

    Parameters
    ----------
    json:
        Print the list as JSON instead of a table.
    """
    from giantstep.catalog import CATALOG

    entries = {
        name: {"expression": e.expression, "source": e.source, "remark": e.remark}
        for name, e in CATALOG.items()
    }
    _emit(entries, json, None)
    if not json:
        from giantstep.report import catalog_report, show

        show(catalog_report())


def _reserve(out: Path | None, name: str) -> Path | None:
    """The file to write, refused before any work is done if it is there already."""
    if out is None:
        return None
    path = out / name
    if path.exists():
        raise InputError(f"out already holds {name}, got {str(out)!r}")
    if out.exists() and not out.is_dir():
        raise InputError(f"out must be a folder, got the file {str(out)!r}")
    return path


def _emit(record: dict[str, Any], to_stdout: bool, path: Path | None) -> None:
    text = json.dumps(record, indent=2, allow_nan=False)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text + "\n")
    if to_stdout:
        print(text)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input is one sentence on standard error and exit code 2."""
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except (CycloptsError, InputError) as error:
        message = " ".join(str(error).split())
        print(f"giantstep: {message}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"giantstep: cannot write {error.filename!r}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(0)


if __name__ == "__main__":
    main()
