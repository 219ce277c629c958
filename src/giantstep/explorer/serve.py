"""Start the server, say where it is once it answers at once, open the page."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from giantstep.errors import InputError

if TYPE_CHECKING:  # help and complaints need no web server
    from giantstep.explorer.guard import Access

ANYWHERE = {
    "0.0.0.0": (socket.AF_INET, "192.0.2.1"),
    "::": (socket.AF_INET6, "2001:db8::1"),
}
"""Hosts that mean every address of the machine, each with an address kept for documentation."""


def serve(host: str, port: int, folder: Path | None, *, browser: bool) -> None:
    """Serve until interrupted; ``port`` 0 takes any that is free."""
    try:
        import plotly  # noqa: F401 - its JavaScript is what is served
        import uvicorn

        from giantstep.explorer.guard import Access
        from giantstep.explorer.server import make_app
    except ImportError as error:
        raise InputError(
            f"the explorer needs {error.name}, which is not installed: pip install giantstep[app]"
        ) from None
    if folder is not None and not folder.is_dir():
        raise InputError(f"folder must be one of results, got {str(folder)!r}")
    listening = listening_at(host, port)
    access = Access.at(host)
    address = page_address(access, listening.getsockname()[1])

    def ready() -> None:
        print(f"giantstep explore: {address}  (Ctrl-C ends it)", file=sys.stderr, flush=True)
        # In a thread: a browser that is started may keep its caller waiting.
        if browser:
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()

    app = make_app(access, folder, ready)

    class Server(uvicorn.Server):
        """Ends the streams of running jobs first: they would keep it from stopping."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            app.state.jobs.close()
            super().handle_exit(sig, frame)

    settings = uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    with suppress(KeyboardInterrupt):  # the way to end it, passed on once everything has ended
        Server(settings).run(sockets=[listening])


def page_address(access: Access, port: int) -> str:
    """The address to open, with the token; one that other machines reach where they may."""
    host = outward_address(access.host) if access.host in ANYWHERE else access.host
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/?token={access.token}"


def outward_address(host: str) -> str:
    """The address at which other machines find this one, which listens at all of its own.

    It is the one from which packets to the network would be sent; none is.  Without a network it is
    the name of the machine.
    """
    family, elsewhere = ANYWHERE[host]
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((elsewhere, 9))
        return str(probe.getsockname()[0])
    return socket.gethostname()


def listening_at(host: str, port: int) -> socket.socket:
    """A socket of the server, whose answers are sent as soon as they are written."""
    if not 0 <= port < 2**16:
        raise InputError(f"port must be in 0..65535, got {port}")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError(f"cannot listen at {host}:{port}: {error.strerror}") from None
    # Connections inherit it.  Else the body of an answer may wait 40 ms for word of its head.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
