"""Sign in with username and password (spec 4.1).

No connection waits for the slow hash: `admit` asks the throttle in one
transaction, the password is hashed once on every branch, and `settle` decides in
a second transaction. Guesses made at the same time are re-checked there: one
that comes after the slot has closed learns nothing, whatever the password was.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.password_hasher import PasswordHasher
from mudra.identity.accounts.password_rules import MAX_LENGTH
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import HashingBusy
from mudra.identity.accounts.user import User, normalize_username
from mudra.identity.sign_in import throttle
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.throttle import Counted, Disabled, Wait
from mudra.localization.language import translatable
from mudra.shared.refusal import WAIT_TEXT, LimitedUntil, Refusal, RefusalKind
from mudra.shared.secret_text import SecretText
from mudra.shared.waiting.fair_queue import Queue
from mudra.storage.database.transaction import OpenTransaction, Transaction

T = TypeVar("T")


TOO_MANY_ATTEMPTS: Final = translatable(
    "too many sign-in attempts with this username or from this address"
)


class TooManyAttempts(LimitedUntil, frozen=True):
    """Wait until `retry_at` before the next attempt."""

    @property
    def sentence(self) -> str:
        """Says what is limited, whether or not there is such an account."""
        return f"{TOO_MANY_ATTEMPTS}; {WAIT_TEXT}"


class TooManySignIns(TooManyAttempts, frozen=True):
    """An account signed in `most` times within an hour, each time rightly."""

    most: int

    @property
    def sentence(self) -> str:
        """Names the limit and the way out."""
        reached = f"{self.most} sign-ins of this account in an hour"
        return f"{reached}: use the token you have, it lives 180 days; {WAIT_TEXT}"


class SignInRefused(Refusal, frozen=True):
    """Unknown name, wrong password, or an account that may not sign in: never distinguished."""

    kind = RefusalKind.UNAUTHORIZED
    sentence = translatable("username or password is wrong, or the account is not active")


PasswordRefused = SignInRefused | TooManyAttempts | HashingBusy


class Admitted(Struct, frozen=True):
    """The throttle admits this attempt; `user` is None when the name is unknown.

    `origin` is the key under which failures from the caller's address count.
    """

    username: str
    user: User | None
    origin: str

    @property
    def stored_hash(self) -> str | None:
        """The hash to check the password against; None takes as long and never matches."""
        return self.user.password_hash if self.user and self.user.may_sign_in else None


async def sign_in(  # noqa: PLR0913  # its collaborators, each named
    username: str,
    password: SecretText,
    caller: Caller,
    then: Callable[[Transaction, User], Awaitable[T]],
    *,
    origin: str,
    open_transaction: OpenTransaction,
    hasher: PasswordHasher,
    queue: Queue,
    hourly: int,
) -> T | PasswordRefused:
    """Check a password and, if it is right, run `then` in the same transaction.

    The slow hash is computed once on every branch. An account signs in at
    most `hourly` times in any hour.
    """
    # A flood asks the throttle a few at a time: tokens are issued on the same loop.
    async with queue.turn() as admitted_in_time:
        if not admitted_in_time:
            return HashingBusy(int(queue.wait_s))
        async with open_transaction() as tx:
            admitted = await admit(tx, username, caller, origin=origin, hourly=hourly)
    if not isinstance(admitted, Admitted):
        return admitted
    # A longer password was never stored; hashing its beginning takes the same time.
    attempted = SecretText(password.reveal()[: MAX_LENGTH + 1])
    matches = await hasher.verify(
        admitted.stored_hash, attempted, account=admitted.username, origin=origin
    )
    if isinstance(matches, HashingBusy):
        return matches
    async with open_transaction() as tx:
        user = await settle(tx, admitted, caller, matches=matches, hourly=hourly)
        if not isinstance(user, User):
            return user
        result = await then(tx, user)
    await _rehash(user, attempted, caller, hasher, open_transaction)
    return result


async def admit(
    tx: Transaction, typed: str, caller: Caller, *, origin: str, hourly: int
) -> Admitted | TooManyAttempts:
    """Ask the throttle before anything is hashed; a refused attempt is not counted."""
    username = normalize_username(typed)
    # From this address alone: others learn nothing of an account that signs in often.
    standing = await Attempts(tx).standing(username, origin, from_there=True)
    refusal = _throttled(standing) or _too_often(standing.successes, standing.now, hourly)
    if refusal is not None:
        await AuditLog(tx).append(_refused(caller, "too-many-attempts"))
        return refusal
    return Admitted(username, await People(tx).by_username(username), origin)


async def settle(
    tx: Transaction, admitted: Admitted, caller: Caller, *, matches: bool, hourly: int
) -> User | SignInRefused | TooManyAttempts:
    """Decide under the lock of the name, and count a failure."""
    username = admitted.username
    await Attempts(tx).history(Counted.PASSWORD, username, lock=True)
    await Attempts(tx).lock_address(admitted.origin)
    standing = await Attempts(tx).standing(username, admitted.origin, from_there=False)
    history, now = standing.history, standing.now
    refusal = _throttled(standing)
    if refusal is not None:
        await AuditLog(tx).append(_refused(caller, "too-many-attempts"))
        return refusal
    user = await People(tx).by_username(username)
    earlier = admitted.user
    unchanged = user is not None and earlier is not None and user.has_password_of(earlier)
    if matches and unchanged and user is not None and user.may_sign_in and not _off(history, now):
        often = _too_often(standing.successes, now, hourly)
        if often is not None:
            await AuditLog(tx).append(_refused(caller, "too-many-sign-ins", user.user_id))
            return often
        await Attempts(tx).succeeded(username, admitted.origin, now)
        if history != throttle.FRESH:
            await Attempts(tx).save(Counted.PASSWORD, username, throttle.FRESH)
        own = replace(caller, actor=f"user:{user.user_id}")
        await AuditLog(tx).append(AuditEntry(EventName.USER_SIGN_IN_SUCCEED, own))
        return user
    after = throttle.after_failure(history, now)
    await Attempts(tx).save(Counted.PASSWORD, username, after)
    await Attempts(tx).address_failed(admitted.origin, now)
    noticed_at = throttle.notice_due(history, after)
    if noticed_at is not None:
        await Attempts(tx).guessed(user.user_id if user else None, noticed_at, now)
    await AuditLog(tx).append(_refused(caller, "wrong-credentials", user.user_id if user else ""))
    return SignInRefused()


async def _rehash(
    user: User,
    password: SecretText,
    caller: Caller,
    hasher: PasswordHasher,
    open_transaction: OpenTransaction,
) -> None:
    """Hash a right password again if the parameters have changed since."""
    if user.password_hash is None or not hasher.needs_rehash(user.password_hash):
        return
    hashed = await hasher.hash(password)
    if isinstance(hashed, HashingBusy):
        return  # the next sign-in will do it
    user_caller = replace(caller, actor=f"user:{user.user_id}")
    async with open_transaction() as tx:
        if await People(tx).replace_hash(user.user_id, user.password_hash, hashed):
            await AuditLog(tx).append(
                AuditEntry(EventName.USER_PASSWORD_REHASH, user_caller, user_id=user.user_id)
            )


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


async def too_often(
    attempts: Attempts, username: str, now: datetime, most: int
) -> TooManySignIns | None:
    """Return until when an account that signed in `most` times in an hour must wait."""
    successes = await attempts.successes(username, now - throttle.SUCCESS_PERIOD)
    return _too_often(successes, now, most)


async def address_waits(attempts: Attempts, origin: str, now: datetime) -> TooManyAttempts | None:
    """Return until when an address with too many failures must wait."""
    failures = await attempts.of_address(origin, now - throttle.ADDRESS_PERIOD)
    return _until(throttle.decide_address(failures, now), now)


def _too_often(successes: Sequence[datetime], now: datetime, most: int) -> TooManySignIns | None:
    decision = throttle.decide_successes(successes, now, most)
    return TooManySignIns(decision.until, now, most) if isinstance(decision, Wait) else None


def _throttled(standing: throttle.Standing) -> TooManyAttempts | None:
    now = standing.now
    of_name = _until(throttle.decide(standing.history, now), now)
    return of_name or _until(throttle.decide_address(standing.address_failures, now), now)


def _until(decision: throttle.Proceed | Wait | Disabled, now: datetime) -> TooManyAttempts | None:
    return TooManyAttempts(decision.until, now) if isinstance(decision, Wait) else None
