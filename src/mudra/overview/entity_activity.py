"""What the admins of an entity see of its audit log."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from mudra.audit.search import AuditRow
from mudra.unit_of_work import UnitOfWork

DAYS: Final = timedelta(days=14)


async def names_of_admins(work: UnitOfWork, entity_id: str) -> Mapping[str, str]:
    """Return the addresses of an entity's admins by the actor that its audit log names."""
    return {f"user:{one.user_id}": one.email for one in await work.memberships.admins(entity_id)}


def visible_address(row: AuditRow) -> str:
    """Return the IP address of an event; empty for operators: members never see theirs."""
    return "" if row.actor.startswith("operator:") else row.address
