"""The corrections of decided disputes in PostgreSQL."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.disputes.correction import Correction
from mudra.storage.database.among import is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.disputes import dispute_correction

_C: Final = dispute_correction.c
_OF_ONE: Final = sa.select(
    *(_C.correction_id, _C.entity_id, _C.api, _C.begins, _C.ends),
    *(_C.effect, _C.reason, _C.decided_at),
)
_IN_TIME: Final = _OF_ONE.where(
    is_among_given(_C.entity_id, "entity_ids"),
    _C.begins < sa.bindparam("until"),
    _C.ends > sa.bindparam("since"),
    _C.void_at.is_(None),
).order_by(_C.begins, _C.api, _C.correction_id)
_OF_DISPUTE: Final = _OF_ONE.where(
    _C.dispute_id == sa.bindparam("dispute_id"), _C.void_at.is_(None)
).order_by(_C.begins, _C.api, _C.correction_id)
_VOID: Final = (
    sa.update(dispute_correction)
    .where(_C.dispute_id == sa.bindparam("of_dispute"), _C.void_at.is_(None))
    .values(void_at=sa.bindparam("now"))
)


async def corrections(
    tx: Transaction, entity_ids: Sequence[str], start: datetime, end: datetime
) -> Mapping[str, Sequence[Correction]]:
    """Return the corrections of members that have a part of a time, the earliest first.

    Those of a dispute that was reopened since are left out: a later decision makes new ones.
    """
    within = {"entity_ids": [*entity_ids], "since": start, "until": end}
    found = defaultdict[str, list[Correction]](list)
    for row in await tx.connection.execute(_IN_TIME, within):
        one = Correction(*row)
        found[one.entity_id].append(one)
    return found


async def corrections_of(tx: Transaction, dispute_id: str) -> tuple[Correction, ...]:
    """Return those that are in force of one dispute."""
    rows = await tx.connection.execute(_OF_DISPUTE, {"dispute_id": dispute_id})
    return tuple(Correction(*row) for row in rows)


async def add_corrections(
    tx: Transaction, dispute_id: str, decided_by: str, made: Sequence[Correction]
) -> None:
    """Store the corrections of a decision."""
    for one in made:
        await tx.connection.execute(
            sa.insert(dispute_correction).values(
                correction_id=one.id,
                dispute_id=dispute_id,
                entity_id=one.entity_id,
                api=one.api,
                begins=one.start,
                ends=one.end,
                effect=one.effect,
                reason=one.reason,
                decided_by=decided_by,
                decided_at=one.decided_at,
            )
        )


async def void_corrections(tx: Transaction, dispute_id: str, now: datetime) -> None:
    """End the corrections of a dispute that is decided again; their rows stay."""
    await tx.connection.execute(_VOID, {"of_dispute": dispute_id, "now": now})
