"""The limits of one connection, and of one address with all its connections."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from typing import Final

from msgspec import Struct

from mudra.server_protocol.client_address import NO_PROXIES, TrustedProxies
from mudra.server_protocol.raw_response import RawError
from mudra.shared.network_address import address_key, is_within


class ConnectionLimits(Struct, frozen=True):
    """Limits below the level of requests. Times in seconds.

    A client that takes nothing of its answer for `idle_s` is idle as well (decision 0074).
    At most `pipelined` requests of a connection wait behind the one that is being answered: all
    that arrive together are parsed together. `per_address` counts within this process;
    connections of the operator's own `proxies` are not counted.
    """

    header_s: float = 10.0
    idle_s: float = 15.0
    header_bytes: int = 16 * 1024
    header_fields: int = 100
    per_address: int = 500
    pipelined: int = 8
    proxies: TrustedProxies = NO_PROXIES


@dataclass(slots=True)
class OpenConnections:
    """The number of connections that each address holds open in this process."""

    limits: ConnectionLimits
    _open: Counter[str] = field(default_factory=Counter)

    def enter(self, address: str) -> bool:
        """Count a connection; False when `address` now has more than it may."""
        if self._is_uncounted(address):
            return True
        key = address_key(address)
        self._open[key] += 1
        return self._open[key] <= self.limits.per_address

    def leave(self, address: str) -> None:
        """Take back an `enter`, whatever it answered."""
        if self._is_uncounted(address):
            return
        key = address_key(address)
        self._open[key] -= 1
        if self._open[key] <= 0:
            del self._open[key]

    def _is_uncounted(self, address: str) -> bool:
        try:
            return is_within(ip_address(address_key(address)), self.limits.proxies.networks)
        except ValueError:
            return False

    def __len__(self) -> int:
        return len(self._open)


INVALID: Final = "InvalidRequest"

TOO_MANY_CONNECTIONS: Final = RawError(
    HTTPStatus.TOO_MANY_REQUESTS,
    "TooManyAttempts",
    "too many connections are open from this address; close some or use them again",
    ((b"retry-after", b"15"),),
)
NOT_HTTP: Final = RawError(
    HTTPStatus.BAD_REQUEST, INVALID, "the request is not valid HTTP/1.1 and cannot be read"
)


def header_too_slow(limits: ConnectionLimits) -> RawError:
    """Refuse a header that is not whole in time."""
    sentence = f"the request header must be whole within {limits.header_s:g} s"
    return RawError(HTTPStatus.REQUEST_TIMEOUT, INVALID, sentence)


def header_too_large(limits: ConnectionLimits) -> RawError:
    """Refuse a header beyond its limits."""
    sentence = (
        f"the request header must have at most {limits.header_bytes} bytes"
        f" and {limits.header_fields} fields"
    )
    return RawError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, INVALID, sentence)


_HOST: Final = re.compile(
    rb"(?:\[([0-9A-Fa-f:.]+)(?:%[\w.~-]+)?\]|[\w.~!$&'()*+,;=%-]*)(?::([0-9]{0,5}))?"
)
"""What an address may name before its path (RFC 3986 3.2.2), with a port or without."""
_MAX_PORT: Final = 65535
_VERSIONS: Final = frozenset({"1.0", "1.1"})


def _is_host(value: bytes) -> bool:
    found = _HOST.fullmatch(value)
    if found is None or int(found[2] or 0) > _MAX_PORT:
        return False
    return found[1] is None or _is_ipv6(found[1].decode())


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def framing_refused(headers: Sequence[tuple[bytes, bytes]], http_version: str) -> RawError | None:
    """Refuse a request whose end, or whose host, two readers could see differently.

    RFC 9112, 3.2 and 6.3. The parser refuses most of these too; a proxy in
    front that does not must meet the refusal here, whatever parser is used.
    """
    if http_version not in _VERSIONS:
        return NOT_HTTP  # a line without a version is read as HTTP/0.9
    lengths = 0
    hosts: list[bytes] = []
    codings: list[bytes] = []
    for name, value in headers:
        if name == b"host":
            hosts.append(value)
        elif name == b"content-length":
            lengths += 1
        elif name == b"transfer-encoding":
            codings.append(value.strip().lower())
    if lengths > 1:
        return _bad("Content-Length must be sent once, not repeated")
    if codings:
        if lengths:
            return _bad("Content-Length and Transfer-Encoding must not be sent together")
        if codings != [b"chunked"] or http_version == "1.0":
            return _bad("Transfer-Encoding must be chunked, once, and only in HTTP/1.1")
    return _host_refused(hosts, http_version)


def _host_refused(hosts: Sequence[bytes], http_version: str) -> RawError | None:
    if len(hosts) > 1 or (http_version == "1.1" and not hosts):
        return _bad("Host must be sent once")
    if hosts and not _is_host(hosts[0]):
        return _bad("Host must be a host name or an address, with a port up to 65535 or none")
    return None


def _bad(sentence: str) -> RawError:
    return RawError(HTTPStatus.BAD_REQUEST, INVALID, sentence)
