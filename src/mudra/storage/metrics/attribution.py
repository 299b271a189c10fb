"""What incident detection reads and remembers, in PostgreSQL: implements metrics/ports.py."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from functools import reduce
from operator import add
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.metrics.health.fip_state import FipStates, no_states, states_from_bytes
from mudra.metrics.incidents.window_reports import CallSums, Received
from mudra.metrics.payload.catalogue import FIRST_4XX, FIRST_5XX, Position, Tag, window_start
from mudra.metrics.payload.held_reports import HeldState
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import LIVE, MAX_DELAY
from mudra.storage.database.among import is_among
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import long_tag, short_tag
from mudra.storage.metrics.incidents import PostgresIncidents
from mudra.storage.metrics.rollups.rollup_delay import is_due
from mudra.storage.metrics.rollups.sums import ROWS_AT_ONCE
from mudra.storage.metrics.tables import (
    metrics_attribution,
    metrics_fip_state,
    metrics_held,
    metrics_raw,
    metrics_receipt,
    metrics_stale,
    metrics_window_calls,
)

_MAX_WINDOWS: Final = 1_200
"""More than eight days."""
_READ_S: Final = 60
_WAIT_S: Final = 30
_PATIENT_S: Final = 300
_A: Final = metrics_attribution.c
_F: Final = metrics_fip_state.c
_C: Final = metrics_window_calls.c
FIP_STATES_CHANGED: Final = "fip-states"
"""The key under which new states are announced to all nodes."""


class PostgresDetections(PostgresIncidents):
    """Implements the port `Detections`: all but incidents is among the metrics."""

    def __init__(self, transaction: Transaction, metrics: Transaction) -> None:
        super().__init__(transaction)
        self._metrics = metrics

    async def lock(self, *, patient: bool) -> None:
        """Locks out other detections until the transaction ends: two would notify twice."""
        await self._metrics.take_time(_PATIENT_S if patient else _WAIT_S)
        await self._metrics.lock_name("watch")
        await self._metrics.take_time(_READ_S)
        if self._tx is not self._metrics:
            await self._tx.take_time(_READ_S)

    async def stale_windows(self, now: datetime) -> Mapping[datetime, Sequence[int]]:
        """Returns closed windows with new content, and the stale marks that say so.

        Late ones whose content is still arriving wait (rollup_delay.py).
        """
        c = metrics_stale.c
        wanted = sa.and_(c.grain == "window", c.at < window_start(now))
        marks = (
            sa.select(
                *(c.at, c.id, c.noted_at, (c.at > now - LIVE).label("live")),
                sa.literal(MAX_DELAY).label("max_delay"),
            )
            .where(wanted)
            .subquery()
        )
        rows = await self._metrics.connection.execute(
            sa.select(marks.c.at, sa.func.array_agg(marks.c.id))
            .group_by(marks.c.at, marks.c.live)
            .having(is_due(marks))
            .order_by(marks.c.live.desc(), marks.c.at)
            .limit(_MAX_WINDOWS)
        )
        return {row[0]: row[1] for row in rows}

    async def clear(self, marks: Sequence[int]) -> None:
        """Deletes the stale marks of windows that were evaluated."""
        if marks:
            await self._metrics.connection.execute(
                sa.delete(metrics_stale).where(is_among(metrics_stale.c.id, marks))
            )

    async def are_left(self, marks: Sequence[int]) -> bool:
        """Returns whether none of these marks was deleted."""
        left = await self._metrics.connection.scalar(
            sa.select(sa.func.count()).where(is_among(metrics_stale.c.id, marks))
        )
        return left == len(marks)

    async def calls(self, window: datetime) -> AsyncIterator[Sequence[CallSums]]:
        """Returns the counts of a window from its raw rows, some thousand at a time."""
        c = metrics_raw.c
        counts = sa.select(
            *(c.window_at, c.aa_id, c.fip_id, c.tag, c.type),
            *(_sum(Position.TOTAL, Position.OK_200), _sum(Position.OK_200, FIRST_4XX)),
            *(_sum(FIRST_4XX, FIRST_5XX), _sum(Position.OK_200, len(Position))),
            # Lists as the driver returns them.
            *(sa.type_coerce(column, sa.types.NullType()) for column in (c.pxx, c.status)),
        ).where(c.window_at == window)
        async for rows in self._metrics.in_parts(counts, ROWS_AT_ONCE):
            yield await asyncio.to_thread(_call_sums, rows)

    async def packed_calls(self, window: datetime) -> bytes | None:
        """Returns what was packed of a window when it was judged.

        None where reports of it came since, also where these wait to be judged with others.
        """
        c = metrics_stale.c
        came_since = sa.exists().where(c.grain == "window", c.at == window)
        packed: bytes | None = await self._metrics.connection.scalar(
            sa.select(_C.calls).where(_C.window_at == window, ~came_since)
        )
        return packed

    async def save_packed_calls(self, window: datetime, packed: bytes) -> None:
        """Stores or replaces what was packed of a window."""
        adding = insert(metrics_window_calls).values(window_at=window, calls=packed)
        await self._metrics.connection.execute(
            adding.on_conflict_do_update(
                index_elements=["window_at"], set_={"calls": adding.excluded.calls}
            )
        )

    async def drop_packed_calls(self, *, before: datetime) -> None:
        """Drops what was packed of windows before a time."""
        await self._metrics.connection.execute(
            sa.delete(metrics_window_calls).where(_C.window_at < before)
        )

    async def received(self, within: TimeRange) -> Sequence[Received]:
        """Returns the first receipt of each AA, tag and window.

        An AA whose requests are held was heard. Of held notifications nothing is known: none
        may be called missing.
        """
        c, held = metrics_receipt.c, metrics_held.c
        undecided = sa.select(held.receipt_id).where(held.state != HeldState.ADMITTED.value)
        known = sa.or_(c.tag == short_tag(Tag.REQUESTS), c.receipt_id.not_in(undecided))
        rows = await self._metrics.connection.execute(
            sa.select(c.aa_id, c.tag, c.window_at, sa.func.min(c.received_at))
            .where(c.window_at >= within.start, c.window_at < within.end, known)
            .group_by(c.aa_id, c.tag, c.window_at)
        )
        return [Received(aa_id, long_tag(tag), window, at) for aa_id, tag, window, at in rows]

    async def first_received(self, since: datetime) -> datetime | None:
        """Returns the first window from this one on that any AA reported; None for none."""
        first: datetime | None = await self._metrics.connection.scalar(
            sa.select(sa.func.min(metrics_receipt.c.window_at)).where(
                metrics_receipt.c.window_at >= since
            )
        )
        return first

    async def last_evaluated(self) -> datetime | None:
        """Returns the last window that was evaluated; None before the first."""
        last: datetime | None = await self._metrics.connection.scalar(
            sa.select(sa.func.max(_A.window_at))
        )
        return last

    async def journal_before(self, window: datetime) -> bytes | None:
        """Returns the latest journal from before a window; None when there is none."""
        journal: bytes | None = await self._metrics.connection.scalar(
            sa.select(_A.journal)
            .where(_A.window_at < window)
            .order_by(_A.window_at.desc())
            .limit(1)
        )
        return journal

    async def save_journals(
        self,
        journals: AsyncIterator[tuple[datetime, bytes]],
        *,
        since: datetime,
        drop_before: datetime,
    ) -> None:
        """Replaces all journals from a window on; keeps older ones of full hours."""
        last_of_hour = sa.extract("minute", _A.window_at) == 50  # noqa: PLR2004  # of its windows
        await self._metrics.connection.execute(
            sa.delete(metrics_attribution).where(
                sa.or_(_A.window_at >= since, _A.window_at < drop_before, sa.not_(last_of_hour))
            )
        )
        async for window, journal in journals:
            await self._metrics.connection.execute(
                insert(metrics_attribution).values(window_at=window, journal=journal)
            )

    async def fip_counts(self, within: TimeRange) -> Sequence[tuple[datetime, bytes]]:
        """Returns the stored counts of FIPs in these windows, in order."""
        rows = await self._metrics.connection.execute(
            sa.select(_F.window_at, _F.counts)
            .where(_F.window_at >= within.start, _F.window_at < within.end)
            .order_by(_F.window_at)
        )
        return [(window, counts) for window, counts in rows]

    async def fip_states(self, *, before: datetime) -> bytes | None:
        """Returns the states of FIPs after the last window before this time."""
        states: bytes | None = await self._metrics.connection.scalar(
            sa.select(_F.states).where(_F.window_at < before).order_by(_F.window_at.desc()).limit(1)
        )
        return states

    async def save_fip_states(
        self,
        rows: Sequence[tuple[datetime, bytes, bytes]],
        *,
        since: datetime,
        drop_before: datetime,
    ) -> None:
        """Replaces counts and states from a window on, and announces the new states."""
        await self._metrics.connection.execute(
            sa.delete(metrics_fip_state).where(
                sa.or_(_F.window_at >= since, _F.window_at < drop_before)
            )
        )
        if rows:
            await self._metrics.connection.execute(
                insert(metrics_fip_state),
                [
                    {"window_at": window, "counts": counts, "states": states}
                    for window, counts, states in rows
                ],
            )
        await self._metrics.changing(FIP_STATES_CHANGED)


class PostgresFipStates:
    """Implements the port `LatestFipStates`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def latest(self) -> FipStates:
        """Returns the states of FIPs after the last judged window."""
        states: bytes | None = await self._tx.connection.scalar(
            sa.select(_F.states).order_by(_F.window_at.desc()).limit(1)
        )
        return no_states() if states is None else states_from_bytes(states)


def _call_sums(rows: Sequence[sa.Row[Any]]) -> Sequence[CallSums]:
    return [CallSums._make(row) for row in rows]


def _sum(first: int, end: int) -> sa.ColumnElement[int]:
    """The sum of positions of `counts`; arrays of SQL begin at 1."""
    parts = [metrics_raw.c.counts[place + 1] for place in range(first, end)]
    return reduce(add, parts)
