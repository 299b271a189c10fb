"""The audit log in PostgreSQL, and counts of events that are too many for a row each.

Those are refused acts of one actor, and events of callers whom the service does not know: each is
counted by minute, and becomes one event when its minute is over.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from time import monotonic
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.audit.event import AuditEntry, AuditEvent, Caller, EventName, Outcome, event_row
from mudra.audit.token_issue_store import add_issues
from mudra.audit.token_issues import TokenIssue
from mudra.shared.network_address import address_key
from mudra.shared.time_text import iso_ms
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.storage.database.bulk_insert import parameter_of
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_anonymous, audit_event, audit_refused

_ROWS_PER_S: Final = 1 / 60
_ROWS_AT_ONCE: Final = 20
_ROWS: Final = KeyedRateLimit(_ROWS_PER_S, _ROWS_AT_ONCE, monotonic)
"""Of this process: refused acts of one kind that have a row each, by who acts or is concerned."""
_C: Final = audit_refused.c
_NEW: Final = insert(audit_refused)
_COUNT_REFUSED: Final = _NEW.on_conflict_do_update(
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
    """Return the entity and person by which refusals are distinguished; none of a known caller.

    One who is known may name as many entities as they like.
    """
    return (entry.entity_id, entry.user_id) if entry.caller.actor == ANONYMOUS else ("", "")


async def count_refused(transaction: Transaction, entry: AuditEntry) -> None:
    """Count a refused act under its minute, actor, who is concerned, kind and reason."""
    now = await transaction.now()
    entity_id, user_id = _concerned(entry)
    await transaction.connection.execute(
        _COUNT_REFUSED,
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


ANONYMOUS: Final = "nobody"
"""The actor of a caller who has not signed in."""
MAX_ADDRESSES: Final = 1000
"""Counts kept for one minute; what comes from further addresses is counted together."""
OTHERS: Final = "(others)"
"""In place of the address, where several are counted together."""

_COUNT: Final = sa.text(
    """
WITH given AS (
  SELECT date_trunc('minute', r.at) AS minute, r.*
  FROM json_to_recordset(cast(:rows AS json)) AS r(
    address text, event text, reason text, outcome text, count bigint, at timestamptz, txn_id text)
), held AS (
  SELECT minute, count(*) AS count FROM audit_anonymous
  WHERE minute IN (SELECT minute FROM given) GROUP BY minute
), numbered AS (
  SELECT given.*, known.minute IS NOT NULL AS is_known, coalesce(held.count, 0) AS held,
    count(*) FILTER (WHERE known.minute IS NULL) OVER (
      PARTITION BY given.minute
      ORDER BY given.address COLLATE "C", given.event COLLATE "C", given.reason COLLATE "C"
    ) AS nth_new
  FROM given LEFT JOIN held USING (minute)
  LEFT JOIN audit_anonymous known ON known.minute = given.minute
    AND known.address = given.address AND known.event = given.event AND known.reason = given.reason
), placed AS (
  SELECT *, CASE WHEN is_known OR held + nth_new <= :most THEN address ELSE :others END AS place
  FROM numbered
)
INSERT INTO audit_anonymous AS known
  (minute, address, event, reason, outcome, count, first_at, last_at, txn_id)
SELECT minute, place, event, reason, (array_agg(outcome ORDER BY address COLLATE "C"))[1],
  sum(count), min(at), max(at), (array_agg(txn_id ORDER BY address COLLATE "C"))[1]
FROM placed GROUP BY minute, place, event, reason
ORDER BY minute, place COLLATE "C", event COLLATE "C", reason COLLATE "C"
ON CONFLICT (minute, address, event, reason) DO UPDATE SET
  count = known.count + excluded.count, last_at = greatest(known.last_at, excluded.last_at)
"""
)
"""Places of a minute go to new counts in order, as if each were a statement of its own.

Rows are locked in one order everywhere, so that no two transactions wait for each other.
"""


def is_anonymous(actor: str, entity_id: str, user_id: str) -> bool:
    """Return whether an event concerns no one whom the service knows."""
    return actor == ANONYMOUS and not entity_id and not user_id


async def count_anonymous(transaction: Transaction, events: Iterable[AuditEvent]) -> None:
    """Count events of unknown callers; `count` in the detail is the number of several."""
    counts: dict[tuple[str, str, str], int] = {}
    first: dict[tuple[str, str, str], AuditEvent] = {}
    for event in events:
        key = (address_key(event.address), event.event.value, event.reason)
        if key not in counts and len(counts) >= MAX_ADDRESSES:
            key = (OTHERS, event.event.value, event.reason)
        counts[key] = counts.get(key, 0) + int(event.detail.get("count", 1))
        first.setdefault(key, event)
    if not counts:
        return
    rows = [
        {
            "address": address,
            "event": name,
            "reason": reason,
            "outcome": first[address, name, reason].outcome.value,
            "count": count,
            "at": first[address, name, reason].at,
            "txn_id": first[address, name, reason].txn_id,
        }
        for (address, name, reason), count in counts.items()
    ]
    await transaction.connection.execute(
        _COUNT, {**parameter_of(rows), "most": MAX_ADDRESSES, "others": OTHERS}
    )


async def record_anonymous(transaction: Transaction) -> int:
    """Make an event of each count whose minute is over; returns their number."""
    c = audit_anonymous.c
    minute = sa.select(sa.func.date_trunc("minute", transaction.this_moment)).scalar_subquery()
    found = await transaction.connection.execute(
        sa.delete(audit_anonymous)
        .where(c.minute < minute)
        .returning(
            *(c.event, c.outcome, c.address, c.txn_id),
            *(c.reason, c["count"], c.first_at, c.last_at),
        )
    )
    rows = sorted(found, key=lambda one: one[6])
    if rows:
        now = await transaction.now()
        events = [event_row(_event(tuple(row), now)) for row in rows]
        await transaction.connection.execute(sa.insert(audit_event), events)
    return len(rows)


def _event(row: tuple[object, ...], now: datetime) -> AuditEvent:
    event, outcome, address, txn_id, reason, count, first_at, last_at = row
    assert isinstance(count, int)
    assert isinstance(first_at, datetime)
    assert isinstance(last_at, datetime)
    entry = AuditEntry(
        EventName(str(event)),
        Caller(ANONYMOUS, str(address), str(txn_id)),
        reason=str(reason),
        detail={"count": count, "first": iso_ms(first_at), "last": iso_ms(last_at)},
        outcome=Outcome(str(outcome)),
    )
    return entry.at(now)


_STAMPED_BY_THE_DATABASE: Final = datetime.min.replace(tzinfo=UTC)
_APPEND: Final = sa.insert(audit_event).values(
    at=sa.func.clock_timestamp() + sa.bindparam("offset", type_=sa.Interval)
)


class AuditLog:
    """Appends entries in the transaction of the action itself."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def append(self, entry: AuditEntry) -> None:
        """Append an entry at the database's time.

        Counted are what concerns no one known, and refused acts beyond the first of an actor.
        Issued entity tokens have a form of their own (decision 0002).
        """
        if entry.event is EventName.ENTITY_TOKEN_ISSUE:
            await add_issues(self._tx, [TokenIssue.of(entry)])
            return
        if is_anonymous(entry.caller.actor, entry.entity_id, entry.user_id):
            await count_anonymous(self._tx, [entry.at(await self._tx.now())])
            return
        if is_one_of_many(entry):
            await count_refused(self._tx, entry)
            return
        row = event_row(entry.at(_STAMPED_BY_THE_DATABASE))
        del row["at"]
        row["offset"] = self._tx.offset
        await self._tx.connection.execute(_APPEND, row)
