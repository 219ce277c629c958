"""A real server on a free port of this machine, and a real browser that looks at it."""

from __future__ import annotations

import shutil
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from _pytest.runner import runtestprotocol

uvicorn = pytest.importorskip("uvicorn", reason="the explorer needs giantstep[app]")
pytest.importorskip("starlette", reason="the explorer needs giantstep[app]")
pytest.importorskip("plotly", reason="the explorer needs giantstep[app]")
httpx = pytest.importorskip("httpx", reason="the tests of the explorer ask with httpx")

from giantstep.explorer.guard import Access, cookie_name  # noqa: E402
from giantstep.explorer.server import make_app  # noqa: E402

PATIENCE = 180.0
"""Seconds a computation may take on a machine that has other work."""

AT_REST = """async () => {
  const frame = () => new Promise((drawn) => window.requestAnimationFrame(drawn));
  await frame().then(frame);
  return window.due.size === 0 && !document.body.innerText.includes("being refined");
}"""
"""No timer will go off; between a draft and the whole prediction a page asks for nothing."""


TOKEN = "token-of-the-tests"

SERVED: dict[str, Any] = {}
"""The applications that are served, by address."""


@contextmanager
def _serving(access: Access, folder: object = None, unasked: float = PATIENCE) -> Iterator[str]:
    """The address of a server that lives as long as the block."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = make_app(access, folder, unasked=unasked)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server has not started"
        time.sleep(0.02)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    SERVED[address] = app
    yield address
    server.should_exit = True
    thread.join(PATIENCE)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with _serving(Access("127.0.0.1", TOKEN)) as found:
        yield found


def _ticket(address: str) -> dict[str, str]:
    return {"cookie": f"{cookie_name(urlsplit(address).netloc)}={TOKEN}"}


@pytest.fixture(scope="session")
def ticket(address: str) -> dict[str, str]:
    """The header of those who have opened the page with its token."""
    return _ticket(address)


@pytest.fixture
def serving() -> Callable[..., AbstractContextManager[str]]:
    """A server of one's own: serving(access, folder) as a context, which gives its address."""
    return _serving


@pytest.fixture
def calls(address: str) -> Callable[[], dict[tuple[str, str], object]]:
    """What the server computes at this moment: the newest call of each (page, task)."""
    return lambda: dict(SERVED[address].state.pool._latest)


@pytest.fixture
def computing(address: str) -> Callable[[], int]:
    """The number of processes of the server that have been given something to do."""
    pool = SERVED[address].state.pool
    return lambda: len(pool._all) - len(pool._idle)


@pytest.fixture
def client(address: str, ticket: dict[str, str]) -> Iterator[httpx.Client]:
    headers = {"x-giantstep-page": "test"} | ticket
    with httpx.Client(base_url=address, headers=headers, timeout=PATIENCE) as found:
        yield found


NAMES = ("chromium", "chromium-browser", "google-chrome")
"""What Chromium is called on the machines where it is found."""

FLAGS = (
    "--no-sandbox",  # root, as in a container, has none
    "--disable-dev-shm-usage",  # /dev/shm of a container holds 64 MiB, less than a page
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)
"""What keeps Chromium small, and to itself."""

WATCH = """
  document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`));
  const {setTimeout: set, clearTimeout: clear} = window;
  window.due = new Set();
  window.setTimeout = (run, wait, ...given) => {
    const at = set(() => { window.due.delete(at); run(...given); }, wait);
    window.due.add(at);
    return at;
  };
  window.clearTimeout = (at) => { window.due.delete(at); clear(at); };
"""
"""Breaches of the policy are told to the console, and timers that will go off are known."""

DEATHS = ("Target crashed", "Page crashed", "Target closed", "has been closed", "disconnected")
"""What Playwright says where a tab or the whole browser is gone."""


def _died(report: pytest.TestReport) -> bool:
    words = report.longreprtext if report.failed else ""
    return "playwright" in words and any(death in words for death in DEATHS)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A test whose tab or browser dies begins anew, once, and a warning of the report says so.

    A crash on a small machine is no failure of the page; one that comes again is.
    """
    if "browser" not in getattr(item, "fixturenames", ()):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if any(map(_died, reports)):
        with warnings.catch_warnings():
            warnings.simplefilter("always")  # told, not an error as other warnings are
            item.warn(pytest.PytestWarning("the browser died, and the test began anew"))
        item._initrequest()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="module")
def browser() -> Iterator[Callable[[], Any]]:
    """Headless Chromium by a call, launched anew where it has died.

    The tests that need it are skipped where there is none.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright to lead a browser")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"the page is not tested in a browser: none of {', '.join(NAMES)} on PATH")
    with sync_api.sync_playwright() as playwright:
        launched: list[Any] = []

        def alive() -> Any:
            if not launched or not launched[-1].is_connected():
                launched.append(playwright.chromium.launch(executable_path=path, args=FLAGS))
            return launched[-1]

        yield alive
        for each in launched:
            each.close()


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
        [(cookie, value)] = [_ticket(address)["cookie"].split("=")]
        context.add_cookies([{"name": cookie, "value": value, "url": address}])
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
        self.page.wait_for_selector("[role=tabpanel]:not([hidden]) *:visible")
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait until nothing is asked, about to be asked or drawn, twice in a row."""
        end, quiet = time.monotonic() + PATIENCE, 0
        while quiet < 2:
            self.page.wait_for_timeout(50)
            quiet = quiet + 1 if self.page.evaluate(AT_REST) and not self._pending else 0
            assert quiet or time.monotonic() < end, "the page still waits for an answer"

    def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds, with the page at work."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            self.page.wait_for_timeout(50)

    def check(self) -> None:
        """Nothing went wrong but what was provoked."""
        found = [f for f in self.faults if not any(words in f for words in self.allowed)]
        assert found == []


@pytest.fixture
def visit(browser: Callable[[], Any], address: str) -> Iterator[Callable[..., Visit]]:
    """A window of one's own: visit(width, height, **options of the context), watched to its end."""
    with ExitStack() as stack:
        visits = []

        def opened(width: int = 1280, height: int = 900, **options: Any) -> Visit:
            context = browser().new_context(viewport={"width": width, "height": height}, **options)
            stack.callback(context.close)
            visits.append(Visit(context, address))
            return visits[-1]

        yield opened
        for made in visits:
            made.check()


SHIFTS = """
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      const who = entry.sources.map(({node}) => node?.className || node?.nodeName);
      window.shifts.push([entry.value, who.join(" ")]);
    }
  }).observe({type: "layout-shift", buffered: true});
"""
"""Layout shifts, as Chromium scores them: the share of the window that moved times how far."""


@pytest.fixture
def shifts() -> str:
    """The script that keeps layout shifts in window.shifts, to be added before a page is opened."""
    return SHIFTS
