"""Onboard a member with one designated admin (spec 1.2, 1.3).

Idempotent: the same member with the same admin again changes nothing. The
entity's first secret is made by the caller in the same transaction.
"""

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import AuditLog
from mudra.identity.accounts.email_address import (
    AddressRefused,
    NameRefused,
    display_name,
    normalise_email,
)
from mudra.identity.accounts.email_link import LinkPurpose
from mudra.identity.accounts.link_service import LinkService
from mudra.identity.accounts.user import User, UserState
from mudra.identity.memberships.member import Member
from mudra.identity.ports import People
from mudra.shared.refusal import Refusal

ENTITY_ID: Final = re.compile(r"[A-Za-z0-9@._-]{1,64}")  # decisions 4
_ENTITY_TYPES: Final = ("FIP", "FIU", "AA")


class NewMember(Struct, frozen=True):
    """What an operator says of a new member, as typed."""

    entity_id: str
    entity_type: str
    name: str
    admin_email: str
    admin_name: str = ""


class OnboardRefused(Refusal, frozen=True):
    """A value is wrong: which, and what is allowed."""

    field: str
    problem: str


class MemberDiffers(Refusal, frozen=True):
    """The entity ID is taken by a member with other particulars."""

    existing: Member
    field: str


class Onboarded(Struct, frozen=True):
    """The member as it stands now; `created` and `invited` tell what this call did."""

    member: Member
    admin: User
    created: bool
    invited: bool


OnboardResult = Onboarded | OnboardRefused | MemberDiffers


async def onboard_member(
    new: NewMember,
    caller: Caller,
    *,
    people: People,
    links: LinkService,
    journal: AuditLog,
    new_id: Callable[[], str],
) -> OnboardResult:
    """Store the member and its admin, and invite the admin who has no password yet."""
    checked = _checked(new)
    if isinstance(checked, OnboardRefused):
        return checked
    existing = await people.member(checked.entity_id)
    if existing is not None:
        return await _again(existing, checked, people)
    await people.add_member(checked.entity_id, checked.entity_type, checked.name)
    admin = await people.by_username(checked.admin_email)
    invited = admin is None
    if admin is None:
        admin = User(
            user_id=new_id(),
            email=checked.admin_email,
            name=checked.admin_name,
            state=UserState.INVITED,
            password_hash=None,
            administers=(checked.entity_id,),
            entity_names=(checked.name,),
        )
        await people.add_user(admin)
        await journal.note(
            AuditEntry(
                EventName.USER_ACCOUNT_ONBOARD, caller, checked.entity_id, user_id=admin.user_id
            )
        )
    await people.add_admin(checked.entity_id, admin.user_id)
    await journal.note(
        AuditEntry(
            EventName.ENTITY_MEMBER_ONBOARD,
            caller,
            checked.entity_id,
            user_id=admin.user_id,
            detail={"type": checked.entity_type, "name": checked.name},
        )
    )
    if invited:
        await links.send(admin, LinkPurpose.INVITE, caller, entity_name=checked.name)
    member = await people.member(checked.entity_id)
    assert member is not None
    return Onboarded(member, admin, created=True, invited=invited)


def _checked(new: NewMember) -> NewMember | OnboardRefused:
    if not ENTITY_ID.fullmatch(new.entity_id):
        return OnboardRefused(
            "ENTITY_ID", "must be 1 to 64 characters out of letters, digits, @ . _ -"
        )
    if new.entity_type not in _ENTITY_TYPES:
        return OnboardRefused("type", f"must be FIP, FIU or AA, not {new.entity_type!r}")
    name = display_name(new.name)
    if isinstance(name, NameRefused):
        return OnboardRefused("name", name.problem)
    email = normalise_email(new.admin_email)
    if isinstance(email, AddressRefused):
        return OnboardRefused("admin", email.problem)
    admin_name = display_name(new.admin_name or email)
    if isinstance(admin_name, NameRefused):
        return OnboardRefused("admin-name", admin_name.problem)
    return NewMember(new.entity_id, new.entity_type, name, email, admin_name)


async def _again(existing: Member, checked: NewMember, people: People) -> OnboardResult:
    if existing.entity_type != checked.entity_type:
        return MemberDiffers(existing, "type")
    if existing.name != checked.name:
        return MemberDiffers(existing, "name")
    if checked.admin_email not in existing.admins:
        return MemberDiffers(existing, "admin")
    admin = await people.by_username(checked.admin_email)
    assert admin is not None
    return Onboarded(existing, admin, created=False, invited=False)
