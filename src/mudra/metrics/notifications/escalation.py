"""Escalation: who hears of incidents that no one has acknowledged for some time."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext
from mudra.metrics.incidents.explanation import cause_text
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.silence import Silence, is_silenced
from mudra.metrics.notifications.alarm import symptom_text, time_text
from mudra.metrics.notifications.alarm_mail import SEPARATOR

MAX_LISTED: Final = 20
"""In one email; a storm is one email, not one for each incident."""


class Escalation(Struct, frozen=True):
    """After how long an incident is escalated, and to which addresses; by default to none."""

    after: timedelta = timedelta(minutes=30)
    to: tuple[str, ...] = ()


def to_escalate(
    open_: Sequence[StoredIncident], silences: Sequence[Silence], rule: Escalation, now: datetime
) -> Sequence[StoredIncident]:
    """Returns those that its readers know of and no one has taken, nor silenced since."""
    return [
        one
        for one in open_
        if one.incident.ended is None
        and one.notified
        and one.acknowledged_by is None
        and one.escalated_at is None
        and one.incident.detected <= now - rule.after
        and not is_silenced(one.incident.subject, silences, now)
    ]


def escalation_facts(
    escalated: Sequence[StoredIncident], rule: Escalation, zone: tzinfo, console: str
) -> dict[str, str]:
    """Returns the facts of the one email about all of them, times in the reader's zone and UTC."""
    lines = [
        gettext(
            "%(cause)s: %(symptom)s, since %(began)s, detected at %(detected)s",
            cause=cause_text(one.incident),
            symptom=symptom_text(one.incident),
            began=time_text(one.incident.began, zone),
            detected=time_text(one.incident.detected, zone),
        )
        for one in escalated[:MAX_LISTED]
    ]
    more = len(escalated) - MAX_LISTED
    return {
        "number": str(len(escalated)),
        "incidents": SEPARATOR.join(
            [*lines, *([gettext("and %(count)s more", count=more)] if more > 0 else [])]
        ),
        "minutes": str(round(rule.after.total_seconds() / 60)),
        "link": f"{console}/operator/incidents?open=true",
    }
