"""Onboard a member with one designated admin and its first secret (spec 1.2, 1.3).

Idempotent: the same member with the same admin again changes nothing.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.acts.end_tokens import end_earlier_sign_ins
from mudra.identity.accounts.acts.send_link import send_missing_link
from mudra.identity.accounts.email_address import (
    AddressRefused,
    NameRefused,
    display_name,
    normalize_email,
)
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import WrongAccountKind
from mudra.identity.accounts.user import User
from mudra.identity.memberships.admins import create_admin_account
from mudra.identity.memberships.member import Member
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.operators.act_on_person import lost_scope
from mudra.identity.operators.operator import ScopeMissing
from mudra.identity.operators.operator_store import Operators
from mudra.identity.operators.person_rule import ActingOperator
from mudra.shared.refusal import Refusal, RefusalKind, ValueRefused
from mudra.storage.database.transaction import Transaction


class FirstSecret(Protocol):
    """Creates the first secret of a new member."""

    async def create(self, entity_id: str, caller: Caller, now: datetime) -> None:
        """Create and store it in this transaction."""


ENTITY_ID: Final = re.compile(r"[A-Za-z0-9@._-]{1,64}")  # such as fiu@bank
_ENTITY_TYPES: Final = ("FIP", "FIU", "AA")


class NewMember(Struct, frozen=True):
    """A new member, as the operator typed it."""

    entity_id: str
    entity_type: str
    name: str
    admin_email: str
    admin_name: str = ""


class MemberDiffers(Refusal, frozen=True):
    """The entity ID belongs to a member of another type or name, or with other admins."""

    kind = RefusalKind.CONFLICT
    existing: Member
    field: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"{self.existing.entity_id} exists with another {self.field}: nothing was changed"


class Onboarded(Struct, frozen=True):
    """The member after the call; `created` and `invited` say what the call did."""

    member: Member
    admin: User
    created: bool
    invited: bool


class _Found(Struct, frozen=True):
    """The account of a new member's admin, if there is one, and whether the registry knows it."""

    admin: User | None
    has_entry: bool


OnboardRefused = ValueRefused | MemberDiffers | WrongAccountKind | ScopeMissing
OnboardResult = Onboarded | OnboardRefused


async def onboard_member(
    tx: Transaction,
    new: NewMember,
    by: ActingOperator,
    first_secret: FirstSecret | None = None,
) -> OnboardResult:
    """Store the member, its admin and its first secret; invite an admin who has no password.

    `first_secret` makes another secret than a random one.
    """
    caller, checked = by.caller, checked_member(new)
    if isinstance(checked, ValueRefused):
        return checked
    entity_id, name = checked.entity_id, checked.name
    # First: who onboards or registers the same entity at this moment waits for its end.
    status = await Memberships(tx).entry_status(entity_id)
    existing = await People(tx).member(entity_id)
    if existing is not None:
        return await _again(existing, checked, tx)
    # So that no operator's account becomes an admin's at the same moment.
    await Operators(tx).lock_operators()
    if (lost := await lost_scope(tx, by)) is not None:
        return lost
    found = await _acceptable(tx, checked)
    if isinstance(found, Refusal):
        return found
    admin = found.admin
    await People(tx).add_member(entity_id, checked.entity_type, name, status, by.user_id or None)
    if admin is None:
        admin = await create_admin_account(
            tx, caller, entity_id, name, checked.admin_email, checked.admin_name
        )
    elif not admin.is_of_a_member:
        await end_earlier_sign_ins(tx, admin, caller)
    await People(tx).add_admin(entity_id, admin.user_id)
    if found.has_entry:
        # Else the admin has nothing of another's: all that the entry gets begins with them (0189).
        await Operators(tx).record_grant(admin.user_id, by.user_id, entity_id)
    await AuditLog(tx).append(
        AuditEntry(
            EventName.ENTITY_MEMBER_ONBOARD,
            caller,
            entity_id,
            user_id=admin.user_id,
            detail={"type": checked.entity_type, "name": name},
        )
    )
    invited = await send_missing_link(tx, admin.user_id, caller)
    make = first_secret or tx.service(FirstSecret)
    await make.create(entity_id, caller, await People(tx).now())
    member = Member(entity_id, checked.entity_type, name, status.value, (admin.email,))
    return Onboarded(member, admin, created=True, invited=invited)


async def preview_onboarding(
    tx: Transaction, new: NewMember
) -> ValueRefused | WrongAccountKind | None:
    """Return why `onboard_member` would refuse an entity ID that is not taken; changes nothing."""
    checked = checked_member(new)
    if isinstance(checked, ValueRefused):
        return checked
    found = await _acceptable(tx, checked)
    return found if isinstance(found, Refusal) else None


async def _acceptable(
    tx: Transaction, checked: NewMember
) -> _Found | ValueRefused | WrongAccountKind:
    types = await Memberships(tx).entry_types([checked.entity_id])
    if (refused := type_refused(checked, types)) is not None:
        return refused
    admin = await People(tx).by_username(checked.admin_email)
    is_operator = admin is not None and bool(await Operators(tx).scopes(admin.user_id))
    return WrongAccountKind() if is_operator else _Found(admin, checked.entity_id in types)


def checked_member(new: NewMember) -> NewMember | ValueRefused:
    """Return a new member with its values in their one form, or why one is not accepted."""
    if not ENTITY_ID.fullmatch(new.entity_id):
        return ValueRefused(
            "entityId", "must be 1 to 64 characters out of letters, digits, @ . _ -"
        )
    if new.entity_type not in _ENTITY_TYPES:
        return ValueRefused("type", f"must be FIP, FIU or AA, not {new.entity_type!r}")
    name = display_name(new.name)
    if isinstance(name, NameRefused):
        return ValueRefused("name", name.problem)
    email = normalize_email(new.admin_email)
    if isinstance(email, AddressRefused):
        return ValueRefused("adminEmail", email.problem)
    admin_name = display_name(new.admin_name or email)
    if isinstance(admin_name, NameRefused):
        return ValueRefused("adminName", admin_name.problem)
    return NewMember(new.entity_id, new.entity_type, name, email, admin_name)


def type_refused(checked: NewMember, types: Mapping[str, str]) -> ValueRefused | None:
    """Refuse a type that is not the one of the entity's entry; `types` are those of entries by ID.

    A member has its type for good, and an entry of another one could never be updated.
    """
    entry = types.get(checked.entity_id, checked.entity_type)
    if entry == checked.entity_type:
        return None
    problem = f"must be {entry}, as its entry in the registry is, not {checked.entity_type}"
    return ValueRefused("type", problem)


def differing_field(existing: Member, checked: NewMember) -> str:
    """Name the field in which a member differs from the one onboarded again; empty for none."""
    if existing.entity_type != checked.entity_type:
        return "type"
    if existing.name != checked.name:
        return "name"
    return "" if checked.admin_email in existing.admins else "admin"


async def _again(existing: Member, checked: NewMember, tx: Transaction) -> OnboardResult:
    field = differing_field(existing, checked)
    if field:
        return MemberDiffers(existing, field)
    admin = await People(tx).by_username(checked.admin_email)
    assert admin is not None
    return Onboarded(existing, admin, created=False, invited=False)
