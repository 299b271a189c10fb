"""Parsers of single settings. Each raises ValueError or KeyError for what is not allowed."""

import base64
import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from mudra.audit.export.exported_event import ExportDestination, destination_of
from mudra.identity.accounts.email_address import normalize_email
from mudra.identity.operators.operator import Scope
from mudra.localization.languages import TAG
from mudra.shared.secret_text import SecretText

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_MAX_PORT: Final = 65535
_USER_INFO: Final = re.compile(r"(?:[^@/?#\[\]\\%\s]|%[0-9A-Fa-f]{2})*")
_CONTACT: Final = re.compile(r"(?:mailto:[!-~]+@|tel:[+0-9]|https://[!-~])[!-~]{1,500}")
ENCODED: Final = "with @ / ? # % of user and password as %40 %2F %3F %23 %25"
DATABASE: Final = f"postgresql://user:password@host/database, {ENCODED}"
_LEAST_KEY: Final = 24
_LONGEST_KEY: Final = 64


def text(value: str) -> str:
    """Read a text that is not empty."""
    if not value.strip():
        raise ValueError
    return value.strip()


def language(value: str) -> str:
    """Read the tag of a language, such as `en-IN`."""
    if not TAG.fullmatch(value):
        raise ValueError
    return value


def time_zone(value: str) -> str:
    """Read a name of the time zone database."""
    if value not in available_timezones():
        raise ValueError
    return value


def port(value: str) -> int:
    """Read a port, 0 for any free one."""
    number = int(value)
    if not 0 <= number <= _MAX_PORT:
        raise ValueError
    return number


def whole(low: int, high: int) -> Callable[[str], int]:
    """Make a parser of whole numbers in a range."""

    def parse(value: str) -> int:
        number = int(value)
        if not low <= number <= high:
            raise ValueError
        return number

    return parse


_ONE_RATE: Final = whole(1, 100000)
RATE: Final = "RATE+AT_ONCE, each 1 to 100000"


@dataclass(frozen=True)
class Rate:
    """A number in a period, and a number at once above it."""

    steady: int
    burst: int

    def __str__(self) -> str:
        return f"{self.steady}+{self.burst}"


def rate(value: str) -> Rate:
    """Read a rate with what may come at once, such as `20+200`."""
    steady, plus, burst = value.partition("+")
    if not plus:
        raise ValueError
    return Rate(_ONE_RATE(steady), _ONE_RATE(burst))


def share(value: str) -> float:
    """Read a number from 0 to 1."""
    number = float(value)
    if not 0 <= number <= 1:
        raise ValueError
    return number


def flag(value: str) -> bool:
    """Read a yes or no."""
    return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[
        value.lower()
    ]


def url(value: str) -> str:
    """Read an absolute http or https URL."""
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError
    return value.rstrip("/")


def secret_url(value: str) -> SecretText:
    """Read a URL with a password, which must be written so that it has one reading.

    A program that took a piece of the password for the host would print it.
    """
    _, separator, rest = value.partition("://")
    user_info, _, _ = rest.rpartition("@")
    if not separator or not _USER_INFO.fullmatch(user_info):
        raise ValueError
    return SecretText(value)


def networks(value: str) -> tuple[Network, ...]:
    """Read networks in CIDR form."""
    return tuple(ipaddress.ip_network(part.strip()) for part in value.split(",") if part.strip())


def ports(value: str) -> tuple[int, ...]:
    """Read port numbers, separated by commas."""
    one = whole(1, 65535)
    return tuple(one(part) for part in value.split(",") if part.strip())


def choice(*allowed: str) -> Callable[[str], str]:
    """Returns a parser that accepts these texts only."""

    def parse(value: str) -> str:
        if value not in allowed:
            raise ValueError
        return value

    return parse


def second_place(value: str) -> str:
    """Read where the audit's checkpoints are copied to."""
    kind, _, place = value.partition(":")
    if kind not in {"file", "directory", "syslog"} or (kind != "file" and not place):
        raise ValueError
    if kind == "syslog" and not place.startswith("/") and ":" in place:
        port(place.rpartition(":")[2])
    return value


def key_size(value: str) -> int:
    """Read the size of a signing key."""
    return int(choice("2048", "3072", "4096")(value))


def paths(value: str) -> tuple[str, ...]:
    """Read paths, each with one slash in front."""
    prefixes = tuple("/" + part.strip().strip("/") for part in value.split(",") if part.strip())
    if not prefixes or "/" in prefixes:
        raise ValueError
    return prefixes


def audit_export(value: str) -> ExportDestination:
    """Read where events of the audit are sent."""
    return destination_of(value)


def directories(value: str) -> tuple[Path, ...]:
    """Read absolute paths."""
    found = tuple(Path(part.strip()) for part in value.split(",") if part.strip())
    if not all(one.is_absolute() for one in found):
        raise ValueError
    return found


def origins(value: str) -> tuple[str, ...]:
    """Parse origins of http or https; raises ValueError for a URL with more than host and port."""
    found = tuple(one.strip() for one in value.split(",") if one.strip())
    for one in found:
        parts = urlsplit(url(one))
        if one != f"{parts.scheme}://{parts.netloc}" or parts.username is not None:
            raise ValueError(one)
    return found


def addresses(value: str) -> tuple[str, ...]:
    """Read email addresses, separated by commas."""
    found = [normalize_email(part) for part in value.split(",") if part.strip()]
    valid = tuple(one for one in found if isinstance(one, str))
    if len(valid) < len(found):
        raise ValueError
    return valid


def contacts(value: str) -> tuple[str, ...]:
    """Read whom security.txt names (RFC 9116 2.5.3): a bare email address becomes a mailto: URI."""
    found = []
    for part in value.split(","):
        one = part.strip()
        if "@" in one and ":" not in one:
            one = f"mailto:{addresses(one)[0]}"
        if not _CONTACT.fullmatch(one):
            raise ValueError
        found.append(one)
    return tuple(found)


def public_keys(value: str) -> tuple[str, ...]:
    """Read public keys of age, separated by commas."""
    keys = tuple(part.strip() for part in value.split(",") if part.strip())
    if not keys or not all(key.startswith("age1") for key in keys):
        raise ValueError
    return keys


def webhook_key(value: str) -> SecretText:
    """Read a key of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64."""
    prefix, key = value[:6], base64.b64decode(value[6:], validate=True)
    if prefix != "whsec_" or not _LEAST_KEY <= len(key) <= _LONGEST_KEY:
        raise ValueError
    return SecretText(value)


def scope_map(value: str) -> tuple[tuple[str, frozenset[Scope]], ...]:
    """Read which scopes each value of a claim gives: `noc=health+audit,chiefs=members`."""
    found = []
    for part in value.split(","):
        name, _, scopes = part.strip().rpartition("=")
        if not name:
            raise ValueError
        found.append((name, frozenset(Scope(one.strip()) for one in scopes.split("+"))))
    return tuple(found)


def factor_claims(value: str) -> tuple[tuple[str, str], ...]:
    """Read claims that count as a second factor: `amr=mfa,acr=urn:example:strong`."""
    found = []
    for part in value.split(","):
        claim, _, wanted = part.strip().partition("=")
        if claim not in {"amr", "acr"} or not wanted:
            raise ValueError
        found.append((claim, wanted))
    return tuple(found)
