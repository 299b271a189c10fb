"""The addresses to which messages may be sent."""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from mudra.registry.payload.fields.url_rules import AddressPolicy, AnyIp, ip_faults, url_faults

HTTPS_PORT: Final = 443
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Reach(Struct, frozen=True):
    """Public https, and the private `networks` that the operator allows.

    The form of a URL is checked when it is added, the IP address of its host at each call.
    """

    policy: AddressPolicy
    networks: tuple[Network, ...] = ()
    ports: frozenset[int] | None = None
    """Without another, no other server than one of the web is called; None for any port."""

    def url_fault(self, url: str) -> str | None:
        """Returns why no message may be sent to a URL by its form; None when one may."""
        opened = self.policy.allow_private or bool(self.networks)
        faults = url_faults(url, AddressPolicy(self.policy.allow_http, opened), query=True)
        if faults:
            return f"{faults[0].problem}: it must be {faults[0].allowed}"
        port = urlsplit(url).port or HTTPS_PORT
        if self.ports is not None and port not in self.ports:
            return f"has the port {port}: it must be {' or '.join(map(str, sorted(self.ports)))}"
        literal = literal_ip(urlsplit(url).hostname or "")
        return self.ip_fault(literal) if literal else None

    def ip_fault(self, address: AnyIp) -> str | None:
        """Returns why no message may be sent to an IP address; None when one may."""
        if any(address in network for network in self.networks):
            return None
        faults = ip_faults(address, self.policy)
        return f"{faults[0].problem}: it must be {faults[0].allowed}" if faults else None


def literal_ip(host: str) -> AnyIp | None:
    """Returns the IP address of a host in numeric form; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
