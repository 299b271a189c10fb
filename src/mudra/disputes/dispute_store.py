"""Disputes in PostgreSQL: their state, their steps, their evidence (encrypted)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.disputes.dispute import OPEN, About, Act, Dispute, Kind, State, Step
from mudra.disputes.evidence import Evidence
from mudra.identity.accounts.user import UserState
from mudra.identity.operators.operator import Scope
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.disputes import dispute, dispute_evidence, dispute_step
from mudra.storage.tables.identity import operator_scope, user_account

_D: Final = dispute.c
_S: Final = dispute_step.c
_E: Final = dispute_evidence.c
_PLACE: Final = {"table": "dispute_evidence", "column": "content"}
_IS_OPEN: Final = _D.state.in_([one.value for one in OPEN])
_ONE: Final = sa.select(
    *(_D.dispute_id, _D.entity_id, _D.kind, _D.about, _D.incident_id, _D.apis),
    *(_D.begins, _D.ends, _D.state, _D.raised_by, _D.raised_at, _D.changed_at, _D.due_at),
)
_BY_ID: Final = _ONE.where(_D.dispute_id == sa.bindparam("dispute_id"))
_LOCKED: Final = _BY_ID.with_for_update()
_RECENT: Final = _ONE.where(
    _D.entity_id == sa.bindparam("entity_id"),
    sa.or_(_IS_OPEN, _D.raised_at > sa.bindparam("since")),
)
_NEWEST: Final = (_D.raised_at.desc(), _D.dispute_id)
_STEPS: Final = (
    sa.select(_S.number, _S.at, _S.actor, _S.act, _S.state, _S.text)
    .where(_S.dispute_id == sa.bindparam("dispute_id"))
    .order_by(_S.number)
)
_FILES: Final = (
    sa.select(
        *(_E.evidence_id, _E.name, _E.media_type, _E.size, _E.sha256, _E.added_by, _E.added_at),
    )
    .where(_E.dispute_id == sa.bindparam("dispute_id"))
    .order_by(_E.added_at, _E.evidence_id)
)
_CONTENT: Final = sa.select(_E.sealed_content).where(
    _E.dispute_id == sa.bindparam("dispute_id"), _E.evidence_id == sa.bindparam("evidence_id")
)
_FILES_SINCE: Final = (
    sa.select(sa.func.count())
    .select_from(dispute_evidence.join(dispute, _D.dispute_id == _E.dispute_id))
    .where(_D.entity_id == sa.bindparam("entity_id"), _E.added_at > sa.bindparam("since"))
)
_NOTED: Final = sa.exists().where(
    _S.dispute_id == _D.dispute_id, _S.act == Act.OVERDUE.value, _S.at >= _D.due_at
)
_LATE: Final = (
    sa.select(_D.dispute_id)
    .where(_IS_OPEN, _D.due_at <= sa.bindparam("now"))
    .where(sa.or_(_D.state == State.INFORMATION_WANTED.value, ~_NOTED))
    .order_by(_D.due_at)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_OPERATORS: Final = (
    sa.select(user_account.c.email, user_account.c.name)
    .join(operator_scope, operator_scope.c.user_id == user_account.c.user_id)
    .where(
        operator_scope.c.scope == Scope.HEALTH.value,
        user_account.c.state == UserState.ACTIVE.value,
    )
    .order_by(user_account.c.email)
)


class Disputes:
    """Stored disputes, in one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def add(self, one: Dispute) -> None:
        """Store a new one."""
        await self._tx.connection.execute(
            sa.insert(dispute).values(
                dispute_id=one.dispute_id,
                entity_id=one.entity_id,
                kind=one.kind.value,
                about=one.about.value,
                incident_id=one.incident_id,
                apis=list(one.apis),
                begins=one.start,
                ends=one.end,
                state=one.state.value,
                raised_by=one.raised_by,
                raised_at=one.raised_at,
                changed_at=one.changed_at,
                due_at=one.due_at,
            )
        )

    async def put(self, one: Dispute) -> None:
        """Store the state that a step has led to."""
        await self._tx.connection.execute(
            sa.update(dispute)
            .where(_D.dispute_id == one.dispute_id)
            .values(state=one.state.value, changed_at=one.changed_at, due_at=one.due_at)
        )

    async def find(self, dispute_id: str, *, lock: bool = False) -> Dispute | None:
        """Return one; with `lock` no one else changes it until the transaction ends."""
        query = _LOCKED if lock else _BY_ID
        rows = await self._tx.connection.execute(query, {"dispute_id": dispute_id})
        row = rows.mappings().first()
        return None if row is None else _dispute(row)

    async def newest(
        self, limit: int, *, entity_id: str = "", incident_id: str = "", only_open: bool = False
    ) -> Sequence[Dispute]:
        """Return the newest: of one member, about one incident, or all; the open ones alone."""
        query = _ONE.order_by(*_NEWEST).limit(limit)
        if entity_id:
            query = query.where(_D.entity_id == entity_id)
        if incident_id:
            query = query.where(_D.incident_id == incident_id)
        if only_open:
            query = query.where(_IS_OPEN)
        rows = await self._tx.connection.execute(query)
        return [_dispute(row) for row in rows.mappings()]

    async def recent(self, entity_id: str, since: datetime) -> Sequence[Dispute]:
        """Return the open disputes of a member, and all that it raised since a moment."""
        asked = {"entity_id": entity_id, "since": since}
        rows = await self._tx.connection.execute(_RECENT, asked)
        return [_dispute(row) for row in rows.mappings()]

    async def late(self, now: datetime, limit: int) -> Sequence[str]:
        """Return the IDs of those whose next step is late and of which no one was notified."""
        found = await self._tx.connection.scalars(_LATE, {"now": now, "most": limit})
        return list(found)

    async def steps(self, dispute_id: str) -> Sequence[Step]:
        """Return the steps of one, the oldest first."""
        rows = await self._tx.connection.execute(_STEPS, {"dispute_id": dispute_id})
        return [
            Step(number, at, actor, Act(act), State(state), text)
            for number, at, actor, act, state, text in rows
        ]

    async def add_step(self, dispute_id: str, step: Step) -> None:
        """Store a step of a locked dispute."""
        await self._tx.connection.execute(
            sa.insert(dispute_step).values(
                dispute_id=dispute_id,
                number=step.number,
                at=step.at,
                actor=step.actor,
                act=step.act.value,
                state=step.state.value,
                text=step.text,
            )
        )

    async def evidence(self, dispute_id: str) -> Sequence[Evidence]:
        """Return the files of one, without their content."""
        rows = await self._tx.connection.execute(_FILES, {"dispute_id": dispute_id})
        return [
            Evidence(evidence_id, name, media_type, size, sha256.hex(), added_by, added_at)
            for evidence_id, name, media_type, size, sha256, added_by, added_at in rows
        ]

    async def add_evidence(self, dispute_id: str, one: Evidence, content: bytes) -> None:
        """Store a file, encrypted."""
        sealed = self._tx.encryption.keyring.encrypt(content, **_PLACE, row=one.evidence_id)
        await self._tx.connection.execute(
            sa.insert(dispute_evidence).values(
                evidence_id=one.evidence_id,
                dispute_id=dispute_id,
                name=one.name,
                media_type=one.media_type,
                size=one.size,
                sha256=bytes.fromhex(one.sha256),
                sealed_content=sealed,
                added_by=one.added_by,
                added_at=one.added_at,
            )
        )

    async def content(self, dispute_id: str, evidence_id: str) -> bytes | None:
        """Return the content of a file of this dispute."""
        sealed = await self._tx.connection.scalar(
            _CONTENT, {"dispute_id": dispute_id, "evidence_id": evidence_id}
        )
        if sealed is None:
            return None
        return self._tx.encryption.keyring.decrypt(sealed, **_PLACE, row=evidence_id)

    async def files_since(self, entity_id: str, since: datetime) -> int:
        """Return how many files a member has attached since a moment."""
        asked = {"entity_id": entity_id, "since": since}
        return await self._tx.connection.scalar(_FILES_SINCE, asked) or 0

    async def operators(self) -> Sequence[tuple[str, str]]:
        """Return the addresses and names of the operators who decide disputes."""
        return [(email, name) for email, name in await self._tx.connection.execute(_OPERATORS)]


def _dispute(row: sa.RowMapping) -> Dispute:
    return Dispute(
        dispute_id=row["dispute_id"],
        entity_id=row["entity_id"],
        kind=Kind(row["kind"]),
        about=About(row["about"]),
        incident_id=row["incident_id"],
        apis=tuple(row["apis"]),
        start=row["begins"],
        end=row["ends"],
        state=State(row["state"]),
        raised_by=row["raised_by"],
        raised_at=row["raised_at"],
        changed_at=row["changed_at"],
        due_at=row["due_at"],
    )
