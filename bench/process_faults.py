"""Faults of processes, of the database's answers and of certificates, for `bench/alerts.py`."""

import asyncio
import contextlib
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import psycopg
from msgspec import Struct
from tests.support.smtp_sink import make_certificate

from bench.alert_faults import AnyScene, Fault, Place, Scene, again_and_again
from bench.entity_token import make_members
from bench.support import (
    Load,
    RunningService,
    data_directory,
    database_kept_up,
    forks,
    form_request,
    free_port,
    jobs_pid,
    postmaster,
    worker_pids,
)
from mudra.storage.database.embedded.server import embedded_server

TOKENS: Final = "/iam/v1/entity/token/generate"
WORKERS: Final = 2
_ADDRESSES: Final = 52_000
"""More than the groups of tokens whose audit waits in the memory of a worker."""
_CONNECTIONS: Final = 16
_STOPPED_S, _RUNNING_S = 1.6, 0.2
_ENOUGH_DAYS, _FEW_DAYS = 90, 2


class Node(Place, frozen=True, kw_only=True):
    """A node as it runs in production, over its embedded PostgreSQL."""

    supervisor: int
    data_dir: Path
    certificate: "Certificate | None" = None

    def everything(self) -> list[int]:
        """Its processes."""
        return [self.supervisor, *forks(self.supervisor)]

    def database(self) -> list[int]:
        """The processes of its PostgreSQL."""
        first = postmaster(self.data_dir)
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]

    def send(self, number: signal.Signals, of: Callable[[], list[int]]) -> None:
        """Send a signal to processes, of which some may be ending or starting."""
        with contextlib.suppress(OSError, ValueError):
            for pid in of():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)


class Certificate(Struct, frozen=True):
    """The certificate of the public address, which can be another one at any moment."""

    folder: Path
    context: ssl.SSLContext

    def lasts(self, days: int) -> None:
        """Show one that ends in so many days."""
        files = make_certificate(self.folder, days)
        self.context.load_cert_chain(files.cert, files.key)


@contextlib.contextmanager
def _node(
    folder: Path, *, workers: int = WORKERS, secured: bool = False, **variables: str
) -> Iterator[Node]:
    data_dir, telemetry = data_directory(str(folder)), free_port()
    ours = {"MUDRA_TELEMETRY_PORT": str(telemetry), "MUDRA_ENTITY_TOKEN_RATE": "100000+100000"}
    with contextlib.ExitStack() as held:
        held.enter_context(database_kept_up(data_dir))
        (entity_id, secret), *_ = make_members(data_dir, 1).items()
        certificate = None
        if secured:
            certificate = Certificate(folder, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
            certificate.lasts(_ENOUGH_DAYS)
            port = held.enter_context(_public_address(certificate.context))
            ours["MUDRA_BASE_URL"] = f"https://127.0.0.1:{port}/iam"
        words = ("--workers", str(workers))
        service = held.enter_context(RunningService(data_dir, *words, **ours, **variables))
        yield Node(
            folder=folder,
            port=service.port,
            telemetry=telemetry,
            entity_id=entity_id,
            secret=secret,
            supervisor=service.pid,
            data_dir=data_dir,
            certificate=certificate,
        )


@contextlib.contextmanager
def _public_address(context: ssl.SSLContext) -> Iterator[int]:
    """Shake hands with each caller, as a proxy before the service does."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    caller, _ = server.accept()
                    with (
                        caller,
                        contextlib.suppress(OSError),
                        context.wrap_socket(caller, server_side=True) as secured,
                    ):
                        secured.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield int(server.getsockname()[1])
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(30)


@contextlib.contextmanager
def _workers_die(node: Node) -> Iterator[None]:
    def kill() -> None:
        with contextlib.suppress(KeyError):  # one is being started
            node.send(signal.SIGKILL, lambda: worker_pids(node.supervisor, WORKERS))

    with again_and_again(kill):
        yield


@contextlib.contextmanager
def _node_is_frozen(node: Node) -> Iterator[None]:
    node.send(signal.SIGSTOP, node.everything)
    try:
        yield
    finally:
        node.send(signal.SIGCONT, node.everything)


@contextlib.contextmanager
def _database_is_frozen(node: Node) -> Iterator[None]:
    """Again and again: the supervisor may start it again."""
    try:
        with again_and_again(partial(node.send, signal.SIGSTOP, node.database)):
            yield
    finally:
        node.send(signal.SIGCONT, node.database)


@contextlib.contextmanager
def _database_is_slow(node: Node) -> Iterator[None]:
    def stutter() -> None:
        node.send(signal.SIGSTOP, node.database)
        time.sleep(_STOPPED_S)
        node.send(signal.SIGCONT, node.database)

    try:
        with again_and_again(stutter, _RUNNING_S):
            yield
    finally:
        node.send(signal.SIGCONT, node.database)


@contextlib.contextmanager
def _audit_overflows(node: Node) -> Iterator[None]:
    """Ask for tokens from so many addresses that their audit does not fit into memory."""
    with _database_is_frozen(node):
        time.sleep(3)  # until the worker knows it
        fields = {"id": node.entity_id, "secret": node.secret}
        asked = form_request(TOKENS, **fields).replace(
            b"\r\n", b"\r\nx-forwarded-for: 10.%d.%d.%d\r\n", 1
        )
        requests = [
            asked % (number >> 16, number >> 8 & 255, number & 255) for number in range(_ADDRESSES)
        ]
        load = Load(node.port, requests)
        answers = 0
        while answers < _ADDRESSES:
            answers += asyncio.run(load.run(_CONNECTIONS, 5))
        yield


@contextlib.contextmanager
def _certificate_ends(node: Node) -> Iterator[None]:
    """The node looks at its start and each hour: its jobs process is started again."""
    certificate = node.certificate
    assert certificate is not None
    _looked_at(node, certificate, _FEW_DAYS)
    try:
        yield
    finally:
        _looked_at(node, certificate, _ENOUGH_DAYS)


def _looked_at(node: Node, certificate: Certificate, days: int) -> None:
    certificate.lasts(days)
    os.kill(jobs_pid(node.supervisor), signal.SIGKILL)


@contextlib.contextmanager
def _judging_is_held(node: Node) -> Iterator[None]:
    with (
        embedded_server(node.data_dir) as url,
        psycopg.connect(url, application_name=f"drill {datetime.now(UTC):%H:%M}") as session,
    ):
        session.execute("LOCK TABLE metrics_attribution IN ACCESS EXCLUSIVE MODE")
        yield


SCENES: Final[dict[str, AnyScene]] = {
    "processes": Scene[Node](
        _node,
        (
            Fault(("MudraNodeDown",), "all processes of the node are frozen", _node_is_frozen),
            Fault(
                ("MudraNotServing", "MudraProcessRestarts"),
                "each worker is killed whenever it is back",
                _workers_die,
            ),
        ),
    ),
    "database": Scene[Node](
        _node,
        (
            Fault(
                ("MudraTokensFail", "MudraErrors"),
                "PostgreSQL is frozen",
                _database_is_frozen,
                goal_s=390.0,
            ),
            Fault(
                ("MudraSlow",),
                "PostgreSQL is frozen for 1.6 s, again and again",
                _database_is_slow,
                goal_s=390.0,
            ),
        ),
    ),
    "memory": Scene[Node](
        partial(
            _node,
            workers=1,
            MUDRA_TOKENS_WITHOUT_DATABASE_S="3600",
            MUDRA_TRUSTED_PROXIES="127.0.0.1",
        ),
        (
            Fault(("MudraTokensWithoutDatabase",), "PostgreSQL is frozen", _database_is_frozen),
            Fault(
                ("MudraTokenIssuesLost",),
                "tokens for 52,000 addresses while PostgreSQL is frozen",
                _audit_overflows,
            ),
        ),
    ),
    "judging": Scene[Node](
        partial(_node, workers=1, secured=True),
        (
            Fault(
                ("MudraCertificateEnds",),
                "the public address shows a certificate of two days",
                _certificate_ends,
            ),
            Fault(
                ("MudraDetectionStopped",),
                "another session holds the table of what was judged",
                _judging_is_held,
                goal_s=1080.0,
            ),
        ),
    ),
}
