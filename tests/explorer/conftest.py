"""A real server on a free port of this machine, and a real browser that looks at it."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

uvicorn = pytest.importorskip("uvicorn", reason="the explorer needs giantstep[app]")
pytest.importorskip("starlette", reason="the explorer needs giantstep[app]")
pytest.importorskip("plotly", reason="the explorer needs giantstep[app]")
httpx = pytest.importorskip("httpx", reason="the tests of the explorer ask with httpx")

from giantstep.explorer.guard import Access  # noqa: E402
from giantstep.explorer.server import make_app  # noqa: E402

PATIENCE = 180.0
"""Seconds a computation may take on a machine that has other work."""

REFINING = "document.body.innerText.includes('being refined')"
"""Between a draft that is drawn and the whole prediction a page asks for nothing."""


@contextmanager
def _serving(access: Access, folder: object = None, unasked: float = PATIENCE) -> Iterator[str]:
    """The address of a server that lives as long as the block."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = make_app(access, folder, unasked=unasked)
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


NAMES = ("chromium", "chromium-browser", "google-chrome")
"""What Chromium is called on the machines where it is found."""

WATCH = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium; the tests that need it are skipped where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright to lead a browser")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"the page is not tested in a browser: none of {', '.join(NAMES)} on PATH")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield launched
        launched.close()


class Visit:
    """One window of the browser, and everything that went wrong in it.

    ``faults``: what the console complains of, uncaught errors, breaches of the policy, and requests
    to anywhere but the server.  ``allowed``: parts of complaints that a test provokes.
    """

    def __init__(self, context: Any, address: str) -> None:
        self.address = address
        self.faults: list[str] = []
        self.allowed: list[str] = []
        self.headers: dict[str, str] = {}
        self._pending: set[Any] = set()
        context.set_default_timeout(1000 * PATIENCE)
        context.add_init_script(WATCH)
        context.on("console", self._heard)
        context.on("weberror", lambda error: self.faults.append(f"uncaught: {error.error}"))
        context.on("request", self._asked)
        for end in ("requestfinished", "requestfailed"):
            context.on(end, lambda request: self._pending.discard(request))
        self.page = context.new_page()

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text}")

    def _asked(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("data", "blob"):
            return
        if f"{parts.scheme}://{parts.netloc}" != self.address:
            self.faults.append(f"request: {request.url}")
        if not parts.path.endswith("/events"):
            self._pending.add(request)
        if parts.path.startswith("/api/"):
            self.headers = request.headers

    def open(self, state: str = "") -> Any:
        """The page in the state of an address, once it has nothing more to ask."""
        self.page.goto(f"{self.address}/#{state}")
        self.page.wait_for_selector("[role=tabpanel]:not([hidden]) *")
        self.settle()
        return self.page

    def settle(self, quiet: float = 0.4) -> None:
        """Wait until nothing is asked or about to be refined, longer than a page waits to ask."""
        end, still = time.monotonic() + PATIENCE, time.monotonic()
        while time.monotonic() - still < quiet:
            self.page.wait_for_timeout(50)
            if self._pending or self.page.evaluate(REFINING):
                assert time.monotonic() < end, "the page still waits for an answer"
                still = time.monotonic()

    def check(self) -> None:
        """Nothing went wrong but what was provoked."""
        found = [f for f in self.faults if not any(words in f for words in self.allowed)]
        assert found == []


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Visit]]:
    """A window of one's own: visit(width, height, **options of the context), watched to its end."""
    with ExitStack() as stack:
        visits = []

        def opened(width: int = 1280, height: int = 900, **options: Any) -> Visit:
            context = browser.new_context(viewport={"width": width, "height": height}, **options)
            stack.callback(context.close)
            visits.append(Visit(context, address))
            return visits[-1]

        yield opened
        for made in visits:
            made.check()
