"""Email addresses as usernames, and names of people: what may go into an email."""

import re
import unicodedata
from typing import Final

from msgspec import Struct

from mudra.shared.mail.mail_text import ENCODED_WORD, unsafe_in_mail

MAX_ADDRESS: Final = 254
MAX_LOCAL: Final = 64
MAX_NAME: Final = 100
_LOCAL: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
# IDNA 2003, the codec of the standard library, maps these to other names than IDNA 2008 does:
# an email could go to another's domain.
_DEVIATING: Final = frozenset("ßςẞ\u200c\u200d")
_MIN_LABELS: Final = 2


class AddressRefused(Struct, frozen=True):
    """Refuses an email address; `problem` continues after the field's name."""

    problem: str


class NameRefused(Struct, frozen=True):
    """Not a name that can be displayed; `problem` continues after the field's name."""

    problem: str


def normalize_email(typed: str) -> str | AddressRefused:
    """Returns an address in the form that is compared: lower case, ASCII domain.

    One bare address: no display name, no comment, no quoted local part, no address literal.
    """
    if len(typed) > 2 * MAX_ADDRESS:
        return AddressRefused(f"must be at most {MAX_ADDRESS} characters")
    address = unicodedata.normalize("NFC", typed).strip(" ")
    local, at, domain = address.rpartition("@")
    if not at or ENCODED_WORD in address or not _LOCAL.fullmatch(local) or len(local) > MAX_LOCAL:
        return AddressRefused(
            "must be one email address with plain letters before the @, such as admin@bank.example"
        )
    ascii_domain = _ascii_domain(domain)
    if ascii_domain is None:
        return AddressRefused("must be one email address with a valid domain after the @")
    address = f"{local.lower()}@{ascii_domain}"
    if len(address) > MAX_ADDRESS:
        return AddressRefused(f"must be at most {MAX_ADDRESS} characters")
    return address


def display_name(typed: str) -> str | NameRefused:
    """Return a name as it is displayed; refuses what could become an email header."""
    if len(typed) > 4 * MAX_NAME:
        return NameRefused(f"must be 1 to {MAX_NAME} characters")
    name = unicodedata.normalize("NFC", typed).strip(" ")
    if not 1 <= len(name) <= MAX_NAME:
        return NameRefused(f"must be 1 to {MAX_NAME} characters")
    if unsafe_in_mail(name):
        return NameRefused("must not contain control characters or '=?'")
    if "://" in name:
        # It would appear in our emails as a link to another site.
        return NameRefused("must be a name, not an address of the web ('://')")
    return name


def _ascii_domain(domain: str) -> str | None:
    if not _DEVIATING.isdisjoint(domain):
        return None
    try:
        ascii_domain = domain.encode("idna").decode().lower()
    except UnicodeError:
        return None
    labels = ascii_domain.split(".")
    # No mail gets to a name without a dot, as in `dev@quick`, but to this machine itself.
    if (
        (len(labels) < _MIN_LABELS and ascii_domain != "localhost")
        or labels[-1].isdigit()
        or not all(_LABEL.fullmatch(label) for label in labels)
    ):
        return None
    return ascii_domain
