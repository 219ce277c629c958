"""``giantstep --version``."""

from __future__ import annotations

import giantstep
from giantstep.cli.output import Switch


def version(*, verbose: Switch = False) -> None:
    """Print the version.

    Parameters
    ----------
    verbose:
        Also print what a report of a problem needs: the versions of Python and of the libraries,
        the device, the number of threads and the platform.
    """
    if not verbose:
        print(giantstep.__version__)
        return
    import platform

    from giantstep.records.origin import device, versions
    from giantstep.simulation.threads import cores

    lines = versions() | {
        "device": device(),
        "threads": str(cores()),
        "platform": platform.platform(),
    }
    for name, text in lines.items():
        print(f"{name:10}{text}")
