"""`make advisories`: what OSV knows of the packages in our lock files."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from tests.support.until import PATIENCE_S

ROOT = Path(__file__).parents[3]


class Osv(BaseHTTPRequestHandler):
    """Answers as OSV does; knows advisories by name of package."""

    known: ClassVar[dict[str, list[str]]] = {}
    asked: ClassVar[list[dict[str, object]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.extend(body["queries"])
        ids = [self.known.get(one["package"]["name"], []) for one in body["queries"]]
        results = [{"vulns": [{"id": each} for each in some]} if some else {} for some in ids]
        answer = json.dumps({"results": results}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def osv() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Osv) as server:
        threading.Thread(target=server.serve_forever).start()
        Osv.known, Osv.asked = {}, []
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def advisories(osv: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "tools.advisories", "--osv", osv],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert not done.stderr
    return done.returncode, done.stdout


def test_every_package_of_every_lock_file_is_asked_about(osv: str) -> None:
    code, said = advisories(osv)

    asked = {(one["package"]["ecosystem"], one["package"]["name"]) for one in Osv.asked}
    assert asked >= {
        *[("PyPI", name) for name in ("cryptography", "psycopg-binary", "uv", "patroni", "flask")],
        *[("npm", name) for name in ("echarts", "htmx.org", "jose")],
    }
    assert ("PyPI", "mudra") not in asked
    assert code == 0
    assert said.endswith("lock files, 0 advisories\n")


def test_what_is_known_is_named_with_the_file_that_brings_it(osv: str) -> None:
    Osv.known = {"echarts": ["CVE-2099-1"], "cryptography": ["PYSEC-2099-2", "GHSA-x"]}

    code, said = advisories(osv)

    assert code == 1
    lines = said.splitlines()
    assert len([one for one in lines if one.startswith("cryptography 5")]) >= 2
    (charts,) = [one for one in lines if one.startswith("echarts 6")]
    assert charts.endswith("/CVE-2099-1 (src/mudra/console/assets/package-lock.json)")


def test_without_a_network_one_sentence_says_that_nothing_was_checked() -> None:
    code, said = advisories("http://127.0.0.1:1")

    assert code == 3
    assert said.startswith("nothing was checked: ")
    assert said.count("\n") == 1
