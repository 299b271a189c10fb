"""The key that the agent's tokens are bound to (DPoP, RFC 9449), in a file of its own.

Made at the first start; from then on a restart keeps it. No one but the agent's user may read it.
"""

import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from joserfc.jwk import ECKey

from mudra.agent.clock import SECOND, Clock
from mudra.agent.spool.payload_files import sync_folder
from mudra.client import DpopKey, SecretUnreadable

_MAX_BYTES: Final = 16_384
_FOR_OTHERS: Final = 0o077


def dpop_key(path: Path, clock: Clock) -> DpopKey:
    """Return the key in a file, which is made where there is none. Raises SecretUnreadable."""
    try:
        if not path.exists():
            _make(path)
        pem = _read(path)
    except OSError as error:
        raise SecretUnreadable(
            f"credentials.dpop_key cannot be read or made: {error.strerror} ({path})",
            "let the agent's user read it and write to its folder; run the check as that user",
        ) from None
    try:
        return DpopKey(pem, wall=lambda: clock.wall() / SECOND)
    except ValueError as error:
        raise SecretUnreadable(
            f"credentials.dpop_key: {error} ({path})",
            "name another file, or remove this one: the agent makes a new key",
        ) from None


def _read(path: Path) -> bytes:
    # Without a wait for the other end of what is no file.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise SecretUnreadable(f"credentials.dpop_key is no file: {path}", "name a file")
        if found.st_mode & _FOR_OTHERS or found.st_uid not in {os.geteuid(), 0}:
            raise SecretUnreadable(
                f"credentials.dpop_key may be read by other users ({path})",
                f"chmod 600 {path}; remove it if one of them may have read it",
            )
        return file.read(_MAX_BYTES)


def _make(path: Path) -> None:
    """Write a new key: the file is complete on the disk before it has its name."""
    number, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    try:
        with os.fdopen(number, "wb") as file:
            file.write(ECKey.generate_key("P-256").as_pem(private=True))
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
