"""The text of an email or a webhook message about a change of an incident."""

from datetime import UTC, datetime, tzinfo
from typing import Final

from msgspec import Struct

from mudra.metrics.incidents.incident import (
    AaReporting,
    Ending,
    Incident,
    Subject,
    Symptom,
    TimelineChange,
    seen_at,
)
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
from mudra.metrics.incidents.subject import in_sentence, text_of
from mudra.metrics.rollup.percentage import failing_text

_SYMPTOMS: Final = {
    Symptom.FAILURES: "calls failing",
    Symptom.SLOW: "calls slow",
    Symptom.TAIL: "slowest calls much slower",
    Symptom.CLIENT_ERRORS: "requests refused (4xx)",
    Symptom.OUTCOMES: "FI requests ending without data",
    Symptom.MISSING: "notifications missing",
}
_CHANGES: Final = {
    TimelineChange.GREW: "another symptom",
    TimelineChange.SHRANK: "fewer symptoms",
    TimelineChange.MOVED: "the same cause after all",
    TimelineChange.MERGED: "merged into another incident with the same cause",
    TimelineChange.CLOSED: "recovered",
    TimelineChange.NO_DATA: "closed because no data came",
    TimelineChange.WITHDRAWN: "withdrawn: late reports show that there was no incident",
    TimelineChange.CORRECTED: "late reports show that there was an incident after all",
}
_COUNTED: Final = {
    Symptom.FAILURES: "calls failed",
    Symptom.SLOW: "calls were slow",
    Symptom.TAIL: "calls took far longer than the usual p95",
    Symptom.CLIENT_ERRORS: "requests were refused (4xx)",
    Symptom.OUTCOMES: "FI requests ended without data",
    Symptom.MISSING: "notifications did not come",
}


class Alarm(Struct, frozen=True):
    """A title and a text; neither has counts of any third party alone."""

    title: str
    text: str


def alarm_of(change: Change | Elsewhere, zone: tzinfo = UTC) -> Alarm | None:
    """Returns the alarm for the members concerned, or None when none is needed.

    Its times are in the reader's zone, and in UTC.
    """
    match change:
        case Opened(incident) if incident.ended is None:
            return Alarm(
                f"{text_of(incident.subject)}: {symptom_text(incident)}", _timeline(incident, zone)
            )
        case Reopened(_, incident):
            title = f"{text_of(incident.subject)}: again {symptom_text(incident)}"
            return Alarm(title, _timeline(incident, zone))
        case Moved(known, incident):
            title = f"{text_of(incident.subject)}: {symptom_text(incident)}"
            was = f"Reported before as {text_of(known.subject)}; the cause is now known better."
            return Alarm(title, f"{was}\n{_timeline(incident, zone)}")
        case Closed(_, incident):
            return Alarm(
                f"{text_of(incident.subject)}: {_over(incident)}", _timeline(incident, zone)
            )
        case Withdrawn(known, _) if known.ended is None:
            return Alarm(
                f"{text_of(known.subject)}: alarm withdrawn",
                f"Reports that came late or were replaced show no incident from"
                f" {time_text(known.began, zone)}.",
            )
        case Elsewhere(known, _):
            return Alarm(
                f"{text_of(known.subject)}: over for you",
                f"Bad since {time_text(known.began, zone)}. What goes on has another cause, which"
                " does not concern you: you get no more alarms about it.",
            )
        case Opened() | Updated() | Withdrawn():
            return None


def symptom_text(incident: Incident) -> str:
    """Returns what is wrong, such as "60 % of calls failing"."""
    if isinstance(incident.subject, AaReporting):
        return "stopped reporting"
    first = _first(incident)
    if first is Symptom.FAILURES and incident.eligible:
        return f"{failing_text(incident.succeeded, incident.eligible)} of calls failing"
    return _SYMPTOMS[first]


def counted_text(incident: Incident) -> str:
    """Returns what was counted in the last bad window, such as "120 of 200 calls failed; …"."""
    if isinstance(incident.subject, AaReporting):
        return ""
    cause = incident.cause
    return (
        f"{cause.failures} of {cause.calls} {_COUNTED[_first(incident)]};"
        f" {cause.expected:.0f} would be usual"
    )


def ambiguity(incident: Incident) -> str:
    """Returns what the evidence does not separate; empty when the cause is certain."""
    others = incident.cause.ambiguous_with
    if not others:
        return ""
    names = " or ".join(map(in_sentence, (incident.subject, *others)))
    why = " Only one AA has traffic." if len(incident.cause.affected_aas) == 1 else ""
    return f"The evidence fits {names} equally well.{why}"


def _first(incident: Incident) -> Symptom:
    """The symptom to name: failures before times, times before the rest."""
    return next(one for one in _SYMPTOMS if one in incident.cause.symptoms)


def _over(incident: Incident) -> str:
    match incident.ending:
        case Ending.NO_DATA:
            return "no longer heard of"
        case Ending.MERGED:
            return "part of another incident"
        case _:
            return "recovered"


def _timeline(incident: Incident, zone: tzinfo) -> str:
    windows = f"{incident.bad_windows} window{'s' if incident.bad_windows > 1 else ''}"
    if isinstance(incident.subject, AaReporting):
        lines = [f"{windows} not reported in time since {time_text(incident.began, zone)}."]
    else:
        counted = (
            f"In the window of {time_text(incident.last_bad, zone)}, {counted_text(incident)}."
        )
        lines = [f"{windows} of ten minutes bad since {time_text(incident.began, zone)}. {counted}"]
        lines += [sentence] if (sentence := ambiguity(incident)) else []
    match incident.ending:
        case Ending.RECOVERED | Ending.WITHDRAWN:
            lines.append(f"Good again from {time_text(incident.ended, zone)}.")
        case Ending.NO_DATA:
            lines.append(
                f"Closed at {time_text(incident.ended, zone)} for want of data, not as recovered."
            )
        case Ending.MERGED:
            lines.append(
                f"It has the cause of another incident, since {time_text(incident.ended, zone)}."
            )
        case Ending.OPEN:
            lines.append(f"Last {incident.kind} window: {time_text(incident.last_bad, zone)}.")
    return "\n".join(lines)


def timeline_lines(incident: Incident) -> tuple[tuple[datetime, str], ...]:
    """Returns the history of an incident: when each change was seen, and what it was."""
    lines = []
    before = incident.timeline[0].subject if incident.timeline else incident.subject
    for entry in incident.timeline:
        seen = seen_at(incident, entry)
        was = entry.before or before
        lines.append((seen, _change_text(entry.change, was, entry.subject)))
        before = entry.subject
    return tuple(lines)


def _change_text(change: TimelineChange, before: Subject, after: Subject) -> str:
    match change:
        case TimelineChange.OPENED:
            return f"opened as {in_sentence(after)}"
        case TimelineChange.REOPENED:
            return f"reopened as {in_sentence(after)}"
        case TimelineChange.GREW | TimelineChange.SHRANK | TimelineChange.MOVED if before != after:
            return f"moved from {in_sentence(before)} to {in_sentence(after)}"
        case TimelineChange.CORRECTED if before != after:
            return f"late reports show that it was {in_sentence(after)}, not {in_sentence(before)}"
        case _:
            return _CHANGES[change]


def time_text(moment: datetime | None, zone: tzinfo) -> str:
    """Returns a time as emails have it, such as "2026-01-31 17:30 IST (12:00 UTC)"."""
    if moment is None:
        return "an unknown time"
    utc = moment.astimezone(UTC)
    local = moment.astimezone(zone)
    if not local.utcoffset():
        return f"{utc:%Y-%m-%d %H:%M} UTC"
    day = "" if local.date() == utc.date() else f"{utc:%Y-%m-%d} "
    return f"{local:%Y-%m-%d %H:%M %Z} ({day}{utc:%H:%M} UTC)"
