"""The life of the console's sessions: how they begin, are found and end."""

import base64
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User, UserState
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.operator_store import Operators
from mudra.identity.sessions.session import Session, Stage, session_key
from mudra.identity.sessions.session_store import Sessions
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction

_RANDOM_BYTES: Final = 32


class SignedIn(Struct, frozen=True):
    """The user behind a valid session, with the scopes read from the database."""

    session: Session
    user: User
    scopes: frozenset[Scope]
    now: datetime


async def authenticate_session(
    tx: Transaction,
    cookie: SecretText | None,
    *,
    stages: frozenset[Stage] = frozenset({Stage.FULL}),
) -> SignedIn | None:
    """Find the user of a session cookie and record the use; None if no one is signed in.

    A session in another stage than these is none: it opens what it waits for, and nothing else.
    """
    session = await Sessions(tx).find(session_key(cookie)) if cookie else None
    now = await People(tx).now()
    if session is None or session.stage not in stages or not session.is_open(now):
        return None
    user = await People(tx).by_id(session.user_id)
    if user is None or user.state is not UserState.ACTIVE:
        return None
    await Sessions(tx).used(session, now)
    return SignedIn(session, user, await Operators(tx).scopes(user.user_id), now)


class BegunSession(Struct, frozen=True):
    """A session that has just begun: the value of its cookie, and the token of its forms."""

    cookie: SecretText
    csrf_token: str


async def begin_session(
    tx: Transaction,
    user_id: str,
    caller: Caller,
    now: datetime,
    *,
    random_bytes: Callable[[int], bytes],
    stage: Stage = Stage.FULL,
    proven_at: datetime | None = None,
) -> BegunSession:
    """Begin a session for a user who has just signed in, or showed themselves at `proven_at`.

    One that waits for a second step is not recorded: no one is signed in by it.
    """
    cookie = SecretText(_random_text(random_bytes))
    session = Session(
        key=session_key(cookie),
        user_id=user_id,
        csrf_token=_random_text(random_bytes),
        started_at=now,
        last_used_at=now,
        proven_at=proven_at or now,
        address=caller.address,
        stage=stage,
    )
    await Sessions(tx).add(session)
    if stage is Stage.FULL:
        await People(tx).signed_in(user_id, now)
        await AuditLog(tx).append(AuditEntry(EventName.USER_SESSION_BEGIN, caller, user_id=user_id))
    return BegunSession(cookie, session.csrf_token)


async def complete_session(
    tx: Transaction,
    waiting: Session,
    caller: Caller,
    now: datetime,
    *,
    random_bytes: Callable[[int], bytes],
) -> BegunSession | None:
    """Replace a session after its second step by one with another cookie.

    Who planted the first cookie in a browser does not hold the one that is signed in. None when
    it has ended meanwhile, as all do with a new password: nothing is begun then.
    """
    if not await Sessions(tx).end(waiting.key):
        return None
    return await begin_session(tx, waiting.user_id, caller, now, random_bytes=random_bytes)


async def end_session(tx: Transaction, session: Session, caller: Caller) -> None:
    """Sign out: the cookie is not accepted from the commit on."""
    if await Sessions(tx).end(session.key):
        await AuditLog(tx).append(
            AuditEntry(EventName.USER_SESSION_END, caller, user_id=session.user_id)
        )


async def open_sessions(tx: Transaction, user_id: str, now: datetime) -> Sequence[Session]:
    """List a user's valid sessions, the newest first; none that waits for a second step."""
    found = await Sessions(tx).of_user(user_id)
    return [one for one in found if one.stage is Stage.FULL and one.is_open(now)]


async def end_other_sessions(tx: Transaction, kept: Session, caller: Caller) -> None:
    """End the sessions of a user but this one."""
    for one in await Sessions(tx).of_user(kept.user_id):
        if one.key != kept.key:
            await end_session(tx, one, caller)


async def end_own_session(tx: Transaction, user_id: str, session_id: str, caller: Caller) -> bool:
    """End one of a user's sessions by its name; False when it is not theirs or has ended."""
    for one in await Sessions(tx).of_user(user_id):
        if one.session_id == session_id:
            await end_session(tx, one, caller)
            return True
    return False


def _random_text(random_bytes: Callable[[int], bytes]) -> str:
    return base64.urlsafe_b64encode(random_bytes(_RANDOM_BYTES)).rstrip(b"=").decode()
