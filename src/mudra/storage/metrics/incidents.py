"""Incidents in PostgreSQL."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, cast

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.metrics.incidents.incident import (
    Cause,
    Decision,
    Ending,
    Incident,
    StoredIncident,
    Subject,
    TimelineEntry,
)
from mudra.metrics.incidents.subject import SubjectKind, SubjectName, name_of, subject_of
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.storage.database.among import is_among
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.reports import Row
from mudra.storage.metrics.tables import metrics_incident

_I: Final = metrics_incident.c


class PostgresIncidents:
    """Implements the port `Incidents`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def since(self, moment: datetime) -> Sequence[StoredIncident]:
        """Returns incidents that are open, or ended after this moment; oldest first."""
        return await self._found(sa.or_(_I.ended.is_(None), _I.ended >= moment))

    async def latest(
        self, *, only_open: bool, entity_id: str | None, limit: int, with_reopened: bool = False
    ) -> Sequence[StoredIncident]:
        """Returns the latest incidents, newest first."""
        wanted: list[sa.ColumnElement[bool]] = []
        if only_open:
            reopened = _I.decision == Decision.REOPENED.value
            still = _I.ended.is_(None)
            wanted.append(sa.or_(still, reopened) if with_reopened else still)
        if entity_id is not None:
            wanted.append(sa.or_(_I.entity_id == entity_id, _I.peer_id == entity_id))
        return (await self._found(*wanted, limit=limit))[::-1]

    async def find(self, incident_id: str) -> StoredIncident | None:
        """Returns the incident of this ID, however old."""
        found = await self._found(_I.incident_id == incident_id)
        return found[0] if found else None

    async def mark_escalated(self, incident_ids: Sequence[str], now: datetime) -> None:
        """Stores that these incidents were escalated."""
        await self._tx.connection.execute(
            sa.update(metrics_incident)
            .where(is_among(_I.incident_id, incident_ids))
            .values(escalated_at=now)
        )

    async def save(self, notifications: Iterable[IncidentNotification], now: datetime) -> None:
        """Stores what has changed about incidents."""
        stored = list(notifications)
        # Two may exchange their beginnings: until all are stored, none of them has one.
        await self._tx.connection.execute(
            sa.update(metrics_incident)
            .where(is_among(_I.incident_id, [one.incident_id for one in stored]))
            .values(ending=Ending.WITHDRAWN.value)
        )
        for one in stored:
            await self._put(one, now)

    async def _put(self, one: IncidentNotification, now: datetime) -> None:
        incident = one.incident
        values = {
            **_columns(incident.subject),
            "refused": incident.refused,
            "began": incident.began,
            "detected": incident.detected,
            "last_bad": incident.last_bad,
            "ended": incident.ended,
            "ending": incident.ending.value,
            "bad_windows": incident.bad_windows,
            "succeeded": incident.succeeded,
            "eligible": incident.eligible,
            "cause": msgspec.to_builtins(incident.cause),
            "timeline": msgspec.to_builtins(incident.timeline),
            "changed_at": now,
            "notified": one.notified,
            "recipients": list(one.recipients),
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
        return [stored_incident(cast("Row", row)) for row in reversed(rows)]


def _columns(subject: Subject) -> dict[str, str]:
    name = name_of(subject)
    return {
        "kind": name.kind.value,
        "entity_id": name.entity_id,
        "peer_id": name.peer_id,
        "type": name.type,
    }


def _subject(row: Row) -> Subject:
    kind = SubjectKind(cast("str", row["kind"]))
    entity_id, code, peer_id = (cast("str", row[name]) for name in ("entity_id", "type", "peer_id"))
    return subject_of(SubjectName(kind, entity_id, code, peer_id))


def stored_incident(row: Row) -> StoredIncident:
    """Returns the incident of a row."""
    decision = cast("str | None", row["decision"])
    return StoredIncident(
        cast("str", row["incident_id"]),
        Incident(
            _subject(row),
            began=cast("datetime", row["began"]),
            detected=cast("datetime", row["detected"]),
            last_bad=cast("datetime", row["last_bad"]),
            ended=cast("datetime | None", row["ended"]),
            ending=Ending(cast("str", row["ending"])),
            bad_windows=cast("int", row["bad_windows"]),
            succeeded=cast("int", row["succeeded"]),
            eligible=cast("int", row["eligible"]),
            cause=msgspec.convert(row["cause"], Cause),
            timeline=msgspec.convert(row["timeline"], tuple[TimelineEntry, ...]),
        ),
        cast("str | None", row["acknowledged_by"]),
        cast("bool", row["notified"]),
        cast("datetime | None", row["acknowledged_at"]),
        tuple(cast("list[str]", row["recipients"])),
        cast("datetime | None", row["escalated_at"]),
        Decision(decision) if decision else None,
        cast("datetime | None", row["decided_at"]),
    )
