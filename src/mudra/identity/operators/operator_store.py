"""Operators and their scopes in PostgreSQL."""

from datetime import datetime
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.accounts.user import UserState
from mudra.identity.operators.operator import Scope
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import (
    access_grant,
    operator_scope,
    user_account,
)

_U: Final = user_account.c
_O: Final = operator_scope.c
_SCOPES: Final = sa.select(_O.scope).where(_O.user_id == sa.bindparam("user_id"))
_RECORD_GRANT: Final = sa.insert(access_grant)
_MANAGERS: Final = (
    sa.select(_U.user_id)
    .join(operator_scope, _O.user_id == _U.user_id)
    .where(_O.scope == Scope.MEMBERS.value, _U.state == UserState.ACTIVE.value)
)
_MANAGES_SINCE: Final = sa.select(_O.since).where(
    _O.user_id == sa.bindparam("user_id"), _O.scope == Scope.MEMBERS.value
)


class Operators:
    """Operators, their scopes, and who gave a person a right."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def scopes(self, user_id: str) -> frozenset[Scope]:
        """Return the scopes of an operator; empty for anyone else."""
        found = await self._tx.connection.scalars(_SCOPES, {"user_id": user_id})
        return frozenset(Scope(scope) for scope in found)

    async def set_scopes(self, user_id: str, scopes: frozenset[Scope]) -> None:
        """Store an operator's scopes; none ends the role. Those it keeps keep their time."""
        c = operator_scope.c
        names = sorted(scope.value for scope in scopes)
        await self._tx.connection.execute(
            sa.delete(operator_scope).where(c.user_id == user_id, c.scope.not_in(names))
        )
        now = await self._tx.now()
        if names:
            await self._tx.connection.execute(
                insert(operator_scope).on_conflict_do_nothing(),
                [{"user_id": user_id, "scope": name, "since": now} for name in names],
            )

    async def record_grant(self, user_id: str, by: str, entity_id: str = "") -> None:
        """Record who gave a person a right, of an entity or an operator's; `by` "" records none."""
        if by:
            values = {"user_id": user_id, "given_by": by, "entity_id": entity_id}
            await self._tx.connection.execute(_RECORD_GRANT, {**values, "at": await self._tx.now()})

    async def lock_operators(self) -> None:
        """Let acts on people wait for each other until this transaction ends."""
        await self._tx.lock_name("operators")

    async def managers(self) -> frozenset[str]:
        """Return the user IDs of the active operators who can manage operators."""
        return frozenset(await self._tx.connection.scalars(_MANAGERS))

    async def manages_since(self, user_id: str) -> datetime | None:
        """Return since when an operator can manage operators; None when it cannot."""
        found: datetime | None = await self._tx.connection.scalar(
            _MANAGES_SINCE, {"user_id": user_id}
        )
        return found
