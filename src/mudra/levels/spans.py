"""The spans of a member's report: from incidents, planned maintenances and decided disputes."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from msgspec import Struct

from mudra.disputes.correction import Correction
from mudra.levels.evidence import Fate, Span
from mudra.localization.language import ENGLISH, written_in
from mudra.metrics.incidents.incident import (
    NO_CAUSES,
    AaApi,
    AaCalls,
    AaReporting,
    Fip,
    FipApi,
    Incident,
    Network,
    Path,
    StoredIncident,
    Subject,
)
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.incidents.subject import codes_of, text_of
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType


class MaintenanceRule(Struct, frozen=True, rename="camel"):
    """The network's rule about planned maintenance that is left out."""

    notice_hours: int = 24
    """It was announced so long before it began: members can tell their customers a day ahead."""
    hours_a_month: int = 24
    """The first so many hours of a period of 30 days are left out: the rest counts."""


class Member(Struct, frozen=True, rename="camel"):
    """A member with a role, or the network with neither."""

    entity_id: str
    role: EntityType | None
    name: str = ""


def spans_of(
    member: Member,
    within: TimeRange,
    incidents: Iterable[StoredIncident],
    maintenances: Iterable[Silence],
    corrections: Iterable[Correction],
    rule: MaintenanceRule,
) -> tuple[Span, ...]:
    """Returns the spans of a member's report, in order of time; the network has none.

    Of an AA only those at the time of its own outages: its success is what it got.
    """
    if member.role is None:
        return ()
    with written_in(ENGLISH):  # it is signed: the same in every language
        found = [
            *_of_incidents(member, incidents),
            *_of_maintenances(member, maintenances, within, rule),
            *(_of_correction(one) for one in corrections),
        ]
    inside = [cut for one in found if (cut := _cut(one, within)) is not None]
    if member.role is EntityType.AA:
        inside = [*_with_own(inside)]
    return tuple(sorted(inside, key=lambda one: (one.start, one.end, one.reference)))


def segments_of(spans: Sequence[Span]) -> list[TimeRange]:
    """Returns the times with spans, cut wherever one begins or ends."""
    edges = sorted({at for one in spans for at in (one.start, one.end)})
    cut = (TimeRange(*pair) for pair in itertools.pairwise(edges))
    return [part for part in cut if any(_overlaps(one, part) for one in spans)]


def _of_incidents(member: Member, incidents: Iterable[StoredIncident]) -> Iterator[Span]:
    for stored in incidents:
        incident = stored.incident
        if incident.ending in NO_CAUSES:
            continue
        fate = _fate(member, incident)
        if fate is None:
            continue
        yield Span(
            fate,
            stored.incident_id,
            text_of(incident.subject),
            incident.began,
            incident.last_bad + WINDOW,
            tuple(sorted(codes_of(incident.subject))),
            () if fate in {Fate.OWN, Fate.UNSURE} else _peers(member, incident.subject),
        )


def _fate(member: Member, incident: Incident) -> Fate | None:
    """Returns what an incident means for a member; None where it means nothing."""
    subject = incident.subject
    if _is_own(member, subject):
        if not incident.failing and not incident.by_heartbeats:
            return None
        doubt = any(not _is_own(member, one) for one in incident.cause.ambiguous_with)
        return Fate.UNSURE if doubt else Fate.OWN
    match subject:
        case Network():
            return Fate.ELSEWHERE
        case AaReporting():
            return None
        case Path(aa_id, fip_id):
            return Fate.ELSEWHERE if member.entity_id in {aa_id, fip_id} else None
        case AaCalls() | AaApi():
            return Fate.ELSEWHERE if member.role is EntityType.FIP else None
        case Fip() | FipApi():
            return Fate.ELSEWHERE if member.role is EntityType.AA else None


def _is_own(member: Member, subject: Subject) -> bool:
    match subject:
        case Fip(fip_id) | FipApi(fip_id, _):
            return member.role is EntityType.FIP and fip_id == member.entity_id
        case AaCalls(aa_id) | AaApi(aa_id, _):
            return member.role is EntityType.AA and aa_id == member.entity_id
        case _:
            return False


def _peers(member: Member, subject: Subject) -> tuple[str, ...]:
    """Returns the others whose calls with the member an incident elsewhere is about."""
    match subject:
        case Path(aa_id, fip_id):
            return (aa_id if member.role is EntityType.FIP else fip_id,)
        case AaCalls(aa_id) | AaApi(aa_id, _) | AaReporting(aa_id):
            return (aa_id,)
        case Fip(fip_id) | FipApi(fip_id, _):
            return (fip_id,)
        case Network():
            return ()


def _of_maintenances(
    member: Member, found: Iterable[Silence], within: TimeRange, rule: MaintenanceRule
) -> Iterator[Span]:
    """Yields the maintenances: the member's own by the rule, in the order of their begins.

    What the rule does not cover counts like an outage: nothing else was judged meanwhile.
    """
    months = max((within.end - within.start) / timedelta(days=30), 1.0)
    left = timedelta(hours=rule.hours_a_month) * months
    planned = (one for one in found if one.maintenance and one.has_time)
    for one in sorted(planned, key=lambda each: (each.begins, each.silence_id)):
        start = window_start(one.begins)
        end = window_start(one.ends - timedelta(microseconds=1)) + WINDOW
        if one.entity_id != member.entity_id:
            yield Span(
                Fate.ELSEWHERE,
                one.silence_id,
                f"maintenance of {one.entity_id}",
                start,
                end,
                peers=(one.entity_id,),
            )
            continue
        in_time = announced_in_time(one, rule)
        free = min(end, start + left) if in_time else start
        free = window_start(free)
        left -= max(free - start, timedelta()) if in_time else timedelta()
        if free > start:
            yield Span(Fate.MAINTENANCE, one.silence_id, one.reason, start, free)
        if free < end:
            why = "maintenance beyond the rule" if in_time else "maintenance announced too late"
            yield Span(Fate.OWN, one.silence_id, why, free, end)


def announced_in_time(one: Silence, rule: MaintenanceRule) -> bool:
    """Returns whether a maintenance was announced as far ahead as the rule asks."""
    notice = timedelta(hours=rule.notice_hours)
    return one.announced_at is not None and one.begins - one.announced_at >= notice


def _of_correction(one: Correction) -> Span:
    apis = () if one.api is None else (one.api,)
    return Span(Fate(one.effect), one.id, one.reason, one.start, one.end, apis)


def _cut(span: Span, within: TimeRange) -> Span | None:
    start, end = max(span.start, within.start), min(span.end, within.end)
    if start >= end:
        return None
    return Span(span.fate, span.reference, span.cause, start, end, span.apis, span.peers)


def _with_own(spans: Sequence[Span]) -> Iterator[Span]:
    """Yields the member's own spans, and the parts of others at their time."""
    own = [one for one in spans if not one.peers]
    yield from own
    times = [TimeRange(one.start, one.end) for one in own if one.fate is Fate.OWN]
    for one in spans:
        if one.peers:
            yield from (cut for time in times if (cut := _cut(one, time)) is not None)


def _overlaps(span: Span, part: TimeRange) -> bool:
    return span.start < part.end and span.end > part.start
