"""What a node may keep in memory, and how long it may believe it.

A node keeps what issuing needs in memory. Two things keep that true on many nodes:

* Every change is announced by `NOTIFY`. A node whose listening connection was
  not proven alive within the last second believes nothing and reads the database.
* A change that must not be missed is *held* first: the acting node announces
  the key, waits until every live node has answered (or until a silent node
  must have stopped believing), and only then commits. From the hold to the
  announcement of the commit, nodes read that key from the database. So no node
  acts on an old value after the commit (quality S7).

A node that begins to listen, or listens again, cannot know what was held just
before. It believes nothing until every such hold must have ended.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

import msgspec
import psycopg
import structlog
from psycopg import sql

from mudra.shared.ids import fresh_id
from mudra.storage.database.deadline import TRANSACTION_S, abort_after

CHANNEL: Final = "mudra_changes"
BELIEF_S: Final = 1.0
"""How long a proof of the listening connection holds."""
_PROOF_EVERY_S: Final = 0.25
_HOLD_S: Final = 10.0
"""A hold whose transaction never ends is let go after this long."""
_ANSWER_S: Final = 2.0
_SILENT_NODE_S: Final = BELIEF_S + 0.15

_log = structlog.get_logger()


class Announcement(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message between nodes."""

    kind: str
    key: str
    sender: str
    fence: str = ""


@dataclass
class _Fence:
    awaited: set[str]
    answered: set[str] = field(default_factory=set)
    complete: asyncio.Event = field(default_factory=asyncio.Event)

    def heard(self, node_id: str) -> None:
        self.answered.add(node_id)
        self.check()

    def check(self) -> None:
        if self.awaited <= self.answered:
            self.complete.set()


class CacheInvalidation:
    """This node's knowledge of what changed, and its part in telling others."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self.node_id = fresh_id()
        self._proven_at = float("-inf")
        self._settled_at = float("inf")
        self._held: dict[str, float] = {}
        self._fences: dict[str, _Fence] = {}
        self._listeners: list[Callable[[str], None]] = []
        self._generation = 0
        self._speaker: psycopg.AsyncConnection[tuple[object, ...]] | None = None
        self._speaking = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def on_change(self, listener: Callable[[str], None]) -> None:
        """Call `listener(key)` whenever a key changed, or with `*` when anything may have."""
        self._listeners.append(listener)

    @property
    def generation(self) -> int:
        """A number that grows with every change heard: what was read before may be old."""
        return self._generation

    def is_valid(self, key: str) -> bool:
        """Tell whether memory may be believed about `key` right now."""
        now = monotonic()
        if now - self._proven_at > BELIEF_S or now < self._settled_at:
            return False
        until = self._held.get(key)
        return until is None or now > until

    async def start(self) -> None:
        """Listen from now on; returns when the connection was proven once, or the try failed."""
        first = asyncio.Event()
        self._task = asyncio.create_task(self._listen_always(first), name="freshness")
        await first.wait()

    async def stop(self) -> None:
        """Stop listening and leave the list of live nodes."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        # Also a node that never spoke is on the list, and others would wait for it: a command.
        with contextlib.suppress(psycopg.Error, OSError):
            speaker = await self._connected_speaker()
            with abort_after(speaker, _ANSWER_S):
                await speaker.execute("DELETE FROM node WHERE node_id = %s", [self.node_id])
        if self._speaker is not None:
            await self._speaker.close()
            self._speaker = None

    async def hold(self, key: str) -> None:
        """Make every node read `key` from the database from now on; returns when all do."""
        self._hold_here(key)
        fence_id = fresh_id()
        message = Announcement("hold", key, self.node_id, fence_id)
        fence = _Fence(awaited={self.node_id})
        self._fences[fence_id] = fence
        try:
            live = await self._say(message)
            fence.awaited = live - {self.node_id}
            fence.check()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(fence.complete.wait(), _SILENT_NODE_S)
        finally:
            del self._fences[fence_id]

    def changed_here(self, key: str) -> None:
        """Drop what this node's memory holds of `key`, its change being committed."""
        self._generation += 1
        self._held.pop(key, None)
        for listener in self._listeners:
            listener(key)

    def change_message(self, key: str) -> str:
        """The text that the changing transaction sends with `pg_notify`, heard at its commit."""
        return _encoded(Announcement("changed", key, self.node_id))

    async def _say(self, message: Announcement) -> set[str]:
        """Send a message outside of any transaction and tell which nodes are live."""
        async with self._speaking:
            for attempt in (1, 2):
                try:
                    speaker = await self._connected_speaker()
                    with abort_after(speaker, _ANSWER_S):
                        return await _announce(speaker, message)
                except psycopg.OperationalError:
                    self._speaker = None
                    if attempt == 2:  # noqa: PLR2004  # the second try has a fresh connection
                        raise
        raise AssertionError

    async def _connected_speaker(self) -> psycopg.AsyncConnection[tuple[object, ...]]:
        if self._speaker is None or self._speaker.closed:
            self._speaker = await psycopg.AsyncConnection.connect(
                self._conninfo, autocommit=True, connect_timeout=2
            )
        return self._speaker

    def _hold_here(self, key: str) -> None:
        self._generation += 1
        self._held[key] = monotonic() + _HOLD_S
        for listener in self._listeners:
            listener(key)

    async def _listen_always(self, first: asyncio.Event) -> None:
        pause = 0.1
        while True:
            try:
                async with self._listening() as connection:
                    pause = 0.1
                    while True:
                        await self._prove(connection)
                        first.set()
                        async for notice in connection.notifies(timeout=_PROOF_EVERY_S):
                            await self._hear(notice.payload)
            except (psycopg.Error, OSError) as error:
                _log.warning("listening connection lost", error=type(error).__name__)
                first.set()
            except Exception:  # noqa: BLE001  # a node that stays deaf would never believe again
                _log.exception("listening failed, beginning anew")
                first.set()
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.5)

    @contextlib.asynccontextmanager
    async def _listening(
        self,
    ) -> AsyncIterator[psycopg.AsyncConnection[tuple[object, ...]]]:
        connection = await psycopg.AsyncConnection.connect(
            self._conninfo, autocommit=True, connect_timeout=2
        )
        try:
            # A lost heartbeat is replaced by the next one: no fsync for it.
            await connection.execute("SET synchronous_commit = off")
            await connection.execute("SET statement_timeout = '2s'")
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
            self._settled_at = monotonic() + TRANSACTION_S
            self._everything_may_have_changed()
            yield connection
        finally:
            self._proven_at = float("-inf")
            await connection.close()

    async def _prove(self, connection: psycopg.AsyncConnection[tuple[object, ...]]) -> None:
        asked_at = monotonic()
        with abort_after(connection, _ANSWER_S):
            await connection.execute(
                "INSERT INTO node (node_id, proven_at) VALUES (%s, clock_timestamp())"
                " ON CONFLICT (node_id) DO UPDATE SET proven_at = clock_timestamp()",
                [self.node_id],
            )
        # What arrived with the answer counts as heard only once it was heeded.
        async for notice in connection.notifies(timeout=0):
            await self._hear(notice.payload)
        self._proven_at = asked_at

    async def _hear(self, payload: str) -> None:
        try:
            message = msgspec.json.decode(payload, type=Announcement)
        except msgspec.MsgspecError:
            # Another program's, or a later version's: who knows what it says has changed.
            _log.warning("a notification that is no announcement", channel=CHANNEL)
            self._everything_may_have_changed()
            return
        if message.kind == "answer":
            fence = self._fences.get(message.fence)
            if fence is not None:
                fence.heard(message.sender)
        elif message.sender == self.node_id:
            return
        elif message.kind == "hold":
            self._hold_here(message.key)
            await self._say(Announcement("answer", message.key, self.node_id, message.fence))
        else:
            self.changed_here(message.key)

    def _everything_may_have_changed(self) -> None:
        self._generation += 1
        for listener in self._listeners:
            listener("*")


async def _announce(
    speaker: psycopg.AsyncConnection[tuple[object, ...]], message: Announcement
) -> set[str]:
    await speaker.execute("SELECT pg_notify(%s, %s)", [CHANNEL, _encoded(message)])
    cursor = await speaker.execute(
        "SELECT node_id::text FROM node WHERE proven_at > clock_timestamp() - interval '2 seconds'"
    )
    return {str(row[0]) for row in await cursor.fetchall()}


def _encoded(message: Announcement) -> str:
    return msgspec.json.encode(message).decode()
