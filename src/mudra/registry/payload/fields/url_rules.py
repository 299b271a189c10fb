"""Addresses in an entry: `baseurl`, `webviewurl`, the gateway's URL.

Only their form is judged, and nothing here asks the network about them: a probe does, when an
operator wants it (decision 0171).
"""

import ipaddress
import re
import urllib.parse
from typing import Final

from msgspec import Struct

from mudra.localization.language import translatable
from mudra.registry.payload import finding_texts as texts
from mudra.registry.payload.inspection import SPACED, Fault, fold, show

MAX_URL: Final = 2048
MAX_VERSIONS: Final = 8

_URL_CHARACTERS = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_VERSIONED = re.compile(r"v([1-9][0-9]{0,3}):(.*)", re.DOTALL)
_LOOSELY_VERSIONED = re.compile(r"\s*[vV]0*([1-9][0-9]{0,3})(?:\.0)?\s*:\s*(https?:.*\S)\s*")
_LOCAL_NAMES = ("localhost", "localdomain", "local", "internal", "intranet", "lan", "home.arpa")
HTTPS: Final = translatable("an absolute https URL")
HTTP_TOO: Final = translatable("an absolute https or http URL")
BASEURL: Final = translatable(
    "for example v2:https://api.bank.example/v2, or one https URL; several with commas"
)

ZONE: Final = Fault(
    translatable("has an IPv6 zone, which only its own machine knows"),
    translatable("an address without %"),
)

AnyIp = ipaddress.IPv4Address | ipaddress.IPv6Address


_GLOBAL_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
_SPECIAL_IPV4: Final = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "192.31.196.0/24",  # AS112, which any network may answer: RFC 7535
            "192.52.193.0/24",  # automatic multicast tunnelling: RFC 7450
            "192.88.99.0/24",  # relays of 6to4: RFC 3068, deprecated by RFC 7526
            "192.175.48.0/24",  # AS112: RFC 7534
        ),
    )
)
_SPECIAL_IPV6: Final = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "2001::/23",  # IETF protocol assignments, with Teredo: RFC 2928
            "2001:db8::/32",  # documentation: RFC 3849
            "2002::/16",  # 6to4: RFC 3056, deprecated by RFC 7526
            "2620:4f:8000::/48",  # AS112, which any network may answer: RFC 7534
            "3fff::/20",  # documentation: RFC 9637
        ),
    )
)


class AddressPolicy(Struct, frozen=True):
    """The addresses that the operator allows beyond public https; both are meant for a sandbox."""

    allow_http: bool = False
    allow_private: bool = False


def baseurl_faults(text: str, policy: AddressPolicy) -> list[Fault]:
    """Say everything that is wrong with a `baseurl`."""
    parts = text.split(",")
    if len(text) > MAX_URL:
        return [_too_long(text)]
    if len(parts) > MAX_VERSIONS:
        return [_too_many(parts)]
    faults: list[Fault] = []
    versions: list[str] = []
    for part in parts:
        match = _VERSIONED.fullmatch(part)
        if match:
            versions.append(match[1])
            faults += url_faults(match[2], policy, query=False)
        elif len(parts) == 1 and not _LOOSELY_VERSIONED.fullmatch(part):
            faults += url_faults(part, policy, query=False)
        else:
            faults.append(_unversioned(part))
    faults += [
        Fault(texts.VERSION_TWICE % {"version": version}, BASEURL)
        for version in sorted({one for one in versions if versions.count(one) > 1})
    ]
    return faults


def _too_long(text: str) -> Fault:
    allowed = texts.MAX_CHARACTERS % {"count": MAX_URL}
    return Fault(texts.CHARACTERS % {"count": len(text)}, allowed)


def _too_many(parts: list[str]) -> Fault:
    allowed = texts.MAX_VERSIONS % {"count": MAX_VERSIONS}
    return Fault(texts.PARTS % {"count": len(parts)}, allowed)


def newest_url(baseurl: str) -> str:
    """Return the URL of the highest version in `v1:URL,v2:URL`, or the bare URL of a valid one."""
    found = [_VERSIONED.fullmatch(part) for part in baseurl.split(",")]
    versions = [(int(one[1]), one[2]) for one in found if one is not None]
    return max(versions)[1] if versions else baseurl


def _unversioned(part: str) -> Fault:
    loose = _LOOSELY_VERSIONED.fullmatch(part)
    nearest = f"v{loose[1]}:{loose[2]}" if loose else ""
    if "@" in part:
        return Fault(translatable("has a part with credentials and without a version"), BASEURL)
    shown = show(part) if part else translatable("an empty part")
    return Fault(texts.NO_VERSION % {"part": shown}, BASEURL, nearest)


def url_faults(text: str, policy: AddressPolicy, *, query: bool) -> list[Fault]:
    """Say everything that is wrong with one URL. Credentials in it are never repeated."""
    unreadable = _unreadable(text)
    if unreadable is not None:
        return [unreadable]
    parts = urllib.parse.urlsplit(text)
    faults = _scheme_faults(text, parts.scheme, policy)
    if not parts.netloc:
        return faults or [Fault(translatable("has no host"), HTTPS)]
    if "@" in parts.netloc:
        faults.append(
            Fault(
                translatable("holds a user name or password"),
                translatable("a URL without credentials"),
            )
        )
    faults += _authority_faults(parts.netloc.rpartition("@")[2], policy)
    if "#" in text:
        faults.append(Fault(translatable("has a fragment"), translatable("a URL without #")))
    if not query and "?" in text:
        faults.append(
            Fault(
                translatable("has a query"),
                translatable("a URL without ?, as paths are put after it"),
            )
        )
    if any(step in {".", ".."} for step in urllib.parse.unquote(parts.path).split("/")):
        faults.append(
            Fault(
                translatable("has a path with . or .. in it"), translatable("the path that remains")
            )
        )
    return faults


def _unreadable(text: str) -> Fault | None:
    if len(text) > MAX_URL:
        return _too_long(text)
    if text != text.strip():
        return Fault(SPACED, HTTPS)
    if not text.isascii():
        return Fault(
            translatable("holds characters beyond ASCII"),
            translatable("a host in its xn-- form, a path in %XX"),
        )
    if not _URL_CHARACTERS.fullmatch(text):
        return Fault(
            translatable("holds a character that a URL must not hold"), translatable("RFC 3986")
        )
    try:
        urllib.parse.urlsplit(text)
    except ValueError:
        return Fault(translatable("is not a URL"), HTTPS)
    return None


def _scheme_faults(text: str, scheme: str, policy: AddressPolicy) -> list[Fault]:
    schemes = ("https", "http") if policy.allow_http else ("https",)
    if scheme not in schemes:
        nearest = f"https{text[4:]}" if scheme == "http" and "@" not in text else ""
        no_url = translatable("is not an absolute URL")
        problem = texts.SCHEME % {"scheme": scheme} if scheme else no_url
        return [Fault(problem, HTTP_TOO if policy.allow_http else HTTPS, nearest)]
    if not text.startswith(f"{scheme}://"):
        return [Fault(texts.BEGINNING % {"start": f"{scheme}://"}, HTTPS)]
    return []


def _authority_faults(authority: str, policy: AddressPolicy) -> list[Fault]:
    host, port = authority, None
    if authority.startswith("["):
        host, _, rest = authority[1:].partition("]")
        port = rest[1:] if rest.startswith(":") else None
    elif ":" in authority:
        host, _, port = authority.partition(":")
    faults = [] if port is None else _port_faults(port)
    if authority.startswith("["):
        return faults + _ipv6_faults(host, policy)
    return faults + host_faults(host, policy)


def _port_faults(port: str) -> list[Fault]:
    if re.fullmatch(r"[1-9][0-9]{0,4}", port) and int(port) <= 65535:  # noqa: PLR2004 - the last port
        return []
    return [
        Fault(texts.PORT % {"value": show(port)}, translatable("a port from 1 to 65535, or none"))
    ]


def _ipv6_faults(host: str, policy: AddressPolicy) -> list[Fault]:
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return [
            Fault(
                translatable("has no valid IPv6 address between [ and ]"),
                translatable("an IPv6 address"),
            )
        ]
    if address.scope_id is not None:
        return [ZONE]
    return ip_faults(address, policy)


def host_faults(host: str, policy: AddressPolicy) -> list[Fault]:
    """Say everything that is wrong with a host name or a dotted IPv4 address."""
    labels = host.split(".")
    if re.fullmatch(r"[0-9]+|0[xX][0-9A-Fa-f]*", labels[-1]):
        return _ipv4_faults(host, policy)
    if host.endswith("."):
        return [
            Fault(
                translatable("has a host that ends with a dot"),
                translatable("a host name"),
                host.rstrip("."),
            )
        ]
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):  # noqa: PLR2004 - RFC 1035
        allowed = translatable("labels of 1 to 63 letters, digits and hyphens, separated by dots")
        return [Fault(texts.HOST % {"value": show(host)}, allowed)]
    if any(not _is_known_encoding(label) for label in labels):
        return [
            Fault(
                texts.HOST % {"value": show(host)},
                translatable("-- in third place only in a valid xn-- label"),
            )
        ]
    local = len(labels) == 1 or host.lower().endswith(tuple(f".{name}" for name in _LOCAL_NAMES))
    if local and not policy.allow_private:
        return [
            Fault(
                texts.LOCAL_HOST % {"value": show(host)},
                translatable("a host that all members can reach"),
            )
        ]
    return []


def _is_known_encoding(label: str) -> bool:
    if label[2:4] != "--":
        return True
    if fold(label[:4]) != "XN__":
        return False
    try:
        return not label[4:].encode().decode("punycode").isascii()
    except (UnicodeError, OverflowError, ValueError):
        return False


def _ipv4_faults(host: str, policy: AddressPolicy) -> list[Fault]:
    try:
        return ip_faults(ipaddress.IPv4Address(host), policy)
    except ValueError:
        return [
            Fault(
                texts.HOST % {"value": show(host)},
                translatable("four numbers 0 to 255 without leading zeros"),
            )
        ]


def ip_faults(address: AnyIp, policy: AddressPolicy) -> list[Fault]:
    """Return why an IP address cannot be one that members reach each other by."""
    for one in (address, *_embedded(address)):
        if one.is_multicast or one.is_unspecified or str(one) == "255.255.255.255":
            return [
                Fault(texts.NO_MACHINE % {"address": address}, translatable("a host's address"))
            ]
        if not _is_global_unicast(one) and not policy.allow_private:
            problem = texts.PRIVATE % {"address": address}
            return [Fault(problem, translatable("a public address"))]
    return []


def _is_global_unicast(address: AnyIp) -> bool:
    """Return whether the Internet routes an address to one host.

    For IPv6 only 2000::/3 counts (RFC 4291 2.4, IANA registry), less what is special inside it:
    a list of what is forbidden misses the next special block.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not any(address in one for one in _SPECIAL_IPV4)
    return (
        address in _GLOBAL_UNICAST
        and address.is_global
        and not any(address in network for network in _SPECIAL_IPV6)
    )


def _embedded(address: AnyIp) -> list[AnyIp]:
    """Return the IPv4 addresses that an IPv6 address leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    inside: list[AnyIp] = [one for one in (address.ipv4_mapped, address.sixtofour) if one]
    if address in ipaddress.IPv6Network("64:ff9b::/96"):
        inside.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return inside
