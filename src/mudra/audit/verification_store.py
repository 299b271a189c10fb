"""When the audit was last verified, and what that found: for the alarm when no one verifies it."""

from datetime import datetime
from typing import Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects.postgresql import insert

from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.service import service_fact

VERIFIED: Final = "audit-verified"
"""The key under which a verification is announced."""
_INTACT_AT: Final = "audit-intact-at"
_FOUND: Final = "audit-verified"
_INTACT, _BROKEN = "intact", "broken"


class LastVerification(Struct, frozen=True):
    """When the audit was last found intact, and whether the verification after that failed."""

    intact_at: datetime | None
    failed: bool


async def keep_verification(transaction: Transaction, *, intact: bool) -> None:
    """Record what a verification found now."""
    facts = [{"name": _FOUND, "value": _INTACT if intact else _BROKEN}]
    if intact:
        facts.append({"name": _INTACT_AT, "value": (await transaction.now()).isoformat()})
    new = insert(service_fact)
    await transaction.connection.execute(
        new.on_conflict_do_update(
            index_elements=[service_fact.c.name], set_={"value": new.excluded.value}
        ),
        facts,
    )
    await transaction.changing(VERIFIED)


async def last_verification(transaction: Transaction) -> LastVerification:
    """Return what the last verification found."""
    c = service_fact.c
    rows = await transaction.connection.execute(
        sa.select(c.name, c.value).where(c.name.in_((_INTACT_AT, _FOUND)))
    )
    facts = {row.name: row.value for row in rows}
    at = facts.get(_INTACT_AT)
    return LastVerification(
        datetime.fromisoformat(at) if at else None, facts.get(_FOUND) == _BROKEN
    )
