"""An entry of the registry in its wire shape, exactly spec 2.7.

These structs are both the wire shape and the domain value. `validation.py` makes
them from a payload; empty values have the form that 2.7 names.
"""

import enum
import hashlib

import msgspec

from mudra.registry.payload.fields.certificate import Certificate
from mudra.shared.entity_type import EntityType


class Category(enum.StrEnum):
    """How strongly an identifier identifies a customer."""

    STRONG = "STRONG"
    WEAK = "WEAK"
    ANCILLARY = "ANCILLARY"


class Requester(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who submits."""

    name: str
    id: str
    """`requester.id`; the row in spec 2.7 has an address in its place."""


class Identifier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of customer identifier that a FIP accepts in account discovery."""

    category: Category
    type: str


class Gateway(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`gsp`: the gateway service provider of a FIP."""

    id: str
    name: str
    ip: str
    url: str


class TokenInfo(msgspec.Struct, frozen=True):
    """Reserved: nothing that was sent is stored."""

    url: str = ""
    desc: str = ""


class Signature(msgspec.Struct, frozen=True, rename={"sign_value": "signValue"}):
    """Reserved: nothing that was sent is stored."""

    sign_value: str = ""


class EntityInfo(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"identifiers": "Identifiers"}
):
    """The object `entityinfo`, which spec 2.7 calls "the service"."""

    tags: str
    name: str
    id: str
    code: str
    entityhandle: str
    identifiers: tuple[Identifier, ...]
    baseurl: str
    webviewurl: str | None
    fitypes: tuple[str, ...]
    inboundports: tuple[str, ...]
    outboundports: tuple[str, ...]
    ips: tuple[str, ...]
    certificate: Certificate
    gsp: Gateway | None
    tokeninfo: TokenInfo = TokenInfo()
    signature: Signature = Signature()


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole registration payload."""

    ver: str
    timestamp: str
    txnid: str
    type: EntityType
    requester: Requester
    entityinfo: EntityInfo


def canonical(entry: Entry) -> bytes:
    """Return the entry's one byte form: members sorted, no spaces, UTF-8 (RFC 8785)."""
    return msgspec.json.encode(entry, order="sorted")


def read_canonical(body: bytes) -> Entry:
    """Read what `canonical` wrote. Raises `msgspec.ValidationError` on anything else."""
    return msgspec.json.decode(body, type=Entry)


def digest(body: bytes) -> str:
    """Return the SHA-256 of an entry's byte form, in hexadecimal."""
    return hashlib.sha256(body).hexdigest()
