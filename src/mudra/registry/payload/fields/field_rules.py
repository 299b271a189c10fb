"""The rules of an entry's fields, which the structs of an entry carry as annotations.

Validation, the published schema, the registration page and the comparison of entries read them
from there. The specification names neither lengths nor alphabets; these are generous against
every entry seen, and bound what one payload can cost.
"""

import enum
import re
from collections.abc import Mapping
from functools import cache
from typing import Final, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

from mudra.localization.language import translatable
from mudra.registry.payload.fields.url_rules import BASEURL, HTTPS
from mudra.registry.payload.inspection import TextRule
from mudra.shared.entity_type import EntityType

ANY_WORD: Final = TextRule("", 200)
"""Of fields whose words a vocabulary lists."""
NAME: Final = TextRule(translatable("a name of 1 to 200 characters"), 200)
TAGS: Final = TextRule(translatable("a text of up to 64 characters, such as Sandbox"), 64)
CODE: Final = TextRule(translatable("the regulator's ID, 1 to 64 characters"), 64)
ENTITY_ID: Final = TextRule(
    translatable("1 to 64 letters, digits and the characters @ . _ -"),
    64,
    re.compile(r"[A-Za-z0-9@._-]{1,64}"),
    lambda value: re.sub(r"[^A-Za-z0-9@._-]+", "-", value).strip("-"),
)
HANDLE: Final = TextRule(
    translatable("@ followed by 1 to 63 letters, digits and the characters . _ -"),
    64,
    re.compile(r"@[A-Za-z0-9][A-Za-z0-9._-]{0,62}"),
    lambda value: "@" + value.lstrip("@").replace(" ", ""),
)
URL: Final = TextRule(HTTPS, 2048)
VERSIONED_URL: Final = TextRule(BASEURL, 2048)
VERSION: Final = TextRule(
    translatable("a schema version such as 1.0"), 16, re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,15}")
)
TXNID: Final = TextRule(translatable("a UUID such as 6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90"), 64)


class Risk(enum.StrEnum):
    """The risk of a change, as an approver reads it."""

    NONE = ""
    KEY = translatable("Signatures are verified with another key")
    IDENTITY = translatable("Members and customers read another name")
    TRAFFIC = translatable("Calls go to another address")
    REDIRECT = translatable("Users are sent to another page")
    FIREWALL = translatable("Members must allow new IP addresses")


class Field(Struct, frozen=True, kw_only=True):
    """One field of a payload; the form of an object or a word follows from its type."""

    rule: TextRule = ANY_WORD
    """Of a text, or of each text of a list."""
    words: tuple[str, ...] = ()
    """The texts that are allowed, where they are few."""
    most: int = 0
    """Items of a list."""
    schema: Mapping[str, object] | None = None
    """Its JSON Schema, where it does not follow from the rest."""
    about: str = ""
    """Its description in the schema."""
    items: str = ""
    """The description of its list in the schema."""
    label: str = ""
    """Its name on pages; empty for a field that they show as it is written."""
    only: EntityType | None = None
    """spec 2.7, column Required: the type that alone fills it."""
    empty: str = ""
    """The form in which it may be empty; "" for a field that must be filled."""
    risk: Risk = Risk.NONE
    needs_approval: bool = False
    """Whether a change of it waits for an operator."""


@cache
def fields_of(struct: type[Struct]) -> Mapping[str, Field]:
    """Return the fields of an object of a payload, by their names on the wire, in their order."""
    hints = get_type_hints(struct, include_extras=True)
    return {one.encode_name: hints[one.name].__metadata__[0] for one in fields(struct)}
