"""Incidents: one for each cause, from its opening to its recovery, with what was learned meanwhile.

`track` is a pure function over the incidents so far and the causes of one
window. An incident keeps its number when its cause grows, shrinks or turns out
to lie elsewhere, and when it comes back soon after it ended.
"""

import enum
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.attribution.causes.cause import Cause, CauseStatus, Kind, Locus
from mudra.metrics.attribution.evidence.lanes import Symptom

REOPEN_WITHIN: Final = 18
"""Windows (three hours) within which the same trouble is the same incident."""


class Change(enum.StrEnum):
    """The change of an incident."""

    OPENED = "opened"
    GREW = "grew"
    SHRANK = "shrank"
    MOVED = "moved"
    MERGED = "merged"
    """Into another incident, whose cause it turned out to be."""
    CLOSED = "closed"
    NO_DATA = "no-data"
    """Closed for want of evidence, not because it recovered."""
    CHANGED = "changed"
    """Closed because its rate has become the usual one."""
    REOPENED = "reopened"


class Entry(Struct, frozen=True):
    """One line of an incident's history."""

    window: int
    change: Change
    locus: Locus
    symptoms: tuple[Symptom, ...]
    into: int = 0
    """The incident that this one merged into."""


class Incident(Struct, frozen=True):
    """One trouble with one cause."""

    number: int
    """That of its first cause."""
    cause: Cause
    """As the last window saw it."""
    since: int
    """The first window with evidence of it."""
    detected: int
    """The window whose evidence opened it."""
    last_bad: int
    ended: int
    """The first good window after it; -1 while it is open."""
    history: tuple[Entry, ...]

    @property
    def is_open(self) -> bool:
        """Return whether it goes on."""
        return self.ended < 0


def track(
    incidents: Sequence[Incident], causes: Iterable[Cause], window: int
) -> tuple[Incident, ...]:
    """The incidents after this window; a new `Entry` in a history says what changed.

    Give it all open incidents and those that ended within `REOPEN_WITHIN`.
    """
    found = {incident.number: incident for incident in incidents}
    of_cause = {one.cause.number: one.number for one in incidents if one.is_open}
    for cause in causes:
        number = of_cause.get(cause.number)
        if number is None:
            number = _of_old(found.values(), cause, window)
            old = found.get(number)
            found[number] = _opened(cause, window) if old is None else _reopened(old, cause, window)
        else:
            found[number] = _continued(found[number], cause, window)
        of_cause[cause.number] = number
        for absorbed in cause.absorbed:
            other = of_cause.get(absorbed)
            if other is not None and other != number:
                found[other] = _merged(found[other], number, window)
    return tuple(sorted(found.values(), key=lambda incident: incident.number))


def _of_old(incidents: Iterable[Incident], cause: Cause, window: int) -> int:
    """Returns the number of the ended incident that this cause continues, or a new one."""
    same = [
        one
        for one in incidents
        if not one.is_open
        and window - one.ended <= REOPEN_WITHIN
        and one.history[-1].change in {Change.CLOSED, Change.NO_DATA}
        and _same_trouble(one.cause, cause)
    ]
    return max(same, key=lambda one: one.ended).number if same else cause.number


def _same_trouble(first: Cause, second: Cause) -> bool:
    if Kind.AGENT in {first.locus.kind, second.locus.kind}:
        return first.locus == second.locus
    near = first.locus.covers(second.locus) or second.locus.covers(first.locus)
    ends = (first.locus.aa, first.locus.fip) == (second.locus.aa, second.locus.fip)
    return near and ends and bool(set(first.symptoms) & set(second.symptoms))


def _entry(cause: Cause, window: int, change: Change) -> Entry:
    return Entry(window, change, cause.locus, cause.symptoms)


def _opened(cause: Cause, window: int) -> Incident:
    history = (_entry(cause, window, Change.OPENED),)
    return Incident(cause.number, cause, cause.since, window, window, -1, history)


def _reopened(old: Incident, cause: Cause, window: int) -> Incident:
    history = (*old.history, _entry(cause, window, Change.REOPENED))
    return replace(old, cause=cause, last_bad=window, ended=-1, history=history)


def _merged(incident: Incident, into: int, window: int) -> Incident:
    entry = Entry(window, Change.MERGED, incident.cause.locus, incident.cause.symptoms, into=into)
    return replace(incident, ended=window, history=(*incident.history, entry))


def _continued(incident: Incident, cause: Cause, window: int) -> Incident:
    history = incident.history
    before, after = incident.cause.locus, cause.locus
    if before != after:
        history = (*history, _entry(cause, window, _change(before, after)))
    elif set(cause.symptoms) - set(incident.cause.symptoms):
        history = (*history, _entry(cause, window, Change.GREW))
    bad = cause.status in {CauseStatus.NEW, CauseStatus.BAD, CauseStatus.CHANGED}
    last_bad = window if bad else incident.last_bad
    ended = -1
    if cause.status in {CauseStatus.RECOVERED, CauseStatus.CHANGED}:
        is_over = cause.status is CauseStatus.RECOVERED
        ended = last_bad + 1
        history = (*history, _entry(cause, window, Change.CLOSED if is_over else Change.CHANGED))
    if cause.status is CauseStatus.NO_DATA:
        ended = window
        history = (*history, _entry(cause, window, Change.NO_DATA))
    since = min(incident.since, cause.since)
    if not bad:  # what a good window counts says nothing of the trouble
        was = incident.cause
        cause = replace(
            cause,
            calls=was.calls,
            failures=was.failures,
            expected=was.expected,
            of_heartbeats=was.of_heartbeats,
        )
    return replace(
        incident, cause=cause, since=since, last_bad=last_bad, ended=ended, history=history
    )


def _change(before: Locus, after: Locus) -> Change:
    if after.covers(before):
        return Change.GREW if before.kind is not Kind.PATH else Change.MOVED
    if before.covers(after):
        return Change.SHRANK if after.kind is not Kind.PATH else Change.MOVED
    return Change.MOVED
