"""Progress and findings of the search of keys, in PostgreSQL."""

import base64
from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on, insert

from mudra.registry.key_search.weak_key import (
    FIRST,
    LAST,
    STEP,
    STEPS,
    KeyInUse,
    Step,
    WeakKey,
    Weakness,
)
from mudra.registry.payload.entry import read_canonical
from mudra.shared.entry_status import PENDING, EntityStatus, VersionStatus
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.registry import registry_entity, registry_key_search, registry_version

_E: Final = registry_entity.c
_V: Final = registry_version.c
_S: Final = registry_key_search.c
_IN_USE: Final = (
    sa.select(_V.entity_id, _V.kid, _V.modulus_hash, _V.body, _S.steps, _S.last_step)
    .ext(distinct_on(_V.modulus_hash))
    .select_from(
        registry_version.join(registry_entity, _V.entity_id == _E.entity_id).outerjoin(
            registry_key_search, _V.modulus_hash == _S.modulus_hash
        )
    )
    .where(
        _V.status.in_(sorted(one.value for one in (VersionStatus.LIVE, *PENDING))),
        _E.status != EntityStatus.RETIRED.value,
    )
    .order_by(_V.modulus_hash, _V.number.desc())
)
_NOT_DONE: Final = _IN_USE.where(sa.func.coalesce(_S.steps, 0) < STEPS).exists().select()
_NUMBER: Final = sa.select(sa.func.coalesce(sa.func.max(_S.last_step) + 1, 0))
_WEAK: Final = _IN_USE.add_columns(_S.weakness, _S.found_at).where(_S.weakness != "").subquery().c
_NEW: Final = insert(registry_key_search)
_FOLLOWS: Final = _S.last_step == _NEW.excluded.last_step - 1
_KEEP_STEP: Final = _NEW.on_conflict_do_update(
    index_elements=["modulus_hash"],
    set_={
        "steps": sa.case((_FOLLOWS, _S.steps + 1), else_=1),
        "last_step": _NEW.excluded.last_step,
    },
)


class KeySearches:
    """The search of keys that are live, or wait to be."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def next_step(self) -> Step | None:
        """Return all keys that are not done, and for what to search; None once all are done.

        A key that was not in use when the last step was taken begins again.
        """
        if not await self._tx.connection.scalar(_NOT_DONE):
            return None
        number = await self._tx.connection.scalar(_NUMBER) or 0
        new, known, done = [], [], []
        for row in await self._tx.connection.execute(_IN_USE):
            entity_id, kid, modulus_hash, body, steps, last_step = row
            key = KeyInUse(entity_id, kid, modulus_hash, _modulus(body))
            if steps is not None and steps >= STEPS:
                done.append(key)
            elif last_step is not None and last_step == number - 1:
                known.append(key)
            else:
                new.append(key)
        begin = FIRST + number % STEPS * STEP
        return Step(number, begin, min(begin + STEP, LAST), new, known, done)

    async def keep_step(self, step: Step) -> None:
        """Keep that the keys of a step were searched."""
        await self._tx.connection.execute(
            _KEEP_STEP,
            [
                {"modulus_hash": one.modulus_hash, "steps": 1, "last_step": step.number}
                for one in (*step.new, *step.known)
            ],
        )

    async def keep_weakness(self, modulus_hash: str, weakness: Weakness) -> bool:
        """Keep what was found; returns whether nothing was known about the key before."""
        kept = await self._tx.connection.execute(
            sa.update(registry_key_search)
            .where(_S.modulus_hash == modulus_hash, _S.weakness == "")
            .values(weakness=weakness.value, steps=STEPS, found_at=await self._tx.now())
        )
        return kept.rowcount > 0

    async def weak_count(self) -> int:
        """Return of how many keys in use a weakness is known."""
        count = sa.select(sa.func.count()).select_from(sa.select(_WEAK.kid).subquery())
        return await self._tx.connection.scalar(count) or 0

    async def weak(self, limit: int) -> Sequence[WeakKey]:
        """Return the keys in use of which a weakness is known, the oldest finding first."""
        rows = await self._tx.connection.execute(
            sa.select(_WEAK.entity_id, _WEAK.kid, _WEAK.weakness, _WEAK.found_at)
            .order_by(_WEAK.found_at, _WEAK.entity_id)
            .limit(limit)
        )
        return [
            WeakKey(row["entity_id"], row["kid"], Weakness(row["weakness"]), row["found_at"])
            for row in rows.mappings()
        ]


def _modulus(body: bytes) -> int:
    n = read_canonical(body).entityinfo.certificate.n
    return int.from_bytes(base64.urlsafe_b64decode(n + "=" * (-len(n) % 4)))
