"""Keeps the public picture of the network, so that it can be shown while the database is away.

One snapshot in memory for all who look, made anew after some seconds; and one on the disk, for
a process that starts while the database is away.
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

from mudra.http.feeds import PUBLIC_SPAN, Kept, NetworkHealth
from mudra.http.service import Service
from mudra.metrics.catalogue import window_start
from mudra.metrics.coverage import TimeRange
from mudra.metrics.feed import PublicRow, public_status
from mudra.metrics.health import Health
from mudra.metrics.incident import FipApi, Incident
from mudra.metrics.ports import Cell
from mudra.metrics.rollup import Rollup
from mudra.metrics.series import health_of_all
from mudra.metrics.status_history import (
    DAYS,
    FipHistory,
    StatusSnapshot,
    day_of_fip,
    days_before,
    public_incident,
)
from mudra.metrics.step import day_start
from mudra.storage.database import DatabaseUnavailable

KEPT_S: Final = 10.0
_RETRY_S: Final = 5.0
_OPEN_DAYS: Final = timedelta(days=8)
"""A window may come 7 days late; older days do not change."""
_DAYS_AT_ONCE: Final = 10
_MOST_INCIDENTS: Final = 500
_FILE: Final = "status-snapshot.json"
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Picture:
    """A snapshot, and whether the database could be asked for it just now."""

    snapshot: StatusSnapshot
    fresh: bool


@dataclass(slots=True)
class StatusKeeper:
    """The snapshot of one process."""

    folder: Path
    _last_day: Kept = field(default_factory=lambda: Kept(PUBLIC_SPAN))
    _days: dict[datetime, Mapping[str, Health]] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _picture: Picture | None = None
    _until: float = 0.0

    async def picture(self, service: Service) -> Picture | None:
        """The picture, at most ten seconds old while the database answers; None without any."""
        async with self._lock:
            if self._picture is None or monotonic() > self._until:
                await self._renew(service)
            return self._picture

    async def _renew(self, service: Service) -> None:
        before = self._picture
        if before is None:
            kept = await asyncio.to_thread(self._from_disk)
            if kept and kept.as_of == window_start(service.clock()):
                # Another process made it of the same windows: good enough for a first look.
                self._picture, self._until = Picture(kept, fresh=True), monotonic() + _RETRY_S
                return
        try:
            self._picture = Picture(await self._read(service), fresh=True)
        except DatabaseUnavailable as error:
            _log.warning("the public status shows its last snapshot", error=str(error))
            last = before.snapshot if before else await asyncio.to_thread(self._from_disk)
            self._picture = Picture(last, fresh=False) if last else None
            self._until = monotonic() + _RETRY_S
            return
        self._until = monotonic() + KEPT_S
        if before is None or before.snapshot.as_of != self._picture.snapshot.as_of:
            await asyncio.to_thread(self._to_disk, self._picture.snapshot)

    async def _read(self, service: Service) -> StatusSnapshot:
        now = service.clock()
        network = await self._last_day.health(service)
        await self._read_days(service, days_before(now), day_start(now))
        async with service.open_work() as work:
            names = {one.entity_id: one.name for one in await work.people.members()}
            stored = await work.incidents.shown(
                only_open=False, entity_id=None, limit=_MOST_INCIDENTS
            )
        return self._put_together(network, names, [one.incident for one in stored], now)

    async def _read_days(self, service: Service, days: Sequence[datetime], today: datetime) -> None:
        """Read what may have changed, some days in one transaction."""
        wanted = [day for day in days if day not in self._days or day > today - _OPEN_DAYS]
        for place in range(0, len(wanted), _DAYS_AT_ONCE):
            async with service.open_work() as work:
                for day in wanted[place : place + _DAYS_AT_ONCE]:
                    within = TimeRange(day, day + timedelta(days=1))
                    self._days[day] = _by_fip(await work.figures.over_aas(within))
        self._days = {day: found for day, found in self._days.items() if day in days}

    def _put_together(
        self,
        network: NetworkHealth,
        names: Mapping[str, str],
        incidents: Sequence[Incident],
        now: datetime,
    ) -> StatusSnapshot:
        apis: dict[str, list[PublicRow]] = {}
        for row in public_status(network.fips):
            apis.setdefault(row.fip_id, []).append(row)
        by_fip: dict[str, list[Incident]] = {}
        for one in incidents:
            if isinstance(one.subject, FipApi):
                by_fip.setdefault(one.subject.fip_id, []).append(one)
        oldest = now - timedelta(days=DAYS)
        told = [public_incident(one) for one in incidents if (one.ended or now) >= oldest]
        proof = network.coverage.proof()
        return StatusSnapshot(
            network.within.end,
            [
                FipHistory(
                    fip_id,
                    names.get(fip_id, fip_id),
                    [
                        day_of_fip(day, self._days[day].get(fip_id), by_fip.get(fip_id, ()))
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
