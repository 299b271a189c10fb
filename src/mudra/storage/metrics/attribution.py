"""The records of incident detection, in PostgreSQL: implements metrics/ports.py."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import numpy as np
import sqlalchemy as sa

from mudra.metrics.detection.heard import CallsOfIncident, Heard
from mudra.metrics.detection.window_calls import parts_of, window_calls
from mudra.metrics.detection.window_reports import Received
from mudra.metrics.health.fip_state import FipStates, no_states, states_from_bytes
from mudra.metrics.health.judging import eligible, succeeded
from mudra.metrics.health.own_calls import added_up, own_from_bytes, own_to_bytes
from mudra.metrics.payload.catalogue import (
    CALL_CODES,
    WINDOW,
    NotificationType,
    Tag,
    day_start,
    window_number,
    window_start,
)
from mudra.metrics.payload.held_reports import HeldState
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import ALL_AAS, LIVE, MAX_DELAY
from mudra.metrics.rollup.step import Step
from mudra.metrics.sums.totals import Totals
from mudra.storage.database.among import is_among, is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import Grain
from mudra.storage.metrics.blocks.questions import BlockQuestions
from mudra.storage.metrics.blocks.stale_sums import is_due
from mudra.storage.metrics.incidents import PostgresIncidents
from mudra.storage.metrics.stored_report import long_tag, short_tag
from mudra.storage.tables.metrics import (
    metrics_attribution,
    metrics_fip_state,
    metrics_held,
    metrics_own_calls,
    metrics_receipt,
    metrics_stale,
)
from mudra.storage.tables.metrics_blocks import metrics_block

_O: Final = metrics_own_calls.c
_HOUR, _DAY, _CHANGES = "hour", "day", "changes"
_CALLS: Final = sa.select(_O.calls).where(
    _O.span == sa.bindparam("of"), _O.at == sa.bindparam("at")
)
_HOURS: Final = (
    sa.select(_O.at, _O.calls)
    .where(_O.span == _HOUR, _O.at >= sa.bindparam("since"), _O.at < sa.bindparam("until"))
    .order_by(_O.at)
)
_DROP: Final = sa.delete(metrics_own_calls).where(
    _O.span == _HOUR,
    sa.or_(_O.at >= sa.bindparam("since"), _O.at < sa.bindparam("drop_before")),
)
_FOREVER: Final = timedelta(days=366)


async def own_hour(tx: Transaction, at: datetime) -> bytes | None:
    """Returns what is stored of the hour from a time on."""
    calls: bytes | None = await tx.connection.scalar(_CALLS, {"of": _HOUR, "at": at})
    return calls


async def save_own_calls(
    tx: Transaction, hours: Mapping[datetime, bytes], *, since: datetime, drop_before: datetime
) -> None:
    """Replaces the hours from a time on, and the days that they are of."""
    await tx.connection.execute(_DROP, {"since": since, "drop_before": drop_before})
    for at, calls in hours.items():
        await _put(tx, _HOUR, at, calls)
    for day in sorted({day_start(at) for at in hours}):
        within = {"since": day, "until": day + timedelta(days=1)}
        rows = await tx.connection.execute(_HOURS, within)
        of_day = added_up(own_from_bytes(calls) for _, calls in rows)
        await _put(tx, _DAY, day, own_to_bytes(of_day))


async def own_hours(tx: Transaction, since: datetime) -> Mapping[datetime, bytes]:
    """Returns the hours from a time on."""
    rows = await tx.connection.execute(_HOURS, {"since": since, "until": since + _FOREVER})
    return {at: calls for at, calls in rows}  # noqa: C416  # rows are no pairs to mypy


async def save_changes(tx: Transaction, changes: bytes, at: datetime) -> None:
    """Stores which rates have changed for good, in place of what was known."""
    await tx.connection.execute(sa.delete(metrics_own_calls).where(_O.span == _CHANGES))
    await _put(tx, _CHANGES, at, changes)


async def _put(tx: Transaction, span: str, at: datetime, calls: bytes) -> None:
    await tx.connection.execute(sa.delete(metrics_own_calls).where(_O.span == span, _O.at == at))
    await tx.connection.execute(sa.insert(metrics_own_calls).values(span=span, at=at, calls=calls))


class PostgresOwnCalls:
    """Implements the port `StoredOwnCalls`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def own_hours(self, since: datetime) -> Mapping[datetime, bytes]:
        """Returns the hours from a time on."""
        return await own_hours(self._tx, since)

    async def changes(self) -> bytes | None:
        """Returns which rates have changed for good; None before any day was compared."""
        query = sa.select(_O.calls).where(_O.span == _CHANGES)
        changes: bytes | None = await self._tx.connection.scalar(query)
        return changes

    async def own_days(self, days: Sequence[datetime]) -> Mapping[datetime, str]:
        """Returns a mark of each of these days that has any: another one once it has changed."""
        rows = await self._tx.connection.execute(
            sa.select(_O.at, sa.literal_column("xmin::text")).where(
                _O.span == _DAY, is_among(_O.at, days)
            )
        )
        return {at: mark for at, mark in rows}  # noqa: C416  # rows are no pairs to mypy

    async def own_day(self, day: datetime) -> bytes:
        """Returns what is stored of such a day."""
        found = await self._tx.connection.execute(_CALLS, {"of": _DAY, "at": day})
        calls: bytes = found.scalar_one()
        return calls


async def counted_calls(tx: Transaction, calls: CallsOfIncident) -> tuple[int, int]:
    """Returns the calls that succeeded, and all but 4xx, in its bad windows."""
    if not calls.windows:
        return 0, 0
    questions = BlockQuestions(tx)
    requests = [api for api in calls.apis if api in CALL_CODES]
    received = [one.value for one in NotificationType if one.api in calls.apis]
    parts: list[Totals] = []
    if requests:
        within = TimeRange(calls.windows[0], calls.windows[-1] + WINDOW)
        found = await questions.steps(
            within, Step.WINDOW, requests, aa_id=calls.aa_id, fip_id=calls.fip_id
        )
        bad = np.isin(found.cells.keys["at"], [window_number(at) for at in calls.windows])
        parts.append(Totals(found.cells.chosen(bad), found.ids))
    if received:
        for window in calls.windows:
            notified = await questions.notified(window, received, calls.fip_id)
            parts.append(_of_aa(notified, calls.aa_id))
    good = sum(int(succeeded(one.cells).sum()) for one in parts)
    return good, sum(int(eligible(one.cells).sum()) for one in parts)


def _of_aa(totals: Totals, aa_id: str | None) -> Totals:
    here = [aa_id in {None, one} for one in totals.aa_ids()]
    return Totals(totals.cells.chosen(np.array(here, np.bool_)), totals.ids)


_MAX_WINDOWS: Final = 1_200
"""More than eight days."""
_READ_S: Final = 60
_WAIT_S: Final = 30
_PATIENT_S: Final = 300
_A: Final = metrics_attribution.c
_F: Final = metrics_fip_state.c
_B: Final = metrics_block.c
_R: Final = metrics_receipt.c
_S: Final = metrics_stale.c
_H: Final = metrics_held.c
_AT: Final[sa.BindParameter[datetime]] = sa.bindparam("at")
_BEFORE: Final[sa.BindParameter[datetime]] = sa.bindparam("before")
_MARKS: Final = (
    sa.select(
        *(_S.at, _S.id, _S.noted_at, (_S.at > sa.bindparam("live_after")).label("live")),
        sa.literal(MAX_DELAY).label("max_delay"),
    )
    .where(_S.grain == "window", _S.aa_id != ALL_AAS, _S.at < _BEFORE)
    .subquery()
)
_STALE: Final = (
    sa.select(_MARKS.c.at, sa.func.array_agg(_MARKS.c.id))
    .group_by(_MARKS.c.at, _MARKS.c.live)
    .having(is_due(_MARKS))
    .order_by(_MARKS.c.live.desc(), _MARKS.c.at)
    .limit(_MAX_WINDOWS)
)
_OF_MARKS: Final = is_among_given(_S.id, "ids")
_CLEAR: Final = sa.delete(metrics_stale).where(_OF_MARKS)
_LEFT: Final = sa.select(sa.func.count()).where(_OF_MARKS)
_START: Final[sa.BindParameter[datetime]] = sa.bindparam("start")
_END: Final[sa.BindParameter[datetime]] = sa.bindparam("end")
_FIRST_CALLED: Final = sa.select(sa.func.min(_B.at)).where(
    *(_B.at >= _START, _B.at < _END, _B.grain == Grain.WINDOW.value, _B.aa_id != ALL_AAS)
)
_UNDECIDED: Final = sa.select(_H.receipt_id).where(_H.state != HeldState.ADMITTED.value)
_RECEIVED: Final = (
    sa.select(_R.aa_id, _R.tag, _R.window_at, sa.func.min(_R.received_at))
    .where(
        *(_R.window_at >= _START, _R.window_at < _END),
        sa.or_(_R.tag == short_tag(Tag.REQUESTS), _R.receipt_id.not_in(_UNDECIDED)),
    )
    .group_by(_R.aa_id, _R.tag, _R.window_at)
)
_FIRST_RECEIVED: Final = sa.select(sa.func.min(_R.window_at)).where(
    _R.window_at >= sa.bindparam("since")
)
_LAST_EVALUATED: Final = sa.select(sa.func.max(_A.window_at))
_JOURNAL: Final = (
    sa.select(_A.journal).where(_A.window_at < _BEFORE).order_by(_A.window_at.desc()).limit(1)
)
_LAST_OF_HOUR: Final = sa.extract("minute", _A.window_at) == 50  # noqa: PLR2004  # of its windows
_DROP_JOURNALS: Final = sa.delete(metrics_attribution).where(
    sa.or_(
        *(_A.window_at >= sa.bindparam("since"), _A.window_at < sa.bindparam("drop_before")),
        sa.not_(_LAST_OF_HOUR),
    )
)
_ADD_JOURNAL: Final = sa.insert(metrics_attribution)
_FIP_COUNTS: Final = (
    sa.select(_F.window_at, _F.counts)
    .where(_F.window_at >= _START, _F.window_at < _END)
    .order_by(_F.window_at)
)
_LATEST_STATES: Final = sa.select(_F.states).order_by(_F.window_at.desc()).limit(1)
_STATES: Final = _LATEST_STATES.where(_F.window_at < _BEFORE)
_DROP_STATES: Final = sa.delete(metrics_fip_state).where(
    sa.or_(_F.window_at >= sa.bindparam("since"), _F.window_at < sa.bindparam("drop_before"))
)
_ADD_STATES: Final = sa.insert(metrics_fip_state)
FIP_STATES_CHANGED: Final = "fip-states"
"""The key under which new states are announced to all nodes."""


class PostgresDetections(PostgresIncidents):
    """Implements the port `Detections`."""

    async def lock(self, *, patient: bool) -> None:
        """Locks out other detections until the transaction ends: two would notify twice."""
        await self._tx.take_time(_PATIENT_S if patient else _WAIT_S)
        await self._tx.lock_name("watch")
        await self._tx.take_time(_READ_S)

    async def stale_windows(self, now: datetime) -> Mapping[datetime, Sequence[int]]:
        """Returns closed windows with new content, and the stale marks that say so.

        Late ones whose content is still arriving wait (rollup/stale.py).
        """
        rows = await self._tx.connection.execute(
            _STALE, {"live_after": now - LIVE, "before": window_start(now)}
        )
        return {row[0]: row[1] for row in rows}

    async def clear(self, marks: Sequence[int]) -> None:
        """Deletes the stale marks of windows that were evaluated."""
        if marks:
            await self._tx.connection.execute(_CLEAR, {"ids": list(marks)})

    async def are_left(self, marks: Sequence[int]) -> bool:
        """Returns whether none of these marks was deleted."""
        left = await self._tx.connection.scalar(_LEFT, {"ids": list(marks)})
        return left == len(marks)

    async def heard(self, window: datetime) -> Heard:
        """Returns what all AAs reported of a window, and which reports are damaged."""
        ids, blocks, lost = await BlockQuestions(self._tx).heard(window, parts_of)
        return Heard(window_calls(ids, blocks), lost)

    async def counted(self, calls: CallsOfIncident) -> tuple[int, int]:
        """Returns the calls of an incident that succeeded, and all but 4xx, by what is stored."""
        return await counted_calls(self._tx, calls)

    async def first_called(self, within: TimeRange) -> datetime | None:
        """Returns the first of these windows of which any AA reported calls; None for none."""
        first: datetime | None = await self._tx.connection.scalar(
            _FIRST_CALLED, {"start": within.start, "end": within.end}
        )
        return first

    async def received(self, within: TimeRange) -> Sequence[Received]:
        """Returns the first receipt of each AA, tag and window.

        An AA whose requests are held was heard. Of held notifications nothing is known: none
        may be called missing.
        """
        rows = await self._tx.connection.execute(
            _RECEIVED, {"start": within.start, "end": within.end}
        )
        return [Received(aa_id, long_tag(tag), window, at) for aa_id, tag, window, at in rows]

    async def first_received(self, since: datetime) -> datetime | None:
        """Returns the first window from this one on that any AA reported; None for none."""
        first: datetime | None = await self._tx.connection.scalar(_FIRST_RECEIVED, {"since": since})
        return first

    async def last_evaluated(self) -> datetime | None:
        """Returns the last window that was evaluated; None before the first."""
        last: datetime | None = await self._tx.connection.scalar(_LAST_EVALUATED)
        return last

    async def journal_before(self, window: datetime) -> bytes | None:
        """Returns the latest journal from before a window; None when there is none."""
        journal: bytes | None = await self._tx.connection.scalar(_JOURNAL, {"before": window})
        return journal

    async def save_journals(
        self,
        journals: AsyncIterator[tuple[datetime, bytes]],
        *,
        since: datetime,
        drop_before: datetime,
    ) -> None:
        """Replaces all journals from a window on; keeps older ones of full hours."""
        await self._tx.connection.execute(
            _DROP_JOURNALS, {"since": since, "drop_before": drop_before}
        )
        async for window, journal in journals:
            await self._tx.connection.execute(
                _ADD_JOURNAL, {"window_at": window, "journal": journal}
            )

    async def fip_counts(self, within: TimeRange) -> Sequence[tuple[datetime, bytes]]:
        """Returns the stored counts of FIPs in these windows, in order."""
        rows = await self._tx.connection.execute(
            _FIP_COUNTS, {"start": within.start, "end": within.end}
        )
        return [(window, counts) for window, counts in rows]

    async def fip_states(self, *, before: datetime) -> bytes | None:
        """Returns the states of FIPs after the last window before this time."""
        states: bytes | None = await self._tx.connection.scalar(_STATES, {"before": before})
        return states

    async def save_fip_states(
        self,
        rows: Sequence[tuple[datetime, bytes, bytes]],
        *,
        since: datetime,
        drop_before: datetime,
    ) -> None:
        """Replaces counts and states from a window on, and announces the new states."""
        await self._tx.connection.execute(
            _DROP_STATES, {"since": since, "drop_before": drop_before}
        )
        if rows:
            await self._tx.connection.execute(
                _ADD_STATES,
                [
                    {"window_at": window, "counts": counts, "states": states}
                    for window, counts, states in rows
                ],
            )
        await self._tx.changing(FIP_STATES_CHANGED)

    async def own_hour(self, at: datetime) -> bytes | None:
        """Returns what is stored of the hour from a time on."""
        return await own_hour(self._tx, at)

    async def save_own_calls(
        self, hours: Mapping[datetime, bytes], *, since: datetime, drop_before: datetime
    ) -> None:
        """Replaces the hours from a time on, and the days that they are of."""
        await save_own_calls(self._tx, hours, since=since, drop_before=drop_before)

    async def own_hours(self, since: datetime) -> Mapping[datetime, bytes]:
        """Returns the hours from a time on."""
        return await own_hours(self._tx, since)

    async def save_changes(self, changes: bytes, at: datetime) -> None:
        """Stores which rates have changed for good, in place of what was known."""
        await save_changes(self._tx, changes, at)


class PostgresFipStates:
    """Implements the port `LatestFipStates`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def latest(self) -> FipStates:
        """Returns the states of FIPs after the last judged window."""
        states: bytes | None = await self._tx.connection.scalar(_LATEST_STATES)
        return no_states() if states is None else states_from_bytes(states)
