"""Up to where the audit was exported; all nodes share it."""

from typing import Final

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.audit.export import ExportPosition
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_seal
from mudra.storage.tables.service import service_fact

_NAME: Final = "audit-export"


class ExportPositions:
    """A fact of the service."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def read(self) -> ExportPosition:
        """Return it; the very beginning where nothing was sent."""
        found = await self._tx.connection.scalar(
            sa.select(service_fact.c.value).where(service_fact.c.name == _NAME)
        )
        return msgspec.json.decode(found, type=ExportPosition) if found else ExportPosition()

    async def move(self, before: ExportPosition, to: ExportPosition) -> bool:
        """Store the next one; returns False where it is another by now, and stores nothing."""
        fact = insert(service_fact).values(name=_NAME, value=_text(to))
        moved = await self._tx.connection.execute(
            fact.on_conflict_do_update(
                index_elements=[service_fact.c.name],
                set_={"value": fact.excluded.value},
                where=service_fact.c.value == _text(before),
            )
        )
        return moved.rowcount == 1

    async def move_to(self, number: int) -> ExportPosition:
        """Store that events up to this number were sent, whatever the position was."""
        to = ExportPosition(number, number)
        fact = insert(service_fact).values(name=_NAME, value=_text(to))
        await self._tx.connection.execute(
            fact.on_conflict_do_update(
                index_elements=[service_fact.c.name], set_={"value": fact.excluded.value}
            )
        )
        return to

    async def waiting(self, position: ExportPosition) -> int:
        """Count the sealed events after a position."""
        s = audit_seal.c
        later = sa.select(sa.func.count()).where(s.number > position.number)
        return int(await self._tx.connection.scalar(later) or 0)

    async def before_seq(self, seq: int) -> int:
        """Return the number before the first event of this `seq` or a later one."""
        s = audit_seal.c
        first = await self._tx.connection.scalar(
            sa.select(sa.func.min(s.number)).where(s.seq >= seq)
        )
        if first is not None:
            return int(first) - 1
        return int(await self._tx.connection.scalar(sa.select(sa.func.max(s.number))) or 0)


def _text(position: ExportPosition) -> str:
    return msgspec.json.encode(position).decode()
