"""The addresses to which credentials may be sent and from which keys may be fetched."""

import ipaddress
from urllib.parse import urlsplit


def checked_url(url: str, *, allow_http: bool) -> str:
    """Return the address without a final slash; ValueError unless https or this machine."""
    parts = urlsplit(url)  # leaves blanks and line ends out, which a request does not
    host = parts.hostname or ""
    is_absolute = host and parts.scheme in {"https", "http"} and parts.port != 0
    if not is_absolute or any(character.isspace() for character in url):
        raise ValueError(f"the address must be absolute and begin with https://, not {url!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("the address must have no user, query or fragment")
    if not is_safe(parts.scheme, host, allow_http=allow_http):
        raise ValueError(
            f"{url} is not https; pass allow_http=True if the network in between is yours"
        )
    return url.rstrip("/")


def is_safe(scheme: str, host: str, *, allow_http: bool) -> bool:
    """Return whether credentials may go there: https, this machine, a trusted network."""
    return scheme == "https" or allow_http or _is_this_machine(host)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
