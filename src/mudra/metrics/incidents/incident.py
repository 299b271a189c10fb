"""Incidents: one for each cause, from the first evidence of it to its recovery.

`metrics.attribution` finds causes from the counts of all windows; `journal.py` turns
them into the incidents of this module, which know entities by ID and times as times.
"""

import enum
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.metrics.payload.catalogue import WINDOW

Windows = tuple[tuple[int, int], ...]
"""The first and last window of each range, by number, in order; no two touch."""


def with_windows(known: Windows, more: Iterable[int]) -> Windows:
    """Returns the windows with some more; those that it has already change nothing."""
    found: list[tuple[int, int]] = []
    for first, last in sorted([*known, *((one, one) for one in more)]):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return tuple(found)


def number_of(windows: Windows) -> int:
    """Returns how many windows there are."""
    return sum(last - first + 1 for first, last in windows)


def each_of(windows: Windows) -> Iterator[int]:
    """Yields each window, in order."""
    for first, last in windows:
        yield from range(first, last + 1)


API_SEPARATOR: Final = ","


class Fip(Struct, frozen=True, tag_field="kind", tag="fip"):
    """A FIP as a whole."""

    fip_id: str


class FipApi(Struct, frozen=True, tag_field="kind", tag="fip-api"):
    """Some APIs of one FIP; `type` is a code of spec 2.5 or 2.6, or several with commas."""

    fip_id: str
    type: str


class AaCalls(Struct, frozen=True, tag_field="kind", tag="aa-calls"):
    """An AA: its calls to all FIPs."""

    aa_id: str


class AaApi(Struct, frozen=True, tag_field="kind", tag="aa-api"):
    """Some APIs that one AA calls; `type` as for a FIP."""

    aa_id: str
    type: str


class AaReporting(Struct, frozen=True, tag_field="kind", tag="aa-reporting"):
    """The agent of an AA: whether it reports at all."""

    aa_id: str


class Path(Struct, frozen=True, tag_field="kind", tag="path"):
    """Between one AA and one FIP: both reach others."""

    aa_id: str
    fip_id: str


class Network(Struct, frozen=True, tag_field="kind", tag="network"):
    """Nearly all pairs of AAs and FIPs."""


Subject = Fip | FipApi | AaCalls | AaApi | AaReporting | Path | Network


class Symptom(enum.StrEnum):
    """The sign of a fault."""

    FAILURES = "failures"
    """5xx, or no answer."""
    CLIENT_ERRORS = "client-errors"
    """4xx."""
    SLOW = "slow"
    TAIL = "tail"
    """The slowest calls take much longer; the others do not."""
    OUTCOMES = "outcomes"
    """FI requests that end without data."""
    MISSING = "missing"
    """Notifications, or reports, that do not come."""


HARM: Final = frozenset({Symptom.FAILURES, Symptom.OUTCOMES, Symptom.MISSING})
"""Symptoms by which customers get no data. Slow calls reach it, and a refused one is answered."""


class Effect(enum.StrEnum):
    """The effect of an incident of a FIP on customers, as the public reads it."""

    DISRUPTED = "disrupted"
    """They get no data."""
    POSSIBLY_DISRUPTED = "possibly-disrupted"
    """One AA alone sees that: it may be that AA's own trouble."""
    DEGRADED = "degraded"
    """Calls are slow or refused, or fewer than one in ten fails."""


class Ending(enum.StrEnum):
    """The state of an incident."""

    OPEN = "open"
    RECOVERED = "recovered"
    NO_DATA = "no-data"
    """A day without evidence either way."""
    CHANGED = "changed"
    """Few calls fail, or calls are slow, as evenly as ever: that is usual from now on."""
    MERGED = "merged"
    """It turned out to have the cause of another incident."""
    WITHDRAWN = "withdrawn"
    """Late or replaced reports show that there was none."""


NO_CAUSES: Final = frozenset({Ending.MERGED, Ending.WITHDRAWN})
"""The endings of what was no cause of its own."""


class Decision(enum.StrEnum):
    """The decision of people about an incident, against what the evidence said then."""

    CLOSED = "closed"
    REOPENED = "reopened"


class TimelineChange(enum.StrEnum):
    """The change of an incident at a time."""

    OPENED = "opened"
    GREW = "grew"
    SHRANK = "shrank"
    MOVED = "moved"
    MERGED = "merged"
    CLOSED = "closed"
    NO_DATA = "no-data"
    CHANGED = "changed"
    REOPENED = "reopened"
    WITHDRAWN = "withdrawn"
    CORRECTED = "corrected"
    """Late reports show that its cause was another one, or that there was one after all."""


class TimelineEntry(Struct, frozen=True):
    """One line of an incident's history."""

    window: datetime
    """Start of the window whose reports showed it."""
    change: TimelineChange
    subject: Subject
    """The cause from then on."""
    symptoms: tuple[Symptom, ...] = ()
    into: str = ""
    """The incident that this one merged into."""
    before: Subject | None = None
    """The cause that late reports corrected."""


class Cause(Struct, frozen=True):
    """The evidence about an incident's cause, as of its last bad window."""

    symptoms: tuple[Symptom, ...]
    calls: int
    """Calls, FI requests or notifications of that window that could show the symptoms."""
    failures: int
    """Those that do show them."""
    expected: float
    """As many would be usual."""
    strength: float
    """Log-likelihood ratio over all bad windows, in nats; 3 are odds of 20 to 1."""
    ambiguous_with: tuple[Subject, ...] = ()
    """Other causes that explain the evidence equally well."""
    affected_aas: tuple[str, ...] = ()
    affected_fips: tuple[str, ...] = ()
    affected_apis: tuple[str, ...] = ()
    """Codes as in a subject."""
    of_heartbeats: bool = False
    """Whether `calls` are heartbeats alone: no customer called in that window."""


class Incident(Struct, frozen=True):
    """An incident, from the first window with evidence to the first good window after it."""

    subject: Subject
    began: datetime
    """Start of the first bad window."""
    detected: datetime
    """The time at which the service found it."""
    last_bad: datetime
    ended: datetime | None
    ending: Ending
    bad_windows: int
    succeeded: int
    """Calls of the subject in bad windows that succeeded, of `eligible`: all but 4xx."""
    eligible: int
    cause: Cause
    timeline: tuple[TimelineEntry, ...]

    @property
    def kind(self) -> str:
        """Return what is wrong with its windows, in a word: `missing` or `bad`."""
        return "missing" if isinstance(self.subject, AaReporting) else "bad"

    @property
    def failing(self) -> bool:
        """Return whether calls fail: only then `succeeded` of `eligible` describes the incident."""
        return Symptom.FAILURES in self.cause.symptoms and self.eligible > 0

    @property
    def by_heartbeats(self) -> bool:
        """Return whether heartbeats alone show it: no customer's call failed in its bad windows."""
        return Symptom.FAILURES in self.cause.symptoms and self.succeeded == self.eligible

    @property
    def refused(self) -> bool:
        """Return whether it is about refused requests (4xx) alone: a kind of its own."""
        return self.cause.symptoms == (Symptom.CLIENT_ERRORS,)

    @property
    def may_be_elsewhere(self) -> bool:
        """Return whether the evidence fits another place as well as the FIP, such as a path."""
        return any(not isinstance(one, Fip | FipApi) for one in self.cause.ambiguous_with)

    @property
    def effect(self) -> Effect:
        """Return what an incident of a FIP means for customers."""
        harm = HARM & {*self.cause.symptoms}
        if self.failing and few_fail(self.succeeded, self.eligible):
            harm -= {Symptom.FAILURES}
        if not harm:
            return Effect.DEGRADED
        return Effect.POSSIBLY_DISRUPTED if self.may_be_elsewhere else Effect.DISRUPTED


FEW_FAIL_ABOVE_PERCENT: Final = 90
"""The success above which too many calls may fail for the network's rule, but it is no outage."""


def few_fail(succeeded: int, eligible: int) -> bool:
    """Returns whether fewer than one call in ten fails: no outage, but more than usual."""
    return 100 * succeeded > FEW_FAIL_ABOVE_PERCENT * eligible


class StoredIncident(Struct, frozen=True):
    """A stored incident with what people did about it.

    `notified` is whether its members were notified, or needed not to be; `recipients` are those
    that were and whom it still concerns: they get its end.
    """

    incident_id: str
    incident: Incident
    acknowledged_by: str | None
    notified: bool = True
    acknowledged_at: datetime | None = None
    recipients: tuple[str, ...] = ()
    escalated_at: datetime | None = None
    decision: Decision | None = None
    decided_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Return whether people have to act: as the evidence says, unless they decided otherwise.

        A close by hand holds until a window is bad that began after it.
        """
        if self.decision is Decision.REOPENED:
            return True
        return self.incident.ended is None and not self.closed_by_hand

    @property
    def closed_by_hand(self) -> bool:
        """Return whether people closed it, and no window that began later was bad."""
        closed = self.decision is Decision.CLOSED and self.decided_at is not None
        return closed and self.incident.last_bad < (self.decided_at or self.incident.last_bad)

    @property
    def owner(self) -> str:
        """The email address of the operator who acknowledged it; empty for none."""
        return (self.acknowledged_by or "").removeprefix("operator:")


def seen_at(incident: Incident, entry: TimelineEntry) -> datetime:
    """Returns when a change was seen: at the end of its window, or when late reports proved it."""
    return max(entry.window + WINDOW, incident.detected)


def changed_at(incident: Incident) -> datetime:
    """Returns when the last change of an incident was seen."""
    return seen_at(incident, incident.timeline[-1]) if incident.timeline else incident.detected
