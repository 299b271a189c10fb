"""What nodes tell each other over `NOTIFY`, and who is awaited."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

import msgspec

from mudra.storage.database.primary import PrimaryConnection

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
    """Who is awaited, and who has acknowledged."""

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
