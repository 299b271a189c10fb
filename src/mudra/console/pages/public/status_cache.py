"""Keeps the public picture of the network, so that it can be shown while the database is away.

One snapshot in memory for all who look, made again behind them (decision 0062); and one on the
disk, for a process that starts, or that starts while the database is away.
"""

import asyncio
import os
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from mudra.http.dependencies import HttpDependencies
from mudra.metrics.health.network_health_cache import PUBLIC_SPAN, NetworkHealthCache
from mudra.metrics.health.status_history import StatusSnapshot, status_at
from mudra.metrics.health.status_snapshot import READ_S, StatusReader
from mudra.shared.unavailable import DatabaseUnavailable

KEPT_S: Final = 10.0
"""A look later than this has the picture made again, behind the one who looks."""
_STALE_S: Final = 50.0
"""A look that much later still waits for the new one: the page shall not tell what is long past."""
_WAIT_S: Final = 3.0
"""How long it waits; then it is shown what there is."""
_RETRY_S: Final = 5.0
_FIRST: Final = timedelta(minutes=30)
"""How old a picture of the disk may be for the first look of a process."""
_FILE: Final = "status-snapshot.json"
_log = structlog.get_logger()


class CachedStatus(Struct, frozen=True):
    """A snapshot, and whether the database could be asked for it just now."""

    snapshot: StatusSnapshot
    fresh: bool


@dataclass(slots=True)
class StatusCache:
    """The snapshot of one process."""

    folder: Path
    _reader: StatusReader = field(
        default_factory=lambda: StatusReader(NetworkHealthCache(PUBLIC_SPAN, monotonic))
    )
    _behind: asyncio.Task[None] | None = None
    _picture: CachedStatus | None = None
    _until: float = 0.0

    async def get(self, service: HttpDependencies) -> CachedStatus | None:
        """The picture, at most a minute old while the database answers; None without any.

        It claims no status of an API once no AA reports any more.

        No one waits who looked within that minute, nor for a database that is away.
        """
        if self._picture is None:
            self._take(await asyncio.to_thread(self._young_of_disk, service.clock()))
        if monotonic() > self._until and (self._behind is None or self._behind.done()):
            self._behind = asyncio.create_task(self._renew(service))
        if self._behind is not None and not self._behind.done() and self._must_wait():
            wait_s = _WAIT_S if self._picture else READ_S
            await asyncio.wait({self._behind}, timeout=wait_s)
        if self._picture is None:
            return None
        snapshot = status_at(self._picture.snapshot, service.clock())
        return CachedStatus(snapshot, self._picture.fresh)

    def _take(self, kept: CachedStatus | None) -> None:
        if self._picture is None:  # another look may have come first
            self._picture = kept

    def _must_wait(self) -> bool:
        if self._picture is None:
            return True
        return self._picture.fresh and self._until > 0 and monotonic() > self._until + _STALE_S

    async def _renew(self, service: HttpDependencies) -> None:
        before = self._picture
        try:
            snapshot = await self._reader.read(service.unit_of_work, service.clock())
            self._picture = CachedStatus(snapshot, fresh=True)
        except DatabaseUnavailable as error:
            _log.warning("the public status shows its last snapshot", error=str(error))
            last = before.snapshot if before else await asyncio.to_thread(self._from_disk)
            self._picture = CachedStatus(last, fresh=False) if last else None
            self._until = monotonic() + _RETRY_S
            return
        self._until = monotonic() + KEPT_S
        if before is None or before.snapshot.as_of != self._picture.snapshot.as_of:
            await asyncio.to_thread(self._to_disk, self._picture.snapshot)

    def _to_disk(self, snapshot: StatusSnapshot) -> None:
        draft = self.folder / f"{_FILE}.{os.getpid()}"
        try:
            draft.write_bytes(msgspec.json.encode(snapshot))
            draft.replace(self.folder / _FILE)
        except OSError as error:
            _log.warning("the public status could not be kept on the disk", error=str(error))

    def _young_of_disk(self, now: datetime) -> CachedStatus | None:
        kept = self._from_disk()
        return CachedStatus(kept, fresh=True) if kept and abs(now - kept.as_of) < _FIRST else None

    def _from_disk(self) -> StatusSnapshot | None:
        try:
            return msgspec.json.decode((self.folder / _FILE).read_bytes(), type=StatusSnapshot)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("the kept public status cannot be read", error=str(error))
            return None
