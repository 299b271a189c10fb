"""The payloads that wait for delivery: one compressed, checksummed file each.

A file is complete on the disk before it has its name, and its name says what it
is. A damaged file costs its own payload only: it is dropped, never sent.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import zstandard

from mudra.agent.counting.payload import Payload
from mudra.metrics.payload.catalogue import Tag

FOLDER: Final = "payloads"
_SUFFIX: Final = ".zst"
_DRAFT: Final = ".draft"
_PARTS: Final = 4
"""Of a name: window, tag, revision, transaction."""
_MAX_PAYLOAD: Final = 64 << 20
_REPLACE: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


@dataclass(frozen=True, slots=True)
class QueuedPayload:
    """A payload that waits for delivery, without its body."""

    window: int
    tag: Tag
    txn_id: str
    size: int
    """Bytes on the disk."""
    revision: int = 0
    """How many payloads of this window and tag it replaces."""

    @property
    def name(self) -> str:
        """The name of its file, and its identity."""
        return f"{self.window}_{self.tag}_{self.revision}_{self.txn_id}{_SUFFIX}"

    @property
    def report(self) -> tuple[int, Tag]:
        """Return what it is a payload of: window and tag."""
        return self.window, self.tag


@dataclass(frozen=True, slots=True)
class Backlog:
    """The number and age of payloads that wait for delivery."""

    payloads: int
    bytes: int
    oldest: int | None
    """Start of the oldest window."""


class PayloadFiles:
    """The files of one directory and an index of them in memory."""

    def __init__(self, directory: Path) -> None:
        self._folder = directory / FOLDER
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for draft in self._folder.glob(f"*{_DRAFT}"):
            draft.unlink()
        self._index: dict[str, QueuedPayload] = {}
        for payload in payloads_in(directory):
            self.add(payload)
        self._packer = zstandard.ZstdCompressor(level=3, write_checksum=True)
        self._unpacker = zstandard.ZstdDecompressor()

    def queued(self) -> list[QueuedPayload]:
        """Return all payloads, oldest window first."""
        return sorted(self._index.values(), key=lambda one: (one.window, one.tag))

    def holds(self, queued: QueuedPayload) -> bool:
        """Return whether it still waits: it may be replaced."""
        return queued.name in self._index

    def backlog(self) -> Backlog:
        """Return how much waits for delivery."""
        return backlog_of(list(self._index.values()))

    def write(self, payload: Payload) -> QueuedPayload:
        """Write one payload durably; it is queued by `add` only. Raises OSError."""
        packed = self._packer.compress(payload.body)
        queued = QueuedPayload(
            payload.window, payload.tag, payload.txn_id, len(packed), payload.revision
        )
        write_durably(self._folder / queued.name, packed)
        return queued

    def add(self, queued: QueuedPayload) -> None:
        """Let a written payload be delivered; of one window and tag the latest revision alone."""
        self._index[queued.name] = queued
        same = [one for one in self._index.values() if one.report == queued.report]
        latest = max(one.revision for one in same)
        for one in same:
            if one.revision < latest:
                self.remove(one)

    def read(self, queued: QueuedPayload) -> bytes | None:
        """Return the payload; None when it is missing or damaged. Raises OSError."""
        try:
            packed = (self._folder / queued.name).read_bytes()
            if not 0 <= zstandard.frame_content_size(packed) <= _MAX_PAYLOAD:
                return None
            return self._unpacker.decompress(packed)
        except (FileNotFoundError, zstandard.ZstdError):
            return None

    def remove(self, queued: QueuedPayload) -> None:
        """Delete one payload. Raises OSError."""
        (self._folder / queued.name).unlink(missing_ok=True)
        self._index.pop(queued.name, None)


def payloads_in(directory: Path) -> Iterator[QueuedPayload]:
    """Return the payloads on the disk, also of an agent that is down."""
    tags = {tag.value: tag for tag in Tag}
    for path in (directory / FOLDER).glob(f"*{_SUFFIX}"):
        parts = path.name.removesuffix(_SUFFIX).split("_")
        if len(parts) != _PARTS or parts[1] not in tags:
            continue
        window, tag, revision, txn_id = parts
        if window.isdecimal() and revision.isdecimal() and txn_id:
            with contextlib.suppress(FileNotFoundError):  # just delivered by a running agent
                size = path.stat().st_size
                yield QueuedPayload(int(window), tags[tag], txn_id, size, int(revision))


def backlog_of(payloads: list[QueuedPayload]) -> Backlog:
    """Return how much these payloads are."""
    return Backlog(
        len(payloads),
        sum(one.size for one in payloads),
        min((one.window for one in payloads), default=None),
    )


def write_durably(path: Path, content: bytes) -> None:
    """Write a file that is complete on the disk or not there at all. Raises OSError."""
    draft = path.with_suffix(_DRAFT)
    try:
        with os.fdopen(os.open(draft, _REPLACE, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        draft.unlink(missing_ok=True)  # else a full disk would keep the part that it took
        raise
    draft.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Let the names in a folder survive a loss of power. Raises OSError."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
