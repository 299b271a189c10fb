"""Observations of windows and incidents in PostgreSQL."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

from mudra.metrics.incidents.incident import (
    AaCalls,
    Ending,
    FipApi,
    Incident,
    Mark,
    Observation,
    StoredIncident,
    Subject,
)
from mudra.metrics.incidents.incident_change import Withdrawn
from mudra.metrics.incidents.subject import SubjectKind, SubjectName, name_of, subject_of
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.payload.catalogue import Tag, window_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import LIVE, MAX_DELAY
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.reports import Row
from mudra.storage.metrics.rollup_delay import is_due
from mudra.storage.metrics.tables import (
    metrics_incident,
    metrics_observation,
    metrics_receipt,
    metrics_stale,
)

_MAX_WINDOWS: Final = 300
_O: Final = metrics_observation.c
_I: Final = metrics_incident.c


class PostgresIncidents:
    """Implements the ports `Incidents` and `Observations`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def lock(self) -> None:
        """Locks out other detections until the transaction ends: two would notify twice."""
        # A statement's timeout includes its waiting for a lock.
        for limit in ("lock_timeout", "statement_timeout"):
            await self._tx.connection.execute(
                sa.select(sa.func.set_config(limit, "30s", sa.true()))
            )
        await self._tx.connection.execute(
            sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended("watch", 0)))
        )

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
        rows = await self._tx.connection.execute(
            sa.select(marks.c.at, sa.func.array_agg(marks.c.id))
            .group_by(marks.c.at, marks.c.live)
            .having(is_due(marks))
            .order_by(marks.c.live.desc(), marks.c.at)
            .limit(_MAX_WINDOWS)
        )
        return {row[0]: row[1] for row in rows}

    async def still_stale(self, marks: Iterable[int]) -> set[int]:
        """Returns those of the marks that no other process has handled."""
        c = metrics_stale.c
        ids = sa.literal(list(marks), ARRAY(sa.BigInteger))
        return set(await self._tx.connection.scalars(sa.select(c.id).where(c.id == sa.any_(ids))))

    async def replace(
        self,
        window: datetime,
        observed: Mapping[FipApi | AaCalls, Observation],
        marks: Sequence[int],
    ) -> None:
        """Replaces the observations of a window and deletes the stale marks handled by it."""
        await self._tx.connection.execute(
            sa.delete(metrics_observation).where(_O.window_at == window)
        )
        rows = [
            {
                **_columns(subject),
                "window_at": window,
                "mark": one.mark.value,
                "succeeded": one.succeeded,
                "judged": one.judged,
            }
            for subject, one in observed.items()
        ]
        if rows:
            await self._tx.connection.execute(sa.insert(metrics_observation), rows)
        await self._tx.connection.execute(
            sa.delete(metrics_stale).where(metrics_stale.c.id.in_(marks))
        )

    async def within(self, within: TimeRange) -> Mapping[Subject, Sequence[Observation]]:
        """Returns the observations of these windows, by subject."""
        rows = await self._tx.connection.execute(
            sa.select(metrics_observation).where(
                _O.window_at >= within.start, _O.window_at < within.end
            )
        )
        found: dict[Subject, list[Observation]] = defaultdict(list)
        for row in rows.mappings():
            found[_subject(cast("Row", row))].append(
                Observation(row["window_at"], Mark(row["mark"]), row["succeeded"], row["judged"])
            )
        return found

    async def received(self, within: TimeRange) -> Mapping[str, Mapping[datetime, datetime]]:
        """Returns when the request metrics of each window were first received, by AA."""
        c = metrics_receipt.c
        rows = await self._tx.connection.execute(
            sa.select(c.aa_id, c.window_at, c.received_at).where(
                c.version == 1,
                c.tag == Tag.REQUESTS.value[:3],
                c.window_at >= within.start,
                c.window_at < within.end,
            )
        )
        found: dict[str, dict[datetime, datetime]] = defaultdict(dict)
        for aa_id, window, at in rows:
            found[aa_id][window] = at
        return found

    async def since(self, moment: datetime) -> Sequence[StoredIncident]:
        """Returns incidents that are open, or ended after this moment; oldest first."""
        return await self._found(sa.or_(_I.ended.is_(None), _I.ended >= moment))

    async def latest(
        self, *, only_open: bool, entity_id: str | None, limit: int
    ) -> Sequence[StoredIncident]:
        """Returns the latest incidents, newest first."""
        wanted: list[sa.ColumnElement[bool]] = [_I.ended.is_(None)] if only_open else []
        if entity_id is not None:
            wanted.append(_I.entity_id == entity_id)
        return (await self._found(*wanted, limit=limit))[::-1]

    async def find(self, incident_id: str) -> StoredIncident | None:
        """Returns the incident of this ID, however old."""
        found = await self._found(_I.incident_id == incident_id)
        return found[0] if found else None

    async def acknowledge(self, incident_id: str, actor: str, instead_of: str | None) -> bool:
        """Stores the owner of an incident; False when there is no such incident.

        Also False when its owner is not `instead_of` (empty: none; None: any).
        """
        change = sa.update(metrics_incident).where(_I.incident_id == incident_id)
        if instead_of is not None:
            change = change.where(sa.func.coalesce(_I.acknowledged_by, "") == instead_of)
        done = await self._tx.connection.execute(
            change.values(acknowledged_by=actor, acknowledged_at=await self._tx.now())
        )
        return done.rowcount == 1

    async def save(self, notifications: Iterable[IncidentNotification], now: datetime) -> None:
        """Stores what has changed about incidents."""
        stored = list(notifications)
        withdrawn = [one.incident_id for one in stored if isinstance(one.change, Withdrawn)]
        # First, because another incident may now begin when a withdrawn one did.
        await self._tx.connection.execute(
            sa.delete(metrics_incident).where(_I.incident_id.in_(withdrawn))
        )
        for one in stored:
            if not isinstance(one.change, Withdrawn):
                await self._put(one, now)

    async def _put(self, one: IncidentNotification, now: datetime) -> None:
        incident = one.incident
        values = {
            **_columns(incident.subject),
            "began": incident.began,
            "last_bad": incident.last_bad,
            "ended": incident.ended,
            "ending": incident.ending.value,
            "bad_windows": incident.bad_windows,
            "succeeded": incident.succeeded,
            "judged": incident.judged,
            "changed_at": now,
            "notified": one.notified,
        }
        await self._tx.connection.execute(
            insert(metrics_incident)
            .values(incident_id=one.incident_id, **values)
            .on_conflict_do_update(index_elements=["incident_id"], set_=values)
        )

    async def _found(
        self, *wanted: sa.ColumnElement[bool], limit: int | None = None
    ) -> Sequence[StoredIncident]:
        latest = sa.select(metrics_incident).where(*wanted).order_by(_I.began.desc()).limit(limit)
        rows = (await self._tx.connection.execute(latest)).mappings().all()
        return [_stored(cast("Row", row)) for row in reversed(rows)]


def _columns(subject: Subject) -> dict[str, str]:
    name = name_of(subject)
    return {"kind": name.kind.value, "entity_id": name.entity_id, "type": name.type}


def _subject(row: Row) -> Subject:
    kind = SubjectKind(cast("str", row["kind"]))
    return subject_of(SubjectName(kind, cast("str", row["entity_id"]), cast("str", row["type"])))


def _stored(row: Row) -> StoredIncident:
    return StoredIncident(
        cast("str", row["incident_id"]),
        Incident(
            _subject(row),
            began=cast("datetime", row["began"]),
            last_bad=cast("datetime", row["last_bad"]),
            ended=cast("datetime | None", row["ended"]),
            ending=Ending(cast("str", row["ending"])),
            bad_windows=cast("int", row["bad_windows"]),
            succeeded=cast("int", row["succeeded"]),
            judged=cast("int", row["judged"]),
        ),
        cast("str | None", row["acknowledged_by"]),
        cast("bool", row["notified"]),
        cast("datetime | None", row["acknowledged_at"]),
    )
