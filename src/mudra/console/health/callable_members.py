"""The member to call about an incident: the one at its cause, with a telephone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from mudra.identity.memberships.member_search import MemberFilter
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.metrics.incidents.incident import StoredIncident, Subject
from mudra.metrics.incidents.subject import aa_concerned, fip_concerned
from mudra.storage.database.transaction import Transaction

_MAX_MEMBERS: Final = 2000


class Callee(Struct, frozen=True):
    """A member with a telephone."""

    name: str
    phone: str

    @property
    def link(self) -> str:
        """The address by which a telephone calls it."""
        return "tel:" + "".join(self.phone.split())


def members_at_cause(subject: Subject) -> Sequence[str]:
    """Returns the IDs of the members that a cause is at, the FIP of a path first."""
    both = fip_concerned(subject), aa_concerned(subject)
    return [one for one in both if one]


async def callees(tx: Transaction, found: Iterable[StoredIncident]) -> Mapping[str, Callee]:
    """Returns whom to call about each incident, by its ID; none where no one has a telephone."""
    at_cause = {one.incident_id: members_at_cause(one.incident.subject) for one in found}
    among = frozenset(entity_id for ids in at_cause.values() for entity_id in ids)
    if not among:
        return {}
    rows = await MemberSearch(tx).members(MemberFilter(among=among), "", _MAX_MEMBERS)
    known = {row.entity_id: Callee(row.name, row.phone) for row in rows if row.phone}
    return {
        incident_id: known[with_phone[0]]
        for incident_id, ids in at_cause.items()
        if (with_phone := [one for one in ids if one in known])
    }
