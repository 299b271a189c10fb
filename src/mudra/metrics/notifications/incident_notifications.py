"""Decides which notifications a change of an incident causes, given the active silences."""

import enum
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from mudra.metrics.incidents.incident import Incident, StoredIncident
from mudra.metrics.incidents.incident_change import (
    Change,
    Closed,
    Moved,
    Opened,
    Reopened,
    Updated,
    Withdrawn,
)
from mudra.metrics.incidents.silence import Silence, is_silenced
from mudra.metrics.incidents.subject import readers_of
from mudra.metrics.notifications.alarm import Alarm, alarm_of


class Event(enum.StrEnum):
    """The `type` of a webhook message."""

    OPENED = "incident.opened"
    REOPENED = "incident.reopened"
    MOVED = "incident.moved"
    CLOSED = "incident.closed"
    WITHDRAWN = "incident.withdrawn"


class IncidentNotification(Struct, frozen=True):
    """A change to store; `alarm` is what to send about it now, None for nothing.

    `notified` is true when the incident's members were notified, or need not be; `recipients` are
    all members that were notified so far, including now.
    """

    incident_id: str
    change: Change
    notified: bool
    alarm: Alarm | None = None
    readers: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()

    @property
    def incident(self) -> Incident:
        """The incident as it is now, also one that is withdrawn."""
        return self.change.incident

    @property
    def event(self) -> Event | None:
        """The event for webhooks; None for a change that is never sent."""
        match self.change:
            case Opened():
                return Event.OPENED
            case Reopened():
                return Event.REOPENED
            case Moved():
                return Event.MOVED
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
    changes: Mapping[str, Change],
    known: Sequence[StoredIncident],
    silences: Sequence[Silence],
    now: datetime,
) -> tuple[IncidentNotification, ...]:
    """Returns a notification for each change, by ID, and for incidents with an ended silence."""
    before = {stored.incident_id: stored for stored in known}
    notifications = [
        _notification(incident_id, change, before.get(incident_id), silences, now)
        for incident_id, change in changes.items()
    ]
    sent = {one.incident_id for one in notifications if one.alarm is not None}
    current = {one.incident_id: one.incident for one in notifications}
    resumed = [
        _resumed(stored, current.get(stored.incident_id, stored.incident))
        for stored in known
        if not stored.notified and stored.incident_id not in sent
    ]
    return (
        *notifications,
        *(
            one
            for one in resumed
            if one.incident.ended is None and not is_silenced(one.incident.subject, silences, now)
        ),
    )


def _resumed(stored: StoredIncident, incident: Incident) -> IncidentNotification:
    readers = readers_of(incident.subject, incident.cause.affected_aas)
    change = Opened(incident)
    return IncidentNotification(
        stored.incident_id,
        change,
        notified=True,
        alarm=alarm_of(change),
        readers=readers,
        recipients=_joined(stored.recipients, readers),
    )


def _notification(
    incident_id: str,
    change: Change,
    previous: StoredIncident | None,
    silences: Sequence[Silence],
    now: datetime,
) -> IncidentNotification:
    was_notified = previous.notified if previous else True
    recipients = previous.recipients if previous else ()
    alarm = alarm_of(change)
    incident = change.incident
    if alarm is None:
        return IncidentNotification(incident_id, change, was_notified, recipients=recipients)
    silenced = is_silenced(incident.subject, silences, now)
    begins = isinstance(change, Opened | Reopened)
    if silenced or not (begins or was_notified):  # the rest is sent only if the beginning was
        notified = was_notified and not begins
        return IncidentNotification(incident_id, change, notified, recipients=recipients)
    readers = recipients
    if begins or isinstance(change, Moved):
        readers = _joined(recipients, readers_of(incident.subject, incident.cause.affected_aas))
    return IncidentNotification(
        incident_id, change, notified=True, alarm=alarm, readers=readers, recipients=readers
    )


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*second, *first)))
