"""E-mail addresses as usernames, and names of people: what may reach a mail (quality 2.4, I8)."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

MAX_ADDRESS: Final = 254
MAX_LOCAL: Final = 64
MAX_NAME: Final = 100
_LOCAL: Final = re.compile(r"[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*")
_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_ENCODED_WORD: Final = "=?"


@dataclass(frozen=True, slots=True)
class AddressRefused:
    """Not an address that can be used; `problem` goes on after the field's name."""

    problem: str


@dataclass(frozen=True, slots=True)
class NameRefused:
    """Not a name that can be shown; `problem` goes on after the field's name."""

    problem: str


def normalise_email(typed: str) -> str | AddressRefused:
    """Bring an address into the form in which it is compared: NFC, lower case, ASCII domain."""
    address = unicodedata.normalize("NFC", typed).strip()
    if len(address) > MAX_ADDRESS:
        return AddressRefused(f"must be at most {MAX_ADDRESS} characters")
    local, at, domain = address.rpartition("@")
    if not at or _ENCODED_WORD in address or not _LOCAL.fullmatch(local) or len(local) > MAX_LOCAL:
        return AddressRefused("must be one e-mail address, such as admin@bank.example")
    try:
        ascii_domain = domain.encode("idna").decode().lower()
    except UnicodeError:
        return AddressRefused("must be one e-mail address with a valid domain")
    labels = ascii_domain.split(".")
    if not all(_LABEL.fullmatch(label) for label in labels):
        return AddressRefused("must be one e-mail address with a valid domain")
    return f"{local.lower()}@{ascii_domain}"


def display_name(typed: str) -> str | NameRefused:
    """Bring a name into the form in which it is shown; refuses what could become a mail header."""
    name = unicodedata.normalize("NFC", typed).strip()
    if not 1 <= len(name) <= MAX_NAME:
        return NameRefused(f"must be 1 to {MAX_NAME} characters")
    if _ENCODED_WORD in name or any(_is_control(char) for char in name):
        return NameRefused("must hold no control characters and no '=?'")
    return name


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} and char not in {
        "\u200c",  # the joiners that names in Indian scripts need
        "\u200d",
    }
