"""Keeps counts and disk in step: what is acknowledged is on the disk, a window closes once.

Events are counted at once and written in batches: one commit takes all that
came while the former one was under way. `take` returns when its batch is on the
disk, so an answer `accepted` given after it outlives kill -9 and a power cut.
When the disk is full, counting goes on in memory, `take` says so, and as soon
as the disk takes writes again one snapshot makes up for what it missed.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

import msgspec

from mudra.agent.clock import Clock, JumpWatch
from mudra.agent.counting.counter import Counter, CounterState
from mudra.agent.counting.event import Event, JournalEntry, LogPosition
from mudra.agent.counting.payload import Reporter, payloads
from mudra.agent.counting.window import WINDOW
from mudra.agent.spool.spool import ClosedWindow, Spool

MAX_JOURNAL: Final = 64 << 20
"""Bytes of journal after which a snapshot is taken before the window closes."""
_T = TypeVar("_T")
MAX_MARKS: Final = 100
MAX_UNWRITTEN: Final = 144
"""Closed windows that wait in memory for a full disk: one day."""


class Saved(msgspec.Struct, array_like=True, frozen=True):
    """A snapshot: the counter, how far the logs are read, and when that was."""

    boot: str
    wall: int
    mono: int
    positions: dict[str, LogPosition]
    counter: CounterState
    marks: dict[int, str] = {}


@dataclass(slots=True)
class EventRecorder:
    """Counter and spool together."""

    spool: Spool
    counter: Counter
    clock: Clock
    reporter: Reporter
    due_at: Callable[[int], int]
    warn: Callable[[str], None]
    positions: dict[str, LogPosition] = field(default_factory=dict)
    disk_fault: str = ""
    """Why the disk takes nothing at the moment; empty when it does."""
    dropped_unwritten: int = 0
    jumps: int = 0
    last_event: int | None = None
    marks: dict[int, str] = field(default_factory=dict)
    """Windows that a jump of the clock cut, and by how much; told with their payloads."""
    _seq: int = 0
    _buffer: list[Event] = field(default_factory=list)
    _buffer_places: dict[str, LogPosition] = field(default_factory=dict)
    _batch: "asyncio.Future[bool] | None" = None
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _disk: asyncio.Lock = field(default_factory=asyncio.Lock)
    _journal_bytes: int = 0
    _gap: bool = False
    """The journal misses something: only a snapshot can make the disk whole."""
    _unwritten: deque[ClosedWindow] = field(default_factory=deque)
    _watch: JumpWatch | None = None
    _closing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _thread: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, 1, "spool"))
    """One thread: work on the disk stays in order even when a task that waits for it is ended."""

    def recover(self) -> None:
        """Record up where the last run ended, however it ended. Before anything else."""
        found = self.spool.recover()
        wall, mono = self.clock.wall(), self.clock.monotonic()
        self.counter.windows.closed.update(found.closed)
        shift = 0
        try:
            if found.snapshot is not None:
                saved = _SAVED.decode(found.snapshot)
                if saved.boot != self.clock.boot:
                    shift = (mono - saved.mono) - (wall - saved.wall)
                self.counter.restore(saved.counter, shift)
                self.positions.update(saved.positions)
                self.marks.update(saved.marks)
            for body in found.journal:
                entry = _ENTRY.decode(body)
                self.counter.apply(_moved(event, shift) for event in entry.events)
                self.positions.update(entry.positions)
        except msgspec.DecodeError as error:
            self.warn(f"the running window was kept by an older agent and is lost: {error}")
        self._seq = found.seq
        self._watch = JumpWatch(wall, mono)
        state = self._cut()
        self._write(lambda: self.spool.close_windows((), self._seq, state))

    async def record(
        self, events: Sequence[Event], positions: Mapping[str, LogPosition] | None = None
    ) -> bool:
        """Count these events; returns when they are on the disk, False when it takes none."""
        self.counter.apply(events)
        if events:
            self.last_event = self.clock.wall()
        self._buffer += events
        if positions:
            self.positions.update(positions)
            self._buffer_places.update(positions)
        if self._batch is None:
            self._batch = asyncio.get_running_loop().create_future()
        self._wake.set()
        return await asyncio.shield(self._batch)

    async def write_forever(self) -> None:
        """Bring the journal to the disk, batch after batch."""
        while True:
            await self._wake.wait()
            await self.write_batch()

    async def write_batch(self) -> None:
        """Bring what has come so far to the disk."""
        async with self._disk:
            self._wake.clear()
            if self._batch is None:
                return  # a snapshot took it along
            batch, self._batch = self._batch, None
            entry = _ENCODER.encode(JournalEntry(self._buffer, self._buffer_places))
            self._buffer, self._buffer_places = [], {}
            written = False
            if not self._gap:
                self._seq += 1
                written = await self._in_disk_thread(
                    self._write, lambda: self.spool.write_journal(self._seq, entry)
                )
                self._journal_bytes += len(entry)
            if not batch.done():
                batch.set_result(written)

    async def tick(self, readable: int | None = None) -> list[int]:
        """Look at the clock, give up what is overdue, close what is due.

        `readable` is how far log files have been read (wall time), None when
        they are read to their end: windows that may still get lines stay open.
        Returns the windows that were closed.
        """
        wall, mono = self.clock.wall(), self.clock.monotonic()
        self._look(wall, mono)
        self.counter.expire(mono)
        due = self.counter.windows.due(wall if readable is None else min(wall, readable))
        async with self._closing:
            for start in due:
                await self._close(start)
            if self._gap or self._journal_bytes > MAX_JOURNAL:
                await self.save()
        return due

    async def save(self) -> None:
        """Write what waits for the disk, then a snapshot."""
        async with self._disk:
            batch, self._batch = self._batch, None
            state = self._cut()
            seq = self._seq
            queued = list(self._unwritten)
            written = await self._in_disk_thread(
                self._write, lambda: self.spool.close_windows(queued, seq, state)
            )
            if written:
                self._unwritten.clear()
            self._gap = not written
            self._journal_bytes = 0
            if batch is not None and not batch.done():
                batch.set_result(written)

    async def _close(self, start: int) -> None:
        async with self._disk:
            batch, self._batch = self._batch, None
            tally = self.counter.close(start)
            made = payloads(start, tally, self.reporter)
            closing = ClosedWindow(start, made, self.due_at(start))
            state, seq = self._cut(), self._seq
            self._unwritten.append(closing)
            queued = list(self._unwritten)
            written = await self._in_disk_thread(
                self._write, lambda: self.spool.close_windows(queued, seq, state)
            )
            if written:
                self._unwritten.clear()
                self._gap = False
                self._journal_bytes = 0
            elif len(self._unwritten) > MAX_UNWRITTEN:
                self._unwritten.popleft()
                self.dropped_unwritten += 1
            if batch is not None and not batch.done():
                batch.set_result(written)

    async def on_disk(self, act: Callable[[], _T]) -> _T:
        """Do something else with the spool, alone, off the event loop."""
        async with self._disk:
            return await self._in_disk_thread(act)

    @property
    def unwritten(self) -> int:
        """Closed windows that the disk has not taken yet."""
        return len(self._unwritten)

    async def _in_disk_thread(self, act: Callable[..., _T], *arguments: object) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, act, *arguments)

    def close(self) -> None:
        """Let go of the disk."""
        self._thread.shutdown()
        self.spool.close()

    def _cut(self) -> bytes:
        """A snapshot with everything counted so far; it replaces the batch that waits."""
        self._seq += 1
        self._buffer, self._buffer_places = [], {}
        return _ENCODER.encode(
            Saved(
                self.clock.boot,
                self.clock.wall(),
                self.clock.monotonic(),
                self.positions,
                self.counter.state(),
                self.marks,
            )
        )

    def _write(self, act: Callable[[], None]) -> bool:
        try:
            act()
        except (sqlite3.Error, OSError) as error:
            if not self.disk_fault:
                self.warn(
                    f"the spool cannot be written ({error}); counting goes on in memory; "
                    "make room on its disk and check its permissions"
                )
            self.disk_fault = str(error) or type(error).__name__
            self._gap = True
            return False
        if self.disk_fault:
            self.warn("the spool takes writes again")
        self.disk_fault = ""
        return True

    def _look(self, wall: int, mono: int) -> None:
        if self._watch is None:
            self._watch = JumpWatch(wall, mono)
        jump = self._watch.observe(wall, mono)
        if jump:
            self.jumps += 1
            for moment in (wall - jump, wall):
                self.marks[moment - moment % WINDOW] = f"clock-jump={jump / 1000:+.1f}s"
            while len(self.marks) > MAX_MARKS:
                del self.marks[next(iter(self.marks))]
            self.warn(
                f"the clock jumped by {jump / 1000:+.1f} s; windows follow it from here, "
                "durations do not; check the machine's time service"
            )


def _moved(event: Event, shift: int) -> Event:
    return msgspec.structs.replace(event, mono=event.mono + shift) if shift else event


_ENCODER: Final = msgspec.msgpack.Encoder()
_SAVED: Final = msgspec.msgpack.Decoder(Saved)
_ENTRY: Final = msgspec.msgpack.Decoder(JournalEntry)
