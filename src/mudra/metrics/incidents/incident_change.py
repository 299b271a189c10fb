"""What changed about a subject's incidents since the last detection, and the alarm's text."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from mudra.metrics.health.status_history import api_name
from mudra.metrics.incidents.incident import AaCalls, AaReporting, Ending, FipApi, Incident, Subject
from mudra.metrics.rollup.percentage import percentage


class Opened(Struct, frozen=True):
    """A new incident; already over if late windows revealed it."""

    incident: Incident


class Updated(Struct, frozen=True):
    """The same incident with other counts."""

    known: Incident
    incident: Incident


class Closed(Struct, frozen=True):
    """It was open and has ended."""

    known: Incident
    incident: Incident


class Reopened(Struct, frozen=True):
    """It had ended, but late windows show that it continues."""

    known: Incident
    incident: Incident


class Withdrawn(Struct, frozen=True):
    """Late or replaced windows show that there was no incident."""

    known: Incident


Change = Opened | Updated | Closed | Reopened | Withdrawn


class Alarm(Struct, frozen=True):
    """The text of an email or a webhook message; no counts of any third party."""

    title: str
    text: str


def changes(known: Sequence[Incident], found: Sequence[Incident]) -> tuple[Change, ...]:
    """Compares one subject's stored incidents with those detected again over the same time.

    Two are the same incident when their times touch; each is matched once.
    """
    left = sorted(known, key=lambda incident: incident.began)
    changed: list[Change] = []
    for incident in sorted(found, key=lambda incident: incident.began):
        match = next((old for old in left if _touch(old, incident)), None)
        if match is None:
            changed.append(Opened(incident))
            continue
        left.remove(match)
        if match != incident:
            changed.append(_compared(match, incident))
    changed.extend(Withdrawn(old) for old in left)
    return tuple(changed)


def alarm_of(change: Change) -> Alarm | None:
    """Returns the alarm for the members concerned, or None when none is needed."""
    match change:
        case Opened(incident) if incident.ending is Ending.OPEN:
            return Alarm(f"{_name(incident.subject)}: {_trouble(incident)}", _story(incident))
        case Reopened(_, incident):
            return Alarm(f"{_name(incident.subject)}: still {_trouble(incident)}", _story(incident))
        case Closed(_, incident):
            over = "recovered" if incident.ending is Ending.RECOVERED else "no longer heard of"
            return Alarm(f"{_name(incident.subject)}: {over}", _story(incident))
        case Withdrawn(old) if old.ending is Ending.OPEN:
            return Alarm(
                f"{_name(old.subject)}: alarm withdrawn",
                f"Windows that came late show no incident from {_at(old.began)}.",
            )
        case _:
            return None


def _touch(one: Incident, other: Incident) -> bool:
    return (other.ended is None or one.began <= other.ended) and (
        one.ended is None or other.began <= one.ended
    )


def _compared(known: Incident, incident: Incident) -> Change:
    if known.ended is None and incident.ended is not None:
        return Closed(known, incident)
    if known.ended is not None and incident.ended is None:
        return Reopened(known, incident)
    return Updated(known, incident)


def _name(subject: Subject) -> str:
    match subject:
        case FipApi(fip_id, code):
            return f"FIP {fip_id}, {api_name(code)}"
        case AaCalls(aa_id):
            return f"AA {aa_id}, calls to FIPs"
        case AaReporting(aa_id):
            return f"AA {aa_id}, metrics"


def _trouble(incident: Incident) -> str:
    if isinstance(incident.subject, AaReporting):
        return "stopped reporting"
    if not incident.judged:
        return "bad"
    return f"bad, {percentage(incident.succeeded / incident.judged, 1):.1f} % success"


def _story(incident: Incident) -> str:
    windows = f"{incident.bad_windows} window{'s' if incident.bad_windows > 1 else ''}"
    if isinstance(incident.subject, AaReporting):
        lines = [f"{windows} not reported in time since {_at(incident.began)}."]
    else:
        calls = f"{incident.succeeded} of {incident.judged} calls succeeded (4xx not counted)"
        lines = [f"{windows} of ten minutes bad since {_at(incident.began)}: {calls}."]
    match incident.ending:
        case Ending.RECOVERED:
            lines.append(f"Good again from {_at(incident.ended)}.")
        case Ending.NO_DATA:
            lines.append(f"Closed at {_at(incident.ended)} for want of data, not as recovered.")
        case Ending.OPEN:
            lines.append(f"Last {incident.kind} window: {_at(incident.last_bad)}.")
    return "\n".join(lines)


def _at(moment: datetime | None) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if moment else "an unknown time"
