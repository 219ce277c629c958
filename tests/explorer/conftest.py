"""A real server on a free port of this machine, shared by the tests of the explorer."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

uvicorn = pytest.importorskip("uvicorn", reason="the explorer needs giantstep[app]")
pytest.importorskip("starlette", reason="the explorer needs giantstep[app]")
pytest.importorskip("plotly", reason="the explorer needs giantstep[app]")
httpx = pytest.importorskip("httpx", reason="the tests of the explorer ask with httpx")

from giantstep.explorer.guard import Access  # noqa: E402
from giantstep.explorer.server import make_app  # noqa: E402

PATIENCE = 180.0
"""Seconds a computation may take on a machine that has other work."""


@contextmanager
def _serving(access: Access, folder: object = None) -> Iterator[str]:
    """The address of a server that lives as long as the block."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = make_app(access, folder)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(PATIENCE)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with _serving(Access()) as found:
        yield found


@pytest.fixture
def serving() -> Callable[..., AbstractContextManager[str]]:
    """A server of one's own: serving(access, folder) as a context, which gives its address."""
    return _serving


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    headers = {"x-giantstep-page": "test"}
    with httpx.Client(base_url=address, headers=headers, timeout=PATIENCE) as found:
        yield found
