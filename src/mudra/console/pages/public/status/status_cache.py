"""Caches the public status, so that it can be served while the database is not available.

One snapshot in memory for all readers, renewed in the background (decision 0062), and one on
disk, for a process that starts, also while the database is not available.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Final, TypeAlias, TypeVar

import msgspec
import structlog
from litestar import Response
from litestar.params import SkipValidation
from msgspec import Struct

from mudra.console.framework.error_page import no_such_page
from mudra.console.pages.public.public_response import PackedFile, PublicAnswer, for_all, pack
from mudra.console.pictures.share_card import ShareCard, draw
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.levels.printing.published import LevelsReader, PublicLevels
from mudra.localization.language import current
from mudra.metrics.health.latest_health import READ_S, REST
from mudra.metrics.public_status.status_history import FipHistory, StatusSnapshot, status_at
from mudra.metrics.public_status.status_snapshot import StatusReader
from mudra.shared.unavailable import ServiceUnavailable
from mudra.shared.waiting.made_once import MadeOnce

_RENEW_AFTER_S: Final = 10.0
"""A request later than this renews the status in the background."""
_STALE_S: Final = 50.0
"""A request that much later waits for the new one, so that the page is not long out of date."""
_WAIT_S: Final = 3.0
"""The limit of that wait; then the old status is returned."""
_RETRY_S: Final = 5.0
_ANSWERS: Final = 40
"""Kept at most, of some 100 kB each."""
_FIRST: Final = timedelta(minutes=30)
"""The maximum age of a status from disk for the first request of a process."""
_FILE: Final = "status-snapshot.json"
_fip_of: Final = msgspec.json.Decoder(FipHistory).decode
_log = structlog.get_logger()
F = TypeVar("F")


class CachedStatus(Struct, frozen=True):
    """A snapshot; `fresh` when it was read from the database just now."""

    snapshot: StatusSnapshot
    fresh: bool
    levels: PublicLevels | None = None
    """None where the network publishes none; never kept on disk."""


@dataclass(slots=True)
class StatusCache:
    """The snapshot of one process."""

    folder: Path
    _reader: StatusReader
    _levels: LevelsReader
    _monotonic: Callable[[], float]
    _renewal: asyncio.Task[None] | None = None
    _cached: CachedStatus | None = None
    _until: float = 0.0
    _shown: tuple[StatusSnapshot, StatusSnapshot] | None = None
    """A snapshot without recent reports, and what is shown of it."""
    _files: MadeOnce = field(default_factory=lambda: MadeOnce(monotonic))
    _answers: MadeOnce = field(default_factory=lambda: MadeOnce(monotonic, max_small=_ANSWERS))
    _drawing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get(self, dependencies: HttpDependencies) -> CachedStatus | None:
        """Returns the status, if any, at most a minute old while the database is available.

        Without recent reports of any AA it contains no status of an API.

        Requests within that minute never wait, nor does any for a database that is not available.
        """
        if self._cached is None:
            self._take(await asyncio.to_thread(self._recent_from_disk, dependencies.clock()))
        if self._monotonic() > self._until and (self._renewal is None or self._renewal.done()):
            self._renewal = asyncio.create_task(self._renew(dependencies))
        if self._renewal is not None and not self._renewal.done() and self._must_wait():
            wait_s = _WAIT_S if self._cached else READ_S
            await asyncio.wait({self._renewal}, timeout=wait_s)
        if self._cached is None:
            return None
        now = self._at(dependencies.clock())
        return CachedStatus(now, self._cached.fresh, self._cached.levels)

    async def answer(
        self,
        request: AnyRequest,
        dependencies: HttpDependencies,
        cached: CachedStatus,
        made: Callable[[], Response[str] | Response[bytes] | None],
    ) -> Response[str] | Response[bytes]:
        """Returns an answer, made once for all who ask for an address in a language.

        It is made again of another snapshot, and in another minute: announcements and maintenance
        begin and end by the minute. 404 where `made` has none.
        """

        def kept() -> PublicAnswer | None:
            answer = made()
            return for_all(answer) if answer else None

        scope = request.scope
        question = scope["path"], scope["query_string"], current().tag
        made_of = cached, dependencies.clock().replace(second=0, microsecond=0)
        found = await self._answers.get(question, made_of, partial(asyncio.to_thread, kept))
        return found.to(request) if found else no_such_page(dependencies, public=True)

    async def file(self, name: str, facts: F, made: Callable[[F], bytes]) -> PackedFile:
        """Returns a file of all institutions, made once of the facts that `get` returned."""
        packed = partial(asyncio.to_thread, lambda: pack(made(facts)))
        return await self._files.get(name, facts, packed, large=True)

    async def card(
        self, place: str, card: ShareCard, shown: Callable[[bytes], Response[bytes]]
    ) -> PublicAnswer:
        """Returns the picture of a place: one is drawn at a time, and again once it says else.

        The latest sixty are kept, of some 20 kB each.
        """

        async def drawn() -> PublicAnswer:
            async with self._drawing:
                return await asyncio.to_thread(lambda: for_all(shown(draw(card))))

        return await self._files.get(("card", place), card, drawn)

    def _at(self, now: datetime) -> StatusSnapshot:
        """Returns the snapshot for the current time; the same one while nothing changes."""
        assert self._cached is not None
        snapshot = self._cached.snapshot
        if self._shown is None or self._shown[0] is not snapshot:
            shown = status_at(snapshot, now)
            if shown is snapshot:
                return snapshot
            self._shown = snapshot, shown
        return self._shown[1]

    def _take(self, stored: CachedStatus | None) -> None:
        if self._cached is None:  # another request may have been first
            self._cached = stored

    def _must_wait(self) -> bool:
        if self._cached is None:
            return True
        return self._cached.fresh and self._until > 0 and self._monotonic() > self._until + _STALE_S

    async def _renew(self, dependencies: HttpDependencies) -> None:
        before, began = self._cached, self._monotonic()
        try:
            snapshot = await self._reader.read(dependencies.reads, dependencies.clock())
            levels = await self._levels.read(dependencies.reads, dependencies.clock())
            self._cached = CachedStatus(snapshot, fresh=True, levels=levels)
        except ServiceUnavailable as error:
            _log.warning("the public status shows its last snapshot", error=str(error))
            last = before.snapshot if before else await asyncio.to_thread(self._from_disk)
            levels = before.levels if before else None
            self._cached = CachedStatus(last, fresh=False, levels=levels) if last else None
            self._until = self._monotonic() + _RETRY_S
            return
        rest_s = REST * (self._monotonic() - began)
        self._until = self._monotonic() + min(_STALE_S, max(_RENEW_AFTER_S, rest_s))
        if before is None or _on_disk(before.snapshot) != _on_disk(self._cached.snapshot):
            await asyncio.to_thread(self._to_disk, self._cached.snapshot)

    def _to_disk(self, snapshot: StatusSnapshot) -> None:
        draft = self.folder / f"{_FILE}.{os.getpid()}"
        try:
            draft.write_bytes(b"\n".join(_lines(snapshot)))
            draft.replace(self.folder / _FILE)
        except OSError as error:
            _log.warning("the public status could not be kept on the disk", error=str(error))

    def _recent_from_disk(self, now: datetime) -> CachedStatus | None:
        last = self._from_disk(now)
        return CachedStatus(last, fresh=True) if last else None

    def _from_disk(self, recent_at: datetime | None = None) -> StatusSnapshot | None:
        try:
            with (self.folder / _FILE).open("rb") as file:
                kept = msgspec.json.decode(file.readline(), type=StatusSnapshot)
                if recent_at and abs(recent_at - kept.as_of) >= _FIRST:
                    return None
                fips = [_fip_of(line) for line in file]
            return msgspec.structs.replace(kept, fips=[*kept.fips, *fips])
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("the kept public status cannot be read", error=str(error))
            return None


def _lines(snapshot: StatusSnapshot) -> Iterator[bytes]:
    """Yields the snapshot for the disk: one without FIPs, then each of them.

    Other requests go on meanwhile: a nation's is 17 MB, which is decoded in a fifth of a second.
    """
    yield msgspec.json.encode(msgspec.structs.replace(snapshot, fips=[]))
    for fip in snapshot.fips:
        yield msgspec.json.encode(fip)


def _on_disk(snapshot: StatusSnapshot) -> tuple[datetime, object]:
    """Returns what makes a snapshot another one for the disk."""
    return snapshot.as_of, snapshot.announcements


def status_cache(folder: Path, clock: Callable[[], float]) -> StatusCache:
    """Return the snapshot of this process, with its copy in a folder."""
    return StatusCache(folder, StatusReader(), LevelsReader(), clock)


InjectedStatusCache: TypeAlias = SkipValidation[StatusCache]
"""How a handler asks for the snapshot of its process."""
