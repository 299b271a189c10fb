"""Escalation: who hears of incidents that no one has acknowledged for some time."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.metrics.incidents.explanation import cause_text
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.silence import Silence, is_silenced

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


def escalation_facts(escalated: Sequence[StoredIncident], rule: Escalation) -> dict[str, str]:
    """Returns the facts of the one email about all of them."""
    titles = [cause_text(one.incident) for one in escalated]
    more = len(titles) - MAX_LISTED
    listed = "; ".join(titles[:MAX_LISTED]) + (f"; and {more} more" if more > 0 else "")
    minutes = str(round(rule.after.total_seconds() / 60))
    return {"number": str(len(titles)), "incidents": listed, "minutes": minutes}
