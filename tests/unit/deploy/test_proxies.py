"""The examples for nginx, HAProxy and Caddy, run by the real programs in front of an upstream.

Their limits are those of the service, with the times and numbers made small here.
"""

import contextlib
import pwd
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from tests.support.agent.agent_process import free_port
from tests.support.until import until
from tests.unit.deploy.proxies import (
    CONNECTIONS,
    PROXIES,
    Proxy,
    can_give_rights_up,
    running_proxy,
)

LOST = "/lost"
posts: list[str] = []
"""What all nodes were sent to this path."""


class Upstream(BaseHTTPRequestHandler):
    """Answers with what it was sent as the client's address."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # the name that the base calls
        said = (self.headers.get("X-Forwarded-For") or "").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def do_POST(self) -> None:
        """Read all of the body, then answer."""
        with contextlib.suppress(ConnectionError):  # the proxy cut it off
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.startswith(LOST):
                posts.append(body.decode())
                self.close_connection = True
                if self.path.endswith("503"):
                    self.send_error(503)
                return
            self.do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def upstream() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module", params=PROXIES)
def proxy(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    folder, front = tmp_path_factory.mktemp(request.param), free_port()
    with (
        upstream() as one,
        upstream() as other,
        running_proxy(request.param, folder, front, [one, other]) as running,
    ):
        yield running


def test_a_claimed_address_is_not_passed_on(proxy: Proxy) -> None:
    answer = httpx2.get(
        f"https://127.0.0.1:{proxy.port}/", headers={"X-Forwarded-For": "6.6.6.6"}, verify=proxy.tls
    )

    assert (answer.status_code, answer.text) == (200, "127.0.0.1")


def test_a_body_above_the_limit_is_refused(proxy: Proxy) -> None:
    """By its announced length, or while it is passed on: nothing of it is stored at the proxy."""
    body = b" " * (17 << 20)
    with contextlib.suppress(httpx2.TransportError):  # it may be cut off while it is sent
        answer = httpx2.post(f"https://127.0.0.1:{proxy.port}/", content=body, verify=proxy.tls)
        # Caddy 2.6 sees it while the upstream reads: the upstream gets a body that is cut short.
        assert answer.status_code in ({413, 502} if proxy.name == "caddy" else {413})


def test_a_client_that_never_ends_its_header_is_cut_off(proxy: Proxy) -> None:
    began = time.monotonic()
    with proxy.connect(15) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        connection.settimeout(15)
        while connection.recv(1000):
            pass

    assert time.monotonic() - began < 10


@pytest.mark.parametrize("proxy", ["haproxy"], indirect=True)
def test_what_strangers_speak_to_is_not_root(proxy: Proxy) -> None:
    """Caddy and nginx of Debian are started so, or drop it by themselves."""
    if not can_give_rights_up():
        pytest.skip("needs root, and the user of Debian's package")
    status = Path(f"/proc/{proxy.pid}/status").read_text()
    users = re.findall(r"^Uid:\s+(.*)$", status, re.MULTILINE)[0].split()

    assert set(users) == {str(pwd.getpwnam("haproxy").pw_uid)}
    assert Path(f"/proc/{proxy.pid}/root").readlink() == Path("/var/lib/haproxy")


@pytest.mark.parametrize("proxy", ["haproxy"], indirect=True)
def test_one_address_holds_only_so_many_connections(proxy: Proxy) -> None:
    """nginx counts those with a request only; Caddy counts none."""
    answered = 0
    with contextlib.ExitStack() as stack:
        held = []
        for _ in range(CONNECTIONS + 3):
            with contextlib.suppress(ConnectionError):  # what is too many may be cut off at once
                opened = proxy.connect(5)
                held.append(stack.enter_context(opened))
        for connection in held:
            with contextlib.suppress(ConnectionError, TimeoutError):
                connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                connection.settimeout(3)
                answered += b" 200 " in connection.recv(1000)

    assert answered == CONNECTIONS
    until(proxy.answers)  # what was held is closed for the proxy too: other tests ask it


@pytest.mark.parametrize("answer", ["none", "503"])
def test_what_may_have_been_done_is_not_sent_to_another_node(proxy: Proxy, answer: str) -> None:
    """A node that dies, or answers 503 since it does not know, may have replaced a secret."""
    address = f"https://127.0.0.1:{proxy.port}{LOST}/{answer}"
    name = f"{proxy.name} {answer}"
    got = httpx2.post(address, content=name.encode(), verify=proxy.tls)

    assert got.status_code in {502, 503, 504}
    assert posts.count(name) == 1
