"""Labels of causes and incidents."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext, translatable
from mudra.metrics.health.api_names import api_names
from mudra.metrics.incidents.explanation import cause_text
from mudra.metrics.incidents.incident import (
    AaApi,
    AaCalls,
    AaReporting,
    Decision,
    Ending,
    Fip,
    FipApi,
    Incident,
    Network,
    Path,
    StoredIncident,
    Subject,
)
from mudra.metrics.incidents.subject import SubjectKind, aa_concerned, fip_concerned, name_of
from mudra.metrics.incidents.verdict import reach_of
from mudra.metrics.notifications.alarm import symptom_text
from mudra.metrics.notifications.severity import Severity

MARKS: Final = {
    SubjectKind.FIP: ("F", "the FIP"),
    SubjectKind.FIP_API: ("F", "the FIP"),
    SubjectKind.PATH: ("P", "the path between both"),
    SubjectKind.AA_CALLS: ("A", "the AA"),
    SubjectKind.AA_API: ("A", "the AA"),
    SubjectKind.NETWORK: ("N", "the network"),
}
"""Marks of causes in the matrix."""
SEVERITY_TONES: Final = {
    Severity.CRITICAL: "bad",
    Severity.MAJOR: "warn",
    Severity.MINOR: "quiet",
}
_RECOVERING: Final = translatable("recovering")
AMBIGUOUS: Final = ("?", translatable("the evidence fits several"))


class CauseLine(Struct, frozen=True):
    """One cause on a page, with the address of its incident."""

    heading: str
    ids: str
    began: datetime
    ended: datetime | None
    path: str
    state: tuple[str, str]
    """With the tone of its tag."""
    owner: str
    """Of an open one; empty for none."""
    is_open: bool


def operator_path_of(one: StoredIncident) -> str:
    """Returns the page of an incident for operators."""
    return f"/console/operator/incidents/{one.incident_id}"


def headline(
    incident: Incident, names: Mapping[str, str] | None = None, *, recovering: bool = False
) -> str:
    """Returns what is broken, in a line, by the names of members; of what recovers that it does."""
    known, subject = names or {}, subject_label(incident.subject, names)
    if isinstance(incident.subject, AaReporting):
        subject = known.get(incident.subject.aa_id, incident.subject.aa_id)
    return f"{subject}: {gettext(_RECOVERING) if recovering else symptom_text(incident)}"


def member_headline(
    incident: Incident, names: Mapping[str, str], *, recovering: bool = False
) -> str:
    """Returns what is broken, in a line of a member's page, in the language of the page."""
    symptom = gettext(_RECOVERING) if recovering else symptom_text(incident)
    return f"{cause_text(incident, names)}: {symptom}"


Heading = Callable[[Incident, bool], str]
"""Returns the line of an incident; True for one that is recovering."""


def named_headline(names: Mapping[str, str]) -> Heading:
    """Returns what makes the lines of incidents for operators, by the names of members."""
    return lambda incident, recovering: headline(incident, names, recovering=recovering)


_BY_ID: Final = named_headline({})


def cause_lines(
    causes: Iterable[StoredIncident],
    path: Callable[[StoredIncident], str] = operator_path_of,
    heading: Heading = _BY_ID,
    about: Collection[str | None] = (),
    recovering: Collection[str] = (),
) -> list[CauseLine]:
    """Returns one line for each cause: open ones in the board's order, then the others, the latest.

    `recovering` has the IDs of those that are open, and not bad in the latest judged window.

    Of both those at a member that the page is about come before those that only reach it.
    """

    def rank(one: StoredIncident) -> tuple[bool, bool, bool, float, datetime]:
        subject, is_open = one.incident.subject, one.incident.ended is None
        is_own = not {fip_concerned(subject), aa_concerned(subject)}.isdisjoint(set(about) - {None})
        is_bad = is_open and one.incident_id not in recovering
        calls = (reach_of(one.incident).calls_a_minute or 0.0) if is_open else 0.0
        return is_open, is_own, is_bad, calls, one.incident.began

    newest = sorted(causes, key=rank, reverse=True)
    return [
        CauseLine(
            heading(one.incident, one.incident_id in recovering),
            subject_ids(one.incident.subject),
            one.incident.began,
            one.incident.ended,
            path(one),
            state_label(one, recovering=one.incident_id in recovering),
            one.owner,
            one.is_open,
        )
        for one in newest
    ]


def mark_of(causes: Sequence[StoredIncident]) -> str:
    """Returns the mark of the cause that is the latest; empty for none."""
    if not causes:
        return ""
    latest = max(causes, key=lambda one: one.incident.began).incident
    if latest.cause.ambiguous_with:
        return AMBIGUOUS[0]
    return MARKS[name_of(latest.subject).kind][0]


def subject_label(subject: Subject, names: Mapping[str, str] | None = None) -> str:
    """Returns the label of an incident's subject, by the names of members where they are given."""
    known = names or {}
    aa, fip = (
        known.get(one, one) if one else ""
        for one in (aa_concerned(subject), fip_concerned(subject))
    )
    match subject:
        case Fip():
            return fip
        case FipApi(_, code):
            return f"{fip}: {api_names(code)}"
        case AaCalls():
            return gettext("%(aa)s: calls to FIPs", aa=aa)
        case AaApi(_, code):
            return gettext("%(aa)s: %(api)s to FIPs", aa=aa, api=api_names(code))
        case AaReporting():
            return gettext("%(aa)s: missing reports", aa=aa)
        case Path():
            return gettext("%(aa)s to %(fip)s", aa=aa, fip=fip)
        case Network():
            return gettext("The whole network")


def subject_ids(subject: Subject) -> str:
    """Returns the members that a cause is at, by ID: its label may have their names."""
    return " ".join(one for one in (aa_concerned(subject), fip_concerned(subject)) if one)


def state_label(stored: StoredIncident, *, recovering: bool = False) -> tuple[str, str]:
    """Returns the state of an incident, with the tone of its tag; what people decided counts.

    The state is translated where it is shown.
    """
    if recovering:
        return (_RECOVERING, "warn")
    if stored.decision is Decision.REOPENED:
        return (translatable("reopened"), "bad")
    if stored.closed_by_hand and stored.incident.ended is None:
        return (translatable("closed by hand"), "quiet")
    return {
        Ending.OPEN: (translatable("open"), "bad"),
        Ending.RECOVERED: (translatable("recovered"), "good"),
        Ending.NO_DATA: (translatable("no data since"), "warn"),
        Ending.CHANGED: (translatable("changed for good"), "warn"),
        Ending.MERGED: (translatable("merged"), "quiet"),
        Ending.WITHDRAWN: (translatable("withdrawn"), "quiet"),
    }[stored.incident.ending]
