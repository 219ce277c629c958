"""``giantstep explore``: the web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from giantstep.cli.output import Whole
from giantstep.explorer.serve import serve


def explore(
    *,
    port: Whole = 8765,
    host: str = "127.0.0.1",
    folder: Path | None = None,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
) -> None:
    """Open a page to type targets, move sliders, see what theory predicts and watch simulations.

    Parameters
    ----------
    port:
        Where the server listens; 0 takes any port that is free.
    host:
        Address it listens at: this machine alone unless told otherwise; 0.0.0.0 for every address
        of the machine.  Only browsers that open the printed address, with its token, are answered.
    folder:
        A folder of stored sweeps that the page may open; it sees no other.
    browser:
        Open the page in a browser.
    """
    serve(host, port, folder, browser=browser)
