"""Decides which notifications a change of an incident causes, given the active silences."""

import enum
from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct

from mudra.metrics.incidents.incident import Incident, StoredIncident
from mudra.metrics.incidents.incident_change import (
    Alarm,
    Change,
    Closed,
    Opened,
    Reopened,
    Updated,
    Withdrawn,
    alarm_of,
)
from mudra.metrics.incidents.silence import Silence, is_silenced


class Event(enum.StrEnum):
    """The `type` of a webhook message."""

    OPENED = "incident.opened"
    REOPENED = "incident.reopened"
    CLOSED = "incident.closed"
    WITHDRAWN = "incident.withdrawn"


class IncidentNotification(Struct, frozen=True):
    """A change to store; `alarm` is what to send about it now, None for nothing.

    `notified` is true when the incident's members were notified, or need not be.
    """

    incident_id: str
    change: Change
    notified: bool
    alarm: Alarm | None = None

    @property
    def incident(self) -> Incident:
        """The incident as it is now, or was before it was withdrawn."""
        return incident_of(self.change)

    @property
    def event(self) -> Event | None:
        """The event for webhooks; None for a change that is never sent."""
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

    @property
    def silenced(self) -> bool:
        """True when a silence suppresses an alarm that would have been sent."""
        return self.alarm is None and alarm_of(self.change) is not None


def incident_notifications(
    changes: Sequence[Change],
    known: Sequence[StoredIncident],
    silences: Sequence[Silence],
    now: datetime,
    new_id: Callable[[], str],
) -> tuple[IncidentNotification, ...]:
    """Returns a notification for each change, and for open incidents with an ended silence."""
    before = {stored.incident: stored for stored in known}
    notifications = [_notification(change, before, silences, now, new_id) for change in changes]
    changed = {one.incident_id for one in notifications}
    resumed = [
        IncidentNotification(
            stored.incident_id,
            Opened(stored.incident),
            notified=True,
            alarm=alarm_of(Opened(stored.incident)),
        )
        for stored in known
        if not stored.notified
        and stored.incident.ended is None
        and stored.incident_id not in changed
        and not is_silenced(stored.incident.subject, silences, now)
    ]
    return (*notifications, *resumed)


def incident_of(change: Change) -> Incident:
    """Returns the incident of a change as it is now, or was before it was withdrawn."""
    return change.known if isinstance(change, Withdrawn) else change.incident


def _notification(
    change: Change,
    before: dict[Incident, StoredIncident],
    silences: Sequence[Silence],
    now: datetime,
    new_id: Callable[[], str],
) -> IncidentNotification:
    previous = None if isinstance(change, Opened) else before[change.known]
    incident_id = previous.incident_id if previous else new_id()
    was_notified = previous.notified if previous else True
    alarm = alarm_of(change)
    if alarm is None:
        return IncidentNotification(incident_id, change, notified=was_notified)
    silenced = is_silenced(incident_of(change).subject, silences, now)
    if isinstance(change, Opened | Reopened):
        return IncidentNotification(
            incident_id, change, notified=not silenced, alarm=None if silenced else alarm
        )
    # The end of an incident is sent only if its beginning was.
    return IncidentNotification(
        incident_id,
        change,
        notified=was_notified,
        alarm=alarm if was_notified and not silenced else None,
    )
