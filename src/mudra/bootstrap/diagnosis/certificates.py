"""The check of `mudra doctor` of certificates: of the public address, and of databases.

Only how long they are valid is looked at: who trusts them is decided by those who connect.
"""

import contextlib
import socket
import ssl
import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from cryptography import x509
from msgspec import Struct
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from mudra.bootstrap.clock import ServiceClock
from mudra.overview.administration import Diagnosis
from mudra.settings.settings import Settings

_MIN_DAYS: Final = 14
_WAIT_S: Final = 3.0
_DAY_S: Final = 86400
_HTTPS: Final = 443
_POSTGRES: Final = 5432
_SSL_REQUEST: Final = struct.pack("!ii", 8, 80877103)
"""What PostgreSQL is asked before its certificate: `S` says that it has one."""


class _Server(Struct, frozen=True):
    host: str
    port: int
    is_postgres: bool = False

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def certificates(settings: Settings, now: datetime) -> Diagnosis:
    """Every certificate is valid for two weeks at least; a server out of reach has other checks."""
    well, late = list[str](), list[str]()
    for server in _servers(settings):
        try:
            ends = _valid_until(server)
        except (OSError, ValueError) as error:
            well.append(f"{server} not seen from here ({error})")
            continue
        if ends is None:
            well.append(f"{server} has none")
            continue
        days = (ends - now).days
        text = f"{server} for {days} days" if ends > now else f"{server} ended on {ends:%Y-%m-%d}"
        (well if days >= _MIN_DAYS else late).append(text)
    if late:
        text = f"{', '.join(late)}: renew it; certificates are to be valid for {_MIN_DAYS} days"
        return Diagnosis("certificates", passed=False, text=text)
    return Diagnosis("certificates", passed=True, text=", ".join(well) or "none in use")


def days_left(settings: Settings) -> Mapping[str, float | None]:
    """Return for how many days each server's certificate is valid; None where it is not seen.

    A server without a certificate is left out.
    """
    found: dict[str, float | None] = {}
    for server in _servers(settings):
        try:
            ends = _valid_until(server)
        except (OSError, ValueError):
            found[str(server)] = None
            continue
        if ends is not None:
            found[str(server)] = (ends - ServiceClock()()).total_seconds() / _DAY_S
    return found


def _servers(settings: Settings) -> Sequence[_Server]:
    found = []
    public = urlsplit(settings.base_url)
    if public.scheme == "https" and public.hostname:
        found.append(_Server(public.hostname, public.port or _HTTPS))
    if settings.database_url is not None:
        found += _of_database(settings.database_url.reveal())
    return list(dict.fromkeys(found))


def _of_database(url: str) -> list[_Server]:
    """Return the hosts of an address that are reached by TCP; none of one that cannot be read."""
    with contextlib.suppress(ProgrammingError):
        given = conninfo_to_dict(url)
        hosts = str(given.get("host") or "").split(",")
        ports = str(given.get("port") or _POSTGRES).split(",")
        return [
            _Server(host, int(ports[place % len(ports)] or _POSTGRES), is_postgres=True)
            for place, host in enumerate(hosts)
            if host and not host.startswith("/")
        ]
    return []


def _valid_until(server: _Server) -> datetime | None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((server.host, server.port), _WAIT_S) as plain:
        if server.is_postgres:
            plain.sendall(_SSL_REQUEST)
            if plain.recv(1) != b"S":
                return None
        with context.wrap_socket(plain, server_hostname=server.host) as secured:
            shown = secured.getpeercert(binary_form=True)
    return _end_of(shown) if shown else None


def _end_of(certificate: bytes) -> datetime:
    read = x509.load_der_x509_certificate(certificate)
    return read.not_valid_after_utc.astimezone(UTC)
