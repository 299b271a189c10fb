"""Disable, enable, re-invite and move accounts, and end their tokens.

Operators do this for anyone; users end their own tokens. A change ends the
user's tokens immediately (quality A14).
"""

from collections.abc import Sequence

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.identity.accounts.refusals import AddressTaken, NoSuchUser, ValueRefused
from mudra.identity.accounts.send_link import send_link
from mudra.identity.accounts.user import HeldToken, User, UserState
from mudra.identity.memberships.member import able_admins
from mudra.identity.ports import IdentityUnitOfWork, Notice, NoticeKind


class AccountChanged(Struct, frozen=True):
    """The change was made; no admin of the entities in `without_admin` can act now."""

    user: User
    tokens_ended: int
    without_admin: tuple[str, ...]


async def disable_account(
    work: IdentityUnitOfWork, user_id: str, caller: Caller
) -> AccountChanged | NoSuchUser:
    """Disable an account and end its tokens."""
    user = await work.people.by_id(user_id)
    if user is None:
        return NoSuchUser()
    await work.memberships.set_state(user_id, UserState.DISABLED)
    return await _changed(work, user, caller, "disabled")


async def enable_account(
    work: IdentityUnitOfWork, user_id: str, caller: Caller
) -> AccountChanged | NoSuchUser:
    """Enable an account again; a user without a password must still set one."""
    user = await work.people.by_id(user_id)
    if user is None:
        return NoSuchUser()
    if user.state is UserState.DISABLED:
        state = UserState.ACTIVE if user.password_hash else UserState.INVITED
        await work.memberships.set_state(user_id, state)
    return await _changed(work, user, caller, "enabled", end_tokens=False)


async def invite_again(work: IdentityUnitOfWork, user_id: str, caller: Caller) -> User | NoSuchUser:
    """Send a new link: an invitation, or for an active user one to set a new password."""
    user = await work.people.by_id(user_id)
    if user is None or user.state is UserState.DISABLED:
        return NoSuchUser()
    await send_link(work, user, caller)
    return user


async def invite_admin(
    work: IdentityUnitOfWork, entity_id: str, email: str, caller: Caller
) -> User | NoSuchUser:
    """Send a new link to an admin of this entity."""
    admins = await work.memberships.admins(entity_id)
    admin = next((admin for admin in admins if admin.email == email), None)
    return NoSuchUser() if admin is None else await invite_again(work, admin.user_id, caller)


async def change_address(
    work: IdentityUnitOfWork, user_id: str, email: str, caller: Caller
) -> AccountChanged | NoSuchUser | AddressTaken | ValueRefused:
    """Move an account to a new address, which must be verified before the next sign-in.

    Both addresses get an email; the tokens end.
    """
    user = await work.people.by_id(user_id)
    if user is None or user.state is UserState.DISABLED:
        return NoSuchUser()
    address = normalize_email(email)
    if isinstance(address, AddressRefused):
        return ValueRefused("email", address.problem)
    if await work.people.by_username(address) is not None:
        return AddressTaken()
    await work.memberships.set_email(user_id, address, UserState.INVITED)
    moved = await work.people.by_id(user_id)
    assert moved is not None
    facts = {"user_name": user.name, "old_address": user.email, "new_address": address}
    for recipient in (user.email, address):
        await work.outbox.post(Notice(recipient, NoticeKind.ADDRESS_CHANGED, facts))
    await send_link(work, moved, caller)
    return await _changed(work, moved, caller, "address")


async def tokens_of_user(
    work: IdentityUnitOfWork, user_id: str
) -> Sequence[HeldToken] | NoSuchUser:
    """List a user's tokens that have not expired, the newest first."""
    if await work.people.by_id(user_id) is None:
        return NoSuchUser()
    return await work.memberships.tokens(user_id)


async def end_token(work: IdentityUnitOfWork, user_id: str, jti: str, caller: Caller) -> bool:
    """End one token of a user; False when it is not theirs or has ended already."""
    now = await work.people.now()
    if not jti or not await work.tokens.revoke_one(user_id, jti, now):
        return False
    await _record_ended(work, user_id, 1, caller, jti)
    return True


async def end_tokens(
    work: IdentityUnitOfWork, user_id: str, jti: str, caller: Caller
) -> int | NoSuchUser:
    """End one token of a user, or all without `jti`; returns how many ended."""
    if await work.people.by_id(user_id) is None:
        return NoSuchUser()
    if jti:
        return int(await end_token(work, user_id, jti, caller))
    ended = await work.tokens.revoke_user_tokens(user_id, await work.people.now())
    await _record_ended(work, user_id, ended, caller)
    return ended


async def _record_ended(
    work: IdentityUnitOfWork, user_id: str, ended: int, caller: Caller, jti: str = ""
) -> None:
    detail: dict[str, str | int] = {"tokens_ended": ended}
    if jti:
        detail["jti"] = jti
    await work.audit_log.append(
        AuditEntry(EventName.USER_TOKEN_REVOKE, caller, user_id=user_id, detail=detail)
    )


async def _changed(
    work: IdentityUnitOfWork, user: User, caller: Caller, change: str, *, end_tokens: bool = True
) -> AccountChanged:
    now = await work.people.now()
    ended = await work.tokens.revoke_user_tokens(user.user_id, now) if end_tokens else 0
    await work.audit_log.append(
        AuditEntry(
            EventName.USER_ACCOUNT_CHANGE,
            caller,
            user_id=user.user_id,
            detail={"change": change, "tokens_ended": ended},
        )
    )
    after = await work.people.by_id(user.user_id)
    assert after is not None
    without_admin = [
        entity_id
        for entity_id in user.administers
        if able_admins(await work.memberships.admins(entity_id)) == 0
    ]
    return AccountChanged(after, ended, tuple(without_admin))
