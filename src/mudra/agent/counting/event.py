"""What a source tells the counter: short, without bodies, and as it goes into the journal.

Nothing that names a customer is in here: only codes, entity IDs, session IDs,
times and sizes, so nothing else ever reaches the agent's disk.
"""

import enum
from typing import Final

import msgspec

NO_STATUS: Final = 0
"""No answer came: a transport failure or a wait that was given up."""
UNKNOWN: Final = -1
"""A duration or time that the source did not give."""


class FiStatus(enum.IntFlag):
    """The FIStatus words that occur in one notification, spec 3."""

    READY = 1
    DELIVERED = 2
    DENIED = 4
    TIMEOUT = 8
    PENDING = 16


SUCCESS: Final = FiStatus.READY | FiStatus.DELIVERED
TERMINAL: Final = SUCCESS | FiStatus.DENIED | FiStatus.TIMEOUT


def fi_status(word: str) -> FiStatus:
    """The status of this name; a word that the spec does not list is not terminal."""
    return _WORDS.get(word.strip().upper(), FiStatus.PENDING)


_WORDS: Final = {word.name: word for word in FiStatus if word.name is not None}


class Notification(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What one /FI/Notification said."""

    session: str
    statuses: int
    """Bits of `FiStatus`."""
    sent_at: int = UNKNOWN
    """Its own `timestamp`, milliseconds since 1970."""


class CallStarted(msgspec.Struct, array_like=True, frozen=True, gc=False, tag=0):
    """A call began whose answer comes as an event of its own."""

    key: str
    inbound: bool
    fip: str
    code: str
    wall: int
    mono: int
    notification: Notification | None = None


class CallEnded(msgspec.Struct, array_like=True, frozen=True, gc=False, tag=1):
    """The answer to a call that began."""

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


Event = CallStarted | CallEnded | Call


class LogPosition(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """How far a log file has been read."""

    device: int
    inode: int
    offset: int
    head: int = 0
    """Checksum of the file's first bytes: an inode number can be given to another file."""
    head_length: int = 0


class JournalEntry(msgspec.Struct, array_like=True, frozen=True):
    """One record of the journal: events and, with them, how far the logs are read."""

    events: list[Event]
    positions: dict[str, LogPosition] = {}
