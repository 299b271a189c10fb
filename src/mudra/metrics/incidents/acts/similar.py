"""Incidents of the same member that are like one, with what people wrote about them. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from mudra.metrics.incidents.acts.act import Act
from mudra.metrics.incidents.incident import NO_CAUSES, StoredIncident
from mudra.metrics.incidents.subject import aa_concerned, apis_of, fip_concerned

MAX_SIMILAR: Final = 5
MAX_SEARCHED: Final = 200
"""The latest incidents of a member among which similar ones are looked for."""


class Similar(Struct, frozen=True):
    """An incident that is like another one; `note` is what people wrote last about it."""

    stored: StoredIncident
    note: Act | None = None


def similar_to(
    stored: StoredIncident, others: Iterable[StoredIncident], notes: Mapping[str, Act]
) -> Sequence[Similar]:
    """Returns those at the same member with a common symptom, the most alike and newest first.

    More alike are incidents of the same APIs at the same place. `notes` are by incident ID.
    """
    found = [one for one in others if _is_similar(stored, one)]
    found.sort(key=lambda one: (_likeness(stored, one), one.incident.began), reverse=True)
    return [Similar(one, notes.get(one.incident_id)) for one in found[:MAX_SIMILAR]]


def _is_similar(stored: StoredIncident, other: StoredIncident) -> bool:
    if other.incident_id == stored.incident_id or other.incident.ending in NO_CAUSES:
        return False
    symptoms = set(stored.incident.cause.symptoms) & set(other.incident.cause.symptoms)
    return bool(symptoms) and bool(_at(stored) & _at(other))


def _at(stored: StoredIncident) -> set[str]:
    subject = stored.incident.subject
    return {one for one in (aa_concerned(subject), fip_concerned(subject)) if one}


def _likeness(stored: StoredIncident, other: StoredIncident) -> tuple[bool, float]:
    """Returns whether both are at the same kind of place, and the share of their APIs in common."""
    mine, its = apis_of(stored.incident), apis_of(other.incident)
    share = len(mine & its) / len(mine | its) if mine | its else 1.0
    return type(stored.incident.subject) is type(other.incident.subject), share
