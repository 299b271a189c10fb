"""Targets and the rules of a network in PostgreSQL."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.levels.target import Measure, NetworkRule, Target, TargetCommand
from mudra.shared.entity_type import EntityType
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.levels import level_rule, level_target

_T: Final = level_target.c
_R: Final = level_rule.c
_ALL: Final = sa.select(
    *(_T.target_id, _T.role, _T.measure, _T.api, _T.value, _T.since, _T.until, _T.reason)
).order_by(_T.role, _T.measure, _T.api, _T.since)


class Targets:
    """The targets that operators have set."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def all(self) -> Sequence[Target]:
        """Returns all of them, also those that hold no more."""
        rows = await self._tx.connection.execute(_ALL)
        return [
            Target(target_id, EntityType(role), Measure(measure), *rest)
            for target_id, role, measure, *rest in rows
        ]

    async def rules(self) -> Sequence[NetworkRule]:
        """Returns all rules that were set, in the order of their days."""
        rows = await self._tx.connection.execute(
            sa.select(
                _R.since, _R.notice_hours, _R.hours_a_month, _R.league, _R.published, _R.reason
            ).order_by(_R.since)
        )
        return [NetworkRule(*row) for row in rows]

    async def put_rule(self, rule: NetworkRule, by: str, at: datetime) -> None:
        """Stores a rule, in place of one that begins on the same day."""
        values = {
            "since": rule.since,
            "notice_hours": rule.notice_hours,
            "hours_a_month": rule.hours_a_month,
            "league": rule.league,
            "published": rule.published,
            "reason": rule.reason,
            "made_by": by,
            "made_at": at,
        }
        await self._tx.connection.execute(
            insert(level_rule)
            .values(values)
            .on_conflict_do_update(index_elements=["since"], set_=values)
        )

    async def add_alone(self) -> None:
        """Lets no other transaction change targets until this one ends."""
        await self._tx.lock_name("level targets")

    async def put(self, target_id: str, command: TargetCommand, by: str, at: datetime) -> Target:
        """Stores a target, in place of one of its kind that begins on the same day."""
        values = {
            "target_id": target_id,
            "role": command.role.value,
            "measure": command.measure.value,
            "api": command.api,
            "value": command.value,
            "since": command.since,
            "until": None,
            "reason": command.reason.strip(),
            "made_by": by,
            "made_at": at,
        }
        await self._tx.connection.execute(
            insert(level_target)
            .values(values)
            .on_conflict_do_update(index_elements=["role", "measure", "api", "since"], set_=values)
        )
        return Target(
            target_id,
            command.role,
            command.measure,
            command.api,
            command.value,
            command.since,
            None,
            command.reason.strip(),
        )

    async def end(self, target_id: str, day: date) -> bool:
        """Ends a target with a day; returns whether there was one that held or would."""
        ended = await self._tx.connection.execute(
            sa.update(level_target)
            .where(
                _T.target_id == target_id,
                sa.or_(_T.until.is_(None), _T.until > day),
            )
            .values(until=day)
        )
        return ended.rowcount == 1
