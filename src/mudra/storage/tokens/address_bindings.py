"""Bindings of entities to their listed addresses: implements tokens/ports.py AddressBindings."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import entity
from mudra.tokens.secrets.address_binding import AddressBinding

_C: Final = entity.c


class PostgresAddressBindings:
    """Implements `AddressBindings`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def now(self) -> datetime:
        """Return the service's time."""
        return await self._tx.now()

    async def of(self, entity_id: str) -> AddressBinding | None:
        """Return the binding of an entity; None when there is no such entity."""
        found = await self._tx.connection.scalar(
            sa.select(_C.address_binding).where(_C.entity_id == entity_id)
        )
        return None if found is None else AddressBinding(found)

    async def locked(self, entity_id: str) -> AddressBinding | None:
        """Return it and hold the entity's lock for this transaction."""
        found = await self._tx.connection.scalar(
            sa.select(_C.address_binding).where(_C.entity_id == entity_id).with_for_update()
        )
        return None if found is None else AddressBinding(found)

    async def keep(self, entity_id: str, binding: AddressBinding) -> None:
        """Store it; no node checks by the previous one after the commit."""
        await self._tx.connection.execute(
            sa.update(entity).where(_C.entity_id == entity_id).values(address_binding=binding.value)
        )
        await self._tx.changing(entity_key(entity_id), must_not_be_missed=True)

    async def chosen(self) -> Mapping[str, AddressBinding]:
        """Return the bindings that are other than the network's, by entity."""
        rows = await self._tx.connection.execute(
            sa.select(_C.entity_id, _C.address_binding)
            .where(_C.address_binding != AddressBinding.NETWORK.value)
            .order_by(_C.entity_id)
        )
        return {entity_id: AddressBinding(binding) for entity_id, binding in rows}
