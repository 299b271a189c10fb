"""For whom passkeys are made: the host name of the service's public address. Pure.

WebAuthn 5.1.3 binds a passkey to a domain (RP ID); an IP address is none, so passkeys are off then.
"""

from urllib.parse import urlsplit

from msgspec import Struct

from mudra.shared.network_address import is_loopback, parse_address


class RelyingParty(Struct, frozen=True):
    """The domain that passkeys are bound to, and the one origin whose pages may use them."""

    rp_id: str
    origin: str


def relying_party(base_url: str) -> RelyingParty | None:
    """Return the relying party of a public address; None where browsers allow no passkeys.

    They ask for a host name, and for https unless the host is this machine (secure contexts).
    """
    parts = urlsplit(base_url)
    host = (parts.hostname or "").rstrip(".")
    if not host or parse_address(host) is not None:
        return None
    if parts.scheme != "https" and not is_loopback(host):
        return None
    default = {"https": 443, "http": 80}.get(parts.scheme)
    port = f":{parts.port}" if parts.port not in {None, default} else ""
    return RelyingParty(host, f"{parts.scheme}://{host}{port}")
