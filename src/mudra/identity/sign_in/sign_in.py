"""Sign in with username and password (spec 4.1; decisions 3; quality A1 to A7).

Three steps, so that no connection waits for the slow hash: `admit` asks the
throttle, the edge hashes once on every branch, `settle` decides. Guesses made
at the same time are re-checked in `settle`: whoever comes after the slot has
closed learns nothing, whatever the password was.
"""

from datetime import datetime

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.audit.ports import AuditLog
from mudra.identity.accounts.email_address import AddressRefused, normalise_email
from mudra.identity.accounts.user import User
from mudra.identity.ports import Attempts, People
from mudra.identity.sign_in import throttle
from mudra.identity.sign_in.throttle import Disabled, Wait
from mudra.shared.refusal import Refusal


class TooManyAttempts(Refusal, frozen=True):
    """Wait until `retry_at` before the next try."""

    retry_at: datetime
    now: datetime


class SignInRefused(Refusal, frozen=True):
    """Unknown name, wrong password, or an account that may not sign in: never told apart."""


class Admitted(Struct, frozen=True):
    """The throttle lets this try through; `user` is None when there is no such name.

    `origin` is the key under which failures from the caller's address count.
    """

    username: str
    user: User | None
    origin: str

    @property
    def stored_hash(self) -> str | None:
        """What to check the password against; None costs the same and never matches."""
        return self.user.password_hash if self.user and self.user.may_sign_in else None


def username_of(typed: str) -> str:
    """The name under which tries are counted, whether or not it is an e-mail address."""
    address = normalise_email(typed)
    return typed.strip().casefold()[:254] if isinstance(address, AddressRefused) else address


async def admit(  # its collaborators, each named
    typed: str,
    caller: Caller,
    *,
    origin: str,
    people: People,
    attempts: Attempts,
    journal: AuditLog,
) -> Admitted | TooManyAttempts:
    """Ask the throttle before anything is hashed; a refused try is not counted."""
    username, now = username_of(typed), await people.now()
    history = await attempts.of_account(username, lock=False)
    refusal = await _throttled(history, origin, now, attempts)
    if refusal is not None:
        await journal.note(_refused(caller, "too-many-attempts"))
        return refusal
    return Admitted(username, await people.by_username(username), origin)


async def settle(  # its collaborators, each named
    admitted: Admitted,
    caller: Caller,
    *,
    matches: bool,
    people: People,
    attempts: Attempts,
    journal: AuditLog,
) -> User | SignInRefused | TooManyAttempts:
    """Decide under the lock of the name, and keep the count."""
    username = admitted.username
    history = await attempts.of_account(username, lock=True)
    now = await people.now()
    refusal = await _throttled(history, admitted.origin, now, attempts)
    if refusal is not None:
        await journal.note(_refused(caller, "too-many-attempts"))
        return refusal
    user = await people.by_username(username)
    unchanged = (
        user is not None
        and admitted.user is not None
        and user.password_hash == admitted.user.password_hash
    )
    if matches and unchanged and user is not None and user.may_sign_in and not _off(history, now):
        if history != throttle.FRESH:
            await attempts.keep(username, throttle.FRESH)
        await journal.note(AuditEntry(EventName.USER_SIGN_IN_SUCCEED, caller, user_id=user.user_id))
        return user
    after = throttle.after_failure(history, now)
    await attempts.keep(username, after)
    await attempts.address_failed(admitted.origin, now)
    told_at = throttle.notice_due(history, after)
    if told_at is not None:
        await attempts.guessed(user.user_id if user else None, told_at, now)
    await journal.note(_refused(caller, "wrong-credentials", user.user_id if user else ""))
    return SignInRefused()


async def keep_rehashed(
    user: User, password_hash: str, caller: Caller, *, people: People, journal: AuditLog
) -> None:
    """Store a right password's hash under the parameters in force (quality A11)."""
    assert user.password_hash is not None
    if await people.keep_rehashed(user.user_id, user.password_hash, password_hash):
        await journal.note(AuditEntry(EventName.USER_PASSWORD_REHASH, caller, user_id=user.user_id))


def _refused(caller: Caller, reason: str, user_id: str = "") -> AuditEntry:
    return AuditEntry(
        EventName.USER_SIGN_IN_REFUSE,
        caller,
        user_id=user_id,
        reason=reason,
        outcome=Outcome.REFUSED,
    )


def _off(history: throttle.History, now: datetime) -> bool:
    return isinstance(throttle.decide(history, now), Disabled)


async def _throttled(
    history: throttle.History, origin: str, now: datetime, attempts: Attempts
) -> TooManyAttempts | None:
    decision = throttle.decide(history, now)
    if isinstance(decision, Wait):
        return TooManyAttempts(decision.until, now)
    since = now - throttle.ADDRESS_PERIOD
    by_address = throttle.decide_address(await attempts.of_address(origin, since), now)
    return TooManyAttempts(by_address.until, now) if isinstance(by_address, Wait) else None
