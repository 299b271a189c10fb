"""The text of an email or a webhook message about a change of an incident."""

from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from typing import Final

from msgspec import Struct

from mudra.localization.language import current, gettext, ngettext, translatable
from mudra.metrics.incidents.explanation import changed_by
from mudra.metrics.incidents.incident import (
    AaApi,
    AaCalls,
    AaReporting,
    Ending,
    Fip,
    FipApi,
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
from mudra.metrics.incidents.subject import (
    NO_NAMES,
    Names,
    aa_concerned,
    fip_concerned,
    in_sentence,
    in_title,
    text_of,
)
from mudra.metrics.rollup.percentage import failing_text

_SYMPTOMS: Final = {
    Symptom.FAILURES: translatable("calls failing"),
    Symptom.SLOW: translatable("calls slow"),
    Symptom.TAIL: translatable("slowest calls much slower"),
    Symptom.CLIENT_ERRORS: translatable("requests refused (4xx)"),
    Symptom.OUTCOMES: translatable("FI requests ending without data"),
    Symptom.MISSING: translatable("notifications missing"),
}
_CHANGES: Final = {
    TimelineChange.GREW: translatable("another symptom"),
    TimelineChange.SHRANK: translatable("fewer symptoms"),
    TimelineChange.MOVED: translatable("the same cause after all"),
    TimelineChange.MERGED: translatable("merged into another incident with the same cause"),
    TimelineChange.CLOSED: translatable("recovered"),
    TimelineChange.NO_DATA: translatable("closed because no data came"),
    TimelineChange.CHANGED: translatable("closed as a rate that has changed for good"),
    TimelineChange.WITHDRAWN: translatable(
        "withdrawn: late reports show that there was no incident"
    ),
    TimelineChange.CORRECTED: translatable(
        "late reports show that there was an incident after all"
    ),
}
_HEARTBEATS: Final = translatable("heartbeats failed")
_COUNTED: Final = {
    Symptom.FAILURES: translatable("calls failed"),
    Symptom.SLOW: translatable("calls were slow"),
    Symptom.TAIL: translatable("calls took far longer than the usual p95"),
    Symptom.CLIENT_ERRORS: translatable("requests were refused (4xx)"),
    Symptom.OUTCOMES: translatable("FI requests ended without data"),
    Symptom.MISSING: translatable("notifications did not come"),
}


_MAX_AFFECTED: Final = 5


class Alarm(Struct, frozen=True):
    """A title and a text; neither has counts of any third party alone."""

    title: str
    text: str


def alarm_of(
    change: Change | Elsewhere, zone: tzinfo = UTC, names: Names = NO_NAMES
) -> Alarm | None:
    """Returns the alarm for the members concerned, or None when none is needed.

    Its times are in the reader's zone, its members by their names where these are known.
    """
    match change:
        case Opened(incident) if incident.ended is None:
            return Alarm(_begun(incident, zone, names), _timeline(incident, zone, names))
        case Reopened(_, incident):
            again = gettext("again %(symptom)s", symptom=symptom_text(incident))
            title = f"{in_title(incident.subject, names)}: {again}"
            return Alarm(title, _timeline(incident, zone, names))
        case Moved(known, incident):
            was = gettext(
                "Reported before as %(cause)s; the cause is now known better.",
                cause=text_of(known.subject, names),
            )
            text = f"{was}\n{_timeline(incident, zone, names)}"
            return Alarm(_begun(incident, zone, names), text)
        case Closed(_, incident):
            title = f"{in_title(incident.subject, names)}: {_over(incident)}"
            return Alarm(title, _timeline(incident, zone, names))
        case Withdrawn(known, _) if known.ended is None:
            return Alarm(
                in_title(known.subject, names) + ": " + gettext("alarm withdrawn"),
                gettext(
                    "Reports that came late or were replaced show no incident from %(at)s.",
                    at=time_text(known.began, zone),
                ),
            )
        case Elsewhere(known, _):
            return Alarm(
                in_title(known.subject, names) + ": " + gettext("over for you"),
                gettext(
                    "Bad since %(began)s. What goes on has another cause, which does not concern"
                    " you: you get no more alarms about it.",
                    began=time_text(known.began, zone),
                ),
            )
        case Opened() | Updated() | Withdrawn():
            return None


def title_of(incident: Incident, names: Names = NO_NAMES) -> str:
    """Returns what is wrong, and where, such as "Kaveri Bank, consent: 60 % of calls failing".

    Pages, emails and messages all name an incident by it.
    """
    return f"{in_title(incident.subject, names)}: {symptom_text(incident)}"


def _begun(incident: Incident, zone: tzinfo, names: Names) -> str:
    """Returns the title of an alarm that begins: it says since when, as it may be read late."""
    began = f"{incident.began.astimezone(zone):%H:%M %Z}"
    return gettext("%(title)s since %(at)s", title=title_of(incident, names), at=began)


def symptom_text(incident: Incident) -> str:
    """Returns what is wrong, such as "60 % of calls failing", or was: "60 % of calls failed"."""
    is_over = incident.ended is not None
    if isinstance(incident.subject, AaReporting):
        return gettext("reports were missing") if is_over else gettext("not reporting")
    first = _first(incident)
    if incident.by_heartbeats:
        return gettext("heartbeats failed") if is_over else gettext("heartbeats failing")
    if first is Symptom.FAILURES and incident.eligible:
        share = failing_text(incident.succeeded, incident.eligible)
        text = translatable("%(share)s of calls failing")
        return gettext(translatable("%(share)s of calls failed") if is_over else text, share=share)
    return gettext(_SYMPTOMS[first])


def symptoms_text(symptoms: Iterable[Symptom]) -> str:
    """Returns the symptom that is named first, without a share, such as "calls slow"."""
    return gettext(next((_SYMPTOMS[one] for one in _SYMPTOMS if one in set(symptoms)), ""))


def counted_text(incident: Incident) -> str:
    """Returns what was counted in the last bad window, such as "120 of 200 calls failed; …"."""
    if isinstance(incident.subject, AaReporting):
        return ""
    cause, what = incident.cause, _COUNTED[_first(incident)]
    if incident.by_heartbeats or (cause.of_heartbeats and Symptom.FAILURES in cause.symptoms):
        what = _HEARTBEATS
    return gettext(
        "%(failures)s of %(calls)s %(what)s; %(expected)s would be usual",
        failures=current().number(cause.failures),
        calls=current().number(cause.calls),
        what=gettext(what),
        expected=current().number(cause.expected),
    )


def ambiguity(incident: Incident, names: Names = NO_NAMES) -> str:
    """Returns what the evidence does not separate; empty when the cause is certain."""
    others = incident.cause.ambiguous_with
    if not others:
        return ""
    causes = gettext(" or ").join(in_sentence(one, names) for one in (incident.subject, *others))
    text = gettext("The evidence fits %(causes)s equally well.", causes=causes)
    if len(incident.cause.affected_aas) == 1:
        text += " " + gettext("The calls of one AA alone show it.")
    return text


def affected_text(incident: Incident, names: Names = NO_NAMES) -> str:
    """Returns the members on the other side of a cause; empty for a path, an agent or none."""
    match incident.subject:
        case Fip() | FipApi():
            ids = incident.cause.affected_aas
        case AaCalls() | AaApi():
            ids = incident.cause.affected_fips
        case _:
            return ""
    if not ids:
        return ""
    listed = ", ".join(names.get(one, one) for one in ids[:_MAX_AFFECTED])
    if len(ids) <= _MAX_AFFECTED:
        return gettext("Affected: %(ids)s.", ids=listed)
    return gettext(
        "Affected: %(ids)s and %(more)s more.", ids=listed, more=len(ids) - _MAX_AFFECTED
    )


def _first(incident: Incident) -> Symptom:
    """The symptom to name: failures before times, times before the rest."""
    return next(one for one in _SYMPTOMS if one in incident.cause.symptoms)


def _over(incident: Incident) -> str:
    match incident.ending:
        case Ending.NO_DATA:
            return gettext("no longer heard of")
        case Ending.MERGED:
            return gettext("part of another incident")
        case Ending.CHANGED:
            return gettext("changed for good: %(symptom)s", symptom=symptom_text(incident))
        case _:
            return gettext("recovered")


def _timeline(incident: Incident, zone: tzinfo, names: Names) -> str:
    began, number = time_text(incident.began, zone), incident.bad_windows
    if isinstance(incident.subject, AaReporting):
        first = ngettext(
            "%(num)s window not reported in time since %(began)s.",
            "%(num)s windows not reported in time since %(began)s.",
            number,
            began=began,
        )
    else:
        first = f"{_bad_windows(number, began)} {_latest(incident, zone)}"
    return "\n".join(
        one for one in (first, ambiguity(incident, names), _ending(incident, zone)) if one
    )


def _bad_windows(number: int, began: str) -> str:
    return ngettext(
        "Bad since %(began)s, in %(num)s window of ten minutes.",
        "Bad since %(began)s, in %(num)s windows of ten minutes.",
        number,
        began=began,
    )


def _latest(incident: Incident, zone: tzinfo) -> str:
    """Returns what was counted in the latest bad window, by the clock: its day is known."""
    at = f"{incident.last_bad.astimezone(zone):%H:%M}"
    return gettext("Latest, at %(at)s: %(counted)s.", at=at, counted=counted_text(incident))


def _ending(incident: Incident, zone: tzinfo) -> str:
    ended = time_text(incident.ended, zone)
    match incident.ending:
        case Ending.RECOVERED | Ending.WITHDRAWN:
            return gettext("Good again from %(at)s.", at=ended)
        case Ending.NO_DATA:
            return gettext("Closed at %(at)s for want of data, not as recovered.", at=ended)
        case Ending.MERGED:
            return gettext("It has the cause of another incident, since %(at)s.", at=ended)
        case Ending.CHANGED:
            return gettext(
                "It goes on as evenly as before: a rate that has changed since %(at)s, not an "
                "outage. The incident is closed.",
                at=time_text(incident.began, zone),
            )
        case Ending.OPEN if incident.kind == "missing":
            at = time_text(incident.last_bad, zone)
            return gettext("Last missing window: %(at)s.", at=at)
        case Ending.OPEN:
            return _if_even(incident, zone)


def _if_even(incident: Incident, zone: tzinfo) -> str:
    until = changed_by(incident)
    if until is None:
        return ""
    return gettext(
        "If it goes on as evenly until %(at)s, it is a rate that has changed, not an outage.",
        at=time_text(until, zone),
    )


def timeline_lines(incident: Incident, names: Names = NO_NAMES) -> tuple[tuple[datetime, str], ...]:
    """Returns the history of an incident: when each change was seen, and what it was."""
    lines = []
    before = incident.timeline[0].subject if incident.timeline else incident.subject
    for entry in incident.timeline:
        seen = seen_at(incident, entry)
        was = entry.before or before
        lines.append((seen, _change_text(entry.change, was, entry.subject, names)))
        before = entry.subject
    return tuple(lines)


def moved_from(incident: Incident, names: Names = NO_NAMES) -> tuple[datetime, str] | None:
    """Returns when an incident was seen to be at other members than before, and where it was.

    The latest such time; None of an incident that stayed. Its calls are counted where it is now.
    """
    found, before = None, incident.subject
    for entry in incident.timeline:
        was = entry.before or before
        if entry is not incident.timeline[0] and _members(was) != _members(entry.subject):
            found = seen_at(incident, entry), in_sentence(was, names)
        before = entry.subject
    return found


def _members(subject: Subject) -> tuple[str | None, str | None]:
    return aa_concerned(subject), fip_concerned(subject)


def _change_text(change: TimelineChange, before: Subject, after: Subject, names: Names) -> str:
    match change:
        case TimelineChange.OPENED if isinstance(after, AaReporting):
            aa = names.get(after.aa_id, after.aa_id)
            return gettext("opened: reports from %(aa)s are missing", aa=aa)
        case TimelineChange.OPENED:
            return gettext("opened as %(cause)s", cause=in_sentence(after, names))
        case TimelineChange.REOPENED:
            return gettext("reopened as %(cause)s", cause=in_sentence(after, names))
        case TimelineChange.GREW | TimelineChange.SHRANK | TimelineChange.MOVED if before != after:
            return gettext(
                "moved from %(before)s to %(after)s",
                before=in_sentence(before, names),
                after=in_sentence(after, names),
            )
        case TimelineChange.CORRECTED if before != after:
            return gettext(
                "late reports show that it was %(after)s, not %(before)s",
                before=in_sentence(before, names),
                after=in_sentence(after, names),
            )
        case _:
            return gettext(_CHANGES[change])


def time_text(moment: datetime | None, zone: tzinfo) -> str:
    """Returns a time with its zone, such as "31 Jan 2026, 17:30 IST"."""
    if moment is None:
        return gettext("an unknown time")
    return f"{current().minute(moment, zone)} {moment.astimezone(zone):%Z}"
