"""The world of `recount` as the service knows it: incidents, silences, corrections, calls."""

from collections import Counter
from datetime import datetime, timedelta
from typing import NamedTuple

from tests.unit.levels.recount import AAS, FIP, START, TEN, World, bounds

from mudra.levels.evidence import Calls, Evidence, MissedReports, TimedCalls
from mudra.levels.spans import MaintenanceRule, Member, segments_of, spans_of
from mudra.metrics.incidents.incident import (
    AaCalls,
    Cause,
    Ending,
    Fip,
    FipApi,
    Incident,
    Network,
    Path,
    StoredIncident,
    Subject,
    Symptom,
)
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType

MEMBER = Member(FIP, EntityType.FIP, "Kaveri Bank")
RULE = MaintenanceRule(notice_hours=24, hours_a_month=24)


class Decided(NamedTuple):
    """A correction of disputes, by its fields."""

    id: str
    api: str | None
    start: datetime
    end: datetime
    effect: str
    reason: str


def subject(kind: str, aa: str, api: str) -> Subject:
    return {
        "fip": Fip(FIP),
        "fip-api": FipApi(FIP, api),
        "path": Path(aa, FIP),
        "aa": AaCalls(aa),
        "network": Network(),
    }[kind]


def incident(
    number: int, about: Subject, began: datetime, end: datetime, doubt: bool
) -> StoredIncident:
    cause = Cause((Symptom.FAILURES,), 10, 9, 0.1, 50.0, (Path(AAS[0], FIP),) if doubt else ())
    found = Incident(about, began, began, end - TEN, end, Ending.RECOVERED, 1, 1, 10, cause, ())
    return StoredIncident(f"incident-{number}", found, None)


def evidence_of(world: World) -> Evidence:
    within = TimeRange(START, world.at(world.windows))
    incidents, silences, corrections = [], [], []
    for number, event in enumerate(world.events):
        begin, end = world.at(event.first), world.at(event.end)
        match event.kind:
            case "left_out" | "excused":
                effect = "left_out" if event.kind == "left_out" else "not_against_member"
                corrections.append(
                    Decided(f"decision-{number}", event.api or None, begin, end, effect, "agreed")
                )
            case "maintenance" | "aa-maintenance":
                whose = FIP if event.kind == "maintenance" else event.aa
                silences.append(
                    Silence(
                        f"silence-{number}", whose, "", begin, end, "new disks", f"entity:{whose}",
                        maintenance=True, announced_at=begin - event.notice,
                    )
                )  # fmt: skip
            case kind:
                about = subject(kind, event.aa, event.api)
                incidents.append(incident(number, about, begin, end, event.doubt))
    spans = spans_of(MEMBER, within, incidents, silences, corrections, RULE)
    apart = [calls for part in segments_of(spans) for calls in _added(world, part.start, part.end)]
    silent = [
        world.at(one)
        for one in range(world.windows)
        if one not in world.reported and any(s.start <= world.at(one) < s.end for s in spans)
    ]
    whole = [
        Calls(one.peer_id, one.api, one.counts, (), one.longest, one.times)
        for one in _added(world, within.start, within.end)
    ]
    reports = MissedReports(6 * world.windows, 6 * len(world.reported), 3, 3)
    return Evidence(tuple(whole), tuple(apart), spans, len(world.reported), tuple(silent), reports)


def _added(world: World, begin: datetime, end: datetime) -> list[TimedCalls]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    cells: dict[tuple[str, str], Counter[int]] = {}
    for (window, aa, api), seen in world.seen.items():
        if begin <= world.at(window) < end:
            total = counts.setdefault((aa, api), Counter())
            total["good"] += seen.good
            total["refused"] += seen.refused
            total["broken"] += seen.broken
            total["silent"] += seen.silent
            cells.setdefault((aa, api), Counter()).update(seen.cells)
    found = []
    for key in sorted(counts):
        one, times = counts[key], cells[key]
        total = one["good"] + one["refused"] + one["broken"] + one["silent"]
        row = (total, one["good"], 0, one["refused"], *[0] * 6, one["broken"], *[0] * 4)
        longest = bounds(max(times))[1] - 1 if times else 0
        found.append(
            TimedCalls(*key, row, (), longest, tuple(sorted(times.items())), at=begin, until=end)
        )
    return found


def minutes(number: int) -> timedelta:
    return timedelta(minutes=number)
