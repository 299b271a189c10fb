"""Changes that the audit log knows: secrets, keys, entries, agents, disputes, releases."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from mudra.audit.event import EventName, Outcome
from mudra.audit.search import AuditRow
from mudra.audit.search_store import last_before
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_event

_C: Final = audit_event.c
CHANGES: Final = (
    EventName.ENTITY_SECRET_RESET,
    EventName.ENTITY_SECRET_RETIRE,
    EventName.ENTITY_STATUS_CHANGE,
    EventName.ENTITY_ADDRESSES_CHANGE,
    EventName.KEYS_SIGNING_ACTIVATE,
    EventName.KEYS_SIGNING_RETIRE,
    EventName.KEYS_SIGNING_DROP,
    EventName.KEYS_SIGNING_IMPORT,
    EventName.REGISTRY_ENTRY_APPROVE,
    EventName.REGISTRY_ENTRY_SUBMIT,
    EventName.REGISTRY_ENTRY_ROLLBACK,
    EventName.REGISTRY_ENTRY_SUSPEND,
    EventName.REGISTRY_ENTRY_RESTORE,
    EventName.REGISTRY_ENTRY_RETIRE,
    EventName.DISPUTE_CASE_RAISE,
    EventName.DISPUTE_CASE_DECIDE,
    EventName.DISPUTE_CASE_WITHDRAW,
    EventName.DISPUTE_CASE_LAPSE,
    EventName.DISPUTE_CASE_REOPEN,
    EventName.SERVICE_RELEASE_START,
)
_BASE: Final = timedelta(hours=1)
"""Before the time that is asked for: reports by which the first one in it is compared."""


class TimelineEvents:
    """Reads the audit log; nothing here changes it."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def changes(
        self, since: datetime, until: datetime, entity_ids: Sequence[str] | None, limit: int
    ) -> Sequence[AuditRow]:
        """Return the changes of a time, the newest first: of these members and the network.

        None means all members.
        """
        query = (
            sa.select(
                *(_C.seq, _C.at, _C.event, _C.outcome, _C.actor, _C.entity_id),
                *(_C.address, _C.txn_id, _C.reason, _C.detail),
            )
            .where(
                _C.seq > last_before(since),
                _C.at >= since,
                _C.at < until,
                _C.outcome == Outcome.SUCCESS.value,
                _C.event.in_([one.value for one in CHANGES]),
            )
            .order_by(_C.seq.desc())
            .limit(limit)
        )
        if entity_ids is not None:
            query = query.where(_C.entity_id.in_(["", *entity_ids]))
        return [AuditRow(*tuple(row)) for row in await self._tx.connection.execute(query)]

    async def agent_versions(
        self, since: datetime, until: datetime, entity_ids: Sequence[str] | None, limit: int
    ) -> Sequence[tuple[datetime, str, str, str]]:
        """Return when reports began to come from another version of an agent: from and to which."""
        version = _C.detail["agentVersion"].astext
        before = sa.func.lag(version).over(partition_by=_C.entity_id, order_by=_C.seq)
        reports = sa.select(
            _C.at, _C.entity_id, before.label("before"), version.label("version")
        ).where(
            _C.seq > last_before(since - _BASE),
            _C.at >= since - _BASE,
            _C.at < until,
            _C.event == EventName.METRICS_REPORT_ACCEPT.value,
            version.is_not(None),
        )
        if entity_ids is not None:
            reports = reports.where(_C.entity_id.in_([*entity_ids]))
        r = reports.subquery().c
        found = await self._tx.connection.execute(
            sa.select(r.at, r.entity_id, r.before, r.version)
            .where(r.at >= since, r.before.is_not(None), r.before != r.version)
            .order_by(r.at.desc())
            .limit(limit)
        )
        return [(at, entity_id, first, then) for at, entity_id, first, then in found]

    async def release(self) -> str:
        """Return the version of the latest release that began to run; empty for none."""
        found = await self._tx.connection.scalar(
            sa.select(_C.detail["version"].astext)
            .where(_C.event == EventName.SERVICE_RELEASE_START.value, _C.entity_id == "")
            .order_by(_C.seq.desc())
            .limit(1)
        )
        return str(found or "")
