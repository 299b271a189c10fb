"""Keeps the public picture of the network, so that it can be shown while the database is away.

One snapshot in memory for all who look, made anew behind them (decision 0062); and one on the
disk, for a process that starts, or that starts while the database is away.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from mudra.http.dependencies import HttpDependencies
from mudra.http.health.feeds import PUBLIC_SPAN, NetworkHealth, TtlCache
from mudra.metrics.health.feed import PublicRow, public_status
from mudra.metrics.health.health import Health
from mudra.metrics.health.status_history import (
    FipHistory,
    StatusSnapshot,
    day_of_fip,
    days_before,
    public_incident,
)
from mudra.metrics.incidents.incident import FipApi, Incident
from mudra.metrics.ports import Cell, DayMark
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.rollup import Rollup
from mudra.metrics.rollup.series import health_of_all
from mudra.metrics.rollup.step import day_start
from mudra.shared.unavailable import DatabaseUnavailable

KEPT_S: Final = 10.0
"""A look later than this has the picture made anew, behind the one who looks."""
_STALE_S: Final = 50.0
"""A look that much later still waits for the new one: the page shall not tell what is long past."""
_PATIENCE_S: Final = 3.0
"""How long it waits; then it is shown what there is."""
_READ_S: Final = 10.0
"""How long one read may take: a day without its sums, on a busy machine, takes seconds."""
_RETRY_S: Final = 5.0
_FIRST: Final = timedelta(minutes=30)
"""How old a picture of the disk may be for the first look of a process."""
_DAY: Final = timedelta(days=1)
_OPEN_DAYS: Final = timedelta(days=8)
"""A window may come 7 days late; older days do not change."""
_FILE: Final = "status-snapshot.json"
_log = structlog.get_logger()


class StatusSnapshotFiles(Struct, frozen=True):
    """A snapshot, and whether the database could be asked for it just now."""

    snapshot: StatusSnapshot
    fresh: bool


class _DayRead(Struct, frozen=True):
    """The health of each FIP on a day, and the mark of the reports that it was made of."""

    health: Mapping[str, Health]
    mark: DayMark | None


@dataclass(slots=True)
class StatusCache:
    """The snapshot of one process."""

    folder: Path
    _last_day: TtlCache = field(default_factory=lambda: TtlCache(PUBLIC_SPAN))
    _days: dict[datetime, _DayRead] = field(default_factory=dict)
    _behind: asyncio.Task[None] | None = None
    _picture: StatusSnapshotFiles | None = None
    _until: float = 0.0

    async def picture(self, service: HttpDependencies) -> StatusSnapshotFiles | None:
        """The picture, at most a minute old while the database answers; None without any.

        Nobody waits who looked within that minute, nor for a database that is away.
        """
        if self._picture is None:
            self._take(await asyncio.to_thread(self._young_of_disk, service.clock()))
        if monotonic() > self._until and (self._behind is None or self._behind.done()):
            self._behind = asyncio.create_task(self._renew(service))
        if self._behind is not None and not self._behind.done() and self._must_wait():
            patience = _PATIENCE_S if self._picture else _READ_S
            await asyncio.wait({self._behind}, timeout=patience)
        return self._picture

    def _take(self, kept: StatusSnapshotFiles | None) -> None:
        if self._picture is None:  # another look may have come first
            self._picture = kept

    def _must_wait(self) -> bool:
        if self._picture is None:
            return True
        return self._picture.fresh and self._until > 0 and monotonic() > self._until + _STALE_S

    async def _renew(self, service: HttpDependencies) -> None:
        before = self._picture
        try:
            self._picture = StatusSnapshotFiles(await self._read(service), fresh=True)
        except DatabaseUnavailable as error:
            _log.warning("the public status shows its last snapshot", error=str(error))
            last = before.snapshot if before else await asyncio.to_thread(self._from_disk)
            self._picture = StatusSnapshotFiles(last, fresh=False) if last else None
            self._until = monotonic() + _RETRY_S
            return
        self._until = monotonic() + KEPT_S
        if before is None or before.snapshot.as_of != self._picture.snapshot.as_of:
            await asyncio.to_thread(self._to_disk, self._picture.snapshot)

    async def _read(self, service: HttpDependencies) -> StatusSnapshot:
        now = service.clock()
        network = await self._last_day.health(service, within_s=_READ_S)
        await self._read_days(service, days_before(now), day_start(now))
        async with service.unit_of_work(within_s=_READ_S) as work:
            names = {one.entity_id: one.name for one in await work.people.members()}
            # All of them: a day whose incident is left out would be shown as good.
            stored = await work.incidents.known(days_before(now)[0])
        newest_first = [one.incident for one in reversed(stored)]
        return self._put_together(network, names, newest_first)

    async def _read_days(
        self, service: HttpDependencies, days: Sequence[datetime], today: datetime
    ) -> None:
        """Read the days of which reports came since; each in a transaction of its own."""
        open_since = today - _OPEN_DAYS
        async with service.unit_of_work(within_s=_READ_S) as work:
            marks = await work.figures.marks(TimeRange(open_since, today + _DAY))
        for day in days:
            read, mark = self._days.get(day), marks.get(day)
            if read is None or (day > open_since and read.mark != mark):
                async with service.unit_of_work(within_s=_READ_S) as work:
                    found = await work.figures.over_aas(TimeRange(day, day + _DAY))
                self._days[day] = _DayRead(_by_fip(found), mark)
        self._days = {day: read for day, read in self._days.items() if day in days}

    def _put_together(
        self,
        network: NetworkHealth,
        names: Mapping[str, str],
        incidents: Sequence[Incident],
    ) -> StatusSnapshot:
        apis: dict[str, list[PublicRow]] = {}
        for row in public_status(network.fips):
            apis.setdefault(row.fip_id, []).append(row)
        by_fip: dict[str, list[Incident]] = {}
        for one in incidents:
            if isinstance(one.subject, FipApi):
                by_fip.setdefault(one.subject.fip_id, []).append(one)
        told = [public_incident(one) for one in incidents]
        proof = network.coverage.proof()
        return StatusSnapshot(
            network.within.end,
            [
                FipHistory(
                    fip_id,
                    names.get(fip_id, fip_id),
                    [
                        day_of_fip(day, self._days[day].health.get(fip_id), by_fip.get(fip_id, ()))
                        for day in sorted(self._days)
                    ],
                    rows,
                )
                for fip_id, rows in sorted(apis.items())
            ],
            [one for one in told if one is not None],
            proof.reporters_heard,
            proof.reporters_expected,
            proof.windows_heard,
            proof.windows_expected,
        )

    def _to_disk(self, snapshot: StatusSnapshot) -> None:
        beside = self.folder / f"{_FILE}.{os.getpid()}"
        try:
            beside.write_bytes(msgspec.json.encode(snapshot))
            beside.replace(self.folder / _FILE)
        except OSError as error:
            _log.warning("the public status could not be kept on the disk", error=str(error))

    def _young_of_disk(self, now: datetime) -> StatusSnapshotFiles | None:
        kept = self._from_disk()
        return (
            StatusSnapshotFiles(kept, fresh=True)
            if kept and abs(now - kept.as_of) < _FIRST
            else None
        )

    def _from_disk(self) -> StatusSnapshot | None:
        try:
            return msgspec.json.decode((self.folder / _FILE).read_bytes(), type=StatusSnapshot)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("the kept public status cannot be read", error=str(error))
            return None


def _by_fip(totals: Mapping[Cell, Rollup]) -> dict[str, Health]:
    """The health of all calls to each FIP."""
    cells: dict[str, list[tuple[Cell, Rollup]]] = {}
    for cell, sums in totals.items():
        cells.setdefault(cell.fip_id, []).append((cell, sums))
    found = {fip_id: health_of_all(parts) for fip_id, parts in cells.items()}
    return {fip_id: health for fip_id, health in found.items() if health is not None}
