"""Remind a member of a secret that expires, and of an old one still in use.

One entity in one transaction, under the entity's lock: an email and its mark are
stored together, so that neither two nodes nor a crash sends it twice.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.memberships.notices import NoticeService
from mudra.shared.mail.notice import NoticeKind
from mudra.shared.time_text import iso_ms
from mudra.storage.database.transaction import Transaction
from mudra.tokens.reminders.reminder_store import Reminders
from mudra.tokens.secrets.old_secret_use import OLD_SECRET_IN_USE, still_in_use
from mudra.tokens.secrets.secret import MAX_GRACE_DAYS, EntitySecret
from mudra.tokens.secrets.secret_store import SecretHolding, Secrets
from mudra.tokens.secrets.secret_use_store import SecretUses

DAYS_BEFORE: Final = (30, 14, 7, 3, 1)
AFTER_EXPIRY: Final = 0
"""The mark of the one email that is sent once the secret has expired."""
_MARKS: Final = (*DAYS_BEFORE, AFTER_EXPIRY)


class Reminder(Struct, frozen=True):
    """The marks to store as done, and the mark, if any, for which an email is sent.

    A mark is the number of days before expiry, or AFTER_EXPIRY.
    """

    send: int | None
    done: frozenset[int]


NOTHING_DUE: Final = Reminder(None, frozenset())


def reminder_due(
    *, made_at: datetime, expires_at: datetime, done: Collection[int], now: datetime
) -> Reminder:
    """Return what is due at `now` for a secret made and expiring at these times.

    A day at or before the making of the secret does not count: after a reset for
    10 days, the reminder of 14 days is not sent at once.
    """
    passed = {mark for mark in _MARKS if made_at < expires_at - timedelta(days=mark) <= now}
    missed = passed.difference(done)
    if not missed:
        return NOTHING_DUE
    most_urgent = min(missed)
    overtaken = any(mark < most_urgent for mark in done)
    return Reminder(None if overtaken else most_urgent, frozenset(missed))


_CALLER: Final = Caller("system:reminders")
_LOOK_AHEAD: Final = timedelta(days=max(DAYS_BEFORE))
_LOOK_BACK: Final = timedelta(days=MAX_GRACE_DAYS)


async def to_remind(tx: Transaction) -> Sequence[str]:
    """Return the entities of which something may be due, in order.

    One that was reminded of all that has passed is none of them: its transaction would find so.
    """
    reminders, now = Reminders(tx), await tx.now()
    found = set(await reminders.in_grace(now - _LOOK_BACK))
    for one in await reminders.expiring(now + _LOOK_AHEAD):
        due = reminder_due(made_at=one.made_at, expires_at=one.expires_at, done=one.done, now=now)
        if due.done:
            found.add(one.entity_id)
    return sorted(found)


async def remind(tx: Transaction, entity_id: str) -> None:
    """Send what is due for one entity; a second call at the same time sends nothing."""
    holding = await Secrets(tx).locked(entity_id)
    if holding is None:
        return
    current = holding.current
    done = await Reminders(tx).done(entity_id, current.version)
    due = reminder_due(
        made_at=current.created_at, expires_at=current.expires_at, done=done, now=holding.now
    )
    if due.done:
        await Reminders(tx).mark(entity_id, current.version, due.done, due.send)
    if due.send is not None:
        facts = {"expires_at": iso_ms(current.expires_at)}
        if due.send == AFTER_EXPIRY:
            readers = await tx.service(NoticeService).notify(
                entity_id, NoticeKind.SECRET_EXPIRED, facts
            )
        else:
            facts |= {
                "days_left": str(_days_left(current, holding.now)),
                "written_at": iso_ms(holding.now),
            }
            readers = await tx.service(NoticeService).notify(
                entity_id, NoticeKind.SECRET_EXPIRY, facts
            )
        await AuditLog(tx).append(_entry(current, readers, mark=due.send))
    await _old_secret(tx, holding)


async def _old_secret(tx: Transaction, holding: SecretHolding) -> None:
    old = holding.in_grace
    if old is None or old.grace_until is None:
        return
    use = await SecretUses(tx).of(old.entity_id, old.version)
    if not still_in_use(old, use, holding.now) or use.last_used_at is None:
        return
    if OLD_SECRET_IN_USE in await Reminders(tx).done(old.entity_id, old.version):
        return
    await Reminders(tx).mark(old.entity_id, old.version, {OLD_SECRET_IN_USE}, OLD_SECRET_IN_USE)
    readers = await tx.service(NoticeService).notify(
        old.entity_id,
        NoticeKind.OLD_SECRET_IN_USE,
        {
            "ends_at": iso_ms(old.grace_until),
            "last_used_at": iso_ms(use.last_used_at),
            "use_count": str(use.count_in_grace),
            "address_count": str(len(use.addresses)),
        },
    )
    await AuditLog(tx).append(_entry(old, readers, mark=OLD_SECRET_IN_USE))


def _days_left(secret: EntitySecret, now: datetime) -> int:
    """Return whole days, rounded up: a late email shows the days that are really left."""
    return max(1, -((now - secret.expires_at) // timedelta(days=1)))


def _entry(secret: EntitySecret, readers: int, *, mark: int) -> AuditEntry:
    return AuditEntry(
        EventName.ENTITY_SECRET_REMIND,
        _CALLER,
        secret.entity_id,
        detail={"version": secret.version, "mark": mark, "readers": readers},
    )
