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
    Subject,
)
from mudra.metrics.incidents.incident_change import Withdrawn
from mudra.metrics.incidents.subject import SubjectKind, SubjectName, name_of, subject_of
from mudra.metrics.notifications.incident_notifications import IncidentNotification, StoredIncident
from mudra.metrics.payload.catalogue import Tag, window_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.reports import Row
from mudra.storage.metrics.rollup_delay import LIVE, MAX_LENGTH, ripe
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
    """What the watch over windows remembers."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def alone(self) -> None:
        """Keep other watches out until the transaction ends: two would find the same news twice."""
        # A statement's limit counts its waiting for a lock, too.
        for limit in ("lock_timeout", "statement_timeout"):
            await self._tx.connection.execute(
                sa.select(sa.func.set_config(limit, "30s", sa.true()))
            )
        await self._tx.connection.execute(
            sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended("watch", 0)))
        )

    async def stale_windows(self, now: datetime) -> Mapping[datetime, Sequence[int]]:
        """Closed windows with new content, and the notes that say so.

        Late ones whose content is still arriving wait (metrics_patience.py).
        """
        c = metrics_stale.c
        wanted = sa.and_(c.grain == "window", c.at < window_start(now))
        notes = (
            sa.select(
                *(c.at, c.id, c.noted_at, (c.at > now - LIVE).label("live")),
                sa.literal(MAX_LENGTH).label("longest"),
            )
            .where(wanted)
            .subquery()
        )
        rows = await self._tx.connection.execute(
            sa.select(notes.c.at, sa.func.array_agg(notes.c.id))
            .group_by(notes.c.at, notes.c.live)
            .having(ripe(notes))
            .order_by(notes.c.live.desc(), notes.c.at)
            .limit(_MAX_WINDOWS)
        )
        return {row[0]: row[1] for row in rows}

    async def still_stale(self, notes: Iterable[int]) -> set[int]:
        """Which of these notes nobody has heeded meanwhile."""
        c = metrics_stale.c
        ids = sa.literal(list(notes), ARRAY(sa.BigInteger))
        return set(await self._tx.connection.scalars(sa.select(c.id).where(c.id == sa.any_(ids))))

    async def keep_observations(
        self,
        window: datetime,
        seen: Mapping[FipApi | AaCalls, Observation],
        heeded: Sequence[int],
    ) -> None:
        """Replace what a window said, and delete the notes that are heeded by it."""
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
            for subject, one in seen.items()
        ]
        if rows:
            await self._tx.connection.execute(sa.insert(metrics_observation), rows)
        await self._tx.connection.execute(
            sa.delete(metrics_stale).where(metrics_stale.c.id.in_(heeded))
        )

    async def observations(self, within: TimeRange) -> Mapping[Subject, Sequence[Observation]]:
        """What the windows of this time said, by subject."""
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
        """When the request metrics of each window first came, by AA."""
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

    async def known(self, since: datetime) -> Sequence[StoredIncident]:
        """Incidents that are open, or ended after this moment; oldest first."""
        return await self._found(sa.or_(_I.ended.is_(None), _I.ended >= since))

    async def shown(
        self, *, only_open: bool, entity_id: str | None, limit: int
    ) -> Sequence[StoredIncident]:
        """The latest incidents, newest first."""
        wanted: list[sa.ColumnElement[bool]] = [_I.ended.is_(None)] if only_open else []
        if entity_id is not None:
            wanted.append(_I.entity_id == entity_id)
        return (await self._found(*wanted, limit=limit))[::-1]

    async def one(self, incident_id: str) -> StoredIncident | None:
        """The incident of this ID, however old."""
        found = await self._found(_I.incident_id == incident_id)
        return found[0] if found else None

    async def acknowledge(self, incident_id: str, who: str, instead_of: str | None) -> bool:
        """Note that somebody looks after an incident; False when there is none of this ID.

        False, too, when it is not `instead_of` who looks after it (empty: nobody; None: whoever).
        """
        change = sa.update(metrics_incident).where(_I.incident_id == incident_id)
        if instead_of is not None:
            change = change.where(sa.func.coalesce(_I.acknowledged_by, "") == instead_of)
        done = await self._tx.connection.execute(
            change.values(acknowledged_by=who, acknowledged_at=await self._tx.now())
        )
        return done.rowcount == 1

    async def keep(self, found: Iterable[IncidentNotification], now: datetime) -> None:
        """Store what is new."""
        for one in found:
            if isinstance(one.change, Withdrawn):
                await self._tx.connection.execute(
                    sa.delete(metrics_incident).where(_I.incident_id == one.incident_id)
                )
            else:
                await self._put(one, now)

    async def forget_observations(self, before: datetime) -> None:
        """Delete what no incident is found from any more."""
        await self._tx.connection.execute(
            sa.delete(metrics_observation).where(_O.window_at < before)
        )

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
            "told": one.told,
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
        cast("bool", row["told"]),
        cast("datetime | None", row["acknowledged_at"]),
    )
