"""The examples for nginx, HAProxy and Caddy, run by the real programs in front of an upstream.

Their limits are those of the service, with the times and numbers made small here.
"""

import contextlib
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from tests.support.agent.agent_process import free_port
from tests.support.programs import program
from tests.support.smtp_sink import Certificate, make_certificate

DEPLOY = Path("deploy")
CONNECTIONS = 5


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
        ("listen 443 ssl;", f"listen 127.0.0.1:{front} ssl;"),
        ("/etc/nginx/mudra.pem", str(folder / "cert.pem")),
        ("/etc/nginx/mudra.key", str(folder / "key.pem")),
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
    pieces = [(folder / name).read_text() for name in ("cert.pem", "key.pem")]
    (folder / "both.pem").write_text("".join(pieces))
    (folder / "haproxy.cfg").write_text(
        changed(
            (DEPLOY / "haproxy/mudra.cfg").read_text(),
            ("10.0.0.1:8080", f"127.0.0.1:{nodes[0]}"),
            ("10.0.0.2:8080", f"127.0.0.1:{nodes[1]}"),
            ("bind :443", f"bind 127.0.0.1:{front}"),
            ("/etc/haproxy/mudra.pem", str(folder / "both.pem")),
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
            (
                "tokens.network.example {",
                f"https://127.0.0.1:{front} {{\n\ttls {folder}/cert.pem {folder}/key.pem",
            ),
            ("read_header 10s", "read_header 1s"),
            ("{\n\tservers {", "{\n\tadmin off\n\tauto_https off\n\tservers {"),
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


@dataclass(frozen=True)
class Proxy:
    """A running proxy, and what trusts its certificate."""

    name: str
    port: int
    tls: ssl.SSLContext

    def connect(self, timeout: float) -> ssl.SSLSocket:
        """Open a connection up to its first byte."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout)
        return self.tls.wrap_socket(plain, server_hostname="127.0.0.1")


def tls_of(certificate: Certificate) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=certificate.cert)


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
) -> Iterator[Proxy]:
    folder, front = tmp_path_factory.mktemp(request.param), free_port()
    certificate = make_certificate(folder)
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
            tls = tls_of(certificate)
            wait_for(process, front, folder / "said", tls)
            yield Proxy(request.param, front, tls)
        finally:
            process.terminate()
            process.wait(20)


def wait_for(
    process: "subprocess.Popen[bytes]", port: int, said: Path, tls: ssl.SSLContext
) -> None:
    deadline = time.monotonic() + 20
    while True:
        assert process.poll() is None, said.read_text()
        assert time.monotonic() < deadline, said.read_text()
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"https://127.0.0.1:{port}/", verify=tls).status_code == 200:
                return
        time.sleep(0.05)


def test_a_claimed_address_is_not_passed_on(proxy: Proxy) -> None:
    answer = httpx.get(
        f"https://127.0.0.1:{proxy.port}/", headers={"X-Forwarded-For": "6.6.6.6"}, verify=proxy.tls
    )

    assert (answer.status_code, answer.text) == (200, "127.0.0.1")


def test_a_body_above_the_limit_is_refused(proxy: Proxy) -> None:
    """By its announced length, or while it is passed on: nothing of it is stored at the proxy."""
    body = b" " * (17 << 20)
    with contextlib.suppress(httpx.TransportError):  # it may be cut off while it is sent
        answer = httpx.post(f"https://127.0.0.1:{proxy.port}/", content=body, verify=proxy.tls)
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


@pytest.mark.parametrize("answer", ["none", "503"])
def test_what_may_have_been_done_is_not_sent_to_another_node(proxy: Proxy, answer: str) -> None:
    """A node that dies, or answers 503 since it does not know, may have replaced a secret."""
    address = f"https://127.0.0.1:{proxy.port}{LOST}/{answer}"
    name = f"{proxy.name} {answer}"
    got = httpx.post(address, content=name.encode(), verify=proxy.tls)

    assert got.status_code in {502, 503, 504}
    assert posts.count(name) == 1
