"""The public view of the network over 90 days, stored as one snapshot.

It names no AA and shows nothing about fewer calls than the minimum of `public_rows.py`: a
day without enough calls is "too few calls", one without any "no data", and never 100 %. A heartbeat
is no call here.
"""

import enum
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from sys import intern
from typing import Final

import msgspec
import numpy as np

from mudra.metrics.announcements.announcement import (
    Announcement,
    Kind,
    Translation,
    Update,
    in_language,
)
from mudra.metrics.health.health import GOOD_ABOVE_PERCENT, Status
from mudra.metrics.health.judging import LARGE, eligible, succeeded
from mudra.metrics.health.own_calls import BAD_Z, OwnTotals, root
from mudra.metrics.incidents.incident import (
    HARM,
    Effect,
    Ending,
    Incident,
    Network,
    Symptom,
    changed_at,
)
from mudra.metrics.incidents.subject import SubjectKind, codes_of, fip_of, name_of
from mudra.metrics.payload.catalogue import Position, RequestType, day_start
from mudra.metrics.public_status.public_rows import PublicFloor, PublicRow, is_current, unsure
from mudra.metrics.rollup.percentage import percentage, share_of
from mudra.metrics.sums.cells import COUNTS, Array, Flags, wide
from mudra.metrics.sums.totals import Totals
from mudra.shared.text.csv_file import csv_text

DAYS: Final = 90
_PLACES: Final = 1
_SHARES: Final = {one: one for one in (share / 10**_PLACES for share in range(1001))}
"""The numbers of a percentage, each once in memory: 2,000 FIPs have 180,000 days."""
FLOOR: Final = PublicFloor()


class DayState(enum.StrEnum):
    """One day of one FIP."""

    GOOD = "good"
    PARTLY = "partly"
    """With an incident in it, while over the day the rule was kept, or calls were too few."""
    BAD = "bad"
    """Fewer of its own calls succeeded than the rule demands, with an incident or beyond chance."""
    NO_DATA = "no-data"
    TOO_FEW = "too-few"
    """It was called too seldom to say more."""


class Day(msgspec.Struct, frozen=True, gc=False):
    """One day, in UTC: null where too little is known.

    Of calls for customers that are the FIP's own: what an AA, a path or the network has a cause
    for is left out, and so is a planned maintenance. Of days before detection ran all are counted.
    """

    day: date
    state: DayState
    requests: int | None
    success_percentage: float | None


class PublicIncident(msgspec.Struct, frozen=True):
    """An incident of a FIP, or of some of its APIs; `type` is empty for all of them.

    `noticed` is when it was detected, `ended` the start of the first good window.
    """

    fip_id: str
    type: str
    began: datetime
    noticed: datetime
    last_bad: datetime
    ended: datetime | None
    ending: Ending
    bad_windows: int
    success_percentage: float | None
    ambiguous_with: tuple[SubjectKind, ...] = ()
    """Sorts of places that fit the evidence as well, such as a path: only one AA sees it, say."""
    updated: datetime | None = None
    """When its last change was seen, also of one that reports which came late proved."""
    symptoms: tuple[Symptom, ...] = ()
    """What is wrong: several may come from one cause."""
    effect: Effect = Effect.DISRUPTED
    success_by_hour: tuple[float | None, ...] = ()
    """While it is open and of some APIs alone: the percentage of their successful calls in each of
    the last 24 full hours, the oldest first, and in the hour that is not over."""


class PublicMaintenance(msgspec.Struct, frozen=True):
    """A planned maintenance of a FIP: no incident opens about it from `begins` until `ends`."""

    fip_id: str
    begins: datetime
    ends: datetime
    ended: bool = False
    """Whether it was over: it is shown for 24 hours then."""


class PublicAnnouncement(msgspec.Struct, frozen=True):
    """The announcement of the operator; without `fip_ids` it concerns the whole network.

    `begins` and `ends` are of what is announced, in English `title` and `text`, plain text.
    """

    announcement_id: str
    kind: Kind
    title: str
    text: str
    translations: tuple[Translation, ...]
    fip_ids: tuple[str, ...]
    published: datetime
    begins: datetime | None
    ends: datetime | None
    over: datetime | None
    """When it is no longer shown on top; null while that is open."""
    updated: datetime
    updates: tuple[Update, ...] = ()
    """What was added since, the oldest first."""

    def in_language(self, tag: str) -> Translation:
        """Return title and text in a language, else in English."""
        return in_language(self.title, self.text, self.translations, tag)

    def is_over(self, now: datetime) -> bool:
        """Return whether it is in the history."""
        return self.over is not None and self.over <= now

    def concerns(self, fip_id: str) -> bool:
        """Return whether it is of an institution, or of all; every one is of an empty ID."""
        return not fip_id or not self.fip_ids or fip_id in self.fip_ids


class FipHistory(msgspec.Struct, frozen=True):
    """One FIP: its last 90 days, oldest first, and its APIs over 24 hours from a full one on."""

    fip_id: str
    name: str
    days: list[Day]
    apis: list[PublicRow]
    last_24_hours: DayState = DayState.NO_DATA
    """The state of these hours, without an open incident; from the last full hour a day ago on."""
    groups: tuple[str, ...] = ()
    """By what it serves: `deposits`, `funds`, `securities`, `insurance`, `pension`, `tax`, `other`,
    or one of the operator's."""
    success_by_hour: tuple[float | None, ...] = ()
    """The percentage of successful calls in each of the last 24 full hours, the oldest first."""
    success_this_hour: float | None = None
    """The same of the hour that is not over at `as_of`."""


class StatusSnapshot(msgspec.Struct, frozen=True, eq=False):  # megabytes: compared by identity
    """The public status, as of the end of the last closed window."""

    as_of: datetime
    fips: list[FipHistory]
    incidents: list[PublicIncident]
    reporters_seen: int = msgspec.field(name="reporters_heard")
    """AAs of which a report of the last hour came."""
    reporters_expected: int
    """AAs that had to report in the last hour."""
    windows_received: int = msgspec.field(name="windows_heard")
    windows_expected: int
    reported_until: datetime | None = msgspec.field(name="heard_until", default=None)
    """The end of the last window that any AA reported; null for no report in 24 hours."""
    maintenance: list[PublicMaintenance] = msgspec.field(default_factory=list)
    """Running and announced, the earliest end first; then those that ended within 24 hours, the
    last first."""
    announcements: list[PublicAnnouncement] = msgspec.field(default_factory=list)
    """Of the operator: current ones and those that were over within 90 days, 100 at most, the
    last published first."""
    network_since: datetime | None = None
    """Since when calls of nearly all AAs to nearly all institutions fail; null while they are
    not. `incidents` has none for each institution then."""


def status_at(snapshot: StatusSnapshot, now: datetime) -> StatusSnapshot:
    """Returns a snapshot for the current time: without a status of APIs once reports cease.

    This includes a snapshot that is old because the database cannot be read.
    """
    if is_current(snapshot.reported_until, now):
        return snapshot
    fips = [
        msgspec.structs.replace(fip, apis=unsure(fip.apis), last_24_hours=DayState.NO_DATA)
        for fip in snapshot.fips
    ]
    return msgspec.structs.replace(snapshot, fips=fips)


def day_without_data(day: date) -> Day:
    """Returns one day of a FIP without calls."""
    return Day(day, DayState.NO_DATA, None, None)


class DayOfFips(msgspec.Struct, frozen=True):
    """One day of each FIP with calls, without its incidents."""

    of_fips: Mapping[str, Day]
    below: frozenset[str] = frozenset()
    """FIPs that broke the rule over the day, for chance or not: with an incident the day is bad."""


def days_of_fips(day: date, seen: Totals, own: OwnTotals | None = None) -> DayOfFips:
    """Returns one day: of all calls for customers as most AAs see them, in a row for each FIP.

    Where a cause elsewhere or a maintenance explains some, of the FIP's own alone. By columns:
    2,000 FIPs have 180,000 days.
    """
    cells = seen.cells
    total, counted, right = cells.of(COUNTS[Position.TOTAL]), eligible(cells), succeeded(cells)
    if int(total.max(initial=0)) > LARGE:
        counted, right = wide(counted), wide(right)
    fips = [seen.ids[place] for place in cells.keys["fip"].tolist()]
    beyond = root(counted - right, counted) >= BAD_Z
    if own is None:
        return _days(day, fips, total, counted, right, beyond)
    at = {fip_id: place for place, fip_id in enumerate(own.fips)}
    places = np.array([at.get(fip_id, -1) for fip_id in fips], np.int64)
    # An AA that others outvote is in the own calls: then those that are left say it alone.
    is_whole = (places >= 0) & (total >= own.total[places]) if len(own.fips) else places >= 0
    is_beyond = np.where(is_whole, own.is_broken[places], beyond) if len(own.fips) else beyond
    found = _days(day, fips, total, counted, right, is_beyond)
    some = np.flatnonzero(own.taken_out > 0)
    of_own = _days(
        day,
        [own.fips[place] for place in some.tolist()],
        own.total[some],
        own.eligible[some],
        own.eligible[some] - own.failed[some],
        own.is_broken[some],
    )
    left = {own.fips[place] for place in some.tolist()}
    others = {fip_id: one for fip_id, one in found.of_fips.items() if fip_id not in left}
    return DayOfFips({**others, **of_own.of_fips}, (found.below - left) | of_own.below)


def _days(
    day: date, fips: Sequence[str], total: Array, counted: Array, right: Array, beyond: Flags
) -> DayOfFips:
    """Returns the days of these FIPs; `beyond` are failures that more than chance explains."""
    known = (total >= FLOOR.min_calls) & (counted > 0)
    is_below = known & (right * 100 <= counted * GOOD_ABOVE_PERCENT)
    few = Day(day, DayState.TOO_FEW, None, None)
    rows = zip(
        map(intern, fips),  # the same texts in each of 90 days
        *(column.tolist() for column in (known, is_below & beyond, total, counted, right)),
        strict=True,
    )
    found = {
        fip_id: Day(day, DayState.BAD if bad else DayState.GOOD, calls, _share(good, of))
        if is_known
        else few
        for fip_id, is_known, bad, calls, of, good in rows
        if calls
    }
    below_it = np.flatnonzero(np.asarray(is_below, np.bool_)).tolist()
    return DayOfFips(found, frozenset(fips[place] for place in below_it))


def _share(part: int, whole: int) -> float | None:
    share = percentage(share_of(part, whole), _PLACES)
    return None if share is None else _SHARES[share]


def with_incidents(day: Day, incidents: Iterable[Incident], *, is_below: bool) -> Day:
    """Returns a day of a FIP with the incidents of its APIs; `is_below` is that of the day.

    It is not bad by the calls of one AA that may have failed at that AA.
    """
    start = datetime.combine(day.day, time(), UTC)
    end = start + timedelta(days=1)
    hits = [one for one in incidents if one.began < end and (one.ended or end) > start]
    failing = [one for one in hits if one.failing]
    if failing and all(one.may_be_elsewhere for one in failing):
        return msgspec.structs.replace(day, state=DayState.PARTLY)
    if not hits or day.state is DayState.BAD:
        return day
    is_bad = is_below and bool(failing)
    return msgspec.structs.replace(day, state=DayState.BAD if is_bad else DayState.PARTLY)


def last_day_of(
    rows: Sequence[PublicRow], calls: int, *, is_broken: bool, had_incident: bool
) -> DayState:
    """Returns the state of the last 24 hours of a FIP, of its calls over all APIs and its rows."""
    if had_incident or is_broken or any(row.status is Status.BAD for row in rows):
        return DayState.PARTLY
    if calls >= FLOOR.min_calls:
        return DayState.GOOD
    return DayState.TOO_FEW if calls else DayState.NO_DATA


def is_public(incident: Incident) -> bool:
    """Returns whether an incident is shown: neither a withdrawn one nor a part of another.

    Nor one of heartbeats alone: customers are served, or none has called.
    """
    by_heartbeats = codes_of(incident.subject) == {RequestType.HEARTBEAT.value} or (
        incident.by_heartbeats and set(incident.cause.symptoms) & HARM == {Symptom.FAILURES}
    )
    return incident.ending not in {Ending.WITHDRAWN, Ending.MERGED} and not by_heartbeats


def is_of_network(incident: Incident) -> bool:
    """Returns whether calls fail, or failed, between nearly all AAs and FIPs."""
    return isinstance(incident.subject, Network) and incident.failing and is_public(incident)


def public_incident(incident: Incident) -> PublicIncident | None:
    """Returns an incident without what is not public; None for those not about a FIP."""
    fip_id = fip_of(incident.subject)
    if fip_id is None or not is_public(incident):
        return None
    counted = incident.failing and incident.eligible >= FLOOR.min_calls
    return PublicIncident(
        fip_id,
        name_of(incident.subject).type,
        incident.began,
        incident.detected,
        incident.last_bad,
        incident.ended,
        incident.ending,
        incident.bad_windows,
        percentage(share_of(incident.succeeded, incident.eligible), _PLACES) if counted else None,
        tuple(dict.fromkeys(name_of(one).kind for one in incident.cause.ambiguous_with)),
        changed_at(incident),
        incident.cause.symptoms,
        incident.effect,
    )


def public_announcement(one: Announcement) -> PublicAnnouncement:
    """Returns an announcement without who wrote it."""
    changes = (one.said_at, one.changed_at, one.ended_at)
    return PublicAnnouncement(
        one.announcement_id,
        one.kind,
        one.title,
        one.text,
        one.translations,
        one.fip_ids,
        one.publish_at,
        one.begins,
        one.ends,
        one.over_at,
        max(at for at in changes if at is not None),
        one.updates,
    )


def open_incidents(snapshot: StatusSnapshot) -> list[PublicIncident]:
    """Returns the open incidents."""
    return [one for one in snapshot.incidents if one.ended is None]


def maintained_now(snapshot: StatusSnapshot, now: datetime) -> frozenset[str]:
    """Returns the FIPs in planned maintenance."""
    return frozenset(one.fip_id for one in snapshot.maintenance if one.begins <= now < one.ends)


def history_csv(snapshot: StatusSnapshot) -> str:
    """Returns CSV (RFC 4180) with one line for each FIP and day; unknown values are empty."""
    return csv_text(
        ["fip_id", *Day.__struct_fields__],
        (
            (fip.fip_id, day.day, day.state, day.requests, day.success_percentage)
            for fip in snapshot.fips
            for day in fip.days
        ),
    )


def days_before(now: datetime) -> list[datetime]:
    """Returns the starts of the 90 days, in UTC, that end with today."""
    today = day_start(now)
    return [today - timedelta(days=ago) for ago in range(DAYS - 1, -1, -1)]
