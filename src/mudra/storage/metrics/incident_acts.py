"""Acts on incidents, and silences, in PostgreSQL."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on

from mudra.identity.accounts.user import UserState
from mudra.identity.operators.operator import Scope
from mudra.metrics.incidents.acts.act import Act, ActKind
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.silence import Silence
from mudra.storage.database.among import is_among
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.incidents import stored_incident
from mudra.storage.metrics.reports import Row
from mudra.storage.tables.alarms import health_silence
from mudra.storage.tables.identity import operator_scope, user_account
from mudra.storage.tables.metrics import incident_act, metrics_incident

_I: Final = metrics_incident.c
_A: Final = incident_act.c
_S: Final = health_silence.c
_ENDING_AFTER: Final = (
    sa.select(health_silence)
    .where(_S.ends > sa.bindparam("moment"))
    .order_by(_S.ends, _S.silence_id)
)


class PostgresIncidentActs:
    """Implements the port `IncidentActs`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def now(self) -> datetime:
        """Returns the time."""
        return await self._tx.now()

    async def lock(self, incident_id: str) -> StoredIncident | None:
        """Returns an incident that no one else changes until the transaction ends."""
        rows = await self._tx.connection.execute(
            sa.select(metrics_incident).where(_I.incident_id == incident_id).with_for_update()
        )
        found = rows.mappings().first()
        return None if found is None else stored_incident(cast("Row", found))

    async def of(self, incident_id: str) -> Sequence[Act]:
        """Returns the acts on an incident, the oldest first."""
        rows = await self._tx.connection.execute(
            sa.select(_A.at, _A.actor, _A.kind, _A.text, _A.owner)
            .where(_A.incident_id == incident_id)
            .order_by(_A.number)
        )
        return [Act(row[0], row[1], ActKind(row[2]), row[3], row[4]) for row in rows]

    async def notes(self, incident_ids: Sequence[str]) -> Mapping[str, Act]:
        """Returns what was written last about each: its post-mortem, else a reason or comment."""
        rows = await self._tx.connection.execute(
            sa.select(_A.incident_id, _A.at, _A.actor, _A.kind, _A.text, _A.owner)
            .ext(distinct_on(_A.incident_id))
            .where(is_among(_A.incident_id, incident_ids), _A.text != "")
            .order_by(
                _A.incident_id, (_A.kind == ActKind.POST_MORTEM.value).desc(), _A.number.desc()
            )
        )
        return {row[0]: Act(row[1], row[2], ActKind(row[3]), row[4], row[5]) for row in rows}

    async def add(self, before: StoredIncident, after: StoredIncident, act: Act) -> None:
        """Stores an act on a locked incident, and the owner and decision after it."""
        last = sa.select(sa.func.coalesce(sa.func.max(_A.number), 0)).where(
            _A.incident_id == before.incident_id
        )
        await self._tx.connection.execute(
            sa.insert(incident_act).values(
                incident_id=before.incident_id,
                number=last.scalar_subquery() + 1,
                at=act.at,
                actor=act.actor,
                kind=act.kind.value,
                text=act.text,
                owner=act.owner,
            )
        )
        if after != before:
            await self._tx.connection.execute(
                sa.update(metrics_incident)
                .where(_I.incident_id == before.incident_id)
                .values(
                    acknowledged_by=after.acknowledged_by,
                    acknowledged_at=after.acknowledged_at,
                    decision=after.decision.value if after.decision else None,
                    decided_at=after.decided_at,
                )
            )

    async def owners(self) -> Sequence[str]:
        """Returns the addresses of the operators who may own incidents, in their order."""
        u, s = user_account.c, operator_scope.c
        found = await self._tx.connection.scalars(
            sa.select(u.email)
            .join(operator_scope, s.user_id == u.user_id)
            .where(s.scope == Scope.HEALTH.value, u.state == UserState.ACTIVE.value)
            .order_by(u.email)
        )
        return list(found)


class PostgresSilences:
    """Stored silences."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def add(self, silence: Silence) -> None:
        """Stores a new one."""
        await self._tx.connection.execute(
            sa.insert(health_silence).values(
                silence_id=silence.silence_id,
                entity_id=silence.entity_id,
                peer_id=silence.peer_id,
                maintenance=silence.maintenance,
                type=silence.type,
                begins=silence.begins,
                ends=silence.ends,
                reason=silence.reason,
                made_by=silence.made_by,
                announced_at=silence.announced_at,
            )
        )

    async def change(self, silence: Silence) -> None:
        """Stores the times, the reason and the announcement of one in place of those before."""
        await self._tx.connection.execute(
            sa.update(health_silence)
            .where(_S.silence_id == silence.silence_id)
            .values(
                begins=silence.begins,
                ends=silence.ends,
                reason=silence.reason,
                announced_at=silence.announced_at,
            )
        )

    async def ending_after(self, moment: datetime) -> Sequence[Silence]:
        """Returns those that end after a moment, the earliest end first."""
        rows = await self._tx.connection.execute(_ENDING_AFTER, {"moment": moment})
        return [Silence(*row) for row in rows]

    async def end(self, silence_id: str, at: datetime, by: str) -> Silence | None:
        """Ends one that has not ended; None when there is none of this ID."""
        rows = await self._tx.connection.execute(
            sa.update(health_silence)
            .where(_S.silence_id == silence_id, _S.ends > at)
            .values(ends=at, begins=sa.func.least(_S.begins, at), ended_by=by)
            .returning(*health_silence.c)
        )
        row = rows.first()
        return None if row is None else Silence(*row)
