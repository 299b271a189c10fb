"""The copy on disk, so that a program starts without the registry."""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

import msgspec

from mudra.client.directory.copy import DirectoryCopy
from mudra.client.entity_token import Role
from mudra.shared.text.undecodable import UNDECODABLE


class _Stored(msgspec.Struct, frozen=True):
    registry: str
    upto: int
    epoch: int
    issued_at: int
    hash: str
    """Of all that is stored, so that no damage is taken for what the registry said."""
    entries: dict[str, tuple[Role, msgspec.Raw]]


def load(file: Path, registry: str) -> DirectoryCopy:
    """Return the stored copy of this registry; an empty one if there is none that is undamaged.

    Raises OSError for a file that is there and cannot be read.
    """
    try:
        stored = msgspec.json.decode(file.read_bytes(), type=_Stored)
    except (FileNotFoundError, *UNDECODABLE):
        return DirectoryCopy()
    copy = DirectoryCopy(
        *(stored.upto, stored.entries), proven=True, epoch=stored.epoch, issued_at=stored.issued_at
    )
    intact = stored.registry == registry and _hash(registry, copy) == stored.hash
    return copy if intact else DirectoryCopy()


def _hash(registry: str, copy: DirectoryCopy) -> str:
    facts = (registry, copy.upto, copy.epoch, copy.issued_at, copy.hash())
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()


def save(file: Path, registry: str, copy: DirectoryCopy) -> None:
    """Replace the stored copy at once: a crash leaves the old or the new one. Raises OSError."""
    stored = _Stored(
        *(registry, copy.upto, copy.epoch, copy.issued_at),
        *(_hash(registry, copy), dict(copy.entries)),
    )
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as written:
            written.write(msgspec.json.encode(stored))
            written.flush()
            os.fsync(written.fileno())
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise
