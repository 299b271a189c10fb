"""Budgets of members in PostgreSQL: one row for each member, month and measure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects.postgresql import insert

from mudra.levels.budgets.burn_rule import Burn, Outlook
from mudra.levels.target import Measure
from mudra.metrics.rollup.coverage import due_until
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.levels import level_burn

_B: Final = level_burn.c
_KEY: Final = ("entity_id", "starts", "measure")


class StoredBurn(Struct, frozen=True, rename="camel"):
    """A budget as it was when it was last worked out."""

    entity_id: str
    month: datetime
    """When the month begins."""
    at: datetime
    burn: Burn

    @property
    def until(self) -> datetime:
        """The end of the last window that is counted."""
        return due_until(self.at)


class Burns:
    """The budgets of the months, in one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def announced(self, entity_id: str, month: datetime) -> dict[Measure, Outlook]:
        """Returns the worst outlook of each measure that an alarm was sent about."""
        rows = await self._tx.connection.execute(
            sa.select(_B.measure, _B.announced).where(_B.entity_id == entity_id, _B.starts == month)
        )
        return {Measure(measure): Outlook(announced) for measure, announced in rows}

    async def put(self, stored: StoredBurn, announced: Outlook) -> None:
        """Stores a budget in place of the one before."""
        burn = stored.burn
        values = {
            "entity_id": stored.entity_id,
            "starts": stored.month,
            "measure": burn.measure.value,
            "worked_out_at": stored.at,
            "target": burn.target,
            "allowed": burn.allowed,
            "spent": burn.spent,
            "counted": burn.counted,
            "left_percent": burn.left_percent,
            "day_rate": burn.day_rate,
            "week_rate": burn.week_rate,
            "gone_at": burn.gone_at,
            "outlook": burn.outlook.value,
            "announced": announced.value,
        }
        await self._tx.connection.execute(
            insert(level_burn)
            .values(values)
            .on_conflict_do_update(index_elements=list(_KEY), set_=values)
        )

    async def of_month(
        self, month: datetime, *, entity_id: str | None = None, in_danger: bool = False
    ) -> Sequence[StoredBurn]:
        """Returns the budgets of a month, the emptiest first; those in danger alone if asked."""
        query = sa.select(level_burn).where(_B.starts == month)
        if entity_id is not None:
            query = query.where(_B.entity_id == entity_id)
        if in_danger:
            query = query.where(_B.outlook != Outlook.WITHIN.value)
        rows = await self._tx.connection.execute(
            query.order_by(_B.left_percent, _B.entity_id, _B.measure)
        )
        return [
            StoredBurn(
                row.entity_id,
                row.starts,
                row.worked_out_at,
                Burn(
                    Measure(row.measure),
                    row.target,
                    row.allowed,
                    row.spent,
                    row.counted,
                    row.left_percent,
                    row.day_rate,
                    row.week_rate,
                    row.gone_at,
                    Outlook(row.outlook),
                ),
            )
            for row in rows
        ]
