"""The memory of detection from window to window: attribution's state and its incidents.

Attribution knows AAs, FIPs and incidents by number; the journal holds what the numbers mean.
Evaluation is pure: the same journal and reports give the same journal. Of the jobs process only.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.attribution.causes.cause import Cause as FoundCause
from mudra.metrics.attribution.causes.cause import Kind, Locus
from mudra.metrics.attribution.engine import evaluate_window
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lanes import CALL_APIS
from mudra.metrics.attribution.incidents import REOPEN_WITHIN, Change, track
from mudra.metrics.attribution.incidents import Incident as TrackedCause
from mudra.metrics.attribution.state import (
    State,
    UnknownFormat,
    grown,
    new_state,
    state_from_bytes,
)
from mudra.metrics.detection.evidence_arrays import evidence_of
from mudra.metrics.detection.fip_counts import FipCounts, fip_counts, own_calls
from mudra.metrics.detection.heard import CallsOfIncident
from mudra.metrics.detection.window_calls import WindowCalls
from mudra.metrics.detection.window_reports import WindowReports
from mudra.metrics.health.own_calls import OwnCalls
from mudra.metrics.incidents.incident import (
    API_SEPARATOR,
    AaApi,
    AaCalls,
    AaReporting,
    Cause,
    Ending,
    Fip,
    FipApi,
    Incident,
    Network,
    Path,
    Subject,
    Symptom,
    TimelineChange,
    TimelineEntry,
    Windows,
    each_of,
    few_fail,
    number_of,
    with_windows,
)
from mudra.metrics.payload.catalogue import CUSTOMER_CODES, window_at, window_number

FORMAT: Final = 2
NO_FIP: Final = ""
"""Holds the first place, so that there are arrays before the first FIP was called."""


class Tracked(Struct, frozen=True):
    """One incident as attribution tracks it, with what adds up over its bad windows."""

    incident_id: str
    tracked: TrackedCause
    detected: datetime
    windows: Windows = ()
    """The bad ones."""
    succeeded: int = 0
    """Calls of its place in these windows, as it is known now."""
    eligible: int = 0
    affected_aas: tuple[int, ...] = ()
    is_counted: bool = True
    """False where the calls of windows before the last one are to be read again from reports."""


class Journal(Struct, frozen=True):
    """Everything after one window."""

    first: int
    """The first window that was evaluated."""
    aas: tuple[str, ...]
    fips: tuple[str, ...]
    state: State
    incidents: tuple[Tracked, ...] = ()
    """Open ones, and those that may still reopen."""
    ids: dict[int, str] = msgspec.field(default_factory=dict)
    """IDs of all incidents since the first window, by number."""
    implausible: tuple[tuple[str, str, float, float], ...] = ()
    """Reports of the last window that were left out: AA, why, calls claimed, plausible limit."""
    counts: FipCounts | None = None
    """Of the last window, for the feed; not stored with the journal."""
    own: OwnCalls | None = None
    """Of the last window, for the public; not stored with the journal."""

    @property
    def bad_causes(self) -> tuple[FoundCause, ...]:
        """Open causes that one of the last two windows showed, or none since speaks against.

        `of_heartbeats` and `few_fail` are of all their bad windows.
        """
        good = {one.number: one.good for one in self.state.known}
        return tuple(
            replace(
                one.tracked.cause,
                of_heartbeats=one.succeeded == one.eligible,
                few_fail=few_fail(one.succeeded, one.eligible),
            )
            for one in self.incidents
            if one.tracked.is_open
            and (
                self.state.window - one.tracked.last_bad <= 1
                or not good.get(one.tracked.cause.number, 1)
            )
        )

    @property
    def window(self) -> datetime:
        """The last window that was evaluated."""
        return window_at(self.state.window)

    @property
    def silent(self) -> frozenset[str]:
        """AAs whose agent is known to be silent."""
        return frozenset(
            self.aas[one.locus.aa] for one in self.state.known if one.locus.kind is Kind.AGENT
        )


class _Head(Struct):
    format: int
    first: int
    aas: tuple[str, ...]
    fips: tuple[str, ...]
    incidents: tuple[Tracked, ...]
    ids: dict[int, str]


def new_journal(first: datetime) -> Journal:
    """Returns the journal before its first window."""
    return Journal(window_number(first), (), (NO_FIP,), new_state(0, 1))


def evaluate(
    journal: Journal, reports: WindowReports, calls: WindowCalls, fips: frozenset[str],
    detected: datetime, new_id: Callable[[], str],
) -> Journal:  # fmt: skip
    """Returns the journal after one more window; `fips` are those that an incident may name.

    Reports of other FIPs are left out: an AA may report any name.
    """
    journal = _with_room(journal, reports, fips.intersection(calls.ids))
    aas = {aa_id: place for place, aa_id in enumerate(journal.aas)}
    places = {fip_id: place for place, fip_id in enumerate(journal.fips)}
    if not aas:
        return replace(journal, state=replace(journal.state, window=window_number(reports.window)))
    evidence = evidence_of(reports, calls, aas, places)
    evaluation = evaluate_window(evidence, journal.state)
    before = {one.tracked.number: one for one in journal.incidents}
    tracked = track([one.tracked for one in journal.incidents], evaluation.causes, evidence.window)
    incidents = tuple(
        _added(before.get(one.number), one, evidence, detected, new_id) for one in tracked
        if one.is_open or evidence.window - one.ended <= REOPEN_WITHIN
    )  # fmt: skip
    incidents = _with_merged(incidents, evidence.window)
    causes = [one.tracked.cause for one in incidents if one.tracked.is_open]
    left_out = [one.aa for one in evaluation.implausible]
    return replace(
        journal,
        state=evaluation.state,
        incidents=incidents,
        ids=journal.ids | {one.tracked.number: one.incident_id for one in incidents},
        counts=fip_counts(evidence, journal.fips, causes, left_out),
        own=own_calls(evidence, journal.fips, causes, left_out),
        implausible=tuple(
            (journal.aas[one.aa], one.doubt.value, one.claimed, one.limit)
            for one in evaluation.implausible
        ),
    )


def skipped(journal: Journal, until: datetime, expected: frozenset[str]) -> Journal:
    """Returns the journal as if no one had reported any window before this one."""
    state = journal.state
    if state.window < 0:
        return replace(journal, first=window_number(until))
    last = window_number(until) - 1
    missed = [last - state.window if aa_id in expected else 0 for aa_id in journal.aas]
    silent = state.silent_windows + np.array(missed, np.float32)
    return replace(journal, state=replace(state, window=last, silent_windows=silent))


def renamed(journal: Journal, known: Mapping[str, tuple[str, datetime]]) -> Journal:
    """Returns the journal with the IDs and detection times that incidents are stored under."""
    if not known:
        return journal
    return replace(
        journal,
        incidents=tuple(
            replace(one, incident_id=known[one.incident_id][0], detected=known[one.incident_id][1])
            if one.incident_id in known
            else one
            for one in journal.incidents
        ),
        ids={number: known[old][0] if old in known else old for number, old in journal.ids.items()},
    )


def found_incident(one: Tracked, journal: Journal) -> Incident:
    """Returns the incident as everyone else knows it."""
    tracked = one.tracked
    cause = tracked.cause
    return Incident(
        subject=_subject(tracked.cause.locus, journal),
        began=window_at(tracked.since),
        detected=one.detected,
        last_bad=window_at(tracked.last_bad),
        ended=None if tracked.is_open else window_at(tracked.ended),
        ending=Ending.OPEN if tracked.is_open else _ENDINGS[tracked.history[-1].change],
        bad_windows=number_of(one.windows),
        succeeded=one.succeeded,
        eligible=one.eligible,
        cause=Cause(
            symptoms=_symptoms(cause.symptoms),
            calls=round(cause.calls),
            failures=round(cause.failures),
            expected=round(cause.expected, 1),
            strength=round(cause.strength, 1),
            ambiguous_with=tuple(_subject(place, journal) for place in cause.ambiguous_with),
            affected_aas=tuple(journal.aas[place] for place in one.affected_aas),
            affected_fips=tuple(journal.fips[place] for place in cause.affected_fips),
            affected_apis=cause.affected_apis,
            of_heartbeats=cause.of_heartbeats,
        ),
        timeline=tuple(
            TimelineEntry(
                window_at(entry.window),
                TimelineChange(entry.change.value),
                _subject(entry.locus, journal),
                _symptoms(entry.symptoms),
                journal.ids.get(entry.into, ""),
            )
            for entry in tracked.history
        ),
    )


def calls_of_incident(one: Tracked, journal: Journal) -> CallsOfIncident:
    """Returns which calls an incident is about, as it is known now."""
    locus = one.tracked.cause.locus
    is_agent = locus.kind is Kind.AGENT
    return CallsOfIncident(
        one.incident_id,
        journal.aas[locus.aa] if locus.aa >= 0 else None,
        journal.fips[locus.fip] if locus.fip >= 0 else None,
        () if is_agent else counted_apis(locus),
        [window_at(window) for window in each_of(one.windows)],
    )


def journal_to_bytes(journal: Journal, state: bytes) -> bytes:
    """Packs a journal, of which the state is packed already."""
    live = {number: one for number, one in journal.ids.items() if _is_needed(number, journal)}
    head = _Head(FORMAT, journal.first, journal.aas, journal.fips, journal.incidents, live)
    return msgspec.msgpack.encode((head, state))


def journal_from_bytes(data: bytes) -> Journal | None:
    """Unpacks a journal; None when it was written by another version."""
    try:
        head, state = msgspec.msgpack.decode(data, type=tuple[_Head, bytes])
        if head.format != FORMAT:
            return None
        return Journal(
            head.first, head.aas, head.fips, state_from_bytes(state), head.incidents, head.ids
        )
    except (msgspec.ValidationError, UnknownFormat):
        return None


_ENDINGS: Final = {
    Change.CLOSED: Ending.RECOVERED,
    Change.NO_DATA: Ending.NO_DATA,
    Change.CHANGED: Ending.CHANGED,
    Change.MERGED: Ending.MERGED,
}


def _is_needed(number: int, journal: Journal) -> bool:
    return any(
        number == one.tracked.number or any(number == entry.into for entry in one.tracked.history)
        for one in journal.incidents
    )


def _with_room(journal: Journal, reports: WindowReports, fips: frozenset[str]) -> Journal:
    """Gives a place to AAs and FIPs that are new in this window."""
    seen_aas = {*reports.expected, *reports.requests}
    new_aas, new_fips = seen_aas - {*journal.aas}, fips - {*journal.fips}
    if not new_aas and not new_fips:
        return journal
    aas = (*journal.aas, *sorted(new_aas))
    all_fips = (*journal.fips, *sorted(new_fips))
    return replace(
        journal, aas=aas, fips=all_fips, state=grown(journal.state, len(aas), len(all_fips))
    )


def _added(
    before: Tracked | None, tracked: TrackedCause, evidence: Evidence, detected: datetime,
    new_id: Callable[[], str],
) -> Tracked:  # fmt: skip
    """Adds the window to an incident, if it is a bad one, and earlier ones that are bad after all.

    Calls are those of the place that is known now: of another place before they are counted again.
    """
    if before is None:
        before = Tracked(new_id(), tracked, detected)
    has_place = not before.windows or before.tracked.cause.locus == tracked.cause.locus
    if tracked.last_bad != evidence.window:
        is_counted = before.is_counted and has_place
        return replace(before, tracked=tracked, is_counted=is_counted)
    succeeded, eligible = _calls(tracked.cause.locus, evidence)
    affected = sorted({*before.affected_aas, *tracked.cause.affected_aas})
    until_now = with_windows(before.windows, tracked.cause.earlier)
    return replace(
        before,
        tracked=tracked,
        windows=with_windows(until_now, [evidence.window]),
        succeeded=before.succeeded + succeeded,
        eligible=before.eligible + eligible,
        affected_aas=tuple(affected),
        is_counted=before.is_counted and has_place and until_now == before.windows,
    )


def _with_merged(incidents: Sequence[Tracked], window: int) -> tuple[Tracked, ...]:
    """Gives the bad windows of incidents that merged in this window to what they merged into."""
    merged: dict[int, list[int]] = {}
    for one in incidents:
        last = one.tracked.history[-1]
        if last.change is Change.MERGED and last.window == window:
            merged.setdefault(last.into, []).extend(each_of(one.windows))
    found = []
    for one in incidents:
        more = with_windows(one.windows, merged.get(one.tracked.number, ()))
        is_counted = one.is_counted and more == one.windows
        found.append(replace(one, windows=more, is_counted=is_counted))
    return tuple(found)


def _calls(locus: Locus, evidence: Evidence) -> tuple[int, int]:
    """Returns the calls of a place in this window that succeeded, and all but 4xx."""
    if locus.kind is Kind.AGENT:
        return 0, 0
    rows = [place for place, api in enumerate(CALL_APIS) if api in counted_apis(locus)]
    aas = slice(None) if locus.aa < 0 else slice(locus.aa, locus.aa + 1)
    fips = slice(None) if locus.fip < 0 else slice(locus.fip, locus.fip + 1)
    eligible, failed = (
        int(part[rows][:, aas, fips].sum(dtype=np.float64))
        for part in (evidence.total - evidence.client_errors, evidence.failed)
    )
    return eligible - failed, eligible


def counted_apis(locus: Locus) -> Sequence[str]:
    """Returns the APIs whose calls are counted for a place: those for customers, if it has none."""
    return locus.apis or CUSTOMER_CODES


def _symptoms(symptoms: Iterable[int]) -> tuple[Symptom, ...]:
    return tuple(_SYMPTOM_ORDER[one] for one in sorted(symptoms))


_SYMPTOM_ORDER: Final = tuple(Symptom)
"""In the order of attribution's own."""


def _subject(locus: Locus, journal: Journal) -> Subject:
    aa, fip = journal.aas[max(locus.aa, 0)], journal.fips[max(locus.fip, 0)]
    code = API_SEPARATOR.join(locus.apis)
    match locus.kind:
        case Kind.FIP:
            return Fip(fip)
        case Kind.FIP_API:
            return FipApi(fip, code)
        case Kind.AA:
            return AaCalls(aa)
        case Kind.AA_API:
            return AaApi(aa, code)
        case Kind.AGENT:
            return AaReporting(aa)
        case Kind.PATH:
            return Path(aa, fip)
        case Kind.NETWORK:
            return Network()
