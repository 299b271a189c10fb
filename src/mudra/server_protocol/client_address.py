"""The address that a request comes from: decided here and nowhere else.

Throttles count by this address, so a client must not be able to choose it. Only
`X-Forwarded-For` is read, and of it only what proxies that the operator trusts
have written: they append on the right.
"""

from collections.abc import Sequence
from functools import lru_cache

from mudra.shared.network_address import Network, is_within, parse_address


def client_address(
    peer: str, forwarded_headers: Sequence[str], trusted: Sequence[Network] = ()
) -> str:
    """Return the address of the client behind the proxies in `trusted`.

    `peer` is the other end of the connection, `forwarded_headers` the lines of
    `X-Forwarded-For` in the order received. Without trusted proxies it is the peer;
    an unreadable entry gives the last trusted hop before it. A peer that is no
    address (a Unix socket) is returned as it is.
    """
    if not (trusted and forwarded_headers):
        return _plain(peer)
    address = parse_address(peer)
    if address is None:
        return peer
    # Empty elements are none (RFC 9110 5.6.1.2): proxies leave them where they join lists.
    hops = [hop for line in forwarded_headers for hop in line.split(",") if hop.strip(" \t")]
    while hops and is_within(address, trusted):
        before = parse_address(hops.pop())
        if before is None:
            break
        address = before
    return str(address)


@lru_cache(maxsize=1024)
def _plain(peer: str) -> str:
    address = parse_address(peer)
    return peer if address is None else str(address)
