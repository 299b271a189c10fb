"""Which addresses used a member's secret that its registry entry does not list. Pure."""

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct


class EntityUse(Struct, frozen=True):
    """Tokens that an entity was issued to one address, by any of its secrets."""

    entity_id: str
    address: str
    count: int
    last_used_at: datetime


class AddressReport(Struct, frozen=True):
    """`foreign` uses come from no listed address; `unbound` entities list none at all."""

    foreign: Sequence[EntityUse]
    listed: int
    unbound: Sequence[str]


def report_addresses(
    uses: Iterable[EntityUse], listed: Mapping[str, Sequence[str]]
) -> AddressReport:
    """Compare uses with the `ips` of live entries: what a binding to those would refuse.

    An entity without a live entry, or whose entry lists no address, could not be bound.
    """
    foreign: list[EntityUse] = []
    unbound: dict[str, None] = {}
    fitting = 0
    for use in uses:
        own = listed.get(use.entity_id, ())
        if not own:
            unbound.setdefault(use.entity_id)
        elif _is_listed(use.address, own):
            fitting += 1
        else:
            foreign.append(use)
    return AddressReport(foreign, fitting, sorted(unbound))


def _is_listed(address: str, listed: Sequence[str]) -> bool:
    try:
        at = ipaddress.ip_address(address)
    except ValueError:
        return False
    # A dual-stack socket shows an IPv4 client as ::ffff:a.b.c.d.
    at = (at.ipv4_mapped or at) if isinstance(at, ipaddress.IPv6Address) else at
    return any(at in ipaddress.ip_network(one, strict=False) for one in listed)
