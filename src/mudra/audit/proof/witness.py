"""Checkpoints of the audit chain in a second place: a file, a directory or a system log.

The setting MUDRA_AUDIT_CHECKPOINTS names it. Each checkpoint is a line of JSON that carries
the same keyed hash as in the database.
"""

import fcntl
import logging
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from logging.handlers import SysLogHandler
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from mudra.audit.acts import NO_ACTS, Act, Acts
from mudra.audit.chain import Checkpoint, CheckpointForged
from mudra.audit.ports import Witness
from mudra.storage.crypto.data_encryption import DataEncryption

FILE: Final = "audit-checkpoints.jsonl"
_TAIL: Final = 1 << 18
"""Bytes: more than the longest line has, with the most acts."""
_SYSLOG_PORT: Final = 514


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    epoch: int
    count: int
    head: str
    at: datetime
    mac: str
    acts: tuple[Act, ...] = ()
    more: int = 0


class _Lines:
    """Checkpoints as lines of text, signed and checked."""

    def __init__(self, encryption: DataEncryption) -> None:
        self._encryption = encryption

    def write(self, checkpoint: Checkpoint, acts: Acts = NO_ACTS) -> bytes:
        """Give the line of a checkpoint, with the acts before it."""
        mac = self._encryption.checkpoint_mac(_statement(checkpoint, acts)).hex()
        head = checkpoint.head.hex()
        return msgspec.json.encode(
            _Line(
                checkpoint.epoch,
                checkpoint.count,
                head,
                checkpoint.at,
                mac,
                tuple(acts.listed),
                acts.more,
            )
        )

    def read(self, text: bytes, place: str) -> Checkpoint:
        """Read a line; raises CheckpointForged naming the place."""
        return self.read_with_acts(text, place)[0]

    def read_with_acts(self, text: bytes, place: str) -> tuple[Checkpoint, Acts]:
        """Read a line with its acts; raises CheckpointForged naming the place."""
        try:
            line = msgspec.json.decode(text, type=_Line)
            checkpoint = Checkpoint(line.count, bytes.fromhex(line.head), line.at, line.epoch)
            mac = bytes.fromhex(line.mac)
            acts = Acts(line.acts, line.more)
        except (msgspec.MsgspecError, ValueError):
            raise CheckpointForged(f"{place} cannot be read") from None
        if not self._encryption.is_checkpoint_mac(_statement(checkpoint, acts), mac):
            raise CheckpointForged(f"{place} was altered")
        return checkpoint, acts


def _statement(checkpoint: Checkpoint, acts: Acts) -> bytes:
    """Return what is signed: of a checkpoint without acts the bytes that it always had."""
    if not acts.listed:
        return checkpoint.statement()
    return checkpoint.statement() + msgspec.json.encode(acts)


class FileWitness:
    """A file to which lines are added, next to the data by default.

    What a full disk or a power cut leaves of a line, without its end, counts for nothing.
    """

    def __init__(self, path: Path, encryption: DataEncryption) -> None:
        self._path = path
        self._lines = _Lines(encryption)

    def all(self) -> Sequence[Checkpoint]:
        """Read every checkpoint; raises CheckpointForged naming the first bad line."""
        return [checkpoint for checkpoint, _ in self.acts()]

    def acts(self) -> Sequence[tuple[Checkpoint, Acts]]:
        """Read every checkpoint with the acts before it; raises CheckpointForged."""
        if not self._path.exists():
            return []
        return [
            self._lines.read_with_acts(text, f"line {number} of {self._path}")
            for number, text in enumerate(_whole_lines(self._path.read_bytes()), start=1)
        ]

    def newest(self) -> Checkpoint | None:
        """Read the last line; raises CheckpointForged."""
        if not self._path.exists():
            return None
        with self._path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 2 * _TAIL))
            lines = _whole_lines(file.read())
        return self._lines.read(lines[-1], f"the last line of {self._path}") if lines else None

    def publish(self, checkpoint: Checkpoint, acts: Acts = NO_ACTS) -> None:
        """Append the checkpoint, on disk before this returns."""
        with _private(self._path, os.O_APPEND) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # a command may publish, too
            file.truncate(_end_of_lines(self._path))
            file.write(self._lines.write(checkpoint, acts) + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _whole_lines(text: bytes) -> list[bytes]:
    return text[: text.rfind(b"\n") + 1].splitlines()


def _end_of_lines(path: Path) -> int:
    """Return where the last whole line ends, in bytes."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        begin = file.seek(max(0, size - _TAIL))
        return begin + file.read().rfind(b"\n") + 1


class DirectoryWitness:
    """A directory with a file for each checkpoint, as on a mounted object store.

    Nodes may share it. A file is written once and never again, so the store may forbid
    that files are replaced or deleted.
    """

    def __init__(self, path: Path, encryption: DataEncryption) -> None:
        self._path = path
        self._lines = _Lines(encryption)

    def all(self) -> Sequence[Checkpoint]:
        """Read every checkpoint; raises CheckpointForged naming the first bad file."""
        return [self._read(file)[0] for file in self._files()]

    def acts(self) -> Sequence[tuple[Checkpoint, Acts]]:
        """Read every checkpoint with the acts before it; raises CheckpointForged."""
        return [self._read(file) for file in self._files()]

    def newest(self) -> Checkpoint | None:
        """Read the last file; raises CheckpointForged."""
        last = max(self._path.glob("*.json"), default=None)
        return self._read(last)[0] if last else None

    def publish(self, checkpoint: Checkpoint, acts: Acts = NO_ACTS) -> None:
        """Write the checkpoint, on disk before this returns; another node may have done it."""
        name = f"{checkpoint.epoch:06}-{checkpoint.count:015}-{checkpoint.head.hex()[:16]}.json"
        if (self._path / name).exists():
            return
        # Whole or not at all: a file cut short looks like an altered one.
        fresh = self._path / f".{name}.{os.getpid()}"
        with _private(fresh, os.O_TRUNC) as file:
            file.write(self._lines.write(checkpoint, acts))
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(self._path / name)
        folder = os.open(self._path, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def _files(self) -> list[Path]:
        return sorted(self._path.glob("*.json"))

    def _read(self, file: Path) -> tuple[Checkpoint, Acts]:
        return self._lines.read_with_acts(file.read_bytes(), str(file))


class SyslogWitness:
    """A system log; what was sent is known by a file next to the data."""

    def __init__(self, address: str | tuple[str, int], sent: FileWitness, lines: _Lines) -> None:
        self._address = address
        self._sent = sent
        self._lines = lines

    def all(self) -> Sequence[Checkpoint]:
        """Read what was sent; `mudra audit verify --checkpoints` reads what the log received."""
        return self._sent.all()

    def acts(self) -> Sequence[tuple[Checkpoint, Acts]]:
        """Read what was sent."""
        return self._sent.acts()

    def newest(self) -> Checkpoint | None:
        """Read what was sent last."""
        return self._sent.newest()

    def publish(self, checkpoint: Checkpoint, acts: Acts = NO_ACTS) -> None:
        """Send the checkpoint; raises OSError when the log cannot be reached."""
        handler = _StrictSysLogHandler(self._address, SysLogHandler.LOG_AUTH)
        try:
            text = "mudra-audit: " + self._lines.write(checkpoint, acts).decode()
            handler.emit(logging.makeLogRecord({"msg": text, "levelname": "NOTICE"}))
        finally:
            handler.close()
        self._sent.publish(checkpoint, acts)


class _StrictSysLogHandler(SysLogHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802  # its name there
        """Let the error through: a checkpoint that was not sent must be sent again."""
        raise  # noqa: PLE0704  # called while the error is handled


def open_witness(setting: str, data_dir: Path, encryption: DataEncryption) -> Witness:
    """Open the second place that the setting names."""
    kind, _, place = setting.partition(":")
    own = FileWitness(data_dir / FILE, encryption)
    if kind == "directory":
        return DirectoryWitness(Path(place), encryption)
    if kind == "syslog":
        return SyslogWitness(syslog_address(place), own, _Lines(encryption))
    return FileWitness(Path(place), encryption) if place else own


def syslog_address(place: str) -> str | tuple[str, int]:
    """Read the path of a socket, or host and port."""
    if place.startswith("/"):
        return place
    host, _, port = place.rpartition(":")
    return (host, int(port)) if host else (place, _SYSLOG_PORT)


def read_collected(lines: Iterable[bytes], encryption: DataEncryption) -> list[Checkpoint]:
    """Read the checkpoints in a collected log; raises CheckpointForged naming the first bad line.

    Whatever a system log puts before the JSON is skipped, and so are other programs' lines.
    """
    found = []
    for number, line in enumerate(lines, start=1):
        begin = line.find(b'{"epoch"')
        if begin >= 0:
            found.append(_Lines(encryption).read(line[begin:].strip(), f"line {number}"))
    return found


def _private(path: Path, flag: int) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o600), "wb")
