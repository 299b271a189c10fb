"""The events that a source reports to the counter, as they are written to the journal.

It holds codes, entity IDs, session IDs, times and sizes only: neither bodies nor
anything that identifies a customer ever reaches the agent's disk.
"""

import enum
from typing import Final

import msgspec

from mudra.agent.clock import DAY

MAX_AGE: Final = 7 * DAY
"""Events and windows of longer ago are not reported."""
NO_STATUS: Final = 0
"""No answer came: a transport failure or a timeout."""
UNKNOWN: Final = -1
"""A duration or time that the source did not give."""
MAX_SIZE: Final = 1 << 40
"""Bytes of one answer, 1 TiB: what is larger is an error at its source. Sixteen million of
them in one window are still a number that a snapshot can hold."""


class FiStatus(enum.IntFlag):
    """The FIStatus values that occur in one notification, spec 3."""

    READY = 1
    DELIVERED = 2
    DENIED = 4
    TIMEOUT = 8
    PENDING = 16


SUCCESS: Final = FiStatus.READY | FiStatus.DELIVERED
TERMINAL: Final = SUCCESS | FiStatus.DENIED | FiStatus.TIMEOUT


def fi_status(name: str) -> FiStatus:
    """Return the status of this name; one that the spec does not list is not terminal."""
    return _BY_NAME.get(name.strip().upper(), FiStatus.PENDING)


_BY_NAME: Final = {status.name: status for status in FiStatus if status.name is not None}


class Notification(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The contents of one /FI/Notification."""

    session: str
    statuses: int
    """Bits of `FiStatus`."""
    sent_at: int = UNKNOWN
    """Its own `timestamp`, milliseconds since 1970."""


class CallStarted(msgspec.Struct, array_like=True, frozen=True, gc=False, tag=0):
    """The start of a call; its answer is an event of its own."""

    key: str
    inbound: bool
    fip: str
    code: str
    wall: int
    mono: int
    notification: Notification | None = None


class CallEnded(msgspec.Struct, array_like=True, frozen=True, gc=False, tag=1):
    """The answer to a call that was started."""

    key: str
    inbound: bool
    wall: int
    mono: int
    status: int
    size: int = 0
    session: str = ""


class Call(msgspec.Struct, array_like=True, frozen=True, gc=False, tag=2):
    """A whole call, reported once it was over."""

    inbound: bool
    fip: str
    code: str
    wall: int
    """Its start."""
    mono: int
    duration: int
    """Milliseconds to the answer."""
    status: int
    size: int = 0
    session: str = ""
    notification: Notification | None = None
    key: str = ""
    """What a repetition is recognized by; empty when the source has nothing of the kind."""


Event = CallStarted | CallEnded | Call


class LogPosition(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The place up to which a log file has been read."""

    device: int
    inode: int
    offset: int
    head: int = 0
    """Checksum of the file's first bytes: an inode number can be reused for another file."""
    head_length: int = 0
    modified: int = 0
    """When the file was last written, in nanoseconds: other files are newer or older than it."""
    tail: int = 0
    """Checksum of as many bytes before the offset: a file may be emptied and grow beyond it."""
    read_until: int = 0
    """When the files read before this one were last written, which may be later than this one."""

    @property
    def newer(self) -> int:
        """Return the time after which files that are not read were written, in nanoseconds.

        The file itself is one of them, packed as it may be by now, while nothing of it was read.
        """
        return max(self.modified - (self.offset == 0), self.read_until)


def plausible_size(size: int) -> int:
    """Return the size, or 0 for one that no answer can have."""
    return size if 0 <= size <= MAX_SIZE else 0


class JournalEntry(msgspec.Struct, array_like=True, frozen=True):
    """One record of the journal: events, and how far the logs are read with them."""

    events: list[Event]
    positions: dict[str, LogPosition] = {}
