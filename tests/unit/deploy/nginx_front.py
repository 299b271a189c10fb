"""Nginx in front of nodes, by the example of the documentation."""

import contextlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.support.agent.agent_process import free_port
from tests.support.programs import program

EXAMPLE = Path("deploy/nginx/mudra.conf")


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


@contextlib.contextmanager
def nginx(folder: Path, ports: list[int]) -> Iterator[str]:
    """Run the example of the documentation on loopback, without TLS; gives its address."""
    front = free_port()
    site = EXAMPLE.read_text()
    for number, port in enumerate(ports, start=1):
        site = site.replace(f"10.0.0.{number}:8080", f"127.0.0.1:{port}")
    site = re.sub(r"^ *ssl_.*\n", "", site, flags=re.MULTILINE)
    site = site.replace("listen 443 ssl;", f"listen 127.0.0.1:{front};")
    process = subprocess.Popen(nginx_words(folder, site))
    try:
        yield f"http://127.0.0.1:{front}"
    finally:
        process.terminate()
        process.wait(20)
