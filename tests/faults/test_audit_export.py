"""The audit in another log system: a real rsyslog, a collector, a webhook; each event at least once."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import psycopg
import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from tests.support.agent.agent_process import free_port
from tests.support.database.template_database import prepare
from tests.support.documents.blocks import blocks_of
from tests.support.forked_command import run_mudra
from tests.support.programs import program
from tests.support.smtp_sink import Certificate, make_certificate
from tests.support.until import PATIENCE_S, until
from tests.support.webhook_sink import webhook_sink

from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.audit.export.exported_event import ExportedEvent
from mudra.audit.proof.sealing import seal_next
from mudra.bootstrap.config import load_settings
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.local_store import in_store
from mudra.bootstrap.node.serve import open_store
from mudra.bootstrap.watching import audit_export_job
from mudra.bootstrap.watching.audit_export_job import ExportFailed, export_audit, receiver_of
from mudra.storage.database.embedded.server import embedded_server

BATCH = 200

GUIDE = "docs/how-to/export-the-audit.md"
KEY = "whsec_" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="
MANY = 400


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("audited") / "data"
    prepare(folder)
    with embedded_server(folder):
        with open_store(load_settings(environment(folder)), create=True):
            pass  # it makes the master key
        write(folder, 20)
        yield folder


def environment(data_dir: Path, **variables: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("MUDRA_")}
    return {**own, "MUDRA_DATA_DIR": str(data_dir), **variables}


def write(data_dir: Path, count: int) -> None:
    """Append so many events, of which one has a name that is not ASCII, and seal all that there are."""

    async def act(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction(within_s=60) as transaction:
            log = AuditLog(transaction)
            for number in range(count):
                caller = Caller("user:asha", "192.0.2.7", f"txn-{number}")
                outcome = Outcome.REFUSED if number % 3 else Outcome.SUCCESS
                detail = {"name": 'Añil "Bank"\n𝄞' if number == 7 else "x", "version": number}
                await log.append(
                    AuditEntry(
                        EventName.ENTITY_SECRET_READ,
                        caller,
                        "KAVERI-FIP",
                        detail=detail,
                        outcome=outcome,
                    )
                )
        sealed = 1
        while sealed:
            async with dependencies.database.transaction(within_s=60) as transaction:
                sealed = await seal_next(
                    transaction.service(AuditChain),
                    AuditLog(transaction),
                    await transaction.now(),
                )

    in_store(load_settings(environment(data_dir)), act)


def send(data_dir: Path, **variables: str) -> None:
    """Send what waits, as the job does; raises ExportFailed."""
    settings = load_settings(environment(data_dir, **variables))

    async def act(dependencies: Dependencies) -> None:
        await export_audit(dependencies, receiver_of(settings))

    in_store(settings, act)


def sealed_numbers(data_dir: Path) -> int:
    with embedded_server(data_dir) as url, psycopg.connect(url) as connection:
        row = connection.execute("SELECT max(number) FROM audit_seal").fetchone()
    assert row is not None
    return int(row[0])


def again(data_dir: Path) -> None:
    done = run_mudra("audit", "export", "--from", "0", MUDRA_DATA_DIR=str(data_dir))
    assert done.returncode == 0, done.stderr


class Rsyslog:
    """Debian's rsyslog with the configuration of the guide, on a free port."""

    def __init__(self, folder: Path, certificate: Certificate) -> None:
        program("rsyslogd")
        self.port, self.file = free_port(), folder / "mudra-audit.jsonl"
        (text,) = (one.body for one in blocks_of(GUIDE) if "imtcp" in one.body)
        text = text.replace("/etc/rsyslog.d/ca.pem", str(certificate.cert))
        text = text.replace("/etc/rsyslog.d/cert.pem", str(certificate.cert))
        text = text.replace("/etc/rsyslog.d/key.pem", str(certificate.key))
        text = text.replace("/var/log/mudra-audit.jsonl", str(self.file))
        self._configuration = folder / "rsyslog.conf"
        self._configuration.write_text(text.replace('"6514"', f'"{self.port}"'))
        self._process: subprocess.Popen[bytes] | None = None
        self.settings = {
            "MUDRA_AUDIT_EXPORT": f"syslog+tls://127.0.0.1:{self.port}",
            "MUDRA_AUDIT_EXPORT_CA": str(certificate.cert),
        }

    def start(self) -> None:
        self._process = subprocess.Popen(
            ["/usr/sbin/rsyslogd", "-n", "-f", self._configuration, "-i", "NONE"],
            stdout=subprocess.DEVNULL,
        )
        until(self._listens)

    def _listens(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(PATIENCE_S)

    def lines(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []

    def events(self) -> list[ExportedEvent]:
        return [msgspec.json.decode(one, type=ExportedEvent) for one in self.lines()]


@pytest.fixture
def rsyslog(tmp_path: Path) -> Iterator[Rsyslog]:
    running = Rsyslog(tmp_path, make_certificate(tmp_path))
    running.start()
    try:
        yield running
    finally:
        running.kill()


def test_rsyslog_gets_every_event_once_in_order_and_as_the_schema_has_it(
    data_dir: Path, rsyslog: Rsyslog
) -> None:
    again(data_dir)
    send(data_dir, **rsyslog.settings)
    last = sealed_numbers(data_dir)
    until(lambda: len(rsyslog.lines()) == last)
    events = rsyslog.events()
    schema = json.loads(Path("docs/reference/audit-event.schema.json").read_text())

    assert [one.number for one in events] == list(range(1, last + 1))
    assert {one.detail.get("name") for one in events} >= {'Añil "Bank"\n𝄞', "x"}
    for line in rsyslog.lines():
        assert sorted(json.loads(line)) == sorted(schema["required"])
    assert set(schema["properties"]) == set(schema["required"])


def test_it_goes_on_where_it_was_and_from_a_seq_again(data_dir: Path, rsyslog: Rsyslog) -> None:
    send(data_dir, **rsyslog.settings)
    write(data_dir, 3)
    send(data_dir, **rsyslog.settings)
    until(lambda: len(rsyslog.lines()) == 3)
    seq = rsyslog.events()[1].seq
    done = run_mudra("audit", "export", "--from", str(seq), "--json", MUDRA_DATA_DIR=str(data_dir))
    send(data_dir, **rsyslog.settings)
    until(lambda: len(rsyslog.lines()) == 5)

    assert json.loads(done.stdout)["waiting"] == 2
    assert [one.seq for one in rsyslog.events()[3:]] == [seq, seq + 1]


def test_nothing_is_sent_to_a_server_that_another_authority_vouches_for(
    data_dir: Path, rsyslog: Rsyslog, tmp_path: Path
) -> None:
    again(data_dir)
    (tmp_path / "other").mkdir()
    other = make_certificate(tmp_path / "other")
    with pytest.raises(ExportFailed, match="not trusted"):
        send(data_dir, **rsyslog.settings | {"MUDRA_AUDIT_EXPORT_CA": str(other.cert)})

    assert rsyslog.lines() == []


def keep_sending() -> None:
    """What the child below does: send in small parts until it is killed."""
    audit_export_job.BATCH = 5  # type: ignore[attr-defined]
    settings = load_settings(os.environ)

    async def act(dependencies: Dependencies) -> None:
        receiver = receiver_of(settings)
        while True:
            with contextlib.suppress(ExportFailed):
                await export_audit(dependencies, receiver)
            await asyncio.sleep(0.05)

    in_store(settings, act)


@pytest.mark.slow
def test_kills_of_sender_and_receiver_lose_no_event(data_dir: Path, rsyslog: Rsyslog) -> None:
    again(data_dir)
    write(data_dir, MANY)
    last = sealed_numbers(data_dir)
    given = environment(data_dir, **rsyslog.settings)
    words = "from tests.faults.test_audit_export import keep_sending; keep_sending()"
    for turn in range(6):
        child = subprocess.Popen([sys.executable, "-c", words], env=given)
        try:
            until(more(rsyslog, 40, last))
            if turn % 2:
                rsyslog.kill()
                rsyslog.start()
                until(more(rsyslog, 20, last))
        finally:
            child.kill()
            child.wait(PATIENCE_S)
    send(data_dir, **rsyslog.settings)
    until(lambda: {one.number for one in rsyslog.events()} >= set(range(1, last + 1)))

    assert len({one.hash for one in rsyslog.events()}) == last
    assert len(rsyslog.lines()) > last  # some came twice: the kills met it


def more(rsyslog: Rsyslog, count: int, last: int) -> Callable[[], bool]:
    """Whether so many more lines came, or all of them."""
    wanted = len(rsyslog.lines()) + count

    def came() -> bool:
        lines = rsyslog.lines()
        return len(lines) >= wanted or any(f'"number":{last},' in one for one in lines[-20:])

    return came


@contextlib.contextmanager
def collector(
    answer: bytes = b"{}",
) -> Iterator[tuple[str, list[tuple[str, dict[str, str], bytes]]]]:
    """Take posts on loopback; gives the address, and what came."""
    came: list[tuple[str, dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            came.append((self.path, dict(self.headers), body))
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", came
        finally:
            server.shutdown()


def test_a_collector_gets_records_of_otlp(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again(data_dir)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20abc")
    with collector() as (url, came):
        send(data_dir, MUDRA_AUDIT_EXPORT=f"otlp+{url}")
    records = [
        record
        for _, _, body in came
        for resource in json_format.Parse(body, ExportLogsServiceRequest()).resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]
    events = [msgspec.json.decode(one.body.string_value, type=ExportedEvent) for one in records]

    assert {path for path, _, _ in came} == {"/v1/logs"}
    assert {headers["Authorization"] for _, headers, _ in came} == {"Bearer abc"}
    assert [one.number for one in events] == list(range(1, sealed_numbers(data_dir) + 1))
    assert {one.event_name for one in records} == {one.event for one in events}
    assert records[0].time_unix_nano // 10**9 == int(events[0].at.timestamp())
    assert max(len(body) for _, _, body in came) < 1 << 20


def test_a_webhook_is_signed_and_what_it_refuses_comes_again(data_dir: Path) -> None:
    again(data_dir)
    with webhook_sink() as sink:
        sink.answers[:] = [503]
        given = {
            "MUDRA_AUDIT_EXPORT": f"webhook+{sink.url}",
            "MUDRA_AUDIT_EXPORT_SECRET": KEY,
        }
        with pytest.raises(ExportFailed, match="503"):
            send(data_dir, **given)
        send(data_dir, **given)
    refused, *taken = sink.posted
    numbers = [one["number"] for message in taken for one in message.data["events"]]

    assert all(one.is_signed_by(KEY) for one in sink.posted)
    assert refused.message_id == taken[0].message_id
    assert refused.body == taken[0].body
    assert numbers == list(range(1, sealed_numbers(data_dir) + 1))
    assert max(len(one.data["events"]) for one in taken) <= 200


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("syslog://127.0.0.1:514", "MUDRA_AUDIT_EXPORT must be"),
        ("otlp+http://collector.example:4318", "MUDRA_AUDIT_EXPORT must be"),
        ("webhook+https://user:secret@siem.example", "MUDRA_AUDIT_EXPORT must be"),
        ("syslog+tls://", "MUDRA_AUDIT_EXPORT must be"),
        ("webhook+https://siem.example/mudra", "needs MUDRA_AUDIT_EXPORT_SECRET"),
    ],
)
def test_a_destination_that_cannot_be_used_is_refused_by_its_name(
    data_dir: Path, value: str, said: str
) -> None:
    done = run_mudra("doctor", MUDRA_DATA_DIR=str(data_dir), MUDRA_AUDIT_EXPORT=value)

    assert done.returncode != 0
    assert said in " ".join((done.stdout + done.stderr).split())
