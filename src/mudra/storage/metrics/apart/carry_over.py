"""Carry what the metrics handed over to the first database, each once."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, assert_never

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.audit.event import AuditEvent
from mudra.audit.place import TOLERANCE
from mudra.metrics.payload.push_report import Notices
from mudra.shared.time_text import iso_ms
from mudra.storage.audit.event_rows import event_row
from mudra.storage.database.database import Transaction
from mudra.storage.database.deadline import TRANSACTION_S
from mudra.storage.database.tables import audit_event
from mudra.storage.metrics.apart.handover import Handed, HandedChange, HandedEvent, HandedNotice
from mudra.storage.metrics.apart.metrics_database import Both, MetricsDatabase
from mudra.storage.metrics.apart.tables import handover, handover_done

_BATCH: Final = 200
_LATE: Final = TOLERANCE / 2
_H: Final = handover.c
_D: Final = handover_done.c


async def carry_over(metrics: MetricsDatabase, notices_of: Callable[[Transaction], Notices]) -> int:
    """Carry all that waits, in the order in which it was noted; returns how much that was.

    The first database commits a batch with a note of each row, then the second one without the
    rows. Where that commit is lost, the next run finds the notes and only deletes.
    """
    carried = 0
    done = _BATCH
    while done == _BATCH:
        async with metrics.both(metrics.first.transaction, within_s=TRANSACTION_S) as both:
            done = await _carry_batch(both, notices_of)
        carried += done
    return carried


async def _carry_batch(both: Both, notices_of: Callable[[Transaction], Notices]) -> int:
    taken = await both.metrics.connection.execute(
        sa.select(_H.handover_id, _H.body)
        .order_by(_H.noted_at, _H.handover_id)
        .limit(_BATCH)
        .with_for_update(skip_locked=True)
    )
    rows = taken.all()
    if rows:
        found = [row.handover_id for row in rows]
        await both.metrics.connection.execute(sa.delete(handover).where(_H.handover_id.in_(found)))
        new = await _noted(both.first, found)
        for handover_id, body in rows:
            if handover_id in new:
                await _carry(both.first, msgspec.json.decode(body, type=Handed), notices_of)
    return len(rows)


async def _noted(first: Transaction, handover_ids: Sequence[str]) -> frozenset[str]:
    """Note them, and return those that were not noted before, by another run, say."""
    added = await first.connection.scalars(
        insert(handover_done)
        .values([{"handover_id": one, "done_at": sa.func.now()} for one in sorted(handover_ids)])
        .on_conflict_do_nothing()
        .returning(_D.handover_id)
    )
    return frozenset(added)


def _in_its_place(event: AuditEvent, now: datetime) -> AuditEvent:
    """Give an event that waited for long, in a restored database for one, the time of its arrival.

    By its own time it would be far from its neighbours, which proves that someone dated it back.
    """
    if event.at > now - _LATE:
        return event
    detail = {**event.detail, "noted": iso_ms(event.at)}
    return msgspec.structs.replace(event, at=now, detail=detail)


async def _carry(
    first: Transaction, what: Handed, notices_of: Callable[[Transaction], Notices]
) -> None:
    match what:
        case HandedEvent(event):
            placed = _in_its_place(event, await first.now())
            await first.connection.execute(sa.insert(audit_event).values(**event_row(placed)))
        case HandedNotice(entity_id, kind, facts):
            await notices_of(first).notify(entity_id, kind, facts)
        case HandedChange(key):
            await first.changing(key)
        case _:
            assert_never(what)
