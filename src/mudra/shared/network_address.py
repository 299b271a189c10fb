"""Network addresses: parsed from text, counted by limits, and which of them are this machine."""

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

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_IPV6_CUSTOMER_BITS: Final = 64
"""What one customer is given; a limit per single IPv6 address limits no one."""
_PORT: Final = r":(?:[0-9]{0,5}|_[0-9A-Za-z._-]+)"
"""A port, or the name that a proxy gives it in its place (RFC 7239 6.2)."""
_WITH_PORT: Final = re.compile(rf"\[([^\[\]]+)\](?:{_PORT})?|([0-9.]+){_PORT}", re.ASCII)


@lru_cache(maxsize=4096)
def address_key(address: str) -> str:
    """Returns the key under which limits count `address`: IPv6 by its /64."""
    parsed = parse_address(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((int(parsed), _IPV6_CUSTOMER_BITS), strict=False))
    return address if parsed is None else str(parsed)


def parse_address(text: str) -> Address | None:
    """Parse an address, with or without a port or quotes; None for anything else."""
    text = text.strip(" \t")
    if text[:1] == '"' == text[-1:]:  # RFC 7239 has addresses with a port in quotes
        text = text[1:-1]
    with_port = _WITH_PORT.fullmatch(text)
    if with_port:
        text = with_port[1] or with_port[2]
    # A zone (fe80::1%eth0) has a meaning on one machine only, and anything can be written there.
    text = text.partition("%")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def is_within(address: Address, networks: Sequence[Network]) -> bool:
    """Return whether `address` is in one of `networks`."""
    return any(address in network for network in networks)


def is_loopback(host: str) -> bool:
    """Report whether a host to listen on or connect to is this machine itself."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
