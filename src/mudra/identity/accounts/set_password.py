"""Set a password by a one-use link (spec 1.3b; decisions 3).

A GET of the link consumes nothing; this is the POST. The slow hash is made
between two transactions, so that no lock is held meanwhile.
"""

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.audit.ports import AuditLog
from mudra.identity.accounts.email_link import LinkFault, LinkRefused, judge, token_hash
from mudra.identity.accounts.password_rules import PasswordContext, PasswordRefusal, check_password
from mudra.identity.accounts.user import User, UserState
from mudra.identity.ports import Attempts, Links, Notice, NoticeKind, Outbox, People, UserTokens
from mudra.identity.sign_in.throttle import FRESH
from mudra.shared.secret_text import SecretText


class LinkHolder(Struct, frozen=True):
    """The user whom a usable link lets set a password."""

    user: User


async def who_holds(token: SecretText, people: People, links: Links) -> LinkHolder | LinkRefused:
    """Tell whom a link belongs to, consuming nothing."""
    now = await people.now()
    record = await links.find(token_hash(token))
    verdict = judge(record, now)
    if isinstance(verdict, LinkRefused):
        return verdict
    user = await people.by_id(verdict.user_id)
    if user is None or user.state is UserState.DISABLED or user.email != verdict.address:
        return LinkRefused(LinkFault.UNKNOWN)
    return LinkHolder(user)


def refuse_password(password: SecretText, user: User, network: str) -> PasswordRefusal | None:
    """Tell why a password is not good enough for this user of the named network, if so."""
    context = PasswordContext(
        email=user.email,
        user_name=user.name,
        entity_ids=user.administers,
        entity_names=user.entity_names,
        network=network,
    )
    return check_password(password.reveal(), context)


async def set_password(  # noqa: PLR0913  # its collaborators, each named
    token: SecretText,
    password_hash: str,
    caller: Caller,
    *,
    people: People,
    links: Links,
    attempts: Attempts,
    tokens: UserTokens,
    outbox: Outbox,
    journal: AuditLog,
) -> User | LinkRefused:
    """Consume the link and store the password; the user's tokens end (quality A14)."""
    holder = await who_holds(token, people, links)
    if isinstance(holder, LinkRefused):
        await journal.note(
            AuditEntry(
                EventName.USER_LINK_REFUSE,
                caller,
                reason=holder.fault.value,
                outcome=Outcome.REFUSED,
            )
        )
        return holder
    user = holder.user
    now = await people.now()
    await links.use(token_hash(token), now)
    await people.keep_password(user.user_id, password_hash)
    ended = await tokens.revoke_user_tokens(user.user_id, now)
    await attempts.keep(user.email, FRESH)
    await journal.note(
        AuditEntry(
            EventName.USER_PASSWORD_SET,
            caller,
            user_id=user.user_id,
            detail={"tokens_ended": ended},
        )
    )
    if user.state is UserState.ACTIVE:
        await outbox.post(Notice(user.email, NoticeKind.PASSWORD_CHANGED, {"user_name": user.name}))
    return user
