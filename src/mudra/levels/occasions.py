"""Incidents and planned maintenances of a period, by whom they can concern."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from mudra.levels.spans import Member
from mudra.metrics.incidents.incident import Fip, FipApi, Path, StoredIncident, Subject
from mudra.metrics.incidents.silence import Silence
from mudra.shared.entity_type import EntityType


class Occasions(Struct, frozen=True):
    """Looked up by member: a nation has thousands, of which a FIP's report needs a few."""

    incidents: Mapping[str, Sequence[StoredIncident]]
    """By the FIP that they are about; without one those of AAs and of the network."""
    maintenances: Mapping[str, Sequence[Silence]]
    """The same."""

    @classmethod
    def of(
        cls,
        incidents: Iterable[StoredIncident],
        maintenances: Iterable[Silence],
        roles: Mapping[str, EntityType],
    ) -> "Occasions":
        """Returns all of a period; maintenance of a FIU is no matter of service levels."""
        by_fip = defaultdict[str, list[StoredIncident]](list)
        for one in incidents:
            by_fip[_fip_of(one.incident.subject)].append(one)
        planned = defaultdict[str, list[Silence]](list)
        for silence in maintenances:
            role = roles.get(silence.entity_id, EntityType.FIU)
            if role is not EntityType.FIU:
                planned[silence.entity_id if role is EntityType.FIP else ""].append(silence)
        return cls(by_fip, planned)

    def incidents_of(self, member: Member) -> Sequence[StoredIncident]:
        """Returns those that can concern a member: all for an AA, which calls every FIP."""
        if member.role is EntityType.FIP:
            return [*self.incidents.get("", ()), *self.incidents.get(member.entity_id, ())]
        return [one for found in self.incidents.values() for one in found]

    def maintenances_of(self, member: Member) -> Sequence[Silence]:
        """Returns the member's own, and what members announced that it exchanges calls with."""
        if member.role is EntityType.FIP:
            return [*self.maintenances.get("", ()), *self.maintenances.get(member.entity_id, ())]
        return [
            one
            for fip_id, found in self.maintenances.items()
            for one in found
            if fip_id or one.entity_id == member.entity_id
        ]


def _fip_of(subject: Subject) -> str:
    match subject:
        case Fip(fip_id) | FipApi(fip_id, _) | Path(_, fip_id):
            return fip_id
        case _:
            return ""
