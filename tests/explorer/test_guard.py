"""Who is answered: this machine's own pages, and elsewhere those who have the token."""

import re
import socket
import urllib.parse

import httpx
import pytest

from giantstep.errors import InputError
from giantstep.explorer.guard import PAGE, POLICY, Access, cookie_name
from giantstep.explorer.serve import listening_at, page_address, serve

OWN = {PAGE: "test"}
TOKEN = "token-of-the-tests"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "0.0.0.0", "192.168.0.7", "::"])
def test_every_address_has_a_token_of_its_own(host: str) -> None:
    access = Access.at(host)
    assert len(access.token) >= 32
    assert page_address(access, 80).endswith(f":80/?token={access.token}")
    assert Access.at(host).token != access.token


def test_the_address_for_others_is_one_that_they_can_reach(monkeypatch) -> None:
    asked = []

    class Probe(socket.socket):
        def connect(self, address) -> None:
            asked.append(address[0])

        def getsockname(self) -> tuple[str, int]:
            return "192.168.0.7", 40_000

    monkeypatch.setattr(socket, "socket", Probe)
    assert page_address(Access("0.0.0.0", "t"), 80) == "http://192.168.0.7:80/?token=t"
    assert asked == ["192.0.2.1"]  # an address of nobody, to which nothing is sent

    def unreachable(self, address) -> None:
        raise OSError("network is unreachable")

    monkeypatch.setattr(Probe, "connect", unreachable)
    assert page_address(Access("0.0.0.0", "t"), 80) == f"http://{socket.gethostname()}:80/?token=t"
    assert Access("0.0.0.0", "t").knows(f"{socket.gethostname()}:80")


@pytest.mark.parametrize("path", ["/", "/static/main.js", "/plotly.js", "/api/vocabulary", "/no"])
def test_every_answer_has_the_policy(client, path) -> None:
    answer = client.get(path)
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_the_policy_lets_nothing_in_from_elsewhere_and_nothing_inline() -> None:
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert "unsafe" not in POLICY
    assert "http" not in POLICY


def test_the_page_has_no_inline_script_style_or_foreign_address(client) -> None:
    page = client.get("/").text
    assert re.findall(r"<script(?![^>]* src=)", page) == []
    assert "<style" not in page
    assert re.findall(r'\s(?:style|on\w+)="', page) == []
    assert re.findall(r'(?:src|href)="(?!/static/|#)', page) == []
    # The sheets that Plotly would otherwise write into the page.
    script = client.get("/plotly.js").text
    for name in re.findall(r'getElementById\("([0-9a-f]{64})"\)', script):
        assert f'id="{name}"' in page


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.168.0.7", "", "["])
def test_a_foreign_host_is_refused(client, host) -> None:
    assert client.get("/", headers={"host": host}).status_code in (400, 421)
    known = {"host": "localhost:1", "cookie": f"giantstep_token_1={TOKEN}"}
    assert client.get("/", headers=known).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_foreign_origin_is_refused(client, headers) -> None:
    body = {"target": "x1", "activation": "relu"}
    assert client.post("/api/analyze", json=body, headers=headers).status_code == 403
    own = {"origin": str(client.base_url).rstrip("/"), "sec-fetch-site": "same-origin"}
    assert client.post("/api/analyze", json=body, headers=own).status_code == 200


def test_a_request_that_a_form_could_send_is_refused(address, ticket) -> None:
    body = {"kind": "learn", "setting": {"target": "x1"}}
    missing = "the header x-giantstep-page is missing"
    assert httpx.post(f"{address}/api/jobs", json=body, headers=ticket).text == missing
    assert httpx.delete(f"{address}/api/jobs/none", headers=ticket).text == missing
    assert httpx.delete(f"{address}/api/jobs/none", headers=ticket | OWN).status_code == 404


def test_tokens_of_servers_at_other_ports_are_kept_beside(address, ticket) -> None:
    other = f"giantstep_token_9=foreign; {ticket['cookie']}"
    assert httpx.get(address, headers={"cookie": other}).status_code == 200
    assert httpx.get(address, headers={"cookie": f"giantstep_token_9={TOKEN}"}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_only_the_token_opens_the_page(serving, host: str) -> None:
    access = Access(host, "secret")
    with serving(access) as address, httpx.Client(base_url=address, headers=OWN) as client:
        for path in ("/", "/api/vocabulary", "/static/main.js", "/?token=wrong", "/?token="):
            assert client.get(path).status_code == 403
        name = cookie_name(urllib.parse.urlsplit(address).netloc)
        for wrong in ("wrong", "secre", "", "s\u00e9cret"):
            cookie = {"cookie": f"{name}={wrong}".encode()}
            assert client.get("/", headers=cookie).status_code == 403
        for path, method in (("/api/jobs", "POST"), ("/api/jobs/none", "DELETE")):
            assert client.request(method, path, json={}).status_code == 403
        opened = client.get("/?token=secret")
        assert opened.status_code == 303
        assert "secret" not in opened.headers["location"]
        kept = opened.headers["set-cookie"].lower()
        assert "httponly" in kept
        assert "samesite=strict" in kept
        assert client.get("/").status_code == 200
        assert client.get("/", headers={"host": "evil.example"}).status_code == 421
        elsewhere = {"host": "192.168.0.7:80", "cookie": "giantstep_token_80=secret"}
        reached = client.get("/", headers=elsewhere)
        assert reached.status_code == (421 if host == "127.0.0.1" else 200)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../guard.py",
        "/static/..%2fguard.py",
        "/static//etc/passwd",
        "/static/%2e%2e/%2e%2e/",
    ],
)
def test_no_address_leaves_the_static_files(address, ticket, path) -> None:
    host, port = urllib.parse.urlsplit(address).netloc.split(":")
    with socket.create_connection((host, int(port))) as line:
        head = f"Host: {host}:{port}\r\nCookie: {ticket['cookie']}"
        line.sendall(f"GET {path} HTTP/1.0\r\n{head}\r\n\r\n".encode())
        answer = b"".join(iter(lambda: line.recv(4096), b""))
    assert answer.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400"))


def test_a_port_or_a_folder_that_cannot_be_is_a_sentence(tmp_path) -> None:
    with pytest.raises(InputError, match=r"port must be in 0..65535, got 70000"):
        serve("127.0.0.1", 70_000, None, browser=False)
    with pytest.raises(InputError, match="folder must be"):
        serve("127.0.0.1", 0, tmp_path / "none", browser=False)
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(InputError, match="cannot listen at"),
    ):
        serve("127.0.0.1", taken.getsockname()[1], None, browser=False)


def test_answers_do_not_wait_for_each_other() -> None:
    """A connection that waits for word of an answer's head before its body adds 40 ms to most."""
    with (
        listening_at("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
