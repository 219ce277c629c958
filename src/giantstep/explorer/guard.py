"""Who may ask: pages of this server, opened with its token; and what a page may load."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "giantstep_token"
TOKEN_MISSING = "open the address with the token that the server printed"
PAGE = "x-giantstep-page"
"""Header with the name of the page that asks: no form and no foreign page can send it."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Scripts and styles from this server alone; pictures also from what the page itself has drawn."""

HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@dataclass(frozen=True)
class Access:
    """Where the server listens, and the token without which nobody is answered.

    The loopback address has one too: it is open to every user of a shared machine.
    """

    host: str
    token: str

    @classmethod
    def at(cls, host: str) -> Access:
        """An address with a new token."""
        return cls(host, secrets.token_urlsafe(24))

    def knows(self, name: str) -> bool:
        """Whether a Host header is one of this server: not a foreign name that leads here."""
        try:
            host = urlsplit(f"//{name}").hostname or ""
        except ValueError:
            return False
        if host in LOOPBACK or host == self.host.lower():
            return True
        if self.host in LOOPBACK:
            return False
        machine = {socket.gethostname().lower(), socket.getfqdn().lower()}
        # An address is as good as a name: only names can be led astray.
        return host in machine or _is_address(host)

    def accepts(self, given: str | None) -> bool:
        """Whether this is the token, in a time that does not tell how much of it is right."""
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())


def cookie_name(host: str) -> str:
    """The cookie of a server by its Host header: those of other ports are kept beside it."""
    port = host.rpartition(":")[2]
    return f"{COOKIE}_{port if port.isdecimal() else 80}"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Guard:
    """ASGI middleware: refuses foreign hosts, foreign origins and missing tokens; adds headers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self.refusal(scope, headers)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                held = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    held[name] = value
            await send(message)

        await (self.app if refusal is None else refusal)(scope, receive, guarded)

    def refusal(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """The answer to a request that may not pass, None for one that may."""
        if not self.access.knows(headers.get("host", "")):
            return PlainTextResponse("this server answers to its own address only", 421)
        if not _same_origin(headers):
            return PlainTextResponse("this server answers its own pages only", 403)
        if scope["method"] not in ("GET", "HEAD") and not headers.get(PAGE):
            return PlainTextResponse(f"the header {PAGE} is missing", 403)
        cookie = cookie_name(headers["host"])
        query = parse_qs(scope["query_string"].decode("ascii", "replace"))
        [given] = query.pop("token", [None])[:1]
        if scope["path"] == "/" and self.access.accepts(given):
            return self._welcome(cookie, urlencode(query, doseq=True))
        if not self.access.accepts(_cookie(headers.get("cookie", ""), cookie)):
            return PlainTextResponse(TOKEN_MISSING, 403)
        return None

    def _welcome(self, cookie: str, query: str) -> Response:
        """The token goes from the address into a cookie: it stays in no history."""
        response = RedirectResponse("/" if not query else f"/?{query}", 303)
        response.set_cookie(cookie, self.access.token, httponly=True, samesite="strict")
        return response


def _same_origin(headers: Mapping[str, str]) -> bool:
    origin = headers.get("origin")
    if origin is not None:
        try:
            return urlsplit(origin).netloc == headers.get("host")
        except ValueError:
            return False
    return headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _cookie(text: str, name: str) -> str | None:
    try:
        cookie = SimpleCookie(text).get(name)
    except CookieError:
        return None
    return None if cookie is None else cookie.value
