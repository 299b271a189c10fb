"""Leads pg_dump and pg_restore to a server by TLS: those that come with Mudra know none.

They connect to a socket that only this user can reach, and from there bytes go to the server of a
session that is open, by TLS, with the checks that its address asks for (as libpq makes them).
"""

import asyncio
import contextlib
import socket
import ssl
import struct
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import psycopg
import structlog
from psycopg.conninfo import conninfo_to_dict

from mudra.storage.database.roles import without

_SSL_REQUEST: Final = struct.pack("!ii", 8, 80877103)
_AUTHENTICATION: Final = b"R"
_BOUND: Final = b"SCRAM-SHA-256-PLUS\0"
_PORT: Final = 5432
_WAIT_S: Final = 10.0
_PIECE: Final = 1 << 18
_OF_THE_WAY: Final = (
    *("hostaddr", "password", "target_session_attrs", "load_balance_hosts"),
    *("channel_binding", "gssencmode"),
)
"""What an address says of its way, besides all that begins with `ssl`."""
_log = structlog.get_logger()


@contextlib.contextmanager
def tunnel(connection: psycopg.Connection[tuple[object, ...]], conninfo: str) -> Iterator[str]:
    """Give the address of a tunnel to the server of a session that is encrypted."""
    context = _context({one.keyword.decode(): _text(one.val) for one in connection.pgconn.info})
    there = _There(connection.info.host, connection.info.hostaddr, connection.info.port, context)
    of_tls = [name for name in conninfo_to_dict(conninfo) if name.startswith("ssl")]
    with tempfile.TemporaryDirectory(prefix="mudra-") as folder:
        address = without(conninfo, *_OF_THE_WAY, *of_tls, host=folder, port=_PORT)
        with there.served(Path(folder) / f".s.PGSQL.{_PORT}"):
            yield address


def _text(value: bytes | None) -> str:
    return value.decode() if value else ""


def _context(given: Mapping[str, str]) -> ssl.SSLContext:
    """Make the checks that libpq makes for these parameters."""
    own = Path.home() / ".postgresql"
    mode, root = given.get("sslmode", ""), given.get("sslrootcert", "")
    if not root and (own / "root.crt").exists():
        root = str(own / "root.crt")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = mode == "verify-full" or root == "system"
    if root == "system":
        context.set_default_verify_paths()
    elif root and mode in {"require", "verify-ca", "verify-full"}:
        context.load_verify_locations(root)
    else:
        context.verify_mode = ssl.CERT_NONE  # as the address says
    certificate = given.get("sslcert") or str(own / "postgresql.crt")
    if Path(certificate).exists():
        key = given.get("sslkey") or str(own / "postgresql.key")
        context.load_cert_chain(certificate, key, given.get("sslpassword") or None)
    return context


class _There:
    """The server: its name, where it is, and how it proves itself."""

    def __init__(self, name: str, address: str, port: int, context: ssl.SSLContext) -> None:
        self._name, self._address, self._port = name, address or name, port
        self._context = context

    @contextlib.contextmanager
    def served(self, path: Path) -> Iterator[None]:
        """Lead those who connect to this socket there, until the end of the block."""
        loop = asyncio.new_event_loop()
        server = loop.run_until_complete(asyncio.start_unix_server(self._lead, path))
        thread = threading.Thread(target=loop.run_forever, name="tls-tunnel", daemon=True)
        thread.start()
        try:
            yield
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.run_until_complete(_end(server))
            loop.close()

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            try:
                there, to_there = await asyncio.open_connection(
                    sock=await asyncio.to_thread(self._asked),
                    ssl=self._context,
                    server_hostname=self._name,
                )
            except OSError as error:  # who has connected sees that it ends
                _log.warning("no TLS to the database's server", error=str(error))
                return
            ends = [
                asyncio.create_task(_pass_on(reader, to_there)),
                asyncio.create_task(_answer(there, writer)),
            ]
            try:
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in ends:
                    task.cancel()
                await asyncio.gather(*ends, return_exceptions=True)
                to_there.transport.abort()

    def _asked(self) -> socket.socket:
        """Connect, and ask for TLS as PostgreSQL wants to be asked."""
        with contextlib.ExitStack() as closing:
            plain = socket.create_connection((self._address, self._port), _WAIT_S)
            closing.enter_context(plain)
            plain.sendall(_SSL_REQUEST)
            if plain.recv(1) != b"S":
                raise ConnectionError(f"{self._name} has no TLS any more")
            plain.settimeout(0)  # it is asyncio's from here on
            closing.pop_all()
        return plain


async def _end(server: asyncio.Server) -> None:
    """Wait for the connections, whose clients have ended by now."""
    server.close()
    under_way = asyncio.all_tasks() - {asyncio.current_task()}
    if under_way:
        await asyncio.wait(under_way, timeout=_WAIT_S)
    await asyncio.sleep(0)  # what was closed is called back


async def _answer(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Pass on what the server says, but not that it binds to TLS: the client sees none."""
    head = await source.readexactly(5)
    body = await source.readexactly(int.from_bytes(head[1:]) - 4)
    if head[:1] == _AUTHENTICATION:
        body = body.replace(_BOUND, b"")
    target.write(head[:1] + (len(body) + 4).to_bytes(4) + body)
    await _pass_on(source, target)


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while piece := await source.read(_PIECE):
        target.write(piece)
        await target.drain()
