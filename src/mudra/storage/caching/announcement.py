"""Messages between nodes over `NOTIFY`: how they are sent and awaited, and the fences of a node.

A fence is a key that a node reads from the database, because a change of it may not be over.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Final

import msgspec

from mudra.storage.database.primary import PrimaryConnection


class Quiet:
    """A wait that something to read ends, or `end`.

    psycopg's own wait wakes ten times a second, in each process of a machine.
    """

    def __init__(self) -> None:
        self._woken: asyncio.Future[None] | None = None

    def end(self) -> None:
        """End the wait that is going on, if any."""
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def until_readable(self, fd: int, seconds: float) -> None:
        """Return when there is something to read, after `end`, or after `seconds`."""
        loop = asyncio.get_running_loop()
        self._woken = loop.create_future()
        loop.add_reader(fd, self.end)
        timer = loop.call_later(seconds, self.end)
        try:
            await self._woken
        finally:
            timer.cancel()
            loop.remove_reader(fd)


FENCE_S: Final = 10.0
"""A fence whose transaction never ends is dropped after this long."""


class Fences:
    """Fences by key. Two changes may have fenced one key: each ends its own fence alone."""

    def __init__(self) -> None:
        self._until: dict[str, dict[str, float]] = {}

    def begin(self, key: str, fence_id: str, now: float) -> None:
        """Fence a key until the change of this fence is over, or the time of a fence."""
        open_ones = {one: until for one, until in self._until.get(key, {}).items() if now <= until}
        self._until[key] = open_ones | {fence_id: now + FENCE_S}

    def end(self, key: str, fence_id: str) -> None:
        """End one fence of a key; that of another change holds on."""
        fences = self._until.get(key)
        if fences is not None:
            fences.pop(fence_id, None)
            if not fences:
                del self._until[key]

    def is_fenced(self, key: str, now: float) -> bool:
        """Return whether a change has fenced this key and may not be over."""
        fences = self._until.get(key)
        return fences is not None and any(now <= until for until in fences.values())

    def is_any_fenced(self, prefixes: tuple[str, ...], now: float) -> bool:
        """Return whether a change has fenced a key that begins so and may not be over."""
        return any(key.startswith(prefixes) and self.is_fenced(key, now) for key in self._until)


CHANNEL: Final = "mudra_changes"
LIVE_S: Final = 2
"""A node with a proof of so many seconds is awaited by fences."""
NO_FSYNC: Final = (
    "set_config('synchronous_commit', CASE current_setting('synchronous_standby_names')"
    " WHEN '' THEN 'off' ELSE 'remote_write' END, false)"
)
"""For heartbeats and announcements: they mean nothing once the server has crashed, since it takes
all who listened with it. Where a standby must have each commit, it must have theirs too: a primary
that was replaced can prove nothing."""
_ANNOUNCE: Final = "SELECT " + NO_FSYNC + ", pg_notify(%s, %s)"
_LIVE: Final = (
    "SELECT node_id::text FROM node WHERE proven_at > clock_timestamp() - make_interval(secs => %s)"
)


class Announcement(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message between nodes."""

    kind: str
    key: str
    sender: str
    fence: str = ""
    """The fence that is announced, or ends with this change; a former version ends none."""
    reply: str = ""
    """The channel that only the sender listens to; a former version has none."""


@dataclass
class PendingFence:
    """The nodes that are awaited, and who has acknowledged."""

    awaited: set[str]
    acknowledged: set[str] = field(default_factory=set)
    complete: asyncio.Event = field(default_factory=asyncio.Event)

    def acknowledge(self, node_id: str) -> None:
        """Note that a node uses no memory of the key any more."""
        self.acknowledged.add(node_id)
        self.check()

    def check(self) -> None:
        """Complete the fence when no one is missing."""
        if self.awaited <= self.acknowledged:
            self.complete.set()


def reply_channel(node_id: str) -> str:
    """Return the channel of one node: what is meant for it alone wakes no other process."""
    return f"{CHANNEL}:{node_id}"


def encoded(message: Announcement) -> str:
    """Return the text that `pg_notify` carries."""
    return msgspec.json.encode(message).decode()


async def announce(connection: PrimaryConnection, message: Announcement) -> set[str]:
    """Send a message to all, outside of any transaction; gives the IDs of live nodes."""
    await connection.execute(_ANNOUNCE, [CHANNEL, encoded(message)])
    cursor = await connection.execute(_LIVE, [LIVE_S])
    return {str(row[0]) for row in await cursor.fetchall()}
