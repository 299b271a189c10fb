"""What to keep and whom to wake, given what changed about incidents and what is silenced."""

import enum
from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct

from mudra.metrics.incidents.incident import Incident
from mudra.metrics.incidents.incident_change import (
    Alarm,
    Change,
    Closed,
    Opened,
    Reopened,
    Updated,
    Withdrawn,
    alarm,
)
from mudra.metrics.incidents.silence import Silence, silent


class StoredIncident(Struct, frozen=True):
    """An incident as it is kept, with what people did about it.

    `told` is whether those concerned were woken, or nobody was to be.
    """

    incident_id: str
    incident: Incident
    acknowledged_by: str | None
    told: bool = True
    acknowledged_at: datetime | None = None

    @property
    def owner(self) -> str:
        """Who acknowledged it, as people name that person; empty for nobody."""
        return (self.acknowledged_by or "").removeprefix("operator:")


class Event(enum.StrEnum):
    """What a webhook says has happened."""

    OPENED = "incident.opened"
    REOPENED = "incident.reopened"
    CLOSED = "incident.closed"
    WITHDRAWN = "incident.withdrawn"


class IncidentNotification(Struct, frozen=True):
    """A change to keep; `alarm` is for those concerned, when they are to be woken now."""

    incident_id: str
    change: Change
    told: bool
    alarm: Alarm | None = None

    @property
    def incident(self) -> Incident:
        """The incident as it is now, or was before it was withdrawn."""
        return incident_of(self.change)

    @property
    def event(self) -> Event | None:
        """The word for webhooks; None for what nobody is told."""
        match self.change:
            case Opened():
                return Event.OPENED
            case Reopened():
                return Event.REOPENED
            case Closed():
                return Event.CLOSED
            case Withdrawn():
                return Event.WITHDRAWN
            case Updated():
                return None


def incident_notifications(
    changed: Sequence[Change],
    known: Sequence[StoredIncident],
    silences: Sequence[Silence],
    now: datetime,
    new_id: Callable[[], str],
) -> tuple[IncidentNotification, ...]:
    """Say of each change whom it wakes; and of open incidents whose silence has ended."""
    before = {one.incident: one for one in known}
    told = [_notification(change, before, silences, now, new_id) for change in changed]
    touched = {one.incident_id for one in told}
    owed = [
        IncidentNotification(
            one.incident_id, Opened(one.incident), told=True, alarm=alarm(Opened(one.incident))
        )
        for one in known
        if not one.told
        and one.incident.ended is None
        and one.incident_id not in touched
        and not silent(one.incident.subject, silences, now)
    ]
    return (*told, *owed)


def incident_of(change: Change) -> Incident:
    """Give the incident of a change as it is now, or was before it was withdrawn."""
    return change.known if isinstance(change, Withdrawn) else change.incident


def _notification(
    change: Change,
    before: dict[Incident, StoredIncident],
    silences: Sequence[Silence],
    now: datetime,
    new_id: Callable[[], str],
) -> IncidentNotification:
    old = None if isinstance(change, Opened) else before[change.known]
    incident_id = old.incident_id if old else new_id()
    was_told = old.told if old else True
    words = alarm(change)
    if words is None:
        return IncidentNotification(incident_id, change, told=was_told)
    quiet = silent(incident_of(change).subject, silences, now)
    if isinstance(change, Opened | Reopened):
        return IncidentNotification(
            incident_id, change, told=not quiet, alarm=None if quiet else words
        )
    # Nobody hears of the end of what nobody was told of.
    return IncidentNotification(
        incident_id, change, told=was_told, alarm=words if was_told and not quiet else None
    )
