"""Accounts of people, as an operator looks after them: disable, enable, invite again, address.

Also the accounts of operators themselves (issue of scopes). A change ends the
user's tokens at once (quality A14).
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
from mudra.identity.memberships.admins import ValueRefused, WrongAccountKind
from mudra.identity.operators.operator import Scope
from mudra.identity.ports import Memberships, Notice, NoticeKind, Outbox, People, UserTokens
from mudra.shared.refusal import Refusal


class NoSuchUser(Refusal, frozen=True):
    """There is no user of this ID or address."""


class AddressTaken(Refusal, frozen=True):
    """Another account has this address."""


class AccountChanged(Struct, frozen=True):
    """The change is made; `without_admin` are entities in which nobody can act now."""

    user: User
    tokens_ended: int
    without_admin: tuple[str, ...]


class OperatorMade(Struct, frozen=True):
    """The operator as it stands now."""

    user: User
    scopes: frozenset[Scope]
    invited: bool


class AccountService(Struct, frozen=True):
    """Changes accounts, in the caller's transaction."""

    people: People
    memberships: Memberships
    links: LinkService
    tokens: UserTokens
    outbox: Outbox
    journal: AuditLog
    new_id: Callable[[], str]

    async def disable(self, user_id: str, caller: Caller) -> AccountChanged | NoSuchUser:
        """Switch an account off; its tokens end."""
        user = await self.people.by_id(user_id)
        if user is None:
            return NoSuchUser()
        await self.memberships.set_state(user_id, UserState.DISABLED)
        return await self._changed(user, caller, "disabled")

    async def enable(self, user_id: str, caller: Caller) -> AccountChanged | NoSuchUser:
        """Switch an account on again; who had no password is still to set one."""
        user = await self.people.by_id(user_id)
        if user is None:
            return NoSuchUser()
        state = UserState.ACTIVE if user.password_hash else UserState.INVITED
        if user.state is UserState.DISABLED:
            await self.memberships.set_state(user_id, state)
        return await self._changed(user, caller, "enabled", end_tokens=False)

    async def invite_again(self, user_id: str, caller: Caller) -> User | NoSuchUser:
        """Send a new link: invitation, or for an active user a link to set a new password."""
        user = await self.people.by_id(user_id)
        if user is None or user.state is UserState.DISABLED:
            return NoSuchUser()
        invited = user.state is UserState.INVITED
        purpose = LinkPurpose.INVITE if invited else LinkPurpose.PASSWORD_RESET
        await self.links.send(user, purpose, caller, entity_name=_entity_name(user))
        return user

    async def change_address(
        self, user_id: str, email: str, caller: Caller
    ) -> AccountChanged | NoSuchUser | AddressTaken | ValueRefused:
        """Move an account to a new address: verified by link before it signs in again.

        Both addresses are told; the tokens end.
        """
        user = await self.people.by_id(user_id)
        if user is None or user.state is UserState.DISABLED:
            return NoSuchUser()
        address = normalise_email(email)
        if isinstance(address, AddressRefused):
            return ValueRefused("email", address.problem)
        if await self.people.by_username(address) is not None:
            return AddressTaken()
        await self.memberships.keep_email(user_id, address)
        moved = await self.people.by_id(user_id)
        assert moved is not None
        facts = {"user_name": user.name, "old_address": user.email, "new_address": address}
        for reader in (user.email, address):
            await self.outbox.post(Notice(reader, NoticeKind.ADDRESS_CHANGED, facts))
        await self.links.send(moved, LinkPurpose.INVITE, caller, entity_name=_entity_name(user))
        return await self._changed(moved, caller, "address")

    async def end_token(self, user_id: str, jti: str, caller: Caller) -> bool:
        """End one token of a user; False when it is not theirs or has ended already."""
        now = await self.people.now()
        if not jti or not await self.tokens.revoke_one(user_id, jti, now):
            return False
        await self._note_ended(user_id, 1, caller, jti)
        return True

    async def end_tokens(self, user_id: str, jti: str, caller: Caller) -> int | NoSuchUser:
        """End one token of a user, or all without `jti`; gives how many ended."""
        if await self.people.by_id(user_id) is None:
            return NoSuchUser()
        if jti:
            return int(await self.end_token(user_id, jti, caller))
        ended = await self.tokens.revoke_user_tokens(user_id, await self.people.now())
        await self._note_ended(user_id, ended, caller)
        return ended

    async def _note_ended(self, user_id: str, ended: int, caller: Caller, jti: str = "") -> None:
        detail: dict[str, str | int] = {"tokens_ended": ended}
        if jti:
            detail["jti"] = jti
        await self.journal.note(
            AuditEntry(EventName.USER_TOKEN_REVOKE, caller, user_id=user_id, detail=detail)
        )

    async def make_operator(
        self, email: str, name: str, scopes: frozenset[Scope], caller: Caller
    ) -> OperatorMade | ValueRefused | WrongAccountKind:
        """Make an operator or change its scopes; a new one is invited by mail."""
        address = normalise_email(email)
        if isinstance(address, AddressRefused):
            return ValueRefused("email", address.problem)
        shown = display_name(name or address)
        if isinstance(shown, NameRefused):
            return ValueRefused("name", shown.problem)
        user = await self.people.by_username(address)
        if user is not None and user.administers:
            return WrongAccountKind()
        invited = user is None
        if user is None:
            user = User(self.new_id(), address, shown, UserState.INVITED, None, ())
            await self.people.add_user(user)
        await self.memberships.keep_scopes(user.user_id, scopes)
        event = EventName.OPERATOR_ACCOUNT_CREATE if invited else EventName.OPERATOR_ACCOUNT_CHANGE
        words = " ".join(sorted(scope.value for scope in scopes))
        await self.journal.note(
            AuditEntry(event, caller, user_id=user.user_id, detail={"scopes": words})
        )
        if invited:
            await self.links.send(
                user, LinkPurpose.INVITE, caller, entity_name="the operator's team"
            )
        return OperatorMade(user, scopes, invited)

    async def _changed(
        self, user: User, caller: Caller, what: str, *, end_tokens: bool = True
    ) -> AccountChanged:
        now = await self.people.now()
        ended = await self.tokens.revoke_user_tokens(user.user_id, now) if end_tokens else 0
        await self.journal.note(
            AuditEntry(
                EventName.USER_ACCOUNT_CHANGE,
                caller,
                user_id=user.user_id,
                detail={"change": what, "tokens_ended": ended},
            )
        )
        now_user = await self.people.by_id(user.user_id)
        assert now_user is not None
        alone = [
            entity_id
            for entity_id in user.administers
            if all(
                a.state is not UserState.ACTIVE for a in await self.memberships.admins(entity_id)
            )
        ]
        return AccountChanged(now_user, ended, tuple(alone))


def _entity_name(user: User) -> str:
    return user.entity_names[0] if user.entity_names else "the operator's team"
