"""An entry of the registry in its wire shape, exactly spec 2.7.

These structs are the wire shape, the domain value and the table of the fields' rules.
`validation.py` makes them from a payload; empty values have the form that 2.7 names.
"""

import enum
import hashlib
from typing import Annotated, Final

import msgspec

from mudra.localization.language import translatable
from mudra.registry.payload.fields import field_rules as rule
from mudra.registry.payload.fields.certificate import Certificate
from mudra.registry.payload.fields.field_rules import Field, Risk
from mudra.registry.payload.fields.network_rules import IP, PORT
from mudra.registry.payload.fields.timestamp import UTC_TIME
from mudra.shared.entity_type import EntityType


class Category(enum.StrEnum):
    """The strength with which an identifier identifies a customer."""

    STRONG = "STRONG"
    WEAK = "WEAK"
    ANCILLARY = "ANCILLARY"


class Requester(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The person who submits."""

    name: Annotated[str, Field(rule=rule.NAME)]
    id: Annotated[str, Field(rule=rule.ENTITY_ID, about="case-sensitive")]
    """`requester.id`; the row in spec 2.7 has an address in its place."""


class Identifier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of customer identifier that a FIP accepts in account discovery."""

    category: Annotated[Category, Field(words=tuple(Category))]
    type: Annotated[str, Field()]


class Gateway(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`gsp`: the gateway service provider of a FIP."""

    id: Annotated[str, Field(rule=rule.ENTITY_ID, about="case-sensitive")]
    name: Annotated[str, Field(rule=rule.NAME)]
    ip: Annotated[str, Field(rule=IP, about="an IP address")]
    url: Annotated[str, Field(rule=rule.URL)]


class TokenInfo(msgspec.Struct, frozen=True):
    """Reserved: nothing that was sent is stored."""

    url: str = ""
    desc: str = ""


class Signature(msgspec.Struct, frozen=True, rename={"sign_value": "signValue"}):
    """Reserved: nothing that was sent is stored."""

    sign_value: str = ""


_RESERVED: Final = Field(
    schema={}, about="reserved: anything is accepted and nothing stored", empty="null"
)


class EntityInfo(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"identifiers": "Identifiers"}
):
    """The object `entityinfo`, which spec 2.7 calls "the service"."""

    # A change of who it says to be, where traffic goes or whose signature counts needs approval.
    # fmt: off
    tags: Annotated[str, Field(rule=rule.TAGS, about="environment, such as Sandbox", empty='""')]
    name: Annotated[str, Field(
        rule=rule.NAME, label=translatable("Name"), risk=Risk.IDENTITY, needs_approval=True)]
    id: Annotated[str, Field(rule=rule.ENTITY_ID, about="case-sensitive")]
    code: Annotated[str, Field(
        rule=rule.CODE, about="the ID that the sector's regulator issued",
        label=translatable("Code"), risk=Risk.IDENTITY, needs_approval=True)]
    entityhandle: Annotated[str, Field(
        rule=rule.HANDLE, about="AA only, unique", label=translatable("Handle"),
        only=EntityType.AA, empty='""')]
    identifiers: Annotated[tuple[Identifier, ...], Field(
        most=64, about="FIP only", items="at least one STRONG", label=translatable("Identifiers"),
        only=EntityType.FIP, empty="[]")]
    baseurl: Annotated[str, Field(
        rule=rule.VERSIONED_URL, about="vN:URL, several with commas, or a bare https URL",
        label=translatable("Base URL"), risk=Risk.TRAFFIC, needs_approval=True)]
    webviewurl: Annotated[str | None, Field(
        rule=rule.URL, about="AA only", label=translatable("Web view URL"),
        only=EntityType.AA, empty="null", risk=Risk.REDIRECT, needs_approval=True)]
    fitypes: Annotated[tuple[str, ...], Field(
        most=64, about="FIP only", items="FI types", label=translatable("FI types"),
        only=EntityType.FIP, empty="[]")]
    inboundports: Annotated[tuple[str, ...], Field(
        rule=PORT, most=64, items="ports 1 to 65535 or ranges, as strings",
        label=translatable("Inbound ports"), risk=Risk.FIREWALL)]
    outboundports: Annotated[tuple[str, ...], Field(
        rule=PORT, most=64, items="ports 1 to 65535 or ranges, as strings",
        label=translatable("Outbound ports"), risk=Risk.FIREWALL)]
    ips: Annotated[tuple[str, ...], Field(
        rule=IP, most=100, items="IPv4, IPv6 or CIDR", label=translatable("IP addresses"),
        risk=Risk.FIREWALL, needs_approval=True)]
    certificate: Annotated[Certificate, Field(
        label=translatable("Public key"), risk=Risk.KEY, needs_approval=True)]
    gsp: Annotated[Gateway | None, Field(
        about="FIP only; reserved", only=EntityType.FIP, empty="null",
        risk=Risk.TRAFFIC, needs_approval=True)]
    # fmt: on
    tokeninfo: Annotated[TokenInfo, _RESERVED] = TokenInfo()
    signature: Annotated[Signature, _RESERVED] = Signature()


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole registration payload."""

    ver: Annotated[str, Field(rule=rule.VERSION)]
    # fmt: off
    timestamp: Annotated[str, Field(
        schema={"type": "string", "format": "date-time", "pattern": f"^{UTC_TIME.pattern}$"},
        about="in UTC")]
    # fmt: on
    txnid: Annotated[str, Field(rule=rule.TXNID, schema={"type": "string", "format": "uuid"})]
    type: Annotated[EntityType, Field(words=tuple(EntityType))]
    requester: Annotated[Requester, Field()]
    entityinfo: Annotated[EntityInfo, Field()]


def canonical(entry: Entry) -> bytes:
    """Return the entry's one byte form: members sorted, no spaces, UTF-8 (RFC 8785)."""
    return msgspec.json.encode(entry, order="sorted")


def read_canonical(body: bytes) -> Entry:
    """Read what `canonical` wrote. Raises `msgspec.ValidationError` on anything else."""
    return msgspec.json.decode(body, type=Entry)


def digest(body: bytes) -> str:
    """Return the SHA-256 of an entry's byte form, in hexadecimal."""
    return hashlib.sha256(body).hexdigest()
