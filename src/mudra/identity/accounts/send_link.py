"""Email one-use links: invitation and "forgot password" (decisions 3, quality A12, A13)."""

from datetime import timedelta
from typing import Final

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.email_link import LinkPurpose, LinkRequest
from mudra.identity.accounts.user import User, UserState, normalize_username
from mudra.identity.ports import IdentityUnitOfWork, Notice, NoticeKind
from mudra.identity.sign_in.throttle import may_send_link
from mudra.shared.secret_text import SecretText

_BATCH: Final = 50
_COUNTED: Final = timedelta(hours=24)


async def send_link(work: IdentityUnitOfWork, user: User, caller: Caller) -> None:
    """Send a new link and void the older ones of this user.

    A user who has never set a password gets an invitation, another user a link
    to set a new password.
    """
    now = await work.people.now()
    invited = user.state is UserState.INVITED
    purpose = LinkPurpose.INVITE if invited else LinkPurpose.PASSWORD_RESET
    url, record = work.link_factory.create(
        user_id=user.user_id, address=user.email, purpose=purpose, now=now
    )
    await work.links.add(record)
    facts: dict[str, str | SecretText] = {
        "user_name": user.name,
        "link": url,
        "valid_hours": str(int(purpose.life.total_seconds()) // 3600),
    }
    kind = NoticeKind.PASSWORD_RESET
    if invited:
        kind = NoticeKind.ACCOUNT_INVITATION
    if not invited:
        facts["manages_secrets"] = "yes" if user.administers else ""
    if invited and user.entity_names:
        kind = NoticeKind.INVITATION
        facts["entity_name"] = user.entity_names[0]
    await work.outbox.post(Notice(user.email, kind, facts))
    await work.audit_log.append(
        AuditEntry(
            EventName.USER_LINK_SEND,
            caller,
            user_id=user.user_id,
            reason=purpose.value,
            detail={"expires_at": record.expires_at.isoformat()},
        )
    )


async def request_link(work: IdentityUnitOfWork, username: str, caller: Caller) -> None:
    """Queue a "forgot password": nothing here depends on whether the name is known."""
    typed = normalize_username(username)
    await work.link_requests.ask(LinkRequest(typed, caller.address, caller.txn_id))


async def send_requested_links(work: IdentityUnitOfWork) -> int:
    """Do what was requested; returns how many requests there were."""
    requests = await work.link_requests.take(_BATCH)
    for one in requests:
        await forgot_password(work, one.username, Caller("nobody", one.address, one.txn_id))
    return len(requests)


async def forgot_password(work: IdentityUnitOfWork, username: str, caller: Caller) -> None:
    """Send a link if the name is known; the caller does not learn whether it was."""
    user = await work.people.by_username(normalize_username(username))
    await work.audit_log.append(
        AuditEntry(EventName.USER_PASSWORD_FORGOT, caller, user_id=user.user_id if user else "")
    )
    if user is None or user.state is UserState.DISABLED:
        return
    now = await work.people.now()
    if may_send_link(await work.links.sent_to(user.user_id, now - _COUNTED), now):
        await send_link(work, user, caller)
        return
    await work.audit_log.append(
        AuditEntry(
            EventName.USER_LINK_REFUSE,
            caller,
            user_id=user.user_id,
            reason="too-many-links",
            outcome=Outcome.REFUSED,
        )
    )
