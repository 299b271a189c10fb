"""Lines that real nginx, HAProxy and Envoy write in the formats of the reference, and what counts."""

import contextlib
import http.server
import json
import re
import socket
import subprocess
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.support.agent.agent_process import free_port
from tests.support.documents.blocks import blocks_of
from tests.support.programs import program
from tests.support.until import PATIENCE_S, until
from tests.unit.deploy.proxies import nginx_words

from mudra.agent.clock import MachineClock
from mudra.agent.counting.event import Call, FiStatus
from mudra.agent.sources.logs.access_log import LineReader
from mudra.agent.sources.logs.log_formats import FORMATS
from mudra.agent.sources.route import Peers, SourceContext

PAGE = "docs/reference/agent-sources.md"
CALLS = {
    # what the application asks for: (the FIP, the path), and the status that counts; 0: none
    "answered": ("fip", "/v2/Consent", 200),
    "refused by the FIP": ("fip", "/v2/FI/request?status=403", 403),
    "failed at the FIP": ("fip", "/v2/FI/fetch?status=503", 503),
    "its own gateway's time-out": ("fip", "/v2/Accounts/link?status=504", 504),
    "no one listens": ("gone", "/v2/Consent", 0),
    "too slow": ("fip", "/v2/Accounts/discover?wait=3", 0),
    "cut off": ("fip", "/v2/Accounts/delink?status=0", 0),
    "denied by the proxy": ("fip", "/denied/Consent", 0),
}
OF_ENVOY = {
    "no server of that name": ("none", "/v2/Consent", 0),
    "no healthy server": ("empty", "/v2/Consent", 0),
    "200 of a rule": ("fip", "/own/Consent", 0),
}


class _Fip(http.server.BaseHTTPRequestHandler):
    """Answers as the query asks; 0 is no answer at all."""

    def do_POST(self) -> None:
        asked = dict(re.findall(r"(\w+)=(\d+)", self.path))
        time.sleep(int(asked.get("wait", 0)))
        status = int(asked.get("status", 200))
        if not status:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(status)
        for name in ("X-Fip-Id: FIP-7", "X-Session-Id: S-1", "X-Fi-Statuses: READY,DENIED"):
            self.send_header(*name.split(": "))
        self.send_header("Content-Length", "2")
        self.end_headers()
        with contextlib.suppress(OSError):  # the proxy has given up
            self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def fip() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Fip)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def _format(kind: str, named: str = "") -> str:
    (block,) = (one for one in blocks_of(PAGE) if one.kind == kind and named in one.first)
    return block.body


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextlib.contextmanager
def _running(words: list[str], port: int, log: Path) -> Iterator[None]:
    with log.open("ab") as output:
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.DEVNULL)
    try:
        until(lambda: _listens(port))
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


@contextlib.contextmanager
def _nginx(folder: Path, fip: int, log: Path) -> Iterator[int]:
    port, gone = free_port(), free_port()
    site = f"""
      {_format("nginx", "fips")}
      {_format("nginx", "notices")}
      upstream fip.example {{ server 127.0.0.1:{fip}; }}
      upstream gone.example {{ server 127.0.0.1:{gone}; }}
      server {{
        listen 127.0.0.1:{port};
        access_log {log} fips;
        proxy_read_timeout 1s;
        location /denied {{ deny all; proxy_pass http://fip.example; }}
        location /fip/ {{ proxy_pass http://fip.example/; }}
        location /gone/ {{ proxy_pass http://gone.example/; }}
        location /v2/ {{
          access_log {folder}/notices.json notices;
          proxy_pass http://fip.example; proxy_hide_header X-Session-Id;
        }}
      }}"""
    with _running(nginx_words(folder, site), port, folder / "out"):
        yield port


@contextlib.contextmanager
def _haproxy(folder: Path, fip: int, log: Path) -> Iterator[int]:
    port, gone = free_port(), free_port()
    (folder / "haproxy.cfg").write_text(f"""
global
  log stdout format raw local0
defaults
  mode http
  timeout connect 1s
  timeout client 10s
  timeout server 1s
  retries 0
  log global
  option dontlognull
  {_format("haproxy")}
frontend in
  bind 127.0.0.1:{port}
  http-request set-var(txn.host) req.hdr(host)
  http-request deny if {{ path_beg /denied }}
  use_backend gone if {{ hdr_beg(host) gone }}
  default_backend fip
backend fip
  server one 127.0.0.1:{fip}
backend gone
  server one 127.0.0.1:{gone}
""")
    with _running([program("haproxy"), "-db", "-f", str(folder / "haproxy.cfg")], port, log):
        yield port


@contextlib.contextmanager
def _envoy(folder: Path, fip: int, log: Path) -> Iterator[int]:
    port = free_port()
    to_fips, notices = (one for one in _yaml() if one.startswith("start_time"))
    (moving,) = (one for one in _yaml() if one.startswith("name: envoy.filters"))
    (folder / "envoy.yaml").write_text(f"""
static_resources:
  listeners:
  - address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": {_OF_ENVOY}.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          access_log:
{_envoy_log(log, to_fips)}
{_envoy_log(folder / "notices.json", notices)}
          http_filters:
          -{textwrap.indent(moving, " " * 12)[11:]}
          - name: envoy.filters.http.router
            typed_config: {{"@type": {_OF_ENVOY}.filters.http.router.v3.Router}}
          route_config:
            virtual_hosts:
            - name: fip
              domains: [fip.example]
              routes:
              - {{match: {{prefix: /denied}}, direct_response: {{status: 403}}}}
              - {{match: {{prefix: /own}}, direct_response: {{status: 200}}}}
              - {{match: {{prefix: /}}, route: {{cluster: fip, timeout: 1s}}}}
            - {{name: gone, domains: [gone.example], routes: [{{match: {{prefix: /}}, route: {{cluster: gone}}}}]}}
            - {{name: empty, domains: [empty.example], routes: [{{match: {{prefix: /}}, route: {{cluster: empty}}}}]}}
  clusters:
  - {_cluster("fip", fip)}
  - {_cluster("gone", free_port())}
  - {_cluster("empty")}
""")
    words = ["--concurrency", "1", "--disable-hot-restart", "--file-flush-interval-msec", "50"]
    with _running(
        [program("envoy"), "-c", str(folder / "envoy.yaml"), *words], port, folder / "out"
    ):
        yield port


_OF_ENVOY = "type.googleapis.com/envoy.extensions"


def _yaml() -> list[str]:
    return [one.body for one in blocks_of(PAGE) if one.kind == "yaml"]


def _envoy_log(file: Path, fields: str) -> str:
    return f"""
          - name: envoy.access_loggers.file
            typed_config:
              "@type": {_OF_ENVOY}.access_loggers.file.v3.FileAccessLog
              path: {file}
              log_format:
                json_format:
{textwrap.indent(fields, " " * 18)}"""


def _cluster(name: str, *ports: int) -> str:
    servers = [
        {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}}
        for port in ports
    ]
    groups = {"cluster_name": name, "endpoints": [{"lb_endpoints": servers}]}
    return json.dumps({"name": name, "load_assignment": groups})


def _ask(kind: str, port: int, host: str, path: str) -> None:
    """Ask as the application does: nginx has a location for each FIP, HAProxy the host's name."""
    address = f"http://127.0.0.1:{port}"
    if kind == "nginx":
        address += path if path.startswith("/denied") else f"/{host}{path}"
        httpx2.post(address, content=b"{}")
    else:
        httpx2.post(address + path, content=b"{}", headers={"host": f"{host}.example"})


def _lines(log: Path, number: int) -> list[bytes]:
    """The lines, once all of them are there."""

    def lines() -> list[bytes]:
        found = [one for one in log.read_bytes().splitlines() if one.startswith(b"{")]
        return found if len(found) >= number else []

    return until(lines, log.read_text)


def _calls(
    kind: str, lines: list[bytes], *, inbound: bool = False
) -> tuple[list[Call], SourceContext]:
    hosts = {f"{name}.example": "FIP" for name in ("fip", "gone", "none", "empty")}
    context = SourceContext(MachineClock(), peers=Peers(hosts))
    return LineReader(FORMATS[kind], context, inbound=inbound).calls(lines), context


PROXIES: dict[str, Callable[[Path, int, Path], contextlib.AbstractContextManager[int]]] = {
    "nginx": _nginx,
    "haproxy": _haproxy,
    "envoy": _envoy,
}


@pytest.mark.parametrize("kind", PROXIES)
def test_a_status_counts_where_the_real_proxy_proves_it(
    kind: str, fip: int, tmp_path: Path
) -> None:
    program(kind)
    log = tmp_path / "access.json"
    every = CALLS | OF_ENVOY if kind == "envoy" else CALLS
    with PROXIES[kind](tmp_path, fip, log) as port:
        seen: dict[str, bytes] = {}
        asked: dict[str, float] = {}
        for name, (host, path, _) in every.items():
            asked[name] = time.time() * 1000
            _ask(kind, port, host, path)
            seen[name] = _lines(log, len(seen) + 1)[-1]

    found = {name: _calls(kind, [line]) for name, line in seen.items()}
    statuses = {name: [call.status for call in calls] for name, (calls, _) in found.items()}
    expected = {name: [status] for name, (_, _, status) in every.items()}
    if kind == "nginx":
        # Refused before it was sent on: without a host it is no FIP's at all.
        assert statuses.pop("denied by the proxy") in ([], [0])
        expected.pop("denied by the proxy")
    assert statuses == expected, seen
    for calls, context in found.values():
        assert context.metrics.unreadable == 0, context.metrics.samples
        assert all(call.duration < 4_000 for call in calls)
    ((slow,), _), at = found["too slow"], asked["too slow"]
    assert slow.duration > 900  # the proxy's own limit is a second
    assert abs(slow.wall - at) < slow.duration / 2


@pytest.mark.parametrize("kind", ["nginx", "envoy"])
def test_a_notification_that_a_real_proxy_logs_is_counted(
    kind: str, fip: int, tmp_path: Path
) -> None:
    program(kind)
    log, headers = tmp_path / "notices.json", {"host": "fip.example"}
    with PROXIES[kind](tmp_path, fip, tmp_path / "access.json") as port:
        address = f"http://127.0.0.1:{port}/v2/FI/Notification"
        answer = httpx2.post(address, content=b"{}", headers=headers, timeout=10)
        assert "x-session-id" not in answer.headers
        (line,) = _lines(log, 1)
        (call,), _ = _calls(kind, [line], inbound=True)

    assert (call.fip, call.code, call.status) == ("FIP-7", "finot", 200)
    assert call.notification is not None
    assert (call.notification.session, call.notification.statuses) == (
        "S-1", FiStatus.READY | FiStatus.DENIED,
    )  # fmt: skip  # session and statuses


def test_without_its_words_a_line_of_real_envoy_proves_an_answer_by_the_server_that_was_asked(
    fip: int, tmp_path: Path
) -> None:
    """Older settings lack `response_code_details`; a rule of Envoy's own names no server."""
    program("envoy")
    log = tmp_path / "access.json"
    every = CALLS | OF_ENVOY
    with _envoy(tmp_path, fip, log) as port:
        seen: dict[str, dict[str, object]] = {}
        for name, (host, path, _) in every.items():
            _ask("envoy", port, host, path)
            seen[name] = json.loads(_lines(log, len(seen) + 1)[-1])
    for line in seen.values():
        del line["response_code_details"]

    calls = {name: _calls("envoy", [json.dumps(one).encode()])[0] for name, one in seen.items()}

    assert {name: [call.status for call in found] for name, found in calls.items()} == {
        name: [status] for name, (_, _, status) in every.items()
    }
