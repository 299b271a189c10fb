"""The reason why a member gets no tokens, with its time, as its people see it on every page."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.audit.event import EventName, Outcome
from mudra.audit.search import AuditFilter, AuditRow
from mudra.audit.search_store import AuditSearch
from mudra.identity.memberships.member import MemberStatus
from mudra.storage.database.transaction import Transaction

_LATEST: Final = 5
_OF_THE_ENTRY: Final = {
    MemberStatus.SUSPENDED: EventName.REGISTRY_ENTRY_SUSPEND,
    MemberStatus.RETIRED: EventName.REGISTRY_ENTRY_RETIRE,
}


class Suspension(Struct, frozen=True):
    """Since when a member is suspended or retired, and the operator's reason; empty if unknown."""

    status: MemberStatus
    since: datetime | None = None
    reason: str = ""


async def suspension_of(tx: Transaction, entity_id: str, status: MemberStatus) -> Suspension | None:
    """Return what ended a member's tokens, by its membership or its registry entry."""
    if status is MemberStatus.ACTIVE:
        return None
    found: list[AuditRow] = []
    for event in (EventName.ENTITY_STATUS_CHANGE, _OF_THE_ENTRY[status]):
        which = AuditFilter(entity_id=entity_id, event=event.value, outcome=Outcome.SUCCESS.value)
        found += await AuditSearch(tx).events(which, None, _LATEST)
    ended = [one for one in found if one.detail.get("to", status.value) == status.value]
    if not ended:
        return Suspension(status)
    latest = max(ended, key=lambda one: one.seq)
    return Suspension(status, latest.at, latest.reason)
