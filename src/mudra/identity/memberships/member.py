"""Members, their admins and their status: values and rules. Pure."""

import enum
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.identity.accounts.user import UserState
from mudra.shared.refusal import Refusal, RefusalKind

NEW_ADDRESS: Final = "new"
"""What the audit says of the address where it is another than before, and not empty."""


CAN_ACT = (UserState.ACTIVE,)
"""States in which an admin can act: the account has a password and is not disabled."""


class NotYourEntity(Refusal, frozen=True):
    """The caller is not an admin of this entity; unknown entities are refused the same way."""

    kind = RefusalKind.UNAUTHORIZED
    sentence = "the token gives no admin right on this entityId"


class MemberStatus(enum.StrEnum):
    """The right of an entity to tokens, from the most to the least permissive."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    RETIRED = "retired"


def effective_status(membership: MemberStatus, entry: MemberStatus) -> MemberStatus:
    """Return the stricter of the operator's decision and the registry entry's (0009)."""
    return max(membership, entry, key=list(MemberStatus).index)


class Member(Struct, frozen=True):
    """A member and the addresses of its admins."""

    entity_id: str
    entity_type: str
    name: str
    status: str
    admins: tuple[str, ...]


class Role(enum.StrEnum):
    """The rights of a person with an entity: everything, or see it and change nothing (0131)."""

    ADMIN = "admin"
    READER = "reader"


class Admin(Struct, frozen=True):
    """An admin or reader of an entity, or someone who is invited to be one until `invited_until`.

    `takes_over_from` is the address of the admin whose role an invited person takes over.
    """

    user_id: str
    email: str
    name: str
    state: UserState
    since: datetime
    invited_until: datetime | None = None
    takes_over_from: str = ""
    role: Role = Role.ADMIN


class Contact(Struct, frozen=True):
    """Where an entity is reached day and night, besides its admins; empty for none."""

    email: str = ""
    phone: str = ""


class Recipient(Struct, frozen=True):
    """Someone who gets the emails about an entity."""

    email: str
    name: str


def able_admins(admins: Iterable[Admin], *, without: str = "") -> int:
    """Count the admins who can act, leaving out the user with the ID `without`."""
    able = (one for one in admins if one.role is Role.ADMIN and one.state in CAN_ACT)
    return sum(1 for one in able if one.user_id != without)


def has_role(admins: Iterable[Admin], user_id: str) -> bool:
    """Return whether someone is among the admins of an entity, and not disabled."""
    return any(one.user_id == user_id and one.state is not UserState.DISABLED for one in admins)


def recipients(admins: Iterable[Admin], contact: str) -> list[Recipient]:
    """Return the admins who are not disabled and the backup contact, each address once."""
    found = [
        Recipient(admin.email, admin.name)
        for admin in admins
        if admin.state is not UserState.DISABLED
    ]
    if contact and contact not in {one.email for one in found}:
        found.append(Recipient(contact, contact))
    return found
