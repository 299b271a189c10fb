"""Probes of base URLs in PostgreSQL: implements registry/probe/probe.py Probes."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, cast

import msgspec
import sqlalchemy as sa

from mudra.audit.event import Caller
from mudra.registry.payload.entry import read_canonical
from mudra.registry.payload.fields.url_rules import newest_url
from mudra.registry.probe.probe import Probe, ProbeResult, WaitingProbe
from mudra.shared.ids import fresh_id
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.registry import registry_entity, registry_probe, registry_version

PROBE_ASKED: Final = "probes"
"""The name under which a probe that waits is announced."""
_C: Final = registry_probe.c
_V: Final = registry_version.c
_HOLD: Final = (
    sa.select(registry_entity.c.entity_id)
    .where(registry_entity.c.entity_id == sa.bindparam("entity_id"))
    .with_for_update(key_share=True)
)
_LATEST: Final = (
    sa.select(registry_probe)
    .where(_C.entity_id == sa.bindparam("entity_id"))
    .order_by(_C.requested_at.desc(), _C.probe_id)
    .limit(1)
)
_WAITING: Final = (
    sa.select(registry_probe, _V.body)
    .join(
        registry_version,
        sa.and_(_V.entity_id == _C.entity_id, _V.number == _C.version),
    )
    .where(_C.done_at.is_(None))
    .order_by(_C.requested_at, _C.probe_id)
    .limit(sa.bindparam("most", type_=sa.Integer))
)


class Probes:
    """Implements `Probes`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def hold(self, entity_id: str) -> None:
        """Let no one else ask for a probe of an entity until this transaction ends."""
        await self._tx.connection.execute(_HOLD, {"entity_id": entity_id})

    async def latest(self, entity_id: str) -> Probe | None:
        """Return the latest probe of an entity."""
        rows = await self._tx.connection.execute(_LATEST, {"entity_id": entity_id})
        row = rows.mappings().first()
        return _probe(row) if row else None

    async def latest_of(self, entity_ids: Sequence[str]) -> Mapping[str, Probe]:
        """Return the latest probe of each of these entities that has one."""
        rows = await self._tx.connection.execute(
            sa.select(registry_probe)
            .distinct(_C.entity_id)
            .where(_C.entity_id.in_(entity_ids))
            .order_by(_C.entity_id, _C.requested_at.desc(), _C.probe_id)
        )
        return {str(row["entity_id"]): _probe(row) for row in rows.mappings()}

    async def add(self, entity_id: str, version: int, caller: Caller) -> Probe:
        """Store a probe to be run; the job that runs probes wakes with the commit."""
        probe_id, now = fresh_id(), await self._tx.now()
        await self._tx.connection.execute(
            sa.insert(registry_probe).values(
                probe_id=probe_id,
                entity_id=entity_id,
                version=version,
                requested_by=caller.actor,
                requested_address=caller.address,
                txn_id=caller.txn_id,
                requested_at=now,
            )
        )
        await self._tx.changing(PROBE_ASKED)
        return Probe(probe_id, entity_id, version, caller.actor, now)

    async def waiting(self, limit: int) -> Sequence[WaitingProbe]:
        """Return the probes that wait, the oldest first."""
        rows = await self._tx.connection.execute(_WAITING, {"most": limit})
        return [_waiting(row) for row in rows.mappings()]

    async def complete(self, probe_id: str, result: ProbeResult) -> bool:
        """Store what a probe found; False when another run did before."""
        done = await self._tx.connection.execute(
            sa.update(registry_probe)
            .where(_C.probe_id == probe_id, _C.done_at.is_(None))
            .values(done_at=await self._tx.now(), result=msgspec.to_builtins(result))
        )
        return done.rowcount == 1


def _probe(row: sa.RowMapping) -> Probe:
    result = row["result"]
    return Probe(
        str(row["probe_id"]),
        str(row["entity_id"]),
        cast("int", row["version"]),
        str(row["requested_by"]),
        cast("datetime", row["requested_at"]),
        done_at=cast("datetime | None", row["done_at"]),
        result=None if result is None else msgspec.convert(result, ProbeResult),
    )


def _waiting(row: sa.RowMapping) -> WaitingProbe:
    info = read_canonical(cast("bytes", row["body"])).entityinfo
    caller = Caller(str(row["requested_by"]), str(row["requested_address"]), str(row["txn_id"]))
    return WaitingProbe(
        str(row["probe_id"]),
        str(row["entity_id"]),
        cast("int", row["version"]),
        newest_url(info.baseurl),
        cast("Mapping[str, str]", msgspec.to_builtins(info.certificate)),
        caller,
    )
