"""Decides which notifications a change of an incident causes, given the active silences."""

import enum
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.incidents.explanation import AtOnce
from mudra.metrics.incidents.incident import Incident, StoredIncident
from mudra.metrics.incidents.incident_change import (
    Change,
    Closed,
    Elsewhere,
    Moved,
    Opened,
    Reopened,
    Updated,
    Withdrawn,
)
from mudra.metrics.incidents.silence import Silence, is_silenced
from mudra.metrics.incidents.subject import apis_of, fip_concerned, readers_of
from mudra.metrics.notifications.alarm import Alarm, alarm_of
from mudra.metrics.notifications.severity import severity_of


class Event(enum.StrEnum):
    """The `type` of a webhook message."""

    OPENED = "incident.opened"
    REOPENED = "incident.reopened"
    MOVED = "incident.moved"
    CLOSED = "incident.closed"
    WITHDRAWN = "incident.withdrawn"


class Announcement(Struct, frozen=True):
    """The message to some readers about a change of an incident."""

    change: Change | Elsewhere
    alarm: Alarm
    readers: tuple[str, ...] = ()
    """Members."""
    to_network: bool = False
    """Also for operators."""
    fip_id: str | None = None
    """Also for FIUs that name this FIP."""
    is_worse: bool = False
    """For people alone who have heard nothing: it is now as severe, or of an API, as they want."""

    @property
    def incident(self) -> Incident:
        """Return the incident as these readers know it."""
        return self.change.known if isinstance(self.change, Elsewhere) else self.change.incident

    @property
    def is_over(self) -> bool:
        """Return whether it is over for these readers."""
        return isinstance(self.change, Closed | Withdrawn | Elsewhere)

    @property
    def event(self) -> Event:
        """The event for webhooks."""
        match self.change:
            case Opened() | Updated():
                return Event.OPENED
            case Reopened():
                return Event.REOPENED
            case Moved():
                return Event.MOVED
            case Closed() | Elsewhere():
                return Event.CLOSED
            case Withdrawn():
                return Event.WITHDRAWN


class IncidentNotification(Struct, frozen=True):
    """A change to store, and what to send about it now.

    `notified` is true when the incident's members were notified, or need not be; `recipients` are
    the members that know of it now, and get its end.
    """

    incident_id: str
    change: Change
    notified: bool
    announcements: tuple[Announcement, ...] = ()
    recipients: tuple[str, ...] = ()
    silenced: bool = False
    """A silence suppresses what would have been sent."""
    at_once: AtOnce | None = None
    """The FIPs that fell at once, if it is one of them."""

    @property
    def incident(self) -> Incident:
        """The incident as it is now, also one that is withdrawn."""
        return self.change.incident

    @property
    def alarm(self) -> Alarm | None:
        """Return what operators get; None for nothing."""
        sent = (one.alarm for one in self.announcements if one.to_network and not one.is_worse)
        return next(sent, None)


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
    current = {one.incident_id: one for one in notifications}
    resumed = [
        _resumed(stored, current[stored.incident_id].incident)
        if stored.incident_id in current
        else _resumed(stored, stored.incident)
        for stored in known
        if not stored.notified
        and (stored.incident_id not in current or not current[stored.incident_id].announcements)
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
    change = Reopened(stored.incident, incident) if stored.recipients else Opened(incident)
    return _sent(stored.incident_id, change, stored)


def _notification(
    incident_id: str,
    change: Change,
    previous: StoredIncident | None,
    silences: Sequence[Silence],
    now: datetime,
) -> IncidentNotification:
    was_notified = previous.notified if previous else True
    recipients = previous.recipients if previous else ()
    incident = change.incident
    begins = isinstance(change, Opened | Reopened)
    if (begins or was_notified) and (
        incident.ended is not None or not is_silenced(incident.subject, silences, now)
    ):  # a silence ends no alarm: who knows of the beginning gets the end
        return _sent(incident_id, change, previous)
    return IncidentNotification(
        incident_id,
        change,
        notified=was_notified and not begins,
        recipients=recipients,
        silenced=alarm_of(change) is not None,
    )


def _sent(
    incident_id: str, change: Change, previous: StoredIncident | None
) -> IncidentNotification:
    """Returns what each reader gets.

    Those whom it concerns from now on get an opening, and after a move those whom it does not
    concern any more an end.
    """
    incident = change.incident
    recipients = previous.recipients if previous else ()
    concerned = readers_of(incident.subject, incident.cause.affected_aas)
    if isinstance(change, Reopened) and concerned and not recipients:
        change = Opened(incident)  # to those who heard nothing of it
    leaving: tuple[str, ...] = ()
    joining: tuple[str, ...] = ()
    if incident.ended is None:
        joining = tuple(one for one in concerned if one not in recipients)
    if isinstance(change, Moved):
        leaving = tuple(one for one in recipients if one not in concerned)
    staying = tuple(one for one in recipients if one not in leaving)
    return IncidentNotification(
        incident_id,
        change,
        notified=True,
        announcements=_announcements(change, staying, joining, leaving),
        recipients=(*staying, *joining),
    )


def _announcements(
    change: Change, staying: tuple[str, ...], joining: tuple[str, ...], leaving: tuple[str, ...]
) -> tuple[Announcement, ...]:
    fip = fip_concerned(change.incident.subject)
    if isinstance(change, Opened):
        return _announced(change, joining, to_network=True, fip_id=fip)
    opened = Opened(change.incident)
    if isinstance(change, Updated) and _is_worse(change):
        worse = (
            replace(one, is_worse=True) for one in _announced(opened, staying, to_network=True)
        )
        return (*_announced(opened, joining), *worse)
    if not isinstance(change, Moved):
        return (
            *_announced(change, staying, to_network=True, fip_id=fip),
            *_announced(opened, joining),
        )
    before = fip_concerned(change.known.subject)
    elsewhere = Elsewhere(change.known, change.incident)
    if before == fip:
        return (
            *_announced(change, staying, to_network=True, fip_id=fip),
            *_announced(opened, joining),
            *_announced(elsewhere, leaving),
        )
    return (
        *_announced(change, staying, to_network=True),
        *_announced(opened, joining, fip_id=fip),
        *_announced(elsewhere, leaving, fip_id=before),
    )


def _is_worse(change: Updated) -> bool:
    before, now = severity_of(change.known), severity_of(change.incident)
    more = apis_of(change.incident) - apis_of(change.known)
    return change.incident.ended is None and (bool(more) or not before.at_least(now))


def _announced(
    change: Change | Elsewhere,
    readers: tuple[str, ...],
    *,
    to_network: bool = False,
    fip_id: str | None = None,
) -> tuple[Announcement, ...]:
    alarm = alarm_of(change)
    if alarm is None or not (readers or to_network or fip_id):
        return ()
    return (Announcement(change, alarm, readers, to_network, fip_id),)
