"""Which addresses messages may go to (quality I11)."""

import ipaddress
from urllib.parse import urlsplit

from msgspec import Struct

from mudra.registry.payload.url_rules import AddressPolicy, AnyIp, ip_faults, url_faults

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Reach(Struct, frozen=True):
    """Public https, and the private `networks` that the operator opens.

    The form of an address is judged when it is given, the machine behind it at each call.
    """

    policy: AddressPolicy
    networks: tuple[Network, ...] = ()

    def url_fault(self, url: str) -> str | None:
        """Say what keeps messages from going to an address; None when its form does not."""
        opened = self.policy.allow_private or bool(self.networks)
        faults = url_faults(url, AddressPolicy(self.policy.allow_http, opened), query=True)
        if faults:
            return f"{faults[0].problem}: it must be {faults[0].allowed}"
        literal = literal_ip(urlsplit(url).hostname or "")
        return self.ip_fault(literal) if literal else None

    def ip_fault(self, address: AnyIp) -> str | None:
        """Say why no message goes to a machine; None when it may."""
        if any(address in network for network in self.networks):
            return None
        faults = ip_faults(address, self.policy)
        return f"{faults[0].problem}: it must be {faults[0].allowed}" if faults else None


def literal_ip(host: str) -> AnyIp | None:
    """Give the IP address that a host is written as; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
