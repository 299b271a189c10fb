"""A backup on the disk: `NAME.dump.age`, and `NAME.json` that describes it.

The first is what pg_dump wrote, encrypted; it can be read without Mudra:
`age --decrypt -i KEY NAME.dump.age | pg_restore …`. Neither has its name before it is whole.
"""

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

import msgspec

from mudra.shared.backup_details import BackupDetails

DUMP: Final = ".dump.age"
DETAILS: Final = ".json"
_PART: Final = ".part"
_PIECE: Final = 1 << 20
_NAME: Final = "mudra-%Y%m%dT%H%M%SZ"


class BackupDamaged(Exception):
    """A backup or its description is missing, cut short or altered; the text says which."""


class Measured:
    """Passes bytes on, counts them, and hashes them."""

    def __init__(self, stream: IO[bytes], on_bytes: Callable[[int], None] | None = None) -> None:
        self._stream = stream
        self._on_bytes = on_bytes
        self._hash = hashlib.sha256()
        self.count = 0

    @property
    def sha256(self) -> str:
        """The hash of all that passed."""
        return self._hash.hexdigest()

    def read(self, size: int = -1, /) -> bytes:
        """Read from the stream."""
        data = self._stream.read(size)
        self._saw(data)
        return data

    def write(self, data: bytes, /) -> int:
        """Write all of it to the stream."""
        self._stream.write(data)
        self._saw(data)
        return len(data)

    def flush(self) -> None:
        """Pass on what the stream holds back."""
        self._stream.flush()

    def _saw(self, data: bytes) -> None:
        self._hash.update(data)
        self.count += len(data)
        if self._on_bytes is not None:
            self._on_bytes(self.count)


def name_of(at: datetime) -> str:
    """Return the name of a backup made at this time."""
    return at.astimezone(UTC).strftime(_NAME)


def details_file(dump: Path) -> Path:
    """Return where the description of a backup is."""
    return dump.with_name(dump.name.removesuffix(DUMP) + DETAILS)


def read_details(dump: Path) -> BackupDetails:
    """Read the description of a backup; raises BackupDamaged."""
    file = details_file(dump)
    try:
        return msgspec.json.decode(file.read_bytes(), type=BackupDetails)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise BackupDamaged(f"the description {file} of this backup cannot be read") from error


def check_file(dump: Path, details: BackupDetails, on_bytes: Callable[[int], None]) -> None:
    """Compare the file with its description; raises BackupDamaged."""
    try:
        with dump.open("rb") as file:
            measured = Measured(file, on_bytes)
            while measured.read(_PIECE):
                pass
    except OSError as error:
        raise BackupDamaged(f"the backup {dump} cannot be read: {error.strerror}") from error
    if (measured.count, measured.sha256) != (details.file_bytes, details.sha256):
        raise BackupDamaged(
            f"the backup {dump} is not the file that was written: {measured.count} bytes with "
            f"another checksum in place of {details.file_bytes}"
        )


def part_of(name: Path) -> Path:
    """Return where a file is written that gets this name once it is whole."""
    return name.with_name(name.name + _PART)


def make_durable(file: IO[bytes], partial: Path, name: Path) -> None:
    """Give a file that is whole its name, on the disk before this returns."""
    file.flush()
    os.fsync(file.fileno())
    partial.rename(name)
    folder = os.open(name.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def open_private(path: Path) -> IO[bytes]:
    """Open a new file that no other user can read, and lock it until it is closed.

    A file of that name is replaced; what a backup left that was killed has another one, of its
    second: `clear_out` deletes that.
    """
    path.unlink(missing_ok=True)
    file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    with contextlib.suppress(OSError):  # a file system without locks is as good
        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def clear_out(folder: Path) -> None:
    """Delete what backups wrote that were killed, unless one of another service is writing it."""
    for part in folder.glob(f"mudra-*{_PART}"):
        # One that cannot be deleted keeps no backup from being made.
        with contextlib.suppress(OSError):
            if not _is_locked(part):
                part.unlink()


def delete_older(folder: Path, before: datetime) -> list[Path]:
    """Delete backups made before a time, by their names; returns the files that are gone.

    What has another name than a backup is not touched.
    """
    deleted = []
    for file in sorted(folder.glob("mudra-*")):
        name, dot, ending = file.name.partition(".")
        made_at = _made_at(name)
        if dot + ending not in {DUMP, DETAILS} or made_at is None or made_at >= before:
            continue
        with contextlib.suppress(OSError):  # the next backup tries again
            file.unlink()
            deleted.append(file)
    return deleted


def _made_at(name: str) -> datetime | None:
    try:
        return datetime.strptime(name, _NAME).replace(tzinfo=UTC)
    except ValueError:
        return None


def _is_locked(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
    return False
