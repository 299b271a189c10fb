"""Incidents in PostgreSQL."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, cast

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
from mudra.storage.database.among import is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.reports import Row
from mudra.storage.tables.metrics import metrics_incident

_I: Final = metrics_incident.c
_NEWEST: Final = sa.select(metrics_incident).order_by(_I.began.desc())
_SINCE: Final = _NEWEST.where(sa.or_(_I.ended.is_(None), _I.ended >= sa.bindparam("since")))
_BY_IDS: Final = _NEWEST.where(is_among_given(_I.incident_id, "ids"))
_ESCALATE: Final = (
    sa.update(metrics_incident)
    .where(is_among_given(_I.incident_id, "ids"))
    .values(escalated_at=sa.bindparam("at"))
)
_WITHDRAW: Final = (
    sa.update(metrics_incident)
    .where(is_among_given(_I.incident_id, "ids"))
    .values(ending=Ending.WITHDRAWN.value)
)


class PostgresIncidents:
    """Implements the port `Incidents`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def since(self, moment: datetime) -> Sequence[StoredIncident]:
        """Returns incidents that are open, or ended after this moment; oldest first."""
        return await self._found(_SINCE, {"since": moment})

    async def latest(
        self, *, only_open: bool, entity_id: str | None, limit: int, with_reopened: bool = False
    ) -> Sequence[StoredIncident]:
        """Returns the latest incidents, newest first."""
        query = _latest(
            only_open=only_open, with_reopened=with_reopened, of_one=entity_id is not None
        )
        return (await self._found(query, {"entity_id": entity_id, "limit": limit}))[::-1]

    async def find(self, incident_id: str) -> StoredIncident | None:
        """Returns the incident of this ID, however old."""
        found = await self.of_ids([incident_id])
        return found[0] if found else None

    async def of_ids(self, incident_ids: Sequence[str]) -> Sequence[StoredIncident]:
        """Returns the incidents of these IDs that there are, the newest first."""
        return await self._found(_BY_IDS, {"ids": [*incident_ids]})

    async def mark_escalated(self, incident_ids: Sequence[str], now: datetime) -> None:
        """Stores that these incidents were escalated."""
        await self._tx.connection.execute(_ESCALATE, {"ids": list(incident_ids), "at": now})

    async def save(self, notifications: Iterable[IncidentNotification], now: datetime) -> None:
        """Stores what has changed about incidents."""
        stored = list(notifications)
        if not stored:
            return
        # Two may exchange their beginnings: until all are stored, none of them has one.
        await self._tx.connection.execute(_WITHDRAW, {"ids": [one.incident_id for one in stored]})
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
        self, query: sa.Select[Any], values: Mapping[str, object]
    ) -> Sequence[StoredIncident]:
        rows = (await self._tx.connection.execute(query, values)).mappings().all()
        return [stored_incident(cast("Row", row)) for row in reversed(rows)]


@cache
def _latest(*, only_open: bool, with_reopened: bool, of_one: bool) -> sa.Select[Any]:
    query = _NEWEST.limit(sa.bindparam("limit", type_=sa.Integer))
    if only_open:
        reopened = _I.decision == Decision.REOPENED.value
        still = _I.ended.is_(None)
        query = query.where(sa.or_(still, reopened) if with_reopened else still)
    if of_one:
        entity_id = sa.bindparam("entity_id", type_=sa.Text)
        query = query.where(sa.or_(_I.entity_id == entity_id, _I.peer_id == entity_id))
    return query


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
