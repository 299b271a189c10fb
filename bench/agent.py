"""Agent: events per CPU second by way in, and memory at 1,000 FIPs.

    python -m bench.agent

A real agent process is fed through its real listeners; what counts is the CPU
time that this process used, the operating system's part in it included.
"""

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.support.preloaded_program import ForkedProgram

from bench.sizes import SHORT, sized
from bench.support import cpu_seconds, scratch

FIPS = sized(1_000, 20)
EVENTS = sized(400_000, 200)
BATCH = sized(1_000, 100)
ROUTES = [
    "/v2/Accounts/discover", "/v2/Accounts/link", "/v2/Accounts/link/verify", "/v2/Consent",
    "/v2/FI/request", "/v2/FI/fetch", "/v2/Heartbeat",
]  # fmt: skip  # seven of the calls
START = (
    "import sys; from mudra.cli.commands.entity.agent import app; "
    "app(['run', '--config', sys.argv[1]])"
)


@dataclass
class Running:
    """An agent process and where it listens."""

    pid: int
    address: str

    def cpu(self) -> float:
        """Seconds of CPU that it has used."""
        return cpu_seconds(self.pid)

    def memory(self) -> float:
        """Megabytes that it holds (PSS)."""
        for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
        raise LookupError("the kernel reports no PSS")

    def metric(self, name: str) -> float:
        """A figure among the agent's own Prometheus metrics."""
        for line in httpx2.get(f"{self.address}/metrics").text.splitlines():
            if line.startswith(f"{name} "):
                return float(line.split()[1])
        raise LookupError(name)


@contextmanager
def agent(directory: Path, more: str = "") -> Iterator[Running]:
    """A running agent without a reachable operator."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    secret = directory / "secret"
    secret.write_text("secret")
    secret.chmod(0o600)
    hosts = "\n".join(f'"fip-{number}.test" = "FIP-{number}"' for number in range(FIPS))
    (directory / "agent.toml").write_text(
        f'aa_id = "AA-1"\ndirectory = "{directory}/spool"\n'
        '[operator]\ntoken_url = "http://127.0.0.1:9/iam"\npush_url = "http://127.0.0.1:9/push"\n'
        f'[credentials]\nid.value = "AA-1"\nsecret.file = "{secret}"\n'
        f'[http]\nlisten = ["127.0.0.1:{port}"]\n[fips]\n{hosts}\n{more}'
    )
    process = started(directory / "agent.toml")
    running = Running(process.pid, f"http://127.0.0.1:{port}")
    try:
        until(lambda: up(running.address), 30)
        yield running
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def started(config: Path) -> "subprocess.Popen[bytes] | ForkedProgram":
    """The process; in a run of the smallest size forked from one that has the code loaded."""
    if SHORT:
        words = ["agent", "run", "--config", str(config)]
        return ForkedProgram(words, dict(os.environ), errors=Path(os.devnull))
    return subprocess.Popen([sys.executable, "-c", START, str(config)], stderr=subprocess.DEVNULL)


def up(address: str) -> bool:
    """Does it answer?"""
    try:
        return httpx2.get(f"{address}/livez").is_success
    except httpx2.TransportError:
        return False


def until(holds: Callable[[], bool], seconds: float) -> None:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)


def through_http(directory: Path) -> tuple[float, float]:
    """Events per CPU second through HTTP in arrays, and the memory after them."""
    now = int(time.time() * 1000)
    bodies = []
    for batch in range(EVENTS // BATCH):
        events: list[dict[str, object]] = []
        for number in range(BATCH // 2):
            key = f"{batch}-{number}"
            common: dict[str, object] = {
                "route": ROUTES[number % 7], "peerId": f"FIP-{(batch * 7 + number) % FIPS}",
                "peerType": "FIP", "customerId": "someone@aa", "txnCorId": key,
            }  # fmt: skip  # the members of the shape in use
            body = {"ver": "2.0.0", "txnid": key, "sessionId": f"S-{key}", "consentId": "c" * 36}
            events.append(common | {"callType": "requestOut", "timestamp": now, "body": None})
            events.append(
                common
                | {
                    "callType": "responseIn",
                    "httpStatus": 200,
                    "timestamp": now + number,
                    "body": body,
                }
            )
        bodies.append(json.dumps(events).encode())
    with agent(directory) as running, httpx2.Client() as client:
        before = running.cpu()
        for packed in bodies:
            client.post(
                f"{running.address}/sna/v1/aa",
                content=packed,
                headers={"Content-Type": "application/json"},
            ).raise_for_status()
        used = running.cpu() - before
        assert running.metric("mudra_agent_events_total") == EVENTS
        return EVENTS / used, running.memory()


def through_otlp(directory: Path) -> float:
    """Spans per CPU second through OTLP in protobuf, packed."""
    now = time.time_ns()
    bodies = []
    for batch in range(EVENTS // BATCH // 2):
        request = ExportTraceServiceRequest()
        scope = request.resource_spans.add().scope_spans.add()
        for number in range(BATCH):
            span = scope.spans.add(
                kind=3, name="POST", trace_id=os.urandom(16), span_id=os.urandom(8),
                start_time_unix_nano=now, end_time_unix_nano=now + number * 1_000_000,
            )  # fmt: skip  # one span
            for key, value in {
                "http.request.method": "POST",
                "url.full": f"https://fip-{number % FIPS}.test{ROUTES[number % 6]}",
                "server.address": f"fip-{(batch + number) % FIPS}.test",
                "network.protocol.version": "1.1",
            }.items():
                span.attributes.add(key=key).value.string_value = value
            span.attributes.add(key="http.response.status_code").value.int_value = 200
            span.attributes.add(key="server.port").value.int_value = 443
        bodies.append(gzip.compress(request.SerializeToString(), 1))
    headers = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
    with agent(directory) as running, httpx2.Client(headers=headers) as client:
        before = running.cpu()
        for body in bodies:
            client.post(f"{running.address}/v1/traces", content=body).raise_for_status()
        used = running.cpu() - before
        assert running.metric("mudra_agent_events_total") == len(bodies) * BATCH
        return len(bodies) * BATCH / used


def through_log(directory: Path) -> float:
    """Lines per CPU second through a followed nginx log."""
    now = time.time()
    log = directory / "access.json"
    with log.open("w") as file:
        for number in range(EVENTS):
            line = {
                "time": f"{now:.3f}", "method": "POST", "uri": ROUTES[number % 6],
                "host": f"fip-{number % FIPS}.test", "status": 200, "request_time": "0.123",
                "bytes": 512, "upstream_status": "200", "upstream_header_time": "0.120",
            }  # fmt: skip  # one line
            file.write(json.dumps(line) + "\n")
    empty = directory / "empty.json"
    empty.touch()
    more = (
        f'[[log]]\npath = "{log}"\nformat = "nginx"\ndirection = "to-fips"\nstart = "beginning"\n'
    )
    idle = directory / "idle"
    idle.mkdir()
    with agent(idle) as running:
        without = running.cpu()
    with agent(directory, more) as running:
        until(lambda: running.metric("mudra_agent_events_total") == EVENTS, 120)
        return EVENTS / (running.cpu() - without)


def main() -> None:
    """Print the results next to their goals."""
    with scratch() as place:
        folders = [Path(place, name) for name in ("http", "otlp", "log")]
        for folder in folders:
            folder.mkdir()
        events, memory = through_http(folders[0])
        print(f"agent: {events:,.0f} events per CPU second through HTTP in arrays (goal 20,000)")
        print(f"agent: {through_otlp(folders[1]):,.0f} through OTLP (goal 20,000)")
        print(f"agent: {through_log(folders[2]):,.0f} through a log file (goal 50,000)")
        print(f"agent: {memory:.0f} MB (PSS) at {FIPS:,} FIPs, {EVENTS:,} events (goal 150)")


if __name__ == "__main__":
    main()
