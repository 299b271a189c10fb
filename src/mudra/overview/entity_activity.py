"""An entity's tokens and audit log, as its admins see them."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.search import AuditFilter, AuditRow, TokensOfDay
from mudra.audit.search_store import AuditSearch
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.memberships.member import NotYourEntity
from mudra.identity.memberships.membership_store import Memberships
from mudra.storage.database.transaction import Transaction

DAYS: Final = timedelta(days=14)


class EntityActivity(Struct, frozen=True):
    """Tokens by day, events, and the addresses of admins by the actor that the log names."""

    days: Sequence[TokensOfDay]
    events: Sequence[AuditRow]
    names: Mapping[str, str]


async def entity_activity(
    tx: Transaction, user: User, entity_id: str, *, before: int | None, limit: int
) -> EntityActivity | NotYourEntity:
    """Return the tokens of the last 14 days and the events before the one numbered `before`."""
    if not user.sees(entity_id):
        return NotYourEntity()
    return EntityActivity(
        await AuditSearch(tx).tokens_by_day(entity_id, await People(tx).now() - DAYS),
        await AuditSearch(tx).events(AuditFilter(entity_id=entity_id), before, limit),
        await names_of_admins(tx, entity_id),
    )


async def names_of_admins(tx: Transaction, entity_id: str) -> Mapping[str, str]:
    """Return the addresses of an entity's admins by the actor that its audit log names."""
    return {f"user:{one.user_id}": one.email for one in await Memberships(tx).admins(entity_id)}


def visible_address(row: AuditRow) -> str:
    """Return the IP address of an event; empty for operators: members never see theirs."""
    return "" if row.actor.startswith("operator:") else row.address
