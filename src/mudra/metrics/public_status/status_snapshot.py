"""Reads the public status: the last 24 hours by API, 90 days by FIP, and incidents."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.latest_health import PUBLIC_SPAN, READ_S
from mudra.metrics.health.network_health import NetworkHealth
from mudra.metrics.health.own_calls import ALL, Field, OwnTotals, broken, own_totals
from mudra.metrics.incidents.incident import Incident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.silence_service import SilenceService
from mudra.metrics.incidents.subject import fip_of
from mudra.metrics.payload.catalogue import day_start, hour_start, window_start
from mudra.metrics.public_status.public_rows import LastDay, PublicRow, public_status
from mudra.metrics.public_status.status_history import (
    FLOOR,
    Day,
    DayOfFips,
    DayState,
    FipHistory,
    PublicIncident,
    PublicMaintenance,
    StatusSnapshot,
    day_without_data,
    days_before,
    days_of_fips,
    is_of_network,
    is_public,
    last_day_of,
    public_announcement,
    public_incident,
    with_incidents,
)
from mudra.metrics.rollup.coverage import TimeRange, latest
from mudra.metrics.rollup.damage import BlockDamaged
from mudra.metrics.rollup.marks import DayMark
from mudra.metrics.rollup.percentage import percentage, share_of
from mudra.metrics.sums.totals import Totals
from mudra.shared.unavailable import DatabaseUnavailable, Outage
from mudra.storage.database.transaction import OpenTransaction

_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)
_HOURS: Final = 24
_PLACES: Final = 1
_GROUPS_KEPT: Final = timedelta(minutes=1)
"""Entries change seldom, and each is read whole."""
_CHANGING_DAYS: Final = timedelta(days=8)
"""A window may arrive 7 days late; older days change only with a held report that is admitted."""

_UNMARKED: Final = DayMark("", None)


class _DayHealth(Struct, frozen=True):
    """A day of each FIP by its calls alone, and the mark of the day before it was read, if it was.

    Snapshots share them: 2,000 FIPs have 180,000 days, and one is made every few seconds.
    """

    day: DayOfFips
    of_others: Day
    mark: DayMark | None = None
    own: str = ""
    """The mark of the calls that are the FIPs' own; empty where no window was judged."""

    def may_change_to(self, mark: DayMark, own: str) -> bool:
        """Returns whether the day must be read again, which has these marks now."""
        return self.mark is None or own != self.own or mark.is_newer_than(self.mark)

    def of(self, fip_id: str) -> Day:
        """Returns the day of a FIP."""
        return self.day.of_fips.get(fip_id, self.of_others)

    def is_below(self, fip_id: str) -> bool:
        """Returns whether a FIP broke the rule over the day, for chance or not."""
        return fip_id in self.day.below


class _Own(Struct, frozen=True):
    """A day of which windows were judged, with its mark."""

    mark: str = ""
    day: OwnTotals | None = None


def _day_health(day: datetime, seen: Totals, mark: DayMark, own: _Own) -> _DayHealth:
    at = day.date()
    return _DayHealth(days_of_fips(at, seen, own.day), day_without_data(at), mark, own.mark)


def _unread(day: datetime) -> _DayHealth:
    return _DayHealth(DayOfFips({}), day_without_data(day.date()))


class StatusReader:
    """Reads snapshots; reads days again only when their reports have changed."""

    def __init__(self) -> None:
        self._days: dict[datetime, _DayHealth] = {}
        self._groups: Mapping[str, tuple[str, ...]] = {}
        self._groups_until: datetime | None = None

    async def read(self, open_transaction: OpenTransaction, now: datetime) -> StatusSnapshot:
        """Returns the public status as of the last closed window."""
        async with open_transaction(within_s=READ_S) as tx:
            last_day = latest(window_start(now), PUBLIC_SPAN)
            network = await tx.service(HealthService).network(last_day, now)
        days = days_before(now)
        await self._read_days(open_transaction, days, day_start(now))
        async with open_transaction(within_s=READ_S) as tx:
            names = await tx.service(HealthService).names()
            if self._groups_until is None or now >= self._groups_until:
                self._groups = await tx.service(HealthService).groups()
                self._groups_until = now + _GROUPS_KEPT
            onboarded = await tx.service(HealthService).onboarded_fips()
            # All of them: a day with an omitted incident would appear as good.
            stored = await tx.service(IncidentService).since(days[0])
            planned = [
                PublicMaintenance(one.entity_id, one.begins, one.ends, one.ends <= now)
                for one in await tx.service(SilenceService).public(now)
                if one.entity_id in onboarded
            ]
            announced = [
                public_announcement(one)
                for one in await tx.service(AnnouncementService).public(now)
            ]
        newest_first = [
            one.incident
            for one in reversed(stored)
            if fip_of(one.incident.subject) in onboarded and is_public(one.incident)
        ]
        of_network = [one.incident for one in stored if is_of_network(one.incident)]
        # 18,000 rows of APIs: other requests go on meanwhile.
        snapshot = await asyncio.to_thread(self._snapshot, network, names, newest_first)
        since = min((one.began for one in of_network if one.ended is None), default=None)
        return replace(snapshot, maintenance=planned, announcements=announced, network_since=since)

    async def _read_days(
        self, open_transaction: OpenTransaction, days: Sequence[datetime], today: datetime
    ) -> None:
        """Reads the days that have changed since: those that are stored, then each other one.

        Of a day with judged windows with the calls that detection counted.
        """
        within = TimeRange(days[0], today + _DAY)
        async with open_transaction(within_s=READ_S) as tx:
            health = tx.service(HealthService)
            marks = await health.marks(within, today - _CHANGING_DAYS)
            judged = await health.own_days(days)
            kept = {day: self._days.get(day, _unread(day)) for day in days}
            changed = {
                day: mark
                for day, read in kept.items()
                if read.may_change_to(mark := marks.get(day, _UNMARKED), judged.get(day, ""))
            }
            own = {
                day: _Own(judged[day], own_totals(await health.own_day(day)))
                for day in changed
                if day in judged
            }
            self._days = kept
            async for day, seen in health.days([*changed]):
                mark = changed.pop(day)
                made = asyncio.to_thread(_day_health, day, seen, mark, own.get(day, _Own()))
                kept[day] = await made
        for day, mark in changed.items():
            try:
                async with open_transaction(within_s=READ_S) as tx:
                    seen = await tx.service(HealthService).day(TimeRange(day, day + _DAY))
                made = asyncio.to_thread(_day_health, day, seen, mark, own.get(day, _Own()))
                kept[day] = await made
            except BlockDamaged:
                kept[day] = _unread(day)
            except DatabaseUnavailable as outage:
                # A day whose sums are being made may take too long: others are shown meanwhile.
                if outage.cause is not Outage.TOO_SLOW:
                    raise

    def _snapshot(
        self,
        network: NetworkHealth,
        names: Mapping[str, str],
        incidents: Sequence[Incident],
    ) -> StatusSnapshot:
        apis: dict[str, list[PublicRow]] = {}
        last_day = LastDay(network.own, network.incidents)
        for row in public_status(network.fips, last_day, disputed=network.disputed):
            apis.setdefault(row.fip_id, []).append(row)
        by_fip: dict[str, list[Incident]] = {}
        for one in incidents:
            by_fip.setdefault(fip_of(one.subject) or "", []).append(one)
        proof, lately = network.coverage.proof(), network.lately.proof()
        days = [one for _, one in sorted(self._days.items())]
        last, hours = _LastDays(network), LastHours(network)
        public = [hours.with_hours(one) for one in map(public_incident, incidents) if one]
        return StatusSnapshot(
            network.within.end,
            [
                FipHistory(
                    fip_id,
                    names.get(fip_id, fip_id),
                    _with_incidents(fip_id, days, by_fip.get(fip_id, ())),
                    rows,
                    last.of(fip_id, rows, by_fip.get(fip_id, ())),
                    self._groups.get(fip_id, ()),
                    *hours.of(fip_id),
                )
                for fip_id, rows in sorted(apis.items())
            ],
            public,
            lately.reporters_seen,
            lately.reporters_expected,
            proof.windows_received,
            proof.windows_expected,
            network.reported_until,
        )


def _with_incidents(
    fip_id: str, days: Sequence[_DayHealth], incidents: Sequence[Incident]
) -> list[Day]:
    if not incidents:
        return [one.of(fip_id) for one in days]
    return [
        with_incidents(one.of(fip_id), incidents, is_below=one.is_below(fip_id)) for one in days
    ]


class _LastDays:
    """The last 24 hours of each FIP."""

    def __init__(self, network: NetworkHealth) -> None:
        own = network.own
        self._since = network.within.start
        self._fips, self._places = network.fips, own.places()
        self._calls = own.counts[Field.TOTAL, ALL].tolist()
        self._broken = broken(own.counts)[ALL].tolist()

    def of(self, fip_id: str, rows: Sequence[PublicRow], incidents: Sequence[Incident]) -> DayState:
        """Returns the state of a FIP with these APIs and incidents."""
        place = self._places.get(fip_id)
        if place is None:
            calls = sum(one.total for one in self._fips[fip_id].apis.values())
        else:
            calls = self._calls[place]
        return last_day_of(
            rows,
            calls,
            is_broken=place is not None and self._broken[place],
            had_incident=any(one.ended is None or one.ended > self._since for one in incidents),
        )


class LastHours:
    """The last 24 hours that were over at a time, and the one that was not: own calls."""

    def __init__(self, network: NetworkHealth) -> None:
        end, own = hour_start(network.within.end), network.own_hours
        self._hours = [own.get(end - back * _HOUR) for back in range(_HOURS, -1, -1)]
        self._places = [one.places() if one else {} for one in self._hours]

    def of(self, fip_id: str) -> tuple[tuple[float | None, ...], float | None]:
        """Returns the percentage of each hour, the oldest first; None with too few calls."""
        *full, running = (
            self._share(own, places.get(fip_id))
            for own, places in zip(self._hours, self._places, strict=True)
        )
        return (*full,), running

    def with_hours(self, one: PublicIncident) -> PublicIncident:
        """Returns an incident with the hours of its APIs, if it is open and of some alone."""
        if one.ended is not None or not one.type:
            return one
        key = one.fip_id, one.type
        shares = tuple(
            _percent(*own.of_apis[key]) if own and key in own.of_apis else None
            for own in self._hours
        )
        return replace(one, success_by_hour=shares)

    def _share(self, own: OwnTotals | None, place: int | None) -> float | None:
        if own is None or place is None:
            return None
        return _percent(int(own.total[place]), int(own.eligible[place]), int(own.failed[place]))


def _percent(total: int, eligible: int, failed: int) -> float | None:
    if total < FLOOR.min_calls:
        return None
    return percentage(share_of(eligible - failed, eligible), _PLACES)
