"""The examples for nginx, HAProxy and Caddy, run by the real programs in front of nodes.

Only addresses, files and limits differ: times and numbers are made small.
"""

import contextlib
import os
import pwd
import socket
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx2
from tests.support.programs import program
from tests.support.smtp_sink import make_certificate
from tests.support.until import PATIENCE_S, until

DEPLOY = Path("deploy")
CONNECTIONS = 5
"""So many an example permits to one address here."""


HAPROXY_RIGHTS = "    user haproxy\n    group haproxy\n    chroot /var/lib/haproxy\n"
"""What its two examples give up."""


@dataclass(frozen=True)
class Proxy:
    """A running proxy, and what trusts its certificate."""

    name: str
    port: int
    tls: ssl.SSLContext
    pid: int

    def connect(self, timeout: float) -> ssl.SSLSocket:
        """Open a connection up to its first byte."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout)
        return self.tls.wrap_socket(plain, server_hostname="127.0.0.1")

    def answers(self) -> bool:
        """Whether a request gets through, as none does while an address has too many connections."""
        with contextlib.suppress(httpx2.TransportError):
            address = f"https://127.0.0.1:{self.port}/livez"
            return httpx2.get(address, verify=self.tls).is_success
        return False


@contextlib.contextmanager
def running_proxy(name: str, folder: Path, front: int, nodes: Sequence[int]) -> Iterator[Proxy]:
    """Run an example on the port `front`, until the end of the block."""
    certificate = make_certificate(folder)
    words = PROXIES[name](folder, front, nodes)
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            words,
            stdout=said,
            stderr=said,
            env={"HOME": str(folder), "XDG_DATA_HOME": str(folder), "PATH": "/usr/bin:/bin"},
        )
    try:
        tls = ssl.create_default_context(cafile=certificate.cert)
        proxy = Proxy(name, front, tls, process.pid)
        _wait_for(process, proxy, folder / "said")
        yield proxy
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def can_give_rights_up() -> bool:
    """Whether HAProxy may become the user of Debian's package here, in its directory."""
    with contextlib.suppress(KeyError):
        return (
            os.geteuid() == 0
            and pwd.getpwnam("haproxy").pw_uid > 0
            and Path("/var/lib/haproxy").is_dir()
        )
    return False


def haproxy_text(text: str) -> str:
    """Return an example of HAProxy as it can be run here: only root gives rights up."""
    return text if can_give_rights_up() else changed(text, (HAPROXY_RIGHTS, ""))


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Replace each text, which must be there."""
    for theirs, ours in changes:
        assert theirs in text, theirs
        text = text.replace(theirs, ours)
    return text


def nginx_words(folder: Path, site: str) -> list[str]:
    """Return the command that runs nginx with this site, all of its files in a folder."""
    places = "\n".join(
        f"{name}_temp_path {folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off; {places}\n{site} }}\n"
    )
    return [program("nginx"), "-c", str(folder / "nginx.conf")]


def _nginx(folder: Path, front: int, nodes: Sequence[int]) -> list[str]:
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
    return nginx_words(folder, site)


def _haproxy(folder: Path, front: int, nodes: Sequence[int]) -> list[str]:
    pieces = [(folder / name).read_text() for name in ("cert.pem", "key.pem")]
    (folder / "both.pem").write_text("".join(pieces))
    (folder / "haproxy.cfg").write_text(
        changed(
            haproxy_text((DEPLOY / "haproxy/mudra.cfg").read_text()),
            ("10.0.0.1:8080", f"127.0.0.1:{nodes[0]}"),
            ("10.0.0.2:8080", f"127.0.0.1:{nodes[1]}"),
            ("bind :443", f"bind 127.0.0.1:{front}"),
            ("/etc/haproxy/mudra.pem", str(folder / "both.pem")),
            ("fd-hard-limit 40100", "fd-hard-limit 2100"),
            ("timeout http-request 10s", "timeout http-request 1s"),
            ("sc0_conn_cur gt 500", f"sc0_conn_cur gt {CONNECTIONS}"),
        )
    )
    return [program("haproxy"), "-db", "-f", str(folder / "haproxy.cfg")]


def _caddy(folder: Path, front: int, nodes: Sequence[int]) -> list[str]:
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


PROXIES = {"nginx": _nginx, "haproxy": _haproxy, "caddy": _caddy}


def _wait_for(process: "subprocess.Popen[bytes]", proxy: Proxy, said: Path) -> None:
    def answers() -> bool:
        assert process.poll() is None, said.read_text()
        return proxy.answers()

    until(answers, said.read_text)
