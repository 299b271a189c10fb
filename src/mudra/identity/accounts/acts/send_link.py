"""Email one-use links: invitation and "forgot password"."""

from datetime import datetime, timedelta
from typing import Final

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.email_link import LinkFactory, LinkPurpose, LinkRequest
from mudra.identity.accounts.link_request_store import LinkRequests
from mudra.identity.accounts.link_store import Links
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User, UserState, normalize_username
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.throttle import Counted, History, may_send_link
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.refusal import WAIT_TEXT, PlainRefusal, RefusalKind
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import Outbox

_BATCH: Final = 50
_COUNTED: Final = timedelta(hours=24)
_REFUSALS_EVERY: Final = timedelta(minutes=1)
"""At most so often the audit has a row of the refused requests for one person."""


def too_many_link_requests(retry_after_s: int) -> PlainRefusal:
    """Refuse: this network address has requested too many links, for any names."""
    return PlainRefusal(
        RefusalKind.LIMITED,
        f"too many links were requested from this network address; {WAIT_TEXT}",
        retry_after_s,
    )


async def send_link(tx: Transaction, user: User, caller: Caller) -> None:
    """Send a new link and void the user's older ones.

    A user who has never set a password gets an invitation, another user a link
    to set a new password.
    """
    now = await People(tx).now()
    invited = user.state is UserState.INVITED
    purpose = LinkPurpose.INVITE if invited else LinkPurpose.PASSWORD_RESET
    url, record = tx.service(LinkFactory).create(
        user_id=user.user_id, address=user.email, purpose=purpose, now=now
    )
    await Links(tx).add(record)
    await tx.service(Outbox).post(link_notice(user, purpose, url))
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_LINK_SEND,
            caller,
            user_id=user.user_id,
            reason=purpose.value,
            detail={"expires_at": record.expires_at.isoformat()},
        )
    )


def link_notice(user: User, purpose: LinkPurpose, url: SecretText) -> Notice:
    """Returns the email that brings a link: its kind depends on the account."""
    invited = purpose is LinkPurpose.INVITE
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
    return Notice(user.email, kind, facts)


async def send_missing_link(tx: Transaction, user_id: str, caller: Caller) -> bool:
    """Send a link to a person who has no password and no link that still works; say whether."""
    user = await People(tx).by_id(user_id)
    if user is None or user.state is not UserState.INVITED:
        return False
    if await Links(tx).is_any_valid(user_id, await People(tx).now()):
        return False
    await send_link(tx, user, caller)
    return True


async def request_link(tx: Transaction, username: str, caller: Caller) -> None:
    """Queue a "forgot password": nothing here depends on whether the name is known."""
    typed = normalize_username(username)
    await LinkRequests(tx).ask(LinkRequest(typed, caller.address, caller.txn_id))


async def send_requested_links(tx: Transaction) -> int:
    """Do what was requested; returns how many requests there were."""
    requests = await LinkRequests(tx).take(_BATCH)
    for one in requests:
        await forgot_password(tx, one.username, Caller("nobody", one.address, one.txn_id))
    return len(requests)


async def forgot_password(tx: Transaction, username: str, caller: Caller) -> None:
    """Send a link if the name is known; the caller does not learn whether it was."""
    user, now = await People(tx).by_username(normalize_username(username)), await People(tx).now()
    refused = await _why_no_link(tx, user, now) if user else ""
    if user and refused:
        await _record_no_link(tx, user, caller, now, refused)
        return
    await AuditLog(tx).append(
        AuditEntry(EventName.USER_PASSWORD_FORGOT, caller, user_id=user.user_id if user else "")
    )
    if user:
        await send_link(tx, user, caller)


async def _why_no_link(tx: Transaction, user: User, now: datetime) -> str:
    if user.state is UserState.DISABLED:
        return "account-disabled"
    sent = await Links(tx).sent_to(user.user_id, now - _COUNTED)
    return "" if may_send_link(sent, now) else "too-many-links"


async def _record_no_link(
    tx: Transaction, user: User, caller: Caller, now: datetime, reason: str
) -> None:
    """Record refused requests with their number, one row a minute: anyone can send thousands.

    Those that no row counts yet are in the next one.
    """
    waiting = await Attempts(tx).history(Counted.LINK_REFUSAL, user.user_id, lock=True)
    recorded_at = waiting.last_failure_at
    # In both directions: a clock may have been set back.
    if recorded_at is not None and abs(now - recorded_at) < _REFUSALS_EVERY:
        more = History(waiting.failures + 1, recorded_at)
        await Attempts(tx).save(Counted.LINK_REFUSAL, user.user_id, more)
        return
    await Attempts(tx).save(Counted.LINK_REFUSAL, user.user_id, History(0, now))
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_LINK_REFUSE,
            caller,
            user_id=user.user_id,
            reason=reason,
            detail={"requests": waiting.failures + 1},
            outcome=Outcome.REFUSED,
        )
    )
