"""Ports and IP addresses of an entry, which counterparties put into their firewalls."""

import ipaddress
import re
from typing import Final

from mudra.localization.language import translatable
from mudra.registry.payload import finding_texts as texts
from mudra.registry.payload.fields.url_rules import ZONE, AddressPolicy, ip_faults
from mudra.registry.payload.inspection import Inspection, TextRule, is_empty, show

_PORT = re.compile(r"[1-9][0-9]{0,4}(-[1-9][0-9]{0,4})?")
PORT: Final = TextRule(
    translatable("a port from 1 to 65535 or a range such as 8000-8010"),
    11,
    _PORT,
)
IP: Final = TextRule(
    translatable("an IPv4 or IPv6 address, or a network such as 203.0.114.0/28"), 64
)
WIDEST: Final = {4: 16, 6: 32}
"""The shortest network prefix accepted: a wider network opens members' firewalls too far."""

_LAST_PORT = 65535
_LOOSE_IPV4 = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4}){3})(/[0-9]{1,2})?")
_LOOSE_PORT = re.compile(r"\s*0*([1-9][0-9]{0,4})(?:\s*(?:-|:|to)\s*0*([1-9][0-9]{0,4}))?\s*")


def read_port(inspection: Inspection, path: str, value: object) -> str | None:
    """Return one item of `inboundports` or `outboundports`."""
    if isinstance(value, int) and not isinstance(value, bool):
        nearest = str(value) if 0 < value <= _LAST_PORT else ""
        inspection.odd(path, texts.NO_STRING % {"value": show(value)}, PORT.allowed, nearest)
        return nearest or None
    if not isinstance(value, str) or is_empty(value):
        inspection.error(path, texts.NO_STRING % {"value": show(value)}, PORT.allowed)
        return None
    if _PORT.fullmatch(value) and _rises(value):
        return value
    inspection.error(
        path, texts.NOT_ALLOWED % {"value": show(value)}, PORT.allowed, _nearest_port(value)
    )
    return None


def _rises(value: str) -> bool:
    first, _, last = value.partition("-")
    return int(first) < int(last) <= _LAST_PORT if last else int(first) <= _LAST_PORT


def _nearest_port(value: str) -> str:
    match = _LOOSE_PORT.fullmatch(value[:32])
    if match is None:
        return ""
    ends = sorted({int(end) for end in match.groups() if end})
    return "-".join(map(str, ends)) if ends[-1] <= _LAST_PORT else ""


def read_ip(inspection: Inspection, path: str, value: object, policy: AddressPolicy) -> str | None:
    """Return one item of `ips` in its canonical form."""
    if not isinstance(value, str) or is_empty(value):
        inspection.error(path, texts.NO_STRING % {"value": show(value)}, IP.allowed)
        return None
    if "%" in value:  # a zone may be any text, of any length
        inspection.faults(path, [ZONE])
        return None
    if len(value) > IP.longest:
        inspection.error(path, texts.NOT_ALLOWED % {"value": show(value)}, IP.allowed)
        return None
    try:
        network = ipaddress.ip_network(value)
    except ValueError:
        inspection.error(
            path, texts.NOT_ALLOWED % {"value": show(value)}, IP.allowed, _nearest_ip(value)
        )
        return None
    if "/" in value and network.prefixlen < WIDEST[network.version]:
        allowed = texts.LONGER_PREFIX % {"bits": WIDEST[network.version]}
        inspection.error(path, texts.TOO_WIDE % {"network": network}, allowed)
        return None
    faults = ip_faults(network[0], policy) or ip_faults(network[-1], policy)
    inspection.faults(path, faults)
    canonical = str(network) if "/" in value else str(network[0])
    if canonical != value and not faults:
        inspection.note(path, texts.CANONICAL % {"value": canonical})
    return None if faults else canonical


def _nearest_ip(value: str) -> str:
    """Return the likely address, without spaces, leading zeros, host bits, port or scheme."""
    found = _LOOSE_IPV4.search(value[:64])
    bare = value[:64].strip()
    if found:
        bare = ".".join(str(int(octet)) for octet in found[1].split(".")) + (found[2] or "")
    try:
        network = ipaddress.ip_network(bare, strict=False)
    except ValueError:
        return ""
    return str(network) if "/" in bare else str(network[0])
