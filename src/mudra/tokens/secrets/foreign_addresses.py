"""The addresses that used a member's credentials without being in its registry entry. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from mudra.tokens.secrets.address_binding import is_listed, networks_of


class EntityUse(Struct, frozen=True):
    """Tokens that an entity was issued to one address, by its secrets or its registered key."""

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
    networks = {entity_id: networks_of(own) for entity_id, own in listed.items()}
    for use in uses:
        own = networks.get(use.entity_id, ())
        if not own:
            unbound.setdefault(use.entity_id)
        elif is_listed(use.address, own):
            fitting += 1
        else:
            foreign.append(use)
    return AddressReport(foreign, fitting, sorted(unbound))
