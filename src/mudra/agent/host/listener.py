"""The agent's listeners: uvicorn with the connections that the service has.

An AA's application may be slow, half dead or hostile: what keeps the service in bounds
(`server_protocol/`) keeps the agent in them too.
"""

import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
import uvicorn

from mudra.agent.clock import SECOND, Clock
from mudra.agent.host.config import UNIX
from mudra.agent.host.ingest_app import IngestApp
from mudra.server_protocol.client_turns import ClientTurns
from mudra.server_protocol.connection_limits import ConnectionLimits, OpenConnections
from mudra.server_protocol.limited_protocol import LimitedProtocol, ProtocolContext
from mudra.server_protocol.raw_response import RawError

STOP_SECONDS: Final = 10
CONNECTIONS: Final = 1_000
"""Of all addresses; one has at most `ConnectionLimits.per_address`."""
LIMITS: Final = ConnectionLimits(idle_s=30.0)


class Listener(uvicorn.Server):
    """Leaves the signals to the agent, which stops all its parts in order."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def listener(app: IngestApp, listen: str, clock: Clock) -> Listener:
    """Return a server of this address, `host:port` or `unix:path`."""
    host, _, port = ("", "", "0") if listen.startswith(UNIX) else listen.rpartition(":")
    server = Listener(
        uvicorn.Config(
            app,
            host=host.strip("[]"), port=int(port), loop="none",
            http=_connections(clock, lambda: server.should_exit), ws="none",
            lifespan="off", log_config=None, access_log=False, limit_concurrency=CONNECTIONS,
            timeout_keep_alive=int(LIMITS.idle_s), timeout_graceful_shutdown=STOP_SECONDS,
            server_header=False,
        )
    )  # fmt: skip  # one group a line
    return server


def unix_socket(listen: str) -> list[socket.socket] | None:
    """Make a Unix socket that the agent's user and group can reach; None for another address."""
    if not listen.startswith(UNIX):
        return None
    path = Path(listen.removeprefix(UNIX))
    if path.is_socket():
        path.unlink()  # left by an agent that was killed; a live one holds the spool
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o117)
    try:
        made.bind(str(path))
    finally:
        os.umask(before)
    return [made]


def error_body(code: str, message: str) -> bytes:
    """Return the body of an error, in the shape of the agent in use."""
    return msgspec.json.encode({"message": message, "errorCode": code})


def _connections(clock: Clock, stopping: Callable[[], bool]) -> type[LimitedProtocol]:
    class Connection(LimitedProtocol):
        pass

    Connection.shared = ProtocolContext(
        limits=LIMITS,
        clock=lambda: datetime.fromtimestamp(clock.wall() / SECOND, UTC),
        open_connections=OpenConnections(LIMITS),
        turns=ClientTurns(),
        stopping=stopping,
        body_of=_refusal_body,
    )
    return Connection


def _refusal_body(refusal: RawError, _: datetime, __: str) -> bytes:
    return error_body(refusal.error_code, refusal.sentence)
