"""The examples for nginx, HAProxy and Caddy, run by the real programs in front of an upstream.

Their limits are those of the service, with the times and numbers made small here.
"""

import contextlib
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from tests.support.agent.agent_process import free_port
from tests.support.programs import program
from tests.support.service import NO_TLS

DEPLOY = Path("deploy")
CONNECTIONS = 5


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
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def changed(text: str, *changes: tuple[str, str]) -> str:
    for theirs, ours in changes:
        assert theirs in text, theirs
        text = text.replace(theirs, ours)
    return text


def nginx(folder: Path, front: int, nodes: list[int]) -> list[str]:
    site = changed(
        (DEPLOY / "nginx/mudra.conf").read_text(),
        ("10.0.0.1:8080", f"127.0.0.1:{nodes[0]}"),
        ("10.0.0.2:8080", f"127.0.0.1:{nodes[1]}"),
        ("listen 80;", f"listen 127.0.0.1:{front};"),
        ("client_header_timeout 10s", "client_header_timeout 1s"),
        ("limit_conn mudra 500", f"limit_conn mudra {CONNECTIONS}"),
    )
    temporary = "\n".join(
        f"{name}_temp_path {folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off; {temporary}\n{site} }}\n"
    )
    return [program("nginx"), "-c", str(folder / "nginx.conf")]


def haproxy(folder: Path, front: int, nodes: list[int]) -> list[str]:
    (folder / "haproxy.cfg").write_text(
        changed(
            (DEPLOY / "haproxy/mudra.cfg").read_text(),
            ("10.0.0.1:8080", f"127.0.0.1:{nodes[0]}"),
            ("10.0.0.2:8080", f"127.0.0.1:{nodes[1]}"),
            (
                "bind :443 ssl crt /etc/haproxy/mudra.pem alpn h2,http/1.1",
                f"bind 127.0.0.1:{front}",
            ),
            ("maxconn 20000", "maxconn 1000"),
            ("timeout http-request 10s", "timeout http-request 1s"),
            ("sc0_conn_cur gt 500", f"sc0_conn_cur gt {CONNECTIONS}"),
        )
    )
    return [program("haproxy"), "-db", "-f", str(folder / "haproxy.cfg")]


def caddy(folder: Path, front: int, nodes: list[int]) -> list[str]:
    (folder / "Caddyfile").write_text(
        changed(
            (DEPLOY / "caddy/Caddyfile").read_text(),
            ("10.0.0.1:8080", f"127.0.0.1:{nodes[0]}"),
            ("10.0.0.2:8080", f"127.0.0.1:{nodes[1]}"),
            ("tokens.network.example", f"http://127.0.0.1:{front}"),
            ("read_header 10s", "read_header 1s"),
            ("{\n\tservers {", "{\n\tadmin off\n\tservers {"),
        )
    )
    return [
        program("caddy"),
        "run",
        "--config",
        str(folder / "Caddyfile"),
        "--adapter",
        "caddyfile",
    ]


PROXIES = {"nginx": nginx, "haproxy": haproxy, "caddy": caddy}


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
) -> Iterator[tuple[str, int]]:
    folder, front = tmp_path_factory.mktemp(request.param), free_port()
    with upstream() as one, upstream() as other:
        words = PROXIES[request.param](folder, front, [one, other])
        with (folder / "said").open("wb") as said:
            process = subprocess.Popen(
                words,
                stdout=said,
                stderr=said,
                env={"HOME": str(folder), "XDG_DATA_HOME": str(folder), "PATH": "/usr/bin:/bin"},
            )
        try:
            wait_for(process, front, folder / "said")
            yield request.param, front
        finally:
            process.terminate()
            process.wait(20)


def wait_for(process: "subprocess.Popen[bytes]", port: int, said: Path) -> None:
    deadline = time.monotonic() + 20
    while True:
        assert process.poll() is None, said.read_text()
        assert time.monotonic() < deadline, said.read_text()
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/", verify=NO_TLS).status_code == 200:
                return
        time.sleep(0.05)


def test_a_claimed_address_is_not_passed_on(proxy: tuple[str, int]) -> None:
    answer = httpx.get(
        f"http://127.0.0.1:{proxy[1]}/", headers={"X-Forwarded-For": "6.6.6.6"}, verify=NO_TLS
    )

    assert (answer.status_code, answer.text) == (200, "127.0.0.1")


def test_a_body_above_the_limit_is_refused(proxy: tuple[str, int]) -> None:
    """By its announced length, or while it is passed on: nothing of it is stored at the proxy."""
    body = b" " * (17 << 20)
    with contextlib.suppress(httpx.TransportError):  # it may be cut off while it is sent
        answer = httpx.post(f"http://127.0.0.1:{proxy[1]}/", content=body, verify=NO_TLS)
        # Caddy 2.6 sees it while the upstream reads: the upstream gets a body that is cut short.
        assert answer.status_code in ({413, 502} if proxy[0] == "caddy" else {413})


def test_a_client_that_never_ends_its_header_is_cut_off(proxy: tuple[str, int]) -> None:
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", proxy[1]), 15) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        connection.settimeout(15)
        while connection.recv(1000):
            pass

    assert time.monotonic() - began < 10


@pytest.mark.parametrize("proxy", ["haproxy"], indirect=True)
def test_one_address_holds_only_so_many_connections(proxy: tuple[str, int]) -> None:
    """nginx counts those with a request only; Caddy counts none."""
    answered = 0
    with contextlib.ExitStack() as stack:
        held = []
        for _ in range(CONNECTIONS + 3):
            with contextlib.suppress(ConnectionError):  # what is too many may be cut off at once
                opened = socket.create_connection(("127.0.0.1", proxy[1]), 5)
                held.append(stack.enter_context(opened))
        for connection in held:
            with contextlib.suppress(ConnectionError, TimeoutError):
                connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                connection.settimeout(3)
                answered += b" 200 " in connection.recv(1000)

    assert answered == CONNECTIONS
