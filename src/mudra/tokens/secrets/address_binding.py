"""Binding of an entity's credentials to the addresses that its entry lists: the rule. Pure."""

import enum
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final, TypeAlias

from msgspec import Struct

from mudra.shared.network_address import parse_address
from mudra.shared.refusal import Refusal

Network: TypeAlias = IPv4Network | IPv6Network

WATCHED_DAYS: Final = 30
"""Uses of so many days show what a binding would refuse."""
MAX_SWITCHES: Final = 10
"""By admins of an entity, in `SWITCHES_IN`: each sends an email to its admins and its contact."""
SWITCHES_IN: Final = timedelta(hours=24)


class AddressBinding(enum.StrEnum):
    """What is done with a right secret or assertion from an address that is not listed."""

    NETWORK = "network"
    """What the network's setting says."""
    WATCH = "watch"
    """It is counted, whatever the network's setting says: an operator's exemption."""
    ENFORCE = "enforce"
    """It is refused: the member's own choice, or an operator's for it."""


class ChosenBinding(Struct, frozen=True):
    """The binding of an entity, and whether an operator exempts it from the network's setting.

    An exemption has no effect while the member binds itself, and is there again afterwards.
    """

    binding: AddressBinding
    exempt: bool = False


class AddressNotListed(Refusal, frozen=True):
    """The right credential, from an address that the entity's entry does not list."""

    entity_id: str
    address: str


class NoListedAddresses(Refusal, frozen=True):
    """The entity's live entry lists no address, so that a binding would refuse everything."""

    entity_id: str


class AddressesInUse(Refusal, frozen=True):
    """Addresses that are not listed got tokens lately; a binding would refuse them."""

    addresses: tuple[str, ...]


class TooManySwitches(Refusal, frozen=True):
    """The entity's admins switched its binding as often as 24 hours permit."""

    retry_at: datetime
    now: datetime


class ExemptionByOperator(Refusal, frozen=True):
    """Only an operator exempts an entity from the network's binding."""


def switched(own: ChosenBinding, wanted: AddressBinding, *, is_operator: bool) -> ChosenBinding:
    """Return what a switch leads to: only an operator begins and ends an exemption."""
    if wanted is own.binding:
        return own
    if is_operator:
        return ChosenBinding(wanted, exempt=wanted is AddressBinding.WATCH)
    if wanted is AddressBinding.NETWORK and own.exempt:
        return ChosenBinding(AddressBinding.WATCH, exempt=True)
    return ChosenBinding(wanted, own.exempt)


def is_enforced(own: AddressBinding, listed: Sequence[str], *, network_enforces: bool) -> bool:
    """Return whether other addresses are refused.

    An entity that lists none is not bound by the network's setting, but is by its own choice:
    removing the addresses from an entry must not remove the binding.
    """
    if own is AddressBinding.NETWORK:
        return network_enforces and bool(listed)
    return own is AddressBinding.ENFORCE


def networks_of(listed: Iterable[str]) -> tuple[Network, ...]:
    """Return the `ips` of an entry as networks; an address is a network of one."""
    return tuple(ip_network(one, strict=False) for one in listed)


def is_listed(address: str, networks: Iterable[Network]) -> bool:
    """Return whether an address is in one of the networks; IPv4 in IPv6 form counts as IPv4."""
    at = parse_address(address)
    return at is not None and any(at in network for network in networks)
