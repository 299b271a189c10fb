"""Published levels: what each FIP delivered in the last months, where the operator says so.

The numbers are those of the signed reports, of each month's latest version. Nothing is said of
fewer calls than the public status needs.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mudra.disputes.dispute import Dispute
from mudra.disputes.dispute_store import Disputes
from mudra.levels.calculation import Figure
from mudra.levels.level_service import LevelService
from mudra.levels.months import month_before, month_name
from mudra.levels.spans import Member
from mudra.levels.target import ALL_APIS, Measure
from mudra.metrics.health.latest_health import READ_S
from mudra.metrics.public_status.public_rows import PublicFloor
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import PlainRefusal, RefusalKind
from mudra.storage.database.transaction import OpenTransaction

MONTHS: Final = 6
NOT_PUBLISHED: Final = PlainRefusal(
    RefusalKind.NOT_FOUND, "the operator of this network publishes no service levels"
)
_MAX_DISPUTES: Final = 10_000
_FLOOR: Final = PublicFloor()


class PublicLevel(Struct, frozen=True):
    """One month of one FIP, over all calls for customers."""

    fip_id: str
    name: str
    month: str
    """Such as 2026-03, in the network's time zone."""
    availability_percentage: float | None
    """Rounded down to four decimals; null with too few calls."""
    target_percentage: float | None
    """What the network asked of it on the first day of the month; null for nothing."""
    target_met: bool | None
    requests: int | None
    """Calls that count; null with too few."""
    version: int
    """Of the report: the first is 1, and late reports or decided disputes make another."""
    made: datetime
    contested: bool
    """Whether the institution disputes a part of the month, and no decision was made yet."""


class PublicLevels(Struct, frozen=True, eq=False):  # thousands of rows: compared by identity
    """The figures of each FIP in each of the last six months that have reports."""

    levels: list[PublicLevel]
    """The newest month first, then by name."""


class _Part(Struct, rename="camel"):
    """The part of a report that is published."""

    member: Member
    version: int
    made_at: datetime
    figures: tuple[Figure, ...]


class _Month(Struct, frozen=True):
    """The rows of a month, and how many versions of reports there were."""

    versions: int
    rows: Sequence[PublicLevel]


class LevelsReader:
    """Reads what is published; reads a month again only when a version was made since."""

    def __init__(self) -> None:
        self._months: dict[TimeRange, _Month] = {}
        self._contested: frozenset[tuple[str, str]] = frozenset()
        self._last: PublicLevels | None = None

    async def read(self, open_transaction: OpenTransaction, now: datetime) -> PublicLevels | None:
        """Returns what is published; None where the operator publishes nothing."""
        async with open_transaction(within_s=READ_S) as tx:
            service = tx.service(LevelService)
            if not (await service.rule_now(now)).published:
                self._months, self._last = {}, None
                return None
            zone = ZoneInfo(service.zone)
            asked = _last_months(now, zone)
            versions = await service.reports.versions(asked[-1].start)
            disputes = await Disputes(tx).newest(_MAX_DISPUTES, only_open=True)
        months = {within: versions[within] for within in asked if within in versions}
        contested = _contested(disputes, months, zone)
        if self._last and contested == self._contested and months == self._known():
            return self._last
        kept = {within: one for within, one in self._months.items() if within in months}
        self._months = kept  # with each month that is read: a reading that is cut off goes on
        for within, number in months.items():
            if within not in kept or kept[within].versions != number:
                async with open_transaction(within_s=READ_S) as tx:
                    texts = await tx.service(LevelService).reports.latest_of_all(within)
                rows = await asyncio.to_thread(_rows, texts, month_name(within, zone))
                kept[within] = _Month(number, rows)
        self._contested = contested
        self._last = PublicLevels(
            [_marked(row, contested) for within in months for row in kept[within].rows]
        )
        return self._last

    def _known(self) -> Mapping[TimeRange, int]:
        return {within: month.versions for within, month in self._months.items()}


def _last_months(now: datetime, zone: tzinfo) -> Sequence[TimeRange]:
    """Returns the months that are over, the newest first."""
    found = [month_before(now, zone)]
    while len(found) < MONTHS:
        found.append(month_before(found[-1].start, zone))
    return found


def _contested(
    disputes: Iterable[Dispute], months: Iterable[TimeRange], zone: tzinfo
) -> frozenset[tuple[str, str]]:
    """Returns the FIPs and months that open disputes are about."""
    return frozenset(
        (one.entity_id, month_name(within, zone))
        for one in disputes
        for within in months
        if one.start < within.end and one.end > within.start
    )


def _marked(row: PublicLevel, contested: frozenset[tuple[str, str]]) -> PublicLevel:
    return replace(row, contested=True) if (row.fip_id, row.month) in contested else row


def _rows(texts: Iterable[bytes], month: str) -> Sequence[PublicLevel]:
    """Returns the rows of the FIPs among some signed reports of a month, by name."""
    parts = (msgspec.json.decode(one, type=_Part) for one in texts)
    rows = [_row(one, month) for one in parts if one.member.role is EntityType.FIP]
    return sorted(rows, key=lambda one: (one.name.casefold(), one.fip_id))


def _row(one: _Part, month: str) -> PublicLevel:
    known = {each.measure: each for each in one.figures if each.api == ALL_APIS}
    up = known.get(Measure.AVAILABILITY)
    said = up if up and up.whole >= _FLOOR.min_calls else None
    return PublicLevel(
        one.member.entity_id,
        one.member.name or one.member.entity_id,
        month,
        said.value if said else None,
        up.target if up else None,
        said.met if said else None,
        said.whole if said else None,
        one.version,
        one.made_at,
        contested=False,
    )
