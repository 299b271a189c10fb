"""Check the code of a second factor (RFC 6238 5.2), and count refused answers.

Codes are tried one after the other under the lock of the person's count: of two equal codes at
once one is accepted. Failures wait as those of passwords do (throttle.py): three are free, and
after a hundred in a row no code is accepted until a second operator resets the factor. Six digits
are then guessed with a chance of 1 in 3,000.
"""

import enum
from collections.abc import Awaitable, Callable
from typing import Final

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.second_factor.recovery_codes import canonical
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.second_factor.totp import matching_step
from mudra.identity.sign_in import throttle
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.sign_in import TooManyAttempts
from mudra.identity.sign_in.throttle import Counted, Disabled, Wait
from mudra.localization.language import translatable
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.refusal import PlainRefusal, RefusalKind
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import Outbox


class FactorKind(enum.StrEnum):
    """The factor that was shown; the value is its name in the audit log."""

    APP = "app"
    RECOVERY = "recovery"
    PASSKEY = "passkey"


CODE_REFUSED: Final = PlainRefusal(
    RefusalKind.UNAUTHORIZED,
    translatable("the code is wrong or was used already: wait for the next one of your app"),
)
"""The code is wrong, was used already, or no code is accepted any more: not distinguished."""


class FactorChange(enum.StrEnum):
    """The change that a person is notified of; the value is the sentence of the email."""

    ADDED = translatable(
        "An authenticator app was set up: from now on you sign in with a second factor."
    )
    REMOVED = translatable("The authenticator app was removed from your account.")
    PASSKEY_ADDED = translatable(
        "A passkey was added: it signs you in, and confirms serious changes."
    )
    PASSKEY_REMOVED = translatable("A passkey was removed: it no longer signs you in.")
    PASSKEYS_ENDED = translatable(
        "The passkeys of the account have ended, since an operator gave it another address."
    )
    PASSKEY_COPIED = translatable(
        "A passkey of yours was refused because its counter went back, as that of a copy does: "
        "remove that passkey."
    )
    RESET = translatable(
        "An operator reset the second factor: set up a new one at your next sign-in."
    )
    CODES = translatable("New recovery codes were made; the earlier ones have ended.")
    RECOVERY = translatable("A recovery code was used to sign in or to confirm a change.")
    GUESSED = translatable("Someone who knows the password typed wrong codes several times.")


async def check_code(
    tx: Transaction, user: User, typed: SecretText, caller: Caller
) -> FactorKind | PlainRefusal | TooManyAttempts:
    """Accept a code of the app or a recovery code, each once; a refusal is counted and recorded."""

    async def attempt() -> FactorKind | str:
        return await _accept(tx, user, typed) or "wrong-code"

    done = await counted(tx, user, caller, attempt, guessable=True)
    return CODE_REFUSED if done is None else done


async def counted(
    tx: Transaction,
    user: User,
    caller: Caller,
    attempt: Callable[[], Awaitable[FactorKind | str]],
    *,
    guessable: bool,
) -> FactorKind | TooManyAttempts | None:
    """Make an attempt in its turn; None when it was refused. A text is the reason why.

    What is `guessable` is refused, right or wrong, once a hundred wrong answers were counted.
    """
    history = await Attempts(tx).history(Counted.SECOND_FACTOR, user.user_id, lock=True)
    now = await People(tx).now()
    decision = throttle.decide(history, now)
    if isinstance(decision, Wait):
        await _record_refused(tx, user, caller, "too-many-attempts")
        return TooManyAttempts(decision.until, now)
    kind = await attempt()
    if not isinstance(kind, FactorKind) or (guessable and isinstance(decision, Disabled)):
        after = throttle.after_failure(history, now)
        await Attempts(tx).save(Counted.SECOND_FACTOR, user.user_id, after)
        reason = "disabled" if isinstance(kind, FactorKind) else kind
        await _record_refused(tx, user, caller, reason)
        if throttle.notice_due(history, after) is not None:
            await notify(tx, user, FactorChange.GUESSED)
        return None
    if history != throttle.FRESH:
        await forget_wrong_codes(tx, user.user_id)
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_FACTOR_USE, caller, user_id=user.user_id, detail={"kind": kind.value}
        )
    )
    if kind is FactorKind.RECOVERY:
        await notify(tx, user, FactorChange.RECOVERY)
    return kind


async def forget_wrong_codes(tx: Transaction, user_id: str) -> None:
    """Count a person's wrong codes from none again: a right one came, or another factor."""
    await Attempts(tx).save(Counted.SECOND_FACTOR, user_id, throttle.FRESH)


async def notify(tx: Transaction, user: User, change: FactorChange) -> None:
    """Send the person an email about their second factor."""
    facts = {"user_name": user.name, "what": change.value}
    await tx.service(Outbox).post(Notice(user.email, NoticeKind.SECOND_FACTOR, facts))


async def _accept(tx: Transaction, user: User, typed: SecretText) -> FactorKind | None:
    recovery = canonical(typed)
    if recovery is not None:
        used = await SecondFactors(tx).use_recovery_code(user.user_id, recovery)
        return FactorKind.RECOVERY if used else None
    factor = await SecondFactors(tx).totp(user.user_id)
    if factor is None:
        return None
    code = SecretText(typed.reveal().replace(" ", ""))
    step = matching_step(factor.secret, code, await People(tx).now(), factor.last_step)
    if step is None:
        return None
    await SecondFactors(tx).step_used(factor.factor_id, step)
    return FactorKind.APP


async def _record_refused(tx: Transaction, user: User, caller: Caller, reason: str) -> None:
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_FACTOR_REFUSE,
            caller,
            user_id=user.user_id,
            reason=reason,
            outcome=Outcome.REFUSED,
        )
    )
