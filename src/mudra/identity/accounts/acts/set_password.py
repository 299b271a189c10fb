"""Set a password by a one-use link (spec 1.3b), or change the present one.

A GET of the link consumes nothing; this is the POST. The slow hash is computed
between two transactions, so that no lock is held meanwhile.
"""

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.email_link import LinkFault, LinkRefused, check_link, token_hash
from mudra.identity.accounts.link_store import Links
from mudra.identity.accounts.password_hasher import PasswordHasher
from mudra.identity.accounts.password_rules import (
    PasswordContext,
    PasswordFault,
    PasswordRefusal,
    check_password,
)
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import HashingBusy, WrongAccountKind
from mudra.identity.accounts.user import User, UserState
from mudra.identity.accounts.user_token_store import UserTokens
from mudra.identity.memberships.invite import InvitationHolder, accept, invitation_of_link
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.operators.operator_store import Operators
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.sign_in import SignInRefused
from mudra.identity.sign_in.throttle import FRESH, Counted
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import OpenTransaction, Transaction
from mudra.storage.mail.outbox import Outbox


class LinkHolder(Struct, frozen=True):
    """The user who may set a password by a valid link.

    With an `invitation` the user becomes an admin by it; without an account the ID is empty.
    """

    user: User
    invitation: InvitationHolder | None = None


async def holder_of_link(tx: Transaction, token: SecretText) -> LinkHolder | LinkRefused:
    """Find the user whom a link was sent to, consuming nothing."""
    link = await Links(tx).find(token_hash(token))
    if link is None:
        return await _invited(tx, token)
    verdict = check_link(link, await People(tx).now())
    if isinstance(verdict, LinkRefused):
        return verdict
    user = await People(tx).by_id(verdict.user_id)
    if user is None or user.state is UserState.DISABLED or user.email != verdict.address:
        return LinkRefused(LinkFault.UNKNOWN)
    return LinkHolder(user)


async def _invited(tx: Transaction, token: SecretText) -> LinkHolder | LinkRefused:
    """Find an invited person who has no password yet; who has one accepts without a new one."""
    holder = await invitation_of_link(tx, token)
    if isinstance(holder, LinkRefused):
        return holder
    if holder.user.may_sign_in:
        return LinkRefused(LinkFault.UNKNOWN)
    return LinkHolder(holder.user, holder)


async def set_password(
    token: SecretText,
    password: SecretText,
    caller: Caller,
    *,
    network_name: str,
    hasher: PasswordHasher,
    open_transaction: OpenTransaction,
) -> User | LinkRefused | PasswordRefusal | HashingBusy | WrongAccountKind:
    """Consume the link and store the password; the user's tokens end."""
    async with open_transaction() as tx:
        holder = await holder_of_link(tx, token)
        if isinstance(holder, LinkRefused):
            await record_refused_link(tx, holder, caller)
            return holder
    user = holder.user
    refused = refused_password(password, user, network_name)
    if refused is not None:
        return refused
    hashed = await hasher.hash(password, account=user.email, origin=caller.address)
    if isinstance(hashed, HashingBusy):
        return hashed
    async with open_transaction() as tx:
        return await store_password(tx, token, hashed, caller)


def refused_password(password: SecretText, user: User, network_name: str) -> PasswordRefusal | None:
    """Return why a user may not have this password, if so."""
    names = PasswordContext(
        email=user.email,
        user_name=user.name,
        entity_ids=user.administers,
        entity_names=user.entity_names,
        network=network_name,
    )
    return check_password(password.reveal(), names)


async def store_password(
    tx: Transaction, token: SecretText, password_hash: str, caller: Caller
) -> User | LinkRefused | WrongAccountKind:
    """Consume the link and store the hash of an accepted password.

    An invited person becomes an admin in the same transaction.
    """
    # Before the link's own lock: who disables the person, or the inviter, takes them in this order.
    await Operators(tx).lock_operators()
    holder = await holder_of_link(tx, token)
    if isinstance(holder, LinkRefused):
        await record_refused_link(tx, holder, caller)
        return holder
    user = holder.user
    if holder.invitation is not None:
        accepted = await accept(tx, holder.invitation, caller)
        if isinstance(accepted, WrongAccountKind):
            return accepted
        user = accepted
    await Links(tx).use(token_hash(token))
    await put_password(tx, user, password_hash, caller)
    # The link has verified the address (spec 3); a disabled person holds none.
    await Memberships(tx).set_state(user.user_id, UserState.ACTIVE)
    return user


async def put_password(tx: Transaction, user: User, password_hash: str, caller: Caller) -> None:
    """Store the hash; links sent before, tokens and sessions of the user end.

    The state stays as it is: a new password alone makes no account active.
    """
    # A sign-in with the password so far holds it until its session is stored, which ends below.
    await Attempts(tx).history(Counted.PASSWORD, user.email, lock=True)
    now = await People(tx).now()
    caller = replace(caller, actor=f"user:{user.user_id}")
    await Links(tx).void(user.user_id, now)  # an invitation to an entity is another link
    await People(tx).set_password(user.user_id, password_hash)
    ended = await UserTokens(tx).revoke_user_tokens(user.user_id, now)
    await Attempts(tx).save(Counted.PASSWORD, user.email, FRESH)
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_PASSWORD_SET,
            caller,
            user_id=user.user_id,
            detail={"tokens_ended": ended},
        )
    )
    if user.state is UserState.ACTIVE:
        facts = {"user_name": user.name}
        await tx.service(Outbox).post(Notice(user.email, NoticeKind.PASSWORD_CHANGED, facts))


async def record_refused_link(tx: Transaction, refused: LinkRefused, caller: Caller) -> None:
    """Record that a link was refused, also one that no email ever held."""
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_LINK_REFUSE,
            caller,
            reason=refused.fault.value,
            outcome=Outcome.REFUSED,
        )
    )


async def change_password(
    user: User,
    password: SecretText,
    caller: Caller,
    *,
    hasher: PasswordHasher,
    open_transaction: OpenTransaction,
) -> HashingBusy | PasswordRefusal | SignInRefused | None:
    """Store an accepted password; all tokens and sessions of the user end.

    Refused where it is the present one, and where the account was disabled or its password changed
    since `user` was read.
    """
    is_same = await hasher.verify(
        user.password_hash, password, account=user.email, origin=caller.address
    )
    if isinstance(is_same, HashingBusy):
        return is_same
    if is_same:
        return PasswordRefusal(PasswordFault.SAME)
    hashed = await hasher.hash(password, account=user.email, origin=caller.address)
    if isinstance(hashed, HashingBusy):
        return hashed
    async with open_transaction() as tx:
        await Operators(tx).lock_operators()  # who disables the person holds it too
        current = await People(tx).by_id(user.user_id)
        if current is None or not (current.may_sign_in and current.has_password_of(user)):
            return SignInRefused()
        await put_password(tx, current, hashed, caller)
    return None
