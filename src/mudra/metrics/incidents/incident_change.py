"""The changes of incidents since the last detection."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.incidents.incident import (
    Ending,
    Incident,
    StoredIncident,
    Subject,
    TimelineChange,
    TimelineEntry,
)
from mudra.metrics.incidents.subject import aa_concerned, fip_concerned
from mudra.metrics.payload.catalogue import WINDOW

_OF_LATE_REPORTS: Final = frozenset({TimelineChange.WITHDRAWN, TimelineChange.CORRECTED})


class Opened(Struct, frozen=True):
    """A new incident; already over if late windows revealed it."""

    incident: Incident


class Updated(Struct, frozen=True):
    """The same incident with other counts."""

    known: Incident
    incident: Incident


class Moved(Struct, frozen=True):
    """It goes on, but its cause turned out to be another one."""

    known: Incident
    incident: Incident


class Closed(Struct, frozen=True):
    """It was open and has ended."""

    known: Incident
    incident: Incident


class Reopened(Struct, frozen=True):
    """It had ended, but goes on, or late windows show that it did."""

    known: Incident
    incident: Incident


class Withdrawn(Struct, frozen=True):
    """Late or replaced windows show that there was no incident."""

    known: Incident
    incident: Incident


class Elsewhere(Struct, frozen=True):
    """It goes on as `incident`, with a cause that does not concern all who know it as `known`."""

    known: Incident
    incident: Incident


Change = Opened | Updated | Moved | Closed | Reopened | Withdrawn


class FoundIncident(Struct, frozen=True):
    """An incident as it was detected, with the ID that it has or would get."""

    incident_id: str
    incident: Incident


def same_incidents(
    known: Sequence[StoredIncident], found: Sequence[FoundIncident]
) -> Mapping[str, str]:
    """Returns which found incidents are known under another ID, by the ID that they have now.

    Windows evaluated again may open an incident earlier or later than before. Two are the same
    when they have their ID, or else when their times touch and they share their cause, or at
    least a FIP or AA; each is matched once.
    """
    ids = {one.incident_id for one in found}
    left = [one for one in known if one.incident_id not in ids]
    known_ids = {one.incident_id for one in known}
    fresh = [one for one in found if one.incident_id not in known_ids]
    matched: dict[str, str] = {}
    for alike in (_same_subject, _shares_member):
        for one in fresh:
            if one.incident_id in matched:
                continue
            twin = next(
                (old for old in left if _touch(old.incident, one.incident)
                 and old.incident.refused == one.incident.refused
                 and alike(old.incident.subject, one.incident.subject)),
                None,
            )  # fmt: skip
            if twin is not None:
                left.remove(twin)
                matched[one.incident_id] = twin.incident_id
    return matched


def change_of(known: Incident | None, incident: Incident) -> Change | None:
    """Compares an incident with what is stored of it; None for no change."""
    if known is None:
        return Opened(incident)
    if known == incident:
        return None
    if known.ended is None and incident.ended is not None:
        return Closed(known, incident)
    if known.ended is not None and incident.ended is None:
        return Reopened(known, incident)
    if incident.ended is None and known.subject != incident.subject:
        return Moved(known, incident)
    return Updated(known, incident)


def with_corrections(known: Incident, found: Incident, window: datetime) -> Incident:
    """Returns an incident found again with what late reports changed about it in its history.

    Windows evaluated again have a history of their own: without its corrections, an incident that
    was reported as another cause would seem to have been this one from the beginning. `window`
    is the last one that was evaluated.
    """
    kept = [one for one in known.timeline if one.change in _OF_LATE_REPORTS]
    seen = tuple(one for one in known.timeline if one.change not in _OF_LATE_REPORTS)
    revived = known.ending is Ending.WITHDRAWN
    if revived or (known.subject != found.subject and found.timeline[: len(seen)] != seen):
        change = TimelineChange.CORRECTED
        kept.append(TimelineEntry(window, change, found.subject, before=known.subject))
    if not kept:
        return found
    timeline = sorted((*found.timeline, *kept), key=lambda one: one.window)
    return replace(found, timeline=tuple(timeline))


def withdrawn(known: Incident, window: datetime) -> Withdrawn:
    """Returns the change of an incident that the windows, evaluated again, do not show.

    `window` is the last one that was evaluated.
    """
    entry = TimelineEntry(window, TimelineChange.WITHDRAWN, known.subject)
    gone = replace(
        known,
        ended=known.ended or known.last_bad + WINDOW,
        ending=Ending.WITHDRAWN,
        timeline=(*known.timeline, entry),
    )
    return Withdrawn(known, gone)


def _same_subject(one: Subject, other: Subject) -> bool:
    return one == other


def _shares_member(one: Subject, other: Subject) -> bool:
    fip, aa = fip_concerned(one), aa_concerned(one)
    return (fip is not None and fip == fip_concerned(other)) or (
        aa is not None and aa == aa_concerned(other)
    )


def _touch(one: Incident, other: Incident) -> bool:
    return (other.ended is None or one.began <= other.ended) and (
        one.ended is None or other.began <= one.ended
    )
