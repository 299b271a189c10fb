"""The address that a request comes from: decided here and nowhere else.

Throttles count by this address, so a client must not be able to choose it. One header
is read, the one that the operator's proxies write, and of it only what proxies that the
operator trusts have written: they append on the right. A proxy passes on the other header
as the client sent it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from mudra.shared.network_address import Network, is_within, parse_address

ForwardedHeader: TypeAlias = Literal["x-forwarded-for", "forwarded"]

# RFC 7239 4, and what proxies write: an address with colons without its quotes.
_PAIR: Final = r"([!#-'*+.^_`|~0-9A-Za-z-]+)=(\"(?:[^\"\\]|\\.)*\"|[^\",;\\\s]*)"
_PAIRS: Final = re.compile(_PAIR)
_ELEMENT: Final = re.compile(rf"[ \t;]*(?:{_PAIR}(?:[ \t]*;[ \t;]*{_PAIR})*)?[ \t;]*")
_ESCAPED: Final = re.compile(r"\\(.)")


class TrustedProxies(Struct, frozen=True):
    """The operator's own proxies, and the header in which they write the address of the client."""

    networks: tuple[Network, ...] = ()
    header: ForwardedHeader = "x-forwarded-for"


NO_PROXIES: Final = TrustedProxies()


def client_address(
    peer: str, headers: Iterable[tuple[bytes, bytes]], proxies: TrustedProxies
) -> str:
    """Return the address of the client behind `proxies`.

    `peer` is the other end of the connection, `headers` are those of the request with names in
    lower case. Without trusted proxies it is the peer; an entry without an address (`unknown`,
    `_hidden`, what is unreadable) gives the last trusted hop before it. A peer that is no address
    (a Unix socket) is returned as it is.
    """
    name = proxies.header.encode()
    lines = [value for key, value in (headers if proxies.networks else ()) if key == name]
    if not lines:
        return _plain(peer)
    address = parse_address(peer)
    if address is None:
        return peer
    read = _forwarded if proxies.header == "forwarded" else _x_forwarded_for
    hops = read([line.decode("latin-1") for line in lines])
    while is_within(address, proxies.networks):
        before = parse_address(next(hops, ""))
        if before is None:
            break
        address = before
    return str(address)


def _x_forwarded_for(lines: Sequence[str]) -> Iterator[str]:
    """Yield the hops, the nearest first.

    Empty elements are none (RFC 9110 5.6.1.2): proxies leave them where they join lists.
    """
    for line in reversed(lines):
        yield from (hop for hop in reversed(line.split(",")) if hop.strip(" \t"))


def _forwarded(lines: Sequence[str]) -> Iterator[str]:
    """Yield the `for` of each element, the nearest first; an empty text where it has none.

    Elements are taken from the end, the shortest first: a quote that a client has left open
    does not reach what a proxy has appended.
    """
    for line in reversed(lines):
        rest: str | None = line
        while rest is not None:
            comma = len(rest)
            while (comma := rest.rfind(",", 0, comma)) >= 0:
                if _ELEMENT.fullmatch(rest, comma + 1):
                    break
            element, rest = rest[comma + 1 :], rest[:comma] if comma >= 0 else None
            if element.strip(" \t"):
                yield _named_for(element)


def _named_for(element: str) -> str:
    if not _ELEMENT.fullmatch(element):
        return ""
    named = [value for key, value in _PAIRS.findall(element) if key.lower() == "for"]
    if len(named) != 1:
        return ""
    return _ESCAPED.sub(r"\1", named[0])


@lru_cache(maxsize=1024)
def _plain(peer: str) -> str:
    address = parse_address(peer)
    return peer if address is None else str(address)
