"""Escalation: who hears of incidents that no one has acknowledged for some time (decision 0041).

Those whom a setting names; where it names no one, the operators who want alarms of the network,
by their own severity, APIs and quiet hours.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext
from mudra.metrics.incidents.explanation import cause_text
from mudra.metrics.incidents.incident import Incident, StoredIncident
from mudra.metrics.incidents.silence import Silence, is_silenced
from mudra.metrics.incidents.subject import NO_NAMES, Names, apis_of
from mudra.metrics.notifications.alarm import symptom_text, time_text, title_of
from mudra.metrics.notifications.alarm_mail import SEPARATOR, PersonalAlarm, Reader
from mudra.metrics.notifications.preferences import quiet_end
from mudra.metrics.notifications.severity import Severity, severity_of

MAX_LISTED: Final = 20
"""In one email; a storm is one email, not one for each incident."""


class Escalation(Struct, frozen=True):
    """After how long an incident is escalated, and to which addresses; none for operators."""

    after: timedelta = timedelta(minutes=30)
    to: tuple[str, ...] = ()


def to_escalate(
    open_: Sequence[StoredIncident], silences: Sequence[Silence], rule: Escalation, now: datetime
) -> Sequence[StoredIncident]:
    """Returns those that its readers know of for so long and no one has taken, closed or silenced.

    `silences` are also those that ended within that time: an alarm may have come with their end.
    """
    return [
        one
        for one in open_
        if one.incident.ended is None
        and not one.closed_by_hand
        and one.notified
        and one.acknowledged_by is None
        and one.escalated_at is None
        and _heard_since(one.incident, silences, now) <= now - rule.after
        and not is_silenced(one.incident.subject, silences, now)
    ]


def _heard_since(incident: Incident, silences: Sequence[Silence], now: datetime) -> datetime:
    """Returns since when no silence has kept anyone from hearing of an incident."""
    ends = (one.ends for one in silences if one.has_time and one.is_about(incident.subject))
    return max([incident.detected, *(at for at in ends if at <= now)])


def hears_of(reader: Reader, one: StoredIncident, now: datetime) -> bool:
    """Returns whether an operator hears now that an incident has no owner."""
    severity, least = severity_of(one.incident), reader.least("")
    preferences = reader.preferences
    return (
        least is not None
        and severity.at_least(least)
        and preferences.wants(apis_of(one.incident))
        and (quiet_end(preferences, now) is None or preferences.is_woken_by(severity))
    )


def escalation_facts(
    incidents: Sequence[StoredIncident],
    now: datetime,
    zone: tzinfo,
    console: str,
    names: Names = NO_NAMES,
    *,
    is_named: bool = False,
) -> dict[str, str]:
    """Returns the facts of the one email about all of them, times in the reader's zone.

    The worst is the first. One alone is where the link leads. Of several, the minutes are of the
    one that has had no owner for the shortest time: they are true of all.
    """
    order = list(Severity)
    escalated = sorted(
        incidents, key=lambda one: order.index(severity_of(one.incident)), reverse=True
    )
    pages = [f"{console}/operator/incidents/{one.incident_id}" for one in escalated[:MAX_LISTED]]
    lines = [_line(one.incident, zone, names) for one in escalated[:MAX_LISTED]]
    more = len(escalated) - MAX_LISTED
    return {
        "number": str(len(escalated)),
        "worst": title_of(escalated[0].incident, names),
        "severity": severity_of(escalated[0].incident).value,
        "pages": SEPARATOR.join(pages),
        "named": "yes" if is_named else "",
        "incidents": SEPARATOR.join(
            [*lines, *([gettext("and %(count)s more", count=more)] if more > 0 else [])]
        ),
        "minutes": str(min(_minutes_without_owner(one, now) for one in incidents)),
        "link": pages[0] if len(pages) == 1 else f"{console}/operator/board",
    }


def unowned(
    one: StoredIncident, now: datetime, zone: tzinfo, names: Names = NO_NAMES
) -> PersonalAlarm:
    """Returns the message to an operator's own webhook about an incident without an owner."""
    minutes = _minutes_without_owner(one, now)
    wrong = title_of(one.incident, names)
    title = gettext("No owner for %(minutes)s minutes: %(title)s", minutes=minutes, title=wrong)
    severity = severity_of(one.incident)
    return PersonalAlarm(one.incident_id, "", severity, title, _line(one.incident, zone, names))


def _minutes_without_owner(one: StoredIncident, now: datetime) -> int:
    """Returns the whole minutes since it was detected, or since its owner gave it up."""
    since = max(one.incident.detected, one.acknowledged_at or one.incident.detected)
    return int((now - since).total_seconds() // 60)


def _line(incident: Incident, zone: tzinfo, names: Names) -> str:
    return gettext(
        "%(cause)s: %(symptom)s, since %(began)s, detected at %(detected)s",
        cause=cause_text(incident, names),
        symptom=symptom_text(incident),
        began=time_text(incident.began, zone),
        detected=time_text(incident.detected, zone),
    )
