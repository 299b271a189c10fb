"""Progress and findings of the search of keys, in PostgreSQL."""

import base64
from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on, insert

from mudra.registry.key_search.weak_key import FIRST, LAST, STEP, KeyInUse, Step, WeakKey, Weakness
from mudra.registry.payload.entry import read_canonical
from mudra.shared.entry_status import PENDING, EntityStatus, VersionStatus
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.registry import registry_entity, registry_key_search, registry_version

_E: Final = registry_entity.c
_V: Final = registry_version.c
_S: Final = registry_key_search.c
_REACHED: Final = sa.func.coalesce(_S.searched_to, FIRST)
_IN_USE: Final = (
    sa.select(_V.entity_id, _V.kid, _V.modulus_hash, _V.body, _REACHED.label("reached"))
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
_LEAST: Final = sa.select(sa.func.min(_IN_USE.subquery().c.reached))
_WEAK: Final = _IN_USE.add_columns(_S.weakness, _S.found_at).where(_S.weakness != "").subquery().c
_NEW: Final = insert(registry_key_search)
_KEEP_END: Final = _NEW.on_conflict_do_update(
    index_elements=["modulus_hash"], set_={"searched_to": _NEW.excluded.searched_to}
)


class KeySearches:
    """The search of keys that are live, or wait to be."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def next_step(self) -> Step | None:
        """Return the keys that were searched least, and for what; None once all are done."""
        begin = await self._tx.connection.scalar(_LEAST)
        if begin is None or begin >= LAST:
            return None
        keys, others = [], []
        for entity_id, kid, modulus_hash, body, reached in await self._tx.connection.execute(
            _IN_USE
        ):
            key = KeyInUse(entity_id, kid, modulus_hash, _modulus(body))
            if reached == begin:
                keys.append(key)
            elif begin == FIRST:
                others.append(key)
        return Step(keys, begin, min(begin + STEP, LAST), others)

    async def keep_end(self, step: Step) -> None:
        """Keep how far the keys of a step were searched."""
        await self._tx.connection.execute(
            _KEEP_END,
            [{"modulus_hash": one.modulus_hash, "searched_to": step.end} for one in step.keys],
        )

    async def keep_weakness(self, modulus_hash: str, weakness: Weakness) -> bool:
        """Keep what was found; returns whether nothing was known about the key before."""
        kept = await self._tx.connection.execute(
            sa.update(registry_key_search)
            .where(_S.modulus_hash == modulus_hash, _S.weakness == "")
            .values(weakness=weakness.value, searched_to=LAST, found_at=await self._tx.now())
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
