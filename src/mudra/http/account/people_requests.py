"""Requests about people, as the wire carries them: admins, accounts, operators, mails, audit."""

from datetime import datetime
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.http.token.requests import EntityId
from mudra.identity.accounts.email_address import MAX_ADDRESS, MAX_NAME

Email = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=MAX_ADDRESS,
        description="an e-mail address",
        examples=["ravi@finsight.example"],
        extra_json_schema={"format": "email"},
    ),
]
_EMAIL_OR_NONE: Final[dict[str, object]] = {"anyOf": [{"format": "email"}, {"maxLength": 0}]}
_NAME: Final[dict[str, object]] = {"format": "plain-line"}
"""No control characters, nothing that a mail's header or a link could be made of."""
Name = Annotated[
    str,
    Meta(
        max_length=MAX_NAME,
        description=f"a name of at most {MAX_NAME} characters",
        examples=["Ravi Iyer"],
        extra_json_schema=_NAME,
    ),
]
_Words = Annotated[str, Meta(max_length=100, description="a text of at most 100 characters")]
_Recipient = Annotated[str, Meta(max_length=MAX_ADDRESS, description="an e-mail address")]
_Limit = Annotated[
    str, Meta(pattern=r"^([1-9][0-9]{0,2}|1000)\Z", description="a whole number from 1 to 1000")
]
_Instant = Annotated[
    datetime,
    Meta(tz=True, description="an ISO 8601 instant with its offset, as 2026-01-31T09:30:00Z"),
]
_Flag = Annotated[str, Meta(pattern=r"^(true|false)\Z", description="true or false")]
_Uuid = Annotated[
    str, Meta(pattern=r"^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?\Z", description="a UUID")
]


class EntityRequest(Struct, frozen=True):
    """Ask about one entity."""

    entity_id: EntityId = field(name="entityId")


class AdminRequest(EntityRequest, frozen=True):
    """Add an admin to an entity."""

    email: Email
    name: Name = ""


class AdminRemovalRequest(EntityRequest, frozen=True):
    """End somebody's rights on an entity."""

    email: Email


class HandOverRequest(EntityRequest, frozen=True):
    """Put the one of `email` in the place of `leaving` (for a member: of the caller)."""

    email: Email
    name: Name = ""
    leaving: Annotated[
        str,
        Meta(
            max_length=MAX_ADDRESS,
            description="an e-mail address",
            examples=["asha@finsight.example"],
            extra_json_schema=_EMAIL_OR_NONE,
        ),
    ] = ""


class ContactRequest(EntityRequest, frozen=True):
    """Set the backup contact; an empty address ends it."""

    email: Annotated[
        str,
        Meta(
            max_length=MAX_ADDRESS,
            description="an e-mail address, or empty",
            examples=["it-desk@finsight.example", ""],
            extra_json_schema=_EMAIL_OR_NONE,
        ),
    ]


class TokenRequest(Struct, frozen=True):
    """End one of the caller's tokens."""

    jti: _Uuid


class SessionRequest(Struct, frozen=True):
    """End one of the caller's sessions of the console."""

    session_id: Annotated[
        str,
        Meta(pattern=r"^[0-9a-f]{16}\Z", description="16 hexadecimal digits, as the list has it"),
    ] = field(name="sessionId")


class OnboardRequest(Struct, frozen=True):
    """Onboard a member with one designated admin (spec 1.2)."""

    entity_id: EntityId = field(name="entityId")
    type: Annotated[Literal["FIP", "FIU", "AA"], Meta(description="FIP, FIU or AA")]
    name: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_NAME,
            description=f"a name of 1 to {MAX_NAME} characters",
            examples=["Finsight Lending"],
            extra_json_schema=_NAME,
        ),
    ]
    admin_email: Email = field(name="adminEmail")
    admin_name: Name = field(name="adminName", default="")


class StatusRequest(Struct, frozen=True):
    """Suspend, restore or retire an entity."""

    status: Annotated[
        Literal["active", "suspended", "retired"],
        Meta(description="active, suspended or retired"),
    ]
    reason: Annotated[
        str, Meta(min_length=1, max_length=200, description="a reason of 1 to 200 characters")
    ]


class AddressRequest(Struct, frozen=True):
    """Move an account to a new address."""

    email: Email


class RevokeRequest(Struct, frozen=True):
    """End one token of a user, or all without `jti`."""

    jti: _Uuid = ""


class NoParameters(Struct, frozen=True):
    """A body that says nothing more: {}."""


class MemberQuery(Struct, frozen=True):
    """Which members, and which page."""

    type: Annotated[Literal["", "FIP", "FIU", "AA"], Meta(description="FIP, FIU or AA")] = ""
    status: Annotated[
        Literal["", "active", "suspended", "retired"],
        Meta(description="active, suspended or retired"),
    ] = ""
    words: _Words = ""
    without_admin: _Flag = field(name="withoutAdmin", default="false")
    after: _Words = ""
    limit: _Limit = "100"


class UserQuery(Struct, frozen=True):
    """Which people, and which page."""

    state: Annotated[
        Literal["", "invited", "active", "disabled"],
        Meta(description="invited, active or disabled"),
    ] = ""
    entity_id: _Words = field(name="entityId", default="")
    words: _Words = ""
    operators: _Flag = "false"
    after: Annotated[str, Meta(max_length=254, description="an address")] = ""
    limit: _Limit = "100"


class MailQuery(Struct, frozen=True):
    """Which mails, and which page."""

    failed: _Flag = "false"
    to: _Recipient = ""
    after: _Uuid = ""
    limit: _Limit = "100"


_EventNumber = Annotated[str, Meta(pattern=r"^[0-9]{0,18}\Z", description="the number of an event")]


class ActivityQuery(Struct, frozen=True):
    """Which entity of one's own, and which page of its audit: the newest first."""

    entity_id: EntityId = field(name="entityId")
    after: _EventNumber = ""
    limit: _Limit = "100"


class AuditQuery(Struct, frozen=True):
    """Which events, and which page: the newest first."""

    event: _Words = ""
    outcome: Annotated[
        Literal["", "success", "refused", "failed"],
        Meta(description="success, refused or failed"),
    ] = ""
    actor: Annotated[str, Meta(max_length=300, description="a text")] = ""
    user_id: _Uuid = field(name="userId", default="")
    entity_id: _Words = field(name="entityId", default="")
    txn_id: Annotated[str, Meta(max_length=128, description="a text")] = field(
        name="txnIdIs", default=""
    )
    since: _Instant | UnsetType = UNSET
    until: _Instant | UnsetType = UNSET
    after: _EventNumber = ""
    limit: _Limit = "100"
