"""The proof that what a node has in memory is still valid.

A node caches what issuing needs. Two things keep the caches of many nodes valid:

* Every change is announced by `NOTIFY`. A node whose listening connection was not
  proven alive within the last second uses no cache and reads the database.
* A change that must not be missed is *fenced* first: the changing node announces
  the key, waits until every live node has acknowledged (or until the cache of a
  silent node must have become invalid), and only then commits. From the fence to
  the announcement of the commit, nodes read that key from the database. So no node
  uses an old value after the commit. Of two changes that have fenced one
  key, the commit of either ends its own fence alone.

A node that begins to listen, or listens again, cannot know what was fenced just
before. It uses no cache until every such fence must have ended.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from time import monotonic
from typing import Final, LiteralString

import msgspec
import psycopg
import structlog
from psycopg import sql

from mudra.shared.ids import fresh_id
from mudra.storage.caching.announcement import (
    CHANNEL,
    LIVE_S,
    NO_FSYNC,
    Announcement,
    Fences,
    PendingFence,
    Quiet,
    announce,
    encoded,
    reply_channel,
)
from mudra.storage.caching.without_database import WithoutDatabase
from mudra.storage.database.clock_watch import ClockWatch
from mudra.storage.database.deadline import TRANSACTION_S, abort_after
from mudra.storage.database.primary import Lineage, PrimaryConnection, Timeline, connect_to_primary

KEYS_CHANGED: Final = "keys"
"""The key under which changes of signing keys are announced."""
VALID_S: Final = 1.0
"""How long a proof that the listening connection is alive counts."""
_PROOF_EVERY_S: Final = 0.25
IDLE_AFTER_S: Final = 5.0
"""A process whose cache no one asked for so long needs no proof that it is valid."""
IDLE_PROOF_S: Final = 5.0
"""Often enough to find that the connection is dead, and to compare the clocks."""
SANDBOX_PROOF_S: Final = 0.5
"""The time machine waits for every process of a sandbox that was proven within two seconds."""
_ANSWER_S: Final = 2.0
_SILENT_NODE_S: Final = VALID_S + 0.15
_AFTER_FAIL_OVER_S: Final = 5.0
"""So long every fence takes its full time: who is live is known by the former primary's clock."""
_PROOF: Final = (
    "INSERT INTO node (node_id, proven_at)"  # noqa: S608  # from constants alone
    " VALUES (%s, clock_timestamp() - make_interval(secs => %s))"
    " ON CONFLICT (node_id) DO UPDATE SET proven_at = EXCLUDED.proven_at"
    " RETURNING clock_timestamp(), " + NO_FSYNC + ","
    " (SELECT count(pg_notify(channel, answer)::text)"
    " FROM unnest(%s::text[], %s::text[]) AS said (channel, answer))"
)
"""A proof has the answers to fences with it: both say that what arrived was applied."""

_log = structlog.get_logger()


def entity_key(entity_id: str) -> str:
    """Return the key under which changes of an entity's credentials are announced."""
    return f"entity:{entity_id}"


def revoked_key(jti: str) -> str:
    """Return the key under which the revocation of an entity token is announced."""
    return f"revoked:{jti}"


class CacheInvalidation:
    """Knows which cached keys other nodes change, and announces this node's changes."""

    def __init__(
        self,
        conninfo: str,
        clock_watch: ClockWatch | None = None,
        *,
        idle_proof_s: float = IDLE_PROOF_S,
        without_database_s: float = 0,
    ) -> None:
        """`idle_proof_s` is how often the connection is proven alive while no one asks.

        `without_database_s` is how long memory may be used for entity tokens while it is not.
        """
        self._asked_at = float("-inf")
        self._quiet = Quiet()
        self._idle_proof_s = idle_proof_s
        self._conninfo = conninfo
        self._clock_watch = clock_watch
        self.node_id = fresh_id()
        self.lineage = Lineage()
        self.without_database = WithoutDatabase(without_database_s)
        self._timeline: Timeline | None = None
        self._proven_at = float("-inf")
        self._settled_at = float("inf")
        self._fences = Fences()
        self._pending: dict[str, PendingFence] = {}
        self._answers: list[tuple[str, str]] = []
        self._has_lapsed = False
        self._listeners: list[Callable[[str], None]] = []
        self._generation = 0
        self._sender: PrimaryConnection | None = None
        self._sending = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def on_change(self, listener: Callable[[str], None]) -> None:
        """Call `listener(key)` whenever a key changed, or with `*` when anything may have."""
        self._listeners.append(listener)

    @property
    def generation(self) -> int:
        """A number that grows with every change: what was read before may be outdated."""
        return self._generation

    def is_valid(self, key: str) -> bool:
        """Return whether what memory has of `key` is valid right now."""
        now = monotonic()
        if self._is_idle(now):
            self._quiet.end()
        self._asked_at = now
        if now - self._proven_at > VALID_S or now < self._settled_at:
            return False
        return not self._fences.is_fenced(key, now)

    def are_valid(self, prefixes: tuple[str, ...]) -> bool:
        """Return whether what memory has of all keys that begin so is valid right now."""
        return self.is_valid(prefixes[0]) and not self._fences.is_any_fenced(prefixes, monotonic())

    def is_fenced(self, key: str) -> bool:
        """Return whether a change of `key` was announced that may be committed any moment."""
        return self._fences.is_fenced(key, monotonic())

    def is_usable_for_tokens(self, key: str) -> bool:
        """Return whether an entity token may rest on what memory has of `key`."""
        now = monotonic()
        return self.is_valid(key) or (
            self.without_database.permits(now) and not self._fences.is_fenced(key, now)
        )

    def is_proven(self, timeline: Timeline | None) -> bool:
        """Return whether the server of this timeline was the primary within the last second."""
        return monotonic() - self._proven_at <= VALID_S and timeline == self._timeline

    async def start(self) -> None:
        """Listen from now on; returns when the connection was proven alive once, or failed."""
        first = asyncio.Event()
        self._task = asyncio.create_task(self._listen_always(first), name="cache-invalidation")
        await first.wait()

    async def stop(self) -> None:
        """Stop listening and leave the list of live nodes."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
            # Who listened is on the list that others wait for.
            with contextlib.suppress(psycopg.Error, OSError):
                connection = await self._connected_sender()
                with abort_after(connection, _ANSWER_S):
                    await connection.execute("DELETE FROM node WHERE node_id = %s", [self.node_id])
        if self._sender is not None:
            await self._sender.close()
            self._sender = None

    async def fence(self, key: str) -> str:
        """Make every node read `key` from the database from now on; returns when all do.

        What it returns names the fence: the change that it is for ends it. A process that does
        not listen, such as a command, does so from its first fence on.
        """
        if self._task is None:
            await self.start()
        fence_id = fresh_id()
        self._fence_here(key, fence_id)
        reply = reply_channel(self.node_id)
        message = Announcement("fence", key, self.node_id, fence_id, reply)
        fence = PendingFence(awaited={self.node_id})
        self._pending[fence_id] = fence
        try:
            live = await self._send(message)
            fence.awaited = live - {self.node_id}
            if monotonic() - self.lineage.changed_at > _AFTER_FAIL_OVER_S:
                fence.check()
            else:
                fence.awaited.add("one last heard by the former primary")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(fence.complete.wait(), _SILENT_NODE_S)
        finally:
            del self._pending[fence_id]
        return fence_id

    def changed_here(self, key: str, fence_id: str = "") -> None:
        """Drop what this node has in memory of `key`, after its change was committed.

        It ends the fence of this change; one without a fence ends none.
        """
        self._generation += 1
        self._fences.end(key, fence_id)
        for listener in self._listeners:
            listener(key)

    def change_message(self, key: str, fence_id: str) -> str:
        """Return what the changing transaction sends with `pg_notify`, delivered at its commit."""
        return encoded(Announcement("changed", key, self.node_id, fence_id))

    async def _send(self, message: Announcement) -> set[str]:
        """Send a message outside of any transaction and return which nodes are live."""
        async with self._sending:
            for attempt in (1, 2):
                try:
                    connection = await self._connected_sender()
                    with abort_after(connection, _ANSWER_S):
                        return await announce(connection, message)
                except psycopg.OperationalError:
                    self._sender = None
                    if attempt == 2:  # noqa: PLR2004  # the second attempt has a new connection
                        raise
        raise AssertionError

    async def _connected_sender(self) -> PrimaryConnection:
        sender = self._sender
        if sender is None or sender.closed or not self.lineage.is_current(sender.timeline):
            sender = self._sender = await connect_to_primary(
                self._conninfo, self.lineage, connect_timeout=2
            )
        return sender

    def _fence_here(self, key: str, fence_id: str) -> None:
        self._generation += 1
        self._fences.begin(key, fence_id, monotonic())
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
                        await self._listen_until_next_proof(connection)
            except (psycopg.Error, OSError) as error:
                _log.warning("listening connection lost", error=type(error).__name__)
                self.without_database.lost()
                first.set()
            except Exception:  # noqa: BLE001  # a node that never listens would never use its cache again
                _log.exception("listening failed, trying again")
                first.set()
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.5)

    async def _listen_until_next_proof(self, connection: PrimaryConnection) -> None:
        """Apply what arrives. An idle process goes on listening, but asks the server rarely.

        Its cache is not valid then: no one waits for it, and it reads the database until the
        next proof, which brings all that was announced meanwhile.
        """
        idle = self._is_idle(monotonic())
        until = monotonic() + (self._idle_proof_s if idle else _PROOF_EVERY_S)
        while not self._answers and self._is_idle(monotonic()) >= idle:
            if (left := until - monotonic()) <= 0:
                break
            await self._quiet.until_readable(connection.fileno(), left)
            await self._apply_all(connection)
        if not (idle and self._is_idle(monotonic())):
            return
        async with self._sending:
            if self._sender is not None:
                await self._sender.close()
                self._sender = None

    def _is_idle(self, now: float) -> bool:
        return now - self._asked_at > IDLE_AFTER_S

    @contextlib.asynccontextmanager
    async def _listening(self) -> AsyncIterator[PrimaryConnection]:
        connection = await connect_to_primary(self._conninfo, self.lineage, connect_timeout=2)
        try:
            with abort_after(connection, _ANSWER_S):
                await connection.execute("SET statement_timeout = '2s'")
                # Here too: a database that takes no changes ends each connection with its proof.
                await self._measured(connection, "SELECT clock_timestamp()", [])
                for channel in (CHANNEL, reply_channel(self.node_id)):
                    await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            self._settled_at = float("inf")
            self._has_lapsed = False
            self._answers.clear()
            yield connection
        except Exception:
            # Not where this process stops to listen: its primary answers as before.
            self.lineage.doubted = connection.timeline
            raise
        finally:
            self._proven_at = float("-inf")
            await connection.close()

    async def _prove(self, connection: PrimaryConnection) -> None:
        """Prove that the connection is alive, and answer the fences that were applied.

        The proof of an idle process counts for nothing but its own knowledge: from before it is
        sent, memory is not used, and it is dated so that no fence waits for this process.
        """
        sent_at = monotonic()
        lapses = self._is_idle(sent_at) and self._idle_proof_s > VALID_S
        if lapses:
            self._proven_at = float("-inf")
        else:
            self._has_lapsed = False
        answers, self._answers = self._answers, []
        self.without_database.asked(sent_at)
        values = [
            self.node_id,
            LIVE_S if lapses else 0,
            [channel for channel, _ in answers],
            [answer for _, answer in answers],
        ]
        with abort_after(connection, _ANSWER_S):
            await self._measured(connection, _PROOF, values)
        if self._settled_at == float("inf"):
            # Only now is this a primary: until here memory is as good as it was without one.
            self._settled_at = monotonic() + TRANSACTION_S
            self._invalidate_everything()
        # What arrived with the result counts only once it was applied.
        await self._apply_all(connection)
        if lapses:
            self._has_lapsed = True
        else:
            self._proven_at, self._timeline = sent_at, connection.timeline
        self.without_database.proven(sent_at)
        self.lineage.doubted = None

    async def _measured(
        self,
        connection: psycopg.AsyncConnection[tuple[object, ...]],
        statement: LiteralString,
        values: Sequence[object],
    ) -> None:
        """Execute a statement that returns the database's time, and compare it with ours."""
        sent_at = self._clock_watch and self._clock_watch.machine_clock()
        row = await (await connection.execute(statement, values)).fetchone()
        if self._clock_watch and sent_at and row and isinstance(row[0], datetime):
            self._clock_watch.measured(sent_at, row[0], self._clock_watch.machine_clock())

    async def _apply_all(self, connection: PrimaryConnection) -> None:
        async for notice in connection.notifies(timeout=0):
            self._apply(notice.payload)

    def _apply(self, payload: str) -> None:
        try:
            message = msgspec.json.decode(payload, type=Announcement)
        except msgspec.MsgspecError:
            # From another program or a later version: anything may have changed.
            _log.warning("unreadable notification", channel=CHANNEL)
            self._invalidate_everything()
            return
        if message.kind == "acknowledge":
            fence = self._pending.get(message.fence)
            if fence is not None:
                fence.acknowledge(message.sender)
        elif message.sender == self.node_id:
            return
        elif message.kind == "fence":
            self._fence_here(message.key, message.fence)
            if not self._has_lapsed:  # else no one waits for this process
                answer = Announcement("acknowledge", message.key, self.node_id, message.fence)
                self._answers.append((message.reply or CHANNEL, encoded(answer)))
        else:
            self.changed_here(message.key, message.fence)

    def _invalidate_everything(self) -> None:
        self._generation += 1
        for listener in self._listeners:
            listener("*")
