"""Whose address a request comes from: decided here and nowhere else (quality A4).

Throttles count by this address, so a client must not be able to choose it. Only
`X-Forwarded-For` is read, and of it only what proxies that the operator trusts
have written: they append on the right.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final, TypeAlias

Network: TypeAlias = IPv4Network | IPv6Network
Address: TypeAlias = IPv4Address | IPv6Address

_IPV6_CUSTOMER_BITS: Final = 64
"""What one customer is given; a limit per single IPv6 address limits nobody."""

_WITH_PORT: Final = re.compile(r"\[([^\[\]]+)\](?::\d{1,5})?|([0-9.]+):\d{1,5}")


def client_address(
    peer: str, forwarded_headers: Sequence[str], trusted: Sequence[Network] = ()
) -> str:
    """Give the address of the client behind the proxies in `trusted`.

    `peer` is the other end of the connection, `forwarded_headers` the lines of
    `X-Forwarded-For` in the order received. Nothing trusted gives the peer;
    an unreadable entry gives the last trusted hop before it. A peer that is no
    address (a Unix socket) is given back as it is.
    """
    if not (trusted and forwarded_headers):
        return _plain(peer)
    address = _read(peer)
    if address is None:
        return peer
    hops = [hop for line in forwarded_headers for hop in line.split(",")]
    while hops and is_within(address, trusted):
        before = _read(hops.pop())
        if before is None:
            break
        address = before
    return str(address)


@lru_cache(maxsize=4096)
def address_key(address: str) -> str:
    """Give the key under which limits count `address`: IPv6 by its /64."""
    read = _read(address)
    if isinstance(read, IPv6Address):
        return str(ip_network((int(read), _IPV6_CUSTOMER_BITS), strict=False))
    return address if read is None else str(read)


def is_within(address: Address, networks: Sequence[Network]) -> bool:
    """Say whether `address` is in one of `networks`."""
    return any(address in network for network in networks)


@lru_cache(maxsize=1024)
def _plain(peer: str) -> str:
    address = _read(peer)
    return peer if address is None else str(address)


def _read(text: str) -> Address | None:
    text = text.strip(" \t")
    with_port = _WITH_PORT.fullmatch(text)
    if with_port:
        text = with_port[1] or with_port[2]
    # A zone (fe80::1%eth0) means something on one machine only, and anything can be written there.
    text = text.partition("%")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address
