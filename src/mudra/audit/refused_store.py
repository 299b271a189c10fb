"""Refused acts that concern one who is known: the first are rows of the audit, others are counted.

A row is kept for years, and anyone who holds a token can be refused hundreds of times a second. The
count is kept in the transaction of the refusal; a job makes one event of each minute's count. Where
the caller is unknown, as after a wrong password, it is by the person and the entity it concerns.
"""

from time import monotonic
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.audit.anonymous_store import ANONYMOUS
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome, event_row
from mudra.shared.rate_limit import KeyedRateLimit
from mudra.shared.time_text import iso_ms
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_event, audit_refused

_ROWS_PER_S: Final = 1 / 60
_ROWS_AT_ONCE: Final = 20
_ROWS: Final = KeyedRateLimit(_ROWS_PER_S, _ROWS_AT_ONCE, monotonic)
"""Of this process: refused acts of one kind that have a row each, by who acts or is concerned."""
_C: Final = audit_refused.c
_NEW: Final = insert(audit_refused)
_COUNT: Final = _NEW.on_conflict_do_update(
    index_elements=["minute", "actor", "entity_id", "user_id", "event", "reason"],
    set_={"count": _C["count"] + 1, "last_at": _NEW.excluded.last_at},
)


def is_one_of_many(entry: AuditEntry) -> bool:
    """Count a refused act; returns whether it is one of so many that it has no row."""
    if entry.outcome is not Outcome.REFUSED:
        return False
    whose = " ".join((entry.caller.actor, *_concerned(entry), entry.event.value))
    return _ROWS.wait_s(whose) > 0


def _concerned(entry: AuditEntry) -> tuple[str, str]:
    """Return the entity and the person that refusals are told apart by; none of a known caller.

    One who is known may name as many entities as they like.
    """
    return (entry.entity_id, entry.user_id) if entry.caller.actor == ANONYMOUS else ("", "")


async def count_refused(transaction: Transaction, entry: AuditEntry) -> None:
    """Count a refused act under its minute, actor, who is concerned, kind and reason."""
    now = await transaction.now()
    entity_id, user_id = _concerned(entry)
    await transaction.connection.execute(
        _COUNT,
        {
            "minute": now.replace(second=0, microsecond=0),
            "actor": entry.caller.actor,
            "entity_id": entity_id,
            "user_id": user_id,
            "event": entry.event.value,
            "reason": entry.reason,
            "address": entry.caller.address,
            "txn_id": entry.caller.txn_id,
            "count": 1,
            "first_at": now,
            "last_at": now,
        },
    )


async def record_refused(transaction: Transaction) -> int:
    """Make an event of each count whose minute is over; returns their number."""
    now = await transaction.now()
    found = await transaction.connection.execute(
        sa.delete(audit_refused)
        .where(_C.minute < now.replace(second=0, microsecond=0))
        .returning(
            *(_C.event, _C.actor, _C.entity_id, _C.user_id, _C.address, _C.txn_id),
            *(_C.reason, _C["count"].label("acts"), _C.first_at, _C.last_at),
        )
    )
    rows = sorted(found, key=lambda one: one.first_at)
    events = [
        AuditEntry(
            EventName(one.event),
            Caller(one.actor, one.address, one.txn_id),
            entity_id=one.entity_id,
            user_id=one.user_id,
            reason=one.reason,
            detail={
                "count": one.acts,
                "first": iso_ms(one.first_at),
                "last": iso_ms(one.last_at),
            },
            outcome=Outcome.REFUSED,
        ).at(now)
        for one in rows
    ]
    if events:
        await transaction.connection.execute(
            sa.insert(audit_event), [event_row(one) for one in events]
        )
    return len(events)
