"""Disable, enable and re-invite accounts, and end their tokens.

Operators do this for people who hold no more scopes than they do (person_rule.py); users end
their own tokens. A change ends the
user's tokens immediately.
"""

from collections.abc import Sequence

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.acts.end_tokens import end_all_tokens, record_ended_tokens
from mudra.identity.accounts.acts.send_link import send_link
from mudra.identity.accounts.address_change_store import AddressChanges
from mudra.identity.accounts.link_store import Links
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import NoSuchUser
from mudra.identity.accounts.user import HeldToken, User, UserState
from mudra.identity.accounts.user_token_store import UserTokens
from mudra.identity.memberships.invite import end_invitations_everywhere
from mudra.identity.memberships.member import able_admins
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import AdminsChange, notify_of_operator
from mudra.identity.operators.act_on_person import authorize_act
from mudra.identity.operators.operator_store import Operators
from mudra.identity.operators.person_rule import ActingOperator, ActRefused, PersonAct
from mudra.storage.database.transaction import Transaction


class AccountChanged(Struct, frozen=True):
    """The change was made; no admin of the entities in `without_admin` can act now."""

    user: User
    tokens_ended: int
    without_admin: tuple[str, ...]


async def disable_account(
    tx: Transaction, by: ActingOperator, user_id: str
) -> AccountChanged | NoSuchUser | ActRefused:
    """Disable an account; its tokens, links and invitations end, and enabling revives none.

    So does a change of its address that waits to be confirmed.
    """
    user = await authorize_act(tx, by, user_id, PersonAct.DISABLE)
    if not isinstance(user, User):
        return user
    await Memberships(tx).set_state(user_id, UserState.DISABLED)
    await Links(tx).void(user_id, await People(tx).now())
    await AddressChanges(tx).remove(user_id)
    await end_invitations_everywhere(tx, user)
    return await account_changed(tx, user, by.caller, "disabled")


async def enable_account(
    tx: Transaction, by: ActingOperator, user_id: str
) -> AccountChanged | NoSuchUser | ActRefused:
    """Enable an account again; a user without a password must still set one.

    What a sign-in stored that was under way when the account was disabled ends with it. The other
    admins of the person's members, and their contacts, get an email (0072).
    """
    user = await authorize_act(tx, by, user_id, PersonAct.ENABLE)
    if not isinstance(user, User):
        return user
    was_disabled = user.state is UserState.DISABLED
    if was_disabled:
        state = UserState.ACTIVE if user.password_hash else UserState.INVITED
        await Memberships(tx).set_state(user_id, state)
        for entity_id in user.administers or ("",):
            await Operators(tx).record_grant(user_id, by.user_id, entity_id)
        for entity_id in user.administers:
            await notify_of_operator(tx, entity_id, AdminsChange.ENABLED, user.email)
    return await account_changed(tx, user, by.caller, "enabled", end_tokens=was_disabled)


async def invite_again(
    tx: Transaction, by: ActingOperator, user_id: str
) -> User | NoSuchUser | ActRefused:
    """Send a new link: an invitation, or for an active user one to set a new password."""
    user = await authorize_act(tx, by, user_id, PersonAct.INVITE)
    if not isinstance(user, User):
        return user
    if user.state is UserState.DISABLED:
        return NoSuchUser()
    await send_link(tx, user, by.caller)
    return user


async def invite_admin(
    tx: Transaction, by: ActingOperator, entity_id: str, email: str
) -> User | NoSuchUser | ActRefused:
    """Send a new link to an admin of this entity."""
    admins = await Memberships(tx).admins(entity_id)
    admin = next((admin for admin in admins if admin.email == email), None)
    return NoSuchUser() if admin is None else await invite_again(tx, by, admin.user_id)


async def tokens_of_user(
    tx: Transaction, by: ActingOperator, user_id: str
) -> Sequence[HeldToken] | NoSuchUser | ActRefused:
    """List a user's tokens that have not expired, the newest first."""
    user = await authorize_act(tx, by, user_id, PersonAct.TOKENS)
    return await UserTokens(tx).tokens(user_id) if isinstance(user, User) else user


async def end_token(tx: Transaction, user_id: str, jti: str, caller: Caller) -> bool:
    """End one token of a user; False when it is not theirs or has ended already."""
    now = await People(tx).now()
    if not jti or not await UserTokens(tx).revoke_one(user_id, jti, now):
        return False
    await record_ended_tokens(tx, user_id, 1, caller, jti)
    return True


async def end_tokens(
    tx: Transaction, by: ActingOperator, user_id: str, jti: str
) -> int | NoSuchUser | ActRefused:
    """End one token of a user, or all without `jti`; returns how many ended."""
    user = await authorize_act(tx, by, user_id, PersonAct.REVOKE)
    if not isinstance(user, User):
        return user
    if jti:
        return int(await end_token(tx, user_id, jti, by.caller))
    return await end_all_tokens(tx, user_id, by.caller)


async def account_changed(
    tx: Transaction, user: User, caller: Caller, change: str, *, end_tokens: bool = True
) -> AccountChanged:
    """End the tokens, record the change, and name the entities left without an admin."""
    now = await People(tx).now()
    ended = await UserTokens(tx).revoke_user_tokens(user.user_id, now) if end_tokens else 0
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_ACCOUNT_CHANGE,
            caller,
            user_id=user.user_id,
            detail={"change": change, "tokens_ended": ended},
        )
    )
    after = await People(tx).by_id(user.user_id)
    assert after is not None
    without_admin = [
        entity_id
        for entity_id in user.administers
        if able_admins(await Memberships(tx).admins(entity_id)) == 0
    ]
    return AccountChanged(after, ended, tuple(without_admin))
