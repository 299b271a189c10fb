"""Labels of causes and incidents."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext, translatable
from mudra.metrics.incidents.incident import Decision, Ending, Incident, StoredIncident, Subject
from mudra.metrics.incidents.subject import (
    NO_NAMES,
    SubjectKind,
    aa_concerned,
    fip_concerned,
    in_title,
    name_of,
)
from mudra.metrics.incidents.verdict import reach_of
from mudra.metrics.notifications.alarm import title_of
from mudra.metrics.notifications.severity import Severity, severity_of

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
_OPEN: Final = (translatable("open"), "bad")
AMBIGUOUS: Final = ("?", translatable("the evidence fits several"))


class CauseLine(Struct, frozen=True):
    """One cause on a page, with the address of its incident."""

    heading: str
    ids: str
    aa_id: str
    """The AA that it is at; empty for none."""
    began: datetime
    ended: datetime | None
    path: str
    state: tuple[str, str]
    """With the tone of its tag."""
    owner: str
    """Of an open one; empty for none."""
    is_open: bool
    severity: tuple[str, str]
    """With the tone of its tag."""

    @property
    def is_bad(self) -> bool:
        """Report whether its state is open alone: neither recovering nor decided otherwise."""
        return self.state == _OPEN


def operator_path_of(one: StoredIncident) -> str:
    """Returns the page of an incident for operators."""
    return f"/console/operator/incidents/{one.incident_id}"


def headline(
    incident: Incident, names: Mapping[str, str] = NO_NAMES, *, recovering: bool = False
) -> str:
    """Returns what is broken, in a line, by the names of members; of what recovers that it does."""
    if recovering:
        return f"{in_title(incident.subject, names)}: {gettext(_RECOVERING)}"
    return title_of(incident, names)


def distinct_names(names: Mapping[str, str]) -> Mapping[str, str]:
    """Returns names of which no two are alike: namesakes have their ID with them."""
    bearers = Counter(names.values())
    return {one: f"{name} ({one})" if bearers[name] > 1 else name for one, name in names.items()}


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
            aa_concerned(one.incident.subject) or "",
            one.incident.began,
            one.incident.ended,
            path(one),
            state_label(one, recovering=one.incident_id in recovering),
            one.owner,
            one.is_open,
            (severity.value, SEVERITY_TONES[severity]),
        )
        for one in newest
        for severity in (severity_of(one.incident),)
    ]


def mark_of(causes: Sequence[StoredIncident]) -> str:
    """Returns the mark of the cause that is the latest; empty for none."""
    if not causes:
        return ""
    latest = max(causes, key=lambda one: one.incident.began).incident
    if latest.cause.ambiguous_with:
        return AMBIGUOUS[0]
    return MARKS[name_of(latest.subject).kind][0]


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
        Ending.OPEN: _OPEN,
        Ending.RECOVERED: (translatable("recovered"), "good"),
        Ending.NO_DATA: (translatable("no data since"), "warn"),
        Ending.CHANGED: (translatable("changed for good"), "warn"),
        Ending.MERGED: (translatable("merged"), "quiet"),
        Ending.WITHDRAWN: (translatable("withdrawn"), "quiet"),
    }[stored.incident.ending]
