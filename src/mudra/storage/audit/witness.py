"""Checkpoints of the audit chain in a second place: a file next to the database.

Each line carries a keyed hash under a key that the database holds only sealed:
who can write to the database alone can forge no checkpoint.
"""

import hmac
import os
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from mudra.audit.chain import START, Checkpoint

FILE: Final = "audit-checkpoints.jsonl"


class _Line(msgspec.Struct, frozen=True):
    count: int
    head: str
    at: datetime
    mac: str


class CheckpointForged(Exception):
    """A line of the file was not written by this service, or was altered."""


class FileWitness:
    """Implements audit/ports.py Witness."""

    def __init__(self, data_dir: Path, key: bytes) -> None:
        self._path = data_dir / FILE
        self._key = key

    def all(self) -> list[Checkpoint]:
        """Read every checkpoint; raises CheckpointForged naming the first bad line."""
        if not self._path.exists():
            return []
        found = []
        for number, text in enumerate(self._path.read_bytes().splitlines(), start=1):
            try:
                line = msgspec.json.decode(text, type=_Line)
                checkpoint = Checkpoint(line.count, bytes.fromhex(line.head), line.at)
            except (msgspec.MsgspecError, ValueError):
                raise CheckpointForged(f"line {number} of {self._path} cannot be read") from None
            if not hmac.compare_digest(self._mac(checkpoint), line.mac):
                raise CheckpointForged(f"line {number} of {self._path} was altered")
            found.append(checkpoint)
        return found

    async def last(self) -> Checkpoint:
        """The newest checkpoint published; `START` when there is none."""
        found = self.all()
        return found[-1] if found else START

    async def publish(self, checkpoint: Checkpoint) -> None:
        """Append the checkpoint, on disk before this returns."""
        line = _Line(checkpoint.count, checkpoint.head.hex(), checkpoint.at, self._mac(checkpoint))
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _mac(self, checkpoint: Checkpoint) -> str:
        return hmac.digest(self._key, checkpoint.statement(), "sha256").hex()
