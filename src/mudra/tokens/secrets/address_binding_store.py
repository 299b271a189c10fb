"""Bindings of entities to their listed addresses."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.audit.event import EventName
from mudra.audit.search_store import times_of_admins
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.tokens.secrets.address_binding import AddressBinding, ChosenBinding

_C: Final = entity.c
_CHOSEN: Final = sa.select(_C.entity_id, _C.address_binding, _C.address_exempt)
_OF: Final = _CHOSEN.where(_C.entity_id == sa.bindparam("entity_id"))
_LOCKED: Final = _OF.with_for_update()


class AddressBindings:
    """Implements `AddressBindings`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def now(self) -> datetime:
        """Return the service's time."""
        return await self._tx.now()

    async def of(self, entity_id: str) -> ChosenBinding | None:
        """Return the binding of an entity; None when there is no such entity."""
        return _one(await self._tx.connection.execute(_OF, {"entity_id": entity_id}))

    async def locked(self, entity_id: str) -> ChosenBinding | None:
        """Return it and hold the entity's lock for this transaction."""
        return _one(await self._tx.connection.execute(_LOCKED, {"entity_id": entity_id}))

    async def switches(self, entity_id: str, since: datetime) -> Sequence[datetime]:
        """Return when admins of an entity switched its binding, by the audit."""
        event = EventName.ENTITY_ADDRESSES_CHANGE
        return await times_of_admins(self._tx, event, entity_id, since)

    async def keep(self, entity_id: str, chosen: ChosenBinding) -> None:
        """Store it; no node checks by the previous one after the commit."""
        await self._tx.connection.execute(
            sa.update(entity)
            .where(_C.entity_id == entity_id)
            .values(address_binding=chosen.binding.value, address_exempt=chosen.exempt)
        )
        await self._tx.changing(entity_key(entity_id), must_not_be_missed=True)

    async def chosen(self) -> Mapping[str, ChosenBinding]:
        """Return the bindings that are other than the network's, by entity."""
        rows = await self._tx.connection.execute(
            _CHOSEN.where(_C.address_binding != AddressBinding.NETWORK.value).order_by(_C.entity_id)
        )
        return {entity_id: _chosen(binding, exempt) for entity_id, binding, exempt in rows}


def _one(rows: sa.CursorResult[str, str, bool]) -> ChosenBinding | None:
    return next((_chosen(binding, exempt) for _, binding, exempt in rows), None)


def _chosen(binding: str, exempt: bool) -> ChosenBinding:  # a column
    return ChosenBinding(AddressBinding(binding), exempt)
