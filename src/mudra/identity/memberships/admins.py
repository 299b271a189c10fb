"""Who looks after an entity: add, remove, hand over, backup contact.

Done by an operator for any entity, or by an admin for its own. The last admin
who can act never goes unnoticed: an admin is refused, an operator is warned.
Rights are read from the database at each call, so a change holds from its commit.
"""

from collections.abc import Callable

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
from mudra.identity.ports import Memberships, People
from mudra.shared.refusal import Refusal


class ValueRefused(Refusal, frozen=True):
    """A value cannot be taken: which member, and what is allowed."""

    field: str
    problem: str


class NoSuchEntity(Refusal, frozen=True):
    """There is no entity of this ID."""

    entity_id: str


class NotAnAdmin(Refusal, frozen=True):
    """That address is no admin of the entity."""


class LastAdmin(Refusal, frozen=True):
    """Nobody who can act would be left; add another admin first."""


class WrongAccountKind(Refusal, frozen=True):
    """Operators and admins have accounts of their own, and this address has the other kind."""


class AdminsChanged(Struct, frozen=True):
    """The change is made; `left` admins can act now. With none, an operator must care."""

    entity_id: str
    user: User
    changed: bool
    left: int


AdminsResult = (
    AdminsChanged | ValueRefused | NoSuchEntity | NotAnAdmin | LastAdmin | WrongAccountKind
)


class AdminService(Struct, frozen=True):
    """Changes who administers what, in the caller's transaction."""

    people: People
    memberships: Memberships
    links: LinkService
    journal: AuditLog
    new_id: Callable[[], str]

    async def add(self, entity_id: str, email: str, name: str, caller: Caller) -> AdminsResult:
        """Make somebody an admin; who has no account yet is invited by mail."""
        address = normalise_email(email)
        if isinstance(address, AddressRefused):
            return ValueRefused("email", address.problem)
        shown = display_name(name or address)
        if isinstance(shown, NameRefused):
            return ValueRefused("name", shown.problem)
        member = await self.people.member(entity_id)
        if member is None:
            return NoSuchEntity(entity_id)
        user = await self.people.by_username(address)
        if user is not None and await self.memberships.scopes(user.user_id):
            return WrongAccountKind()
        if user is not None and entity_id in user.administers:
            return await self._result(entity_id, user, changed=False)
        invite = user is None
        if user is None:
            user = User(
                self.new_id(), address, shown, UserState.INVITED, None, (entity_id,), (member.name,)
            )
            await self.people.add_user(user)
            await self.journal.note(
                AuditEntry(EventName.USER_ACCOUNT_ONBOARD, caller, entity_id, user_id=user.user_id)
            )
        await self.people.add_admin(entity_id, user.user_id)
        await self._note(caller, entity_id, user, "admin-added")
        if invite:
            await self.links.send(user, LinkPurpose.INVITE, caller, entity_name=member.name)
        return await self._result(entity_id, user, changed=True)

    async def remove(
        self, entity_id: str, email: str, caller: Caller, *, may_leave_none: bool
    ) -> AdminsResult:
        """End somebody's rights on an entity; only an operator may leave it with nobody."""
        member = await self.people.member(entity_id)
        if member is None:
            return NoSuchEntity(entity_id)
        address = normalise_email(email)
        user = (
            None if isinstance(address, AddressRefused) else await self.people.by_username(address)
        )
        if user is None or entity_id not in user.administers:
            return NotAnAdmin()
        if not may_leave_none and await self._able(entity_id, without=user.user_id) == 0:
            return LastAdmin()
        await self.memberships.remove_admin(entity_id, user.user_id)
        await self._note(caller, entity_id, user, "admin-removed")
        return await self._result(entity_id, user, changed=True)

    async def hand_over(
        self, entity_id: str, leaving: str, email: str, name: str, caller: Caller
    ) -> AdminsResult:
        """Put one in the place of another, in one transaction; gives the one who came.

        The successor may still have to set a password, so the entity may wait for
        that: both are told apart by `left`.
        """
        # All is judged before anything is changed: a refusal leaves no half of it behind.
        leaver = normalise_email(leaving)
        if leaver == normalise_email(email):
            return ValueRefused("email", "must be another person's than the one who leaves")
        if leaver not in {admin.email for admin in await self.memberships.admins(entity_id)}:
            return NotAnAdmin()
        came = await self.add(entity_id, email, name, caller)
        if not isinstance(came, AdminsChanged):
            return came
        gone = await self.remove(entity_id, leaving, caller, may_leave_none=True)
        if not isinstance(gone, AdminsChanged):
            return gone
        return AdminsChanged(entity_id, came.user, changed=True, left=gone.left)

    async def set_contact(
        self, entity_id: str, email: str, caller: Caller
    ) -> str | ValueRefused | NoSuchEntity:
        """Set the backup contact, who gets the letters too; an empty address ends it."""
        if await self.people.member(entity_id) is None:
            return NoSuchEntity(entity_id)
        address = normalise_email(email) if email else ""
        if isinstance(address, AddressRefused):
            return ValueRefused("email", address.problem)
        await self.memberships.keep_contact(entity_id, address)
        await self.journal.note(
            AuditEntry(
                EventName.ENTITY_CONTACT_CHANGE,
                caller,
                entity_id,
                detail={"change": "set" if address else "ended"},
            )
        )
        return address

    async def _able(self, entity_id: str, *, without: str = "") -> int:
        """How many admins can act: those who have a password and are not disabled."""
        return sum(
            1
            for admin in await self.memberships.admins(entity_id)
            if admin.user_id != without and admin.state is UserState.ACTIVE
        )

    async def _result(self, entity_id: str, user: User, *, changed: bool) -> AdminsChanged:
        return AdminsChanged(entity_id, user, changed, await self._able(entity_id))

    async def _note(self, caller: Caller, entity_id: str, user: User, what: str) -> None:
        await self.journal.note(
            AuditEntry(
                EventName.USER_ACCOUNT_CHANGE,
                caller,
                entity_id,
                user_id=user.user_id,
                detail={"change": what},
            )
        )
