"""Keeps counts and disk in step: what is acknowledged is on the disk, a window closes once.

Events are counted at once and written in batches: one commit takes all that
came while the previous one was in progress. `record` returns when its batch is
on the disk, so a response `accepted` sent after it survives kill -9 and a power cut.
When the disk is full, counting goes on in memory, `record` says so, and as soon
as the disk accepts writes again one snapshot replaces what the journal misses.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

import msgspec

from mudra.agent.clock import Clock, JumpWatch
from mudra.agent.counting.counter import Counter, CounterState
from mudra.agent.counting.event import Event, JournalEntry, LogPosition
from mudra.agent.counting.payload import Reporter, format_time, payloads
from mudra.agent.counting.window import WINDOW, WindowState
from mudra.agent.counting.window_holds import WindowHolds
from mudra.agent.spool.spool import ClosedWindow, Spool
from mudra.metrics.payload.catalogue import Tag

MAX_JOURNAL: Final = 64 << 20
"""Bytes of journal after which a snapshot is taken before the window closes."""
MAX_NOTES: Final = 100
MAX_OFFERED: Final = 4 << 20
"""Packed bytes of closed windows that are in memory for late events: some 40 MB."""
MAX_UNWRITTEN: Final = 144
"""Closed windows that wait in memory for a full disk: one day."""
_T = TypeVar("_T")


class Snapshot(msgspec.Struct, array_like=True, frozen=True):
    """The counter, how far the logs are read, and when that was."""

    boot: str
    wall: int
    mono: int
    positions: dict[str, LogPosition]
    counter: CounterState
    window_notes: dict[int, str] = {}
    held_starts: dict[int, int] = {}


@dataclass(slots=True)
class EventRecorder:
    """Counter and spool together."""

    spool: Spool
    counter: Counter
    clock: Clock
    reporter: Reporter
    warn: Callable[[str], None]
    positions: dict[str, LogPosition] = field(default_factory=dict)
    disk_error: str = ""
    """Why the disk accepts no writes at the moment; empty when it does."""
    dropped_unwritten: int = 0
    clock_jumps: int = 0
    last_event: int | None = None
    """Wall time."""
    event_at: int | None = None
    """Monotonic time of the same."""
    window_notes: dict[int, str] = field(default_factory=dict)
    """Windows that a jump of the clock cut, and by how much; sent with their payloads."""
    holds: WindowHolds = field(default_factory=WindowHolds)
    kept: dict[int, int] = field(default_factory=dict)
    """Closed windows that can be opened again, and the packed bytes of each."""
    _seq: int = 0
    _buffer: list[Event] = field(default_factory=list)
    _buffer_positions: dict[str, LogPosition] = field(default_factory=dict)
    _batch: "asyncio.Future[bool] | None" = None
    """Resolved once the buffered events are on the disk, or cannot be written."""
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _disk: asyncio.Lock = field(default_factory=asyncio.Lock)
    _journal_bytes: int = 0
    _journal_incomplete: bool = False
    """The journal misses events: only a snapshot can complete the disk."""
    _unwritten: deque[ClosedWindow] = field(default_factory=deque)
    _watch: JumpWatch | None = None
    _closing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _thread: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, 1, "spool"))
    """One thread: work on the disk stays in order even when a task that waits for it is ended."""

    def recover(self) -> None:
        """Continue where the last run ended, however it ended. Call it before anything else."""
        found = self.spool.recover()
        wall, mono = self.clock.wall(), self.clock.monotonic()
        windows = self.counter.windows
        windows.closed.update(found.closed)
        self.kept = self.spool.kept_windows()
        shift = 0
        try:
            if found.snapshot is not None:
                saved = _SNAPSHOT.decode(found.snapshot)
                if saved.boot != self.clock.boot:
                    shift = (mono - saved.mono) - (wall - saved.wall)
                self.counter.restore(saved.counter, shift, mono)
                self.positions.update(saved.positions)
                self.window_notes.update(saved.window_notes)
                self.holds.starts.update(saved.held_starts)
            for body in found.journal:
                entry = _ENTRY.decode(body)
                self._offer(self._needed(entry.events))
                self.counter.apply((_shifted(event, shift) for event in entry.events), mono)
                self.positions.update(entry.positions)
        except msgspec.DecodeError as error:
            self.warn(f"the running window was stored by an older agent and is lost: {error}")
        revisions = {start: window.revision for start, window in windows.open.items()}
        unlisted = self.spool.discard_unfinished(revisions) - windows.closed
        windows.closed |= unlisted
        self.holds.recovered(windows.open, wall, mono)
        self._seq = found.seq
        self._watch = JumpWatch(wall, mono)
        closed = [ClosedWindow(start, []) for start in sorted(unlisted)]
        state = self._snapshot()
        self._write(lambda: self.spool.close_windows(closed, self._seq, state, wall))

    async def record(
        self, events: Sequence[Event], positions: Mapping[str, LogPosition] | None = None
    ) -> bool:
        """Count these events; return once they are on the disk, False when it accepts no writes."""
        needed = self._needed(events)
        if needed:
            await self.on_disk(lambda: self._offer(needed))
        wall, mono = self.clock.wall(), self.clock.monotonic()
        self.counter.apply(events, mono)
        self.holds.arrived(events, self.counter.windows.open, wall, mono)
        if events:
            self.last_event, self.event_at = wall, mono
        self._buffer += events
        if positions:
            self.positions.update(positions)
            self._buffer_positions.update(positions)
        if self._batch is None:
            self._batch = asyncio.get_running_loop().create_future()
        self._wake.set()
        return await asyncio.shield(self._batch)

    def _needed(self, events: Sequence[Event]) -> list[int]:
        """Return the closed windows that these events may open again, within `MAX_OFFERED`."""
        windows, room = self.counter.windows, MAX_OFFERED
        found: list[int] = []
        for start in sorted({one.wall - one.wall % WINDOW for one in events}, reverse=True):
            if start in windows.closed and start in self.kept and start not in windows.kept:
                room -= self.kept[start]
                if found and room < 0:
                    break
                found.append(start)
        return found

    def _offer(self, starts: Sequence[int]) -> None:
        """Read the counts of closed windows, for events that may come for them."""
        offered = self.counter.windows.kept
        for start in starts:
            body = self.spool.kept(start)
            if body is not None:
                offered[start] = _WINDOW.decode(body)
        while len(offered) > 1 and sum(self.kept.get(one, 0) for one in offered) > MAX_OFFERED:
            del offered[next(iter(offered))]

    async def write_next(self) -> None:
        """Wait for events and write them to the journal."""
        await self._wake.wait()
        await self.write_batch()

    async def write_batch(self) -> None:
        """Write what has come so far to the journal."""
        async with self._disk:
            self._wake.clear()
            if self._batch is None:
                return  # a snapshot included it
            batch, self._batch = self._batch, None
            taken = JournalEntry(self._buffer, self._buffer_positions)
            self._buffer, self._buffer_positions = [], {}
            written = False
            try:
                if not self._journal_incomplete:
                    written = await self._write_journal(_ENCODER.encode(taken))
            finally:
                # Whatever went wrong: those who wait get their answer, and a snapshot will
                # hold what the journal misses.
                self._journal_incomplete |= not written
                _resolve(batch, written=written)

    async def _write_journal(self, entry: bytes) -> bool:
        self._seq += 1
        written = await self._in_disk_thread(
            self._write, lambda: self.spool.write_journal(self._seq, entry)
        )
        self._journal_bytes += len(entry)
        return written

    async def tick(
        self, readable: int | None = None, unreadable: Collection[Tag] = ()
    ) -> list[int]:
        """Check the clock, give up overdue calls, close due windows; return those that closed.

        `readable` is how far log files have been read (wall time), None when
        they are read to their end: windows that may still get lines stay open, as
        do those for which old events came lately (`window_holds.py`).
        `unreadable` are the tags of logs that cannot be read: whether the AA is idle is
        unknown then, and windows that close go without the payloads of these tags.
        """
        wall, mono = self.clock.wall(), self.clock.monotonic()
        self._check_clock(wall, mono)
        self.counter.expire(mono)
        if not unreadable:
            self.counter.windows.at(wall)
        opened = self.counter.windows
        due = opened.due(wall if readable is None else min(wall, readable))
        held = self.holds.held(due, opened.open, mono)
        due = [start for start in due if start not in held]
        async with self._closing:
            for start in due:
                await self._close(start, unreadable)
            opened.forget_old(wall)
            if self._journal_incomplete or self._journal_bytes > MAX_JOURNAL:
                await self.save()
        return due

    async def save(self) -> None:
        """Write a snapshot and the closed windows that wait for the disk."""
        async with self._disk:
            await self._write_snapshot()

    async def _close(self, start: int, unreadable: Collection[Tag]) -> None:
        async with self._disk:
            tally = self.counter.close(start)
            self.holds.release(start)
            made = payloads(start, tally, self.reporter, without=unreadable)
            counts = _ENCODER.encode(tally.state(start))
            self._unwritten.append(ClosedWindow(start, made, tally.revision, counts))
            await self._write_snapshot()
            if len(self._unwritten) > MAX_UNWRITTEN:
                self._unwritten.popleft()
                self.dropped_unwritten += 1
        for tag in unreadable:
            self.warn(
                f"{tag} of {format_time(start)} is not reported: a log of its calls cannot be read"
            )
        for fip, session in self.counter.sessions.drain_recovered():
            self.warn(
                f"{fip} reported success for FI session {session} after its failure had been "
                "counted in an earlier window; the success is counted in its own window"
            )

    async def _write_snapshot(self) -> None:
        batch, self._batch = self._batch, None
        state, seq, unwritten = self._snapshot(), self._seq, list(self._unwritten)
        now = self.clock.wall()
        written = await self._in_disk_thread(
            self._write, lambda: self.spool.close_windows(unwritten, seq, state, now)
        )
        self._journal_incomplete = not written
        if written:
            if self._unwritten:
                self.kept = await self._in_disk_thread(self.spool.kept_windows)
            self._unwritten.clear()
            self._journal_bytes = 0
        if batch is not None:
            _resolve(batch, written=written)

    async def on_disk(self, action: Callable[[], _T]) -> _T:
        """Do something else with the spool, alone and off the event loop."""
        async with self._disk:
            return await self._in_disk_thread(action)

    @property
    def unwritten(self) -> int:
        """Closed windows that the disk has not accepted yet."""
        return len(self._unwritten)

    async def _in_disk_thread(self, action: Callable[..., _T], *arguments: object) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, action, *arguments)

    def close(self) -> None:
        """Close the spool."""
        self._thread.shutdown()
        self.spool.close()

    def _snapshot(self) -> bytes:
        """Encode everything counted so far, the buffered events included."""
        self._seq += 1
        self._buffer, self._buffer_positions = [], {}
        return _ENCODER.encode(
            Snapshot(
                self.clock.boot,
                self.clock.wall(),
                self.clock.monotonic(),
                self.positions,
                self.counter.state(),
                self.window_notes,
                self.holds.starts,
            )
        )

    def _write(self, action: Callable[[], None]) -> bool:
        try:
            action()
        except (sqlite3.Error, OSError) as error:
            if not self.disk_error:
                self.warn(
                    f"the spool cannot be written ({error}); counting goes on in memory; "
                    "make room on its disk and check its permissions"
                )
            self.disk_error = str(error) or type(error).__name__
            self._journal_incomplete = True
            return False
        if self.disk_error:
            self.warn("the spool accepts writes again")
        self.disk_error = ""
        return True

    def _check_clock(self, wall: int, mono: int) -> None:
        if self._watch is None:
            self._watch = JumpWatch(wall, mono)
        jump = self._watch.observe(wall, mono)
        if jump:
            self.clock_jumps += 1
            for at in (wall - jump, wall):
                self.window_notes[at - at % WINDOW] = f"clock-jump={jump / 1000:+.1f}s"
            while len(self.window_notes) > MAX_NOTES:
                del self.window_notes[next(iter(self.window_notes))]
            self.warn(
                f"the clock jumped by {jump / 1000:+.1f} s; windows follow it from here, "
                "durations do not; check the machine's time service"
            )


def _resolve(batch: "asyncio.Future[bool]", *, written: bool) -> None:
    if not batch.done():
        batch.set_result(written)


def _shifted(event: Event, shift: int) -> Event:
    return msgspec.structs.replace(event, mono=event.mono + shift) if shift else event


_ENCODER: Final = msgspec.msgpack.Encoder()
_SNAPSHOT: Final = msgspec.msgpack.Decoder(Snapshot)
_ENTRY: Final = msgspec.msgpack.Decoder(JournalEntry)
_WINDOW: Final = msgspec.msgpack.Decoder(WindowState)
