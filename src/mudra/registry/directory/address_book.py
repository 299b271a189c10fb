"""The entity that an address belongs to, by the `ips` of the live entries (spec 2.7)."""

import ipaddress
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from mudra.registry.directory.directory import Directory

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


class _Info(msgspec.Struct):
    ips: list[str] | None = None


class _Listed(msgspec.Struct):
    entityinfo: _Info


class AddressBook(Struct, frozen=True):
    """The addresses of all live entries. An address may belong to several that share a host."""

    single: Mapping[_Address, Sequence[str]]
    networks: Sequence[tuple[_Network, str]]

    def holders(self, address: str) -> Sequence[str]:
        """Return the entities that registered the address; none for a stranger's."""
        try:
            at = ipaddress.ip_address(address)
        except ValueError:
            return ()
        within = [entity_id for network, entity_id in self.networks if at in network]
        return sorted({*self.single.get(at, ()), *within})


def address_book(directory: Directory) -> AddressBook:
    """Read the addresses out of a directory."""
    single: dict[_Address, list[str]] = defaultdict(list)
    networks: list[tuple[_Network, str]] = []
    for listed in directory.listed.values():
        entry = msgspec.json.decode(listed.body, type=_Listed)
        for text in entry.entityinfo.ips or ():
            network = ipaddress.ip_network(text, strict=False)
            if network.num_addresses == 1:
                single[network.network_address].append(listed.entity_id)
            else:
                networks.append((network, listed.entity_id))
    return AddressBook(single, networks)
