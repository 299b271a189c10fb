"""Notices about capacity that were announced and are not over: a row for each subject."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import asdict

from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.metrics import capacity_notice

_N: Final = capacity_notice.c


class CapacityNotice(Struct, frozen=True, rename="camel"):
    """A notice as it was announced."""

    entity_id: str
    """Empty for the network."""
    noticed_at: datetime
    day: date
    """The day (UTC) of the next four weeks on which most calls may come."""
    calls: int
    """Those that are expected of it."""
    at_most: int
    """The upper end of its range."""
    handled_day: date
    handled: int
    """Calls of the busiest day on which the network's rule of success was kept."""


class CapacityNotices:
    """The notices, in one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def all(self) -> Sequence[CapacityNotice]:
        """Returns all of them, by subject."""
        rows = await self._tx.connection.execute(sa.select(capacity_notice).order_by(_N.entity_id))
        return [CapacityNotice(*row) for row in rows]

    async def find(self, entity_id: str) -> CapacityNotice | None:
        """Returns the notice of a subject."""
        found = sa.select(capacity_notice).where(_N.entity_id == entity_id)
        row = (await self._tx.connection.execute(found)).first()
        return None if row is None else CapacityNotice(*row)

    async def add(self, one: CapacityNotice) -> None:
        """Stores a new one."""
        await self._tx.connection.execute(sa.insert(capacity_notice).values(**asdict(one)))

    async def remove(self, entity_id: str) -> None:
        """Removes the notice of a subject."""
        await self._tx.connection.execute(
            sa.delete(capacity_notice).where(_N.entity_id == entity_id)
        )
