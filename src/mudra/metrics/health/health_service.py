"""The health of the network for any time, for the API, the console and commands alike."""

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Hashable,
    Mapping,
    Sequence,
)
from datetime import datetime
from typing import TypeVar

from msgspec import Struct

from mudra.metrics.health.fip_health import (
    REQUESTS_SHOWN,
    TYPES_READ,
    FipHealth,
    published,
)
from mudra.metrics.health.fip_state import LatestFipStates
from mudra.metrics.health.health import Disputed
from mudra.metrics.health.judging import FipFigures, eligible, figures_of, succeeded
from mudra.metrics.health.level_change import LevelChange, changes_from_bytes
from mudra.metrics.health.network_health import LATELY, HealthOfMember, NetworkHealth, planned
from mudra.metrics.health.own_calls import OwnCalls, own_from_bytes, own_with_hours
from mudra.metrics.health.picture import MAX_PAIRS, Grouping, Matrix, Row, TooManyPairs
from mudra.metrics.health.picturing import (
    Asked,
    HealthOfSubject,
    health_of_fips,
    health_of_subject,
    matrix,
    picture,
)
from mudra.metrics.health.weighing import MIN_REPORTERS, disputed, seen_by_most
from mudra.metrics.incidents.explanation import AtOnce, at_once, causes_of, failing_apis, of_api
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.incident_service import MAX_OPEN
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.payload.catalogue import ALL_CALLS, CALL_CODES, CUSTOMER_CODES, Tag, hour_start
from mudra.metrics.ports import (
    Incidents,
    Pair,
    PublicMembers,
    ReportMarks,
    RollupQueries,
    Silences,
    StoredOwnCalls,
)
from mudra.metrics.rollup.coverage import Coverage, TimeRange, coverage_of, latest
from mudra.metrics.rollup.marks import DayMark
from mudra.metrics.rollup.series import Point, points
from mudra.metrics.rollup.step import Step
from mudra.metrics.sums.totals import Totals
from mudra.shared.entity_type import EntityType
from mudra.shared.waiting.made_once import MadeOnce

T = TypeVar("T")


class HealthService(Struct, frozen=True):
    """Answers questions about health in the caller's transaction."""

    rollups: RollupQueries
    reports: ReportMarks
    members: PublicMembers
    incidents: Incidents
    fip_states: LatestFipStates
    silences: Silences
    own: StoredOwnCalls
    shared: MadeOnce

    async def maintenances(
        self, within: TimeRange, now: datetime, of: Collection[str] | None = None
    ) -> Sequence[Silence]:
        """Returns the maintenances that touch a time or are active now, of all or of these."""
        found = await self.silences.ending_after(within.start)
        end = max(within.end, now)
        return [
            one
            for one in found
            if one.maintenance
            and one.has_time
            and one.begins < end
            and (of is None or one.entity_id in of)
        ]

    async def coverage(
        self, within: TimeRange, now: datetime, aa_id: str | None = None
    ) -> Coverage:
        """Returns which reports were expected in a time, and which were received."""
        return await coverage_of(self.members, self.reports, within, now, aa_id)

    async def never_reported(self, aa_ids: Collection[str]) -> frozenset[str]:
        """Returns which of these AAs never sent a report: their agents have yet to begin."""
        return await self.members.never_reported(aa_ids)

    async def rows(
        self,
        within: TimeRange,
        grouping: Grouping,
        now: datetime,
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
    ) -> tuple[Row, ...] | TooManyPairs:
        """Returns the rows of a health picture, of one AA or FIP where it is named."""
        of_all = grouping is Grouping.PAIR and aa_id is None and fip_id is None
        if of_all and await self.has_too_many_pairs(within):
            return TooManyPairs()
        coverage = await self.coverage(within, now, aa_id)
        return await self._rows(within, grouping, coverage, aa_id, fip_id)

    async def of_member(
        self,
        entity_id: str,
        entity_type: EntityType,
        within: TimeRange,
        now: datetime,
        *,
        by_aa: bool,
    ) -> HealthOfMember:
        """Returns the health that concerns a member; of a FIP, by AA or over all AAs."""
        aa_id = entity_id if entity_type is EntityType.AA else None
        fip_id = entity_id if entity_type is EntityType.FIP else None
        grouping = Grouping.PAIR if aa_id or (fip_id and by_aa) else Grouping.FIP
        coverage = await self.coverage(within, now, aa_id)
        rows = await self._rows(within, grouping, coverage, aa_id, fip_id)
        if entity_type is EntityType.FIU:
            live = await self.members.live_fips()
            rows = tuple(row for row in rows if row.subject.fip_id in live)
        return HealthOfMember(rows, coverage)

    async def seen_by_aas(
        self, within: TimeRange, fip_ids: Collection[str], codes: Collection[str]
    ) -> Mapping[str, Sequence[Row]]:
        """Returns what each AA sees of these FIPs, by FIP: of these types, without times."""

        async def make() -> Mapping[str, Sequence[Row]]:
            calls = await self.rollups.pairs(within, codes, fip_ids=fip_ids)
            found: dict[str, list[Row]] = {fip_id: [] for fip_id in fip_ids}
            for row in picture(calls, Grouping.PAIR, Coverage({}, {})):
                found[row.subject.fip_id].append(row)
            return found

        question = ("seen", frozenset(fip_ids), frozenset(codes))
        return await self.made_once(question, within, None, None, make)

    async def of_subject(
        self,
        within: TimeRange,
        now: datetime,
        aa_id: str | None,
        fip_id: str | None,
        code: str = ALL_CALLS,
    ) -> HealthOfSubject:
        """Returns the health of an AA, a FIP or a pair; without either, of one API of all."""
        coverage = await self.coverage(within, now, aa_id)
        of_one = aa_id is not None or fip_id is not None

        async def make() -> HealthOfSubject:
            totals = await self.totals(within, aa_id, fip_id, code)
            weighed = (
                await asyncio.to_thread(disputed, totals)
                if of_one
                else await self._disputed(within, totals, (code,))
            )
            asked = Asked(aa_id, fip_id, code)
            return await asyncio.to_thread(health_of_subject, totals, asked, coverage, weighed)

        question, large = ("subject", aa_id, fip_id, code), fip_id is None
        return await self.made_once(question, within, aa_id, coverage, make, large=large)

    async def totals(
        self, within: TimeRange, aa_id: str | None, fip_id: str | None, code: str = ALL_CALLS
    ) -> Totals:
        """Returns the sums of an AA, a FIP or a pair; without either, of one request by FIP."""
        if aa_id is None and fip_id is None:
            codes = {code} - {ALL_CALLS}
            return await self.rollups.over_aas(within, tag=Tag.REQUESTS, codes=codes)
        return await self.rollups.totals(within, aa_id=aa_id, fip_id=fip_id)

    async def matrix(self, within: TimeRange, code: str = ALL_CALLS) -> Matrix:
        """Returns AA x FIP with the causes of this time, over one type or over all calls."""
        causes = causes_of(await self.incidents.since(within.start), within)
        found = [one for one in causes if of_api(one.incident, code)]

        async def make() -> Matrix:
            if code == ALL_CALLS:
                calls = await self.rollups.calls_of_pairs(within)
            else:
                calls = await self.rollups.pairs(within, (code,))
            return await asyncio.to_thread(matrix, calls, found, code)

        return await self.made_once(("matrix", code), within, None, found, make, large=True)

    async def points(
        self,
        within: TimeRange,
        step: Step,
        code: str,
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
    ) -> tuple[Point, ...]:
        """Returns a point of a chart for each step."""

        async def make() -> tuple[Point, ...]:
            codes = (code,) if code else CUSTOMER_CODES
            return await points(self.rollups, within, step, codes, aa_id=aa_id, fip_id=fip_id)

        question = ("points", step, code, aa_id, fip_id)
        return await self.made_once(question, within, aa_id, None, make)

    async def steps(
        self,
        within: TimeRange,
        step: Step,
        codes: frozenset[str],
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
    ) -> tuple[Point, ...]:
        """Returns a point for each step, over these APIs together."""
        return await points(self.rollups, within, step, codes, aa_id=aa_id, fip_id=fip_id)

    async def calls_of_pairs(
        self, within: TimeRange, codes: Collection[str]
    ) -> Mapping[Pair, tuple[int, int]]:
        """Returns the calls of each pair that succeeded, and all but 4xx, over these APIs."""
        calls = (await self.rollups.pairs(within, codes)).by("aa", "fip")
        counts = succeeded(calls.cells).tolist(), eligible(calls.cells).tolist()
        pairs = map(Pair, calls.aa_ids(), calls.fip_ids())
        return dict(zip(pairs, zip(*counts, strict=True), strict=True))

    async def network(self, within: TimeRange, now: datetime) -> NetworkHealth:
        """Returns the health of every live FIP that is onboarded, over all AAs, for publication."""

        async def make() -> tuple[Mapping[str, FipHealth], Disputed]:
            totals = await self.rollups.over_aas(within, codes=TYPES_READ)
            fips = await asyncio.to_thread(health_of_fips, totals)
            return fips, await self._disputed(within, totals, REQUESTS_SHOWN)

        seen, weighed = await self.made_once("network", within, None, None, make, large=True)
        live, onboarded = await self.members.live_fips(), await self.members.onboarded_fips()
        coverage = await self.coverage(within, now)
        lately = await self.coverage(latest(within.end, LATELY), now)
        reported_until = await self.reports.reported_until(within)
        causes = await self.incidents.latest(only_open=True, entity_id=None, limit=MAX_OPEN)
        within_it = causes_of(await self.incidents.since(within.start), within)
        stored = await self.own.own_hours(hour_start(within.start))
        failing = failing_apis(one.incident for one in causes)
        own, hours = await asyncio.to_thread(own_with_hours, stored, within.start, failing)
        return NetworkHealth(
            published(seen, live, onboarded),
            within,
            coverage,
            lately,
            reported_until,
            tuple(one.incident for one in causes[::-1]),
            weighed,
            await self.fip_states.latest(),
            planned(await self.silences.ending_after(now), onboarded, now),
            own,
            tuple(one.incident for one in within_it),
            tuple(await self.changed_rates()),
            hours,
        )

    async def figures_of_fips(self, within: TimeRange) -> Sequence[FipFigures]:
        """Returns the figures of each API with calls, over all AAs, of every FIP reported."""

        async def make() -> Sequence[FipFigures]:
            calls = await self.rollups.over_aas(within, tag=Tag.REQUESTS, codes=CALL_CODES)
            return await asyncio.to_thread(list, figures_of(calls))

        return await self.made_once("figures", within, None, None, make, large=True)

    async def judged_until(self) -> datetime | None:
        """Returns the end of the last judged window; None before the first."""
        states = await self.fip_states.latest()
        return states.end if states.fips else None

    async def has_too_many_pairs(self, within: TimeRange) -> bool:
        """Returns whether more pairs reported than are shown at once."""

        async def make() -> bool:
            return await self.rollups.has_more_pairs(within, MAX_PAIRS)

        return await self.made_once("too many pairs", within, None, None, make, large=True)

    async def _weigh(
        self,
        within: TimeRange,
        grouping: Grouping,
        coverage: Coverage,
        totals: Totals,
        fip_id: str | None,
    ) -> Disputed:
        reporters = {aa_id for (aa_id, _), windows in coverage.received.items() if windows}
        if grouping is not Grouping.FIP or len(reporters) < MIN_REPORTERS:
            return {}
        if fip_id is None:
            return await self._disputed(within, totals, CALL_CODES)
        calls = await self.rollups.pairs(within, CALL_CODES, fip_ids=[fip_id])
        return await asyncio.to_thread(disputed, calls)

    async def _disputed(
        self, within: TimeRange, over_aas: Totals, codes: Collection[str]
    ) -> Disputed:
        calls = await self.rollups.contested(within, codes, over_aas)
        return await asyncio.to_thread(disputed, calls)

    async def day(self, within: TimeRange) -> Totals:
        """Returns the calls to each FIP on a day, as most AAs see them."""
        return await asyncio.to_thread(seen_by_most, await self.rollups.calls_of_pairs(within))

    async def own_days(self, days: Sequence[datetime]) -> Mapping[datetime, str]:
        """Returns a mark of each of these days (UTC) of which windows were judged."""
        return await self.own.own_days(days)

    async def own_day(self, day: datetime) -> OwnCalls:
        """Returns the calls of such a day that are the FIPs' own."""
        return await asyncio.to_thread(own_from_bytes, await self.own.own_day(day))

    def days(self, days: Collection[datetime]) -> AsyncIterator[tuple[datetime, Totals]]:
        """Returns the same for each of these days (UTC) for which it is stored, and not stale."""
        return self.rollups.seen_by_most(days)

    async def marks(self, within: TimeRange, reports_from: datetime) -> Mapping[datetime, DayMark]:
        """Returns a mark of each day with sums; of its reports for days from one on."""
        return await self.reports.marks(within, reports_from)

    async def live_fips(self) -> Sequence[str]:
        """Returns the FIPs that take part, by ID."""
        return sorted(await self.members.live_fips())

    async def onboarded_fips(self) -> frozenset[str]:
        """Returns the FIPs that public pages may name."""
        return await self.members.onboarded_fips()

    async def names(self) -> Mapping[str, str]:
        """Returns the names of all members by entity ID."""
        return await self.members.names()

    async def changed_rates(self) -> Sequence[LevelChange]:
        """Returns the FIPs of which more calls fail since a time, without an outage."""
        changes = await self.own.changes()
        return changes_from_bytes(changes) if changes else ()

    async def at_once(self, incidents: Sequence[StoredIncident]) -> Sequence[AtOnce]:
        """Returns the FIPs among these incidents that fell at once, and who serves them all."""
        found = {one.incident_id: one.incident for one in incidents}
        return at_once(found, await self.members.providers()) if at_once(found, {}) else ()

    async def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Returns the groups of each institution with a live entry."""
        return await self.members.groups()

    async def made_once(
        self,
        question: Hashable,
        within: TimeRange,
        aa_id: str | None,
        facts: object,
        make: Callable[[], Awaitable[T]],
        *,
        large: bool = False,
    ) -> T:
        """Returns what many ask for at once, of these reports and facts; `large` of all FIPs."""
        made_of = (await self.reports.mark(within, aa_id), facts)
        return await self.shared.get((question, within), made_of, make, large=large)

    async def _rows(
        self, within: TimeRange, grouping: Grouping, coverage: Coverage, *ids: str | None
    ) -> tuple[Row, ...]:
        aa_id, fip_id = ids

        async def make() -> tuple[Row, ...]:
            totals = await self.sums(within, grouping, aa_id=aa_id, fip_id=fip_id)
            weighed = {} if aa_id else await self._weigh(within, grouping, coverage, totals, fip_id)
            return await asyncio.to_thread(picture, totals, grouping, coverage, weighed)

        question, large = ("rows", grouping, aa_id, fip_id), fip_id is None
        return await self.made_once(question, within, aa_id, coverage, make, large=large)

    async def sums(
        self, within: TimeRange, grouping: Grouping, *, aa_id: str | None, fip_id: str | None
    ) -> Totals:
        """Returns the sums of which the rows of a picture are made."""
        if aa_id is None and grouping in {Grouping.NETWORK, Grouping.FIP}:
            return await self.rollups.over_aas(within, fip_id=fip_id)
        if grouping in {Grouping.NETWORK, Grouping.AA}:
            return await self.rollups.of_aas(within, aa_id=aa_id, fip_id=fip_id)
        return await self.rollups.totals(within, aa_id=aa_id, fip_id=fip_id)
