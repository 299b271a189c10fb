"""Binding of an entity's credentials to the addresses that its entry lists: the rule. Pure."""

import enum
from collections.abc import Iterable, Sequence
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final, TypeAlias

from msgspec import Struct

from mudra.shared.network_address import parse_address
from mudra.shared.refusal import (
    WAIT_TEXT,
    ErrorCode,
    LimitedUntil,
    PlainRefusal,
    Refusal,
    RefusalKind,
)

Network: TypeAlias = IPv4Network | IPv6Network

WATCHED_DAYS: Final = 30
"""Uses of so many days show what a binding would refuse."""
MAX_SWITCHES: Final = 10
"""By admins of an entity, in `SWITCHES_IN`: each sends an email to its admins and its contact."""
SWITCHES_IN: Final = timedelta(hours=24)
_MAX_NAMED: Final = 5


class AddressBinding(enum.StrEnum):
    """The answer to a right secret or assertion from an address that is not listed."""

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

    kind = RefusalKind.UNAUTHORIZED
    code = ErrorCode.ADDRESS_NOT_LISTED
    entity_id: str
    address: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return (
            f"{self.address} is not among the ips of the registry entry of {self.entity_id}: add "
            "it there, or, unless the network requires the binding, switch it off (mudra registry "
            "binding, or the console)"
        )


class NoListedAddresses(Refusal, frozen=True):
    """The entity's live entry lists no address, so that a binding would refuse everything."""

    kind = RefusalKind.CONFLICT
    entity_id: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return (
            f"the live registry entry of {self.entity_id} lists no address in ips, so nothing "
            "could get a token: add addresses first"
        )


class AddressesInUse(Refusal, frozen=True):
    """Addresses that are not listed got tokens lately; a binding would refuse them."""

    kind = RefusalKind.CONFLICT
    addresses: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        more = len(self.addresses) - _MAX_NAMED
        named = ", ".join(self.addresses[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
        return (
            f"{named} got tokens in the last {WATCHED_DAYS} days and would be "
            "refused: list what is yours in the entry's ips, or send evenSo"
        )


class TooManySwitches(LimitedUntil, frozen=True):
    """The entity's admins switched its binding as often as 24 hours permit."""

    sentence = (
        f"an entity's admins switch its binding at most {MAX_SWITCHES} times in 24 hours: ask "
        f"the operator of the network; {WAIT_TEXT}"
    )


EXEMPTION_BY_OPERATOR: Final = PlainRefusal(
    RefusalKind.UNAUTHORIZED,
    "binding watch exempts an entity from the network's setting: only an operator may",
)


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
